/* SPDX-License-Identifier: BSD-3-Clause */
/* tool.c: the loop of a filter over its fields, and the line of provenance. */
#include "tool.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "common/io.h"
#include "common/text.h"
#include "formats/fields.h"
#include "stream/stream.h"

int lat_provenance(lat_header *head, const char *format, ...)
{
    const char *arguments = lat_opts.arguments ? lat_opts.arguments : "";
    char *result;
    va_list ap;
    if (lat_opts.no_provenance)
        return 0;
    va_start(ap, format);
    int rc = vasprintf(&result, format, ap);
    va_end(ap);
    if (rc < 0)
        return lat_fail("out of memory: a line of provenance");
    rc = lat_lines_add(&head->history, "%s %s%s%s%s%s%s%s", lat_tool_name, LAT_VERSION,
                       *arguments ? " | " : "", arguments, *result ? " | " : "", result,
                       *head->read_crc ? " | of " : "", head->read_crc);
    free(result);
    return rc;
}

/* Reads, changes and writes one field. LAT_DONE, or the exit code that ends the run; *more: there
 * was a field. */
static int filter_once(lat_input *in, lat_output *out, lat_each *each, long index, void *context,
                       bool *more)
{
    lat_field f = {.data = NULL};
    int rc = lat_fields_read(in, &f), code;
    *more = rc > 0;
    if (rc <= 0)
        return rc < 0 ? LAT_FAILED : LAT_DONE;
    code = each(&f, index, context);
    if (code == LAT_DONE && lat_stream_write(out, &f, lat_opts.store) < 0)
        code = LAT_FAILED;
    lat_field_free(&f);
    return code < 0 ? LAT_FAILED : code;
}

static int filter_all(lat_input *in, lat_output *out, lat_each *each, lat_last *last, void *context)
{
    bool more = true;
    int code = LAT_DONE;
    long index = 0;
    for (; more && code == LAT_DONE; index += more)
        code = filter_once(in, out, each, index, context, &more);
    if (code == LAT_DONE && last)
        code = last(index, context);
    return code;
}

int lat_output_end(lat_output *out, FILE *text, int code)
{
    if (code == LAT_DONE)
        return (text ? lat_text_close(text, out) : lat_stream_commit(out)) ? LAT_FAILED : code;
    if (text)
        fclose(text);
    lat_output_abort(out);
    return code;
}

int lat_outputs_end(int n, lat_output *const *out, FILE *const *text, int code)
{
    for (int i = 0; i < n && code == LAT_DONE; i++)
        if (out[i] && (fflush(text[i]) || lat_output_flush(out[i])))
            code = LAT_FAILED;
    for (int i = n - 1; i >= 0; i--)
        if (out[i])
            code = lat_output_end(out[i], text[i], code);
    return code;
}

const char *lat_filter_name(void) { return lat_opts.input ? lat_opts.input : "<stdin>"; }

int lat_filter_run(lat_each *each, lat_last *last, void *context)
{
    lat_input *in = lat_input_open(lat_opts.input, lat_opts.comm);
    lat_output *out = in ? lat_output_open(lat_opts.output, lat_output_flags(), lat_opts.comm)
                         : NULL;
    int code = out ? filter_all(in, out, each, last, context) : LAT_FAILED;
    lat_input_close(in);
    code = lat_output_end(out, NULL, code);
    return code == LAT_DONE ? LAT_DONE : lat_report(code);
}

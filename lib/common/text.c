/* SPDX-License-Identifier: BSD-3-Clause */
/* text.c: text to an output: plain lines and JSON. */
#include "text.h"

#include <math.h>
#include "base/error.h"

static ssize_t write_some(void *out, const char *buf, size_t n)
{
    return lat_output_write(out, buf, n) || lat_output_flush(out) ? 0 : (ssize_t)n;
}

FILE *lat_text_open(lat_output *out)
{
    FILE *text = fopencookie(out, "w", (cookie_io_functions_t){.write = write_some});
    if (!text)
        lat_fail("%s: out of memory: a text stream", lat_output_name(out));
    return text;
}

int lat_text_close(FILE *text, lat_output *out)
{
    const int bad = ferror(text);
    if (fclose(text) || bad) {
        lat_output_abort(out);
        return lat_fail("writing text failed"); /* unless there is a sentence with the cause */
    }
    return lat_output_commit(out);
}

/* The character at *s; *s becomes its last byte. A control character becomes its number. */
static void json_character(FILE *to, const char **s)
{
    const unsigned char *c = (const unsigned char *)*s;
    const int n = lat_plain_length(*s), length = n < 0 ? -n : n;
    if (n > 0)
        fwrite(c, 1, (size_t)n, to);
    else
        fprintf(to, "\\u%04x",
                length == 1   ? (unsigned)c[0]
                : length == 2 ? (c[0] & 0x1fu) << 6 | (c[1] & 0x3fu)
                              : (c[0] & 0xfu) << 12 | (c[1] & 0x3fu) << 6 | (c[2] & 0x3fu));
    *s += length - 1;
}

void lat_json_string(FILE *to, const char *s)
{
    fputc('"', to);
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            fprintf(to, "\\%c", *s);
        else
            json_character(to, &s);
    }
    fputc('"', to);
}

void lat_plain_text(FILE *to, const char *s)
{
    for (int n; *s; s += n) {
        n = lat_plain_length(s);
        if (n < 0)
            fputc('?', to);
        else
            fwrite(s, 1, (size_t)n, to);
        n = n < 0 ? -n : n;
    }
}

void lat_json_number(FILE *to, double x)
{
    if (isfinite(x))
        fprintf(to, "%.17g", x);
    else
        fputs("null", to);
}

void lat_json_key(FILE *to, bool first, const char *key)
{
    if (!first)
        fputs(", ", to);
    lat_json_string(to, key);
    fputs(": ", to);
}

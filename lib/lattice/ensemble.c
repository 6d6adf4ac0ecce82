/* SPDX-License-Identifier: BSD-3-Clause */
/* ensemble.c: which ensemble of links a field is of. */
#include "ensemble.h"

#include <stdio.h>
#include <string.h>
#include "base/error.h"
#include "common/options.h"

const char *lat_ensemble_text(const lat_header *head, char text[LAT_ENSEMBLE_TEXT])
{
    static const char *const keys[] = {"beta",
                                       "xi",
                                       "xi_axis",
                                       LAT_INFO_SMEARING,
                                       LAT_INFO_FLOW_TIME,
                                       LAT_INFO_FLOW_ACTION,
                                       LAT_INFO_PROJECTION};
    size_t n = 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *value = lat_info_get(head, keys[i]);
        if (value && n < LAT_ENSEMBLE_TEXT)
            n += (size_t)snprintf(text + n, LAT_ENSEMBLE_TEXT - n, "%s%s %s", n ? ", " : "",
                                  keys[i], value);
    }
    if (n == 0)
        snprintf(text, LAT_ENSEMBLE_TEXT, "unknown");
    for (char *p = text; (p = strpbrk(p, "\t\r\n")); p++)
        *p = ' ';
    return text;
}

int lat_ensemble_differs(const lat_header *head, char of[LAT_ENSEMBLE_TEXT], const char *option,
                         const char *name)
{
    static const char sentence[] = "%s: %sexpected links of one ensemble, %s, found %s%s";
    char text[LAT_ENSEMBLE_TEXT];
    lat_ensemble_text(head, text);
    if (!*of)
        strcpy(of, text);
    if (!strcmp(of, text))
        return 0;
    if (!lat_opts.force)
        return lat_fail(sentence, name, option, of, text, " (--force takes them)");
    lat_warn(sentence, name, option, of, text, " (--force)");
    return 0;
}

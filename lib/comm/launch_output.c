/* SPDX-License-Identifier: BSD-3-Clause */
/* launch_output.c: what mpirun has printed about ranks that ended. */
#include "comm_internal.h"

#include <stdlib.h>
#include <string.h>
#include "base/error.h"

/* OpenMPI: "mpirun noticed that process rank 2 with PID 0 on node n17 exited on signal 9 (Killed)."
 */
int lat_launch_killed(const char *output)
{
    static const char before[] = "noticed that process rank ";
    const char *at = strstr(output, before);
    return at ? (int)strtol(at + strlen(before), NULL, 10) : -1;
}

/* "TOOL: sentence" */
const char *lat_launch_said(char *output)
{
    const size_t n = strlen(lat_tool_name);
    char *line = output;
    while (strncmp(line, lat_tool_name, n) || strncmp(line + n, ": ", 2)) {
        if (!(line = strchr(line, '\n')))
            return NULL;
        line++;
    }
    line[strcspn(line, "\n")] = '\0';
    return line + n + 2;
}

const char *lat_launch_first_line(char *output)
{
    char *at = NULL;
    for (char *line = strtok_r(output, "\n", &at); line; line = strtok_r(NULL, "\n", &at))
        if (line[strspn(line, "- \t*=")])
            return line + strspn(line, " \t");
    return "no output";
}

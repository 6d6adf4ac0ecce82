/* SPDX-License-Identifier: BSD-3-Clause */
/* gauge_options.c: the gauge condition that options and header name. */
#include "gauge_options.h"

#include <string.h>
#include "base/error.h"

lat_gauge_options lat_gauge_opts = {.time = -1};

int lat_gauge_condition(const lat_header *head, lat_condition *c)
{
    const lat_gauge_options *o = &lat_gauge_opts;
    int stated = 0;
    if (!lat_opt_given("gauge"))
        stated = !strcmp(head->gauge, "none")  ? lat_condition_read_annealed(head, c)
                 : lat_condition_read(head, c) ? -1
                                               : 1;
    if (stated < 0)
        return -1;
    if (stated && o->time < 0 && !o->weights)
        return 0;
    return lat_condition_make(stated ? c->gauge : (lat_gauge)o->gauge, o->time, o->weights,
                              &head->geom, c);
}

int lat_gauge_condition_linear(const lat_header *head, lat_condition *c, const char *name)
{
    if (lat_gauge_condition(head, c))
        return LAT_FAILED;
    if (lat_gauge_table[c->gauge].problem == LAT_LINEAR)
        return LAT_DONE;
    lat_fail(
        "%s: expected a configuration in Landau or Coulomb gauge, found %s; --gauge takes it as "
        "one",
        name, lat_gauge_table[c->gauge].name);
    return LAT_UNCONVERGED;
}

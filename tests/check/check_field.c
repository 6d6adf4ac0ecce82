/* SPDX-License-Identifier: BSD-3-Clause */
/* check_field.c: a field takes no memory before it is written, and is aligned. */
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "base/error.h"
#include "lattice/field.h"

/* Bytes of this process in memory. */
static size_t resident(void)
{
    unsigned long all, here;
    FILE *f = fopen("/proc/self/statm", "r");

    if (!f || fscanf(f, "%lu %lu", &all, &here) != 2)
        abort();
    fclose(f);
    return here * (size_t)sysconf(_SC_PAGESIZE);
}

int main(void)
{
    lat_field f = {.data = NULL};
    size_t before, bytes;

    check_case("a field takes no memory before it is written, then what is written of it");
    lat_header_init(&f.head);
    f.head.geom = (lat_geometry){.nd = 4, .dims = {48, 48, 48, 32}};
    f.head.nc = 3;
    f.head.reals = 18;
    f.head.real = LAT_F32;
    before = resident();
    if (!CHECK(lat_field_alloc(&f, &lat_comm_self) == 0, "%s", lat_error()))
        return check_done();
    bytes = lat_field_reals(&f) * sizeof(float);
    /* An eighth of it is the address sanitizer's own memory. */
    CHECK(resident() - before < bytes / 4, "%zu bytes of %zu", resident() - before, bytes);
    ((char *)f.data)[0] = ((char *)f.data)[bytes - 1] = 1;
    CHECK(resident() - before < bytes / 4, "%zu bytes of %zu after two were written",
          resident() - before, bytes);
    CHECK((size_t)f.data % 64 == 0, "%p is not aligned", f.data);
    lat_field_free(&f);
    return check_done();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* loops.c: separations, directions, paths. */
#include "loops.h"

#include <math.h>
#include <stdlib.h>
#include "base/error.h"
#include "base/memory.h"
#include "lattice/anisotropy.h"
#include "lattice/boundary.h"
#include "loops_internal.h"

static int square_of(const int *v)
{
    int sum = 0;
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        sum += v[mu] * v[mu];
    return sum;
}

int lat_loops_separations(const lat_loops_how *how, lat_loops_separation *list)
{
    int count = 0;
    for (int c = 0; c < how->classes; c++)
        for (int n = 1;; n++, count++) {
            lat_loops_separation s = {.kind = c, .n = n};
            for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
                s.vector[mu] = n * how->vector[c][mu];
            const int square = square_of(s.vector);
            if (square > how->distance * how->distance)
                break;
            s.r = sqrt(square);
            if (list)
                list[count] = s;
        }
    return count;
}

size_t lat_loops_shift(const lat_geometry *space, size_t x, const int *by)
{
    size_t to = 0, stride = 1;
    for (int mu = 0; mu < space->nd; mu++) {
        const size_t extent = (size_t)space->dims[mu];
        const long at = (long)(x % extent) + by[mu] % (long)extent + (long)extent;
        to += stride * ((size_t)at % extent);
        x /= extent;
        stride *= extent;
    }
    return to;
}

/* ---- directions and paths -------------------------------------------------------------------- */

static bool known(int list[][LAT_MAX_DIMS], int count, const int *v)
{
    for (int i = 0; i < count; i++) {
        bool same = true;
        for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
            same = same && list[i][mu] == v[mu];
        if (same)
            return true;
    }
    return false;
}

/* Permutation number p of `axes` axes, and the signs of the bits of s. */
static void permuted(const int *vector, int axes, int p, int s, int v[LAT_MAX_DIMS])
{
    int left[LAT_MAX_DIMS] = {0, 1, 2, 3};
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        v[mu] = 0;
    for (int mu = 0, n = axes; mu < axes; mu++, n--) {
        const int i = p % n;
        v[mu] = vector[left[i]] * (s >> mu & 1 ? -1 : 1);
        p /= n;
        for (int k = i; k + 1 < n; k++)
            left[k] = left[k + 1];
    }
}

int lat_loops_directions(const int *vector, int axes, int list[][LAT_MAX_DIMS])
{
    const int permutations = axes == 3 ? 6 : axes;
    int count = 0;
    for (int p = 0; p < permutations; p++)
        for (int s = 0; s < 1 << axes; s++) {
            int v[LAT_MAX_DIMS], first = 0;
            permuted(vector, axes, p, s, v);
            while (v[first] == 0)
                first++;
            if (v[first] < 0 || known(list, count, v))
                continue;
            for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
                list[count][mu] = v[mu];
            count++;
        }
    return count;
}

/* Goes on from a path of `length` steps, `left` being what it lacks. */
static void go_on(int *left, int length, signed char *step, lat_loops_paths *p)
{
    bool end = true;
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++) {
        const int sign = left[mu] < 0 ? -1 : 1;
        if (left[mu] == 0)
            continue;
        end = false;
        left[mu] -= sign;
        step[length] = (signed char)(sign * (mu + 1));
        go_on(left, length + 1, step, p);
        left[mu] += sign;
    }
    if (!end)
        return;
    for (int s = 0; s < length; s++)
        p->step[p->count][s] = step[s];
    p->length = length;
    p->count++;
}

void lat_loops_paths_of(const int *vector, lat_loops_paths *p)
{
    int left[LAT_MAX_DIMS];
    signed char step[LAT_LOOPS_LONGEST];
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        left[mu] = vector[mu];
    p->count = 0;
    go_on(left, 0, step, p);
}

bool lat_loops_off_axis(const lat_loops_how *how)
{
    for (int c = 0; c < how->classes; c++) {
        int steps = 0;
        for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
            steps += how->vector[c][mu];
        if (steps > 1)
            return true;
    }
    return false;
}

/* ---- chunks ---------------------------------------------------------------------------------- */

lat_loops_chunks lat_loops_chunks_of(size_t sites)
{
    const size_t each = (sites + LAT_LOOPS_CHUNKS - 1) / LAT_LOOPS_CHUNKS;
    return (lat_loops_chunks){sites, each, (int)((sites + each - 1) / each)};
}

lat_slab lat_loops_chunks_own(const lat_loops_frame *f, const lat_loops_chunks *c, int rank)
{
    const int first = (int)((long)c->count * rank / f->comm->size),
              end = (int)((long)c->count * (rank + 1) / f->comm->size);
    return (lat_slab){first, end - first};
}

/* ---- what has no loops ----------------------------------------------------------------------- */

static int check_vectors(const lat_geometry *geom, const lat_loops_how *how, const char *name)
{
    char dims[64];
    for (int c = 0; c < how->classes; c++)
        for (int mu = geom->nd - 1; mu < LAT_MAX_DIMS; mu++)
            if (how->vector[c][mu])
                return lat_fail("%s: expected separations of %d components for lattice %s, found "
                                "one of %d",
                                name, geom->nd - 1, lat_dims_text(geom, dims), mu + 1);
    return 0;
}

static int check_window(const lat_header *head, const lat_loops_how *how, const char *name)
{
    const int slices = lat_slices(head);
    if (!how->window && lat_boundary_open(head) >> (head->geom.nd - 1) & 1)
        return lat_fail("%s: expected a window of slices (--slices A,B), because the last axis is "
                        "open: no loop crosses the boundary, and loops near it are others",
                        name);
    if (how->window && (how->first > how->last || how->last >= slices))
        return lat_fail("%s: expected a window within slices 0 to %d, found %d to %d", name,
                        slices - 1, how->first, how->last);
    const int longest = how->window ? how->last - how->first : slices;
    if (how->time > longest)
        return lat_fail("%s: expected loops of at most %d steps in time, found %d", name, longest,
                        how->time);
    return 0;
}

int lat_loops_check(const lat_field *u, const lat_loops_how *how, const char *name)
{
    const lat_geometry *geom = &u->head.geom;
    char dims[64];
    double xi;
    if (u->head.kind != LAT_GAUGE)
        return lat_fail("%s: expected links, found %s", name, lat_kind_text(u->head.kind));
    if (geom->nd < 2)
        return lat_fail("%s: lattice %s has no space beside its time", name,
                        lat_dims_text(geom, dims));
    if (lat_boundary_closed(&u->head, geom->nd - 1, "loops", name)
        || (how->time_links ? lat_anisotropy_none(&u->head, name) : lat_anisotropy(&u->head, &xi)))
        return -1;
    return check_vectors(geom, how, name) || check_window(&u->head, how, name) ? -1 : 0;
}

/* ---- devices --------------------------------------------------------------------------------- */

static const lat_loops_device *device_of(const lat_device *dev)
{
    return dev->gpu ? &lat_loops_gpu : &lat_loops_cpu;
}

int lat_loops_check_device(const lat_device *dev, const lat_field *u, const lat_loops_how *how)
{
    const lat_loops_device *device = device_of(dev);
    return device->check ? device->check(dev, u, how) : 0;
}

lat_loops *lat_loops_new(lat_device *dev, const lat_field *u, const lat_loops_how *how)
{
    const lat_loops_device *device = device_of(dev);
    lat_loops *s = lat_loops_check_device(dev, u, how) ? NULL
                                                       : lat_alloc_zero(1, device->size, "loops");
    if (!s)
        return NULL;
    s->device = device;
    s->dev = dev;
    s->how = how;
    s->comm = lat_field_shared(u) ? u->comm : &lat_comm_self;
    s->sites = lat_slice_sites(&u->head);
    s->n = u->head.nc;
    s->axes = u->head.geom.nd - 1;
    s->slices = lat_slices(&u->head);
    s->space = u->head.geom;
    s->space.nd = s->axes;
    s->space.dims[s->axes] = 1;
    return s;
}

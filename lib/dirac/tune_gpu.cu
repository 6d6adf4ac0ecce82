/* SPDX-License-Identifier: BSD-3-Clause */
/* tune_gpu.cu: in which order hops take their sites: as was measured for the card, the lattice, the
 * precision and the columns of a space (grid/tuned.h), or as is usual. */
#include "cuda_dirac.cuh"

#include <stdio.h>
#include <string.h>
extern "C" {
#include "base/error.h"
#include "common/options.h"
#include "grid/tuned.h"
}

/* The usual strip, pairs of z, at most: of one column, and of several, of which less fits into the
 * second cache. */
enum { STRIP = 16, STRIP_MANY = 4, NAME = 256 };

static int failed(cudaError_t e) { return lat_cuda_failed(e, "tuning hops"); }

/* ---- walks ----------------------------------------------------------------------------------- */

/* Pairs of z: half of all, halved until they are not above `most`. */
static uint32_t usual_strip(const lat_hop_sites *s, uint32_t most)
{
    uint32_t strip = s->extent[2] / 2;
    while (strip > most && strip % 2 == 0)
        strip /= 2;
    return strip;
}

lat_hop_walk lat_gpu_usual_walk(const lat_gpu_space *s, int columns)
{
    const bool single = s->space.grid->spec.storage == LAT_STORAGE_SINGLE;
    lat_hop_walk w = {};
    if (s->sites.strip)
        w.strip = usual_strip(&s->sites, columns > 3 ? STRIP_MANY : STRIP);
    w.tiles = single ? columns > 1 && s->sites.across == 1 : columns > 6;
    return w;
}

void lat_gpu_set_walk(lat_hop_args *a, lat_hop_walk w)
{
    if (a->sites.strip) {
        a->sites.strip = w.strip;
        a->sites.by_strip = lat_cuda_divide_by(w.strip);
    }
    a->tiles = w.tiles;
}

/* "strip 4, tiles". */
static void print_walk(lat_hop_walk w, char way[LAT_TUNED_WAY])
{
    snprintf(way, LAT_TUNED_WAY, "strip %u%s", w.strip, w.tiles ? ", tiles" : "");
}

/* False where it is no walk of this lattice. */
static bool parse_walk(const char *way, const lat_hop_sites *s, lat_hop_walk *w)
{
    char again[LAT_TUNED_WAY];
    if (sscanf(way, "strip %u", &w->strip) != 1)
        return false;
    w->tiles = strstr(way, "tiles") != NULL;
    print_walk(*w, again);
    return !strcmp(way, again) && w->strip && (s->extent[2] / 2) % w->strip == 0;
}

/* ---- measuring ------------------------------------------------------------------------------- */

typedef struct trial {
    lat_hop_walk walk;
    double us; /* the least so far of a launch */
    bool out;
} trial;

typedef struct trials {
    trial of[64];
    int count;
} trials;

static void add(trials *all, lat_hop_walk w)
{
    const int most = (int)(sizeof all->of / sizeof *all->of);
    const bool usual = all->count && w.strip == all->of[0].walk.strip
                       && w.tiles == all->of[0].walk.tiles;
    if (!usual && all->count < most)
        all->of[all->count++].walk = w;
}

/* The usual walk, without tiles where there is no kernel of tiles. */
static lat_hop_walk usual_of(const lat_gpu_space *s, const lat_hop_trial *t)
{
    lat_hop_walk w = lat_gpu_usual_walk(s, t->args->columns);
    w.tiles = w.tiles && t->tiles;
    return w;
}

/* The walks of a lattice, the usual one first. */
static trials trials_of(const lat_gpu_space *s, const lat_hop_trial *t)
{
    const lat_hop_walk usual = usual_of(s, t);
    const bool tiles = t->tiles && t->args->columns > 1;
    const uint32_t all = s->sites.extent[2] / 2;
    trials list = {};
    add(&list, usual);
    for (uint32_t strip = all > 1 ? 2 : 1; strip <= all; strip++)
        if (all % strip == 0) {
            add(&list, {strip, usual.tiles});
            if (tiles)
                add(&list, {strip, !usual.tiles});
        }
    return list;
}

/* Microseconds of a launch, n times. */
static int time_hops(const lat_hop_trial *t, lat_hop_walk w, int n, cudaEvent_t *event, double *us)
{
    float ms;
    lat_hop_args args[2] = {t->args[0], t->args[1]};
    for (lat_hop_args &a : args)
        lat_gpu_set_walk(&a, w);
    if (failed(cudaEventRecord(event[0], t->stream)))
        return -1;
    for (int i = 0; i < n; i++)
        if (failed(t->launch(&args[i % 2], t->reals, t->stream)))
            return -1;
    if (failed(cudaEventRecord(event[1], t->stream)) || failed(cudaEventSynchronize(event[1]))
        || failed(cudaEventElapsedTime(&ms, event[0], event[1])))
        return -1;
    *us = 1e3 * ms / n;
    return 0;
}

/* Rounds over all that may still be the fastest; a launch of each before, which loads kernels. */
static int measure(const lat_hop_trial *t, trials *list, cudaEvent_t *event)
{
    enum { ROUNDS = 6, LEAST = 300 /* us */, MOST = 50 };
    trial *const end = list->of + list->count;
    double us, best = 0;
    for (const trial *k = list->of; k < end; k++)
        if (time_hops(t, k->walk, 1, event, &us))
            return -1;
    for (int round = 0, n = 1; round < ROUNDS; round++) {
        for (trial *k = list->of; k < end; k++) {
            if (k->out)
                continue;
            if (time_hops(t, k->walk, n, event, &us))
                return -1;
            k->us = round == 0 || us < k->us ? us : k->us;
            best = best == 0 || k->us < best ? k->us : best;
        }
        for (trial *k = list->of + 1; k < end; k++)
            k->out = k->us > 1.06 * best;
        n = best * MOST < LEAST ? MOST : best < LEAST ? (int)(LEAST / best) + 1 : 2;
    }
    return 0;
}

/* The fastest; the usual one where that is not slower by a hundredth. */
static const trial *fastest(const trials *list)
{
    const trial *best = list->of;
    for (const trial *k = list->of; k < list->of + list->count; k++)
        if (!k->out && k->us < best->us)
            best = k;
    return best->us < .99 * list->of[0].us ? best : list->of;
}

/* ---- what others call ------------------------------------------------------------------------ */

/* What is tuned, as a line of the file has it. */
static void name_of(const lat_gpu_space *s, const lat_hop_trial *t, char name[NAME])
{
    const lat_cuda_device *dev = lat_cuda_device_of(s->space.grid->dev);
    const int *const d = s->space.grid->spec.lattice.dims;
    snprintf(
        name, NAME, "%s, %d processors, %d,%d,%d,%d %s, %d columns, %d links of %d reals: %s%s%s",
        dev->dev.name, dev->processors, d[0], d[1], d[2], d[3],
        lat_storage_name(s->space.grid->spec.storage), t->args->columns, t->args->unit ? 6 : 8,
        t->reals, t->what, t->args->clover_h ? ", clover" : "", t->args->phases ? ", phases" : "");
}

static void say(const char *name, const lat_tuned *found)
{
    char text[512];
    snprintf(text, sizeof text, "tuned: %s: %s, %.2f us a column (usually %.2f)", name, found->way,
             found->time, found->usual);
    if (lat_tuned_mode() == LAT_TUNE_ANEW)
        lat_warn("%s", text);
    else
        lat_verbose("%s", text);
}

bool lat_gpu_known_walk(const lat_gpu_space *s, const lat_hop_trial *t, lat_hop_walk *w)
{
    char name[NAME];
    lat_tuned found;
    *w = usual_of(s, t);
    if (!s->sites.strip || trials_of(s, t).count < 2 || lat_tuned_mode() == LAT_TUNE_NEVER
        || s->space.grid->dev->comm->size > 1)
        return true;
    name_of(s, t, name);
    if (!lat_tuned_find(name, &found))
        return false;
    if (parse_walk(found.way, &s->sites, w))
        return true;
    lat_tuned_reject(name, "'strip S', S pairs of z that divide the lattice");
    return false;
}

int lat_gpu_tune_walk(const lat_gpu_space *s, const lat_hop_trial *t, lat_hop_walk *w)
{
    char name[NAME];
    lat_tuned found;
    cudaEvent_t event[2] = {};
    trials list = trials_of(s, t);
    const int rc = failed(cudaEventCreate(&event[0])) || failed(cudaEventCreate(&event[1]))
                   || measure(t, &list, event);
    for (cudaEvent_t e : event)
        if (e)
            cudaEventDestroy(e);
    if (rc)
        return -1;
    const trial *best = fastest(&list);
    *w = best->walk;
    print_walk(*w, found.way);
    found.time = best->us / t->args->columns;
    found.usual = list.of[0].us / t->args->columns;
    name_of(s, t, name);
    lat_tuned_keep(name, &found);
    say(name, &found);
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* check_slab.c: in the slabs of fields and layouts every site has an index and its neighbours;
 * slices are assigned to ranks evenly. */
#include <stdlib.h>
#include <string.h>
#include "fix/assign.h"
#include "grid/layout.h"
#include "check.h"
#include "base/error.h"
#include "lattice/field.h"

/* Rank r of n, for what only asks who it is. */
static lat_comm pretend(int r, int n)
{
    lat_comm comm = lat_comm_self;
    comm.rank = r;
    comm.size = n;
    return comm;
}

static const char *const lattices[] = {"8",         "6,10",    "4,6,8",   "4,4,4,4", "8,8,8,6",
                                       "16,2,4,10", "4,4,4,7", "3,5,1,9", "8,3,4,6", "7"};
enum { LATTICES = sizeof lattices / sizeof *lattices };

/* All ranks' own sites are all sites, in order; index is the inverse of site; next leads where the
 * lattice does. */
static void check_field_index(const char *dims, int n)
{
    lat_field f = {.data = NULL};
    size_t expected = 0, wrong = 0;
    lat_header_init(&f.head);
    f.head.kind = LAT_TRANSFORM;
    CHECK(lat_dims_parse(dims, &f.head.geom) == 0, "%s", lat_error());
    const lat_geometry *geom = &f.head.geom;
    for (int r = 0; r < n; r++) {
        const lat_comm comm = pretend(r, n);
        f.comm = &comm;
        const size_t sites = lat_field_sites(&f);
        for (size_t i = 0; i < sites; i++) {
            const size_t x = lat_field_site(&f, i);
            wrong += x != expected++ || lat_field_index(&f, x) != i;
            for (int mu = 0; mu < geom->nd; mu++)
                for (int step = -1; step <= 1; step += 2) {
                    const size_t next = lat_field_next(&f, i, mu, step);
                    const size_t there = lat_field_index(&f, lat_neighbour(geom, x, mu, step));
                    /* With all slices but one here, that one is both ghosts. */
                    const bool twice = lat_field_slab(&f).count == lat_slices(&f.head) - 1;
                    wrong += next >= lat_field_held(&f)
                             || (next != there
                                 && !(twice
                                      && next % lat_slice_sites(&f.head)
                                             == there % lat_slice_sites(&f.head)));
                }
        }
    }
    CHECK(wrong == 0 && expected == lat_volume(geom), "%s on %d ranks: %zu wrong of %zu", dims, n,
          wrong, expected);
}

/* The lattice's site at local coordinates. */
static size_t global(const lat_geometry *lattice, const lat_layout *lay, lat_slab own, int64_t site)
{
    int x[LAT_MAX_DIMS];
    const int last = lattice->nd - 1, extent = lattice->dims[last];
    lat_coordinates(&lay->geom, (size_t)site, x);
    x[last] = (x[last] + own.first - 1 + extent) % extent;
    return lat_site(lattice, x);
}

static int parity_of(const lat_geometry *geom, size_t site)
{
    int x[LAT_MAX_DIMS];
    lat_coordinates(geom, site, x);
    return (x[0] + x[1] + x[2] + x[3]) & 1;
}

/* The lists of the faces: what rank r sends down, rank r - 1 has as its upper ghost, site by site;
 * blocks that are not in a face have no neighbours in ghosts. */
static void layout_of(const char *dims, int n, int lanes)
{
    lat_geometry geom;
    CHECK(lat_dims_parse(dims, &geom) == 0, "%s", lat_error());
    const size_t volume = lat_volume(&geom);
    const int slices = geom.dims[geom.nd - 1], nk = 2 * geom.nd;
    size_t seen = 0, wrong = 0;
    lat_layout **s = calloc((size_t)n, sizeof *s);
    lat_slab *own = calloc((size_t)n, sizeof *own);
    for (int r = 0; r < n; r++) {
        const lat_comm comm = pretend(r, n);
        own[r] = lat_slab_of(&comm, r, slices);
        s[r] = lat_layout_new(&geom, &own[r], lanes);
        if (!CHECK(s[r] != NULL, "%s", lat_error()))
            return;
    }
    for (int r = 0; r < n; r++) {
        const lat_layout *lay = s[r];
        for (int64_t i = 0; i < (int64_t)lay->nblocks * lanes; i++) {
            if (lay->site[i] < 0)
                continue;
            const size_t x = global(&geom, lay, own[r], lay->site[i]);
            const int b = (int)(i / lanes), odd = b >= lay->neven;
            const bool in_face = b < lay->low[odd] || b >= lay->high[odd];
            seen++;
            wrong += parity_of(&geom, x) != odd;
            for (int k = 0; k < nk; k++) {
                const int64_t next = lat_position_next(lay, i, k);
                wrong += lay->site[next] < 0
                         || global(&geom, lay, own[r], lay->site[next])
                                != lat_neighbour(&geom, x, k % geom.nd, k < geom.nd ? 1 : -1);
                wrong += next / lanes >= lay->nblocks && !in_face;
            }
        }
        const int down = (r + n - 1) % n;
        for (int parity = 0; parity < 2; parity++) {
            const int64_t sites = lay->face[parity][LAT_DOWN].sites;
            wrong += sites != s[down]->face[parity][LAT_UP].ghosts
                     || s[down]->face[parity][LAT_UP].sites != lay->face[parity][LAT_DOWN].ghosts;
            for (int64_t i = 0; i < sites && wrong == 0; i++)
                wrong += global(&geom, lay, own[r], lay->site[lay->face[parity][LAT_DOWN].own[i]])
                         != global(&geom, s[down], own[down],
                                   s[down]->site[s[down]->face[parity][LAT_UP].ghost[i]]);
        }
    }
    CHECK(wrong == 0 && seen == volume, "%s on %d ranks in %d lanes: %zu wrong, %zu sites of %zu",
          dims, n, lanes, wrong, seen, volume);
    for (int r = 0; r < n; r++)
        lat_layout_free(s[r]);
    free(s);
    free(own);
}

static int random_below(unsigned *state, int n)
{
    *state = *state * 1664525 + 1013904223;
    return (int)((*state >> 8) % (unsigned)n);
}

static int most_load(const int *at, const int *work, int slices, int ranks)
{
    int load[8] = {0}, most = 0;
    for (int s = 0; s < slices; s++)
        load[at[s]] += work[s];
    for (int r = 0; r < ranks; r++)
        most = load[r] > most ? load[r] : most;
    return most;
}

/* Moves are from where a slice is to where there is capacity, and only if the rank that has most
 * has gain after all of them. With pieces of one size and capacity for all, nobody has more than
 * its share rounded up. */
static void balance_of(int ranks, int pieces, int space, unsigned seed)
{
    enum { SLICES = 24 };
    const lat_comm comm = pretend(0, ranks);
    int at[SLICES], work[SLICES], capacity[8], all = 0, longest = -1, gain = -1;
    double theta[SLICES];
    lat_migration list[SLICES];
    for (int s = 0; s < SLICES; s++) {
        at[s] = s * ranks / SLICES;
        work[s] = random_below(&seed, at[s] + 2) ? 0 : 1 + random_below(&seed, pieces);
        theta[s] = random_below(&seed, 1000);
        all += work[s];
    }
    for (int r = 0; r < ranks; r++)
        capacity[r] = space;
    const int before = most_load(at, work, SLICES, ranks),
              n = lat_assign_slices(&comm, SLICES, at, work, theta, capacity, list, &gain);
    CHECK(n >= 0, "%s", lat_error());
    for (int i = 0; i < n; i++) {
        const int s = list[i].slice;
        CHECK(at[s] == list[i].from && list[i].from != list[i].to && work[s] > 0
                  && --capacity[list[i].to] >= 0,
              "move %d of slice %d", i, s);
        longest = i == 0 ? s : longest;
        at[s] = list[i].to;
    }
    const int after = most_load(at, work, SLICES, ranks), share = (all + ranks - 1) / ranks;
    CHECK((n == 0 ? after == before : after < before) && gain == before - after,
          "%d ranks: from %d to %d", ranks, before, after);
    if (pieces == 1 && space >= SLICES)
        CHECK(after == (before < share ? before : share), "%d ranks, %d in all: from %d to %d",
              ranks, all, before, after);
    for (int s = 0; longest >= 0 && pieces == 1 && s < SLICES; s++)
        CHECK(s * ranks / SLICES != list[0].from || work[s] == 0 || theta[s] <= theta[longest],
              "slice %d stays, %d goes", s, longest);
}

int main(void)
{
    check_case("fields in slabs: own sites, ghosts, neighbours");
    for (int i = 0; i < LATTICES; i++)
        for (int n = 2; n <= 6; n++)
            check_field_index(lattices[i], n);
    check_case("layouts of slabs: own sites, ghosts, neighbours, faces");
    for (int i = 0; i < LATTICES; i++)
        for (int n = 1; n <= 3; n++)
            for (int lanes = 2; lanes <= 16; lanes *= 2)
                layout_of(lattices[i], n, lanes);
    check_case("slabs of ranks differ by one slice at most");
    for (int slices = 1; slices < 40; slices++)
        for (int n = 1; n <= slices; n++) {
            const lat_comm comm = pretend(0, n);
            for (int r = 0, next = 0; r < n; r++) {
                const lat_slab s = lat_slab_of(&comm, r, slices);
                CHECK(s.first == next && (s.count == slices / n || s.count == slices / n + 1),
                      "%d slices, rank %d of %d", slices, r, n);
                next += s.count;
                CHECK(r + 1 < n || next == slices, "%d slices, %d ranks", slices, n);
            }
        }
    check_case("slices that are left are balanced among ranks");
    for (unsigned seed = 1; seed <= 300; seed++)
        for (int ranks = 2; ranks <= 8; ranks++)
            for (int pieces = 1; pieces <= 4; pieces += 3)
                for (int space = 0; space <= 24; space += 2)
                    balance_of(ranks, pieces, space, seed);
    return check_done();
}

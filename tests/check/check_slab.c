/* SPDX-License-Identifier: BSD-3-Clause */
/* check_slab.c: in the slabs of fields and layouts every site has an index and its neighbours;
 * slices are assigned to ranks evenly. The same of boxes of layouts; faces of boxes on GPUs, and of
 * multigrids. */
#include <stdlib.h>
#include <string.h>
#include "fix/assign.h"
#include "grid/layout.h"
#include "lattice/box.h"
#include "check.h"
#include "fields.h"
#include "base/error.h"
#include "lattice/field.h"
#include "multigrid/blocks.h"
#include "vector/faces.h"

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

/* ---- layouts --------------------------------------------------------------------------------- */

enum { MOST_RANKS = 12 };

/* The layouts of all ranks of a grid. */
typedef struct layouts {
    lat_geometry lattice;
    lat_box box[MOST_RANKS];
    lat_own own[MOST_RANKS];
    lat_layout *lay[MOST_RANKS];
    size_t wrong;
} layouts;

/* The lattice's site at a position of a rank; ghosts, too. */
static size_t global(const layouts *s, int rank, int64_t position)
{
    int x[LAT_MAX_DIMS];
    const lat_layout *lay = s->lay[rank];
    lat_coordinates(&lay->geom, (size_t)lay->local[position], x);
    for (int mu = 0; mu < s->lattice.nd; mu++) {
        const int n = s->lattice.dims[mu];
        x[mu] = (x[mu] + s->own[rank].first[mu] - s->own[rank].cut[mu] + n) % n;
    }
    return lat_site(&s->lattice, x);
}

static int parity_of(const lat_geometry *geom, size_t site)
{
    int x[LAT_MAX_DIMS];
    lat_coordinates(geom, site, x);
    return (x[0] + x[1] + x[2] + x[3]) & 1;
}

/* Own sites have their parity, their number, their neighbours; those that are not in a face have
 * none in ghosts. From there one step along another axis is right, too, so that edges are. */
static size_t check_own(layouts *s, int r)
{
    const lat_layout *lay = s->lay[r];
    const int nd = s->lattice.nd, lanes = lay->lanes;
    size_t seen = 0;
    for (int64_t i = 0; i < (int64_t)lay->nblocks * lanes; i++) {
        if (lay->site[i] < 0)
            continue;
        const size_t x = global(s, r, i);
        const int b = (int)(i / lanes), odd = b >= lay->neven;
        int at[LAT_MAX_DIMS];
        lat_coordinates(&s->lattice, x, at);
        for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
            at[mu] -= s->own[r].first[mu];
        seen++;
        s->wrong += parity_of(&s->lattice, x) != odd
                    || lay->site[i] != (int64_t)lat_site(&lay->here, at);
        for (int k = 0; k < 4 * nd * nd; k++) {
            const int d = k % (2 * nd), e = k / (2 * nd);
            const int64_t next = lat_position_next(lay, i, d),
                          edge = lat_position_next(lay, next, e);
            const size_t y = lat_neighbour(&s->lattice, x, d % nd, d < nd ? 1 : -1);
            s->wrong += lay->local[next] < 0 || global(s, r, next) != y;
            s->wrong += next / lanes >= lay->nblocks && b >= lay->inner[odd];
            s->wrong += d % nd != e % nd
                        && global(s, r, edge)
                               != lat_neighbour(&s->lattice, y, e % nd, e < nd ? 1 : -1);
        }
    }
    return seen;
}

/* What a rank sends to a neighbour, that one has as ghosts on the opposite side, site by site. */
static void check_faces(layouts *s, int r)
{
    const lat_layout *lay = s->lay[r];
    for (int i = 0; i < 2 * lay->faces; i++) {
        const int parity = i % 2;
        const lat_face *out = &lay->face[parity][i / 2], *in = NULL;
        const int there = lat_box_rank(&s->box[r], out->step);
        for (int k = 0; k < s->lay[there]->faces; k++)
            if (lat_step_number(s->lay[there]->face[parity][k].step, true)
                == lat_step_number(out->step, false))
                in = &s->lay[there]->face[parity][k];
        s->wrong += !in || out->sites != in->ghosts;
        for (int64_t k = 0; k < out->sites && s->wrong == 0; k++)
            s->wrong += global(s, r, out->own[k]) != global(s, there, in->ghost[k]);
    }
}

/* `check`: with ghosts along an axis that is not cut, as the checking device has them. */
static void layouts_of(const char *dims, const int ranks[LAT_MAX_DIMS], int lanes, bool check)
{
    layouts s = {.wrong = 0};
    size_t seen = 0;
    CHECK(lat_dims_parse(dims, &s.lattice) == 0, "%s", lat_error());
    const int last = s.lattice.nd - 1, n = ranks[0] * ranks[1] * ranks[2] * ranks[3];
    for (int r = 0; r < n; r++) {
        memcpy(s.box[r].ranks, ranks, sizeof s.box[r].ranks);
        s.box[r] = lat_box_at(&s.box[r], &s.lattice, r);
        for (int mu = 0; mu <= last; mu++) {
            s.own[r].first[mu] = s.box[r].first[mu];
            s.own[r].count[mu] = s.box[r].count[mu];
            s.own[r].cut[mu] = ranks[mu] > 1 || mu == last || (check && mu > 0 && mu == last - 1);
        }
        s.lay[r] = lat_layout_new(&s.lattice, &s.own[r], lanes);
        if (!CHECK(s.lay[r] != NULL, "%s", lat_error()))
            return;
    }
    for (int r = 0; r < n; r++) {
        seen += check_own(&s, r);
        check_faces(&s, r);
    }
    CHECK(s.wrong == 0 && seen == lat_volume(&s.lattice),
          "%s on %d,%d,%d,%d in %d lanes: %zu wrong, %zu sites of %zu", dims, ranks[0], ranks[1],
          ranks[2], ranks[3], lanes, s.wrong, seen, lat_volume(&s.lattice));
    for (int r = 0; r < n; r++)
        lat_layout_free(s.lay[r]);
}

/* Slabs of any lattice. */
static void check_slabs(void)
{
    for (int i = 0; i < LATTICES; i++) {
        lat_geometry geom;
        lat_dims_parse(lattices[i], &geom);
        for (int n = 1; n <= 3; n++)
            for (int lanes = 2; lanes <= 16; lanes *= 2) {
                int ranks[LAT_MAX_DIMS] = {1, 1, 1, 1};
                ranks[geom.nd - 1] = n;
                layouts_of(lattices[i], ranks, lanes, false);
            }
    }
}

static void check_boxes(void)
{
    static const struct {
        const char *dims;
        int ranks[LAT_MAX_DIMS];
    } grids[] = {{"4,4,4,4", {1, 1, 2, 1}},  {"4,4,4,4", {1, 1, 2, 2}}, {"4,4,8,6", {1, 1, 2, 3}},
                 {"6,4,8,12", {1, 2, 2, 3}}, {"4,8,4,8", {1, 2, 1, 2}}, {"4,12,8,7", {1, 2, 2, 2}},
                 {"4,8,6", {1, 2, 2, 1}},    {"8,8,8,8", {1, 2, 4, 1}}, {"4,4,4,4", {1, 2, 1, 1}}};
    for (int i = 0; i < (int)(sizeof grids / sizeof *grids); i++)
        for (int lanes = 2; lanes <= 16; lanes *= 2)
            layouts_of(grids[i].dims, grids[i].ranks, lanes, false);
    for (int lanes = 2; lanes <= 16; lanes *= 2)
        layouts_of("4,4,4,4", (int[]){1, 1, 1, 1}, lanes, true);
}

/* ---- faces of GPUs --------------------------------------------------------------------------- */

/* Sites of a parity of a box, as faces.h has them: x/2 + X/2 (y + Y (z + Z t)). */
typedef struct gpu_box {
    const lat_geometry *lattice;
    lat_box box;
    uint32_t plane, slice;
} gpu_box;

static gpu_box gpu_box_of(const lat_geometry *lattice, const int ranks[LAT_MAX_DIMS], int rank)
{
    gpu_box b = {.lattice = lattice};
    memcpy(b.box.ranks, ranks, sizeof b.box.ranks);
    b.box = lat_box_at(&b.box, lattice, rank);
    b.plane = (uint32_t)(b.box.count[0] / 2 * b.box.count[1]);
    b.slice = b.plane * (uint32_t)b.box.count[2];
    return b;
}

static size_t gpu_site(const gpu_box *b, uint32_t i, int parity)
{
    const int *const n = b->box.count, *const first = b->box.first, k = (int)i;
    int x[LAT_MAX_DIMS] = {0, k / (n[0] / 2) % n[1], k / (int)b->plane % n[2], k / (int)b->slice};
    for (int mu = 1; mu < 4; mu++)
        x[mu] += first[mu];
    x[0] = 2 * (k % (n[0] / 2)) + ((x[1] + x[2] + x[3] + parity) & 1);
    return lat_site(b->lattice, x);
}

/* Number n of a face of a rank, among its sites. */
static uint32_t gpu_face(const gpu_box *b, int side, uint32_t n)
{
    const uint32_t row = (uint32_t)b->box.count[0] / 2, rows = (uint32_t)b->box.count[1];
    uint32_t zt;
    if (side < LAT_Y_DOWN)
        return lat_face_place(b->plane, b->slice, (uint32_t)b->box.count[3], side, n);
    const uint32_t x = lat_face_place_y(row, n, &zt);
    return x + (side == LAT_Y_UP ? rows - 1 : 0) * row + zt * b->plane;
}

/* Where a rank looks, at its site x, for the neighbour on a side: its number among the ghosts. */
static uint32_t gpu_ghost(const gpu_box *b, size_t x, int side)
{
    int c[LAT_MAX_DIMS];
    lat_coordinates(b->lattice, x, c);
    const uint32_t z = (uint32_t)(c[2] - b->box.first[2]), t = (uint32_t)(c[3] - b->box.first[3]),
                   half = (uint32_t)c[0] / 2, row = (uint32_t)b->box.count[0] / 2,
                   i = half + (uint32_t)(c[1] - b->box.first[1]) * row + z * b->plane
                       + t * b->slice;
    return side < LAT_Z_DOWN   ? i - t * b->slice
           : side < LAT_Y_DOWN ? lat_face_number_z(b->plane, b->slice, z, t, i)
                               : lat_face_number_y(row, half, z + (uint32_t)b->box.count[2] * t);
}

/* What a rank sends first, second, .. is what its neighbour looks for there. */
static void check_gpu_faces(const char *dims, const int ranks[LAT_MAX_DIMS])
{
    lat_geometry lattice;
    size_t wrong = 0, seen = 0;
    CHECK(lat_dims_parse(dims, &lattice) == 0, "%s", lat_error());
    for (int r = 0; r < ranks[1] * ranks[2] * ranks[3]; r++)
        for (int k = 0; k < 2 * LAT_FACES; k++) {
            const int side = k / 2, parity = k % 2, mu = lat_face_axis(side);
            const gpu_box own = gpu_box_of(&lattice, ranks, r);
            const uint32_t sites = own.slice * (uint32_t)own.box.count[3]
                                   / (uint32_t)own.box.count[mu];
            int step[LAT_MAX_DIMS] = {0};
            step[mu] = side % 2 ? 1 : -1;
            const gpu_box there = gpu_box_of(&lattice, ranks, lat_box_rank(&own.box, step));
            for (uint32_t n = 0; n < sites; n++) {
                const size_t x = gpu_site(&own, gpu_face(&own, side, n), parity),
                             next = lat_neighbour(&lattice, x, mu, step[mu]);
                wrong += parity_of(&lattice, x) != parity || gpu_ghost(&there, next, side ^ 1) != n;
                seen++;
            }
        }
    CHECK(wrong == 0 && seen > 0, "%s on %d,%d,%d,%d: %zu wrong of %zu", dims, ranks[0], ranks[1],
          ranks[2], ranks[3], wrong, seen);
}

/* ---- blocks of multigrids ---------------------------------------------------------------------
 */

typedef struct rank_blocks {
    lat_box box;
    lat_mg_sites coarse;
    lat_blocks blocks;
    int32_t *next, *by_rank;
} rank_blocks;

static rank_blocks blocks_of(const lat_geometry *lattice, const int block[LAT_MAX_DIMS],
                             const int ranks[LAT_MAX_DIMS], int rank)
{
    const int n = ranks[1] * ranks[2] * ranks[3];
    const lat_comm comm = pretend(rank, n);
    rank_blocks r = {.next = NULL};
    lat_geometry coarse = *lattice;
    memcpy(r.box.ranks, ranks, sizeof r.box.ranks);
    r.box = lat_box_at(&r.box, lattice, rank);
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        coarse.dims[mu] /= block[mu];
    need(lat_mg_sites_open(&r.coarse, &coarse, &comm, &r.box) == 0
             && lat_blocks_open(&r.blocks, lattice, &r.box, block, &r.coarse) == 0
             && (r.next = lat_blocks_next(&r.blocks))
             && (r.by_rank = lat_mg_sites_by_rank(&r.coarse, n)),
         "blocks");
    return r;
}

static void free_blocks(rank_blocks *r)
{
    lat_blocks_close(&r->blocks);
    lat_mg_sites_close(&r->coarse);
    free(r->next);
    free(r->by_rank);
}

/* The site of the lattice that is at this place of a rank's list. */
static size_t listed(const lat_geometry *lattice, const rank_blocks *r, int64_t place)
{
    int x[LAT_MAX_DIMS];
    lat_coordinates(&r->blocks.own, (size_t)r->blocks.list[place], x);
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        x[mu] += r->box.first[mu];
    return lat_site(lattice, x);
}

/* A rank's ghosts across an axis are the first face of the next rank. Counts those that are not. */
static size_t wrong_ghosts(const lat_geometry *lattice, const rank_blocks *own,
                           const rank_blocks *there, int mu)
{
    const lat_blocks *b = &own->blocks;
    int64_t *const first = lat_blocks_first_face(&there->blocks, mu), ghosts = b->sites, seen = 0;
    size_t wrong = 0;
    need(first != NULL, "a face");
    for (int nu = 0; nu < mu; nu++)
        ghosts += b->cut[nu] ? lat_blocks_face(b, nu) : 0;
    for (int64_t i = 0; i < b->sites; i++) {
        const int64_t n = own->next[4 * i + mu] / 2 - ghosts;
        if (own->next[4 * i + mu] / 2 < b->sites)
            continue;
        seen++;
        wrong += n < 0 || n >= lat_blocks_face(b, mu)
                 || listed(lattice, there, first[n])
                        != lat_neighbour(lattice, listed(lattice, own, i), mu, 1);
    }
    free(first);
    return wrong + (seen != lat_blocks_face(b, mu));
}

/* The coarse sites of ranks, as all of them list them, are those of their blocks. */
static size_t wrong_sites(const rank_blocks *r, int rank)
{
    const int count = r->blocks.count;
    size_t wrong = count * (rank + 1) > r->coarse.count;
    for (int i = 0; i < count && !wrong; i++) {
        int found = 0;
        for (int k = 0; k < count; k++)
            found += r->by_rank[rank * count + k] == r->blocks.site[i];
        wrong += found != 1;
    }
    return wrong;
}

static void check_blocks(const char *dims, const int block[LAT_MAX_DIMS],
                         const int ranks[LAT_MAX_DIMS])
{
    const int n = ranks[1] * ranks[2] * ranks[3];
    lat_geometry lattice;
    size_t wrong = 0;
    CHECK(lat_dims_parse(dims, &lattice) == 0, "%s", lat_error());
    for (int rank = 0; rank < n; rank++) {
        rank_blocks own = blocks_of(&lattice, block, ranks, rank);
        wrong += wrong_sites(&own, rank);
        for (int mu = 1; mu < LAT_MAX_DIMS; mu++) {
            int step[LAT_MAX_DIMS] = {0};
            step[mu] = 1;
            rank_blocks there = blocks_of(&lattice, block, ranks, lat_box_rank(&own.box, step));
            wrong += ranks[mu] > 1 ? wrong_ghosts(&lattice, &own, &there, mu) : 0;
            free_blocks(&there);
        }
        free_blocks(&own);
    }
    CHECK(wrong == 0, "%s on %d,%d,%d,%d: %zu wrong", dims, ranks[0], ranks[1], ranks[2], ranks[3],
          wrong);
}

/* ---- slices ---------------------------------------------------------------------------------- */

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
    check_case("layouts of slabs: own sites, ghosts, edges, neighbours, faces");
    check_slabs();
    check_case("layouts of boxes of any grid: the same");
    check_boxes();
    check_case("faces of boxes on GPUs lie where the neighbours look for them");
    check_gpu_faces("8,8,8,10", (int[]){1, 1, 2, 3});
    check_gpu_faces("8,4,8,6", (int[]){1, 1, 4, 1});
    check_gpu_faces("4,2,12,8", (int[]){1, 1, 3, 2});
    check_gpu_faces("2,6,4,7", (int[]){1, 1, 1, 3});
    check_gpu_faces("6,4,4,6", (int[]){1, 2, 1, 1});
    check_gpu_faces("4,12,4,7", (int[]){1, 3, 2, 2});
    check_case("blocks of multigrids: ghosts are the next rank's first face, lists have all sites");
    check_blocks("8,8,8,12", (int[]){4, 4, 4, 3}, (int[]){1, 1, 2, 2});
    check_blocks("8,4,8,12", (int[]){4, 2, 2, 3}, (int[]){1, 1, 4, 2});
    check_blocks("4,8,8,8", (int[]){2, 2, 4, 2}, (int[]){1, 2, 2, 4});
    check_blocks("8,4,4,12", (int[]){4, 2, 2, 3}, (int[]){1, 1, 1, 4});
    check_blocks("6,4,6,10", (int[]){2, 2, 3, 5}, (int[]){1, 2, 2, 2});
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

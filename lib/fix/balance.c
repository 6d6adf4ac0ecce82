/* SPDX-License-Identifier: BSD-3-Clause */
/* balance.c: which slice is where, and what that takes. All ranks know it of all. */
#include "balance.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "common/options.h"
#include "assign.h"

/* ---- places ---- */

static int tell_room(lat_balance *h, int guests)
{
    const size_t all = (size_t)h->all, ranks = (size_t)h->comm->size;
    h->at = lat_alloc(all, sizeof *h->at, "which rank has what");
    h->room = lat_alloc(ranks, sizeof *h->room, "which rank has what");
    if (!h->at || !h->room || h->comm->gather(h->comm, &guests, sizeof guests, h->room))
        return -1;
    for (int r = 0; r < h->comm->size; r++) {
        const lat_slab there = lat_slab_of(h->comm, r, h->all);
        for (int s = 0; s < there.count; s++)
            h->at[there.first + s] = r;
    }
    return 0;
}

int lat_balance_open(lat_balance *h, const lat_comm *comm, lat_slab mine, int all, int copies,
                     int guests, double price, lat_migrate_fn *post, void *device)
{
    *h = (lat_balance){.comm = comm,
                       .mine = mine,
                       .all = all,
                       .copies = copies,
                       .post = post,
                       .device = device,
                       .price = price};
    h->places = mine.count + (guests > 0 ? guests : 0);
    h->slice = lat_alloc((size_t)h->places, sizeof *h->slice, "the list of slices");
    h->live = lat_alloc((size_t)copies * (size_t)all, sizeof *h->live, "the list of slices");
    if (!h->slice || !h->live || (guests >= 0 && tell_room(h, guests)))
        return -1;
    memset(h->live, true, (size_t)copies * (size_t)all * sizeof *h->live);
    for (int p = 0; p < h->places; p++)
        h->slice[p] = p < mine.count ? mine.first + p : -1;
    return 0;
}

void lat_balance_close(lat_balance *h)
{
    free(h->slice);
    free(h->live);
    free(h->at);
    free(h->room);
}

int lat_balance_capacity(lat_slab mine) { return (mine.count + 1) / 2; }

int lat_balance_slots_used(const lat_balance *h)
{
    int n = h->places;
    while (n > h->mine.count && h->slice[n - 1] < 0)
        n--;
    return n;
}

int lat_balance_unit(const lat_balance *h, int unit)
{
    const int place = unit % h->places, slice = h->slice[place];
    if (slice < 0 || (h->at && place < h->mine.count && h->at[slice] != h->comm->rank))
        return -1;
    return unit / h->places * h->all + slice;
}

bool lat_balance_active(const lat_balance *h, int unit)
{
    const int i = lat_balance_unit(h, unit);
    return i >= 0 && h->live[i];
}

/* Who has a slice for good. */
static int home_of(const lat_balance *h, int slice)
{
    int rank = 0;
    while (slice
           >= lat_slab_of(h->comm, rank, h->all).first + lat_slab_of(h->comm, rank, h->all).count)
        rank++;
    return rank;
}

/* Of a slice that is swept here. */
static int place_of(const lat_balance *h, int slice)
{
    int p = 0;
    while (h->slice[p] != slice)
        p++;
    return p;
}

/* ---- moves ---- */

/* g of all copies of the slice at a place, and its links where the other rank does not have them.
 */
static int post(const lat_balance *h, int place, int rank, bool send, bool links)
{
    int rc = 0;
    for (int copy = links ? -1 : 0; copy < h->copies && rc == 0; copy++)
        rc = h->post(h->device, place, copy, rank, send);
    return rc;
}

/* Called by all ranks, with the same moves in the same order; most of them only take note. */
static int move_slice(lat_balance *h, lat_migration m)
{
    const int me = h->comm->rank;
    const bool links = m.to != home_of(h, m.slice);
    int rc = 0;
    if (m.from == me) {
        const int place = place_of(h, m.slice);
        rc = post(h, place, m.to, true, links);
        if (place >= h->mine.count)
            h->slice[place] = -1;
    }
    if (m.to == me) {
        int place = links ? h->mine.count : m.slice - h->mine.first;
        while (links && h->slice[place] >= 0)
            place++;
        h->slice[place] = m.slice;
        rc = post(h, place, m.from, false, links);
    }
    h->at[m.slice] = m.to;
    return rc;
}

/* Copies of a slice that are to be swept. */
static int work_for(const lat_balance *h, int slice)
{
    int n = 0;
    for (int copy = 0; copy < h->copies; copy++)
        n += h->live[copy * h->all + slice];
    return n;
}

/* Guests that are done go home; all of them do if `every`. */
static int send_home(lat_balance *h, bool every)
{
    for (int slice = 0; h->at && slice < h->all; slice++) {
        const lat_migration m = {slice, h->at[slice], home_of(h, slice)};
        if (m.from != m.to && (every || work_for(h, slice) == 0) && move_slice(h, m))
            return -1;
    }
    return 0;
}

int lat_balance_return(lat_balance *h) { return send_home(h, true); }

/* ---- dealing ---- */

/* The copy with the largest theta says how far a slice is. */
static double distance(const lat_balance *h, const double *theta, int slice)
{
    double worst = 0;
    for (int copy = 0; copy < h->copies; copy++)
        worst = h->live[copy * h->all + slice] ? lat_worse(worst, theta[copy * h->all + slice])
                                               : worst;
    return worst;
}

/* The moves to be made, and h->less: how many, or -1. */
static int plan(lat_balance *h, const double *theta, lat_migration *move)
{
    const size_t all = (size_t)h->all, ranks = (size_t)h->comm->size;
    int *work = lat_alloc(all + ranks, sizeof *work, "what is to be done"), *room = work + all;
    double *far = lat_alloc(all, sizeof *far, "what is to be done");
    int n = -1;
    if (work && far) {
        memcpy(room, h->room, ranks * sizeof *room);
        for (int s = 0; s < h->all; s++) {
            work[s] = work_for(h, s);
            far[s] = distance(h, theta, s);
            room[h->at[s]] -= h->at[s] != home_of(h, s);
        }
        int less = 0;
        n = lat_assign_slices(h->comm, h->all, h->at, work, far, room, move, &less);
        h->less = less;
    }
    free(work);
    free(far);
    return n;
}

static int deal_again(lat_balance *h, const double *theta)
{
    if (send_home(h, false))
        return -1;
    lat_migration *move = lat_alloc((size_t)h->all, sizeof *move, "what is to be done");
    const int n = move ? plan(h, theta, move) : -1;
    int rc = n < 0 ? -1 : 0;
    if (n <= 0 || h->lost >= n * h->price) {
        h->less = h->lost = 0;
        if (n > 0)
            lat_verbose("slices dealt out again: %d go from rank to rank", n);
        for (int i = 0; i < n && rc == 0; i++)
            rc = move_slice(h, move[i]);
    }
    free(move);
    return rc;
}

int lat_balance_freeze(lat_balance *h, const double *theta, const double *bound)
{
    for (int i = 0; i < h->copies * h->all; i++)
        h->live[i] = !(theta[i] < bound[i / h->all]);
    return h->at ? deal_again(h, theta) : 0;
}

void lat_balance_swept(lat_balance *h, long n) { h->lost += h->less * (double)n; }

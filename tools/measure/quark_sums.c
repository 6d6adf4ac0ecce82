/* SPDX-License-Identifier: BSD-3-Clause */
/* quark_sums.c: sums over sites of propagators: legs of a momentum source, of a point source. */
#include "quark_run.h"

#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "common/options.h"
#include "common/progress.h"
#include "quark/current.h"
#include "smear/smear.h"

typedef int slice_fn(lat_quark_run *r, const void *what, int t, double *out);

/* `reals` numbers of each slice by fn, in all: of all slices. The caller frees it. */
static double *over_slices(lat_quark_run *r, slice_fn *fn, const void *what, size_t reals)
{
    const lat_header *head = &r->first.f.head;
    const lat_slab slab = lat_field_slab(&r->first.f);
    double *own = lat_alloc((size_t)slab.count * reals, sizeof *own, "sums over slices");
    double *all = lat_alloc((size_t)lat_slices(head) * reals, sizeof *all, "sums over slices");
    int rc = own && all ? 0 : -1;
    lat_part_begin("slice", slab.count);
    for (int t = 0; rc == 0 && t < slab.count; t++) {
        rc = lat_rc(lat_feed_slice(&r->first, t)
                    || (lat_quark_opts.second && lat_feed_slice(&r->second, t))
                    || fn(r, what, t + slab.first, own + (size_t)t * reals));
        lat_part_done(t + 1);
    }
    lat_part_end();
    rc = lat_agree(lat_opts.comm, rc);
    if (rc || lat_feed_end(&r->first) || (lat_quark_opts.second && lat_feed_end(&r->second))
        || lat_field_gather(&r->first.f, own, reals * sizeof *own, all)) {
        free(all);
        all = NULL;
    }
    free(own);
    return all;
}

/* What is summed over the slices of a pair. */
typedef struct pair_sums {
    lat_legs legs;
    lat_current current;
} pair_sums;

static int momentum_slice(lat_quark_run *r, const void *what, int t, double *out)
{
    const pair_sums *w = what;
    const int first = lat_field_slab(&r->first.f).first;
    const double *other = lat_quark_opts.second ? r->second.slice : r->first.slice;
    if (lat_legs_slice(&w->legs, t, r->first.slice, lat_quark_opts.vertex ? other : NULL, out))
        return -1;
    return lat_quark_has_current() ? lat_current_slice(&w->current, t - first, other,
                                                       out + lat_pair_reals(w->legs.head->nc))
                                   : 0;
}

int lat_quark_find_links(lat_quark_run *r)
{
    return lat_links_find(&r->gauge, &r->first.f.head, false, lat_input_name(r->first.in),
                          r->field);
}

/* Links of the operator, and neighbours of the propagator, for the conserved current. */
static int prepare_current(lat_quark_run *r, pair_sums *w)
{
    const lat_header *head = &r->first.f.head;
    const char *name = lat_input_name(r->first.in);
    const lat_fermion *a = &head->quark.fermion;
    if (strcmp(a->name, "wilson"))
        return lat_fail("%s: expected a propagator of Wilson quarks for their conserved current, "
                        "found %s",
                        name, *a->name ? a->name : "no operator in its header");
    if (lat_quark_find_links(r) || lat_field_exchange(&r->first.f))
        return -1;
    w->current.first = &r->first.f;
    w->current.links = lat_links_smeared(&r->gauge, lat_info_get(head, LAT_SMEARED_LINKS));
    return w->current.links ? 0 : -1;
}

int lat_quark_from_momentum(lat_quark_run *r, const double n1[4], const double n2[4])
{
    const lat_header *head = &r->first.f.head;
    lat_kinematics k = lat_kinematics_of(head, n1, n2);
    if (lat_quark_opts.vertex) {
        const lat_fermion *a = &head->quark.fermion,
                          *b = lat_quark_opts.second ? &r->second.f.head.quark.fermion : a;
        k.ward.mass = a->mass - b->mass;
        k.ward.twist = a->twist + b->twist;
    }
    const size_t reals = lat_legs_reals(lat_quark_what.kind, head->nc);
    pair_sums what = {.legs.head = head};
    memcpy(what.legs.n1, n1, sizeof what.legs.n1);
    memcpy(what.legs.n2, n2, sizeof what.legs.n2);
    memcpy(what.current.n1, n1, sizeof what.current.n1);
    memcpy(what.current.n2, n2, sizeof what.current.n2);
    double *legs = lat_quark_has_current() && prepare_current(r, &what)
                       ? NULL
                       : over_slices(r, momentum_slice, &what, reals);
    if (!legs)
        return -1;
    for (int t = 1; t < lat_slices(head); t++)
        for (size_t i = 0; i < reals; i++)
            legs[i] += legs[(size_t)t * reals + i];
    for (size_t i = 0; i < reals; i++)
        legs[i] /= (double)lat_volume(&head->geom);
    const int rc = lat_quark_emit(r, &k, legs);
    free(legs);
    return rc;
}

static int fourier_slice(lat_quark_run *r, const void *what, LAT_UNUSED int t, double *out)
{
    return lat_fourier_slice(what, r->first.slice, out);
}

int lat_quark_from_point(lat_quark_run *r, const double x[4])
{
    const lat_header *head = &r->first.f.head;
    if (lat_quark_momenta(&r->list, head, lat_input_name(r->first.in)))
        return -1;
    if (!r->list.count)
        return lat_fail_usage("--momenta, --cylinder: expected momenta of the lattice, found none");
    lat_fourier f = {
        .head = head, .n = (const double(*)[3])r->list.spatial, .count = r->list.spatials};
    for (int mu = 0; mu < 4; mu++)
        f.place[mu] = (int)x[mu];
    const size_t reals = lat_leg_reals(head->nc);
    double *all = over_slices(r, fourier_slice, &f, reals * (size_t)f.count);
    double *leg = all ? lat_alloc(reals, sizeof *leg, "S(p)") : NULL;
    int rc = leg ? 0 : -1;
    for (int m = 0; rc == 0 && m < r->list.count; m++) {
        const lat_kinematics k = lat_kinematics_of(head, r->list.n[m], r->list.n[m]);
        lat_fourier_time(&f, r->list.index[m], r->list.n[m][3], all, leg);
        rc = lat_quark_emit(r, &k, leg);
    }
    LAT_FREE(leg, all);
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* corr_check.c: what propagators, their boundaries and their sources allow. */
#include "corr.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "common/options.h"
#include "formats/fields.h"

int lat_corr_check_pair(const lat_corr_run *r)
{
    const lat_header *a = &r->first.f.head, *b = &r->second.f.head;
    const char *name = lat_input_name(r->second.in);
    char x[64], y[64];
    if (!lat_header_alike(a, b))
        return lat_fail("%s: expected SU(%d) on %s as in the first propagator, found SU(%d) on %s",
                        name, a->nc, lat_dims_text(&a->geom, x), b->nc, lat_dims_text(&b->geom, y));
    if (a->quark.source && b->quark.source && strcmp(a->quark.source, b->quark.source))
        return lat_mismatch(lat_opts.force,
                            "%s: expected the source of the first propagator, %.200s, found %.200s "
                            "(--force takes it)",
                            name, a->quark.source, b->quark.source);
    return 0;
}

double lat_corr_angle(const lat_corr_run *r, lat_channel_kind kind, int mu)
{
    const lat_phase *a = &r->first.f.head.quark.fermion.boundary[mu];
    const lat_phase *b = lat_corr_opts.second ? &r->second.f.head.quark.fermion.boundary[mu] : a;
    const double u = a->dirichlet ? 0 : a->theta, s = b->dirichlet ? 0 : b->theta;
    switch (kind) {
    case LAT_MESON:
    case LAT_PCAC: return u - s;
    case LAT_SIGMA:
    case LAT_LAMBDA:
    case LAT_SIGMA_NR: return 2 * u + s;
    case LAT_XI: return u + 2 * s;
    default: return 3 * u;
    }
}

/* Does any channel have the quark of --second? */
static bool uses_second(const lat_corr_run *r)
{
    for (int c = 0; c < r->job.channels; c++)
        switch (r->channel[c].kind) {
        case LAT_NUCLEON:
        case LAT_DELTA:
        case LAT_NUCLEON_NR:
        case LAT_DELTA_NR: break;
        default: return true;
        }
    return false;
}

/* Of baryons all quarks count; of mesons of one propagator the boundaries cancel. */
int lat_corr_check_quarks(lat_corr_run *r)
{
    const bool two = lat_corr_opts.second;
    const lat_fermion *f = &r->first.f.head.quark.fermion;
    const lat_fermion *s = two ? &r->second.f.head.quark.fermion : f;
    const bool known = lat_fermion_bounded(f) && lat_fermion_bounded(s);
    for (int c = 0; c < r->job.channels; c++) {
        const bool baryon = lat_channel_baryon(&r->channel[c]);
        if (!known && (baryon || two)
            && lat_mismatch(lat_opts.force,
                            "%s: channel %s: expected the boundary of the quarks in the header, "
                            "found none (--boundary p,p,p,a states it; --force: periodic)",
                            lat_input_name(lat_fermion_bounded(f) ? r->second.in : r->first.in),
                            r->channel[c].name))
            return -1;
        const lat_channel_kind kind = r->channel[c].kind; /* three have another quark, too */
        const bool doublet = baryon && kind != LAT_SIGMA && kind != LAT_SIGMA_NR && kind != LAT_XI;
        if (doublet && f->twist != 0 && !r->twisted)
            lat_warn("%s: channel %s: all its light quarks have twist %g, and no u and d of a "
                     "doublet: the proton is sigma with --second of twist %g",
                     lat_input_name(r->first.in), r->channel[c].name, f->twist, -f->twist);
        r->twisted = r->twisted || (doublet && f->twist != 0);
    }
    return 0;
}

void lat_corr_check_slices(const lat_feed *quark, const double *norm)
{
    const lat_quark *q = &quark->f.head.quark;
    const char *of_slices = q->residual ? lat_info_get(&quark->f.head, LAT_INFO_RESIDUAL_SLICES)
                                        : NULL;
    const int T = lat_slices(&quark->f.head);
    double worst = 0, whole = 0;
    int small = 0, least = 0;
    const double each = of_slices ? strtod(of_slices, NULL) : 0;
    if (each > 0 && each < 1e-2) /* certified slice by slice */
        return;
    for (int c = 0; c < q->columns && q->residual; c++)
        worst = fmax(worst, q->residual[c]);
    for (int t = 0; t < T; t++) {
        whole += norm[t];
        least = norm[t] < norm[least] ? t : least;
    }
    for (int t = 0; t < T; t++)
        small += norm[t] > 0 && sqrt(norm[t]) < 100 * worst * sqrt(whole);
    if (small)
        lat_warn("%s: expected slices above 100 times the residual of the solution, %.2g of the "
                 "whole, found %d of %d below it, the least, %.2g, on slice %d: correlators there "
                 "may be wrong (lat-solve --residual-slices)",
                 lat_input_name(quark->in), worst, small, T, sqrt(norm[least] / whole), least);
}

int lat_corr_shifts(lat_corr_run *r)
{
    free(r->shift);
    r->job.shift = NULL;
    if (!(r->shift = lat_alloc((size_t)r->job.channels, sizeof *r->shift, "momenta")))
        return -1;
    for (int c = 0; c < r->job.channels; c++)
        for (int mu = 0; mu < 4; mu++) {
            const double angle = lat_corr_angle(r, r->channel[c].kind, mu), s = -angle / 2;
            if (r->channel[c].kind == LAT_PCAC && fmod(angle, 2) != 0)
                return lat_fail_usage("pcac: expected two quarks of one boundary in %c, found "
                                      "phases that differ by %g pi",
                                      "xyzt"[mu], angle);
            if (mu < 3)
                r->shift[c][mu] = s - ceil(s - .5);
        }
    r->job.shift = (const double(*)[3])r->shift;
    if (lat_corr_opts.second && !uses_second(r))
        return lat_fail_usage("--second: expected a channel with a second quark, found nucleon and "
                              "delta alone, which are of the first");
    return 0;
}

int lat_corr_place(lat_corr_run *r)
{
    const lat_header *head = &r->first.f.head;
    const char *name = lat_input_name(r->first.in);
    const unsigned known = lat_source_place(head->quark.source, r->place);
    char after;
    long x[4];
    if (!lat_corr_opts.origin && !head->quark.source && !r->warned)
        lat_warn("%s: expected the source in the header, found none: t counts from slice 0 "
                 "(--origin x,y,z,t says where the source is)",
                 name);
    r->warned = true;
    if (!lat_corr_opts.origin && head->quark.source && !(known >> 3 & 1)
        && lat_mismatch(lat_opts.force,
                        "%s: expected a source on a slice, from which t counts, found %.200s "
                        "(--origin x,y,z,t says where t begins; --force: at slice 0)",
                        name, head->quark.source))
        return -1;
    if (lat_corr_opts.origin
        && sscanf(lat_corr_opts.origin, "%ld,%ld,%ld,%ld%c", &x[0], &x[1], &x[2], &x[3], &after)
               != 4)
        return lat_fail_usage("--origin: expected x,y,z,t, found '%s'", lat_corr_opts.origin);
    for (int mu = 0; mu < 4; mu++) {
        const int extent = head->geom.dims[mu], said = r->place[mu];
        if (lat_corr_opts.origin)
            r->place[mu] = x[mu] < 0 || x[mu] > INT_MAX ? -1 : (int)x[mu];
        if (lat_corr_opts.origin && (r->place[mu] < 0 || r->place[mu] >= extent))
            return lat_fail_usage("--origin: expected %c from 0 to %d, found %s", "xyzt"[mu],
                                  extent - 1, lat_corr_opts.origin);
        if (r->place[mu] < 0 || r->place[mu] >= extent)
            return lat_fail("%s: expected a source on the lattice, with %c from 0 to %d, found %s",
                            name, "xyzt"[mu], extent - 1, head->quark.source);
        if ((known >> mu & 1) && r->place[mu] != said
            && lat_mismatch(lat_opts.force,
                            "%s: expected --origin with %c = %d, as the header says (%.200s), "
                            "found %s (--force takes it)",
                            name, "xyzt"[mu], said, head -> quark.source, lat_corr_opts.origin))
            return -1;
    }
    return 0;
}

int lat_corr_check_source(lat_corr_run *r)
{
    const char *text = r->first.f.head.quark.source;
    const char *name = lat_input_name(r->first.in);
    const lat_geometry *geom = &r->first.f.head.geom;
    const int zero[3] = {0};
    int site[LAT_MAX_DIMS];
    bool moves = false;
    for (int m = 0; m < r->job.momenta; m++)
        moves = moves || !lat_same_modulo(geom, 3, r->momentum[m], zero);
    if (moves && r->job.channels == 1 && r->channel[0].kind == LAT_PCAC)
        return lat_fail_usage("--momenta %s: expected 0, as pcac is of momentum 0 alone",
                              lat_corr_opts.momenta);
    const char *other = lat_corr_opts.second ? r->second.f.head.quark.source : text;
    const bool one = text && other && !strcmp(text, other);
    if (moves && one && !r->spread && lat_source_place(text, site) == 1U << 3) {
        lat_warn("%s: expected momentum 0 alone, because the source is on a whole slice, %.200s: "
                 "at others the mean is 0",
                 name, text);
        r->spread = true;
    }
    for (int c = 0; c < r->job.channels && text && !strncmp(text, "noise:", 6); c++)
        if (lat_channel_baryon(&r->channel[c]))
            return lat_mismatch(lat_opts.force,
                                "%s: channel %s: expected another source than noise, whose third "
                                "power has a mean of 0, found %.200s (--force takes it)",
                                name, r->channel[c].name, text);
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* fixing_write.c: links and transformations of a run of gauge fixing. */
#include "fixing.h"

#include <inttypes.h>
#include <math.h>
#include "base/error.h"
#include "lattice/transform.h"
#include "stream/stream.h"
#include "run/common/tool.h"

int lat_fixing_reals(const lat_fixing *f)
{
    const lat_header *head = &f->u.head;
    const bool all = head->kind == LAT_GAUGE && head->real < f->algorithm->store && head->nc > 2;
    return all ? 2 * head->nc * head->nc : head->reals;
}

void lat_fixing_expect(const lat_fixing *f, lat_output *out)
{
    lat_header head = f->u.head; /* borrowed */
    head.reals = lat_fixing_reals(f);
    head.real = f->algorithm->store;
    if (!f->all && out)
        lat_stream_preallocate(out, &head, lat_opts.store);
}

/* Writes the state of the copy into the header of its links or of its g. */
static int state_header(const lat_fixing *f, lat_header *head, const lat_copy *c)
{
    char text[24];
    if (isfinite(f->algorithm->theta)) {
        lat_condition_write(head, &f->condition);
        head->functional = c->state.functional;
        head->theta = c->state.theta;
        head->sweeps = c->sweeps;
    } else if (lat_condition_write_annealed(head, &f->condition)) {
        return -1;
    }
    if (f->residual_done && lat_residual_note(head, &f->residual))
        return -1;
    snprintf(text, sizeof text, "%" PRIu64, c->seed);
    return f->single ? 0 : lat_info_set(head, "copy.seed", text);
}

static int write_g(const lat_fixing *f, lat_output *out, lat_copy *c)
{
    char text[256];
    f->algorithm->describe(f, c, text, sizeof text);
    return lat_rc(state_header(f, &c->g.head, c) || lat_provenance(&c->g.head, "%s", text)
                  || lat_stream_write(out, &c->g, lat_opts.store));
}

/* The transformation of the links that are written. */
static int write_best_g(const lat_fixing *f, lat_output *g_out)
{
    lat_copy whole = *f->best;
    if (!f->residual_done)
        return write_g(f, g_out, f->best);
    if (lat_field_duplicate(&f->best->g, &whole.g))
        return -1;
    lat_transform_compose(&whole.g, &f->phases);
    const int rc = write_g(f, g_out, &whole);
    lat_field_free(&whole.g);
    return rc;
}

static int write_best(lat_fixing *f, lat_output *out, lat_output *g_out)
{
    char text[256], which[80] = "", residual[120] = "";
    f->algorithm->describe(f, f->best, text, sizeof text);
    if (f->residual_done)
        snprintf(residual, sizeof residual, ", residual gauge %ld sweeps, theta %.3e, F %.15f",
                 f->residual_sweeps, f->residual.worst, f->residual.functional);
    if (!f->single)
        snprintf(which, sizeof which, ", best of %d copies, seed %" PRIu64, f->copies,
                 f->best->seed);
    if (state_header(f, &f->links.head, f->best)
        || lat_provenance(&f->links.head, "%s%s%s", text, which, residual)
        || lat_stream_write(out, &f->links, lat_opts.store))
        return -1;
    return g_out ? write_best_g(f, g_out) : 0;
}

/* The links as they were read, and the transformation of every copy. */
static int write_all(lat_fixing *f, lat_output *out, lat_output *g_out)
{
    double least = INFINITY, most = -INFINITY;
    for (int i = 0; i < f->copies; i++) {
        least = fmin(least, f->copy[i].state.functional);
        most = fmax(most, f->copy[i].state.functional);
    }
    f->u.head.copies = f->copies;
    lat_info_remove(&f->u.head, LAT_INFO_ANNEALED);
    lat_info_remove(&f->u.head, LAT_INFO_ANNEALED_WEIGHTS);
    if (!isfinite(f->algorithm->theta) && lat_condition_write_annealed(&f->u.head, &f->condition))
        return -1;
    if (lat_provenance(&f->u.head, "%s, %s, %d copies, F %.15f to %.15f", f->device_text,
                       lat_gauge_name(f->condition.gauge), f->copies, least, most)
        || lat_stream_write(out, &f->u, lat_opts.store))
        return -1;
    for (int i = 0; i < f->copies; i++)
        if ((g_out && write_g(f, g_out, &f->copy[i]))
            || (g_out ? lat_stream_write(out, &f->copy[i].g, lat_opts.store)
                      : write_g(f, out, &f->copy[i])))
            return -1;
    return 0;
}

int lat_fixing_write(lat_fixing *f, lat_output *out, lat_output *g_out)
{
    return f->all ? write_all(f, out, g_out) : write_best(f, out, g_out);
}

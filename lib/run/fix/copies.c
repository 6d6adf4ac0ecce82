/* SPDX-License-Identifier: BSD-3-Clause */
/* copies.c: the Gribov copies of a configuration: their starts, their functional, the best one. */
#include "fixing.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include "base/error.h"
#include "stream/stream.h"
#include "lattice/transform.h"

/* A transformation that follows its gauge field in the stream. */
static int read_copy(const lat_fixing *f, lat_copy *c, lat_input *in)
{
    const int rc = lat_stream_read(in, &c->g);
    if (rc < 0)
        return -1;
    if (rc == 0 || c->g.head.kind != LAT_TRANSFORM)
        return lat_fail(
            "%s: expected %ld copies of it, transformations, after the gauge field, found %ld",
            f->name, f->u.head.copies, c->number);
    if (!lat_header_alike(&c->g.head, &f->u.head))
        return lat_fail("%s: expected copies on the lattice and in the group of their gauge field, "
                        "found another in copy %ld",
                        f->name, c->number);
    const char *seed = lat_info_get(&c->g.head, "copy.seed");
    c->seed = seed ? strtoumax(seed, NULL, 10) : (uint64_t)c->number;
    return lat_field_convert(&c->g, LAT_F64);
}

bool lat_copies_all(const lat_fixing *f)
{
    const bool several = f->u.head.copies || lat_fixing_opts.copies;
    return lat_fixing_opts.select >= 0 ? lat_fixing_opts.select == LAT_SELECT_ALL
                                       : several && f->algorithm->select == LAT_SELECT_ALL;
}

int lat_copies_make(lat_fixing *f, lat_input *in)
{
    const long given = f->u.head.copies, asked = lat_fixing_opts.copies;
    if (given && asked)
        return lat_fail_usage("%s: comes with %ld copies, which go on from where they are; "
                              "--copies is for new starts",
                              f->name, given);
    f->copies = (int)(given ? given : asked ? asked : 1);
    f->single = !given && !asked;
    f->all = lat_copies_all(f);
    f->best = NULL;
    f->links = (lat_field){.data = NULL};
    f->phases = (lat_field){.data = NULL};
    if (!(f->copy = calloc((size_t)f->copies, sizeof *f->copy)))
        return lat_fail("out of memory: the list of copies");
    for (int i = 0; i < f->copies; i++) {
        f->copy[i].number = i;
        f->copy[i].seed = lat_fixing_opts.seed + (uint64_t)i;
        if (given && read_copy(f, &f->copy[i], in))
            return -1;
    }
    f->u.head.copies = 0; /* f->copy has them */
    return 0;
}

void lat_copy_forget_limit(lat_copy *c)
{
    if (c->at_limit)
        lat_field_free(&c->at_limit->g);
    free(c->at_limit);
    c->at_limit = NULL;
}

void lat_copies_free(lat_fixing *f)
{
    for (int i = 0; f->copy && i < f->copies; i++) {
        lat_field_free(&f->copy[i].g);
        lat_copy_forget_limit(&f->copy[i]);
    }
    free(f->copy);
    f->copy = NULL;
    f->copies = 0;
    lat_field_free(&f->links);
    lat_field_free(&f->phases);
}

int lat_copy_start(const lat_fixing *f, lat_copy *c)
{
    if (lat_transform_new(&c->g, &f->u.head, f->comm))
        return -1;
    if (!f->single)
        lat_transform_random(&c->g, c->seed, f->config);
    return 0;
}

static bool better(const lat_copy *a, const lat_copy *b)
{
    if (!b || a->converged != b->converged)
        return !b || a->converged;
    return a->state.functional > b->state.functional;
}

/* Transforms the links v by g and measures them. */
static int transform_and_measure(const lat_fixing *f, lat_copy *c, lat_field *v)
{
    /* In double; links in single are rounded once, when they are stored. */
    if ((f->store == LAT_F64 && lat_field_convert(v, LAT_F64)) || lat_transform_apply(v, &c->g)
        || lat_field_convert(v, f->store)
        || lat_measure_gauge(v, &f->condition, &c->state, f->theta, NULL))
        return -1;
    c->converged = c->state.theta_slice < f->algorithm->theta;
    c->measured = true;
    if (f->algorithm->measured)
        f->algorithm->measured(f, c);
    return 0;
}

int lat_copy_measure(lat_fixing *f, lat_copy *c)
{
    lat_field v = {.data = NULL};
    if (f->single && !f->all) {
        v = f->u;
        f->u = (lat_field){.data = NULL};
    } else if (lat_field_duplicate(&f->u, &v)) {
        return -1;
    }
    if (transform_and_measure(f, c, &v)) {
        lat_field_free(&v);
        return -1;
    }
    if (!f->all && better(c, f->best)) {
        if (f->best)
            lat_field_free(&f->best->g);
        lat_field_free(&f->links);
        f->links = v;
        f->best = c;
        return 0;
    }
    if (!f->all)
        lat_field_free(&c->g);
    lat_field_free(&v);
    return 0;
}

void lat_copies_print(const lat_fixing *f, FILE *log)
{
    for (int i = 0; i < f->copies; i++) {
        const lat_copy *c = &f->copy[i];
        fprintf(log, "%s\t%ld\t%" PRIu64 "\t%.15f\t%.6e\t%ld\t%d\t%d\n", f->name, c->number,
                c->seed, c->state.functional, c->state.theta_slice, c->sweeps, c->converged,
                f->all || c == f->best);
    }
}

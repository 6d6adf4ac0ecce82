/* SPDX-License-Identifier: BSD-3-Clause */
/* subspace.c: subspaces of multigrids in streams, and their certificate. */
#include "subspace.h"

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "common/options.h"
#include "modefile.h"
#include "stream/stream.h"

enum { EIGHT = LAT_MULTIGRID_COLUMNS, PAIRS = EIGHT * EIGHT };
static const char what[] = "a subspace";

/* ---- files ----------------------------------------------------------------------------------- */

void lat_subspace_free(lat_subspace *s) { lat_field_free(&s->vectors); }

/* An info line that is a number from 0 on: false where there is none. */
static bool number_of(const lat_header *head, const char *key, double *value)
{
    const char *text = lat_info_get(head, key);
    char *end;
    *value = text ? strtod(text, &end) : NAN;
    return text && end != text && *end == '\0' && isfinite(*value) && *value >= 0;
}

/* Is it a subspace that a multigrid can have? */
static int check_kind(const char *name, lat_subspace *s)
{
    const lat_header *head = &s->vectors.head;
    const size_t n = lat_header_objects(head);
    double rounds;
    if (!number_of(head, "subspace.rounds", &rounds)
        || !number_of(head, "subspace.rate", &s->state.rate) || rounds > 1000)
        return lat_fail("%s: expected a subspace of lat-subspace, found modes that are none", name);
    s->state.rounds = (int)rounds;
    if (n % EIGHT || n > LAT_MULTIGRID_MOST_VECTORS)
        return lat_fail("%s: expected 8, 16, .. %d vectors, found %zu", name,
                        LAT_MULTIGRID_MOST_VECTORS, n);
    return 0;
}

/* Operators that differ in mass and twist alone, on links with the same smearing? */
static int check_operator(const char *name, const lat_header *head, const lat_fermion *fermion,
                          const char *smearing)
{
    char a[LAT_FERMION_TEXT], b[LAT_FERMION_TEXT];
    lat_fermion moved = head->quark.fermion;
    moved.mass = fermion->mass;
    moved.twist = fermion->twist;
    if (!lat_fermion_same(&moved, fermion))
        return lat_fail("%s: expected a subspace of the operator %s, of whichever mass and twist, "
                        "found that of %s",
                        name, lat_fermion_text(fermion, a),
                        lat_fermion_text(&head->quark.fermion, b));
    return lat_modefile_smearing(name, what, head, smearing);
}

int lat_subspace_find(lat_input *in, const lat_field *links, const lat_fermion *fermion,
                      const char *smearing, lat_subspace *s)
{
    const char *name = lat_input_name(in);
    *s = (lat_subspace){.state.rounds = 0};
    return lat_rc(lat_modefile_seek(in, links, what, &s->vectors.head)
                  || lat_modefile_lattice(name, what, &s->vectors.head, &links->head)
                  || check_kind(name, s)
                  || check_operator(name, &s->vectors.head, fermion, smearing)
                  || lat_stream_body(in, &s->vectors) < 0);
}

int lat_subspace_first(lat_input *in, const lat_field *links, lat_subspace *s)
{
    const char *name = lat_input_name(in);
    *s = (lat_subspace){.state.rounds = 0};
    const int rc = lat_stream_head(in, &s->vectors.head);
    if (rc == 0)
        return lat_fail("%s: expected a subspace, found an empty stream", name);
    return lat_rc(rc < 0 || lat_header_need(&s->vectors.head, LAT_MODES, name)
                  || lat_modefile_lattice(name, what, &s->vectors.head, &links->head)
                  || check_kind(name, s) || lat_stream_body(in, &s->vectors) < 0);
}

static int set_number(lat_header *head, const char *key, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.6g", value);
    return lat_info_set(head, key, text);
}

int lat_subspace_describe(lat_header *head, const lat_multigrid *m, double columns,
                          const lat_subspace_certificate *c)
{
    const lat_multigrid_report *r = lat_multigrid_told(m);
    const int *const b = lat_multigrid_blocks(m);
    char blocks[64];
    snprintf(blocks, sizeof blocks, "%d,%d,%d,%d", b[0], b[1], b[2], b[3]);
    return lat_rc(lat_info_set(head, "subspace.blocks", blocks)
                  || set_number(head, "subspace.rounds", r->rounds)
                  || set_number(head, "subspace.rate", r->rate)
                  || set_number(head, "subspace.columns", columns)
                  || set_number(head, "subspace.applications", r->applied)
                  || set_number(head, "subspace.lowest", r->lowest)
                  || set_number(head, "subspace.orthonormal", c->orthonormal)
                  || set_number(head, "subspace.product", c->product));
}

/* ---- the certificate ------------------------------------------------------------------------- */

/* sums[i][j] += <x_i, y_j> at a site of n reals a column. */
static void add_site(size_t n, const double *x, const double *y, double *sums)
{
    for (int i = 0; i < EIGHT; i++)
        for (int j = 0; j < EIGHT; j++) {
            const double *const a = x + (size_t)i * n, *const b = y + (size_t)j * n;
            double *const to = sums + 2 * (i * EIGHT + j);
            for (size_t k = 0; k < n; k += 2) {
                to[0] += a[k] * b[k] + a[k + 1] * b[k + 1];
                to[1] += a[k] * b[k + 1] - a[k + 1] * b[k];
            }
        }
}

/* <x_i, y_j>: slices have sums of their own, which are added in order, on any ranks. */
static int products(const lat_field *x, const lat_field *y, double complex dot[PAIRS])
{
    const size_t n = lat_header_full_reals(&x->head), sites = lat_slice_sites(&x->head),
                 own = (size_t)lat_field_slab(x).count, all = (size_t)lat_slices(&x->head);
    double *const part = lat_alloc_zero((own + all) * 2 * PAIRS, sizeof *part, "products");
    if (!part)
        return -1;
#pragma omp parallel for schedule(static)
    for (size_t s = 0; s < own; s++)
        for (size_t i = s * sites; i < (s + 1) * sites; i++)
            add_site(n, (const double *)x->data + i * EIGHT * n,
                     (const double *)y->data + i * EIGHT * n, part + s * 2 * PAIRS);
    double *const slice = part + own * 2 * PAIRS;
    const int rc = lat_field_gather(x, part, sizeof *part * 2 * PAIRS, slice);
    for (int p = 0; p < PAIRS; p++) {
        dot[p] = 0;
        for (size_t s = 0; s < all; s++)
            dot[p] += slice[s * 2 * PAIRS + 2 * p] + I * slice[s * 2 * PAIRS + 2 * p + 1];
    }
    free(part);
    return rc;
}

/* The root mean square of |found - expected| / (|z_i| |image_j|) times the root of the dimension.
 */
static double deviation(const lat_multigrid_sample *z, const double complex *found,
                        const lat_scalar expected[EIGHT][EIGHT], bool image)
{
    double sum = 0;
    for (int i = 0; i < EIGHT; i++)
        for (int j = 0; j < EIGHT; j++) {
            const double size = sqrt(z->one[i][i].re)
                                * (image ? z->image[j] : sqrt(z->one[j][j].re)),
                         off = cabs(found[i * EIGHT + j]
                                    - (expected[i][j].re + I * expected[i][j].im))
                               / size;
            sum += off * off;
        }
    return sqrt(sum / PAIRS * z->dimension);
}

int lat_subspace_certify(lat_multigrid *m, lat_plain *plain, const lat_field *links,
                         lat_subspace_certificate *c)
{
    lat_field x, y = {.data = NULL};
    lat_multigrid_sample z;
    double complex one[PAIRS], product[PAIRS];
    const int rc = lat_rc(lat_field_spinors(&x, links, LAT_MODES, EIGHT)
                          || lat_field_spinors(&y, links, LAT_MODES, EIGHT)
                          || lat_multigrid_draw(m, &x, &z) || lat_field_exchange(&x)
                          || lat_plain_apply(plain, false, &x, EIGHT, lat_column_numbers, &y)
                          || products(&x, &x, one) || products(&x, &y, product));
    if (rc == 0)
        *c = (lat_subspace_certificate){deviation(&z, one, z.one, false),
                                        deviation(&z, product, z.coarse, true)};
    lat_field_free(&x);
    lat_field_free(&y);
    return rc;
}

/* Elements of P are rounded to 2^-24 of their size; n of them, at most 64, make a number of P z,
 * and their errors are independent: 2^-24 sqrt(n) = 5e-7. Test vectors whose parts in a block are
 * nearly dependent lose as much as their condition: forty times that. M_c adds up as many. */
#define ORTHONORMAL 2e-5
#define PRODUCT 2e-5

int lat_subspace_judge(const lat_subspace_certificate *c)
{
    if (c->orthonormal <= ORTHONORMAL && c->product <= PRODUCT)
        return 0;
    return lat_fail("multigrid: expected P^+ P = 1 to %.1g and P^+ M P = M_c to %.1g, found %.2g "
                    "and %.2g",
                    ORTHONORMAL, PRODUCT, c->orthonormal, c->product);
}

/* ---- a multigrid of a file ------------------------------------------------------------------- */

void lat_subspace_serve(const lat_subspace *s, lat_wilson_options *o)
{
    o->setup.known = &s->vectors;
    o->setup.from = s->state;
    o->setup.finished = true;
    o->made_mass = s->vectors.head.quark.fermion.mass;
    o->made_twist = s->vectors.head.quark.fermion.twist;
}

int lat_subspace_make(lat_wilson *w, lat_plain *plain, const lat_field *links, const char *name)
{
    lat_subspace_certificate c;
    if (lat_wilson_make_multigrid(w)
        || lat_subspace_certify(lat_wilson_multigrid(w), plain, links, &c))
        return -1;
    lat_verbose("%s: P^+ P = 1 to %.1e, P^+ M P = M_c to %.1e", name, c.orthonormal, c.product);
    return lat_subspace_judge(&c) ? lat_error_name(name, NULL) : 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* index.c: spectral flow, zero modes, the lowest eigenvalues of D. */
#include "index.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "spectrum.h"

enum {
    STEPS = 2000,
    MOST = 512,
    FEW = 24 /* modes of D^+ D that conjugate gradients find in fewer applications than Lanczos */
};
static const double before = -.25, /* where the flow begins */
    accuracy = 1e-5,               /* of its modes */
    margin = .95;                  /* of what Weyl's theorem allows */

/* ---- spectral flow --------------------------------------------------------------------------- */

typedef struct flow {
    lat_spinor_space *space;
    const lat_field *links;
    lat_fermion kernel;
    int most;
} flow;

/* The lowest modes of H(m), at least `low`. */
static int modes_at(flow *f, double m, int low, lat_modes *found)
{
    f->kernel.mass = -m;
    *found = (lat_modes){.count = 0};
    lat_dirac *d = lat_dirac_open(f->space, f->links, &f->kernel, NULL);
    if (!d)
        return -1;
    const lat_hermitian h = lat_hermitian_dirac(d, (lat_dirac_matrix){LAT_FULL, LAT_GAMMA5});
    const lat_modes_job job = {.op = &h,
                               .low = low,
                               .high = low > f->most ? low : f->most,
                               .tolerance = accuracy,
                               .method = LAT_MODES_LANCZOS,
                               .seed = 5,
                               .max_applications = 100000000};
    int rc = lat_modes_find(&job, found);
    if (rc == 0 && !found->converged)
        rc = lat_fail("spectral flow: expected modes of H at m0 %.6g with residuals of %.3g, found "
                      "%.3g",
                      m, accuracy, found->worst);
    lat_dirac_close(d);
    return rc;
}

static int negative(const lat_modes *m, int count)
{
    int n = 0;
    for (int k = 0; k < count; k++)
        n += m->value[k] < 0;
    return n;
}

/* From m to the last m0. */
static int follow(flow *f, double m, double last, int *index, int *steps)
{
    lat_modes now, next;
    int rc = modes_at(f, m, 1, &now);
    *index = *steps = 0;
    while (rc == 0 && m < last) {
        const int k = now.count;
        const double free = fabs(now.value[0]) - now.residual[0],
                     gap = (now.rest - fabs(now.value[k - 1]) - now.residual[k - 1]) / 2;
        const bool crossing = gap > free; /* then the k lowest stay the k lowest */
        const double step = fmin(last - m, margin * fmax(free, gap));
        if (++*steps > STEPS || !(step > 1e-6)) {
            rc = lat_fail(
                "spectral flow: expected a gap among the %d lowest modes of H, found none "
                "at m0 %.6g: more modes have to be followed",
                f->most, m);
            break;
        }
        m = step < last - m ? m + step : last;
        rc = modes_at(f, m, crossing ? k : 1, &next);
        if (rc == 0 && crossing)
            *index += negative(&next, k) - negative(&now, k);
        lat_modes_free(&now);
        now = next;
    }
    if (rc == 0 && fabs(now.value[0]) <= now.residual[0])
        rc = lat_fail("spectral flow: H has an eigenvalue that is 0 at m0 %.6g to %.2g", last,
                      now.residual[0]);
    lat_modes_free(&now);
    return rc;
}

int lat_overlap_flow(lat_device *device, const lat_field *links, const lat_fermion *overlap,
                     int most, int *index, int *steps)
{
    const lat_grid_spec spec = {
        .lattice = links->head.geom, .storage = LAT_STORAGE_DOUBLE, .across = -1};
    flow f = {.links = links, .most = most};
    lat_overlap_kernel(overlap, &f.kernel);
    lat_grid *grid = lat_grid_new(device, &spec);
    lat_temporal *gauge = NULL;
    f.space = grid && !lat_temporal_open(device, links, &gauge)
                  ? lat_spinor_open_in(grid, links->head.nc, 1, gauge)
                  : NULL;
    const int rc = f.space ? follow(&f, before, overlap->m0, index, steps) : -1;
    lat_spinor_close(f.space);
    lat_temporal_close(gauge);
    lat_grid_free(grid);
    return rc;
}

/* ---- eigenvalues of D ------------------------------------------------------------------------ */

typedef struct chiral {
    lat_overlap *o;
    int c;
    lat_dfield *in, *result; /* in: of one chirality */
} chiral;

static const int first[] = {0};
static const lat_spinor_part column_0 = {LAT_BOTH, 1, first};

/* result = (1 + c P S P)/2 of the part of chirality c; the other part is multiplied by 1, which is
 * above all eigenvalues that matter: in - P in/2 + c P S P in/2. */
static int apply_chiral(const chiral *w, lat_dfield *in)
{
    lat_spinor_space *s = w->o->space;
    const lat_scalar half = {.5 * w->c, 0}, minus = {-.5, 0}, one = {1, 0};
    return s->ops->copy(s, &column_0, in, w->in)
                   || lat_chirality(s, w->c, &column_0, w->in, w->o->tmp)
                   || lat_sign_apply(w->o->sign, 0, &column_0, w->result, w->in)
                   || lat_chirality(s, w->c, &column_0, w->result, w->o->tmp)
                   || s->ops->axpby(s, &column_0, &one, in, &half, w->result, NULL)
                   || s->ops->axpby(s, &column_0, &minus, w->in, &one, w->result, NULL)
               ? -1
               : 0;
}

static int apply(const lat_hermitian *h, lat_dfield *out, lat_dfield *in, const lat_dirac_end *end)
{
    static const lat_dirac_end none = {.add = NULL};
    const chiral *w = h->with;
    lat_spinor_space *s = w->o->space;
    const lat_dirac_end *e = end ? end : &none;
    const lat_scalar add = {e->add ? e->add[0] : 1, 0}, stay = {e->add ? 1 : 0, 0};
    const lat_dfield *const with[] = {e->with};
    lat_scalar *const dot[] = {e->dot};
    if (apply_chiral(w, in) || s->ops->axpby(s, &column_0, &add, w->result, &stay, out, e->norm))
        return -1;
    return e->with ? s->ops->dots(s, &column_0, 1, with, out, dot, NULL) : 0;
}

int lat_overlap_lowest(lat_overlap *o, int c, int count, double tolerance, double *value,
                       double *residual)
{
    chiral w = {.o = o, .c = c};
    const lat_hermitian h = {
        .space = o->space, .parity = LAT_BOTH, .positive = true, .apply = apply, .with = &w};
    const lat_modes_job job = {.op = &h,
                               .low = count,
                               .high = count,
                               .tolerance = tolerance,
                               .method = count <= FEW ? LAT_MODES_RITZ : LAT_MODES_LANCZOS,
                               .seed = 6,
                               .max_applications = 10000000};
    lat_modes found = {.count = 0};
    const size_t most = lat_overlap_chiral_dimension(o);
    if ((size_t)count >= most)
        return lat_fail("lowest eigenvalues of D: expected fewer than the %zu that there are in a "
                        "chirality, found %d",
                        most, count);
    w.in = lat_spinor_new(o->space, "a chirality");
    w.result = lat_spinor_new(o->space, "D^+ D of a chirality");
    int rc = w.in && w.result ? lat_modes_find(&job, &found) : -1;
    if (rc == 0 && !found.converged)
        rc = lat_fail("lowest eigenvalues of D: expected residuals of %.3g, found %.3g", tolerance,
                      found.worst);
    for (int k = 0; k < count && rc == 0; k++) {
        value[k] = found.value[k];
        residual[k] = found.residual[k];
    }
    lat_modes_free(&found);
    lat_dfield_free(w.in);
    lat_dfield_free(w.result);
    return rc;
}

int lat_overlap_zero_modes(lat_overlap *o, int guess, int count[2])
{
    double value[2 * MOST], residual[2 * MOST];
    for (int n = guess + 1; n <= MOST; n *= 2) {
        if (lat_overlap_spectrum(o, n, 1e-7, value, residual, NULL))
            return -1;
        for (int c = 0; c < 2; c++) {
            const double *const v = value + c * n, *const r = residual + c * n;
            /* The error of (1 + c P S P)/2 is half that of S. */
            for (count[c] = 0; count[c] < n; ++count[c])
                if (fabs(v[count[c]]) > r[count[c]] + lat_sign_bound(o->sign) / 2 + 1e-12)
                    break;
        }
        if (count[0] < n && count[1] < n)
            return 0;
    }
    return lat_fail("zero modes: found %d of them, and no end", MOST);
}

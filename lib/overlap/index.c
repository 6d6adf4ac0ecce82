/* SPDX-License-Identifier: BSD-3-Clause */
/* index.c: spectral flow, zero modes. */
#include "index.h"

#include <math.h>
#include <stdlib.h>
#include "base/error.h"
#include "common/progress.h"
#include "spectrum.h"

enum { STEPS = 2000, MOST = 512 };
static const double before = -.25, /* where the flow begins */
    accuracy = 1e-5,               /* of its modes */
    margin = .95;                  /* of what Weyl's theorem allows */

typedef struct flow {
    lat_space *space;
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
    const double first = m;
    int rc = modes_at(f, m, 1, &now);
    *index = *steps = 0;
    lat_part_begin(NULL, last - first);
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
        lat_part_at(m - first);
        lat_progress("spectral flow: m0 %.4f of %.4f", m, last);
        if (rc == 0 && crossing)
            *index += negative(&next, k) - negative(&now, k);
        lat_modes_free(&now);
        now = next;
    }
    if (rc == 0 && fabs(now.value[0]) <= now.residual[0])
        rc = lat_fail("spectral flow: H has an eigenvalue that is 0 at m0 %.6g to %.2g", last,
                      now.residual[0]);
    lat_part_end();
    lat_modes_free(&now);
    return rc;
}

int lat_overlap_flow(lat_device *device, const lat_field *links, const lat_fermion *overlap,
                     int most, int *index, int *steps)
{
    flow f = {.links = links, .most = most};
    lat_overlap_kernel(overlap, &f.kernel);
    lat_grid *grid = lat_grid_of_spinors(device, &links->head.geom, LAT_STORAGE_DOUBLE);
    lat_temporal *gauge = NULL;
    f.space = grid && !lat_temporal_open(device, links, NULL, &gauge)
                  ? lat_space_open_in(grid, links->head.nc, 1, gauge)
                  : NULL;
    const int rc = f.space ? follow(&f, before, overlap->m0, index, steps) : -1;
    lat_space_close(f.space);
    lat_temporal_close(gauge);
    lat_grid_free(grid);
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* fit_run.c: least squares by GSL, on all configurations and on each sample.
 *
 * Parameters are a mass m_0, gaps ln(m_1 - m_0), and amplitudes in units of the first point; of a
 * potential V0, alpha, sigma. The
 * covariance is that of the samples, the same in each fit. Residuals are L^-1 (f - y), L its
 * Cholesky factor. C is estimated from few bins, too, so their chi^2 is Hotelling's T^2, and p that
 * of an F distribution. Or residuals are by the errors alone, where C is diagonal. Then chi^2 of
 * points that fluctuate together is not distributed like one of as many degrees of freedom: its
 * distribution follows from the covariance of the residuals (Bruno and Sommer, Comput. Phys.
 * Commun. 285 (2023) 108643), which the fits to the samples have. */
#include "fit.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "stat/samples.h"

const char *const fit_form_names[] = {"auto", "plateau", "exp", "cosh", "sinh", "potential"};

/* ---- what is fitted -------------------------------------------------------------------------- */

fit_form fit_form_of(const fit_samples *s, const fit_correlator *c)
{
    static const char *const even[] = {"pion", "rho", "a0", "a1", "b1"};
    if (fit_is_pcac(c->name))
        return FIT_PLATEAU;
    if (!s->periodic || !(s->extent > 0))
        return FIT_EXP;
    if (!strncmp(c->name, "axial_t", 7))
        return FIT_SINH;
    for (size_t i = 0; i < sizeof even / sizeof *even; i++)
        if (!strncmp(c->name, even[i], strlen(even[i])))
            return FIT_COSH;
    return FIT_EXP;
}

double fit_last(const fit_samples *s, const fit_correlator *c, fit_form form)
{
    const bool all = form == FIT_POTENTIAL || (form == FIT_PLATEAU && !fit_is_pcac(c->name));
    const double half = s->extent > 0 && !all ? s->extent / 2 : INFINITY;
    const long n = s->samples + 1;
    double last = NAN;
    for (long i = 0; i < c->points && c->t[i] <= half; i++) {
        const double value = c->value[i * n];
        if (c->t[i] > 0 && (!isfinite(value) || !(c->error[i] < .25 * fabs(value))))
            break;
        last = c->t[i];
    }
    return last;
}

/* A potential that is nan at some distance is fitted at the others. */
bool fit_within(const fit_problem *p, const fit_correlator *c, long i)
{
    if (p->form[0] == FIT_POTENTIAL && !(c->error[i] > 0))
        return false;
    return c->t[i] >= p->first && c->t[i] <= p->last
           && (c->image[i] < 0 || c->t[c->image[i]] < p->first);
}

long fit_points(const fit_problem *p)
{
    long n = 0;
    for (int c = 0; c < p->correlators; c++)
        for (long i = 0; i < p->c[c]->points; i++)
            n += fit_within(p, p->c[c], i);
    return n;
}

int fit_parameters(const fit_problem *p)
{
    const int form = p->form[0];
    return form == FIT_PLATEAU ? 1 : form == FIT_POTENTIAL ? 3 : p->states * (1 + p->correlators);
}

/* ---- functions ------------------------------------------------------------------------------- */

/* The points of a window, and the factor of their covariance. */
typedef struct window {
    const fit_problem *p;
    long n;
    int *of;               /* [n]: the correlator of a point */
    double *t, *y, *scale; /* [n]; amplitudes are in units of scale[correlator] */
    double *factor;        /* [n][n], lower; of a diagonal one its diagonal alone */
    bool diagonal;
} window;

/* h(m, t), and its derivative by m. */
static double shape(fit_form form, double m, double t, double T, double *by_m)
{
    const double there = exp(-m * t), back = exp(-m * (T - t));
    const double sign = form == FIT_COSH ? 1 : form == FIT_SINH ? -1 : 0;
    *by_m = -t * there - (sign != 0 ? sign * (T - t) * back : 0);
    return there + (sign != 0 ? sign * back : 0);
}

/* f(t) of point i, and its derivatives by all parameters. */
static double model(const window *w, long i, const gsl_vector *x, double *d)
{
    const fit_problem *p = w->p;
    const int c = w->of[i], states = p->states;
    double m = gsl_vector_get(x, 0), f = 0;
    memset(d, 0, FIT_PARAMETERS * sizeof *d);
    if (p->form[c] == FIT_PLATEAU) {
        d[0] = 1;
        return m;
    }
    if (p->form[c] == FIT_POTENTIAL) {
        d[0] = 1;
        d[1] = -1 / w->t[i];
        d[2] = w->t[i];
        return m + gsl_vector_get(x, 1) * d[1] + gsl_vector_get(x, 2) * d[2];
    }
    for (int s = 0; s < states; s++) {
        double by_m, gap = s ? exp(gsl_vector_get(x, (size_t)s)) : 1;
        m += s ? gap : 0;
        const int a = states + c * states + s;
        const double amplitude = w->scale[c] * gsl_vector_get(x, (size_t)a);
        const double h = shape(p->form[c], m, w->t[i], p->s->extent, &by_m);
        f += amplitude * h;
        d[a] = w->scale[c] * h;
        d[0] += amplitude * by_m;
        for (int g = 1; g <= s; g++)
            d[g] += amplitude * by_m * exp(gsl_vector_get(x, (size_t)g));
    }
    return f;
}

/* L^-1 of column k of v, which has `stride` columns. */
static void whiten(const window *w, double *v, size_t stride)
{
    for (long i = 0; i < w->n; i++) {
        double sum = v[(size_t)i * stride];
        for (long j = 0; !w->diagonal && j < i; j++)
            sum -= w->factor[i * w->n + j] * v[(size_t)j * stride];
        v[(size_t)i * stride] = sum / w->factor[i * w->n + i];
    }
}

static int residuals(const gsl_vector *x, void *data, gsl_vector *f)
{
    const window *w = data;
    double d[FIT_PARAMETERS];
    for (long i = 0; i < w->n; i++)
        gsl_vector_set(f, (size_t)i, model(w, i, x, d) - w->y[i]);
    whiten(w, f->data, f->stride);
    return GSL_SUCCESS;
}

static int derivatives(const gsl_vector *x, void *data, gsl_matrix *J)
{
    const window *w = data;
    double d[FIT_PARAMETERS];
    for (long i = 0; i < w->n; i++) {
        model(w, i, x, d);
        for (size_t k = 0; k < J->size2; k++)
            gsl_matrix_set(J, (size_t)i, k, d[k]);
    }
    for (size_t k = 0; k < J->size2; k++)
        whiten(w, J->data + k, J->tda);
    return GSL_SUCCESS;
}

/* ---- the window ------------------------------------------------------------------------------ */

static const double *samples_of(const fit_problem *p, long i)
{
    for (int c = 0; c < p->correlators; c++)
        for (long k = 0; k < p->c[c]->points; k++)
            if (fit_within(p, p->c[c], k) && i-- == 0)
                return p->c[c]->value + k * (p->s->samples + 1);
    return NULL;
}

/* The Cholesky factor, of the correlations, which are of order 1. */
static int factorise(window *w)
{
    const fit_samples *s = w->p->s;
    const long n = w->n;
    double *L = w->factor;
    for (long i = 0; i < n; i++)
        for (long j = 0; j <= i; j++)
            L[i * n + j] = lat_samples_covariance(s->samples, s->bootstrap, 1,
                                                  samples_of(w->p, i) + 1, samples_of(w->p, j) + 1);
    for (long i = 0; i < n; i++) {
        const double variance = L[i * n + i];
        for (long j = 0; j < i && !w->diagonal; j++) {
            for (long k = 0; k < j; k++)
                L[i * n + j] -= L[i * n + k] * L[j * n + k];
            L[i * n + j] /= L[j * n + j];
            L[i * n + i] -= L[i * n + j] * L[i * n + j];
        }
        if (!(L[i * n + i] > 1e-12 * variance))
            return lat_fail("the covariance of %ld points from %ld samples is singular: fewer "
                            "points, or --covariance diagonal",
                            n, s->samples);
        L[i * n + i] = sqrt(L[i * n + i]);
    }
    return 0;
}

static int window_make(window *w, const fit_problem *p)
{
    const long n = fit_points(p);
    *w = (window){.p = p, .n = n, .diagonal = p->diagonal};
    if (n <= fit_parameters(p))
        return lat_fail("expected more points than parameters, %d, found %ld from t = %g to %g",
                        fit_parameters(p), n, p->first, p->last);
    w->of = lat_alloc((size_t)n, sizeof *w->of, "points");
    w->t = lat_alloc((size_t)n, sizeof *w->t, "points");
    w->y = lat_alloc((size_t)n, sizeof *w->y, "points");
    w->scale = lat_alloc_zero(FIT_PARAMETERS, sizeof *w->scale, "amplitudes");
    w->factor = lat_alloc_zero((size_t)(n * n), sizeof *w->factor, "a covariance");
    if (!w->of || !w->t || !w->y || !w->scale || !w->factor)
        return -1;
    long i = 0;
    for (int c = 0; c < p->correlators; c++)
        for (long k = 0; k < p->c[c]->points; k++)
            if (fit_within(p, p->c[c], k)) {
                w->of[i] = c;
                w->t[i++] = p->c[c]->t[k];
            }
    if (!w->diagonal && p->s->bins == 0)
        return lat_fail("bootstrap samples without a column bin do not say of how many bins their "
                        "covariance is: --covariance diagonal");
    if (!w->diagonal && p->s->bins <= n)
        return lat_fail("the covariance of %ld points from %ld bins is singular: fewer points, or "
                        "--covariance diagonal",
                        n, p->s->bins);
    return factorise(w);
}

static void window_free(window *w) { LAT_FREE(w->of, w->t, w->y, w->scale, w->factor); }

/* ---- fits ------------------------------------------------------------------------------------ */

/* `times` the mass between the ends of the first correlator, and amplitudes that meet its first
 * point. */
static void guess(window *w, double times, double gap, gsl_vector *x)
{
    const fit_problem *p = w->p;
    long end = 0;
    double by_m;
    while (end + 1 < w->n && w->of[end + 1] == 0)
        end++;
    double m = log(w->y[0] / w->y[end]) / (w->t[end] - w->t[0]);
    m = m > 1e-3 && isfinite(m) ? times * m : times * .1;
    gsl_vector_set_all(x, 0);
    const bool masses = p->form[0] != FIT_PLATEAU && p->form[0] != FIT_POTENTIAL;
    gsl_vector_set(x, 0, masses ? m : w->y[0]);
    if (!masses)
        return;
    for (int s = 1; s < p->states; s++)
        gsl_vector_set(x, (size_t)s, log(gap));
    for (long i = w->n - 1; i >= 0; i--)
        w->scale[w->of[i]] = w->y[i] / shape(p->form[w->of[i]], m, w->t[i], p->s->extent, &by_m);
    for (int c = 0; c < p->correlators; c++)
        for (int s = 0; s < p->states; s++)
            gsl_vector_set(x, (size_t)(p->states + c * p->states + s), s ? .3 : .8);
}

/* One fit from x, which it changes: chi^2, or NaN. */
static double minimise(window *w, gsl_vector *x)
{
    gsl_multifit_nlinear_parameters options = gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_fdf f = {
        .f = residuals, .df = derivatives, .n = (size_t)w->n, .p = x->size, .params = w};
    gsl_multifit_nlinear_workspace *work = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust,
                                                                      &options, f.n, f.p);
    double chi2 = NAN;
    int info;
    if (work && !gsl_multifit_nlinear_init(x, &f, work)) {
        const int rc = gsl_multifit_nlinear_driver(500, 1e-12, 1e-12, 0, NULL, NULL, &info, work);
        const gsl_vector *r = gsl_multifit_nlinear_residual(work);
        gsl_vector_memcpy(x, gsl_multifit_nlinear_position(work));
        if (rc == GSL_SUCCESS || rc == GSL_ENOPROG) {
            chi2 = 0;
            for (size_t i = 0; i < r->size; i++)
                chi2 += pow(gsl_vector_get(r, i), 2);
        }
    }
    gsl_multifit_nlinear_free(work);
    return chi2;
}

static void take(window *w, long sample)
{
    for (long i = 0; i < w->n; i++)
        w->y[i] = samples_of(w->p, i)[sample];
}

/* Of all configurations: chi^2 of the best fit, or NaN. With correlations chi^2 may have several
 * minima as a function of a mass, so masses and gaps begin at several places. */
static double first_fit(window *w, gsl_vector *x)
{
    static const double times[] = {1, .5, 2}, gaps[] = {.5, .2, 1, 2};
    const bool masses = w->p->form[0] != FIT_PLATEAU && w->p->form[0] != FIT_POTENTIAL;
    const int starts = !masses ? 1 : w->p->states > 1 ? 12 : 3;
    gsl_vector *best = gsl_vector_alloc(x->size);
    double scale[FIT_PARAMETERS], chi2 = NAN;
    take(w, 0);
    for (int i = 0; best && i < starts; i++) {
        guess(w, times[i % 3], gaps[i / 3], x);
        const double this = minimise(w, x);
        if (isnan(this) || this >= chi2)
            continue;
        chi2 = this;
        gsl_vector_memcpy(best, x);
        memcpy(scale, w->scale, sizeof scale);
    }
    if (best && !isnan(chi2)) {
        gsl_vector_memcpy(x, best);
        memcpy(w->scale, scale, sizeof scale);
    }
    gsl_vector_free(best);
    return chi2;
}

/* The values that follow from the parameters. */
static void translate(const window *w, const gsl_vector *x, double *value)
{
    const int states = w->p->states;
    if (w->p->form[0] == FIT_POTENTIAL) {
        for (size_t k = 0; k < 3; k++)
            value[k] = gsl_vector_get(x, k);
        value[3] = sqrt(value[2]);
        value[4] = sqrt((1.65 - value[1]) / value[2]); /* NaN where there is none */
        return;
    }
    for (int k = 0; k < (int)x->size; k++) {
        const double v = gsl_vector_get(x, (size_t)k);
        value[k] = k == 0 ? v : k < states ? value[k - 1] + exp(v) : v * w->scale[k / states - 1];
    }
}

/* `rest` gets column k - 1, the residuals of a fit to sample k. */
static void keep_residuals(window *w, const gsl_vector *x, long k, double *rest)
{
    gsl_vector_view column = gsl_vector_view_array_with_stride(
        rest + k - 1, (size_t)w->p->s->samples, (size_t)w->n);
    residuals(x, w, &column.vector);
}

/* P(chi^2 or more), if chi^2 = sum_i l_i z_i^2 with normal z and l the eigenvalues of the
 * covariance of residuals: by a multiple of a chi^2 distribution of the same mean and variance
 * (Satterthwaite). */
static double by_residuals(const window *w, const double *rest, double chi2, double freedom[2])
{
    const fit_samples *s = w->p->s;
    double trace = 0, squares = 0;
    if (chi2 < 1e-12 * (double)w->n) /* rounding: the function meets all points */
        return 1;
    for (long i = 0; i < w->n; i++)
        for (long j = 0; j < w->n; j++) {
            const double m = lat_samples_covariance(s->samples, s->bootstrap, 1,
                                                    rest + i * s->samples, rest + j * s->samples);
            trace += i == j ? m : 0;
            squares += m * m;
        }
    freedom[0] = trace * trace / squares;
    return gsl_cdf_chisq_Q(chi2 * trace / squares, freedom[0]);
}

/* P(chi^2 or more) with a covariance of nu degrees of freedom, which are bins - 1: chi^2 is T^2,
 * and T^2 (nu - dof + 1) / (dof nu) has an F distribution (Hotelling 1931). The covariance of a
 * bootstrap is smaller by 1 - 1/bins, and fluctuates with its draws, too: both variances add up. */
static double by_covariance(const fit_samples *s, double chi2, long dof, double freedom[2])
{
    const double bins = (double)s->bins, d = (double)dof;
    const double nu = s->bootstrap ? 1 / (1 / (bins - 1) + 1 / ((double)s->samples - 1)) : bins - 1;
    freedom[0] = d;
    freedom[1] = nu - d + 1;
    chi2 *= s->bootstrap ? 1 - 1 / bins : 1;
    return gsl_cdf_fdist_Q(chi2 * freedom[1] / (d * nu), d, freedom[1]);
}

/* Fits to all samples, whose residuals `rest` gets, [points][samples]. */
static void all_samples(window *w, gsl_vector *x, fit_result *r, double *rest)
{
    const fit_samples *s = w->p->s;
    gsl_vector *start = gsl_vector_alloc(x->size);
    translate(w, x, r->sample);
    if (start)
        gsl_vector_memcpy(start, x);
    r->converged = start != NULL;
    for (long k = 1; r->converged && k <= s->samples; k++) {
        gsl_vector_memcpy(x, start);
        take(w, k);
        r->converged = !isnan(minimise(w, x));
        translate(w, x, r->sample + k * r->values);
        keep_residuals(w, x, k, rest);
    }
    gsl_vector_free(start);
    for (int i = 0; i < r->values; i++) {
        const double *v = r->sample + r->values + i;
        r->value[i] = r->sample[i];
        r->error[i] = !r->converged
                          ? NAN
                          : sqrt(lat_samples_covariance(s->samples, s->bootstrap, r->values, v, v));
    }
}

void fit_result_free(fit_result *r) { free(r->sample); }

int fit_run(const fit_problem *p, fit_result *r)
{
    window w;
    const int parameters = fit_parameters(p);
    gsl_set_error_handler_off();
    *r = (fit_result){.chi2 = NAN, .p = NAN, .diagonal = p->diagonal};
    r->values = p->form[0] == FIT_POTENTIAL ? FIT_POTENTIAL_VALUES : parameters;
    int rc = window_make(&w, p);
    gsl_vector *x = rc ? NULL : gsl_vector_alloc((size_t)parameters);
    const size_t n = (size_t)(p->s->samples + 1);
    double *rest = x ? lat_alloc((size_t)w.n, n * sizeof *rest, "residuals") : NULL;
    if (x)
        r->sample = lat_alloc_zero(n * (size_t)r->values, sizeof(double), "fits");
    if (rest && r->sample) {
        r->points = w.n;
        r->dof = w.n - parameters;
        r->chi2 = first_fit(&w, x);
        if (!isnan(r->chi2))
            all_samples(&w, x, r, rest);
        if (r->converged)
            r->p = p->diagonal ? by_residuals(&w, rest, r->chi2, r->freedom)
                               : by_covariance(p->s, r->chi2, r->dof, r->freedom);
    } else if (!rc) {
        rc = lat_fail("out of memory: fits");
    }
    free(rest);
    gsl_vector_free(x);
    window_free(&w);
    return rc;
}

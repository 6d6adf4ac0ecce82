/* SPDX-License-Identifier: BSD-3-Clause */
/* stat_print.c: values, errors and autocorrelation times, as a table; samples, as another one. */
#include "stat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "stat/autocorrelation.h"

enum { FEW = 20 }; /* configurations, of which no autocorrelation can be measured */

/* All resampled means of a report, for each chain, and what they say of bins. */
typedef struct state {
    const stat_report *r;
    const stat_options *o;
    lat_means m[STAT_CHAINS];     /* of the errors */
    lat_means units[STAT_CHAINS]; /* of the Gamma method: over all but one unit */
    double *value, *step;         /* [samples], [units] */
    long numbers, small;          /* with an error; those whose bins are too small */
    double worst;                 /* the largest ratio of errors */
    lat_autocorrelation worst_gamma;
    char worst_name[2 * LAT_KEY_TEXT + 8];
    const char *unknown; /* the first row that is nan, of those of which something is said */
} state;

typedef struct result {
    double value, error, tau, tau_error;
} result;

static double value_of(const state *s, const lat_means *m, long sample, long row, int q)
{
    const stat_quantity *quantity = &s->r->quantity[q];
    return quantity->function(s->r, m, sample, row, quantity->of);
}

/* The Gamma method with what each unit does to the value. False where a value is NaN. */
static bool gamma_of(state *s, long row, int q, double value, lat_autocorrelation *g)
{
    const lat_samples *n = s->units[0].s;
    const lat_sums *units = s->units[0].level;
    const long full = n->configs / n->unit;
    double mean = 0;
    if (full < 2)
        return false;
    for (long k = 0; k < full; k++) {
        const double left = (double)n->configs / (double)units->count[k] - 1;
        s->step[k] = left * (value - value_of(s, s->units, k, row, q));
        mean += s->step[k] / (double)full;
    }
    for (long k = 0; k < full; k++)
        s->step[k] -= mean;
    *g = lat_autocorrelation_of(s->step, full, s->o->s);
    return isfinite(g->tau);
}

/* tau in configurations: of merged ones by the variance of single ones, where that is known. */
static void in_configurations(const state *s, long row, int q, const lat_autocorrelation *g,
                              result *x)
{
    const lat_samples *n = s->units[0].s;
    const stat_quantity *quantity = &s->r->quantity[q];
    double scale = 1;
    if (n->unit > 1)
        scale = quantity->function != stat_plain
                    ? NAN
                    : g->single * (double)n->unit
                          / lat_samples_variance(n, row * s->r->chain->values + quantity->of);
    x->tau = scale * g->tau;
    x->tau_error = scale * g->tau_error;
}

/* An error by bins that is significantly below the one by the Gamma method. */
static void judge(state *s, long row, int q, const lat_autocorrelation *g, double error)
{
    const double by_gamma = sqrt(g->variance), off = g->tau_error / (2 * g->tau);
    s->numbers++;
    if (!(by_gamma * (1 - 3 * off) > 1.05 * error))
        return;
    s->small++;
    if (by_gamma / error <= s->worst)
        return;
    s->worst = by_gamma / error;
    s->worst_gamma = *g;
    snprintf(s->worst_name, sizeof s->worst_name, "%s of %.*s", s->r->quantity[q].name,
             LAT_KEY_TEXT, *s->r->label[row] ? s->r->label[row] : "all");
    for (char *c = s->worst_name; (c = strchr(c, '\t'));)
        *c = ' ';
}

static result measure(state *s, long row, int q)
{
    result x = {.value = value_of(s, s->m, -1, row, q), .error = NAN, .tau = NAN, .tau_error = NAN};
    lat_autocorrelation g;
    for (long k = 0; k < s->m[0].n; k++)
        s->value[k] = value_of(s, s->m, k, row, q);
    x.error = lat_means_error(&s->m[0], s->value);
    if (!isfinite(x.value) || !gamma_of(s, row, q, x.value, &g))
        return x;
    in_configurations(s, row, q, &g, &x);
    if (s->o->gamma)
        x.error = sqrt(g.variance);
    else if (isfinite(x.error))
        judge(s, row, q, &g, x.error);
    return x;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* SAME columns of the first chain, each after a tab: names, or texts. */
static void print_same(const lat_chain *c, FILE *to, bool names)
{
    char word[LAT_KEY_TEXT];
    for (int i = 0; lat_list_word(c->kind.same, i, word); i++)
        if (*lat_chain_same(c, word))
            fprintf(to, "\t%s", names ? word : lat_chain_same(c, word));
}

static void heading(const state *s, FILE *to)
{
    const stat_report *r = s->r;
    fprintf(to, "%s", r->heading);
    for (int q = 0; q < r->quantities; q++) {
        const char *name = r->quantity[q].name;
        fprintf(to, "%s%s\t%s", q || *r->heading ? "\t" : "", name,
                strcmp(name, "value") ? name : "");
        fprintf(to, "%s", strcmp(name, "value") ? "_error" : "error");
        if (s->o->tau)
            fprintf(to, "\t%s_tau\t%s_tau_error", name, name);
    }
    fputs("\tconfigurations\tbin", to);
    print_same(r->chain, to, true);
    fputc('\n', to);
}

static void number(FILE *to, int digits, double x)
{
    fprintf(to, "%.*g", digits, isnan(x) ? NAN : x); /* without a sign */
}

static void print_row(state *s, FILE *to, long row)
{
    const stat_report *r = s->r;
    const lat_samples *n = s->m[0].s;
    fputs(r->label[row], to);
    for (int q = 0; q < r->quantities; q++) {
        const result x = measure(s, row, q);
        if (r->unknown && !s->unknown && (isnan(x.value) || (isnan(x.error) && s->m[0].n > 1)))
            s->unknown = r->label[row];
        fputs(q || *r->label[row] ? "\t" : "", to);
        number(to, 10, x.value);
        fputc('\t', to);
        number(to, 10, x.error);
        if (s->o->tau) {
            fputc('\t', to);
            number(to, 6, x.tau);
            fputc('\t', to);
            number(to, 6, x.tau_error);
        }
    }
    fprintf(to, "\t%ld\t%ld", n->configs, n->bin && !s->o->gamma ? n->bin : n->unit);
    print_same(r->chain, to, false);
    fputc('\n', to);
}

/* ---- samples --------------------------------------------------------------------------------- */

/* Rows of sample 0, the mean over all, and of all others, for each row of the report. */
static void print_samples(const state *s, FILE *to)
{
    const stat_report *r = s->r;
    const lat_samples *n = s->m[0].s;
    fprintf(to, "%s%ssample", r->heading, *r->heading ? "\t" : "");
    for (int q = 0; q < r->quantities; q++)
        fprintf(to, "\t%s", r->quantity[q].name);
    fputs("\tresampling\tconfigurations\tbin", to);
    print_same(r->chain, to, true);
    fputc('\n', to);
    for (long row = 0; row < r->rows; row++)
        for (long k = -1; k < s->m[0].n; k++) {
            fprintf(to, "%s%s%ld", r->label[row], *r->heading ? "\t" : "", k + 1);
            for (int q = 0; q < r->quantities; q++) {
                fputc('\t', to);
                number(to, 17, value_of(s, s->m, k, row, q));
            }
            fprintf(to, "\t%s\t%ld\t%ld", s->m[0].boot ? "bootstrap" : "jackknife", n->configs,
                    n->bin ? n->bin : n->unit);
            print_same(r->chain, to, false);
            fputc('\n', to);
        }
}

/* ---- autocorrelation ------------------------------------------------------------------------- */

/* rho(t) and tau of the window t, to twice the window and somewhat further. */
static int print_number(state *s, FILE *to, long row, int q)
{
    const stat_report *r = s->r;
    const lat_samples *n = s->m[0].s;
    lat_autocorrelation g;
    const double value = value_of(s, s->m, -1, row, q);
    if (!isfinite(value) || !gamma_of(s, row, q, value, &g))
        return 0;
    const long units = n->configs / n->unit, more = 2 * g.window + 10,
               times = more < units / 2 + 1 ? more : units / 2 + 1;
    double *rho = lat_alloc((size_t)(2 * times + g.window), sizeof *rho, "autocorrelation");
    double *error = lat_alloc((size_t)times, sizeof *error, "autocorrelation");
    result x = {.value = value};
    double tau = -.5;
    if (rho && error)
        lat_autocorrelation_function(s->step, units, &g, times, rho, error);
    for (long t = 0; rho && error && t < times; t++) {
        g.tau = tau += rho[t];
        g.tau_error = 2 * tau * sqrt(fmax((double)t + .5 - tau, 0) / (double)units);
        in_configurations(s, row, q, &g, &x);
        fprintf(to, "%s%s%s\t%ld\t%.10g\t%.4g\t%.6g\t%.6g\t%ld\t%ld", r->label[row],
                *r->heading ? "\t" : "", r->quantity[q].name, t * n->unit, rho[t], error[t], x.tau,
                x.tau_error, g.window * n->unit, n->configs);
        print_same(r->chain, to, false);
        fputc('\n', to);
    }
    const int rc = lat_rc(!rho || !error);
    LAT_FREE(rho, error);
    return rc;
}

static int print_autocorrelation(state *s, FILE *to)
{
    const stat_report *r = s->r;
    int rc = 0;
    fprintf(to, "%s%snumber\tlag\trho\trho_error\ttau\ttau_error\twindow\tconfigurations",
            r->heading, *r->heading ? "\t" : "");
    print_same(r->chain, to, true);
    fputc('\n', to);
    for (long row = 0; row < r->rows; row++)
        for (int q = 0; rc == 0 && q < r->quantities; q++)
            rc = print_number(s, to, row, q);
    return rc;
}

/* ---- warnings -------------------------------------------------------------------------------- */

static void warn(const state *s)
{
    const lat_samples *n = s->m[0].s;
    const long bin = n->bin ? n->bin : n->unit;
    if (s->r->chain->disordered)
        lat_warn("warning: column file is not in the order of the numbers in its names: bins and "
                 "autocorrelation times need the order of the chain (sort -V)");
    if (s->unknown)
        lat_warn("warning: %s is not known: %s", s->unknown, s->r->unknown);
    if (n->configs > 1 && n->configs < FEW)
        lat_warn("warning: errors are those of %ld independent configurations: of so few "
                 "autocorrelation cannot be measured",
                 n->configs);
    else if (s->small * 100 > s->numbers)
        lat_warn("warning: bins of %ld configurations are too small: %ld of %ld errors are below "
                 "those of the Gamma method, %s by a factor of %.2g with tau %.2g +- %.1g (--bin "
                 "%.0f, or --gamma)",
                 bin, s->small, s->numbers, s->worst_name, s->worst,
                 (double)n->unit * s->worst_gamma.tau, (double)n->unit * s->worst_gamma.tau_error,
                 ceil(fmax(4 * (double)n->unit * s->worst_gamma.tau, 2 * (double)bin)));
}

/* ---- all ------------------------------------------------------------------------------------- */

static int begin(state *s)
{
    const stat_report *r = s->r;
    const lat_chain *chains[STAT_CHAINS] = {r->chain, r->second};
    for (int i = 0; i < STAT_CHAINS && chains[i]; i++) {
        const lat_samples *n = &chains[i]->numbers;
        s->units[i] = lat_jackknife(n, &n->units);
        s->m[i] = lat_jackknife(n, &n->bins);
        if (s->o->bootstrap && lat_bootstrap(n, s->o->bootstrap, s->o->seed, &s->m[i]))
            return -1;
    }
    s->value = lat_alloc((size_t)s->m[0].n, sizeof *s->value, "samples");
    s->step = lat_alloc((size_t)s->units[0].n, sizeof *s->step, "samples");
    return lat_rc(!s->value || !s->step);
}

int stat_print(const stat_report *r, const stat_options *o, FILE *const to[STAT_OUTPUTS])
{
    state s = {.r = r, .o = o};
    FILE *const text = to[STAT_TEXT];
    int rc = begin(&s);
    if (rc == 0) {
        heading(&s, text);
        for (long row = 0; row < r->rows; row++)
            print_row(&s, text, row);
        if (to[STAT_SAMPLES])
            print_samples(&s, to[STAT_SAMPLES]);
        if (to[STAT_AUTOCORRELATION])
            rc = print_autocorrelation(&s, to[STAT_AUTOCORRELATION]);
        warn(&s);
    }
    for (int i = 0; i < STAT_CHAINS; i++)
        free(s.m[i].boot);
    LAT_FREE(s.value, s.step);
    return rc;
}

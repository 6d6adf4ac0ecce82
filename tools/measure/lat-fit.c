/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-fit: fits to the samples of lat-stat: masses, the static potential. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "common/io.h"
#include "common/memory_stream.h"
#include "common/options.h"
#include "common/text.h"
#include "run/common/tool.h"
#include "fit.h"

static const char *column, *pcac, *abscissa, *selected, *range, *output, *fitted;
static int form = FIT_AUTO, covariance_of;
static long states = 1;
static double least = .05;
static bool joint, scan;

/* Values of --covariance. */
enum { COVARIANCE_AUTO, COVARIANCE_FULL, COVARIANCE_DIAGONAL };

static const lat_option options[] = {
    LAT_HEADING("What is fitted"),
    {LAT_OPT_TEXT, "select", 0, "KEYS", &selected, 0, 0,
     "correlators, with / between: the first cells of their keys, as pion/rho,1,0,0 (default: "
     "all)"},
    {LAT_OPT_TEXT, "column", 0, "NAME", &column, 0, 0,
     "column of the samples that is fitted, such as mass for a plateau (default: C, mass of pcac, "
     "or V of a potential)"},
    {LAT_OPT_TEXT, "x", 0, "NAME", &abscissa, 0, 0,
     "column that is t of the function (default: t, or r of a potential)"},
    {LAT_OPT_CHOICE, "form", 0, FIT_FORMS, &form, 0, 0,
     "function of t; auto: cosh or sinh where channel and boundary say so, else exp; a plateau "
     "for pcac and for columns other than C; potential: V0 - alpha / r + sigma r"},
    {LAT_OPT_INT, "states", 0, "N", &states, 1, 2, "number of states"},
    {LAT_OPT_FLAG, "joint", 0, NULL, &joint, 0, 0,
     "fit all correlators together: they have the masses in common"},
    LAT_HEADING("Window and errors"),
    {LAT_OPT_TEXT, "range", 0, "FIRST,LAST", &range, 0, 0,
     "window of t (default: the first begin whose fit is good, up to where errors are 25 %)"},
    {LAT_OPT_FLAG, "scan", 0, NULL, &scan, 0, 0,
     "print the fits of all begins of the window, in place of one"},
    {LAT_OPT_REAL, "p-value", 0, "P", &least, 0, 1, "smallest p of a good fit"},
    {LAT_OPT_CHOICE, "covariance", 0, "auto|full|diagonal", &covariance_of, 0, 0,
     "covariance of the points; auto: full if there are ten bins for each point"},
    LAT_HEADING("Output"),
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "output", 'o', "FILE", &output, 0, 0,
     "write to FILE (default: stdout)"},
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "samples", 0, "FILE", &fitted, 0, 0,
     "write masses and amplitudes of each sample to FILE"},
    {0}};

static const lat_tool tool = {
    .name = "lat-fit",
    .args = "[FILE]",
    .summary = "Fits the samples of lat-stat: masses of one and two states, plateaus, the static "
               "potential.",
    .example =
        "lat-stat --samples samples.tsv hadrons/cfg.*.tsv > masses.tsv && lat-fit samples.tsv\n"
        "lat-fit --select pion,0,0,0 --states 2 --range 2,16 samples.tsv\n"
        "lat-fit --select pion,0,0,0/axial_t,0,0,0 --joint --scan samples.tsv\n"
        "lat-fit --form potential --select 3 --range 2,8 energies.tsv",
    .options = options,
    .max_files = 1,
    .common = LAT_HAS_INPUT,
};

static fit_samples data;
static double window[2];

/* ---- selection ------------------------------------------------------------------------------- */

/* Does the key begin with these cells, with commas between? (A cell may have commas itself.) */
static bool begins(const char *key, const char *cells, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (key[i] != cells[i] && !(key[i] == '\t' && cells[i] == ','))
            return false;
    return key[length] == '\0' || key[length] == '\t';
}

/* Is the correlator among those of --select? */
static bool is_selected(const fit_correlator *c)
{
    for (const char *at = selected; at && *at;
         at += strcspn(at, "/") + (at[strcspn(at, "/")] == '/'))
        if (begins(c->name, at, strcspn(at, "/")))
            return true;
    return !selected;
}

/* Is there a correlator whose key begins with these cells? */
static bool is_known(const char *cells, size_t length)
{
    for (long i = 0; i < data.names.count; i++)
        if (begins(data.names.name[i], cells, length))
            return true;
    return false;
}

/* Keys of all correlators, as --select has them; the last one that fits in is "...". */
static void list_known(char *text, size_t size)
{
    bool full = false;
    *text = '\0';
    for (long i = 0; i < data.names.count && !full; i++) {
        const size_t n = strlen(text);
        full = n > size - 128;
        snprintf(text + n, size - n, "%s%s", i ? " / " : "", full ? "..." : data.names.name[i]);
    }
    for (char *c = text; (c = strchr(c, '\t'));)
        *c = ',';
}

/* Each name of --select is that of a correlator. */
static int check_selected(void)
{
    for (const char *at = selected; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL) {
        const size_t length = strcspn(at, "/");
        if (is_known(at, length))
            continue;
        char known[512];
        list_known(known, sizeof known);
        return lat_fail("--select: expected correlators among %s, found '%.*s'", known, (int)length,
                        at);
    }
    return 0;
}

/* The name of a correlator, for sentences. */
static const char *called(const fit_correlator *of)
{
    static char text[256];
    snprintf(text, sizeof text, "%s", *of->name ? of->name : "potential");
    for (char *c = text; (c = strchr(c, '\t'));)
        *c = ' ';
    return text;
}

/* Is it nan at all t? */
static bool is_nan(const fit_correlator *c)
{
    for (long i = 0; i < c->points; i++)
        if (!isnan(c->error[i]))
            return false;
    return true;
}

/* Where correlators are not named, those that are not 0 everywhere. */
static bool is_there(const fit_correlator *c)
{
    for (long i = 0; i < c->points; i++)
        if (c->error[i] > 0)
            return true;
    return false;
}

static void warn_nan(const fit_correlator *c)
{
    lat_warn("warning: %s: column %s has nan among its samples at all t (--column)", called(c),
             pcac && fit_is_pcac(c->name) ? pcac : column);
}

static fit_form form_of(const fit_correlator *c)
{
    if (form != FIT_AUTO)
        return (fit_form)form;
    return strcmp(column, "C") ? FIT_PLATEAU : fit_form_of(&data, c);
}

/* ---- one fit --------------------------------------------------------------------------------- */

static bool good(const fit_result *r) { return r->converged && r->p >= least; }

/* Points have a value and an error. */
static int check(const fit_problem *p)
{
    for (int c = 0; c < p->correlators; c++)
        for (long i = 0; i < p->c[c]->points; i++)
            if (fit_within(p, p->c[c], i) && isnan(p->c[c]->error[i]))
                return lat_fail("%s: expected numbers from t = %g to %g, found nan at t = %g",
                                called(p->c[c]), p->first, p->last, p->c[c]->t[i]);
    return 0;
}

static int fit(fit_problem *p, fit_result *r)
{
    *r = (fit_result){.sample = NULL};
    if (check(p))
        return -1;
    p->diagonal = covariance_of == COVARIANCE_DIAGONAL
                  || (covariance_of == COVARIANCE_AUTO && data.bins < FIT_ENOUGH * fit_points(p));
    return fit_run(p, r);
}

/* Can this form be fitted to it? */
static int check_form(const fit_correlator *c)
{
    const fit_form of = form_of(c);
    if ((of == FIT_COSH || of == FIT_SINH) && !(data.extent > 0))
        return lat_fail("--form %s: expected a column dims, which ends in T, found none",
                        fit_form_names[of]);
    if (of == FIT_PLATEAU && states > 1)
        return lat_fail("%s: expected a sum of exponentials for --states %ld, found a plateau "
                        "(--select)",
                        called(c), states);
    return 0;
}

/* What a row says: how many numbers, their names, and where they are in the result; -1: nowhere. */
static int numbers(void) { return form == FIT_POTENTIAL ? FIT_POTENTIAL_VALUES : 2 * (int)states; }

static const char *name_of(int i)
{
    static const char *const of[] = {"V0", "alpha", "sigma", "sqrt_sigma", "r0"};
    static const char *const mass[] = {"m0", "m1"}, *const amplitude[] = {"A0", "A1"};
    return form == FIT_POTENTIAL ? of[i] : i < states ? mass[i] : amplitude[i - states];
}

static int place(const fit_problem *p, int c, int i)
{
    if (p->form[c] == FIT_PLATEAU)
        return i ? -1 : 0;
    return i < states || p->form[c] == FIT_POTENTIAL ? i : (int)states * c + i;
}

/* A key, with a tab behind it if it has cells. */
static const char *key(const char *cells)
{
    static char text[4096];
    snprintf(text, sizeof text, "%s%s", cells, *cells ? "\t" : "");
    return text;
}

static void heading(FILE *to)
{
    fprintf(to, "%sform\tt_min\tt_max", key(data.heading));
    for (int i = 0; i < numbers(); i++)
        fprintf(to, "\t%s\t%s_error", name_of(i), name_of(i));
    fprintf(to,
            "\tchi2\tdof\tchi2_dof\tp\tcovariance\tgood%s\tsamples\tconfigurations"
            "\tdistribution\treason\n",
            form == FIT_POTENTIAL ? "" : "\tT");
}

static void pair(FILE *to, const fit_result *r, int i)
{
    if (r->converged && i >= 0)
        fprintf(to, "\t%.10g\t%.10g", isnan(r->value[i]) ? NAN : r->value[i],
                isnan(r->error[i]) ? NAN : r->error[i]);
    else
        fputs("\tnan\tnan", to);
}

/* The last t of a correlator that is fitted. */
static double last_fitted(const fit_problem *p, const fit_correlator *c)
{
    double last = p->first;
    for (long i = 0; i < c->points; i++)
        if (fit_within(p, c, i) && c->error[i] > 0)
            last = fmax(last, c->t[i]);
    return last;
}

/* The distribution of p, and why the covariance is full or diagonal. */
static void print_reasons(FILE *to, const fit_problem *p, const fit_result *r)
{
    if (!r->converged)
        fputs("\tnan", to);
    else if (r->diagonal)
        fprintf(to, "\tchi2(%.4g)", r->freedom[0]);
    else
        fprintf(to, "\tF(%.4g,%.4g)", r->freedom[0], r->freedom[1]);
    if (covariance_of != COVARIANCE_AUTO)
        fputs("\t--covariance\n", to);
    else if (data.bins)
        fprintf(to, "\tbins a point: %.3g\n", (double)data.bins / (double)fit_points(p));
    else
        fputs("\tbins unknown\n", to);
}

/* A row for each correlator of the fit. */
static void print(FILE *to, const fit_problem *p, const fit_result *r)
{
    for (int c = 0; c < p->correlators; c++) {
        fprintf(to, "%s%s\t%g\t%g", key(p->c[c]->name), fit_form_names[p->form[c]], p->first,
                last_fitted(p, p->c[c]));
        for (int i = 0; i < numbers(); i++)
            pair(to, r, place(p, c, i));
        if (r->converged)
            fprintf(to, "\t%.10g\t%ld\t%.6g\t%.6g", r->chi2, r->dof, r->chi2 / (double)r->dof,
                    r->p);
        else
            fprintf(to, "\tnan\t%ld\tnan\tnan", r->dof);
        fprintf(to, "\t%s\t%d", r->diagonal ? "diagonal" : "full", good(r));
        if (form != FIT_POTENTIAL)
            fprintf(to, "\t%g", data.extent);
        fprintf(to, "\t%ld\t%ld", data.samples, data.configurations);
        print_reasons(to, p, r);
    }
}

static void print_samples(FILE *to, const fit_problem *p, const fit_result *r)
{
    for (int c = 0; c < p->correlators; c++)
        for (long k = 0; k <= data.samples; k++) {
            fprintf(to, "%s%ld", key(p->c[c]->name), k);
            for (int i = 0; i < numbers(); i++) {
                const int at = place(p, c, i);
                fprintf(to, "\t%.17g", at < 0 ? NAN : r->sample[k * r->values + at]);
            }
            fprintf(to, "\t%s\t%ld", data.bootstrap ? "bootstrap" : "jackknife",
                    data.configurations);
            if (data.bin)
                fprintf(to, "\t%ld", data.bin);
            fputc('\n', to);
        }
}

/* ---- windows --------------------------------------------------------------------------------- */

/* The end of the window where it is not given. */
static double last_of(const fit_problem *p)
{
    double last = INFINITY;
    for (int c = 0; c < p->correlators; c++)
        last = fmin(last, fit_last(&data, p->c[c], p->form[c]));
    return last;
}

/* All windows of the scan, or up to the first good one: prints each, or the one; where none is good
 * it prints the window of the largest p. Returns an exit code. */
static int windows(fit_problem *p, FILE *to, FILE *samples)
{
    const fit_correlator *c = p->c[0];
    fit_result best = {.sample = NULL};
    double first = NAN;
    int rc = 0;
    for (long i = 0; i < c->points && rc == 0; i++) {
        fit_result r;
        p->first = c->t[i];
        if (c->t[i] < (range ? window[0] : 1) || fit_points(p) < fit_parameters(p) + 1 + !range)
            continue;
        rc = fit(p, &r);
        if (rc == 0 && scan)
            print(to, p, &r);
        const bool found = rc == 0 && good(&r);
        const bool better = isnan(first) || isnan(best.p) || r.p >= best.p;
        if (rc == 0 && (found || better)) {
            fit_result_free(&best);
            best = r;
            first = p->first;
        } else {
            fit_result_free(&r);
        }
        if (found && !scan)
            break;
    }
    p->first = first;
    if (rc == 0 && isnan(first) && is_nan(c))
        warn_nan(c);
    else if (rc == 0 && isnan(first))
        lat_warn("warning: %s: no window has more points than parameters and errors below 25 %% "
                 "(--range gives one)",
                 called(c));
    if (rc == 0 && !isnan(first) && !scan && !good(&best))
        lat_warn("warning: %s: no window has a good fit (--range, --states 2)", called(c));
    if (rc == 0 && !isnan(first) && !scan)
        print(to, p, &best);
    if (rc == 0 && !isnan(first) && samples && best.converged)
        print_samples(samples, p, &best);
    fit_result_free(&best);
    return rc ? LAT_FAILED : LAT_DONE;
}

static int one_window(fit_problem *p, FILE *to, FILE *samples)
{
    fit_result r;
    p->first = window[0];
    const int rc = fit(p, &r);
    int code = rc ? LAT_FAILED : LAT_DONE;
    if (rc == 0 && !r.converged) {
        lat_fail_tolerance("%s: the fit from t = %g to %g has not converged", called(p->c[0]),
                           p->first, p->last);
        code = LAT_UNCONVERGED;
    }
    if (code == LAT_DONE)
        print(to, p, &r);
    if (code == LAT_DONE && samples)
        print_samples(samples, p, &r);
    fit_result_free(&r);
    return code;
}

static int solve(fit_problem *p, FILE *to, FILE *samples)
{
    p->last = range ? window[1] : last_of(p);
    return range && !scan ? one_window(p, to, samples) : windows(p, to, samples);
}

/* ---- the run --------------------------------------------------------------------------------- */

static int collect(fit_problem *all)
{
    for (long i = 0; i < data.names.count; i++) {
        const fit_correlator *c = &data.correlator[i];
        if (!selected && is_nan(c))
            warn_nan(c);
        if (!is_selected(c) || (!selected && !is_there(c)))
            continue;
        if (check_form(c))
            return -1;
        if (joint && (all->correlators + 1) * (states + 1) > FIT_PARAMETERS)
            return lat_fail("--joint: expected at most %ld correlators (--select)",
                            FIT_PARAMETERS / (states + 1) - 1);
        if (joint) {
            all->c[all->correlators] = c;
            all->form[all->correlators] = form_of(c);
            if ((all->form[0] == FIT_PLATEAU) != (form_of(c) == FIT_PLATEAU))
                return lat_fail("--joint: expected no plateau beside states, found %s (--select)",
                                called(all->form[0] == FIT_PLATEAU ? all->c[0] : c));
        }
        all->correlators++;
    }
    return all->correlators ? 0 : lat_fail("expected a correlator that is not 0 at all t");
}

static int run(FILE *to, FILE *samples)
{
    fit_problem all = {.s = &data, .states = (int)states};
    int code = LAT_DONE;
    if (fit_samples_read(&data, lat_opts.input, column, pcac, abscissa) || check_selected()
        || collect(&all))
        return LAT_FAILED;
    heading(to);
    if (samples) {
        fprintf(samples, "%ssample", key(data.heading));
        for (int i = 0; i < numbers(); i++)
            fprintf(samples, "\t%s", name_of(i));
        fprintf(samples, "\tresampling\tconfigurations%s\n", data.bin ? "\tbin" : "");
    }
    if (joint)
        return solve(&all, to, samples);
    for (long i = 0; i < data.names.count && code == LAT_DONE; i++) {
        const fit_correlator *c = &data.correlator[i];
        fit_problem one = {.s = &data, .states = (int)states, .correlators = 1, .c = {c}};
        one.form[0] = form_of(c);
        if (is_selected(c) && (selected || is_there(c)))
            code = solve(&one, to, samples);
    }
    return code;
}

/* The table appears when all fits are done. */
static int run_whole(FILE *text, FILE *samples)
{
    lat_memory_stream m;
    FILE *to = lat_memory_stream_open(&m);
    int code = to ? run(to, samples) : LAT_FAILED;
    if (!to || lat_memory_stream_close(to, &m)) {
        lat_fail("out of memory: the table of fits");
        return LAT_FAILED;
    }
    if (code == LAT_DONE)
        fwrite(m.text, 1, m.n, text);
    free(m.text);
    return code;
}

int main(int argc, char **argv)
{
    char rest;
    lat_options_parse(&tool, argc, argv);
    if (range
        && (sscanf(range, "%lf,%lf%c", &window[0], &window[1], &rest) != 2
            || !(window[0] < window[1])))
        lat_usage("--range: expected FIRST,LAST, found '%s'", range);
    const bool potential = form == FIT_POTENTIAL;
    if (potential && (joint || states > 1))
        lat_usage("--form potential has neither --states nor --joint");
    if (states > 1 && (form == FIT_PLATEAU || (form == FIT_AUTO && column && strcmp(column, "C"))))
        lat_usage("--states %ld: expected a sum of exponentials, found a plateau", states);
    if (potential && column && !strcmp(column, "W"))
        lat_usage("--form potential: expected energies (lat-stat --potential), found --column W, "
                  "Wilson loops");
    if (!column && (form == FIT_AUTO || form == FIT_PLATEAU))
        pcac = "mass";
    column = column ? column : potential ? "V" : "C";
    abscissa = abscissa ? abscissa : potential ? "r" : "t";
    lat_output *out[2] = {lat_output_open(output, LAT_OUTPUT_TEXT, lat_opts.comm)};
    if (out[0] && fitted)
        out[1] = lat_output_open(fitted, LAT_OUTPUT_TEXT, lat_opts.comm);
    FILE *to[2] = {out[0] ? lat_text_open(out[0]) : NULL, out[1] ? lat_text_open(out[1]) : NULL};
    int code = to[0] && (to[1] || !fitted) ? run_whole(to[0], to[1]) : LAT_FAILED;
    fit_samples_free(&data);
    code = lat_outputs_end(2, out, to, code);
    return code == LAT_DONE ? LAT_DONE : lat_report(code);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-stat: means, errors and autocorrelation times of tables. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "common/io.h"
#include "common/options.h"
#include "common/text.h"
#include "run/common/tool.h"
#include "stat.h"
#include "stat/autocorrelation.h"

static stat_options opts = {.seed = 1, .s = LAT_AUTOCORRELATION_S};
static lat_roles roles;
static const char *density = "E_clover";
static bool force, apart, no_fold, scales, alpha, potential;

static const lat_option options[] = {
    LAT_HEADING("Errors"),
    {LAT_OPT_INT, "bin", 0, "N", &opts.bin, 1, 1e6,
     "configurations of a bin (default: 1, or as many as --most makes necessary)"},
    {LAT_OPT_FLAG, "tau", 0, NULL, &opts.tau, 0, 0,
     "print the integrated autocorrelation time of each number, with its error"},
    {LAT_OPT_FLAG, "gamma", 0, NULL, &opts.gamma, 0, 0,
     "print errors by the Gamma method in place of the jackknife"},
    {LAT_OPT_REAL, "gamma-s", 0, "S", &opts.s, .1, 10,
     "ratio of the exponential to the integrated autocorrelation time, for the window of the "
     "Gamma method"},
    {LAT_OPT_INT, "bootstrap", 0, "N", &opts.bootstrap, 2, 1e6,
     "print errors of N bootstrap samples (default: of the jackknife)"},
    {LAT_OPT_SEED, "seed", 0, "SEED", &opts.seed, 0, 0, "seed of --bootstrap"},
    LAT_HEADING("What is averaged"),
    {LAT_OPT_FLAG, "apart", 0, NULL, &apart, 0, 0, "keep equivalent momenta and directions apart"},
    {LAT_OPT_FLAG, "no-fold", 0, NULL, &no_fold, 0, 0,
     "keep C(t) and C(T - t) of mesons apart, and take ln C(t)/C(t+1) as their mass"},
    {LAT_OPT_FLAG, "scales", 0, NULL, &scales, 0, 0,
     "measure t0 and w0 of the mean over configurations, from tables of lat-flow"},
    {LAT_OPT_TEXT, "density", 0, "COLUMN", &density, 0, 0,
     "action density of --scales, E_clover or E_plaquette"},
    {LAT_OPT_FLAG, "potential", 0, NULL, &potential, 0, 0,
     "measure effective energies V(R, T) of two static sources, from tables of lat-loops"},
    {LAT_OPT_FLAG, "alpha", 0, NULL, &alpha, 0, 0,
     "measure the coupling of ghosts and gluons, from tables of lat-gluon and of lat-ghost"},
    {LAT_OPT_FLAG | LAT_OPT_LOCAL, "force", 0, NULL, &force, 0, 0,
     "accept rows with forced = 1, of links that are not in the gauge"},
    LAT_HEADING("Other tables"),
    {LAT_OPT_TEXT, "value", 0, "COLUMNS", &roles.value, 0, 0,
     "columns that are averaged, with commas between, beside those that lat-stat knows"},
    {LAT_OPT_TEXT, "key", 0, "COLUMNS", &roles.key, 0, 0,
     "columns that name an observable: each has a row of results"},
    {LAT_OPT_TEXT, "sample", 0, "COLUMNS", &roles.sample, 0, 0,
     "columns that name a configuration"},
    {LAT_OPT_TEXT, "ignore", 0, "COLUMNS", &roles.ignored, 0, 0, "columns that are passed over"},
    LAT_HEADING("Output"),
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "output", 'o', "FILE", &opts.file[STAT_TEXT], 0, 0,
     "write to FILE (default: stdout)"},
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "samples", 0, "FILE", &opts.file[STAT_SAMPLES], 0, 0,
     "write the samples of the jackknife, or of --bootstrap, to FILE, for lat-fit and others"},
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "autocorrelation", 0, "FILE", &opts.file[STAT_AUTOCORRELATION],
     0, 0, "write the autocorrelation function of each number, and tau of each window, to FILE"},
    {LAT_OPT_INT, "most", 0, "N", &opts.most, 2, 1e7,
     "configurations, or units of merged neighbours, that are kept in memory (default: what 256 "
     "MiB take, 256 at least)"},
    {0}};

static const lat_tool tool = {
    .name = "lat-stat",
    .args = "[FILE...]",
    .summary = "Averages tables over configurations, with errors and autocorrelation times.",
    .example = "lat-stat hadrons/cfg.*.tsv > masses.tsv\n"
               "lat-heatbath --dims 8,8,8,8 --beta 6.0 --count 1000 | lat-plaq --tsv | lat-stat "
               "--tau\n"
               "lat-stat --bin 10 --samples samples.tsv corr.tsv > means.tsv",
    .options = options,
    .max_files = 1 << 20,
    .common = LAT_HAS_INPUT,
};

/* The tables of the run: of one kind, or gluons and ghosts for alpha. */
static lat_chain chain[STAT_CHAINS];
static int chains;

/* ---- kinds ----------------------------------------------------------------------------------- */

static bool has_marks(const lat_table *t, const char *marks)
{
    char word[LAT_KEY_TEXT];
    for (int i = 0; lat_list_word(marks, i, word); i++)
        if (lat_table_column(t, word) < 0)
            return false;
    return true;
}

/* The columns of a table, for sentences. */
static const char *columns_in(const lat_table *t)
{
    static char text[512];
    snprintf(text, sizeof text, "%s", t->heading);
    for (char *c = text; (c = strchr(c, '\t'));)
        *c = ',';
    return text;
}

/* What a column may be, in the order of lat_chain.lists; the user has the first USERS. */
enum { SAMPLE, KEY, VALUE, IGNORED, USERS, FIXED = USERS, SAME, ROLES };

/* What the user has said of a role, or NULL. */
static const char *said(int role)
{
    return (const char *[ROLES]){roles.sample, roles.key, roles.value, roles.ignored}[role];
}

static const char **list_of(lat_table_kind *k, int role)
{
    return (const char **[ROLES]){
        &k->sample, &k->key, &k->value, &k->ignored, &k->fixed, &k->same}[role];
}

/* Word i of a role, as the user has said it; NULL beyond the last. Returns text. */
static const char *said_word(int role, int i, char text[LAT_KEY_TEXT])
{
    const char *at = said(role);
    for (; at && i > 0; i--)
        at = (at = strchr(at, ',')) ? at + 1 : NULL;
    if (at)
        snprintf(text, LAT_KEY_TEXT, "%.*s", (int)strcspn(at, ","), at);
    return at ? text : NULL;
}

/* Has the user given this column another role? */
static bool taken(int role, const char *column)
{
    char word[LAT_KEY_TEXT];
    for (int r = 0; r < USERS; r++)
        for (int i = 0; r != role && said_word(r, i, word); i++)
            if (!strcmp(word, column))
                return true;
    return false;
}

/* The columns of a role: those of the kind, in their order, then those of the user. */
static char *columns_of(const char *list, int role)
{
    char word[LAT_KEY_TEXT];
    const size_t more = said(role) ? strlen(said(role)) : 0;
    char *text = lat_alloc_zero((list ? strlen(list) : 0) + more + 2, 1, "names of columns");
    for (int i = 0; text && list && lat_list_word(list, i, word); i++)
        if (!taken(role, word))
            strcat(strcat(text, *text ? " " : ""), word);
    for (int i = 0; text && said_word(role, i, word); i++)
        if (!lat_names_word(text, word))
            strcat(strcat(text, *text ? " " : ""), word);
    return text;
}

static int take_roles(lat_chain *c)
{
    for (int i = 0; i < ROLES; i++) {
        const char **list = list_of(&c->kind, i);
        if (!(c->lists[i] = columns_of(*list, i)))
            return -1;
        *list = c->lists[i];
    }
    return 0;
}

static const char *const option_of[USERS] = {"sample", "key", "value", "ignore"};

static bool has(const char *list, const char *column)
{
    return list && lat_names_word(list, column);
}

/* Quantities of a table that lat-stat knows are made of its columns: these keep their roles. */
static int check_role(lat_table_kind *k, const lat_table *t, int role, const char *column)
{
    if (has(*list_of(k, role), column))
        return 0;
    const char *is = has(k->key, column) || has(k->fixed, column)      ? "names rows"
                     : has(k->same, column)                            ? "is equal in all rows"
                     : has(k->needed, column)                          ? "is averaged"
                     : role == VALUE && has("sd_beta Gamma g", column) ? "follows from means"
                                                                       : NULL;
    if (is)
        return lat_fail_usage("%s: a table of %s: expected column %s as one that %s, found --%s "
                              "%s: leave it out, or cut columns of the results",
                              t->name, k->tool, column, is, option_of[role], column);
    if (role == KEY && k->key && (k->complete || scales || alpha || potential))
        return lat_fail_usage("%s: a table of %s: expected rows by %s alone, found --key %s: give "
                              "lat-stat the rows of one %s at a time, with --ignore %s",
                              t->name, k->tool, k->key, column, column, column);
    return 0;
}

static int check_roles(const lat_table_kind *kind, const lat_table *t)
{
    lat_table_kind k = *kind;
    char word[LAT_KEY_TEXT];
    for (int role = 0; role < USERS; role++)
        for (int i = 0; said_word(role, i, word); i++) {
            if ((role == VALUE || role == KEY) && !alpha && lat_table_column(t, word) < 0)
                return lat_fail("%s: expected a column %s (--%s), found columns '%s'", t->name,
                                word, option_of[role], columns_in(t));
            if (kind != &stat_other && check_role(&k, t, role, word))
                return -1;
        }
    return 0;
}

static lat_chain *new_chain(const lat_table_kind *kind, const lat_table *t)
{
    if (check_roles(kind, t))
        return NULL;
    lat_chain *c = &chain[chains++];
    *c = (lat_chain){.kind = *kind, .config = -1, .force = force, .apart = apart};
    c->numbers = (lat_samples){.most = opts.most, .bin = opts.bin};
    return take_roles(c) ? NULL : c;
}

/* A table whose tool is not known, and nothing says what its columns are. */
static lat_chain *unknown(const lat_table *t)
{
    return lat_fail_null(
        "%s: expected a table of a measuring tool (--tsv), one configuration after "
        "the other, or --value COLUMNS, found columns '%s'",
        t->name, columns_in(t));
}

/* The chain that the tables of this heading belong to. */
static lat_chain *chain_of(const lat_table *t)
{
    const lat_table_kind *kind = stat_kinds;
    while (kind->tool && !has_marks(t, kind->marks))
        kind++;
    if (kind->tool && kind->refused && !roles.value)
        return lat_fail_null("%s: a table of %s: %s", t->name, kind->tool, kind->refused);
    if (!kind->tool || !kind->sample)
        kind = &stat_other;
    if (kind == &stat_other && !roles.value)
        return unknown(t);
    for (int i = 0; i < chains; i++)
        if (!strcmp(chain[i].kind.tool, kind->tool))
            return &chain[i];
    const bool both = alpha && chains < STAT_CHAINS
                      && (!strcmp(kind->tool, "lat-gluon") || !strcmp(kind->tool, "lat-ghost"));
    if (alpha && !both)
        return lat_fail_null("%s: --alpha: expected a table of lat-gluon, or of the propagator of "
                             "lat-ghost, found one of %s",
                             t->name, kind->tool);
    if (chains && !both)
        return lat_fail_null("%s: expected a table of %s as before, found one of %s", t->name,
                             chain[0].kind.tool, kind->tool);
    return new_chain(kind, t);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static int read_table(const char *path, int input)
{
    lat_table t;
    lat_chain *c = NULL;
    int rc = lat_table_open(&t, path), line = LAT_TABLE_END;
    while (rc == 0 && (line = lat_table_next(&t)) > LAT_TABLE_END) {
        if (line == LAT_TABLE_NAMES)
            rc = lat_rc(!(c = chain_of(&t)) || lat_chain_columns(c, &t));
        else
            rc = lat_chain_row(c, &t, input);
    }
    lat_table_close(&t);
    return lat_rc(rc || line < 0);
}

static int by_number(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

static int read_tables(void)
{
    if (lat_opts.nfiles > 1)
        qsort(lat_opts.files, (size_t)lat_opts.nfiles, sizeof *lat_opts.files, by_number);
    for (int i = 0; i < (lat_opts.nfiles > 1 ? lat_opts.nfiles : 1); i++)
        if (read_table(lat_opts.nfiles > 1 ? lat_opts.files[i] : lat_opts.input, i))
            return -1;
    for (int i = 0; i < chains; i++)
        if (lat_chain_end(&chain[i]))
            return -1;
    return 0;
}

/* ---- the run --------------------------------------------------------------------------------- */

static int make_report(stat_report *r)
{
    r->fold = !no_fold;
    if (potential)
        return stat_report_potential(r, &chain[0]);
    if (!alpha)
        return scales ? stat_report_scales(r, &chain[0], density) : stat_report_make(r, &chain[0]);
    const bool gluons = !strcmp(chain[0].kind.tool, "lat-gluon");
    if (chains < 2)
        return lat_fail(
            "--alpha: expected tables of lat-gluon and of lat-ghost, found tables of %s alone",
            chain[0].kind.tool);
    return stat_report_alpha(r, &chain[gluons ? 0 : 1], &chain[gluons ? 1 : 0]);
}

static int run(FILE *const to[STAT_OUTPUTS])
{
    stat_report r = {.quantities = 0};
    const int rc = read_tables() || make_report(&r) || stat_print(&r, &opts, to);
    stat_report_free(&r);
    for (int i = 0; i < chains; i++)
        lat_chain_free(&chain[i]);
    return rc ? LAT_FAILED : LAT_DONE;
}

int main(int argc, char **argv)
{
    lat_options_parse(&tool, argc, argv);
    lat_usage_for("seed", opts.bootstrap, "--bootstrap");
    lat_usage_for("density", scales, "--scales");
    if (opts.gamma && opts.bootstrap)
        lat_usage("--gamma and --bootstrap exclude each other");
    if (opts.gamma && opts.bin && !opts.file[STAT_SAMPLES])
        lat_usage("--bin is for the jackknife: with --gamma expected it with --samples alone");
    if (scales + alpha + potential > 1)
        lat_usage("--scales, --alpha and --potential exclude each other");
    lat_output *out[STAT_OUTPUTS] = {NULL};
    FILE *to[STAT_OUTPUTS] = {NULL};
    int code = LAT_DONE;
    for (int i = 0; i < STAT_OUTPUTS && code == LAT_DONE; i++)
        if (i == STAT_TEXT || opts.file[i]) {
            out[i] = lat_output_open(opts.file[i], LAT_OUTPUT_TEXT, lat_opts.comm);
            to[i] = out[i] ? lat_text_open(out[i]) : NULL;
            code = to[i] ? LAT_DONE : LAT_FAILED;
        }
    if (code == LAT_DONE)
        code = run(to);
    code = lat_outputs_end(STAT_OUTPUTS, out, to, code);
    return code == LAT_DONE ? LAT_DONE : lat_report(code);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* stat_kinds.c: the tables that lat-stat knows, and the quantities of each. */
#include "stat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"

#define POLYAKOV \
    " polyakov_x_re polyakov_x_im polyakov_y_re polyakov_y_im polyakov_z_re polyakov_z_im " \
    "polyakov_t_re polyakov_t_im"
#define LATTICE "dims group ensemble"

#define RATIOS \
    "its numbers are ratios of means, which lat-quark --mean takes from propagators or --legs; " \
    "--value COLUMNS averages ratios of single configurations, whose mean has a bias"

/* A table is of the first kind all of whose marks it has. */
const lat_table_kind stat_kinds[] = {
    {.tool = "lat-corr",
     .marks = "channel px py pz t re",
     .sample = "configuration file links",
     .key = "channel px py pz t",
     .same = "operator source sink " LATTICE,
     .value = "re im",
     .needed = "re",
     .represent = stat_equal_hadrons,
     .complete = stat_complete_hadrons,
     .strip = stat_strip_source},
    {.tool = "lat-gluon --vertex",
     .marks = "config limit momentum Gamma",
     .sample = "config file",
     .key = "limit momentum",
     .fixed = "p phat2 members",
     .same = "gauge " LATTICE,
     .value = "T S D D0",
     .needed = "T S D D0",
     .ignored = "Gamma g theta"},
    {.tool = "lat-gluon",
     .marks = "config momentum D longitudinal",
     .sample = "config file",
     .key = "colours momentum",
     .fixed = "p phat2 members cylinder cone",
     .same = "gauge " LATTICE,
     .value = "D longitudinal",
     .needed = "D longitudinal",
     .ignored = "D_error theta residual",
     .represent = stat_equal_gluons},
    {.tool = "lat-ghost",
     .marks = "configuration kx ky kz kt k2 G",
     .sample = "configuration file",
     .key = "kx ky kz kt",
     .fixed = "k2",
     .same = "gauge " LATTICE,
     .value = "G",
     .needed = "G",
     .ignored = "theta residual",
     .represent = stat_equal_ghosts},
    {.tool = "lat-ghost --modes",
     .marks = "configuration slice mode value",
     .sample = "configuration file",
     .key = "slice mode",
     .same = "gauge " LATTICE,
     .value = "value",
     .ignored = "theta residual"},
    {.tool = "lat-flow --by-slice",
     .marks = "config t slice E_plaquette W",
     .sample = "config file",
     .key = "t slice",
     .same = "action slices " LATTICE,
     .value = "E_plaquette E_clover t2E Q E_t E_s W"},
    {.tool = "lat-flow",
     .marks = "config t E_plaquette E_clover",
     .sample = "config file",
     .key = "t",
     .same = "action slices " LATTICE,
     .value = "E_plaquette E_clover t2E Q E_t E_s"},
    {.tool = "lat-flow --scales",
     .marks = "config t0_clover w0_clover",
     .refused = "t0 and w0 are of the mean over configurations: give rows of all times, and "
                "--scales to lat-stat"},
    {.tool = "lat-plaq",
     .marks = "config plaquette plaquette_spatial sd_trace",
     .sample = "config file",
     .same = LATTICE,
     .value = "plaquette plaquette_spatial plaquette_temporal link_trace action_density "
              "action_density_clover charge sd_trace sd_force" POLYAKOV,
     .ignored = "sd_beta"},
    {.tool = "lat-loops",
     .marks = "config separation r T level_i level_j W",
     .sample = "config file",
     .key = "separation T level_i level_j",
     .fixed = "r",
     .same = "smearing time_links slices " LATTICE,
     .value = "W",
     .needed = "W"},
    {.tool = "lat-loops --polyakov",
     .marks = "config separation r C polyakov_re",
     .sample = "config file",
     .key = "separation",
     .fixed = "r",
     .same = "time_links " LATTICE,
     .value = "C polyakov_re polyakov_im"},
    {.tool = "lat-theta --conventions",
     .marks = "config convention definition theta",
     .sample = "config file",
     .key = "convention",
     .fixed = "definition",
     .same = "gauge " LATTICE,
     .value = "theta"},
    {.tool = "lat-theta",
     .marks = "config functional theta theta_max det_error_mean",
     .sample = "config file",
     .same = "gauge " LATTICE,
     .value = "functional theta theta_max plaquette link_trace det_error_mean det_error_max "
              "unitarity_max residual_theta residual_functional fp_min" POLYAKOV,
     .ignored = "fp_min_residual"},
    {.tool = "lat-abelian",
     .marks = "config functional abelian_plaquette monopoles",
     .sample = "config file",
     .same = LATTICE,
     .value = "functional theta off_diagonal off_diagonal_max overlap abelian_plaquette monopoles "
              "monopoles_spatial monopoles_temporal not_conserved"},
    {.tool = "lat-quark --vertex",
     .marks = "configuration px kx p2 k2 q2 gamma Lambda",
     .sample = "configuration file",
     .key = "px py pz pt kx ky kz kt gamma",
     .fixed = "p2 k2 q2",
     .same = LATTICE,
     .ignored = "ward Lambda Z_over_Zq Z Z_conserved",
     .refused = RATIOS},
    {.tool = "lat-quark",
     .marks = "configuration px py pz pt p2 trace Zq",
     .sample = "configuration file",
     .key = "px py pz pt",
     .fixed = "p2 pbar2 phat2 cylinder",
     .same = LATTICE,
     .ignored = "trace Zq M M_additive M_multiplicative",
     .refused = RATIOS},
    {.tool = "lat-quark --mean",
     .marks = "configurations px py pz pt p2",
     .refused = "its rows are means over configurations, with errors: there is nothing to average"},
    {.tool = "lat-modes",
     .marks = "configuration mode value residual gap chirality",
     .sample = "configuration file",
     .key = "mode",
     .same = LATTICE,
     .ignored = "value residual gap chirality",
     .refused =
         "mode K of two configurations are two eigenvalues, which may differ in sign; --value "
         "COLUMNS averages them by their numbers"},
    {.tool = NULL}};

const lat_table_kind stat_other = {.tool = "the table",
                                   .sample = "config configuration number file links",
                                   .same = "operator source sink action gauge " LATTICE};

/* ---- quantities ------------------------------------------------------------------------------ */

void stat_add(stat_report *r, const char *name, stat_function *f, int of, bool derived)
{
    if (r->quantities < STAT_QUANTITIES) {
        stat_quantity *q = &r->quantity[r->quantities++];
        *q = (stat_quantity){.function = f, .of = of, .derived = derived};
        snprintf(q->name, sizeof q->name, "%s", name);
    }
}

double stat_plain(const stat_report *r, const lat_means *m, long sample, long row, int of)
{
    return lat_chain_mean(r->chain, m, sample, row, of);
}

/* With the square of the momentum. */
static double dressed(const stat_report *r, const lat_means *m, long sample, long row, int of)
{
    return r->weight[row] * stat_plain(r, m, sample, row, of);
}

/* The vertex: T, S, D, D0 are values 0 to 3. S is of the symmetric limit alone. */
static double amputated(const stat_report *r, const lat_means *m, long sample, long row, int of)
{
    const double t = stat_plain(r, m, sample, row, 0), d = stat_plain(r, m, sample, row, 2);
    const bool soft = !strncmp(r->label[row], "soft", 4);
    const double leg = soft ? stat_plain(r, m, sample, row, 3) : d;
    if (of == 0)
        return t / (d * d * leg);
    return pow(r->weight[row], 1.5) * t / (soft ? leg * sqrt(d) : pow(d, 1.5));
}

/* (N^2 - 1) trace / force; trace is value `of`. */
static double sd_beta(const stat_report *r, const lat_means *m, long sample, long row, int of)
{
    const int force = lat_chain_value(r->chain, "sd_force");
    int n = 0;
    sscanf(lat_chain_same(r->chain, "group"), "SU(%d)", &n);
    return (n * n - 1) * stat_plain(r, m, sample, row, of) / stat_plain(r, m, sample, row, force);
}

/* ---- the report of a chain ------------------------------------------------------------------- */

int stat_report_rows(stat_report *r, const char *heading, long n)
{
    r->rows = n;
    r->heading = strdup(heading);
    r->label = lat_alloc_zero((size_t)n, sizeof *r->label, "rows");
    return r->heading && r->label ? 0 : lat_fail("out of memory: rows");
}

void stat_report_free(stat_report *r)
{
    for (long i = 0; r->label && i < r->rows; i++)
        free(r->label[i]);
    LAT_FREE(r->heading, r->label, r->weight, r->index, r->group, r->slice, r->time);
    *r = (stat_report){0};
}

/* Names of the columns of a list, those that the table has, behind text. */
static void names(const char *list, const int *column, char *text)
{
    char word[LAT_KEY_TEXT];
    for (int i = 0; lat_list_word(list, i, word); i++)
        if (column[i] >= 0)
            strcat(strcat(text, *text ? "\t" : ""), word);
}

/* Cells of the columns that the table has, behind text. */
static void cells(const char *from, int n, const int *column, char *text)
{
    for (int i = 0; i < n; i++) {
        const int length = (int)strcspn(from, "\t");
        if (column[i] >= 0)
            sprintf(text + strlen(text), "%s%.*s", *text ? "\t" : "", length, from);
        from += length + (from[length] == '\t');
    }
}

static int labels(stat_report *r, const lat_chain *c)
{
    char heading[2 * LAT_KEYS * LAT_KEY_TEXT] = "";
    names(c->kind.key, c->key, heading);
    names(c->kind.fixed, c->fixed, heading);
    if (stat_report_rows(r, heading, c->rows.count))
        return -1;
    for (long i = 0; i < r->rows; i++) {
        const size_t length = strlen(c->rows.name[i]) + strlen(c->fixed_text[i]) + 2;
        if (!(r->label[i] = lat_alloc_zero(length, 1, "rows")))
            return -1;
        cells(c->rows.name[i], c->keys, c->key, r->label[i]);
        cells(c->fixed_text[i], c->fixeds, c->fixed, r->label[i]);
    }
    return 0;
}

/* The numbers of a FIXED column. */
static int weights(stat_report *r, const lat_chain *c, const char *name)
{
    char word[LAT_KEY_TEXT];
    int at = 0;
    if (!(r->weight = lat_alloc((size_t)r->rows, sizeof *r->weight, "squares of momenta")))
        return -1;
    while (lat_list_word(c->kind.fixed, at, word) && strcmp(word, name))
        at++;
    for (long i = 0; i < r->rows; i++) {
        const char *text = c->fixed_text[i];
        for (int k = 0; k < at; k++)
            text = strchr(text, '\t') + 1;
        r->weight[i] = strtod(text, NULL);
    }
    return 0;
}

void stat_add_values(stat_report *r, const lat_chain *c, const char *but)
{
    char word[LAT_KEY_TEXT];
    for (int i = 0; i < c->values && lat_list_word(c->kind.value, i, word); i++)
        if (c->value[i] >= 0 && !lat_names_word(but, word))
            stat_add(r, word, stat_plain, i, false);
}

int stat_report_make(stat_report *r, lat_chain *c)
{
    const char *tool = c->kind.tool;
    r->chain = c;
    if (labels(r, c))
        return -1;
    if (!strcmp(tool, "lat-corr"))
        return stat_report_hadrons(r);
    if (!strcmp(tool, "lat-gluon")) {
        stat_add(r, "D", stat_plain, 0, false);
        stat_add(r, "phat2_D", dressed, 0, false);
        stat_add(r, "longitudinal", stat_plain, 1, false);
        stat_add_values(r, c, "D longitudinal");
        return weights(r, c, "phat2");
    }
    stat_add_values(r, c, "");
    if (!strcmp(tool, "lat-ghost")) {
        stat_add(r, "k2_G", dressed, 0, false);
        return weights(r, c, "k2");
    }
    if (!strcmp(tool, "lat-gluon --vertex")) {
        stat_add(r, "Gamma", amputated, 0, true);
        stat_add(r, "g", amputated, 1, true);
        return weights(r, c, "phat2");
    }
    const int trace = lat_chain_value(c, "sd_trace"), force = lat_chain_value(c, "sd_force");
    if (!strcmp(tool, "lat-plaq") && trace >= 0 && force >= 0 && !c->missing[trace])
        stat_add(r, "sd_beta", sd_beta, trace, true);
    return 0;
}

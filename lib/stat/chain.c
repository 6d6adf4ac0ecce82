/* SPDX-License-Identifier: BSD-3-Clause */
/* chain.c: rows become the numbers of configurations. */
#include "chain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"

void lat_chain_free(lat_chain *c)
{
    for (long i = 0; i < c->rows.count && c->fixed_text; i++)
        free(c->fixed_text[i]);
    for (int i = 0; i < LAT_SAMES; i++)
        free(c->same_text[i]);
    for (size_t i = 0; i < sizeof c->lists / sizeof *c->lists; i++)
        free(c->lists[i]);
    lat_names_free(&c->rows);
    lat_names_free(&c->raw);
    lat_names_free(&c->configs);
    lat_names_free(&c->prints);
    lat_samples_free(&c->numbers);
    LAT_FREE(c->value, c->fixed_text, c->row_of, c->missing, c->last_file, c->sum, c->members,
             c->count);
    LAT_FREE(c->of_theta, c->one, c->had, c->table);
    *c = (lat_chain){.config = -1};
}

const char *lat_list_word(const char *list, int i, char text[LAT_KEY_TEXT])
{
    list += strspn(list, " ");
    for (; i > 0 && *list; i--) {
        list += strcspn(list, " ");
        list += strspn(list, " ");
    }
    if (!*list)
        return NULL;
    snprintf(text, LAT_KEY_TEXT, "%.*s", (int)strcspn(list, " "), list);
    return text;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* The columns of a list: how many it has. */
static int find(const lat_table *t, const char *list, int *column, int most)
{
    char word[LAT_KEY_TEXT];
    int n = 0;
    for (; n < most && lat_list_word(list, n, word); n++)
        column[n] = lat_table_column(t, word);
    return n;
}

static int no_role(const lat_chain *c, const lat_table *t)
{
    const lat_table_kind *k = &c->kind;
    const char *const lists[] = {k->sample, k->key, k->fixed, k->same, k->value, k->ignored};
    for (int i = 0; i < t->columns; i++) {
        bool known = !strcmp(t->column[i], "forced");
        for (size_t l = 0; l < sizeof lists / sizeof *lists; l++)
            known = known || lat_names_word(lists[l], t->column[i]);
        if (!known)
            return lat_fail("%s: column %s is none of %s: say what it is (--key, --value, --sample "
                            "or --ignore %s)",
                            t->name, t->column[i], k->tool, t->column[i]);
    }
    return 0;
}

int lat_chain_columns(lat_chain *c, const lat_table *t)
{
    const lat_table_kind *k = &c->kind;
    char word[LAT_KEY_TEXT];
    int values = 0;
    if (no_role(c, t))
        return -1;
    while (lat_list_word(k->value, values, word))
        values++;
    if (!c->value && !(c->value = lat_alloc((size_t)values + 1, sizeof(int), "columns")))
        return -1;
    c->samples = find(t, k->sample, c->sample, LAT_KEYS);
    c->keys = find(t, k->key, c->key, LAT_KEYS);
    c->fixeds = find(t, k->fixed, c->fixed, LAT_KEYS);
    c->sames = find(t, k->same, c->same, LAT_SAMES);
    c->values = find(t, k->value, c->value, values);
    c->links = lat_names_word(k->sample, "links") ? lat_table_column(t, "links") : -1;
    c->file = lat_names_word(k->sample, "file") ? lat_table_column(t, "file") : -1;
    c->forced = lat_table_column(t, "forced");
    c->theta = lat_table_column(t, "theta");
    return 0;
}

const char *lat_chain_same(const lat_chain *c, const char *column)
{
    char word[LAT_KEY_TEXT];
    for (int i = 0; i < LAT_SAMES && lat_list_word(c->kind.same, i, word); i++)
        if (!strcmp(word, column))
            return c->same_text[i] ? c->same_text[i] : "";
    return "";
}

int lat_chain_value(const lat_chain *c, const char *name)
{
    char word[LAT_KEY_TEXT];
    for (int i = 0; lat_list_word(c->kind.value, i, word); i++)
        if (!strcmp(word, name))
            return i;
    return -1;
}

double lat_chain_mean(const lat_chain *c, const lat_means *m, long sample, long row, int value)
{
    return lat_mean(m, sample, row * c->values + value);
}

const char *lat_chain_cell(const lat_chain *c, long row, int i, char text[LAT_KEY_TEXT])
{
    const char *at = c->rows.name[row];
    for (; i > 0; i--)
        at = strchr(at, '\t') + 1;
    snprintf(text, LAT_KEY_TEXT, "%.*s", (int)strcspn(at, "\t"), at);
    return text;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Cells with a tab between; "-" for a column that is not there. To be freed. */
static char *joined(const lat_table *t, const int *column, int n)
{
    size_t length = 1;
    for (int i = 0; i < n; i++)
        length += (column[i] < 0 ? 1 : strlen(t->cell[column[i]])) + 1;
    char *text = lat_alloc(length, 1, "a row"), *at = text;
    if (!text)
        return NULL;
    *at = '\0';
    for (int i = 0; i < n; i++)
        at += sprintf(at, "%s%s", i ? "\t" : "", column[i] < 0 ? "-" : t->cell[column[i]]);
    return text;
}

/* A key or the like, for a sentence: its blanks are tabs. */
static char *spaced(char *text)
{
    for (char *c = text; (c = strchr(c, '\t'));)
        *c = ' ';
    return text;
}

static int check_same(lat_chain *c, const lat_table *t)
{
    if (c->forced >= 0 && strcmp(t->cell[c->forced], "0") && !c->force)
        return lat_fail("%s: row %ld: expected forced = 0, found %s: links that are not in the "
                        "gauge (--force takes them)",
                        t->name, t->line, t->cell[c->forced]);
    for (int i = 0; i < c->sames; i++) {
        if (c->same[i] < 0)
            continue;
        const char *name = t->column[c->same[i]];
        char *text = t->cell[c->same[i]], *stripped = lat_text_new("%s", text);
        if (!stripped)
            return -1;
        if (c->kind.strip)
            c->kind.strip(name, stripped);
        if (!c->same_text[i]) {
            c->same_text[i] = stripped;
            continue;
        }
        const bool equal = !strcmp(stripped, c->same_text[i]);
        if (!equal)
            lat_fail("%s: row %ld: expected %s %s as before, found %s", t->name, t->line, name,
                     c->same_text[i], stripped);
        free(stripped);
        if (!equal)
            return -1;
    }
    return 0;
}

/* The number of the configuration that a row is of, or -1. */
static long config_of(lat_chain *c, const lat_table *t, int input)
{
    char *text = NULL, *cells;
    if (c->file >= 0) {
        const char *file = t->cell[c->file];
        c->disordered = c->disordered || (c->last_file && strverscmp(c->last_file, file) > 0);
        if (!c->last_file || strcmp(c->last_file, file)) {
            free(c->last_file);
            c->last_file = strdup(file);
        }
    }
    if (c->links >= 0 && strcmp(t->cell[c->links], "unknown"))
        text = lat_text_new("links %s", t->cell[c->links]);
    else if ((cells = joined(t, c->sample, c->samples))) {
        text = lat_text_new("%d %ld %s", input, t->table, cells);
        free(cells);
        if (c->links >= 0 && !c->nameless)
            lat_warn("warning: %s: does not say of which links it is: each propagator counts as a "
                     "configuration",
                     t->name);
        c->nameless = c->nameless || c->links >= 0;
    }
    const long before = c->configs.count, config = text ? lat_names_add(&c->configs, text) : -1;
    free(text);
    if (config < before)
        return config;
    if (lat_grow(&c->of_theta, config, sizeof *c->of_theta, "configurations"))
        return -1;
    c->of_theta[config] = c->theta < 0 ? NAN : strtod(t->cell[c->theta], NULL);
    return config;
}

/* Numbers of one value, as far as texts and rounding go. */
static bool alike(const char *a, const char *b)
{
    if (!strcmp(a, b))
        return true;
    for (;; a++, b++) {
        char *end_a, *end_b;
        const double x = strtod(a, &end_a), y = strtod(b, &end_b);
        if (a == end_a || b == end_b || !(fabs(x - y) <= 1e-9 * (fabs(x) + fabs(y))))
            return false;
        if (*end_a != '\t' || *end_b != '\t')
            return *end_a == *end_b;
        a = end_a;
        b = end_b;
    }
}

/* A row of the results more, in the first configuration. */
static long new_row(lat_chain *c, const char *key, const char *fixed)
{
    const long n = c->rows.count;
    const size_t values = (size_t)c->values;
    if (lat_grow(&c->fixed_text, n, sizeof *c->fixed_text, "rows")
        || lat_grow(&c->members, n, sizeof *c->members, "rows")
        || lat_grow(&c->sum, n, values * sizeof *c->sum, "rows")
        || lat_grow(&c->missing, n, values * sizeof *c->missing, "rows")
        || !(c->fixed_text[n] = lat_text_new("%s", fixed)))
        return -1;
    if (lat_names_add(&c->rows, key) < 0) {
        free(c->fixed_text[n]);
        return -1;
    }
    return n;
}

/* The key that stands for the equivalent ones; to be freed. */
static char *represented(const lat_chain *c, const lat_table *t)
{
    char key[LAT_KEYS][LAT_KEY_TEXT], text[LAT_KEYS * LAT_KEY_TEXT], *at = text;
    for (int i = 0; i < c->keys; i++) {
        const char *cell = c->key[i] < 0 ? "-" : t->cell[c->key[i]];
        if (strlen(cell) >= LAT_KEY_TEXT)
            return lat_fail_null("%s: row %ld: expected less than %d characters, found '%s'",
                                 t->name, t->line, LAT_KEY_TEXT, cell);
        strcpy(key[i], cell);
    }
    if (c->kind.represent && !c->apart)
        c->kind.represent(c, t, key);
    *at = '\0';
    for (int i = 0; i < c->keys; i++)
        at += sprintf(at, "%s%s", i ? "\t" : "", key[i]);
    return lat_text_new("%s", text);
}

/* The number of the raw key of a row, which may be new in the first configuration; or -1. */
static long raw_of(lat_chain *c, const lat_table *t, char *raw, const char *key, const char *fixed)
{
    const long known = lat_names_find(&c->raw, raw);
    if (known >= 0)
        return known;
    if (c->blocks)
        return lat_fail(
            "%s: row %ld: expected the rows that the first configuration has, found one of '%s'",
            t->name, t->line, spaced(raw));
    const long n = c->raw.count;
    if (lat_grow(&c->row_of, n, sizeof *c->row_of, "rows")
        || lat_grow(&c->count, n, sizeof *c->count, "rows")
        || lat_grow(&c->one, n, (size_t)c->values * sizeof *c->one, "rows")
        || lat_grow(&c->had, n, sizeof *c->had, "rows"))
        return -1;
    long row = lat_names_find(&c->rows, key);
    if (row < 0 && (row = new_row(c, key, fixed)) < 0)
        return -1;
    c->row_of[n] = row;
    c->members[row]++;
    return lat_names_add(&c->raw, raw);
}

/* Numbers that are those of another source or configuration to the last digit are the same ones. */
static int look_for_twice(lat_chain *c)
{
    uint64_t print = 14695981039346656037u; /* FNV-1a, of words */
    char text[24];
    if (c->repeated || !c->kind.marks)
        return 0;
    for (long raw = 0; raw < c->raw.count; raw++)
        for (long i = 0; i < c->values && c->had[raw]; i++) {
            uint64_t bits;
            memcpy(&bits, &c->one[raw * c->values + i], sizeof bits);
            print = (print ^ bits ^ (uint64_t)raw) * 1099511628211u;
        }
    snprintf(text, sizeof text, "%016llx", (unsigned long long)print);
    const long before = c->prints.count, n = lat_names_add(&c->prints, text);
    c->repeated = n >= 0 && n < before;
    if (c->repeated) {
        char *name = lat_text_new("%s", c->configs.name[c->config]);
        lat_warn(
            "warning: %s: number %ld (%s) has the numbers of an earlier source or configuration, "
            "to the last digit: is a table, or a configuration, there twice?",
            c->table, c->config + 1, name ? spaced(name) : "");
        free(name);
    }
    return lat_rc(n < 0);
}

/* The rows of a source are complete: they are added to those of the configuration. */
static int end_source(lat_chain *c)
{
    const long values = c->values;
    if (look_for_twice(c))
        return -1;
    if (c->kind.complete && c->kind.complete(c))
        return -1;
    for (long raw = 0; raw < c->raw.count; raw++) {
        if (!c->had[raw])
            continue;
        for (long i = 0; i < values; i++)
            c->sum[c->row_of[raw] * values + i] += c->one[raw * values + i];
        c->count[raw]++;
        c->had[raw] = false;
    }
    return 0;
}

static int add_values(lat_chain *c, const lat_table *t, long raw)
{
    if (c->had[raw] && end_source(c))
        return -1;
    const long row = c->row_of[raw], first = row * c->values;
    const bool fresh = !c->blocks && c->count[raw] == 0 && c->members[row] == 1;
    for (int i = 0; i < c->values; i++) {
        double x = NAN;
        if (c->value[i] >= 0
            && lat_table_number(t, c->value[i], fresh || c->missing[first + i], &x))
            return -1;
        if (fresh)
            c->missing[first + i] = isnan(x);
        if (isnan(x) != c->missing[first + i])
            return lat_fail("%s: row %ld: expected nan in column %s as before, found %g", t->name,
                            t->line, t->column[c->value[i]], x);
        c->one[raw * c->values + i] = x;
    }
    c->had[raw] = true;
    return 0;
}

/* A configuration, or a part of it, is complete: all rows are there, as often. */
static int end_block(lat_chain *c)
{
    const long values = c->values;
    if (c->config < 0)
        return 0;
    if (end_source(c))
        return -1;
    for (long i = 0; i < c->raw.count; i++)
        if (c->count[i] != c->count[0] || c->count[i] == 0) {
            char *config = c->configs.name[c->config];
            return lat_fail("%s: expected as many rows of '%s' as of '%s' in each configuration, "
                            "found %u and %u in number %ld (%s)",
                            c->table, spaced(c->raw.name[i]), spaced(c->raw.name[0]), c->count[i],
                            c->count[0], c->config + 1, spaced(config));
        }
    c->numbers.numbers = c->rows.count * values;
    for (long row = 0; row < c->rows.count; row++)
        for (long i = 0; i < values; i++)
            c->sum[row * values + i] /= (double)c->members[row] * c->count[0];
    if (lat_samples_add(&c->numbers, c->config, c->sum, c->count[0]))
        return -1;
    memset(c->sum, 0, (size_t)c->numbers.numbers * sizeof *c->sum);
    memset(c->count, 0, (size_t)c->raw.count * sizeof *c->count);
    c->blocks++;
    return 0;
}

int lat_chain_row(lat_chain *c, const lat_table *t, int input)
{
    const long config = check_same(c, t) ? -1 : config_of(c, t, input);
    if (config < 0 || (config != c->config && end_block(c)))
        return -1;
    c->config = config;
    if (!c->table || strcmp(c->table, t->name)) {
        free(c->table);
        if (!(c->table = lat_text_new("%s", t->name)))
            return -1;
    }
    char *raw = joined(t, c->key, c->keys), *fixed = joined(t, c->fixed, c->fixeds);
    char *key = raw && fixed ? represented(c, t) : NULL;
    const long n = key ? raw_of(c, t, raw, key, fixed) : -1;
    int rc = n < 0 ? -1 : 0;
    if (!rc && !alike(fixed, c->fixed_text[c->row_of[n]]))
        rc = lat_fail("%s: row %ld: expected %s %s of '%s' as before, found %s", t->name, t->line,
                      c->kind.fixed, spaced(c->fixed_text[c->row_of[n]]), spaced(raw),
                      spaced(fixed));
    rc = rc || add_values(c, t, n);
    LAT_FREE(raw, fixed, key);
    return lat_rc(rc);
}

int lat_chain_end(lat_chain *c)
{
    if (end_block(c))
        return -1;
    return c->blocks ? lat_samples_end(&c->numbers)
                     : lat_fail("expected tables with rows, found none");
}

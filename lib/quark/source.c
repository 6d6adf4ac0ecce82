/* SPDX-License-Identifier: BSD-3-Clause */
/* source.c: sources of quark propagators: their text. */
#include "source_internal.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "common/options.h"

/* ---- reading text ---------------------------------------------------------------------------- */

/* `count` numbers with commas between, and nothing after them: how many there are, or -1. */
static int read_numbers(const char *p, int most, double *v)
{
    char *end;
    for (int i = 0; i < most; i++, p = end + 1) {
        if (isspace((unsigned char)*p))
            return -1;
        v[i] = strtod(p, &end);
        if (end == p || !isfinite(v[i]))
            return -1;
        if (!*end)
            return i + 1;
        if (*end != ',')
            return -1;
    }
    return -1;
}

static bool whole(double v, double least, double most)
{
    return v == floor(v) && v >= least && v <= most;
}

/* A coordinate along mu. */
static int coordinate(const lat_source *s, int mu, double v, int *x)
{
    char dims[64];
    if (!whole(v, 0, s->geom.dims[mu] - 1))
        return lat_fail_usage("source %s: expected a coordinate %c from 0 to %d on lattice %s, "
                              "found %g",
                              s->text, "xyzt"[mu], s -> geom.dims[mu] - 1,
                              lat_dims_text(&s->geom, dims), v);
    *x = (int)v;
    return 0;
}

static int read_site(lat_source *s, const double *v)
{
    for (int mu = 0; mu < 4; mu++)
        if (coordinate(s, mu, v[mu], &s->x[mu]))
            return -1;
    return 0;
}

static int read_gauss(lat_source *s, double width, double times)
{
    lat_source_step *p = &s->step[s->steps++];
    if (!(width >= 0 && width < 1e6) || !whole(times, width > 0, 1e6))
        return lat_fail_usage("source %s: expected gauss:W,N with a width W and a number N of "
                              "steps, found W %g, N %g",
                              s->text, width, times);
    *p = (lat_source_step){.gauss = times > 0 && width > 0, .width = width, .times = (int)times};
    s->steps -= !p->gauss;
    return 0;
}

/* "z4", "t=3", "seed=7", "dilute=spin-colour": a word of noise; what is `given` comes once. */
static int noise_word(lat_source *s, char *word, unsigned *given)
{
    static const char *const names[] = {"spin", "colour", "time", "evenodd"};
    static const char keys[] = "ztsdc";
    const char *key = *word ? strchr(keys, *word) : NULL;
    const unsigned bit = key ? 1u << (key - keys) : 0;
    char *end;
    if (*given & bit)
        return 1;
    *given |= bit;
    if (!strcmp(word, "z2") || !strcmp(word, "z4")) {
        s->roots = word[1] - '0';
        return 0;
    }
    if (!strncmp(word, "t=", 2)) {
        const double t = strtod(word + 2, &end);
        s->everywhere = false;
        return end == word + 2 || *end ? 1 : coordinate(s, 3, t, &s->x[3]);
    }
    if (!strncmp(word, "seed=", 5)) {
        errno = 0;
        s->seed = strtoull(word + 5, &end, 10);
        return !isdigit((unsigned char)word[5]) || *end || errno;
    }
    if (!strncmp(word, "config=", 7)) {
        errno = 0;
        s->config = strtol(word + 7, &end, 10);
        s->numbered = true;
        return !isdigit((unsigned char)word[7]) || *end || errno || s->config > INT_MAX;
    }
    if (strncmp(word, "dilute=", 7))
        return 1;
    for (char *rest = word + 7, *name; (name = strsep(&rest, "-"));) {
        int i = 0;
        while (i < 4 && strcmp(name, names[i]))
            i++;
        if (i == 4 || s->dilute >> i & 1)
            return 1;
        s->dilute |= 1u << i;
    }
    return 0;
}

static int read_noise(lat_source *s, char *list)
{
    unsigned given = 0;
    s->everywhere = true;
    s->seed = 1;
    for (char *word; (word = strsep(&list, ","));) {
        const int rc = noise_word(s, word, &given);
        if (rc > 0)
            return lat_fail_usage("source %s: expected z2 or z4, t=T, seed=S, dilute=spin-colour-"
                                  "time-evenodd, config=N (some of these, each once), found '%s'",
                                  s->text, word);
        if (rc)
            return -1;
    }
    if (!s->roots)
        return lat_fail_usage("source %s: expected noise:z2 or noise:z4", s->text);
    if (s->dilute & LAT_DILUTE_TIME && !s->everywhere)
        return lat_fail_usage("source %s: noise on one slice cannot be diluted in time", s->text);
    return 0;
}

static const struct kind {
    const char *name, *numbers;
    lat_source_shape shape;
    int least, most; /* how many numbers; 0: other words */
    int place;       /* which of them are the site: from this one on; -1: none, or t alone */
} kinds[] = {{"point", "x,y,z,t", LAT_SOURCE_POINT, 4, 4, 0},
             {"wall", "t or t,nx,ny,nz", LAT_SOURCE_WALL, 1, 4, -1},
             {"momentum", "nx,ny,nz,nt", LAT_SOURCE_MOMENTUM, 4, 4, -1},
             {"box", "x,y,z,t,lx,ly,lz", LAT_SOURCE_BOX, 7, 7, 0},
             {"ball", "r,x,y,z,t", LAT_SOURCE_BALL, 5, 5, 1},
             {"gauss", "w,n,x,y,z,t", LAT_SOURCE_GAUSS, 6, 6, 2},
             {"noise", "z4,t=T,seed=S,dilute=..", LAT_SOURCE_NOISE, 0, 0, -1}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static int read_momentum(lat_source *s, const double *v, int count)
{
    const double most = 1e6; /* n x of a phase keeps its digits */
    for (int i = 0; i < count; i++) {
        if (!(fabs(v[i]) <= most))
            return lat_fail_usage("source %s: expected momenta from -1e6 to 1e6, found %g", s->text,
                                  v[i]);
        s->n[i] = v[i];
    }
    return 0;
}

static int read_wall(lat_source *s, int count, const double *v)
{
    if (count != 1 && count != 4)
        return 1;
    if (read_momentum(s, v + 1, count - 1))
        return -1;
    return coordinate(s, 3, v[0], &s->x[3]);
}

static int read_box(lat_source *s, const double *v)
{
    for (int i = 0; i < 3; i++) {
        if (!whole(v[4 + i], 1, s->geom.dims[i]))
            return lat_fail_usage("source %s: expected an extent along %c from 1 to %d, found %g",
                                  s->text, "xyz"[i], s -> geom.dims[i], v[4 + i]);
        s->box[i] = (int)v[4 + i];
    }
    return read_site(s, v);
}

static int read_kind(lat_source *s, const struct kind *k, char *list)
{
    double v[8];
    s->shape = k->shape;
    if (k->shape == LAT_SOURCE_NOISE)
        return read_noise(s, list);
    const int count = read_numbers(list, k->most, v);
    int rc = count < k->least;
    if (rc == 0)
        switch (k->shape) {
        case LAT_SOURCE_POINT: rc = read_site(s, v); break;
        case LAT_SOURCE_WALL: rc = read_wall(s, count, v); break;
        case LAT_SOURCE_BOX: rc = read_box(s, v); break;
        case LAT_SOURCE_GAUSS:
            rc = read_site(s, v + 2) || read_gauss(s, v[0], v[1]) ? -1 : 0;
            break;
        case LAT_SOURCE_MOMENTUM: rc = read_momentum(s, v, 4); break;
        case LAT_SOURCE_BALL:
            s->r = v[0];
            rc = v[0] > 0 ? read_site(s, v + 1) : 1;
            break;
        default: break;
        }
    return rc <= 0 ? rc
                   : lat_fail_usage("source %s: expected %s:%s, found '%s:%s'", s->text, k->name,
                                    k->numbers, k->name, list);
}

static int read_source(lat_source *s, char *word)
{
    char *list = strchr(word, ':');
    if (list)
        *list++ = '\0';
    for (int i = 0; list && i < KINDS; i++)
        if (!strcmp(word, kinds[i].name))
            return read_kind(s, &kinds[i], list);
    return lat_fail_usage("expected a source point:, wall:, momentum:, box:, ball:, gauss: or "
                          "noise:, found '%s'",
                          s->text);
}

static int read_step(lat_source *s, const char *word)
{
    double v[2];
    if (s->steps == LAT_SOURCE_STEPS)
        return lat_fail_usage("source %s: expected at most %d steps", s->text, LAT_SOURCE_STEPS);
    if (!strncmp(word, "gauss:", 6)) {
        if (read_numbers(word + 6, 2, v) == 2)
            return read_gauss(s, v[0], v[1]);
        return lat_fail_usage("%s: expected gauss:W,N, found '%s'", s->text, word);
    }
    lat_source_step *p = &s->step[s->steps++];
    *p = (lat_source_step){.gauss = false};
    if (lat_smear_parse(word, &p->links) == 0)
        return 0;
    char why[512];
    snprintf(why, sizeof why, "%s", lat_error());
    lat_error_clear();
    return lat_fail_usage("%s: a step is gauss:W,N, or smears links for it: %s", s->text, why);
}

static int read_all(lat_source *s, bool sink)
{
    char *copy = strdup(s->text), *rest = copy, *word = sink ? NULL : strsep(&rest, "/");
    int rc = !copy ? lat_fail("out of memory: a source") : sink ? 0 : read_source(s, word);
    while (rc == 0 && rest && (word = strsep(&rest, "/")))
        rc = read_step(s, word);
    free(copy);
    return rc;
}

static lat_source *make(const char *text, const lat_header *head, bool sink)
{
    char dims[64];
    lat_source *s = lat_alloc_zero(1, sizeof *s, "a source");
    if (!s || !(s->text = lat_text_new("%s", text))) {
        lat_source_free(s);
        return NULL;
    }
    s->geom = head->geom;
    s->nc = head->nc;
    if (s->geom.nd != 4)
        lat_fail("lattice %s: quarks are in four dimensions", lat_dims_text(&s->geom, dims));
    if (s->geom.nd != 4 || read_all(s, sink)) {
        lat_source_free(s);
        return NULL;
    }
    return s;
}

lat_source *lat_source_new(const char *text, const lat_header *head)
{
    return make(text, head, false);
}

lat_source *lat_sink_new(const char *text, const lat_header *head)
{
    return make(text, head, true);
}

void lat_source_free(lat_source *s)
{
    if (!s)
        return;
    lat_source_drop_links(s);
    free(s->text);
    free(s);
}

/* ---- what it is ------------------------------------------------------------------------------ */

int lat_source_columns(const lat_source *s)
{
    const unsigned both = LAT_DILUTE_SPIN | LAT_DILUTE_COLOUR;
    return s->shape == LAT_SOURCE_NOISE && (s->dilute & both) != both ? 1 : 4 * s->nc;
}

int lat_source_fields(const lat_source *s)
{
    const bool one = lat_source_columns(s) == 1;
    return (s->dilute & LAT_DILUTE_TIME ? s->geom.dims[3] : 1)
           * (s->dilute & LAT_DILUTE_EVENODD ? 2 : 1) * (one && s->dilute & LAT_DILUTE_SPIN ? 4 : 1)
           * (one && s->dilute & LAT_DILUTE_COLOUR ? s->nc : 1);
}

int lat_source_check_steps(const lat_source *s)
{
    static const char *const links[] = {"ape:", "stout:", "hyp:"};
    const char *slash = strrchr(s->text, '/'), *last = slash ? slash + 1 : s->text;
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        if (!strncmp(last, links[i], strlen(links[i])))
            return lat_fail_usage("%s: expected gauss:W,N after %s, as smeared links are for that "
                                  "step, found none",
                                  s->text, last);
    for (int i = 0; i < s->steps; i++) {
        const double w = s->step[i].width, least = ceil(1.5 * w * w);
        const int n = s->step[i].times;
        if (!s->step[i].gauss || n >= least)
            continue;
        const char *grow = "a step multiplies the highest momenta by up to";
        const double by = 3 * w * w / n - 1;
        if (!lat_opts.force)
            return lat_fail_usage("%s: expected at least %.0f steps for width %g, found %d, of "
                                  "which %s %.3g (--force takes it)",
                                  s->text, least, w, n, grow, by);
        lat_warn("%s: %s %.3g, as %d steps are below %.0f for width %g (--force)", s->text, grow,
                 by, n, least, w);
    }
    return 0;
}

bool lat_source_counts(const lat_source *s) { return s->shape == LAT_SOURCE_NOISE && !s->numbered; }

/* Takes "BEFORE %d" off the end of the text. */
static int number_after(char *text, const char *before)
{
    char *at = strstr(text, before), *end;
    if (!at)
        return -1;
    const long v = strtol(at + strlen(before), &end, 10);
    if (!isdigit((unsigned char)at[strlen(before)]) || *end || v > INT_MAX)
        return -1;
    *at = '\0';
    return (int)v;
}

lat_source *lat_source_named(const char *text, const lat_header *head, int *field, int *column)
{
    char *name = lat_text_new("%s", text);
    lat_source *s = NULL;
    if (name) {
        *column = number_after(name, ", column ");
        const int of = number_after(name, " of ");
        *field = of < 0 ? 0 : number_after(name, " field ");
        s = lat_source_new(name, head);
        if (s
            && (lat_source_fields(s) != (of < 0 ? 1 : of) || *field < 0
                || *field >= lat_source_fields(s) || *column >= lat_source_columns(s))) {
            lat_fail_usage("expected a field and a column of the source, found '%s'", text);
            lat_source_free(s);
            s = NULL;
        }
    }
    free(name);
    return s;
}

/* The slice of noise: a number of its own, or, where it is diluted in time, that of the field. */
static bool noise_slice(const char *text, int *slice)
{
    const char *t = strstr(text, "t="), *dilute = strstr(text, "dilute=");
    const char *field = strstr(text, " field ");
    if (!dilute || !strstr(dilute, "time") || !field) {
        char *end = NULL;
        const double v = t ? strtod(t + 2, &end) : NAN;
        *slice = whole(v, 0, INT_MAX) ? (int)v : 0;
        return end && end != t + 2 && whole(v, 0, INT_MAX);
    }
    if (sscanf(field, " field %d of", slice) != 1 || !strstr(dilute, "spin")
        || !strstr(dilute, "colour"))
        return (*slice = 0);
    *slice /= strstr(dilute, "evenodd") ? 2 : 1;
    return true;
}

unsigned lat_source_place(const char *text, int x[LAT_MAX_DIMS])
{
    char word[256] = "";
    double v[8];
    memset(x, 0, LAT_MAX_DIMS * sizeof *x);
    if (text)
        snprintf(word, sizeof word, "%.*s", (int)strcspn(text, "/ "), text);
    char *list = strchr(word, ':');
    if (!list)
        return 0;
    *list++ = '\0';
    int i = 0;
    while (i < KINDS && strcmp(word, kinds[i].name))
        i++;
    if (i == KINDS || kinds[i].shape == LAT_SOURCE_NOISE)
        return i < KINDS && noise_slice(text, &x[3]) ? 1U << 3 : 0;
    if ((kinds[i].place < 0 && kinds[i].shape != LAT_SOURCE_WALL)
        || read_numbers(list, kinds[i].most, v) < kinds[i].least)
        return 0;
    const double *site = kinds[i].shape == LAT_SOURCE_WALL ? (double[]){0, 0, 0, v[0]}
                                                           : v + kinds[i].place;
    for (int mu = 0; mu < 4; mu++)
        if (!whole(site[mu], 0, INT_MAX))
            return 0;
    for (int mu = 0; mu < 4; mu++)
        x[mu] = (int)site[mu];
    return kinds[i].shape == LAT_SOURCE_WALL ? 1U << 3 : 15;
}

bool lat_source_numbers(const char *text, const char *kind, double v[4])
{
    const size_t length = strlen(kind);
    return !strncmp(text, kind, length) && text[length] == ':'
           && read_numbers(text + length + 1, 4, v) == 4;
}

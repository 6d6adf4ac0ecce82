/* SPDX-License-Identifier: BSD-3-Clause */
/* source.c: sources of quark propagators. */
#include "source.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "base/pages.h"
#include "common/options.h"
#include "gauss.h"
#include "lattice/iterate.h"
#include "site/random.h"
#include "smear/smear.h"

typedef enum { NOTHING, POINT, WALL, MOMENTUM, BOX, BALL, GAUSS, NOISE } shape;
enum { SPIN = 1, COLOUR = 2, TIME = 4, EVENODD = 8 };
enum { MOST_STEPS = 16 };

/* A step: Gaussian smearing, or another kind of links from here on. */
typedef struct step {
    bool gauss;
    double width;
    int times;
    lat_smear links;
    lat_field smeared; /* data NULL: none yet */
} step;

struct lat_source {
    char *text;
    lat_geometry geom;
    int nc;
    shape shape;
    int x[4], box[3];
    double n[4]; /* momentum */
    double r;
    bool everywhere; /* noise on all slices */
    int roots;       /* noise: 2 or 4 */
    uint64_t seed;
    unsigned dilute;
    step step[MOST_STEPS];
    int steps;
    lat_gauss_fn *gauss; /* with `with`; NULL: lat_gauss_slice */
    void *with;
    const lat_field *u;
    long config;   /* random numbers depend on it */
    bool numbered; /* the text says it */
};

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
    step *p = &s->step[s->steps++];
    if (!(width >= 0 && width < 1e6) || !whole(times, width > 0, 1e6))
        return lat_fail_usage("source %s: expected gauss:W,N with a width W and a number N of "
                              "steps, found W %g, N %g",
                              s->text, width, times);
    *p = (step){.gauss = times > 0 && width > 0, .width = width, .times = (int)times};
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
    if (s->dilute & TIME && !s->everywhere)
        return lat_fail_usage("source %s: noise on one slice cannot be diluted in time", s->text);
    return 0;
}

static const struct kind {
    const char *name, *numbers;
    shape shape;
    int least, most; /* how many numbers; 0: other words */
    int place;       /* which of them are the site: from this one on; -1: none, or t alone */
} kinds[] = {{"point", "x,y,z,t", POINT, 4, 4, 0},
             {"wall", "t or t,nx,ny,nz", WALL, 1, 4, -1},
             {"momentum", "nx,ny,nz,nt", MOMENTUM, 4, 4, -1},
             {"box", "x,y,z,t,lx,ly,lz", BOX, 7, 7, 0},
             {"ball", "r,x,y,z,t", BALL, 5, 5, 1},
             {"gauss", "w,n,x,y,z,t", GAUSS, 6, 6, 2},
             {"noise", "z4,t=T,seed=S,dilute=..", NOISE, 0, 0, -1}};
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
    if (k->shape == NOISE)
        return read_noise(s, list);
    const int count = read_numbers(list, k->most, v);
    int rc = count < k->least;
    if (rc == 0)
        switch (k->shape) {
        case POINT: rc = read_site(s, v); break;
        case WALL: rc = read_wall(s, count, v); break;
        case BOX: rc = read_box(s, v); break;
        case GAUSS: rc = read_site(s, v + 2) || read_gauss(s, v[0], v[1]) ? -1 : 0; break;
        case MOMENTUM: rc = read_momentum(s, v, 4); break;
        case BALL:
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
    if (s->steps == MOST_STEPS)
        return lat_fail_usage("source %s: expected at most %d steps", s->text, MOST_STEPS);
    if (!strncmp(word, "gauss:", 6)) {
        if (read_numbers(word + 6, 2, v) == 2)
            return read_gauss(s, v[0], v[1]);
        return lat_fail_usage("%s: expected gauss:W,N, found '%s'", s->text, word);
    }
    step *p = &s->step[s->steps++];
    *p = (step){.gauss = false};
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
    lat_source *s = calloc(1, sizeof *s);
    if (s)
        s->text = strdup(text);
    if (!s || !s->text) {
        lat_fail("out of memory: a source");
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

static void drop_links(lat_source *s)
{
    for (int i = 0; i < s->steps; i++)
        if (s->step[i].smeared.data)
            lat_field_free(&s->step[i].smeared);
}

void lat_source_free(lat_source *s)
{
    if (!s)
        return;
    drop_links(s);
    free(s->text);
    free(s);
}

/* ---- what it is ------------------------------------------------------------------------------ */

int lat_source_columns(const lat_source *s)
{
    const unsigned both = SPIN | COLOUR;
    return s->shape == NOISE && (s->dilute & both) != both ? 1 : 4 * s->nc;
}

int lat_source_fields(const lat_source *s)
{
    const bool one = lat_source_columns(s) == 1;
    return (s->dilute & TIME ? s->geom.dims[3] : 1) * (s->dilute & EVENODD ? 2 : 1)
           * (one && s->dilute & SPIN ? 4 : 1) * (one && s->dilute & COLOUR ? s->nc : 1);
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

bool lat_source_counts(const lat_source *s) { return s->shape == NOISE && !s->numbered; }

/* The text of a header: of field number `field`, where there are several (" field 3 of 8"); noise
 * says of which configuration it is, if not 0 (",config=3"): other numbers are another source. The
 * caller frees it. NULL without memory. */
static char *header_text(const lat_source *s, int field)
{
    char *text = NULL;
    char number[32] = "", part[64] = "";
    const int fields = lat_source_fields(s), source = (int)strcspn(s->text, "/");
    if (lat_source_counts(s) && s->config > 0)
        snprintf(number, sizeof number, ",config=%ld", s->config);
    if (fields > 1)
        snprintf(part, sizeof part, " field %d of %d", field, fields);
    const int rc = asprintf(&text, "%.*s%s%s%s", source, s->text, number, s->text + source, part);
    if (rc < 0)
        lat_fail("out of memory: the text of a source");
    return rc < 0 ? NULL : text;
}

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
    char *name = strdup(text);
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
    } else
        lat_fail("out of memory: a source");
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
    if (i == KINDS || kinds[i].shape == NOISE)
        return i < KINDS && noise_slice(text, &x[3]) ? 1U << 3 : 0;
    if ((kinds[i].place < 0 && kinds[i].shape != WALL)
        || read_numbers(list, kinds[i].most, v) < kinds[i].least)
        return 0;
    const double *site = kinds[i].shape == WALL ? (double[]){0, 0, 0, v[0]} : v + kinds[i].place;
    for (int mu = 0; mu < 4; mu++)
        if (!whole(site[mu], 0, INT_MAX))
            return 0;
    for (int mu = 0; mu < 4; mu++)
        x[mu] = (int)site[mu];
    return kinds[i].shape == WALL ? 1U << 3 : 15;
}

bool lat_source_numbers(const char *text, const char *kind, double v[4])
{
    const size_t length = strlen(kind);
    return !strncmp(text, kind, length) && text[length] == ':'
           && read_numbers(text + length + 1, 4, v) == 4;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* The number of field `field` in what is diluted, the first slowest. */
typedef struct part {
    int time, parity, spin, colour; /* -1: all */
} part;

static part part_of(const lat_source *s, int field, int column)
{
    const bool one = lat_source_columns(s) == 1;
    part p = {-1, -1, -1, -1};
    if (!one) {
        p.spin = column / s->nc;
        p.colour = column % s->nc;
    }
    if (one && s->dilute & COLOUR) {
        p.colour = field % s->nc;
        field /= s->nc;
    }
    if (one && s->dilute & SPIN) {
        p.spin = field % 4;
        field /= 4;
    }
    if (s->dilute & EVENODD) {
        p.parity = field % 2;
        field /= 2;
    }
    if (s->dilute & TIME)
        p.time = field;
    else if (s->shape == NOISE && !s->everywhere)
        p.time = s->x[3];
    return p;
}

static void phase(const lat_source *s, const int *x, int axes, double z[2])
{
    double angle = 0;
    for (int mu = 0; mu < axes; mu++) {
        /* n x / L without its whole part: exact for whole n. */
        const double turns = s->n[mu] * x[mu] / s->geom.dims[mu];
        angle += turns - floor(turns);
    }
    z[0] = cos(2 * M_PI * angle);
    z[1] = sin(2 * M_PI * angle);
}

/* exp(-d^2 / r^2), d to the nearest image in space. */
static double ball(const lat_source *s, const int *x)
{
    double d2 = 0;
    for (int i = 0; i < 3; i++) {
        const int L = s->geom.dims[i], d = abs(x[i] - s->x[i]);
        d2 += pow(d < L - d ? d : L - d, 2);
    }
    return exp(-d2 / (s->r * s->r));
}

static bool in_box(const lat_source *s, const int *x)
{
    for (int i = 0; i < 3; i++)
        if ((x[i] - s->x[i] + s->geom.dims[i]) % s->geom.dims[i] >= s->box[i])
            return false;
    return true;
}

/* The value at x, for all spins and colours but of noise. False where it is zero. */
static bool value(const lat_source *s, const int *x, double z[2])
{
    z[0] = 1;
    z[1] = 0;
    if (s->shape == MOMENTUM) {
        phase(s, x, 4, z);
        return true;
    }
    if (x[3] != s->x[3])
        return false;
    switch (s->shape) {
    case WALL: phase(s, x, 3, z); return true;
    case BOX: return in_box(s, x);
    case BALL: z[0] = ball(s, x); return true;
    default: return !memcmp(x, s->x, sizeof s->x);
    }
}

/* A power of i, or of -1: the two highest bits, or the highest, of a word for this site, spin and
 * colour. */
static void noise(const lat_source *s, uint64_t site, int component, double z[2])
{
    static const double roots[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    uint32_t w[4];
    lat_random(s->seed, site, (uint32_t)s->config, LAT_FOR_SOURCE, (uint32_t)component, w);
    memcpy(z, roots[s->roots == 4 ? w[0] >> 30 : (w[0] >> 31) * 2], sizeof roots[0]);
}

static void noise_site(const lat_source *s, const part *p, const int *x, uint64_t site, double *psi)
{
    if ((p->time >= 0 && x[3] != p->time)
        || (p->parity >= 0 && (x[0] + x[1] + x[2] + x[3]) % 2 != p->parity))
        return;
    for (int spin = 0; spin < 4; spin++)
        for (int c = 0; c < s->nc; c++) {
            const int drawn = (s->dilute & SPIN ? 0 : spin * s->nc) + (s->dilute & COLOUR ? 0 : c);
            if ((p->spin < 0 || p->spin == spin) && (p->colour < 0 || p->colour == c))
                noise(s, site, drawn, psi + 2 * (spin * s->nc + c));
        }
}

/* The same on own slices of `slab` alone, counted from this rank's first. */
static int make_slices(const lat_source *s, int field, int column, lat_slab slab, double *psi)
{
    const size_t slice = lat_slice_sites(&s->u->head), sites = slice * (size_t)slab.count,
                 first = slice * (size_t)slab.first, reals = 8 * (size_t)s->nc;
    const part p = part_of(s, field, column);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < sites; i++) {
        int x[LAT_MAX_DIMS];
        const size_t site = lat_field_site(s->u, first + i);
        double z[2], *at = psi + i * reals;
        lat_coordinates(&s->geom, site, x);
        memset(at, 0, reals * sizeof *at);
        if (s->shape == NOISE)
            noise_site(s, &p, x, site, at);
        else if (value(s, x, z))
            memcpy(at + 2 * column, z, sizeof z);
    }
    for (int t = 0; s->steps && t < slab.count; t++)
        if (lat_sink_smear(s, slab.first + t, 1, psi + (size_t)t * slice * reals))
            return -1;
    return 0;
}

int lat_source_make(const lat_source *s, int field, int column, double *psi)
{
    return make_slices(s, field, column, (lat_slab){0, lat_field_slab(s->u).count}, psi);
}

/* The own slices, counted from this rank's first, on which a field is not zero. */
static lat_slab slices_of(const lat_source *s, int field)
{
    const lat_slab own = lat_field_slab(s->u);
    const part p = part_of(s, field, 0);
    const bool all = s->shape == MOMENTUM || (s->shape == NOISE && p.time < 0);
    const int t = (s->shape == NOISE ? p.time : s->x[3]) - own.first;
    return all                       ? (lat_slab){0, own.count}
           : t >= 0 && t < own.count ? (lat_slab){t, 1}
                                     : (lat_slab){0, 0};
}

static int make_columns(const lat_source *s, int field, lat_field *b)
{
    const lat_slab slab = slices_of(s, field);
    const size_t slice = lat_slice_sites(&b->head), sites = slice * (size_t)slab.count,
                 first = slice * (size_t)slab.first, n = 8 * (size_t)s->nc;
    const int columns = lat_source_columns(s);
    lat_pages_zero(b->data, lat_field_reals(b) * sizeof(double));
    b->zeros.first = slab.first;
    b->zeros.last = lat_field_slab(b).count - slab.first - slab.count;
    if (slab.count == 0)
        return 0;
    double *psi = lat_alloc(sites, n * sizeof *psi, "a source");
    int rc = psi ? 0 : -1;
    for (int c = 0; rc == 0 && c < columns; c++) {
        rc = make_slices(s, field, c, slab, psi);
        if (rc)
            break;
#pragma omp parallel for schedule(static)
        for (size_t i = 0; i < sites; i++)
            lat_field_put(b, (first + i) * (size_t)columns + (size_t)c, psi + i * n);
    }
    free(psi);
    return rc;
}

int lat_source_field(const lat_source *s, int field, lat_field *b)
{
    const lat_header *links = &s->u->head;
    const int columns = lat_source_columns(s);
    memset(b, 0, sizeof *b);
    if (lat_header_copy(&b->head, links))
        return -1;
    b->head.real = LAT_F64;
    b->head.order = (lat_order){.sites = ""};
    lat_header_make_spinors(&b->head, columns == 1 ? LAT_SPINOR : LAT_PROPAGATOR, columns);
    if (links->kind == LAT_GAUGE)
        strcpy(b->head.quark.links, lat_header_links_crc(links));
    char *text = header_text(s, field);
    const int rc = !text || lat_quark_set_source(&b->head.quark, text)
                           || lat_field_alloc(b, s->u->comm) || make_columns(s, field, b)
                       ? -1
                       : 0;
    free(text);
    if (rc)
        lat_field_free(b);
    return rc;
}

/* ---- steps ----------------------------------------------------------------------------------- */

int lat_source_begin(lat_source *s, const lat_field *u, long config)
{
    char a[64], b[64];
    drop_links(s);
    if (memcmp(&u->head.geom, &s->geom, sizeof s->geom) || u->head.nc != s->nc)
        return lat_fail("source %s is for SU(%d) on %s, the links are SU(%d) on %s", s->text, s->nc,
                        lat_dims_text(&s->geom, a), u->head.nc, lat_dims_text(&u->head.geom, b));
    if (s->steps && (u->head.kind != LAT_GAUGE || !u->data))
        return lat_fail("source %s: smearing needs links", s->text);
    s->u = u;
    s->config = s->numbered ? s->config : config;
    const lat_field *links = u;
    for (int i = 0; i < s->steps; i++)
        if (!s->step[i].gauss) {
            if (lat_smear_links(links, &s->step[i].links, &s->step[i].smeared))
                return -1;
            links = &s->step[i].smeared;
        }
    return 0;
}

int lat_source_gauss_steps(const lat_source *s)
{
    int n = 0;
    for (int i = 0; i < s->steps; i++)
        n += s->step[i].gauss ? s->step[i].times : 0;
    return n;
}

void lat_source_smear_by(lat_source *s, lat_gauss_fn *fn, void *with)
{
    s->gauss = fn;
    s->with = with;
}

static int gauss(const lat_source *s, const step *p, const lat_field *u, int t, int columns,
                 double *psi)
{
    return s->gauss ? s->gauss(s->with, u, t, p->width, p->times, columns, psi)
                    : lat_gauss_slice(u, t, p->width, p->times, columns, psi);
}

static bool zero(const double *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (v[i] != 0)
            return false;
    return true;
}

int lat_sink_smear(const lat_source *s, int t, int columns, double *psi)
{
    const lat_field *links = s->u;
    if (zero(psi, lat_slice_sites(&s->u->head) * (size_t)columns * 8 * (size_t)s->nc))
        return 0;
    for (int i = 0; i < s->steps; i++)
        if (!s->step[i].gauss)
            links = &s->step[i].smeared;
        else if (gauss(s, &s->step[i], links, t, columns, psi))
            return -1;
    return 0;
}

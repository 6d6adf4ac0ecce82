/* SPDX-License-Identifier: BSD-3-Clause */
/* stat_equal.c: which rows of a table are equal but for noise, by the symmetries of the lattice.
 * Where a table does not say that a symmetry holds, rows stay apart. */
#include "stat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "stat/quark_boundary.h"

/* A whole number, all of a text. */
static bool whole(const char *text, int *n)
{
    char *end;
    const long x = strtol(text, &end, 10);
    *n = (int)x;
    return *text && !*end && labs(x) < 1 << 20;
}

/* Whole numbers with commas between: how many, or -1. */
static int list(const char *text, int most, int *n)
{
    char word[32];
    int count = 0;
    for (;; text++) {
        const size_t length = strcspn(text, ",");
        if (count == most || length >= sizeof word)
            return -1;
        memcpy(word, text, length);
        word[length] = '\0';
        if (!whole(word, &n[count++]))
            return -1;
        if (!*(text += length))
            return count;
    }
}

/* n becomes the member that stands for its orbit: no component negative, falling along axes of one
 * class from `first` on (as lat_gluon_representative). */
static void representative(int nd, const int *class, int first, int *n)
{
    for (int i = 0; i < nd; i++)
        n[i] = abs(n[i]);
    for (int pass = 0; pass < nd; pass++)
        for (int i = first; i < nd; i++)
            for (int j = i + 1; j < nd; j++)
                if (class[i] == class[j] && n[i] < n[j]) {
                    const int larger = n[j];
                    n[j] = n[i];
                    n[i] = larger;
                }
}

/* ---- hadrons --------------------------------------------------------------------------------- */

/* Is the text, up to the next step of a source, this word, perhaps with something behind a colon?
 */
static bool begins(const char *text, const char *word)
{
    const size_t n = strlen(word);
    return !strncmp(text, word, n) && (!text[n] || text[n] == ':' || text[n] == '/');
}

/* Are all steps of smearing the same for all directions of space? */
static bool isotropic_steps(const char *step)
{
    for (; step; step = strchr(step, '/')) {
        step += *step == '/';
        if (!begins(step, "gauss") && !begins(step, "ape") && !begins(step, "stout")
            && !begins(step, "hyp"))
            return false;
    }
    return true;
}

/* Sources without a direction or a momentum, by their text without a place. */
static bool isotropic(const char *source, const char *sink)
{
    const size_t n = strcspn(source, "/");
    const bool kind = begins(source, "point") || begins(source, "ball") || begins(source, "noise")
                      || (n == 4 && begins(source, "wall")) || !strncmp(source, "wall:0:0:0", 10);
    return kind && (!source[n] || isotropic_steps(source + n))
           && (!strcmp(sink, "none") || isotropic_steps(sink));
}

/* Axes of space that may be exchanged have one class; false where no momentum may be reflected. */
static bool classes(const lat_chain *c, int class[3])
{
    const char *operators = lat_chain_same(c, "operator");
    int extent[4];
    if (list(lat_chain_same(c, "dims"), 4, extent) != 4
        || strstr(lat_chain_same(c, "ensemble"), "xi_axis")
        || !isotropic(lat_chain_same(c, "source"), lat_chain_same(c, "sink")))
        return false;
    for (int i = 0; i < 3; i++) {
        const char b = lat_quark_boundary(operators, i);
        if (!b)
            return false;
        class[i] = 2 * extent[i] + (b == 'a');
    }
    return true;
}

/* The direction of rho_x and the like, else -1; -2: of a channel that may have a sign. */
static int direction(const char *channel)
{
    static const char *const vectors[] = {"rho_", "a1_", "b1_"};
    for (int i = 0; i < 3; i++) {
        const size_t n = strlen(vectors[i]);
        const char *axis = strlen(channel) == n + 1 ? strchr("xyz", channel[n]) : NULL;
        if (!strncmp(channel, vectors[i], n) && axis)
            return (int)(axis - "xyz");
    }
    return strchr(channel, ':') ? -2 : -1;
}

void stat_equal_hadrons(const lat_chain *c, const lat_table *t, char key[LAT_KEYS][LAT_KEY_TEXT])
{
    int n[3], class[3], d = direction(key[0]);
    (void)t;
    for (int i = 0; i < 3; i++)
        if (!whole(key[1 + i], &n[i]))
            return;
    if (d == -2 || !classes(c, class))
        return;
    if (d >= 0) {
        int first = 0;
        while (class[first] != class[d])
            first++;
        const int along = n[d];
        n[d] = n[first];
        n[first] = along;
        d = first;
    }
    /* The direction stays where it is; the other two are sorted. */
    const int aside = class[d >= 0 ? d : 0];
    if (d >= 0)
        class[d] = -1;
    representative(3, class, 0, n);
    const bool rest = !n[0] && !n[1] && !n[2], all = class[1] == class[2] && aside == class[1];
    if (d >= 0)
        strcpy(strrchr(key[0], '_'), rest && all ? "" : (const char *[]){"_x", "_y", "_z"}[d]);
    for (int i = 0; i < 3; i++)
        sprintf(key[1 + i], "%d", n[i]);
}

/* The text of a source without its place, the numbers of noise and the number of a field. */
void stat_strip_source(const char *column, char *text)
{
    char *field = strstr(text, " field "), *steps, rest[1024], *out = text;
    if (strcmp(column, "source"))
        return;
    if (field)
        *field = '\0';
    steps = strchr(text, '/');
    snprintf(rest, sizeof rest, "%s", steps ? steps : "");
    if (steps)
        *steps = '\0';
    char *colon = strchr(text, ':'), *word, *left = colon ? colon + 1 : NULL;
    char copy[1024];
    snprintf(copy, sizeof copy, "%s", left ? left : "");
    left = copy;
    const bool noise = begins(text, "noise"), point = begins(text, "point"),
               gauss = begins(text, "gauss"), ball = begins(text, "ball"),
               wall = begins(text, "wall"), box = begins(text, "box");
    if (!colon || !(noise || point || gauss || ball || wall || box)) {
        strcat(text, rest);
        return;
    }
    *colon = '\0';
    out = colon;
    if (gauss)
        out = text + sprintf(text, "point/gauss");
    for (int i = 0; (word = strsep(&left, ",")); i++) {
        const bool kept = noise ? strncmp(word, "t=", 2) && strncmp(word, "seed=", 5)
                                      && strncmp(word, "config=", 7)
                          : gauss ? i < 2
                          : ball  ? i == 0
                                  : !point && i >= (wall ? 1 : 4);
        if (kept)
            out += sprintf(out, "%c%s", i && (noise || gauss) ? ',' : ':', word);
    }
    strcpy(out, rest);
}

/* ---- momenta of gluons and ghosts ------------------------------------------------------------ */

/* In Landau gauge with equal weights: momentum n has this square. */
static bool equal_weights(int nd, const int *extent, const int *n, double square)
{
    double sum = 0;
    for (int i = 0; i < nd; i++)
        sum += 4 * pow(sin(M_PI * n[i] / extent[i]), 2);
    return fabs(sum - square) <= 1e-9 * (sum + square);
}

static bool landau(const lat_chain *c, const lat_table *t, const char *column, const int *n, int nd)
{
    const int at = lat_table_column(t, column);
    int extent[4];
    return !strcmp(lat_chain_same(c, "gauge"), "landau")
           && list(lat_chain_same(c, "dims"), 4, extent) == nd && at >= 0
           && equal_weights(nd, extent, n, strtod(t->cell[at], NULL));
}

/* On an anisotropic lattice time is another direction, whatever its extent. */
static void orbit(const lat_chain *c, int nd, int *n)
{
    const char *xi = strstr(lat_chain_same(c, "ensemble"), "xi ");
    int class[4];
    list(lat_chain_same(c, "dims"), 4, class);
    if (strstr(lat_chain_same(c, "ensemble"), "xi_axis")) {
        for (int i = 0; i < nd; i++)
            class[i] = -i;
    } else if (xi && strtod(xi + 3, NULL) != 1) {
        class[nd - 1] = -1;
    }
    representative(nd, class, 0, n);
}

void stat_equal_ghosts(const lat_chain *c, const lat_table *t, char key[LAT_KEYS][LAT_KEY_TEXT])
{
    int n[4], extent[4], nd = list(lat_chain_same(c, "dims"), 4, extent);
    for (int i = 0; i < 4; i++)
        if (!whole(key[i], &n[i]))
            return;
    if (nd < 1 || !landau(c, t, "k2", n, nd))
        return;
    orbit(c, nd, n);
    for (int i = 0; i < nd; i++)
        sprintf(key[i], "%d", n[i]);
}

void stat_equal_gluons(const lat_chain *c, const lat_table *t, char key[LAT_KEYS][LAT_KEY_TEXT])
{
    int n[4], nd = list(key[1], 4, n);
    if (nd < 1 || !landau(c, t, "phat2", n, nd))
        return;
    orbit(c, nd, n);
    char *at = key[1];
    for (int i = 0; i < nd; i++)
        at += sprintf(at, "%s%d", i ? "," : "", n[i]);
}

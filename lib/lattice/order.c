/* SPDX-License-Identifier: BSD-3-Clause */
/* order.c: orders by name and as text, and an iterator over the objects of a stream. */
#include "order.h"

#include <stdio.h>
#include <string.h>
#include "base/error.h"

#define PARITY 'p'
#define LINKS 'l'
#define COLUMNS 'c'

static const char axes[] = "xyzt";

static bool of_objects(char letter) { return letter == LINKS || letter == COLUMNS; }

/* The letter of these objects, '\0' where a site has one. */
static char letter_of(lat_order_objects objects)
{
    return objects == LAT_ORDER_LINKS ? LINKS : objects == LAT_ORDER_COLUMNS ? COLUMNS : '\0';
}

/* ---- lists of axes --------------------------------------------------------------------------- */

static int axis_of(char letter, int nd)
{
    const char *p = letter ? strchr(axes, letter) : NULL;
    return p && p - axes < nd ? (int)(p - axes) : -1;
}

int lat_axes_parse(const char *text, int nd, int list[LAT_MAX_DIMS])
{
    int n = 0;
    for (;; text++) {
        const int axis = axis_of(*text, nd);
        for (int i = 0; i < n; i++)
            if (list[i] == axis)
                return -1;
        if (axis < 0)
            return -1;
        list[n++] = axis;
        if (text[1] == ',')
            text++;
        else if (!text[1])
            return n;
    }
}

/* ---- an order as letters --------------------------------------------------------------------- */

/* Each axis once, parity before one, links (or columns) before something: canonical, or -1. */
static int check_sites(const char *letters, int nd)
{
    int seen = 0, parity = 0, objects = 0, axis;
    for (const char *p = letters; *p; p++) {
        if (*p == PARITY && seen < (1 << nd) - 1)
            parity++;
        else if (of_objects(*p) && p[1])
            objects++;
        else if ((axis = axis_of(*p, nd)) >= 0 && !(seen & 1 << axis))
            seen |= 1 << axis;
        else
            return -1;
    }
    return seen == (1 << nd) - 1 && parity <= 1 && objects <= 1 ? 0 : -1;
}

/* From slowest to fastest: "tzyx". */
static void natural_sites(char *letters, int nd)
{
    for (int mu = nd - 1; mu >= 0; mu--)
        *letters++ = axes[mu];
    *letters = '\0';
}

static int set_sites(lat_order *o, const char *letters, int nd)
{
    char natural[LAT_MAX_DIMS + 1];
    if (check_sites(letters, nd))
        return -1;
    natural_sites(natural, nd);
    strcpy(o->sites, strcmp(letters, natural) ? letters : "");
    return 0;
}

static int set_links(lat_order *o, const char *letters, int nd)
{
    int list[LAT_MAX_DIMS];
    if (lat_axes_parse(letters, nd, list) != nd || strchr(letters, ','))
        return -1;
    strcpy(o->links, memcmp(letters, axes, (size_t)nd) ? letters : "");
    return 0;
}

/* Has the list no other objects than these? */
static bool fits_objects(const char *letters, lat_order_objects objects)
{
    for (; *letters; letters++)
        if (of_objects(*letters) && *letters != letter_of(objects))
            return false;
    return true;
}

bool lat_order_fits(const lat_order *o, int nd, lat_order_objects objects)
{
    int list[LAT_MAX_DIMS];
    if (o->sites[0] && (check_sites(o->sites, nd) || !fits_objects(o->sites, objects)))
        return false;
    return !o->links[0]
           || (objects == LAT_ORDER_LINKS && !strchr(o->links, ',')
               && lat_axes_parse(o->links, nd, list) == nd);
}

/* ---- text ------------------------------------------------------------------------------------ */

static const char *word_of(char letter)
{
    static const char *const words[] = {"x", "y", "z", "t"};
    return letter == PARITY    ? "parity"
           : letter == LINKS   ? "links"
           : letter == COLUMNS ? "columns"
                               : words[axis_of(letter, LAT_MAX_DIMS)];
}

/* Words to letters, with one of `separators` between two; -1 if one is unknown or there are too
 * many. */
static int letters_of(const char *text, const char *separators, char letters[LAT_MAX_DIMS + 3])
{
    static const char known[] = "xyztplc";
    for (size_t n = 0; n < LAT_MAX_DIMS + 2; n++) {
        const size_t length = strcspn(text, separators);
        const char *k = known;
        while (*k && (strlen(word_of(*k)) != length || memcmp(text, word_of(*k), length)))
            k++;
        if (!*k)
            return -1;
        letters[n] = *k;
        letters[n + 1] = '\0';
        if (!text[length])
            return 0;
        text += length + 1;
    }
    return -1;
}

static const char *text_of(const char *letters, char buf[LAT_ORDER_TEXT])
{
    int n = 0;
    buf[0] = '\0';
    for (const char *p = letters; *p; p++)
        n += snprintf(buf + n, LAT_ORDER_TEXT - (size_t)n, "%s%s", n ? " " : "", word_of(*p));
    return buf;
}

const char *lat_order_sites_text(const lat_order *o, int nd, char buf[LAT_ORDER_TEXT])
{
    char natural[LAT_MAX_DIMS + 1];
    natural_sites(natural, nd);
    return text_of(o->sites[0] ? o->sites : natural, buf);
}

const char *lat_order_links_text(const lat_order *o, int nd, char buf[LAT_ORDER_TEXT])
{
    char natural[LAT_MAX_DIMS + 1];
    snprintf(natural, sizeof natural, "%.*s", nd, axes);
    return text_of(o->links[0] ? o->links : natural, buf);
}

int lat_order_read_sites(lat_order *o, const char *text, int nd, lat_order_objects objects)
{
    char letters[LAT_MAX_DIMS + 3];
    return lat_rc(letters_of(text, " ", letters) || !fits_objects(letters, objects)
                  || set_sites(o, letters, nd));
}

int lat_order_read_links(lat_order *o, const char *text, int nd)
{
    char letters[LAT_MAX_DIMS + 3];
    return letters_of(text, " ", letters) ? -1 : set_links(o, letters, nd);
}

/* ---- options --------------------------------------------------------------------------------- */

/* T: the last axis, time; S: the others, x fastest; F: the others, x slowest. Named after the
 * patterns of arXiv:1212.5221, section 4.2.1. */
static const struct {
    const char *name, *pattern;
} named[] = {
    {"natural", "TS"},  {"standard", "TF"},   {"reversed", "FT"},
    {"parity", "plTS"}, {"timeslice", "TlS"}, {"timeslice-parity", "TplS"},
};

/* In one dimension the slice is a site: there is nothing to split. */
static void expand(const char *pattern, int nd, char *letters)
{
    for (const char *p = pattern; *p; p++) {
        if (*p == 'T')
            *letters++ = axes[nd - 1];
        for (int mu = nd - 2; *p == 'S' && mu >= 0; mu--)
            *letters++ = axes[mu];
        for (int mu = 0; *p == 'F' && mu < nd - 1; mu++)
            *letters++ = axes[mu];
        if (*p == LINKS || (*p == PARITY && (nd > 1 || p == pattern)))
            *letters++ = *p;
    }
    *letters = '\0';
}

/* Takes away a word of objects at the end of the list, where they are anyway, or one that the field
 * does not have. */
static void drop_objects(char *letters, lat_order_objects objects)
{
    char *to = letters;
    for (const char *p = letters; *p; p++)
        if (!of_objects(*p) || (*p == letter_of(objects) && p[1]))
            *to++ = *p;
    *to = '\0';
}

int lat_order_parse_sites(lat_order *o, const char *text, int nd, lat_order_objects objects)
{
    char letters[LAT_MAX_DIMS + 3] = "", *links;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (!strcmp(text, named[i].name)) {
            expand(named[i].pattern, nd, letters);
            if (objects == LAT_ORDER_COLUMNS && (links = strchr(letters, LINKS)))
                *links = COLUMNS;
        }
    if (!letters[0] && letters_of(text, ", ", letters))
        return -1;
    drop_objects(letters, objects);
    return set_sites(o, letters, nd);
}

int lat_order_parse_links(lat_order *o, const char *text, int nd)
{
    char letters[LAT_MAX_DIMS + 1] = "";
    int list[LAT_MAX_DIMS];
    if (lat_axes_parse(text, nd, list) != nd)
        return -1;
    for (int i = 0; i < nd; i++)
        letters[i] = axes[list[i]];
    return set_links(o, letters, nd);
}

/* ---- the iterator --------------------------------------------------------------------------- */

typedef struct lat_order_level level;

/* The number of matrices of the levels below `l`. Of a box of V sites (V + 1) / 2 are even: the
 * numbers of even and odd sites differ by one if all extents are odd, and are equal otherwise. */
static size_t below(const level *l, int parity)
{
    return (parity < 0 ? l->volume : (l->volume + 1 - (size_t)parity) / 2) * l->objects;
}

/* The parity that the coordinates of the levels below must have, with this digit. */
static int parity_below(const level *l, size_t digit)
{
    if (l->what == PARITY)
        return (int)digit;
    return l->parity < 0 || of_objects(l->what) ? l->parity : l->parity ^ (int)(digit & 1);
}

static size_t base_below(const lat_order_iterator *w, const level *l)
{
    return l->base + (l->what == LINKS && w->permuted ? w->link[l->digit] : l->digit * l->stride);
}

/* Sets the first digit, from `digit` on, that has matrices below it; false if there is none. */
static bool set_digit(level *l, size_t digit)
{
    while (digit < l->extent && below(l, parity_below(l, digit)) == 0)
        digit++;
    l->digit = digit;
    return digit < l->extent;
}

/* Base and parity of level k, from the level above. */
static void inherit(lat_order_iterator *w, int k)
{
    w->level[k].base = k ? base_below(w, &w->level[k - 1]) : 0;
    w->level[k].parity = k ? parity_below(&w->level[k - 1], w->level[k - 1].digit) : -1;
}

static void describe(lat_order_iterator *w, const lat_order *o, const lat_geometry *geom,
                     int objects)
{
    char letters[LAT_MAX_DIMS + 3];
    size_t stride[LAT_MAX_DIMS], volume = 1, each = 1;
    natural_sites(letters, geom->nd);
    if (o->sites[0])
        strcpy(letters, o->sites);
    if (objects > 1 && !strchr(letters, LINKS) && !strchr(letters, COLUMNS))
        strcat(letters, "l");
    stride[0] = (size_t)objects;
    for (int mu = 1; mu < geom->nd; mu++)
        stride[mu] = stride[mu - 1] * (size_t)geom->dims[mu - 1];
    w->permuted = o->links[0] != '\0';
    for (int i = 0; w->permuted && i < geom->nd; i++)
        w->link[i] = (size_t)axis_of(o->links[i], geom->nd);
    w->levels = (int)strlen(letters);
    for (int k = w->levels - 1; k >= 0; k--) {
        const int axis = axis_of(letters[k], geom->nd);
        level *l = &w->level[k];
        *l = (level){.what = letters[k], .volume = volume, .objects = each};
        l->stride = axis >= 0 ? stride[axis] : of_objects(letters[k]) ? 1 : 0;
        l->extent = axis >= 0              ? (size_t)geom->dims[axis]
                    : letters[k] == PARITY ? 2
                                           : (size_t)objects;
        volume *= axis >= 0 ? l->extent : 1;
        each *= of_objects(letters[k]) ? l->extent : 1;
    }
}

void lat_order_start(lat_order_iterator *w, const lat_order *o, const lat_geometry *geom,
                     int objects, size_t i)
{
    describe(w, o, geom, objects);
    for (int k = 0; k < w->levels; k++) {
        level *l = &w->level[k];
        inherit(w, k);
        if (l->parity >= 0 && !of_objects(l->what)) { /* even and odd digits alternate below */
            const size_t two = l->volume * l->objects;
            l->digit = 2 * (i / two);
            i %= two;
        } else if (l->what == PARITY) {
            l->digit = 0;
        } else {
            const size_t one = below(l, l->parity);
            l->digit = i / one;
            i %= one;
            continue;
        }
        const size_t first = below(l, parity_below(l, l->digit));
        if (i >= first) {
            i -= first;
            l->digit++;
        }
    }
    w->matrix = base_below(w, &w->level[w->levels - 1]);
}

void lat_order_next(lat_order_iterator *w)
{
    int k = w->levels - 1;
    while (k >= 0 && !set_digit(&w->level[k], w->level[k].digit + 1))
        k--;
    if (k < 0)
        return;
    for (k++; k < w->levels; k++) {
        inherit(w, k);
        set_digit(&w->level[k], 0);
    }
    w->matrix = base_below(w, &w->level[w->levels - 1]);
}

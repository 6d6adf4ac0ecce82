/* SPDX-License-Identifier: BSD-3-Clause */
/* xml.c: values out of a small XML document, by expat. */
#include <ctype.h>
#include <expat.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "xml.h"
#include "base/error.h"

typedef struct parse_state {
    XML_Parser parser;
    const char *tag; /* the elements that are asked for; NULL: the children of the root */
    lat_xml_child *each;
    void *context;
    char *text; /* as long as the document */
    size_t length;
    int depth; /* inside an element of that name, or inside the root: 1, in its children 2, .. */
    bool stopped, doctype;
} parse_state;

/* The depth at which text is collected. */
static int wanted(const parse_state *w) { return w->tag ? 1 : 2; }

static void XMLCALL on_start(void *data, const XML_Char *name,
                             LAT_UNUSED const XML_Char **attributes)
{
    parse_state *w = data;
    const char *colon = strrchr(name, ':');
    if (w->depth || !w->tag || strcmp(colon ? colon + 1 : name, w->tag) == 0)
        if (++w->depth == wanted(w))
            w->length = 0;
}

static void XMLCALL on_stop(void *data, const XML_Char *name)
{
    parse_state *w = data;
    if (!w->depth || w->depth-- != wanted(w) || w->stopped)
        return;
    w->text[w->length] = 0;
    w->stopped = w->each(w->context, name, w->text) < 0;
    if (w->stopped)
        XML_StopParser(w->parser, XML_FALSE);
}

static void XMLCALL on_text(void *data, const XML_Char *piece, int n)
{
    parse_state *w = data;
    if (w->depth != wanted(w))
        return;
    memcpy(w->text + w->length, piece, (size_t)n);
    w->length += (size_t)n;
}

static void XMLCALL on_doctype(void *data, LAT_UNUSED const XML_Char *name,
                               LAT_UNUSED const XML_Char *sys, LAT_UNUSED const XML_Char *pub,
                               LAT_UNUSED int internal)
{
    ((parse_state *)data)->doctype = true;
    XML_StopParser(((parse_state *)data)->parser, XML_FALSE);
}

/* 0; -1 and `why`, of `size` bytes. */
static int parse(const char *document, size_t n, const char *tag, lat_xml_child *each,
                 void *context, char *why, size_t size)
{
    n = strnlen(document, n);
    while (n && isspace((unsigned char)*document)) {
        document++;
        n--;
    }
    /* No text is longer than the document, as there are no entities of its own. */
    parse_state w = {.parser = XML_ParserCreate(NULL),
                     .tag = tag,
                     .each = each,
                     .context = context,
                     .text = malloc(n + 1)};
    int rc = -1;
    snprintf(why, size, LAT_XML_NO_MEMORY);
    if (w.parser && w.text) {
        XML_SetUserData(w.parser, &w);
        XML_SetElementHandler(w.parser, on_start, on_stop);
        XML_SetCharacterDataHandler(w.parser, on_text);
        XML_SetStartDoctypeDeclHandler(w.parser, on_doctype);
        rc = XML_Parse(w.parser, document, (int)n, XML_TRUE) == XML_STATUS_OK ? 0 : -1;
        snprintf(why, size, "%s",
                 rc == 0 || w.stopped ? ""
                 : w.doctype          ? "a document type is not accepted"
                                      : XML_ErrorString(XML_GetErrorCode(w.parser)));
    }
    if (w.parser)
        XML_ParserFree(w.parser);
    free(w.text);
    return rc;
}

int lat_xml_each(const char *document, size_t n, lat_xml_child *each, void *context,
                 char why[LAT_XML_WHY])
{
    return parse(document, n, NULL, each, context, why, LAT_XML_WHY);
}

/* ---- one element ----------------------------------------------------------------------------- */

typedef struct first {
    char *text;
    size_t size;
    bool found, overlong, twice;
} first;

static int take_first(void *context, LAT_UNUSED const char *tag, const char *text)
{
    first *f = context;
    while (isspace((unsigned char)*text))
        text++;
    size_t n = strlen(text);
    while (n && isspace((unsigned char)text[n - 1]))
        n--;
    if (f->overlong || n >= f->size) {
        f->overlong = true;
    } else if (f->found) {
        f->twice = f->twice || strlen(f->text) != n || memcmp(f->text, text, n) != 0;
    } else {
        f->found = true;
        memcpy(f->text, text, n);
        f->text[n] = 0;
    }
    return 0;
}

int lat_xml_text(const char *document, size_t n, const char *tag, char *text, size_t size)
{
    char why[LAT_XML_WHY];
    first f = {.text = text, .size = size};
    const int rc = parse(document, n, tag, take_first, &f, why, sizeof why);
    if (rc == 0 && !f.overlong) {
        if (!f.found)
            *text = 0;
        return f.twice ? LAT_XML_TWICE : f.found;
    }
    snprintf(text, size, "%s", f.overlong ? "a value is too long" : why);
    return -1;
}

/* ---- known elements -------------------------------------------------------------------------- */

typedef struct names {
    const char *const *known;
    bool strange;
} names;

static void XMLCALL compare_name(void *data, const XML_Char *name,
                                 LAT_UNUSED const XML_Char **attributes)
{
    names *s = data;
    const char *const *known = s->known;
    while (*known && strcmp(*known, name) != 0)
        known++;
    s->strange = s->strange || !*known;
}

bool lat_xml_only(const char *document, size_t n, const char *const *known)
{
    names s = {.known = known};
    XML_Parser parser = XML_ParserCreate(NULL);
    if (!parser)
        return false;
    XML_SetUserData(parser, &s);
    XML_SetElementHandler(parser, compare_name, NULL);
    const enum XML_Status status = XML_Parse(parser, document, (int)n, XML_TRUE);
    XML_ParserFree(parser);
    return status == XML_STATUS_OK && !s.strange;
}

/* ---- attributes ------------------------------------------------------------------------------ */

void lat_xml_drop_attributes(char *document)
{
    char *to = document;
    const char *from = document, *end;
    while (*from) {
        const bool declaration = from[0] == '<' && from[1] == '?',
                   element = from[0] == '<' && isalpha((unsigned char)from[1]);
        if (declaration && (end = strstr(from, "?>"))) {
            from = end + 2;
        } else if (element && (end = strchr(from, '>'))) {
            const size_t name = strcspn(from, " \t\r\n/>");
            memmove(to, from, name);
            to += name;
            from = end - (end[-1] == '/');
        } else {
            *to++ = *from++;
        }
    }
    *to = 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* xml.c: values out of a small XML document, by expat. */
#include <ctype.h>
#include <expat.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "xml.h"

typedef struct search {
    XML_Parser parser;
    const char *tag;
    char *text;
    size_t size, length;
    int depth; /* inside the element: 1, in its children 2, ... */
    bool found, overlong, doctype;
} search;

static void XMLCALL start(void *data, const XML_Char *name, const XML_Char **attributes)
{
    search *s = data;
    const char *colon = strrchr(name, ':');
    (void)attributes;
    if (s->depth)
        s->depth++;
    else if (!s->found && strcmp(colon ? colon + 1 : name, s->tag) == 0) {
        s->found = true;
        s->depth = 1;
    }
}

static void XMLCALL stop(void *data, const XML_Char *name)
{
    search *s = data;
    (void)name;
    if (s->depth)
        s->depth--;
}

static void XMLCALL collect(void *data, const XML_Char *piece, int n)
{
    search *s = data;
    if (s->depth != 1)
        return;
    if (s->length + (size_t)n >= s->size) {
        s->overlong = true;
        return;
    }
    memcpy(s->text + s->length, piece, (size_t)n);
    s->length += (size_t)n;
}

static void XMLCALL doctype(void *data, const XML_Char *name, const XML_Char *sys,
                            const XML_Char *pub, int internal)
{
    search *s = data;
    (void)name;
    (void)sys;
    (void)pub;
    (void)internal;
    s->doctype = true;
    XML_StopParser(s->parser, XML_FALSE);
}

static void trim(search *s)
{
    size_t from = 0;
    while (s->length && isspace((unsigned char)s->text[s->length - 1]))
        s->length--;
    while (from < s->length && isspace((unsigned char)s->text[from]))
        from++;
    memmove(s->text, s->text + from, s->length - from);
    s->text[s->length - from] = 0;
}

int lat_xml_text(const char *document, size_t n, const char *tag, char *text, size_t size)
{
    search s = {.parser = XML_ParserCreate(NULL), .tag = tag, .text = text, .size = size};
    if (!s.parser) {
        snprintf(text, size, "out of memory");
        return -1;
    }
    n = strnlen(document, n);
    while (n && isspace((unsigned char)*document)) {
        document++;
        n--;
    }
    XML_SetUserData(s.parser, &s);
    XML_SetElementHandler(s.parser, start, stop);
    XML_SetCharacterDataHandler(s.parser, collect);
    XML_SetStartDoctypeDeclHandler(s.parser, doctype);
    enum XML_Status status = XML_Parse(s.parser, document, (int)n, XML_TRUE);
    int found = s.found;
    if (status != XML_STATUS_OK || s.overlong) {
        snprintf(text, size, "%s",
                 s.doctype    ? "a document type is not accepted"
                 : s.overlong ? "a value is too long"
                              : XML_ErrorString(XML_GetErrorCode(s.parser)));
        found = -1;
    } else {
        trim(&s);
    }
    XML_ParserFree(s.parser);
    return found;
}

/* ---- known elements -------------------------------------------------------------------------- */

typedef struct names {
    const char *const *known;
    bool strange;
} names;

static void XMLCALL compare_name(void *data, const XML_Char *name, const XML_Char **attributes)
{
    names *s = data;
    const char *const *known = s->known;
    (void)attributes;
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

/* ---- every child of the root ----------------------------------------------------------------- */

typedef struct parse_state {
    XML_Parser parser;
    lat_xml_child *each;
    void *context;
    char *text; /* as long as the document */
    size_t length;
    int depth; /* inside the root: 1, in its children 2, ... */
    bool stopped;
} parse_state;

static void XMLCALL on_start(void *data, const XML_Char *name, const XML_Char **attributes)
{
    parse_state *w = data;
    (void)name;
    (void)attributes;
    if (++w->depth == 2)
        w->length = 0;
}

static void XMLCALL on_stop(void *data, const XML_Char *name)
{
    parse_state *w = data;
    if (w->depth-- != 2 || w->stopped)
        return;
    w->text[w->length] = 0;
    w->stopped = w->each(w->context, name, w->text) < 0;
    if (w->stopped)
        XML_StopParser(w->parser, XML_FALSE);
}

static void XMLCALL on_text(void *data, const XML_Char *piece, int n)
{
    parse_state *w = data;
    if (w->depth != 2)
        return;
    memcpy(w->text + w->length, piece, (size_t)n);
    w->length += (size_t)n;
}

static void XMLCALL on_doctype(void *data, const XML_Char *name, const XML_Char *sys,
                               const XML_Char *pub, int internal)
{
    (void)name;
    (void)sys;
    (void)pub;
    (void)internal;
    XML_StopParser(((parse_state *)data)->parser, XML_FALSE);
}

int lat_xml_each(const char *document, size_t n, lat_xml_child *each, void *context,
                 char why[LAT_XML_WHY])
{
    n = strnlen(document, n);
    /* No text is longer than the document, as there are no entities of its own. */
    parse_state w = {
        .parser = XML_ParserCreate(NULL), .each = each, .context = context, .text = malloc(n + 1)};
    int rc = -1;
    snprintf(why, LAT_XML_WHY, LAT_XML_NO_MEMORY);
    if (w.parser && w.text) {
        XML_SetUserData(w.parser, &w);
        XML_SetElementHandler(w.parser, on_start, on_stop);
        XML_SetCharacterDataHandler(w.parser, on_text);
        XML_SetStartDoctypeDeclHandler(w.parser, on_doctype);
        rc = XML_Parse(w.parser, document, (int)n, XML_TRUE) == XML_STATUS_OK ? 0 : -1;
        snprintf(why, LAT_XML_WHY, "%s",
                 rc == 0 || w.stopped ? "" : XML_ErrorString(XML_GetErrorCode(w.parser)));
    }
    if (w.parser)
        XML_ParserFree(w.parser);
    free(w.text);
    return rc;
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

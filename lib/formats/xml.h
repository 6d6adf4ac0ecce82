/* SPDX-License-Identifier: BSD-3-Clause */
/* xml.h: values out of a small XML document, by expat. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* text = the text of the first element `tag` (a namespace prefix is ignored), without blanks at
 * both ends. The document may begin with blanks and ends at its first NUL. A document type is not
 * accepted, so there are no entities to expand.
 * Returns 1; 0 if there is no such element; -1 if the document is not well-formed or the text
 * longer than size - 1: then text is a few words about it; LAT_XML_TWICE if another element of this
 * name has another text. */
#define LAT_XML_TWICE (-2)
int lat_xml_text(const char *document, size_t n, const char *tag, char *text, size_t size);

/* Are all elements of the document among `known`, which ends with NULL? */
bool lat_xml_only(const char *document, size_t n, const char *const *known);

/* Calls each(context, tag, text) for every child of the root element, with all of its text: 0; -1
 * if the document is not well-formed or memory is out, or what `each` returns below 0. `why`, of
 * LAT_XML_WHY bytes, then is a few words, or "" after `each`. */
#define LAT_XML_WHY 80
#define LAT_XML_NO_MEMORY "out of memory" /* why, as expat says it */
typedef int lat_xml_child(void *context, const char *tag, const char *text);
int lat_xml_each(const char *document, size_t n, lat_xml_child *each, void *context,
                 char why[LAT_XML_WHY]);

/* Takes all attributes of all elements, and the declaration, out of a document that ends with a
 * NUL. A quote that is missing among them goes with them: some writers leave one out. */
void lat_xml_drop_attributes(char *document);

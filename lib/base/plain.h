/* SPDX-License-Identifier: BSD-3-Clause */
/* plain.h: characters of a text that is not trusted, such as a file name or a line of a header. */
#pragma once

/* Number of bytes of the character (UTF-8; bytes that are none count one by one) at s, which is not
 * the end. Negative if it is a control character, of ASCII or of Latin 1 (U+0080 to U+009F), or one
 * that changes the direction of text: it is not to reach a terminal. */
int lat_plain_length(const char *s);

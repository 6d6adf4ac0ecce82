/* SPDX-License-Identifier: BSD-3-Clause */
/* record.h: what our header says about the gauge, as pairs of key and value, and the history, for
 * formats that can hold lines or elements of ours. */
#pragma once

#include <stdio.h>
#include "lattice/header.h"

/* Calls line(to, key, value) for "gauge", "weights", "functional", "theta" and "sweeps", in this
 * order and each where it says something; for no gauge not at all. */
typedef void lat_record_line(FILE *to, const char *key, const char *value);
void lat_record_gauge(const lat_header *head, lat_record_line *line, FILE *to);

/* Takes one of these pairs into the header: 1; 0 where the key is none of them; -1 with a sentence
 * that begins with `name`. lat_header_check says afterwards whether they fit together. */
int lat_record_take(const char *name, lat_header *head, const char *key, const char *value);

/* The history as lines LAT_HISTORY_i = ".." of a NERSC header, continued by LAT_HISTORY_i_k = "..".
 * GLU reads 48 lines of 126 characters: of a long history the newest lines are printed. */
void lat_record_history(const lat_lines *history, FILE *to);

/* Takes the text between quotes as a line of the history; with `more` it continues the last one. */
int lat_record_take_history(lat_header *head, bool more, char *value);

/* SPDX-License-Identifier: BSD-3-Clause */
/* lime_record.h: scidac-record-xml as lat-convert writes it beside links: plaquette and link trace,
 * gauge, info and history. The means vouch that it is about these links, because programs copy the
 * record of what they read. */
#pragma once

#include "format.h"
#include "lime.h"

/* Does the record whose data come next begin as ours does? 0 or -1. */
int lat_lime_next_is_ours(lat_input *in, bool *ours);

/* What it says, into the header and into *r. 0 or -1. */
int lat_lime_take_ours(const lat_lime_xml *x, lat_header *head, lat_read_context *r);

/* Is this text a record of ours? As it is for `head`: to be freed, or NULL with lat_error set. */
bool lat_lime_is_ours(const char *text);
char *lat_lime_record_text(const lat_header *head);

int lat_lime_write_ours(lat_output *out, const lat_header *head);

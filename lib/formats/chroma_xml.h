/* SPDX-License-Identifier: BSD-3-Clause */
/* chroma_xml.h: operator and source of a propagator in the record XML of Chroma. */
#pragma once

#include "common/io.h"
#include "lattice/header.h"

/* What the record XML says, in the header: of isotropic Wilson and clover operators, on thin or
 * stout links (FermState), the operator with its boundary; of others the boundary alone; nothing
 * where phases are spread over the links (TWISTED_FERMBC). Beside a boundary also the source, of a
 * point, smeared by Gaussian steps or not, and of a wall; and the links_crc that we write. 0, or
 * -1 without memory. */
int lat_chroma_fermion(const char *xml, lat_header *head);

/* The record, as Chroma's ForwardProp and PropSource have it, as far as it is known: a text to be
 * freed, or NULL with lat_error set. */
char *lat_chroma_record(const lat_header *h);

/* What of a header the record states, when it is read again. 0 or -1. */
int lat_chroma_keeps(const lat_header *head, lat_header *kept);

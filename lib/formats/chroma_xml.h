/* SPDX-License-Identifier: BSD-3-Clause */
/* chroma_xml.h: the operator of a propagator in the record XML of Chroma. */
#pragma once

#include "common/io.h"
#include "lattice/header.h"

/* What the record XML says, in the header: of isotropic Wilson and clover operators, on thin or
 * stout links (FermState), the operator with its boundary; of others the boundary alone; nothing
 * where phases are spread over the links (TWISTED_FERMBC). 0, or -1 without memory. */
int lat_chroma_fermion(const char *xml, lat_header *head);

/* The record, as Chroma's ForwardProp has it, as far as it is known. 0 or -1. */
int lat_chroma_write_fermion(lat_output *out, const lat_header *h);

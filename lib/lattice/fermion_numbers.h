/* SPDX-License-Identifier: BSD-3-Clause */
/* fermion_numbers.h: the numbers of a Dirac operator, one after the other, for what reads, compares
 * or prints all of them (fermion.c). */
#pragma once

#include "fermion.h"

/* By name, in the order of docs/format.md. */
enum {
    LAT_FERMION_MASS,
    LAT_FERMION_CSW,
    LAT_FERMION_CSW_T,
    LAT_FERMION_XI,
    LAT_FERMION_NU,
    LAT_FERMION_TWIST,
    LAT_FERMION_CF,
    LAT_FERMION_M0,
    LAT_FERMION_NUMBERS
};
extern const char *const lat_fermion_names[LAT_FERMION_NUMBERS];
double *lat_fermion_number(lat_fermion *f, int i);

/* Is it another one than that of isotropic Wilson quarks of this csw? Of the mass: yes. */
bool lat_fermion_unusual(const lat_fermion *f, int i);

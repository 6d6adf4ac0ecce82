/* SPDX-License-Identifier: BSD-3-Clause */
/* solve.h: D x = b for the overlap operator.
 *
 * D^+ D commutes with gamma5, and D^+ D = D D^+. So b is split by chirality, D D^+ y = b is solved
 * by conjugate gradients in each chirality, with one sign function an iteration, and x = D^+ y. The
 * residual is then computed from its definition with full accuracy. The rest is solved for in the
 * same way, until it is below the target.
 *
 * Low modes that the operator has been given (deflate.h) are solved for directly, in each of these
 * steps.
 *
 * Where the sign function is so coarse that its square is not 1, D D^+ is the product of the two.
 *
 * While the residual r of conjugate gradients falls, the sign function may have an error up to
 * .01 goal/|r| (van den Eshof, Sleijpen, van Gijzen, Phys. Rev. D 70 (2004) 014502: relaxed
 * methods). The goal is a thousandth of |r|, or the target. There r is made anew, with a sign
 * function that is accurate enough for the target, and the directions continue. So iterations take
 * errors of 1e-5 to .01, lower degrees, and, with `mixed` of overlap.h, single precision. */
#pragma once

#include "overlap.h"
#include "wilson/wilson.h"

/* Like lat_wilson_solve; `solver` and `delta` of the job are not read. Columns are at most the
 * columns of the operator. */
int lat_overlap_solve(lat_overlap *o, const lat_wilson_job *job, lat_solve_report *report,
                      lat_wilson_cost *cost);

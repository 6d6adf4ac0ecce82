/* SPDX-License-Identifier: BSD-3-Clause */
/* sum_order.h: the order in which numbers of sites are added up on the CPU. It depends on the
 * lattice alone, not on lanes, threads and ranks.
 *
 * A slice is cut into boxes as a lattice is for vectors (grid/layout.h): 16, or as many as there
 * can be. A part is the sites of one parity in a box; they are added up in natural order, then
 * parts in pairs, pairs of these in pairs, and so on, then the even and the odd sites of a slice.
 * Lanes run in boxes as large as these or larger, so that whole vectors can be added: a bundle is a
 * list of blocks, each lane of which has a part of its own, and all of it. Where lanes do not run
 * in boxes, a bundle is one part, site by site.
 *
 * Ranks that cut slices have whole boxes of them, so a rank's parts are branches of that tree. */
#pragma once

#include <stdint.h>
#include "grid/reduce.h"

enum { LAT_SUM_BOXES = 16 }; /* of a slice, at most */

typedef struct lat_sum_order {
    int slices, boxes;      /* of this rank; of its part of a slice, a power of 2 */
    lat_reduce_parts parts; /* of a slice on all ranks: even and odd ones apart; 1 each if whole */
    int width;              /* lanes of a bundle: all, or 1 */
    int bundles[3];         /* even ones are before bundles[1], odd ones from there to bundles[2] */
    int64_t *first;         /* [bundles + 1]: where a bundle begins in `item` */
    int32_t *item;          /* blocks; or positions, block * lanes + lane, if width is 1 */
    int32_t *part;          /* [bundles][width]: (parity * slices + slice) * boxes + box */
} lat_sum_order;

/* Of a grid on the CPU. 0, or -1 with lat_error set; to be freed in either case. */
int lat_sum_order_fill(lat_sum_order *o, const lat_grid *grid);
void lat_sum_order_free(lat_sum_order *o);

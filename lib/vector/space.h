/* SPDX-License-Identifier: BSD-3-Clause */
/* space.h: batches of spinors on a device, and their linear algebra.
 *
 * A batch is one field (grid/grid.h) of `columns` right-hand sides; layout.h says where its numbers
 * lie. It covers all sites; an operation works on sites of one parity, or on both, and on the
 * columns that it is given: those that have converged are left out. What it does to a column does
 * not depend, to the last bit, on the other columns, on threads or on ranks.
 *
 * Inside, spins are those of a basis with gamma_t = diag(1, 1, -1, -1); on the CPU upper =
 * (a + b)/sqrt 2, lower = (a - b)/sqrt 2, where a and b are the upper and the lower two spins in
 * the basis of DeGrand and Rossi, which host fields have. gamma5 exchanges upper and lower. The
 * change is unitary: norms and products are those of the host's.
 *
 * Scalars are arrays by column number, and only those of active columns are read or written.
 * Norms and products are added up in double, in an order that depends on the lattice alone (on the
 * CPU: cpu/sum_order.h).
 *
 * A space has a table of functions of its device. They return 0 or a pointer, or -1 or NULL with
 * lat_error set. Every rank of the device calls every function. C and C++.
 *
 *     lat_space *s = lat_space_open(grid, 3, 12);
 *     lat_dfield *x = lat_vector_new(s, "the solution");
 *     const int all[] = {0, 1, .. 11};
 *     const lat_part odd = {LAT_ODD, 12, all};
 *     double norm[12];
 *     s->ops->axpby(s, &odd, a, x, NULL, y, norm);
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "grid/grid.h"
#include "vector/layout.h"
#include "vector/scalars.h"

#define LAT_VECTOR_TERMS 16 /* fields of axpys and dots, at most */
#define LAT_VECTOR_MODES 64 /* fields that products and combine of a GPU read in one pass */

typedef enum { LAT_EVEN, LAT_ODD, LAT_BOTH } lat_parity;

/* What an operation works on. The columns are in ascending order. */
typedef struct lat_part {
    lat_parity parity;
    int columns;
    const int *column; /* [columns] */
} lat_part;

/* for (k = each of these columns). */
#define LAT_FOR_COLUMNS(k, p) \
    for (int k##_at = 0, k; k##_at < (p)->columns && (k = (p)->column[k##_at], true); k##_at++)

extern const int lat_column_numbers[LAT_VECTOR_COLUMNS]; /* 0, 1, 2, .. */
extern const lat_part lat_first_column;                  /* column 0, even and odd */

/* Where all batches have the same shape. The device's own struct begins with it. */
typedef struct lat_space {
    const struct lat_vector_ops *ops;
    lat_grid *grid;
    int nc, columns;
    lat_vector_layout layout;
    bool ahead;                          /* the host reads scalars an iteration late (scalars.h) */
    const struct lat_temporal *temporal; /* borrowed; NULL: fields have the gauge of hosts */
} lat_space;

/* <x, y> is the sum of conj(x) y; |x|^2 = <x, x>. Scalars a, b .. have `columns` numbers; NULL
 * stands for 1. Norms and products that are NULL are not computed. Different names are different
 * fields. */
typedef struct lat_vector_ops {
    lat_space *(*open)(lat_grid *grid, int nc, int columns);
    void (*close)(lat_space *s); /* the grid stays */

    /* Of lat_spinors_put and _get: a host field that is checked, of the sites of this rank. */
    int (*put)(lat_space *s, const lat_part *p, lat_dfield *x, const lat_field *host,
               const int *object);
    int (*get)(lat_space *s, const lat_part *p, const lat_dfield *x, lat_field *host,
               const int *object);

    int (*zero)(lat_space *s, const lat_part *p, lat_dfield *x);
    int (*copy)(lat_space *s, const lat_part *p, const lat_dfield *x, lat_dfield *y);

    /* Independent Gaussian numbers with mean 0 and |.|^2 = 1 each (complex), counted by seed,
     * column number and site. */
    int (*random)(lat_space *s, const lat_part *p, uint64_t seed, lat_dfield *x);

    /* x <- gamma5 x */
    int (*gamma5)(lat_space *s, const lat_part *p, lat_dfield *x);

    /* y <- a x + b y, and |y|^2; where b is 0, y is not read */
    int (*axpby)(lat_space *s, const lat_part *p, const lat_scalar *a, const lat_dfield *x,
                 const lat_scalar *b, lat_dfield *y, double *norm);

    /* y <- y + sum_j a[j] x[j], j < n, and |y|^2 */
    int (*axpys)(lat_space *s, const lat_part *p, int n, const lat_scalar *const *a,
                 const lat_dfield *const *x, lat_dfield *y, double *norm);

    /* dot[j] = <x[j], y>, j < n, and |y|^2; n may be 0 */
    int (*dots)(lat_space *s, const lat_part *p, int n, const lat_dfield *const *x,
                const lat_dfield *y, lat_scalar *const *dot, double *norm);

    /* Projections. The w are any number of fields of a space of one column on the same grid, each
     * of which stands for all columns, and is read once for all of them; scalars of w[j] and column
     * c are at [j * s->columns + c]. In single or in double.
     *
     * dot = <w[j], y>;  y <- y + sum_j a w[j] */
    int (*products)(lat_space *s, const lat_part *p, int n, const lat_dfield *const *w,
                    const lat_dfield *y, lat_scalar *dot);
    int (*combine)(lat_space *s, const lat_part *p, int n, const lat_scalar *a,
                   const lat_dfield *const *w, lat_dfield *y);

    /* y <- y + a x */
    int (*add)(lat_space *s, const lat_part *p, lat_coefficient a, const lat_dfield *x,
               lat_dfield *y);

    /* CG, also for each shift: x <- x + a dir, then dir <- c r + b dir. Real coefficients. In half
     * x may be in single, of a space of that with as many columns. */
    int (*cg)(lat_space *s, const lat_part *p, lat_coefficient a, lat_coefficient b,
              lat_coefficient c, lat_dfield *x, lat_dfield *dir, const lat_dfield *r);

    /* BiCGstab, end of an iteration, with alpha, omega and beta of these scalars: x <- x + alpha
     * dir + omega r, r <- r - omega t, dir <- r + beta (dir - omega v); LAT_STEP_NORM of new r. */
    int (*bicgstab)(lat_space *s, const lat_part *p, lat_scalars *by, lat_dfield *x, lat_dfield *r,
                    lat_dfield *dir, const lat_dfield *t, const lat_dfield *v);

    /* dot = <e, x>, the shadow of x: e is 1 or -1 at each site and spin, for all colours, by chance
     * (shadow.h), the same vector in all columns and fields of a lattice on a kind of device. */
    int (*shadow)(lat_space *s, const lat_part *p, const lat_dfield *x, lat_scalar *dot);

    /* y <- x, where x is of the space `from`, on a grid of the same lattice and device with another
     * storage, or the same, and in the same gauge: rounded once. For mixed precision; called with
     * the space of y. Where one of both spaces has a single column, that is taken for the column of
     * p, the only one. */
    int (*convert)(lat_space *s, const lat_part *p, const lat_space *from, const lat_dfield *x,
                   lat_dfield *y);

    const lat_scalar_ops *scalars;

    /* Where a site is in layout.h, by its natural index among those of this rank. */
    int64_t (*position)(const lat_space *s, size_t site);

    /* n bytes of a batch as they lie in the memory of this rank, to the host. */
    int (*bytes)(const lat_space *s, const lat_dfield *x, size_t from, size_t n, void *to);
} lat_vector_ops;

extern const lat_vector_ops lat_vector_cpu, lat_vector_gpu;

/* Batches of 1 to LAT_VECTOR_COLUMNS columns for SU(2) and SU(3) on four-dimensional lattices.
 * Borrows the grid (across -1, spinors). */
lat_space *lat_space_open(lat_grid *grid, int nc, int columns);

/* The same in the temporal gauge (temporal.h), which is borrowed; NULL: in that of hosts. */
lat_space *lat_space_open_in(lat_grid *grid, int nc, int columns,
                             const struct lat_temporal *temporal);
void lat_space_close(lat_space *s); /* its batches are freed before; NULL is allowed */

/* Do GPUs of these ranks take it? Several, where slices of t have a multiple of 64 sites, where
 * ranks cut z, too, planes in z have, and where they cut y their parts have whole bricks (faces.h).
 */
bool lat_space_gpu_takes(const lat_geometry *lattice, const lat_comm *comm);

/* Colours of a spinor in a device's memory: on a GPU 3, where the third one of SU(2) is zero. */
int lat_spinor_colours(const lat_device *dev, int nc);

/* A batch of zeros; lat_dfield_free. `what` is for messages about memory. */
lat_dfield *lat_vector_new(lat_space *s, const char *what);

/* Of zeros at the sites of one parity, or of both. The others are undefined; on a CPU they take no
 * memory while nobody writes them, and on a GPU they are not to be touched: they may be those of
 * another batch. */
lat_dfield *lat_vector_new_of(lat_space *s, lat_parity parity, const char *what);

/* v[0] .. v[n - 1], NULL before, become batches of zeros. 0, or -1 with lat_error set: then some
 * are NULL. lat_vector_free_all takes those, and NULL for the list. */
int lat_vector_new_all(lat_space *s, int n, lat_dfield **v, const char *what);
void lat_vector_free_all(int n, lat_dfield *const *v);

/* A batch whose numbers are undefined, for what writes all sites first; of one parity, or of both.
 */
lat_dfield *lat_vector_raw(lat_space *s, const char *what);
lat_dfield *lat_vector_raw_of(lat_space *s, lat_parity parity, const char *what);

/* The numbers of `random` at a site, in the basis of host fields: [8 nc]. */
void lat_spinor_draw(uint64_t seed, uint64_t site, int column, int nc, double *spinor);

/* Of sites first .. first+count-1, with 3 colours: [count][24] (grid/staging.h). */
void lat_spinor_draw_sites(uint64_t seed, int column, int nc, size_t first, size_t count,
                           double *to);

/* Spinors of a host field (lattice/field.h) to the columns of p, and back: own sites, both parities
 * whatever p says; one rounding to the storage, besides those of the change of basis and gauge.
 * object: by column, which one of a site of the host field. */
int lat_spinors_put(lat_space *s, const lat_part *p, lat_dfield *x, const lat_field *host,
                    const int *object);
int lat_spinors_get(lat_space *s, const lat_part *p, const lat_dfield *x, lat_field *host,
                    const int *object);

/* Of one column. */
int lat_spinor_put(lat_space *s, lat_dfield *x, int column, const lat_field *host, int object);
int lat_spinor_get(lat_space *s, const lat_dfield *x, int column, lat_field *host, int object);

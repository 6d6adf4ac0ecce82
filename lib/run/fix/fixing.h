/* SPDX-License-Identifier: BSD-3-Clause */
/* fixing.h: the run of lat-orelax and lat-anneal. Configurations are read, each with one start or
 * many Gribov copies; an algorithm sweeps over g(x) on a device, in one or two precision stages;
 * the links of the best copy, or all transformations, are written.
 *
 * Without copies a run has one start, g = 1. Copy c of --copies N starts from Haar random g(x),
 * those of lat-gauge --random with seed + c, and draws its random numbers with that seed: its
 * result does not depend on the other copies. Copies that come with the stream continue from their
 * g. */
#pragma once

#include <stdio.h>
#include "fix/fix.h"
#include "common/options.h"
#include "run/common/device_options.h"
#include "measure/abelian.h"

#define LAT_COPY_NUMBERS 16 /* doubles that an algorithm may keep with a copy */
#define LAT_BATCH 8         /* copies on the device at a time, which share the reading of links */

/* A copy of a configuration. All that is needed to continue is here and in g: a checkpoint keeps
 * this. */
typedef struct lat_copy {
    long number;         /* from 0 */
    uint64_t seed;       /* of its random start, or from the stream */
    lat_field g;         /* f64; data NULL before the start and when it is no longer needed */
    int stage;           /* precision stage, index of lat_algorithm.precision; `stages`: all done */
    bool started;        /* has begun; a checkpoint has it */
    bool done, measured; /* done: with this stage; measured: `state` and `converged` are valid */
    bool limited;        /* done because of a limit such as --max-sweeps, and could go on */
    bool finished;       /* done with all stages: g here is the result, not that of the device */
    long sweeps, begun;  /* sweeps; of these at the beginning of the stage */
    double number_of[LAT_COPY_NUMBERS]; /* of the algorithm, 0 at first */
    /* of the links as they are written: */
    bool converged;
    lat_gauge_state state;
    struct lat_copy *at_limit; /* as it was when a limit ended it, for the checkpoint; or NULL */
} lat_copy;

typedef struct lat_fixing lat_fixing;

typedef struct lat_algorithm {
    int select;            /* default of --select where there are copies */
    lat_real precision[2]; /* of the sweeps, stage by stage */
    int stages;            /* 1 or 2 */
    double theta;   /* a copy has converged if theta of each slice is below; INFINITY: always */
    lat_real store; /* precision of the links written */
    bool residual;  /* then the diagonal phases that maximally Abelian gauge leaves free go to
                       Landau gauge (docs/gauges.md, "Residual gauge"), to `theta` each */

    /* Sweeps over the copies f->batch, which are on f->fixer, up to the next convergence test: 1 if
     * all of them are done with this stage, 0 to be called again, -1 on failure. A checkpoint may
     * be written between two calls. It may take a copy to its end itself: then it sets g, and
     * `finished`, and the copy stays done. */
    int (*advance)(lat_fixing *f);

    /* Frees what `advance` has made on the device: at the end of each stage, also after a failure.
     * May be NULL. */
    void (*leave)(void);

    /* The text about a copy in the history. */
    void (*describe)(const lat_fixing *f, const lat_copy *c, char *text, size_t size);

    /* A copy has been measured: a line for the log. May be NULL. */
    void (*measured)(const lat_fixing *f, const lat_copy *c);
} lat_algorithm;

struct lat_fixing {
    const lat_algorithm *algorithm;
    const lat_comm *comm;
    void *own; /* of the tool */
    /* the present configuration */
    long config; /* its number in the stream */
    char name[512];
    char crc[9]; /* of its links as they were read */
    lat_field u;
    lat_condition condition;
    int slices;
    double *theta; /* [copies on the device][slices], for the algorithm */
    lat_copy *copy;
    int copies;
    bool single;     /* one start, g = 1, no copies */
    bool all;        /* all copies are written, not the best one */
    lat_field links; /* transformed by the best copy, once one is measured */
    lat_copy *best;
    double start;         /* lat_seconds */
    char device_text[64]; /* description of the device, for provenance */
    lat_device *device;
    lat_fixer *fixer; /* while sweeps run, with ... */
    lat_copy **batch; /* ... these copies on the device */
    int nbatch;
    int stopped;        /* the signal by which the run was asked to stop, and ends; or 0 */
    lat_real store;     /* precision of the links after they are transformed */
    bool residual_done; /* with lat_algorithm.residual: these are valid */
    bool residual_converged;
    long residual_sweeps;
    lat_residual residual; /* of the links as they are written */
    lat_field phases;      /* the diagonal h of it: links are rotated by h best->g, and best->g is
                            * that of its gauge, from which a resumed run comes to the same h */
};

/* Options of both tools; LAT_FIXING_GAUGE_OPTIONS and LAT_FIXING_OPTIONS put them into an option
 * table. */
typedef struct lat_fixing_options {
    int gauge, time, select;
    lat_device_options device;
    const char *weights, *copies_log, *checkpoint, *resume, *save_g;
    long copies, every;
    uint64_t seed;
    bool keep;
} lat_fixing_options;
extern lat_fixing_options lat_fixing_opts;

enum { LAT_SELECT_BEST, LAT_SELECT_ALL }; /* -1 where not given */

/* clang-format off */
#define LAT_FIXING_GAUGE_OPTIONS \
    LAT_HEADING("Gauge"), \
    {LAT_OPT_CHOICE, "gauge", 0, LAT_GAUGES, &lat_fixing_opts.gauge, 0, 0, \
     "gauge condition; mag: maximally Abelian (default: the gauge that the stream was annealed " \
     "for, else landau)"}, \
    {LAT_OPT_CHOICE, "time", 0, "x|y|z|t", &lat_fixing_opts.time, 0, 0, \
     "direction across which slices are cut in Coulomb gauge (default: the last)"}, \
    {LAT_OPT_TEXT, "weights", 0, "WX,WY,..", &lat_fixing_opts.weights, 0, 0, \
     "weights of the directions in Landau gauge (default 1)"}

#define LAT_FIXING_OPTIONS \
    LAT_HEADING("Copies"), \
    {LAT_OPT_INT, "copies", 'c', "N", &lat_fixing_opts.copies, 1, LAT_MAX_COPIES, \
     "make N random starts of each configuration (default: one start, from its own gauge)"}, \
    {LAT_OPT_CHOICE, "select", 0, "best|all", &lat_fixing_opts.select, 0, 0, \
     "best: write the links as transformed by the best copy; all: write the links as read, then " \
     "every transformation (default: best; lat-anneal: all)"}, \
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "copies-log", 0, "FILE", &lat_fixing_opts.copies_log, 0, 0, \
     "write a line for each copy to FILE"}, \
    {LAT_OPT_SEED, "seed", 's', "SEED", &lat_fixing_opts.seed, 0, 0, \
     "seed of the random numbers; copy c has SEED + c"}, \
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "save-g", 0, "FILE", &lat_fixing_opts.save_g, 0, 0, \
     "write the transformation to FILE, for lat-gauge --apply"}, \
    LAT_HEADING("Run"), \
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "checkpoint", 0, "FILE", &lat_fixing_opts.checkpoint, 0, 0, \
     "write checkpoints to FILE, which must be new, or the FILE of --resume"}, \
    {LAT_OPT_INT | LAT_OPT_LOCAL, "every", 0, "SECONDS", &lat_fixing_opts.every, 0, 1e7, \
     "time between two checkpoints"}, \
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "resume", 0, "FILE", &lat_fixing_opts.resume, 0, 0, \
     "continue from the checkpoint FILE, with the same input and options; limits and devices may " \
     "differ"}, \
    LAT_HEADING("Device"), \
    LAT_DEVICE_OPTIONS(lat_fixing_opts.device)
/* clang-format on */

/* Runs a tool after lat_options_parse: returns its exit code; all messages have been printed. All
 * ranks call it. A run that was asked to stop (common/stop.h) and has written its checkpoint ends
 * here. */
int lat_fixing_run(const lat_algorithm *algorithm, void *own);

/* ---- parts of the run, called by fixing.c only; 0, or -1 with lat_error set ---- */

/* Are all copies of the configuration written whose header, as it was read, is f->u.head? */
bool lat_copies_all(const lat_fixing *f);

/* Makes f->copy for the configuration f->u; reads copies that follow it in the stream `in`. */
int lat_copies_make(lat_fixing *f, lat_input *in);
void lat_copies_free(lat_fixing *f);
void lat_copy_forget_limit(lat_copy *c); /* frees c->at_limit */

/* Makes the first g of a copy: 1 or random. */
int lat_copy_start(const lat_fixing *f, lat_copy *c);

/* Measures the links that the g of the copy transforms. Unless all copies are written, the better
 * of this copy and f->best keeps its g and its links, f->links; with a single start these are f->u,
 * transformed in place. */
int lat_copy_measure(lat_fixing *f, lat_copy *c);

/* Lines of --copies-log, and the names of its columns. */
#define LAT_COPIES_COLUMNS "config\tcopy\tseed\tfunctional\ttheta\tsweeps\tconverged\tselected"
void lat_copies_print(const lat_fixing *f, FILE *log);

/* Reals of a matrix of f->u that are written. Rows that are orthogonal to single alone, in double:
 * the last one, left out, would be read as another one than was measured. */
int lat_fixing_reals(const lat_fixing *f);

/* Says what will be written of f->u, whose header is known, so that a file can be preallocated.
 * `out` may be NULL. */
void lat_fixing_expect(const lat_fixing *f, lat_output *out);

/* Writes the links of the best copy, and its transformation to g_out, if that is not NULL; of all
 * copies (f->all) the links as they were read, with the transformation of each behind them. 0 or
 * -1. */
int lat_fixing_write(lat_fixing *f, lat_output *out, lat_output *g_out);

/* A checkpoint: of each configuration so far the state of its copies, and their g as long as they
 * are needed. The file is a stream of transformations, replaced as a whole. */
typedef struct lat_checkpoint lat_checkpoint;

/* As the options --checkpoint and --resume say; NULL with lat_error set. */
lat_checkpoint *lat_checkpoint_open(const lat_comm *comm);
void lat_checkpoint_free(lat_checkpoint *k);

/* Restores f->copy, if the checkpoint has this configuration. */
int lat_checkpoint_restore(lat_checkpoint *k, lat_fixing *f);

/* Writes a checkpoint if one is due or the run was asked to stop, with g from the device. A file
 * that cannot be written is a warning, and the run continues. -1 if the device fails, and with
 * f->stopped if the run was asked to stop. All ranks call it. */
int lat_checkpoint_tick(lat_checkpoint *k, lat_fixing *f);

/* Writes a checkpoint with what there is on the host. All ranks call it. */
void lat_checkpoint_save(lat_checkpoint *k, lat_fixing *f);

/* Keeps the copy as it is, a limit having ended it, with the g of the device. */
int lat_checkpoint_limit(const lat_fixing *f, lat_copy *c);

/* The configuration is done: the checkpoint takes over its copies. */
int lat_checkpoint_keep(lat_checkpoint *k, lat_fixing *f);

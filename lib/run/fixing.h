/* SPDX-License-Identifier: BSD-3-Clause */
/* fixing.h: what lat-orelax and lat-anneal share: configurations come in, each with one start or
 * many copies of it; an algorithm moves them on a device; the best one or all of them go out.
 *
 * A run without copies has one start, g = 1. Copy c of --copies N starts from Haar random g(x),
 * those of lat-gauge --random with seed + c, and draws what it draws with that seed: it goes the
 * same way whether other copies run beside it or not. Copies that came with the stream go on from
 * where they were. */
#ifndef LAT_FIXING_H
#define LAT_FIXING_H

#include <stdio.h>
#include "fix/fix.h"
#include "common/options.h"

#define LAT_COPY_NUMBERS 10 /* what an algorithm may remember of a copy */
#define LAT_BATCH \
    8 /* copies on the device at a time: enough for a link once read to serve several */

/* A copy of a configuration. What an algorithm needs to go on is here and in g, and nowhere else:
 * it is what a checkpoint keeps. */
typedef struct lat_copy {
    long number;       /* from 0 */
    uint64_t seed;     /* of its random start, or what came with the stream */
    lat_field g;       /* f64; data NULL before the start and when it is no longer needed */
    int rung;          /* of the ladder of precisions */
    bool started;      /* known to a checkpoint */
    bool done, judged; /* done: on this rung */
    long sweeps;
    double number_of[LAT_COPY_NUMBERS]; /* the algorithm's, 0 at first */
    /* once judged, of the links as they are written: */
    bool converged;
    lat_gauge_state state;
} lat_copy;

typedef struct lat_fixing lat_fixing;

typedef struct lat_algorithm {
    int select;         /* where --select is not given and there are copies */
    lat_real ladder[2]; /* the precisions of the sweeps, one after the other */
    int rungs;
    double theta;   /* copies with theta of every slice below it have converged; INFINITY: all */
    lat_real store; /* precision of the rotated links */

    /* Sweeps for a while with the copies f->batch, which are on f->dev: 1 if all of them are done
     * on this rung, 0 to be called again, -1 on failure. In between a checkpoint may be written. */
    int (*advance)(lat_fixing *f);

    /* Words for the history about a copy that is done. */
    void (*describe)(const lat_fixing *f, const lat_copy *c, char *words, size_t size);

    /* A copy has been judged: a line for the log. May be NULL. */
    void (*judged)(const lat_fixing *f, const lat_copy *c);
} lat_algorithm;

struct lat_fixing {
    const lat_algorithm *algorithm;
    const lat_backend *backend;
    const lat_comm *comm;
    void *own; /* the tool's */
    /* the configuration at hand */
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
    bool all;        /* of the copies go out, not the best alone */
    lat_field links; /* as the best copy makes them, once one is judged */
    lat_copy *best;
    double start;     /* lat_seconds */
    char words[64];   /* of the device, for provenance */
    lat_device *dev;  /* while sweeps run, with ... */
    lat_copy **batch; /* ... these copies on it */
    int nbatch;
};

/* Options that both tools have; LAT_FIXING_OPTIONS goes into their tables. */
typedef struct lat_fixing_options {
    int gauge, time, device, select;
    const char *weights, *copies_log, *checkpoint, *resume, *save_g;
    long copies, every;
    uint64_t seed;
    bool keep;
} lat_fixing_options;
extern lat_fixing_options lat_fixing_opts;

enum { LAT_SELECT_BEST, LAT_SELECT_ALL }; /* -1 where not given */

#define LAT_FIXING_OPTIONS \
    {LAT_OPT_CHOICE, \
     "gauge", \
     0, \
     LAT_GAUGES, \
     &lat_fixing_opts.gauge, \
     0, \
     0, \
     "gauge condition; mag: maximally Abelian", \
     false}, \
        {LAT_OPT_CHOICE, \
         "time", \
         0, \
         "x|y|z|t", \
         &lat_fixing_opts.time, \
         0, \
         0, \
         "direction across which Coulomb gauge cuts slices (default: the last)", \
         false}, \
        {LAT_OPT_TEXT, \
         "weights", \
         0, \
         "WX,WY,..", \
         &lat_fixing_opts.weights, \
         0, \
         0, \
         "of the directions in Landau gauge (default 1)", \
         false}, \
        {LAT_OPT_INT, \
         "copies", \
         'c', \
         "N", \
         &lat_fixing_opts.copies, \
         0, \
         LAT_MAX_COPIES, \
         "N random starts of each configuration (default: one start, from its own gauge)", \
         false}, \
        {LAT_OPT_CHOICE, \
         "select", \
         0, \
         "best|all", \
         &lat_fixing_opts.select, \
         0, \
         0, \
         "of the copies: links as the best one makes them, or links as they are and every " \
         "transformation (default: best; of lat-anneal all)", \
         false}, \
        {LAT_OPT_TEXT, \
         "copies-log", \
         0, \
         "FILE", \
         &lat_fixing_opts.copies_log, \
         0, \
         0, \
         "a line about each copy", \
         true}, \
        {LAT_OPT_SEED, \
         "seed", \
         's', \
         "SEED", \
         &lat_fixing_opts.seed, \
         0, \
         0, \
         "of the random numbers; copy c has SEED + c", \
         false}, \
        {LAT_OPT_TEXT, \
         "save-g", \
         0, \
         "FILE", \
         &lat_fixing_opts.save_g, \
         0, \
         0, \
         "save the transformation, for lat-gauge --apply", \
         true}, \
        {LAT_OPT_TEXT, \
         "checkpoint", \
         0, \
         "FILE", \
         &lat_fixing_opts.checkpoint, \
         0, \
         0, \
         "save where the run is, now and then; FILE must be new, or that of --resume", \
         true}, \
        {LAT_OPT_INT, \
         "every", \
         0, \
         "SECONDS", \
         &lat_fixing_opts.every, \
         0, \
         1e7, \
         "time between two checkpoints", \
         true}, \
        {LAT_OPT_TEXT, \
         "resume", \
         0, \
         "FILE", \
         &lat_fixing_opts.resume, \
         0, \
         0, \
         "go on from a checkpoint, with the same input and options", \
         true}, \
        {LAT_OPT_CHOICE, \
         "device", \
         0, \
         LAT_DEVICES, \
         &lat_fixing_opts.device, \
         0, \
         0, \
         "where sweeps run; auto: the fastest there is", \
         false}, \
        LAT_GPU_OPTIONS

/* The whole run of a tool, after lat_options_parse: its exit code, all words said. */
int lat_fixing_run(const lat_algorithm *algorithm, void *own);

/* ---- the parts, for fixing.c alone ---- */

/* f->copy for the configuration f->u; those that follow it are read from `in`: 0 or -1. */
int lat_copies_make(lat_fixing *f, lat_input *in);
void lat_copies_free(lat_fixing *f);

/* g of a copy that has none yet: 0 or -1. */
int lat_copy_start(const lat_fixing *f, lat_copy *c);

/* Measures the links as the copy's g makes them. Where only the best goes out, the better of it and
 * f->best keeps its g and its links, f->links; with a single start these are f->u, rotated in
 * place: 0 or -1. */
int lat_copy_measure(lat_fixing *f, lat_copy *c);

/* Lines of --copies-log, and the names of its columns. */
#define LAT_COPIES_COLUMNS "config\tcopy\tseed\tfunctional\ttheta\tsweeps\tconverged\tselected"
void lat_copies_print(const lat_fixing *f, FILE *log);

/* Where a run is: of every configuration so far, what is known of its copies, and their g as long
 * as it is needed. A stream of transformations, written whole or not at all. */
typedef struct lat_checkpoint lat_checkpoint;

/* A usage error where --checkpoint names a file that is there, unless --resume names the same: it
 * may be all that is left of a week. */
void lat_checkpoint_usage(void);

/* As --checkpoint and --resume say; NULL with lat_error set. */
lat_checkpoint *lat_checkpoint_open(void);
void lat_checkpoint_free(lat_checkpoint *k);

/* Puts f->copy where the checkpoint has it, if it has this configuration: 0 or -1. */
int lat_checkpoint_restore(lat_checkpoint *k, lat_fixing *f);

/* Writes one if it is time; takes g from the device for it. What cannot be written is a warning:
 * the run goes on. -1 if the device fails. */
int lat_checkpoint_tick(lat_checkpoint *k, lat_fixing *f);

/* The configuration is finished: takes over its copies. */
int lat_checkpoint_keep(lat_checkpoint *k, lat_fixing *f);

/* The run is done: the file is not needed any more. */
void lat_checkpoint_remove(void);

#endif

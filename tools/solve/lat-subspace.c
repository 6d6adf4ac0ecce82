/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-subspace: the subspace of a multigrid for the Dirac operator on each configuration.
 *
 * Its certificate, in the header, compares P and M_c with lib/certify, which shares nothing with
 * lib/multigrid. */
#include <stdio.h>
#include <string.h>
#include "base/error.h"
#include "common/options.h"
#include "common/progress.h"
#include "common/stop.h"
#include "run/common/device_options.h"
#include "run/common/resume.h"
#include "run/common/sections.h"
#include "run/common/tool.h"
#include "run/quark/fermion_options.h"
#include "run/quark/links.h"
#include "run/quark/subspace.h"
#include "smear/smear.h"
#include "stream/stream.h"
#include "vector/space.h"
#include "wilson/wilson.h"

enum { STATE = 4 }; /* numbers of a section: a lat_multigrid_state */
#define NEAR_ONE .9 /* a rate that says: near singular */

static const char *from_path, *checkpoint, *resume, *log_path, *smearing;
static double to_come = 12;
static long vectors;
static lat_device_options device_options;

static const lat_option options[] = {
    LAT_HEADING("Operator"),
    LAT_FERMION_OPTIONS,
    LAT_SMEAR_LINKS_OPTION(smearing, ""),
    LAT_HEADING("Setup"),
    {LAT_OPT_REAL, "columns-to-come", 0, "N", &to_come, 0, 1e9,
     "make a round of the setup where it saves more work in N columns than it takes; a propagator "
     "has 12"},
    {LAT_OPT_INT, "vectors", 0, "N", &vectors, 8, LAT_MULTIGRID_MOST_VECTORS,
     "test vectors of the finest level, a multiple of 8 (default: 24)"},
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "from", 0, "FILE", &from_path, 0, 0,
     "begin with the subspace FILE of other links on this lattice, as the configuration before in "
     "a chain, in place of random vectors"},
    LAT_HEADING("Run"),
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "log", 'l', "FILE", &log_path, 0, 0,
     "write a line for each configuration to FILE"},
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "checkpoint", 0, "FILE", &checkpoint, 0, 0,
     "keep the vectors in FILE after each round; FILE must be new, or that of --resume"},
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "resume", 0, "FILE", &resume, 0, 0,
     "continue from the checkpoint FILE, with the same input and options"},
    LAT_HEADING("Device"),
    LAT_DEVICE_OPTIONS(device_options),
    {0}};

static const lat_tool tool = {
    .name = "lat-subspace",
    .args = "[FILE]",
    .summary = "Makes the subspace of a multigrid for light quarks, with a certificate.",
    .example = "lat-subspace --kappa 0.1565 cfg.lat -o sub.lat\n"
               "lat-subspace --kappa 0.1565 --columns-to-come 120 cfg.lat -o sub.lat\n"
               "lat-subspace --kappa 0.1565 --from sub.0100.lat cfg.0110.lat -o sub.0110.lat",
    .options = options,
    .max_files = 1,
    .common = LAT_HAS_INPUT | LAT_HAS_OUTPUT | LAT_HAS_THREADS | LAT_HAS_QUIET | LAT_HAS_BOXES,
    .start = lat_comm_start,
};

#define LOG_HEAD \
    "config\tmass\tvectors\trounds\trate\tapplications\tlowest\torthonormal\tproduct\tseconds"

typedef struct run {
    lat_links links;
    lat_fermion fermion;
    lat_smear smear;
    lat_field smeared; /* links of the operator, with --smear-links */
    lat_device *device;
    lat_input *from;
    lat_subspace start; /* of --from */
    lat_sections kept;
    lat_output *out;
    FILE *log;

    /* of the present links */
    char name[80];
    lat_field vectors; /* of the last round */
    lat_wilson *wilson;
    lat_subspace_certificate certificate;
} run;

static long config(const run *r) { return r->links.number - 1; }

static const lat_field *links_of(const run *r) { return smearing ? &r->smeared : &r->links.u; }

/* ---- states ---------------------------------------------------------------------------------- */

static bool alike(const char *its, const char *mine) { return !strcmp(its, mine); }

static const lat_section_kind sections = {"checkpoint.subspace", "subspaces",
                                          "other links or another start", LAT_MODES, alike};

/* The section of the present configuration gets these vectors and numbers. */
static int keep(run *r, const lat_multigrid_state *state)
{
    const double number[STATE] = {state->rounds, state->rate, state->before, state->applied};
    bool due;
    if (!r->kept.path)
        return 0;
    lat_section *s = lat_sections_find(&r->kept, r->name);
    if (!s)
        s = lat_sections_add(&r->kept, r->name, number, STATE);
    if (lat_agree(r->kept.comm, s ? 0 : -1))
        return -1;
    memcpy(s->number, number, sizeof number);
    lat_field_free(&s->f);
    r->kept.changed = true;
    if (lat_agree(r->kept.comm, lat_field_duplicate(&r->vectors, &s->f))
        || lat_sections_due(&r->kept, &due))
        return -1;
    if (due)
        lat_sections_save(&r->kept);
    return 0;
}

/* After each round. */
static int round_done(void *with, const lat_field *now, const lat_multigrid_state *state)
{
    run *r = with;
    if (state->rounds)
        lat_progress("round %d  |r| falls by %.2g a cycle  configuration %ld", state->rounds,
                     state->rate, config(r));
    lat_field_free(&r->vectors);
    return lat_rc(lat_field_duplicate(now, &r->vectors) || keep(r, state)
                  || lat_sections_asked(&r->kept));
}

static int stops(void *with) { return lat_sections_asked(&((run *)with)->kept) ? -1 : 0; }

/* What the setup begins with: a state of the checkpoint, or --from, or nothing. */
static int find_start(run *r, lat_multigrid_options *o)
{
    lat_section *s;
    const int rc = lat_sections_get(&r->kept, r->name, &s);
    const lat_field *known = rc > 0 ? &s->f : from_path ? &r->start.vectors : NULL;
    if (rc < 0)
        return -1;
    if (rc > 0 && (s->numbers != STATE || !lat_header_alike(&s->f.head, &r->links.u.head)))
        return lat_fail("the checkpoint: expected a subspace on this lattice, found another");
    if (rc > 0)
        o->from = (lat_multigrid_state){(int)s->number[0], s->number[1], s->number[2],
                                        s->number[3]};
    if (!known)
        return 0;
    o->known = &r->vectors;
    return lat_field_duplicate(known, &r->vectors);
}

/* ---- a configuration ------------------------------------------------------------------------- */

static int make(run *r)
{
    const lat_geometry *lattice = &r->links.u.head.geom;
    lat_wilson_options o = {.columns = LAT_MULTIGRID_COLUMNS,
                            .form = LAT_ASYMMETRIC,
                            .inner = LAT_STORAGE_SINGLE,
                            .multigrid = true,
                            .setup = {.vectors = (int)vectors,
                                      .columns = to_come,
                                      .round = round_done,
                                      .asked = stops,
                                      .with = r},
                            .made_mass = r->fermion.mass,
                            .made_twist = r->fermion.twist};
    lat_device *const on = lat_device_or_cpu(r->device,
                                             lat_space_gpu_takes(lattice, lat_opts.comm));
    snprintf(r->name, sizeof r->name, "config %ld links %s%s%s", config(r),
             r->links.u.head.read_crc, from_path ? " from " : "",
             from_path ? r->start.vectors.head.read_crc : "");
    return lat_rc(!on || lat_multigrid_takes(on, lattice, r->links.u.head.nc)
                  || find_start(r, &o.setup)
                  || !(r->wilson = lat_wilson_open(on, links_of(r), &r->fermion, &o))
                  || lat_wilson_make_multigrid(r->wilson));
}

static int certify(run *r)
{
    lat_plain *const plain = lat_plain_new(links_of(r), &r->fermion);
    const int rc = lat_rc(!plain
                          || lat_subspace_certify(lat_wilson_multigrid(r->wilson), plain,
                                                  links_of(r), &r->certificate));
    lat_plain_free(plain);
    return rc;
}

static void print_line(const run *r, double seconds)
{
    const lat_multigrid_report *t = lat_multigrid_told(lat_wilson_multigrid(r->wilson));
    if (t->rate > NEAR_ONE)
        lat_warn(
            "configuration %ld: |r| falls by %.2g a cycle, as the least singular value of M is "
            "about %.2g: solves may end by conjugate gradients",
            config(r), t->rate, t->lowest);
    if (!r->log)
        return;
    fprintf(r->log, "%ld\t%.10g\t%d\t%d\t%.4f\t%.1f\t%.3e\t%.2e\t%.2e\t%.2f\n", config(r),
            r->fermion.mass, t->vectors, t->rounds, t->rate, t->applied, t->lowest,
            r->certificate.orthonormal, r->certificate.product, seconds);
    fflush(r->log);
}

static int write_subspace(run *r)
{
    const lat_multigrid *m = lat_wilson_multigrid(r->wilson);
    const lat_multigrid_report *t = lat_multigrid_told(m);
    lat_header *head = &r->vectors.head;
    lat_header_of_links(head, &r->links.u.head, &r->fermion);
    return lat_rc(
        lat_subspace_describe(head, m, to_come, &r->certificate)
        || (smearing && lat_info_set(head, LAT_SMEARED_LINKS, smearing))
        || lat_provenance(head, "%d vectors, %d rounds, rate %.2g", t->vectors, t->rounds, t->rate)
        || lat_stream_write(r->out, &r->vectors, lat_opts.store));
}

/* An exit code. */
static int one(run *r)
{
    const char *name = lat_input_name(r->links.in);
    const double start = lat_seconds();
    int code = LAT_FAILED;
    if (!r->device && !(r->device = lat_device_open(&device_options, lat_opts.comm)))
        return LAT_FAILED;
    lat_device_threads(r->device, &r->links.u, LAT_MULTIGRID_COLUMNS);
    if (lat_fermion_check_gauge(&r->links.u.head, name) == 0
        && lat_fermion_check_links(&r->fermion, &r->links.u.head, name) == 0
        && (!smearing || lat_smear_links(&r->links.u, &r->smear, &r->smeared) == 0) && make(r) == 0
        && certify(r) == 0)
        code = lat_subspace_judge(&r->certificate) ? LAT_UNCONVERGED : LAT_DONE;
    if (code != LAT_DONE && !r->kept.stopped)
        lat_error_name(name, resume);
    if (code == LAT_DONE) {
        print_line(r, lat_seconds() - start);
        code = write_subspace(r) ? LAT_FAILED : LAT_DONE;
    }
    lat_wilson_close(r->wilson);
    r->wilson = NULL;
    lat_field_free(&r->vectors);
    lat_field_free(&r->smeared);
    return code;
}

static int next_links(run *r)
{
    return lat_sections_asked(&r->kept) ? -1 : lat_links_next(&r->links);
}

static int all(run *r)
{
    int rc, code = LAT_DONE;
    while (code == LAT_DONE && (rc = next_links(r)) != 0) {
        if (rc > 0 && from_path && !r->start.vectors.data
            && lat_subspace_first(r->from, &r->links.u, &r->start))
            rc = -1;
        code = rc < 0 ? LAT_FAILED : one(r);
    }
    return code;
}

/* ---- the run --------------------------------------------------------------------------------- */

static void check_usage(run *r)
{
    lat_fermion_of_options(&r->fermion, false);
    if (smearing && lat_smear_parse(smearing, &r->smear))
        lat_usage("--smear-links: %s", lat_error());
    if (vectors % LAT_MULTIGRID_COLUMNS)
        lat_usage("--vectors: expected a multiple of %d, found %ld", LAT_MULTIGRID_COLUMNS,
                  vectors);
    if (from_path && vectors)
        lat_usage("--vectors: --from says how many there are");
    if (!from_path && !vectors)
        vectors = LAT_MULTIGRID_VECTORS;
    lat_usage_if_stdin_twice((const char *const[]){from_path}, 1);
    lat_usage_if_input("log", log_path);
}

static int open_all(run *r)
{
    const lat_comm *comm = lat_opts.comm;
    lat_checkpoint_usage(checkpoint, resume); /* ends the process: before there are threads */
    return lat_rc(
        lat_device_begin(&device_options, comm)
        || !(r->links.in = lat_input_open(lat_opts.input, comm))
        || (from_path && !(r->from = lat_input_open(from_path, comm)))
        || !(r->out = lat_output_open(lat_opts.output, lat_output_flags() | LAT_OUTPUT_OTHER, comm))
        || (log_path && !(r->log = lat_log_open(log_path, LOG_HEAD, comm)))
        || lat_sections_open(&r->kept, &sections, checkpoint, resume, comm));
}

int main(int argc, char **argv)
{
    run r = {.links.in = NULL};
    lat_options_parse(&tool, argc, argv);
    check_usage(&r);
    lat_header_init(&r.vectors.head);
    int code = open_all(&r) ? LAT_FAILED : all(&r);
    lat_progress_end();
    lat_sections_give_up(&r.kept, code, false);
    lat_subspace_free(&r.start);
    lat_input_close(r.from);
    lat_links_free(&r.links);
    lat_device_close(r.device);
    lat_device_end();
    if (lat_log_close(r.log, log_path) && code == LAT_DONE)
        code = LAT_FAILED;
    code = lat_output_end(r.out, NULL, code);
    if (code == LAT_DONE)
        lat_resume_remove(checkpoint, lat_opts.comm);
    const int stopped = r.kept.stopped;
    lat_sections_free(&r.kept);
    if (stopped > 0)
        lat_stop_exit(lat_opts.comm, stopped);
    return code == LAT_DONE ? LAT_DONE : lat_report(code);
}

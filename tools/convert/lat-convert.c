/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-convert: gauge fields and propagators from and to the formats of other programs.
 *
 * The format of a file is recognised by its first bytes. What a file states about itself
 * (checksums, plaquette, link trace) is verified. The bits of the links do not change, unless
 * --precision or --rows asks for it. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/error.h"
#include "base/memory.h"
#include "common/io.h"
#include "common/numbered.h"
#include "common/options.h"
#include "common/progress.h"
#include "formats/milc_info.h"
#include "stream/stream.h"
#include "run/common/conversion.h"
#include "run/common/tool.h"
#include "convert_list.h"
#include "convert_quarks.h"

enum { AS_READ = -1, SINGLE = 0, DOUBLE = 1 };

static char names[512]; /* of the formats, "lat|nersc|..." */
static int from = -1, to = -1, precision = AS_READ;
static long rows; /* 0: as read */
static bool list, signs, split;
static lat_geometry dims;
static const char *order;
static long group;
static int type = AS_READ, endian = AS_READ;
static lat_hints hints = {.big = -1};
static const char *basis, *source_basis, *boundary, *spread;
static int normalisation = -1;
static lat_convert_quarks quarks = {.hints = {.kappa = NAN}};

static const lat_option options[] = {
    LAT_HEADING("Formats"),
    {LAT_OPT_CHOICE, "to", 0, names, &to, 0, 0,
     "write this format (default: the format of the output's extension, else lat)"},
    {LAT_OPT_CHOICE, "from", 'f', names, &from, 0, 0,
     "read this format (default: recognised by the first bytes)"},
    {LAT_OPT_CHOICE, "precision", 'p', "single|double", &precision, 0, 0,
     "write numbers of this precision (default: as read)"},
    {LAT_OPT_INT, "rows", 0, "ROWS", &rows, 1, LAT_MAX_COLOURS,
     "write ROWS rows of each link: N, or N-1 for SU(2) and SU(3) (default: as read)"},
    {LAT_OPT_DIMS, "dims", 'd', "X,Y,Z,T", &dims, 0, 0,
     "extents, for files that do not state them"},
    {LAT_OPT_FLAG, "signs", 0, NULL, &signs, 0, 0,
     "write links with the signs of antiperiodic boundaries, which reading removes: in the last "
     "slice along an axis whose boundary the header calls ANTIPERIODIC"},
    {LAT_OPT_FLAG | LAT_OPT_LOCAL, "list", 0, NULL, &list, 0, 0, "list the formats and exit"},
    LAT_HEADING("Raw files"),
    {LAT_OPT_TEXT, "milc-info", 0, "FILE", &quarks.milc_info, 0, 0,
     "the .info that MILC wrote beside its file: its lines become info lines, if extents, time "
     "stamp and checksums are those of the file"},
    {LAT_OPT_TEXT, "order", 0, "SITES[/LINKS]", &order, 0, 0,
     "order of the sites (" LAT_ORDERS
     ", or a list, slowest first) and of the directions, such as t,x,y,z/t,x,y,z; "
     "links,t,z,y,x has all x-links first: the direction is slowest (default: the order of ILDG); "
     "or of the sites of npy-prop and hdf5-prop (default t,z,y,x)"},
    {LAT_OPT_INT, "group", 'N', "N", &group, 2, LAT_MAX_COLOURS,
     "N of SU(N) (default: from the length of the file, else 3); of NERSC files that say another "
     "one"},
    {LAT_OPT_CHOICE, "type", 0, "f32|f64", &type, 0, 0,
     "type of the reals (default: from the length, or the type in which links are unitary)"},
    {LAT_OPT_CHOICE, "endian", 0, "little|big", &endian, 0, 0,
     "byte order (default: the order in which links are unitary; little when written)"},
    LAT_HEADING("Spinors"),
    {LAT_OPT_TEXT, "basis", 0, "NAME", &basis, 0, 0,
     "spin basis of the foreign file: degrand-rossi, milc, fermilab, ukqcd, dirac-pauli, chiral, "
     "bmw, ddalphaamg (default: the usual basis of its format)"},
    {LAT_OPT_CHOICE, "normalisation", 0, "mass|kappa", &normalisation, 0, 0,
     "mass: the foreign file holds M^-1; kappa: it holds M^-1/(2 kappa) (default: what its format "
     "usually holds)"},
    {LAT_OPT_REAL, "kappa", 0, "K", &quarks.hints.kappa, 0, 1e6,
     "kappa for --normalisation kappa (default: the value in the header)"},
    {LAT_OPT_TEXT, "boundary", 0, "X,Y,Z,T", &boundary, 0, 0,
     "boundary of the quarks (p, a, d, o or a phase in units of pi), where the file does not state "
     "it"},
    {LAT_OPT_TEXT, "source", 0, "TEXT", &quarks.hints.source, 0, 0,
     "what was solved for, such as point:0,0,0,3, where the file does not state it"},
    {LAT_OPT_TEXT, "spread", 0, "X,Y,Z,T", &spread, 0, 0,
     "angles of --boundary, in units of pi, that the program spread over all links of an axis "
     "(tmLQCD, nissa, Chroma's TWISTED_FERMBC): their phases are taken off"},
    {LAT_OPT_TEXT, "dataset", 0, "NAME", &quarks.hints.dataset, 0, 0,
     "hdf5-prop: read this dataset (default: the only one with spinors)"},
    {LAT_OPT_FLAG, "no-checksum", 0, NULL, &quarks.hints.no_checksum, 0, 0,
     "milc-prop: do not verify checksums, which MILC computed in another way before May 2000"},
    {LAT_OPT_FLAG, "join", 0, NULL, &quarks.join, 0, 0,
     "join 12 spinors, in files or streams, into one propagator: spin slow, colour fast"},
    {LAT_OPT_TEXT, "source-basis", 0, "NAME", &source_basis, 0, 0,
     "with --join: the sources are the unit vectors of this basis (default: the files' basis)"},
    LAT_HEADING("Output"),
    {LAT_OPT_FLAG | LAT_OPT_LOCAL, "split", 0, NULL, &split, 0, 0,
     "write each field to its own file, with its number in the name: -o cfg.lat, or -o "
     "cfg.%04d.lat, writes cfg.0000.lat, cfg.0001.lat, .. (files written before a failure are "
     "complete, and stay)"},
    {LAT_OPT_FLAG, "force", 0, NULL, &lat_opts.force, 0, 0,
     "only warn if a stated checksum, plaquette or trace is wrong, or links are not in SU(N); "
     "write binary data even to a terminal, and a format that does not match the extension"},
    {0}};

static const lat_tool tool = {
    .name = "lat-convert",
    .args = "[FILE...]",
    .summary = "Converts gauge fields and quark propagators between formats. Several FILEs become "
               "one stream. A file is read slice by slice: once if the output is a FILE, twice if "
               "it is a pipe, to verify it before it is written. A whole configuration is in "
               "memory if it comes through a pipe, or if one of the formats is openqcd, szin, "
               "fortran, kyu or bridgetext. The same holds for milc with a list of sites, and for "
               "raw in an order that goes across time slices. --order, --group, --type and "
               "--endian describe the raw file that is read, or else the one that is written. "
               "Spinors and quark propagators of other programs are converted to the basis of "
               "DeGrand and Rossi and to M^-1, and back. They are in memory as a whole.",
    .example = "lat-convert cfg.0100.lime | lat-orelax --gauge landau | lat-convert --to nersc -o "
               "cfg.0100.landau\n"
               "lat-convert --from raw --dims 32,32,32,64 cfg.bin -o cfg.lat\n"
               "lat-convert prop.lime | lat-corr --channels pion",
    .options = options,
    .min_files = 0,
    .max_files = 1 << 20,
    .common = LAT_HAS_INPUT | LAT_HAS_OUTPUT | LAT_HAS_THREADS | LAT_HAS_QUIET,
};

/* ---- formats --------------------------------------------------------------------------------- */

/* Which options are given that say how numbers lie? */
static int raw_options_given(void)
{
    return (order ? LAT_TAKES_ORDER : 0) | (group ? LAT_TAKES_GROUP : 0)
           | (type != AS_READ || endian != AS_READ ? LAT_TAKES_TYPE : 0);
}

/* Does neither the format that is read, if it is known, nor the one that is written take them? */
static bool raw_options_misplaced(const lat_format *source)
{
    const int target = lat_formats[to]->takes;
    return raw_options_given() & ~(source->takes | (target == LAT_TAKES_ALL ? LAT_TAKES_ALL : 0));
}

/* One that only spinors of other programs take? */
static bool quark_options_given(void)
{
    return basis || normalisation >= 0 || lat_opt_given("kappa") || quarks.hints.dataset
           || quarks.hints.no_checksum;
}

/* Of the numbers that are written; 0: as they are. */
static int wanted_real(void)
{
    return precision == SINGLE ? LAT_F32 : precision == DOUBLE ? LAT_F64 : 0;
}

/* ---- links ----------------------------------------------------------------------------------- */

/* The extension of the output's name, ".nersc"; NULL where it has none, or is no file. */
static const char *extension(void)
{
    const char *slash = lat_opts.output ? strrchr(lat_opts.output, '/') : NULL;
    const char *name = slash ? slash + 1 : lat_opts.output, *dot = name ? strrchr(name, '.') : NULL;
    return dot && dot > name && dot[1] ? dot : NULL;
}

static long files_split;

/* Is this file one of the inputs, of which those that follow would be lost? */
static bool is_input(const char *path)
{
    bool any = lat_opts.input && lat_one_file(path, lat_opts.input);
    for (int i = 0; i < lat_opts.nfiles; i++)
        any = any || lat_one_file(path, lat_opts.files[i]);
    return any;
}

/* The name of file `number` of --split: as -o says it by %04d, or else NAME.0003.EXTENSION. */
static char *split_name(long number)
{
    const char *dot = extension();
    const int stem = (int)(dot ? (size_t)(dot - lat_opts.output) : strlen(lat_opts.output));
    return lat_numbers_in(lat_opts.output) == 1
               ? lat_numbered(lat_opts.output, number)
               : lat_text_new("%.*s.%04ld%s", stem, lat_opts.output, number, dot ? dot : "");
}

static lat_output *open_split(void)
{
    char *path = split_name(files_split);
    if (!path)
        return NULL;
    lat_output *out = NULL;
    if (is_input(path))
        lat_fail("%s: is an input as well (--split)", path);
    else
        out = lat_output_open(path, lat_output_flags() | LAT_OUTPUT_OTHER, lat_opts.comm);
    free(path);
    files_split++;
    return out;
}

/* A field, to `out` or to a file of its own. */
static int convert_next(lat_file_reader *s, lat_output *out)
{
    const lat_conversion how = {.target = lat_formats[to],
                                .real = wanted_real(),
                                .rows = (int)rows,
                                .signs = signs,
                                .split = split,
                                .dims = dims,
                                .hints = hints};
    if (!split)
        return lat_convert_field(&how, s, out);
    lat_output *own = open_split();
    if (own && lat_convert_field(&how, s, own) == 0)
        return lat_stream_commit(own);
    lat_output_abort(own);
    return -1;
}

static int convert_fields(lat_input *in, lat_output *out, const lat_format *format)
{
    const lat_read_context r = {
        .force = lat_opts.force, .dims = dims, .hints = hints, .plaquette = NAN, .link_trace = NAN};
    lat_file_reader s;
    int more;
    lat_part_begin("configuration", 0);
    for (long config = 0; (more = lat_file_reader_open(&s, in, format, &r, false)) > 0; config++) {
        lat_part_at((double)config);
        const int bad = (quarks.milc_info
                         && lat_milc_info_take(quarks.milc_info, lat_input_name(in), &s.f.head))
                                || convert_next(&s, out)
                            ? -1
                            : 0;
        lat_file_reader_close(&s);
        if (bad)
            return bad;
        if (!format->stream)
            break;
    }
    lat_part_end();
    return more < 0 ? -1 : 0;
}

/* ---- one file -------------------------------------------------------------------------------- */

/* --no-checksum and --dataset are for reading one format each. */
static int check_reader(const char *name, const char *format)
{
    if (quarks.hints.no_checksum && strcmp(format, "milc-prop") != 0)
        return lat_fail("%s: is in format %s, and --no-checksum is for reading milc-prop", name,
                        format);
    if (quarks.milc_info && strcmp(format, "milc") != 0 && strcmp(format, "milc-prop") != 0)
        return lat_fail("%s: is in format %s, and --milc-info is for reading milc and milc-prop",
                        name, format);
    if (quarks.hints.dataset && strcmp(format, "hdf5-prop") != 0)
        return lat_fail("%s: is in format %s, and --dataset is for reading hdf5-prop", name,
                        format);
    return 0;
}

/* Does a file of this format hold M^-1/(2 kappa), as it is or as --normalisation says? */
static bool has_kappa(const lat_format *f)
{
    return f->quarks && lat_quarks_norm(f, &quarks.hints) == LAT_NORM_KAPPA;
}

/* Are spinors read or written, which options may describe? */
static bool of_quarks(const lat_format *format)
{
    return quarks.join || boundary || quarks.hints.source || spread || format->quarks
           || lat_formats[to]->quarks;
}

/* Of two formats with one extension, npy and npy-prop, the one that holds what comes. */
static void choose_again(lat_input *in, const lat_format *format)
{
    const char *dot = extension();
    if (lat_opt_given("to") || !dot || quarks.join)
        return;
    to = lat_convert_twin(in, format, dot, to);
    quarks.target = lat_formats[to];
}

static int convert_file(const char *path, lat_output *out)
{
    lat_input *in = lat_input_open(path, lat_opts.comm);
    if (!in)
        return -1;
    const lat_format *format = from >= 0 ? lat_formats[from] : lat_format_of(in);
    int bad = format ? 0 : -1;
    if (!bad)
        choose_again(in, format);
    if (!bad && raw_options_misplaced(format))
        bad = lat_fail(
            "%s: is in format %s, and --order, --group, --type and --endian are for raw files",
            lat_input_name(in), format->name);
    if (!bad && quark_options_given() && !format->quarks && !lat_formats[to]->quarks)
        bad = lat_fail("%s: is in format %s, and --basis, --normalisation, --kappa, --dataset and "
                       "--no-checksum are for spinors of other programs",
                       lat_input_name(in), format->name);
    if (!bad && lat_opt_given("kappa") && !has_kappa(format) && !has_kappa(lat_formats[to]))
        bad = lat_fail("%s: %s files hold M^-1, and --kappa is for M^-1/(2 kappa) (--normalisation "
                       "kappa)",
                       lat_input_name(in), format->quarks ? format->name : lat_formats[to]->name);
    if (!bad && format->quarks && order && !quarks.hints.order[0])
        bad = lat_fail(
            "%s: --order %s: expected x, y, z and t in the order of its axes, slowest first",
            lat_input_name(in), order);
    if (!bad)
        bad = check_reader(lat_input_name(in), format->name);
    if (!bad && split && format->quarks)
        bad = lat_fail("%s: --split is for streams and files of gauge fields, found spinors",
                       lat_input_name(in));
    if (!bad)
        bad = of_quarks(format) ? lat_convert_quarks_file(&quarks, in, out, format)
                                : convert_fields(in, out, format);
    lat_input_close(in);
    return bad;
}

/* ---- command line ---------------------------------------------------------------------------- */

/* --to, or what the extension says; refuses names that would mislead. */
static void choose_target(void)
{
    const char *dot = extension();
    const lat_format *const *named = lat_formats, *const *known = lat_formats;
    while (dot && *named && !(lat_convert_extends(*named, dot) && lat_format_writes(*named)))
        named++;
    while (dot && *known && !lat_convert_extends(*known, dot))
        known++;
    const bool is_named = dot && *named,
               fits = to >= 0 && dot && lat_convert_extends(lat_formats[to], dot);
    if (to >= 0 && is_named && !fits && !lat_opts.force)
        lat_usage("--to %s: the output %s has the extension of %s files (--force writes it)",
                  lat_formats[to]->name, lat_opts.output, (*named)->name);
    if (to < 0 && !is_named && dot && (*known || lat_format_extension_refused(dot)))
        lat_usage("%s: no format that is written has the extension %s: say --to NAME (--list)",
                  lat_opts.output, dot);
    /* cfg.0100 is a number, .foo may be a mistake */
    if (to < 0 && !is_named && dot && isalpha((unsigned char)dot[1]))
        lat_warn("%s: no format has the extension %s: this is a stream, as --to lat says",
                 lat_opts.output, dot);
    if (to < 0)
        to = is_named ? (int)(named - lat_formats) : 0;
}

static void check_quarks(void)
{
    static lat_phase phase[LAT_MAX_DIMS];
    static double angle[LAT_MAX_DIMS];
    char end;
    if (basis && !(quarks.hints.basis = lat_basis_find(basis)))
        lat_usage("--basis: %s", lat_error());
    if (source_basis && !(quarks.sources = lat_basis_find(source_basis)))
        lat_usage("--source-basis: %s", lat_error());
    lat_usage_for("source-basis", quarks.join, "--join");
    if (lat_opt_given("kappa") && normalisation == 0)
        lat_usage("--kappa is for --normalisation kappa, found --normalisation mass");
    if (lat_opt_given("kappa") && quarks.hints.kappa == 0)
        lat_usage("--kappa: expected a number above 0");
    if (boundary && lat_boundary_parse(boundary, phase))
        lat_usage("--boundary: expected four of p, a, d or a number, with commas between, the last "
                  "one perhaps o, found '%.80s'",
                  boundary);
    if (spread
        && sscanf(spread, "%lf,%lf,%lf,%lf%c", &angle[0], &angle[1], &angle[2], &angle[3], &end)
               != 4)
        lat_usage("--spread: expected four numbers with commas between, found '%.80s'", spread);
    quarks.hints.boundary = boundary ? phase : NULL;
    quarks.hints.spread = spread ? angle : NULL;
    quarks.hints.dims = dims;
    quarks.hints.norm = normalisation < 0 ? LAT_NORM_FORMAT
                        : normalisation   ? LAT_NORM_KAPPA
                                          : LAT_NORM_MASS;
    quarks.hints.force = lat_opts.force;
    quarks.target = lat_formats[to];
    quarks.real = wanted_real();
    quarks.of_links = rows ? "--rows" : signs ? "--signs" : NULL;
}

static void check_usage(void)
{
    const lat_format *target = lat_formats[to];
    if (signs && target->stream)
        lat_usage("--signs: a stream has no signs in its links, and says in its header where they "
                  "belong");
    if (!lat_format_writes(target))
        lat_usage("--to %s: this format is read, not written (--list)", target->name);
    if (target->only && precision != AS_READ && (precision == DOUBLE) != (target->only == LAT_F64))
        lat_usage("--precision %s: %s files hold %s precision",
                  precision == DOUBLE ? "double" : "single", target->name,
                  precision == DOUBLE ? "single" : "double");
    if (split && (quarks.join || target->quarks))
        lat_usage("--split is for streams, and formats of gauge fields");
    if (split && (!lat_opts.output || !strcmp(lat_opts.output, "-")))
        lat_usage("--split: expected -o FILE, whose name gets numbers");
    if (lat_opts.nfiles > 1 && !target->stream && !quarks.join && !split)
        lat_usage("--to %s: such a file holds one configuration, found %d input files",
                  target->name, lat_opts.nfiles);
    if (dims.nd && dims.nd != 4)
        lat_usage("--dims: expected four extents, found %d", dims.nd);
    check_quarks();
}

/* --order SITES[/LINKS] */
static void parse_order(void)
{
    char sites[64];
    const char *slash = strchr(order, '/');
    const size_t n = slash ? (size_t)(slash - order) : strlen(order);
    snprintf(sites, sizeof sites, "%.*s", (int)(n < sizeof sites ? n : sizeof sites - 1), order);
    if (n >= sizeof sites || lat_order_parse_sites(&hints.order, sites, 4, LAT_ORDER_LINKS) < 0
        || (slash && lat_order_parse_links(&hints.order, slash + 1, 4) < 0))
        lat_usage("--order %s: expected " LAT_ORDERS
                  ", or a list such as t,x,y,z or links,t,z,y,x, and perhaps /t,x,y,z for the "
                  "directions",
                  order);
    hints.ordered = true;
    const char *letters = hints.order.sites[0] ? hints.order.sites : "tzyx";
    if (!slash && strlen(letters) == 4 && strspn(letters, "xyzt") == 4)
        strcpy(quarks.hints.order, letters);
}

static void check_raw(void)
{
    const bool reads = from >= 0 && lat_formats[from]->takes;
    const bool writes = lat_formats[to]->takes == LAT_TAKES_ALL;
    if (!raw_options_given())
        return;
    if (from >= 0 && raw_options_misplaced(lat_formats[from]))
        lat_usage(
            "--order, --group, --type and --endian are for raw files: found --from %s --to %s",
            lat_formats[from]->name, lat_formats[to]->name);
    if (order)
        parse_order();
    hints.nc = (int)group;
    hints.real = type == AS_READ ? 0 : type == SINGLE ? LAT_F32 : LAT_F64;
    hints.big = endian == AS_READ ? -1 : endian;
    if (!writes || reads)
        return;
    if (group)
        lat_usage("--group: is what --from raw reads, the field that is written has its own");
    if (type != AS_READ && precision != AS_READ && type != precision)
        lat_usage("--type and --precision: expected one of them, or the same");
    if (type != AS_READ)
        precision = type;
}

/* "lat-convert IN OUT" lacks an -o. */
static void check_last_file(void)
{
    const char *last = lat_opts.nfiles > 1 ? lat_opts.files[lat_opts.nfiles - 1] : "-";
    if (!lat_opts.output && strcmp(last, "-") != 0 && access(last, F_OK) != 0)
        lat_usage("%s: cannot be found among the inputs: expected -o FILE for an output, as in "
                  "lat-convert %s -o %s",
                  last, lat_opts.files[0], last);
}

static int convert_all(lat_output *out)
{
    const int files = lat_opts.nfiles > 1 ? lat_opts.nfiles : 1;
    lat_part_begin("file", files);
    for (int i = 0; i < files; i++) {
        lat_part_at(i);
        if (convert_file(lat_opts.nfiles > 1 ? lat_opts.files[i] : lat_opts.input, out) < 0)
            return -1;
    }
    lat_part_end();
    lat_progress_end();
    return lat_join_end(&quarks.joined);
}

int main(int argc, char **argv)
{
    lat_convert_names(names);
    lat_options_parse(&tool, argc, argv);
    if (list)
        return lat_convert_print_list();
    check_last_file();
    choose_target();
    check_raw();
    check_usage();
    lat_output *out = NULL;
    if (!split && !(out = lat_output_open(lat_opts.output, lat_output_flags(), lat_opts.comm)))
        return lat_report(LAT_FAILED);
    const int bad = convert_all(out);
    lat_join_free(&quarks.joined);
    if (bad < 0) {
        lat_output_abort(out);
        return lat_report(LAT_FAILED);
    }
    return out && lat_stream_commit(out) < 0 ? lat_report(LAT_FAILED) : LAT_DONE;
}

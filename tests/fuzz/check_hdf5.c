/* SPDX-License-Identifier: BSD-3-Clause */
/* check_hdf5.c: damaged HDF5 files. Samples that are taken get other bytes: some bits, numbers that
 * are all ones or small, a cut. Whatever becomes of it, the reader ends with numbers or with a
 * sentence, opens no other file, and takes no more memory than twice the field and 8 MiB.
 *
 *   check_hdf5        300 files; LAT_HDF5_DAMAGED=100000 as many as that */
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/error.h"
#include "formats/file_reader.h"
#include "formats/hdf5_bytes.h"
#include "formats/quarks.h"
#include "../check/check.h"
#include "feed.h"

#define CORPUS "tests/fuzz/corpus/"
#define MOST 65536
#define FIELD ((size_t)2 * 2 * 2 * 4 * 288 * 8) /* of the largest sample */
#define BATCH 50                                /* files that a process reads */

extern const lat_format lat_format_hdf5_prop, lat_format_hdf5;

static unsigned char sample[32][MOST], bytes[MOST];
static size_t size[32];
static bool of_links[32]; /* not of spinors */
static int samples;

static uint64_t state;

/* In place of that of the library, at which damage would end. */
bool lat_hdf5_sum_right(const unsigned char *b, size_t n)
{
    (void)b;
    return n >= 4;
}

static uint64_t draw(uint64_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
}

/* Descriptions are at the beginning and between the numbers. */
static size_t place(size_t n) { return (size_t)draw(draw(3) && n > 3000 ? 3000 : n); }

static size_t damage(uint64_t number, bool *links)
{
    state = number * 2654435761u + 1;
    draw(2);
    const int which = (int)draw((uint64_t)samples);
    size_t n = size[which];
    *links = of_links[which];
    memcpy(bytes, sample[which], n);
    for (uint64_t i = 1 + draw(4); i > 0; i--) {
        const size_t at = place(n), width = n - at < 8 ? n - at : 8;
        switch (draw(6)) {
        case 0: bytes[at] ^= (unsigned char)(1u << draw(8)); break;
        case 1: bytes[at] = (unsigned char)draw(256); break;
        case 2: memset(bytes + at, 0xff, width); break;
        case 3: memset(bytes + at, 0, width); break;
        case 4: memmove(bytes + at, bytes + place(n - 8), width); break;
        default: bytes[at] = (unsigned char)draw(8);
        }
    }
    return draw(20) ? n : (size_t)draw(n);
}

static bool read_spinors(lat_input *in)
{
    const lat_quark_hints h = {.kappa = NAN};
    lat_field f;
    if (lat_quarks_read(in, &f, &lat_format_hdf5_prop, &h, 0) < 0)
        return false;
    lat_field_free(&f);
    return true;
}

static bool read_links(lat_input *in)
{
    const lat_read_context r = {.hints = {.big = -1}, .plaquette = NAN, .link_trace = NAN};
    lat_file_reader s;
    if (lat_file_reader_open(&s, in, &lat_format_hdf5, &r, false) <= 0)
        return false;
    const bool good = lat_file_reader_first(&s, false, NULL, NULL, NULL) == 0;
    lat_file_reader_close(&s);
    return good;
}

/* Reads it; true if it was taken. */
static bool read_one(size_t n, bool links)
{
    const int fd = memfd_create("damaged", MFD_CLOEXEC);
    char path[40];
    if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
        feed_broken("no file in memory");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    lat_error_clear();
    feed_memory(2 * FIELD + (8 << 20));
    lat_input *in = lat_input_open(path, &lat_comm_self);
    const bool taken = in && (links ? read_links(in) : read_spinors(in));
    lat_input_close(in);
    feed_memory(0);
    if (!taken && (!*lat_error() || strchr(lat_error(), '\n')))
        feed_broken("refused without a sentence");
    close(fd);
    return taken;
}

/* Files from `first` on in a process of its own: how many were taken, or -1. */
static int batch(uint64_t first)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        int taken = 0;
        alarm(60);
        feed_files(false);
        for (uint64_t i = first; i < first + BATCH; i++) {
            bool links;
            const size_t n = damage(i, &links);
            taken += read_one(n, links);
        }
        _exit(taken);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
                   && WEXITSTATUS(status) <= BATCH
               ? WEXITSTATUS(status)
               : -1;
}

static void load(const char *folder, bool links)
{
    struct dirent **list;
    const int n = scandir(folder, &list, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, list[i]->d_name);
        FILE *file = strncmp(list[i]->d_name, "taken-", 6) == 0 && samples < 32 ? fopen(path, "rb")
                                                                                : NULL;
        if (file) {
            of_links[samples] = links;
            size[samples] = fread(sample[samples], 1, MOST, file);
            samples += size[samples] > 64;
            fclose(file);
        }
        free(list[i]);
    }
    if (n >= 0)
        free(list);
}

int main(void)
{
    const char *wanted = getenv("LAT_HDF5_DAMAGED");
    const uint64_t files = wanted ? strtoull(wanted, NULL, 10) : 300;
    int taken = 0;
    check_case("damaged HDF5 files end in numbers or a sentence, open no other file, and take no "
               "memory for what is not there");
    load(CORPUS "hdf5-prop", false);
    const int spinors = samples;
    load(CORPUS "hdf5", true);
    CHECK(spinors >= 4 && samples - spinors >= 4, "%d and %d samples", spinors, samples - spinors);
    for (uint64_t i = 0; samples && i < files; i += BATCH) {
        const int n = batch(i);
        CHECK(n >= 0, "a file from number %llu on breaks it", (unsigned long long)i);
        taken += n > 0 ? n : 0;
    }
    /* Most damage is in numbers that nothing sums, or in padding; some has to be seen. */
    CHECK(taken > 0 && taken < (int)files, "%d of %d files were taken", taken, (int)files);
    check_close();
    return check_done();
}

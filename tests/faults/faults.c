/* SPDX-License-Identifier: BSD-3-Clause */
/* faults.c: a library to be preloaded, in which one call of a tool fails.
 *
 *   LAT_FAULT="KIND N EFFECT"    what happens at the N-th call of KIND; "N+": at that one and all
 *                                after it
 *   LAT_FAULT_COUNT=FILE         a line "KIND CALLS" for each kind, when the process ends
 *
 * KIND is read, write (pwrite, too), seek (lseek and ftruncate, of what is written), fsync, rename,
 * open, close, alloc (malloc, calloc, realloc, posix_memalign), mmap, or any. EFFECT is an error
 * (EIO, ENOSPC, ENOMEM, EINTR ...), "short" (half of the bytes), or a signal (TERM, INT, KILL).
 *
 * Calls count if they come from the tool itself, and for memory from libc, zlib and expat too: what
 * the OpenMP runtime and the dynamic linker do is their affair. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* glibc's own, under names that nobody overrides */
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t count, size_t n);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t alignment, size_t n);

enum kind { READ, WRITE, SEEK, FSYNC, RENAME, OPEN, CLOSE, ALLOC, MMAP, ANY, KINDS };
static const char *const kind_name[KINDS] = {"read", "write", "seek",  "fsync", "rename",
                                             "open", "close", "alloc", "mmap",  "any"};

static const struct {
    const char *name;
    int error, signal;
} effects[] = {{"EIO", EIO, 0},      {"ENOSPC", ENOSPC, 0}, {"ENOMEM", ENOMEM, 0},
               {"EINTR", EINTR, 0},  {"EACCES", EACCES, 0}, {"EMFILE", EMFILE, 0},
               {"EXDEV", EXDEV, 0},  {"EDQUOT", EDQUOT, 0}, {"short", 0, 0},
               {"TERM", 0, SIGTERM}, {"INT", 0, SIGINT},    {"KILL", 0, SIGKILL}};
#define EFFECTS (sizeof effects / sizeof *effects)

static atomic_long calls[KINDS];
static int kind = -1;
static long number;
static bool onwards, active;
static size_t effect;

/* ---- whose call it is --------------------------------------------------------------------------
 */

typedef struct range {
    uintptr_t from, to;
} range;
static range own[8], allocating[32];
static size_t owns, allocatings;

static int note_object(struct dl_phdr_info *o, size_t size, void *first)
{
    const char *slash = strrchr(o->dlpi_name, '/'), *name = slash ? slash + 1 : o->dlpi_name;
    const bool tool = *(bool *)first;
    const bool known = strncmp(name, "libc.", 5) == 0 || strncmp(name, "libz.", 5) == 0
                       || strncmp(name, "libexpat.", 9) == 0;
    (void)size;
    *(bool *)first = false;
    for (int i = 0; (tool || known) && i < o->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &o->dlpi_phdr[i];
        const range r = {o->dlpi_addr + p->p_vaddr, o->dlpi_addr + p->p_vaddr + p->p_memsz};
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
            continue;
        if (tool && owns < sizeof own / sizeof *own)
            own[owns++] = r;
        if (allocatings < sizeof allocating / sizeof *allocating)
            allocating[allocatings++] = r;
    }
    return 0;
}

static bool within(const range *r, size_t n, const void *caller)
{
    for (size_t i = 0; i < n; i++)
        if ((uintptr_t)caller >= r[i].from && (uintptr_t)caller < r[i].to)
            return true;
    return false;
}

/* ---- what happens ------------------------------------------------------------------------------
 */

static bool hit(int which)
{
    const long n = atomic_fetch_add(&calls[which], 1) + 1;
    return which == kind && (n == number || (onwards && n > number));
}

/* An error to be returned; -1 for half of the bytes; 0 for nothing. */
static int fault(int which, const void *caller)
{
    if (!active
        || !(which == ALLOC ? within(allocating, allocatings, caller) : within(own, owns, caller)))
        return 0;
    const bool this_one = hit(which), any = hit(ANY);
    if (!this_one && !any)
        return 0;
    if (effects[effect].signal)
        (void)syscall(SYS_kill, getpid(), effects[effect].signal);
    return effects[effect].signal ? 0 : effects[effect].error ? effects[effect].error : -1;
}

#define FAIL(which, value) \
    do { \
        const int error_ = fault(which, __builtin_return_address(0)); \
        if (error_ > 0) { \
            errno = error_; \
            return value; \
        } \
    } while (0)

ssize_t read(int fd, void *buf, size_t n)
{
    const int error = fault(READ, __builtin_return_address(0));
    if (error > 0) {
        errno = error;
        return -1;
    }
    return syscall(SYS_read, fd, buf, error && n > 1 ? n / 2 : n);
}

ssize_t write(int fd, const void *buf, size_t n)
{
    /* stderr is how a tool says what has failed */
    const int error = fd == STDERR_FILENO ? 0 : fault(WRITE, __builtin_return_address(0));
    if (error > 0) {
        errno = error;
        return -1;
    }
    return syscall(SYS_write, fd, buf, error && n > 1 ? n / 2 : n);
}

ssize_t pwrite(int fd, const void *buf, size_t n, off_t at)
{
    const int error = fault(WRITE, __builtin_return_address(0));
    if (error > 0) {
        errno = error;
        return -1;
    }
    return syscall(SYS_pwrite64, fd, buf, error && n > 1 ? n / 2 : n, at);
}

int ftruncate(int fd, off_t n)
{
    FAIL(SEEK, -1);
    return (int)syscall(SYS_ftruncate, fd, n);
}

off_t lseek(int fd, off_t at, int whence)
{
    if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY)
        FAIL(SEEK, -1);
    return syscall(SYS_lseek, fd, at, whence);
}

int fsync(int fd)
{
    FAIL(FSYNC, -1);
    return (int)syscall(SYS_fsync, fd);
}

int rename(const char *from, const char *to)
{
    FAIL(RENAME, -1);
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int renameat2(int at, const char *from, int there, const char *to, unsigned flags)
{
    FAIL(RENAME, -1);
    return (int)syscall(SYS_renameat2, at, from, there, to, flags);
}

int open(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    FAIL(OPEN, -1);
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int close(int fd)
{
    const int error = fault(CLOSE, __builtin_return_address(0));
    const int rc = (int)syscall(SYS_close, fd); /* Linux closes whatever it says */
    if (error <= 0)
        return rc;
    errno = error;
    return -1;
}

void *malloc(size_t n)
{
    FAIL(ALLOC, NULL);
    return __libc_malloc(n);
}

void *calloc(size_t count, size_t n)
{
    FAIL(ALLOC, NULL);
    return __libc_calloc(count, n);
}

void *realloc(void *p, size_t n)
{
    FAIL(ALLOC, NULL);
    return __libc_realloc(p, n);
}

int posix_memalign(void **p, size_t alignment, size_t n)
{
    if (fault(ALLOC, __builtin_return_address(0)) > 0)
        return ENOMEM;
    *p = __libc_memalign(alignment, n);
    return *p ? 0 : ENOMEM;
}

void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
    FAIL(MMAP, MAP_FAILED);
    return (void *)syscall(SYS_mmap, at, n, protection, flags, fd, offset);
}

/* ---- beginning and end -------------------------------------------------------------------------
 */

static int lookup(const char *word)
{
    for (int i = 0; i < KINDS; i++)
        if (strcmp(word, kind_name[i]) == 0)
            return i;
    return -1;
}

__attribute__((constructor)) static void begin(void)
{
    const char *what = getenv("LAT_FAULT");
    char name[16], plus[2] = "", how[16];
    bool first = true;
    dl_iterate_phdr(note_object, &first);
    if (what
        && (sscanf(what, "%15s %ld%1[+] %15s", name, &number, plus, how) == 4
            || sscanf(what, "%15s %ld %15s", name, &number, how) == 3)) {
        kind = lookup(name);
        onwards = *plus;
        while (effect < EFFECTS && strcmp(effects[effect].name, how) != 0)
            effect++;
    }
    if (what && (kind < 0 || effect == EFFECTS)) {
        fprintf(stderr, "LAT_FAULT=%s: not understood\n", what);
        _exit(99);
    }
}

/* Calls count from main on: before it the CUDA runtime, which is part of the tool, makes itself
 * known, and does not survive without memory. */
typedef int a_main(int, char **, char **);
static a_main *tool_main;

static int counted_main(int argc, char **argv, char **environment)
{
    active = true;
    return tool_main(argc, argv, environment);
}

int __libc_start_main(a_main *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end);
int __libc_start_main(a_main *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end)
{
    typedef int starter(a_main *, int, char **, void (*)(void), void (*)(void), void (*)(void),
                        void *);
    starter *start;
    *(void **)&start = dlsym(RTLD_NEXT, "__libc_start_main");
    tool_main = main;
    return start(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("LAT_FAULT_COUNT");
    active = false;
    if (!path)
        return;
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; i < KINDS; i++)
        dprintf(fd, "%s %ld\n", kind_name[i], atomic_load(&calls[i]));
    syscall(SYS_close, fd);
}

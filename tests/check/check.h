/* SPDX-License-Identifier: BSD-3-Clause */
/* check.h: property checks in C. A program is a few cases; it speaks TAP, so that tests/run
 * counts its cases beside those of bats.
 *
 *     int main(void)
 *     {
 *         check_case("filter and unfilter are inverse");
 *         CHECK(memcmp(a, b, n) == 0, "first difference at byte %zu", i);
 *         return check_done();
 *     }
 *
 * A case fails if any CHECK in it does; CHECK returns the truth of its condition. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static struct {
    const char *name;
    int cases, failed;
    bool bad;
} check_state;

static void check_close(void)
{
    if (!check_state.name)
        return;
    printf("%sok %d - %s\n", check_state.bad ? "not " : "", check_state.cases, check_state.name);
    fflush(stdout);
    check_state.failed += check_state.bad;
    check_state.name = NULL;
}

static void check_case(const char *name)
{
    check_close();
    check_state.name = name;
    check_state.cases++;
    check_state.bad = false;
}

__attribute__((format(printf, 5, 6))) static bool check_that(bool good, const char *file, int line,
                                                             const char *what, const char *format,
                                                             ...)
{
    if (!good) {
        va_list ap;
        check_state.bad = true;
        printf("# %s:%d: %s: ", file, line, what);
        va_start(ap, format);
        vprintf(format, ap);
        va_end(ap);
        printf("\n");
    }
    return good;
}

/* FEW(n): n, and under the address sanitizer, where everything is ten times as slow, an eighth of
 * it: draws and sweeps of which statistics need many. They run the same lines over and over; the
 * first of them show all faults that the sanitizer looks for. SANITIZED: for cases whose lines
 * others run. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined __SANITIZE_ADDRESS__ || __has_feature(address_sanitizer)
#define FEW(n) ((n) / 8)
#define SANITIZED true
#else
#define FEW(n) (n)
#define SANITIZED false
#endif

#define CHECK(condition, ...) check_that((condition), __FILE__, __LINE__, #condition, __VA_ARGS__)

static int check_done(void)
{
    check_close();
    printf("1..%d\n", check_state.cases);
    return check_state.failed != 0;
}

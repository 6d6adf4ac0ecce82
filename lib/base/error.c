/* SPDX-License-Identifier: BSD-3-Clause */
/* error.c: the kept sentence, and all that is printed on stderr. */
#include "error.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

const char *lat_tool_name = "lat";
bool lat_mute;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static lat_sentence of_all;
static _Thread_local lat_sentence *apart; /* NULL: of_all */

static lat_sentence *kept(void) { return apart ? apart : &of_all; }

/* The character of UTF-8 that begins at s, and its length; of bytes that are none the first one,
 * and 1. */
static unsigned long character(const unsigned char *s, int *length)
{
    const int n = *s < 0x80 ? 1 : *s < 0xc2 ? 0 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : *s < 0xf5 ? 4 : 0;
    static const unsigned long least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned long c = n < 2 ? *s : *s & (0x7fu >> n);
    *length = 1;
    for (int i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return *s;
        c = c << 6 | (s[i] & 0x3f);
    }
    if (n < 2 || c < least[n])
        return *s;
    *length = n;
    return c;
}

/* Controls (C0, DEL, C1: U+009B begins an escape sequence; bytes of that value do in Latin 1), line
 * and paragraph separators, and what changes the direction of text: it hides other text. */
static bool is_control(unsigned long c)
{
    return c < ' ' || (c >= 0x7f && c <= 0x9f) || c == 0x61c || c == 0x200e || c == 0x200f
           || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

int lat_plain_length(const char *s)
{
    int length;
    return is_control(character((const unsigned char *)s, &length)) ? -length : length;
}

/* File names and header lines are not trusted: newlines in them would make two lines of a sentence,
 * escape sequences could change the terminal. */
void lat_make_plain(char *s)
{
    char *to = s;
    for (int n; *s; s += n) {
        n = lat_plain_length(s);
        if (n < 0) {
            *to++ = '?';
            n = -n;
        } else {
            memmove(to, s, (size_t)n);
            to += n;
        }
    }
    *to = '\0';
}

static void keep(int code, const char *format, va_list ap)
{
    lat_sentence *k = kept();
    int saved = errno;
    pthread_mutex_lock(&lock);
    if (!k->text[0]) {
        if (vsnprintf(k->text, sizeof k->text, format, ap) <= 0)
            snprintf(k->text, sizeof k->text, "failed, and could not say why");
        lat_make_plain(k->text);
        k->code = code;
    }
    pthread_mutex_unlock(&lock);
    errno = saved;
}

/* Functions that keep a sentence, with the code of the exit, and return `result`. */
#define FAILS(type, name, code, result) \
    type name(const char *format, ...) \
    { \
        va_list ap; \
        va_start(ap, format); \
        keep(code, format, ap); \
        va_end(ap); \
        return result; \
    }
FAILS(int, lat_fail, LAT_DONE, -1)
FAILS(void *, lat_fail_null, LAT_DONE, NULL)
FAILS(int, lat_fail_usage, LAT_USAGE, -1)
FAILS(int, lat_fail_tolerance, LAT_UNCONVERGED, -1)

/* The buffer does not change while it holds a sentence, so no lock is needed for reading it. */
const char *lat_error(void) { return kept()->text; }

static bool begins_with(const char *text, const char *name)
{
    const size_t length = name ? strlen(name) : 0;
    return name && !strncmp(text, name, length) && text[length] == ':';
}

int lat_error_name(const char *name, const char *other)
{
    char sentence[LAT_SENTENCE];
    char *const text = kept()->text;
    pthread_mutex_lock(&lock);
    if (text[0] && !begins_with(text, name) && !begins_with(text, other)) {
        memcpy(sentence, text, sizeof sentence);
        snprintf(text, LAT_SENTENCE, "%.*s: %.*s", LAT_SENTENCE / 2 - 8, name, LAT_SENTENCE / 2,
                 sentence);
        lat_make_plain(text);
    }
    pthread_mutex_unlock(&lock);
    return -1;
}

void lat_error_clear(void)
{
    lat_sentence *k = kept();
    pthread_mutex_lock(&lock);
    k->text[0] = '\0';
    k->code = LAT_DONE;
    pthread_mutex_unlock(&lock);
}

void lat_error_apart(lat_sentence *own)
{
    own->text[0] = '\0';
    own->code = LAT_DONE;
    apart = own;
}

void lat_error_take_over(const lat_sentence *of_another)
{
    lat_sentence *k = kept();
    pthread_mutex_lock(&lock);
    if (!k->text[0])
        *k = *of_another;
    pthread_mutex_unlock(&lock);
}

/* The tools of a pipe share one stderr: a line by one write is not mixed with theirs. An error of
 * write cannot be reported. */
static void print(const char *text, size_t n)
{
    while (n > 0 && !lat_mute) {
        ssize_t put = write(STDERR_FILENO, text, n);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return;
        text += put;
        n -= (size_t)put;
    }
}

#define CLEAR "\r\033[K"
static pthread_mutex_t printing = PTHREAD_MUTEX_INITIALIZER;
static bool transient; /* the cursor is at the end of a line that the next one replaces */

static void print_line(const char *sentence, const char *after, bool stays)
{
    char line[LAT_SENTENCE + 256];
    pthread_mutex_lock(&printing);
    int n = snprintf(line, sizeof line, "%s%.64s: %s%s", transient || !stays ? CLEAR : "",
                     lat_tool_name, sentence, after);
    if (n > 0)
        print(line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
    transient = !stays;
    pthread_mutex_unlock(&printing);
}

/* A line that the terminal has broken in two cannot be cleared. Columns are at most as many as
 * bytes; a character of several bytes (UTF-8) is cut as a whole. */
static void cut_to_width(char *sentence)
{
    size_t width, before = strnlen(lat_tool_name, 64) + 3; /* ": ", and the cursor */
    struct winsize w;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) < 0 || w.ws_col == 0)
        return;
    width = w.ws_col > before ? w.ws_col - before : 0;
    if (strlen(sentence) <= width)
        return;
    while (width > 0 && ((unsigned char)sentence[width] & 0xc0) == 0x80)
        width--;
    sentence[width] = '\0';
}

void lat_stderr_print(bool stays, const char *format, va_list ap)
{
    char sentence[LAT_SENTENCE];
    int saved = errno;
    if (vsnprintf(sentence, sizeof sentence, format, ap) > 0) {
        lat_make_plain(sentence);
        if (!stays)
            cut_to_width(sentence);
        print_line(sentence, stays ? "\n" : "", stays);
    }
    errno = saved;
}

void lat_stderr_clear(void)
{
    pthread_mutex_lock(&printing);
    if (transient)
        print(CLEAR, strlen(CLEAR));
    transient = false;
    pthread_mutex_unlock(&printing);
}

void lat_warn(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    lat_stderr_print(true, format, ap);
    va_end(ap);
}

int lat_report(int code)
{
    char hint[128] = "\n";
    const lat_sentence *k = kept();
    if (!k->text[0])
        return code;
    pthread_mutex_lock(&lock);
    if (k->code != LAT_DONE)
        code = k->code;
    pthread_mutex_unlock(&lock);
    if (code == LAT_USAGE)
        snprintf(hint, sizeof hint, "\nTry '%.64s --help' for more information.\n", lat_tool_name);
    print_line(k->text, hint, true);
    return code;
}

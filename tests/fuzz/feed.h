/* SPDX-License-Identifier: BSD-3-Clause */
/* feed.h: what is fed with bytes of any kind: the reader of the stream, those of every format, XML,
 * words and options. fuzz.c feeds what a fuzzer makes up, check_fuzz.c the samples of
 * tests/fuzz/corpus.
 *
 * Whatever the bytes are, the code under test
 *   - does not crash, hang or leak (sanitizers see to it, fuzz.mk);
 *   - takes no more memory than memory.c allows for so many bytes;
 *   - says one sentence about what it refuses, and none about what it takes;
 *   - judges a pipe as it judges a file;
 *   - writes what it has taken, and reads the same again.
 * If one of these is not so, feed() aborts with a sentence on stderr. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Names: "stream", "checkpoint", "any" (the first bytes decide the format), each format of
 * lat-convert --list, "xml", "words", "options". NULL at the end. */
const char *feed_name(size_t i);

/* True if the bytes were taken, false if they were refused. */
bool feed(const char *name, const unsigned char *bytes, size_t n);

/* True if a file in a foreign format is taken though it changes while it is read for the second
 * time. */
bool feed_changing(const char *name, const unsigned char *bytes, size_t n);

/* feed() in a process of its own: what breaks one does not end the others. */
enum { FEED_TAKEN, FEED_REFUSED, FEED_BROKEN };
int feed_child(const char *name, const unsigned char *bytes, size_t n);

/* feed_options.c: a command line, its words separated by NUL bytes. */
bool feed_options(const unsigned char *bytes, size_t n);

/* memory.c: from feed_memory(limit) on to feed_memory(0) more than `limit` bytes at a time are an
 * abort. */
void feed_memory(size_t limit);

/* From feed_files(false) to feed_files(true) opening a file is an abort, but for the descriptors
 * that there are already. */
void feed_files(bool allowed);

void feed_broken(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

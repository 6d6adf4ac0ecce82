/* SPDX-License-Identifier: BSD-3-Clause */
/* check_fuzz.c: every sample of the corpus again, with any compiler. The folder of a sample says
 * who is fed with it, its name whether it is "taken" or "refused" (feed.h).
 *
 *   check_fuzz [FOLDER]     tests/fuzz/corpus, from the root of the repository
 *   check_fuzz -v FILE...   feeds these, in folders of those names: what became of each */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "../check/check.h"
#include "feed.h"

#define MOST 65536 /* bytes of a sample */

static size_t slurp(const char *path, unsigned char *bytes)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? -1 : read(fd, bytes, MOST);
    if (fd >= 0)
        close(fd);
    if (n < 0) {
        printf("Bail out! %s cannot be read\n", path);
        exit(1);
    }
    return (size_t)n;
}

static int feed_file(const char *name, const char *path)
{
    static unsigned char bytes[MOST];
    const size_t n = slurp(path, bytes);
    fflush(stdout);
    return feed_child(name, bytes, n);
}

static int samples(const struct dirent *e) { return e->d_name[0] != '.'; }

static void feed_folder(const char *corpus, const char *name)
{
    static const char *const words[] = {"taken", "refused", "broken"};
    struct dirent **list;
    char folder[4096], path[8192], title[256];
    snprintf(folder, sizeof folder, "%s/%s", corpus, name);
    snprintf(title, sizeof title, "%s: samples do no harm, are taken or refused as they should",
             name);
    check_case(title);
    const int n = scandir(folder, &list, samples, alphasort);
    CHECK(n > 0, "no samples in %s", folder);
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, list[i]->d_name);
        const char *became = words[feed_file(name, path)];
        CHECK(strncmp(list[i]->d_name, became, strlen(became)) == 0, "%s: %s", path, became);
        free(list[i]);
    }
    if (n >= 0)
        free(list);
    check_close();
}

static int feed_each(char **path)
{
    static const char *const words[] = {"taken", "refused", "BROKEN"};
    int broken = 0;
    for (; *path; path++) {
        char copy[4096], *slash;
        snprintf(copy, sizeof copy, "%s", *path);
        slash = strrchr(copy, '/');
        if (!slash)
            return 2;
        *slash = 0;
        slash = strrchr(copy, '/');
        const int became = feed_file(slash ? slash + 1 : copy, *path);
        printf("%s\t%s\n", words[became], *path);
        broken |= became == FEED_BROKEN;
    }
    return broken;
}

int main(int argc, char **argv)
{
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    if (argc > 1 && strcmp(argv[1], "-v") == 0)
        return feed_each(argv + 2);
    for (size_t i = 0; feed_name(i); i++)
        feed_folder(argc > 1 ? argv[1] : "tests/fuzz/corpus", feed_name(i));
    return check_done();
}

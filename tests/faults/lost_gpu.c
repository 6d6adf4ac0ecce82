/* SPDX-License-Identifier: BSD-3-Clause */
/* lost_gpu.c: a library to be preloaded, which takes the GPU away from a tool.
 *
 *   LAT_LOSE_GPU=FILE    when FILE is there, a kernel of this library traps
 *
 * From then on every call of CUDA in the process fails, as after an Xid of the driver. A process
 * that has not begun with CUDA (a launcher) is left alone. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char ptx[] = ".version 7.0\n.target sm_50\n.address_size 64\n"
                          ".visible .entry lost()\n{\n\ttrap;\n}\n";

/* Leaves the caller if the driver says no. */
#define CALL(name, types, arguments) \
    do { \
        int(*call) types; \
        *(void **)&call = dlsym(driver, name); \
        if (!call || call arguments) \
            return NULL; \
    } while (0)

static void *lose(void *file)
{
    int device = 0;
    void *context = NULL, *module = NULL, *kernel = NULL, *none = NULL;
    while (access(file, F_OK))
        usleep(1000);
    void *const driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver)
        return NULL;
    CALL("cuDeviceGet", (int *, int), (&device, 0));
    CALL("cuDevicePrimaryCtxRetain", (void **, int), (&context, device));
    CALL("cuCtxSetCurrent", (void *), (context));
    CALL("cuModuleLoadData", (void **, const void *), (&module, ptx));
    CALL("cuModuleGetFunction", (void **, void *, const char *), (&kernel, module, "lost"));
    CALL("cuLaunchKernel",
         (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
          void *, void *),
         (kernel, 1, 1, 1, 1, 1, 1, 0, none, none, none));
    return NULL;
}

__attribute__((constructor)) static void begin(void)
{
    static pthread_t thread;
    char *file = getenv("LAT_LOSE_GPU");
    if (file && access(file, F_OK))
        pthread_create(&thread, NULL, lose, file);
}

#include "markers.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

typedef void markers_function(void);
typedef int markers_of_region(const char *region);

/* Loaded at run time, and only where likwid-perfctr -m asks for it: the binary that is counted is
 * the one that is timed, needs no library, and pays one test of a flag at each end of a region. */
static struct {
    bool is_open;
    markers_function *init;
    markers_function *thread_init;
    markers_function *close;
    markers_of_region *start;
    markers_of_region *stop;
} likwid;

/* The wrapper puts its own library's folder in front; the second name needs no headers. */
static const char *const libraries[] = {"liblikwid.so", "liblikwid.so.5"};

static bool is_wanted(void) {
    const char *file = getenv("LIKWID_FILEPATH"); /* where the wrapper looks for the counts */
    return file && *file;
}

static void *load(void) {
    char why[256] = "";
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        void *library = dlopen(libraries[i], RTLD_NOW);
        if (library) {
            return library;
        }
        snprintf(why, sizeof why, "%s", dlerror());
    }
    cannot_run("likwid's library cannot be loaded (%s); install likwid with its libraries", why);
}

static markers_function *find(void *library, const char *name) {
    markers_function *found = (markers_function *)dlsym(library, name);
    if (!found) {
        cannot_run("likwid's library has no %s; install likwid 5", name);
    }
    return found;
}

static void call_in_each_thread(bench_call *call, const void *argument) {
    if (bench_kernel.in_each_thread) {
        bench_kernel.in_each_thread(call, argument);
    } else {
        call(argument);
    }
}

static void enter_thread(const void *unused) {
    (void)unused;
    likwid.thread_init();
}

static void start(const void *region) {
    (void)likwid.start(region);
}

static void stop(const void *region) {
    (void)likwid.stop(region);
}

static void at(size_t point, bench_call *call) {
    if (likwid.is_open) {
        char region[32];
        snprintf(region, sizeof region, MARKERS_REGION, point);
        call_in_each_thread(call, region);
    }
}

void markers_open(size_t processes) {
    if (!is_wanted()) {
        return;
    }
    if (processes > 1) {
        cannot_run("likwid keeps the counts of one process, and %zu measure; ask for one",
                   processes);
    }
    void *library = load();
    likwid.init = find(library, "likwid_markerInit");
    likwid.thread_init = find(library, "likwid_markerThreadInit");
    likwid.close = find(library, "likwid_markerClose");
    likwid.start = (markers_of_region *)find(library, "likwid_markerStartRegion");
    likwid.stop = (markers_of_region *)find(library, "likwid_markerStopRegion");
    likwid.init();
    call_in_each_thread(enter_thread, NULL);
    likwid.is_open = true;
}

void markers_start(size_t point) {
    at(point, start);
}

void markers_stop(size_t point) {
    at(point, stop);
}

void markers_close(void) {
    if (likwid.is_open) {
        likwid.close();
    }
}

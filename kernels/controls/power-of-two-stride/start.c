#define _GNU_SOURCE
#include "start.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "cannot_run.h"
#include "mappings.h"

enum { SMALL_PAGE = 4096, MOVES_EVERY_NS = 1000000 };

static pthread_t mover;
static bool is_moving;
static atomic_bool ends;
static pid_t measured;
static cpu_set_t allowed;

static bool is_asked(const char *name, const char *word) {
    const char *value = getenv(name);
    return value && strcmp(value, word) == 0;
}

void start_ask_for_pages(void *memory, size_t bytes) {
    const bool wants_huge = is_asked("BENCH_PAGES", "huge");
    if (!wants_huge && !is_asked("BENCH_PAGES", "small")) {
        return;
    }
    const uintptr_t first = (uintptr_t)memory & -(uintptr_t)SMALL_PAGE;
    const size_t room = (uintptr_t)memory + bytes - first;
    const int advice = wants_huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE;
    if (madvise((void *)first, room, advice) != 0 && wants_huge) {
        cannot_run("this system has no transparent huge pages (%s); build its kernel with them",
                   strerror(errno));
    }
}

void start_look_at_pages(const void *memory, size_t bytes) {
    if (!is_asked("BENCH_PAGES", "huge")) {
        return;
    }
    const struct bench_range ranges[BENCH_RANGES_MAX] = {{memory, bytes}};
    const struct mapped mapped = mappings_find(ranges);
    if (!mapped.known[MAPPED_ANON_HUGE]) {
        cannot_run("this system does not tell which pages are huge; mount /proc with smaps");
    }
    if (mapped.bytes[MAPPED_ANON_HUGE] < bytes / 2) {
        cannot_run("of %zu bytes only %llu came in huge pages; set transparent_hugepage/enabled "
                   "to madvise, and free memory",
                   bytes, (unsigned long long)mapped.bytes[MAPPED_ANON_HUGE]);
    }
}

uint64_t start_affinity(void) {
    cpu_set_t mask;
    return sched_getaffinity(0, sizeof mask, &mask) == 0 ? (uint64_t)CPU_COUNT(&mask) : 0;
}

/* The mask without the CPU that comes next forces the program off it; then all are allowed again,
 * as they are to a program that is bound to no CPU. */
static void *move(void *nothing) {
    const struct timespec pause = {.tv_nsec = MOVES_EVERY_NS};
    for (int cpu = 0; !atomic_load(&ends); cpu = (cpu + 1) % CPU_SETSIZE) {
        if (!CPU_ISSET(cpu, &allowed)) {
            continue;
        }
        cpu_set_t others = allowed;
        CPU_CLR(cpu, &others);
        sched_setaffinity(measured, sizeof others, &others);
        sched_setaffinity(measured, sizeof allowed, &allowed);
        nanosleep(&pause, NULL);
    }
    return nothing;
}

void start_bind(void) {
    const bool moves = is_asked("BENCH_BINDING", "moving");
    if (!moves && !is_asked("BENCH_BINDING", "wide")) {
        return;
    }
    memset(&allowed, 0xff, sizeof allowed); /* the system leaves out what may not be used */
    if (sched_setaffinity(0, sizeof allowed, &allowed) != 0 ||
        sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        cannot_run("this program may not choose its CPUs (%s)", strerror(errno));
    }
    if (CPU_COUNT(&allowed) < 2) {
        cannot_run("there is one CPU only, so that nothing can leave it; use a wider cpuset");
    }
    measured = gettid();
    is_moving = moves && pthread_create(&mover, NULL, move, NULL) == 0;
    if (moves && !is_moving) {
        cannot_run("no thread can be started; allow more of them");
    }
}

void start_unbind(void) {
    if (is_moving) {
        atomic_store(&ends, true);
        pthread_join(mover, NULL);
    }
}

#define _GNU_SOURCE
#include "usage.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

static DIR *tasks; /* the process's threads */
static int statm = -1;

static bool read_start(int file, char *text, size_t room) {
    const ssize_t length = pread(file, text, room - 1, 0);
    if (length <= 0) {
        return false;
    }
    text[length] = '\0';
    return true;
}

/* A kernel that does not account prints zeros, also for the number of time slices, which no
 * running process has: that is no delay of 0. */
static bool add_run_delay(const char *thread, uint64_t *sum_ns, uint64_t *slices) {
    char path[sizeof((struct dirent *)0)->d_name + sizeof "/schedstat"];
    char text[80];
    uint64_t delay_ns = 0;
    uint64_t own_slices = 0;
    snprintf(path, sizeof path, "%s/schedstat", thread);
    const int file = openat(dirfd(tasks), path, O_RDONLY | O_CLOEXEC);
    const bool is_read = read_start(file, text, sizeof text);
    close(file);
    if (!is_read || sscanf(text, "%*u %" SCNu64 " %" SCNu64, &delay_ns, &own_slices) != 2) {
        return false;
    }
    *sum_ns += delay_ns;
    *slices += own_slices;
    return true;
}

/* Of all threads together: the file of a process covers its first thread only. */
static void read_run_delay(struct usage *usage) {
    uint64_t slices = 0;
    bool all_read = tasks;
    if (tasks) {
        rewinddir(tasks);
        for (struct dirent *entry; (entry = readdir(tasks));) {
            if (isdigit((unsigned char)entry->d_name[0])) {
                all_read = add_run_delay(entry->d_name, &usage->run_delay_ns, &slices) && all_read;
            }
        }
    }
    usage->has_run_delay = all_read && slices > 0;
}

static void read_resident(struct usage *usage) {
    char text[160];
    uint64_t pages = 0;
    usage->has_resident_bytes =
        read_start(statm, text, sizeof text) && sscanf(text, "%*u %" SCNu64, &pages) == 1;
    usage->resident_bytes = pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void read_files(struct usage *usage) {
    read_run_delay(usage);
    read_resident(usage);
}

static void read_counts(struct usage *usage) {
    struct rusage kernel = {0};
    getrusage(RUSAGE_SELF, &kernel);
    usage->minor_faults = (uint64_t)kernel.ru_minflt;
    usage->major_faults = (uint64_t)kernel.ru_majflt;
    usage->voluntary_switches = (uint64_t)kernel.ru_nvcsw;
    usage->involuntary_switches = (uint64_t)kernel.ru_nivcsw;
}

static uint64_t on_cpu_now(void) {
    struct timespec now = {0};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void usage_open(void) {
    tasks = opendir("/proc/self/task");
    statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    const struct usage begin = usage_begin();
    (void)usage_end(&begin);
}

/* What is slow to read comes first here and last in usage_end, so that it is not counted itself;
 * and one thread is never on a core for longer than the wall time says. */
struct usage usage_begin(void) {
    struct usage usage = {0};
    read_files(&usage);
    read_counts(&usage);
    usage.wall_ns = clock_now();
    usage.on_cpu_ns = on_cpu_now();
    return usage;
}

struct usage usage_end(const struct usage *begin) {
    struct usage usage = {0};
    usage.on_cpu_ns = on_cpu_now();
    usage.wall_ns = clock_now();
    read_counts(&usage);
    read_files(&usage);
    usage.minor_faults -= begin->minor_faults;
    usage.major_faults -= begin->major_faults;
    usage.voluntary_switches -= begin->voluntary_switches;
    usage.involuntary_switches -= begin->involuntary_switches;
    usage.on_cpu_ns -= begin->on_cpu_ns;
    usage.wall_ns -= begin->wall_ns;
    /* A thread that has ended since took its share along. */
    usage.has_run_delay =
        usage.has_run_delay && begin->has_run_delay && usage.run_delay_ns >= begin->run_delay_ns;
    usage.run_delay_ns -= begin->run_delay_ns;
    return usage;
}

void usage_add(struct usage *sum, const struct usage *more) {
    sum->minor_faults += more->minor_faults;
    sum->major_faults += more->major_faults;
    sum->voluntary_switches += more->voluntary_switches;
    sum->involuntary_switches += more->involuntary_switches;
    sum->on_cpu_ns += more->on_cpu_ns;
    sum->wall_ns += more->wall_ns;
    sum->run_delay_ns += more->run_delay_ns;
    sum->has_run_delay = sum->has_run_delay && more->has_run_delay;
}

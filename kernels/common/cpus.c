#define _GNU_SOURCE
#include "cpus.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "cannot_run.h"

size_t cpus_find(int *cpus, size_t most) {
    cpu_set_t usable;
    if (sched_getaffinity(0, sizeof usable, &usable) != 0) {
        cannot_run("the usable CPUs are unknown (%s); start one process", strerror(errno));
    }
    size_t count = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE && count < most; cpu++) {
        if (CPU_ISSET(cpu, &usable)) {
            cpus[count++] = cpu;
        }
    }
    return count;
}

void cpus_pin(int cpu) {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(cpu, &only);
    if (sched_setaffinity(0, sizeof only, &only) != 0) {
        cannot_run("no process can be put on CPU %d (%s); leave this CPU out", cpu,
                   strerror(errno));
    }
}

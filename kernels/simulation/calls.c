/* main() of a program whose caches are simulated: prepares one point, makes as many calls of its
 * timed function as `warmup` says, and ends. Two runs of the program differ in these calls and in
 * nothing else: nothing is timed, checked or printed after them. `samples` and `loops` are not
 * looked at. */
#include <inttypes.h>
#include <stdio.h>

#include "arguments.h"
#include "bench.h"
#include "buffer.h"

enum { SCRATCH_BYTES = 4 << 20, LINE_BYTES = 64 };

static struct arguments arguments;

/* So that the first call finds no line of its buffers: the simulated caches are smaller. */
static void empty_caches(void) {
    const volatile char *scratch = (const char *)buffer_allocate(SCRATCH_BYTES, 0);
    for (size_t i = 0; i < SCRATCH_BYTES; i += LINE_BYTES) {
        (void)scratch[i];
    }
}

int main(int argc, char **argv) {
    arguments_parse(&bench_kernel, argc, argv, &arguments);
    if (arguments.point_count != 1 || arguments.processes != 1) {
        refuse("caches are simulated for one --point in one process; give one of each");
    }
    if (bench_kernel.open) {
        bench_kernel.open(&arguments.settings);
    }
    const struct bench_task task = bench_kernel.prepare(&arguments.points[0]);
    printf("%" PRIu64 "\n", task.bytes_declared);
    fflush(stdout);
    empty_caches();
    for (uint64_t call = 0; call < arguments.points[0].warm_up; call++) {
        task.timed(task.state);
    }
    return EXIT_OK;
}

/* main() of every kernel: the order of things, and the lines that are printed. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"
#include "bench.h"
#include "clock.h"
#include "emit.h"
#include "measure.h"
#include "report.h"
#include "usage.h"

enum { ADDRESS_MODULUS = 4096 };

static struct arguments arguments;

static struct bench_buffers open_kernel(void) {
    const struct bench_settings settings = arguments.settings;
    const struct bench_buffers none = {0};
    const struct bench_buffers buffers = bench_kernel.open ? bench_kernel.open(&settings) : none;
    if ((settings.source_offset && !buffers.source) ||
        (settings.destination_offset && !buffers.destination)) {
        refuse("%s has no buffer that the offset given could move; leave it out",
               bench_kernel.name);
    }
    return buffers;
}

static void emit_known(const char *name, bool known, uint64_t value) {
    if (known) {
        emit_integer(name, value);
    } else {
        emit_null(name);
    }
}

static void emit_start(struct bench_buffers buffers) {
    const struct clock_quality clock = clock_measure();
    emit_open_line("start");
    emit_text("kernel", bench_kernel.name);
    emit_text("clock", CLOCK_NAME);
    emit_integer("clock_resolution_ns", clock.resolution_ns);
    emit_real("clock_cost_ns", clock.cost_ns);
    emit_integer("page_bytes", (uint64_t)sysconf(_SC_PAGESIZE));
    emit_integer("pid", (uint64_t)getpid());
    emit_integer("cpu", (uint64_t)sched_getcpu());
    emit_known("source_address_mod_4096", buffers.source,
               (uintptr_t)buffers.source % ADDRESS_MODULUS);
    emit_known("destination_address_mod_4096", buffers.destination,
               (uintptr_t)buffers.destination % ADDRESS_MODULUS);
    emit_close_line();
    emit_flush();
}

static void emit_samples(size_t index, const struct bench_point *point,
                         const struct sample *samples) {
    for (size_t i = 0; i < point->warm_up + point->samples; i++) {
        emit_open_line("sample");
        emit_integer("point", index);
        emit_integer("sample", i);
        emit_flag("warm_up", i < point->warm_up);
        emit_integer("t_start_ns", samples[i].start_ns);
        emit_integer("time_ns", samples[i].time_ns);
        emit_close_line();
    }
}

static void emit_usage(const struct usage *usage, uint64_t migrations) {
    emit_open_object("usage");
    emit_integer("minor_faults", usage->minor_faults);
    emit_integer("major_faults", usage->major_faults);
    emit_integer("voluntary_switches", usage->voluntary_switches);
    emit_integer("involuntary_switches", usage->involuntary_switches);
    emit_known("run_delay_ns", usage->has_run_delay, usage->run_delay_ns);
    emit_integer("on_cpu_ns", usage->on_cpu_ns);
    emit_integer("wall_ns", usage->wall_ns);
    emit_integer("migrations", migrations);
    emit_known("resident_bytes", usage->has_resident_bytes, usage->resident_bytes);
    emit_close_object();
}

static bool run_point(size_t index, struct sample *samples) {
    const struct bench_point *point = &arguments.points[index];
    const struct bench_task task = bench_kernel.prepare(point);
    uint64_t bytes_declared;
    if (__builtin_mul_overflow(task.bytes_declared, point->loops, &bytes_declared)) {
        refuse("loops=%llu declares more bytes than can be counted; give fewer",
               (unsigned long long)point->loops);
    }
    const struct usage usage = measure(&task, point, samples);
    struct bench_report report = {0};
    bench_kernel.check(point, &report);

    emit_samples(index, point, samples);
    emit_open_line("point");
    emit_integer("point", index);
    emit_text("status", report.failed ? "fail" : "ok");
    emit_text("reason", report.reason);
    emit_integer("loops", point->loops);
    emit_integer("bytes_declared", bytes_declared);
    report_emit_observations(&report);
    emit_usage(&usage, count_migrations(samples + point->warm_up, point->samples));
    emit_close_line();
    emit_flush();
    return !report.failed;
}

int main(int argc, char **argv) {
    arguments_parse(&bench_kernel, argc, argv, &arguments);
    const struct bench_point *points = arguments.points;
    size_t most = 0;
    for (size_t i = 0; i < arguments.point_count; i++) {
        const size_t repetitions = points[i].warm_up + points[i].samples;
        most = repetitions > most ? repetitions : most;
    }
    struct sample *samples = samples_allocate(most);
    const struct bench_buffers buffers = open_kernel();
    usage_open();
    emit_start(buffers);

    bool all_good = true;
    for (size_t i = 0; i < arguments.point_count; i++) {
        all_good = run_point(i, samples) && all_good;
    }
    if (bench_kernel.close) {
        bench_kernel.close();
    }
    const int status = all_good ? EXIT_OK : EXIT_FAILED;
    emit_open_line("end");
    emit_integer("status", (uint64_t)status);
    emit_close_line();
    emit_flush();
    return status;
}

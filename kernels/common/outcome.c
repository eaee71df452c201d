#include "outcome.h"

#include <stdlib.h>

#include "cannot_run.h"
#include "emit.h"
#include "order.h"

struct span {
    uint64_t first_start_ns;
    uint64_t last_start_ns;
    uint64_t first_end_ns;
    uint64_t last_end_ns;
};

static uint64_t smaller(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

/* Of the samples from `first` to `last`, over all processes. */
static struct span find_span(const struct outcome *outcomes, size_t processes, size_t first,
                             size_t last) {
    struct span span = {.first_start_ns = UINT64_MAX, .first_end_ns = UINT64_MAX};
    for (size_t process = 0; process < processes; process++) {
        const struct sample *samples = outcomes[process].samples;
        const uint64_t start_ns = samples[first].start_ns;
        const uint64_t end_ns = samples[last].start_ns + samples[last].time_ns;
        span.first_start_ns = smaller(span.first_start_ns, start_ns);
        span.last_start_ns = larger(span.last_start_ns, start_ns);
        span.first_end_ns = smaller(span.first_end_ns, end_ns);
        span.last_end_ns = larger(span.last_end_ns, end_ns);
    }
    return span;
}

static void emit_sample(size_t point, size_t index, bool warm_up, uint64_t start_ns,
                        uint64_t time_ns, size_t process) {
    emit_open_line("sample");
    emit_integer("point", point);
    emit_integer("sample", index);
    emit_flag("warm_up", warm_up);
    emit_integer("t_start_ns", start_ns);
    emit_integer("time_ns", time_ns);
    if (process > 0) {
        emit_integer("process", process);
    }
    emit_close_line();
}

static void emit_samples(size_t index, const struct bench_point *point,
                         const struct outcome *outcomes, size_t processes, bool together) {
    const size_t rows = together ? 1 : processes;
    for (size_t process = 0; process < rows; process++) {
        for (size_t i = 0; i < point->warm_up + point->samples; i++) {
            const struct span span = together ? find_span(outcomes, processes, i, i)
                                              : find_span(outcomes + process, 1, i, i);
            emit_sample(index, i, i < point->warm_up, span.first_start_ns,
                        span.last_end_ns - span.first_start_ns, process);
        }
    }
}

static struct usage sum_usage(const struct outcome *outcomes, size_t processes) {
    struct usage sum = outcomes[0].usage;
    for (size_t process = 1; process < processes; process++) {
        const struct usage *usage = &outcomes[process].usage;
        const uint64_t longest_ns = larger(sum.wall_ns, usage->wall_ns);
        usage_add(&sum, usage);
        sum.wall_ns = longest_ns;
        sum.resident_bytes += usage->resident_bytes;
        sum.has_resident_bytes = sum.has_resident_bytes && usage->has_resident_bytes;
    }
    return sum;
}

static struct mapped sum_mapped(const struct outcome *outcomes, size_t processes) {
    struct mapped sum = outcomes[0].mapped;
    for (size_t process = 1; process < processes; process++) {
        const struct mapped *mapped = &outcomes[process].mapped;
        sum.buffers_bytes += mapped->buffers_bytes;
        for (size_t i = 0; i < MAPPED_COUNTS; i++) {
            sum.bytes[i] += mapped->bytes[i];
            sum.known[i] = sum.known[i] && mapped->known[i];
        }
    }
    return sum;
}

static void emit_mapped(const struct mapped *mapped) {
    static const char *const names[MAPPED_COUNTS] = {
        [MAPPED_RESIDENT] = "buffers_resident_bytes",
        [MAPPED_ANONYMOUS] = "anonymous_bytes",
        [MAPPED_ANON_HUGE] = "anon_huge_bytes",
    };
    emit_known("buffers_bytes", mapped->buffers_bytes > 0, mapped->buffers_bytes);
    for (size_t i = 0; i < MAPPED_COUNTS; i++) {
        emit_known(names[i], mapped->known[i], mapped->bytes[i]);
    }
}

static void emit_usage(const struct bench_point *point, const struct outcome *outcomes,
                       size_t processes) {
    const struct usage usage = sum_usage(outcomes, processes);
    const struct mapped mapped = sum_mapped(outcomes, processes);
    uint64_t migrations = 0;
    for (size_t process = 0; process < processes; process++) {
        migrations += count_migrations(outcomes[process].samples + point->warm_up, point->samples);
    }
    emit_open_object("usage");
    emit_integer("minor_faults", usage.minor_faults);
    emit_integer("major_faults", usage.major_faults);
    emit_integer("voluntary_switches", usage.voluntary_switches);
    emit_integer("involuntary_switches", usage.involuntary_switches);
    emit_known("run_delay_ns", usage.has_run_delay, usage.run_delay_ns);
    emit_integer("on_cpu_ns", usage.on_cpu_ns);
    emit_integer("wall_ns", usage.wall_ns);
    emit_integer("migrations", migrations);
    emit_known("resident_bytes", usage.has_resident_bytes, usage.resident_bytes);
    emit_mapped(&mapped);
    emit_close_object();
}

static void emit_start_skew(const struct bench_point *point, const struct outcome *outcomes,
                            size_t processes) {
    uint64_t *skews_ns = calloc(point->samples, sizeof *skews_ns);
    if (!skews_ns) {
        cannot_run("no memory for %zu samples; ask for fewer", (size_t)point->samples);
    }
    for (size_t i = 0; i < point->samples; i++) {
        const size_t sample = point->warm_up + i;
        const struct span span = find_span(outcomes, processes, sample, sample);
        skews_ns[i] = span.last_start_ns - span.first_start_ns;
    }
    emit_real("start_skew_ns", median(skews_ns, point->samples));
    free(skews_ns);
}

static void emit_overlap(const struct bench_point *point, const struct outcome *outcomes,
                         size_t processes) {
    const size_t last = point->warm_up + point->samples - 1;
    const struct span span = find_span(outcomes, processes, point->warm_up, last);
    const uint64_t from_ns = smaller(span.last_start_ns, span.first_end_ns);
    const uint64_t all_ns = span.last_end_ns - span.first_start_ns;
    emit_real("overlap_fraction", (double)(span.first_end_ns - from_ns) / (double)all_ns);
}

static void emit_observations(const struct bench_report *report, const struct bench_point *point,
                              const struct outcome *outcomes, size_t processes, bool together) {
    emit_open_object("observations");
    report_emit_observations(report);
    if (processes > 1) {
        emit_integer("processes", processes);
    }
    if (processes > 1 && together) {
        emit_start_skew(point, outcomes, processes);
    } else if (processes > 1) {
        emit_overlap(point, outcomes, processes);
    }
    emit_close_object();
}

static struct bench_report join_reports(const struct outcome *outcomes, size_t processes) {
    struct bench_report report = outcomes[0].report;
    report.failed = report.failed && processes == 1; /* else it is named like the others */
    for (size_t process = 0; process < processes && processes > 1; process++) {
        report_join(&report, &outcomes[process].report, process);
    }
    return report;
}

bool outcome_emit(size_t index, const struct bench_point *point, const struct outcome *outcomes,
                  size_t processes, bool together) {
    const struct bench_report report = join_reports(outcomes, processes);
    const uint64_t bytes_declared = outcomes[0].bytes_declared;

    emit_samples(index, point, outcomes, processes, together);
    emit_open_line("point");
    emit_integer("point", index);
    emit_text("status", report.failed ? "fail" : "ok");
    emit_text("reason", report.reason);
    emit_integer("loops", point->loops);
    emit_integer("bytes_declared", together ? bytes_declared * processes : bytes_declared);
    emit_observations(&report, point, outcomes, processes, together);
    emit_usage(point, outcomes, processes);
    emit_close_line();
    emit_flush();
    return !report.failed;
}

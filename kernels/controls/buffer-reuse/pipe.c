/* Messages of a program to itself, through a pipe: one process on one CPU, so that nothing but the
 * buffers decides where the bytes come from. Between two CPUs the cache of the other one may be
 * further away than the memory, and the same buffers are then no faster than others. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "slots.h"

enum { KEY_PAYLOAD, KEY_ROTATION };
enum { TO_ITSELF };
enum { READ_END, WRITE_END };
enum { PAYLOAD_MOST_BYTES = 1 << 20 }; /* what a pipe may hold for anyone */

#define ROTATION_MOST_BYTES (UINT64_C(8) << 30)

static const struct bench_key keys[] = {{.name = "payload_bytes"}, {.name = "rotation_bytes"}, {0}};

static const struct bench_method methods[] = {
    [TO_ITSELF] = {.name = "to-itself", .keys = 1u << KEY_PAYLOAD | 1u << KEY_ROTATION},
    {0},
};

static int ends[2];
static uint64_t seed;
static uint64_t payload_bytes;
static uint64_t cut_short; /* calls that moved less than a message */
static struct slots sent;
static struct slots received;

BENCH_TIMED static void timed_to_itself(const void *state) {
    (void)state;
    const ssize_t written = write(ends[WRITE_END], slots_next(&sent), payload_bytes);
    const ssize_t found = read(ends[READ_END], slots_next(&received), payload_bytes);
    cut_short += written != (ssize_t)payload_bytes || found != written;
}

static void look(const void *state) {
    (void)state;
    slots_look(&received, 1, 0);
}

static void accept_point(const struct bench_point *point) {
    const uint64_t payload = point->values[KEY_PAYLOAD];
    if (payload == 0 || payload > PAYLOAD_MOST_BYTES) {
        refuse("payload_bytes=%" PRIu64 " is not from 1 to %d; give such a size", payload,
               PAYLOAD_MOST_BYTES);
    }
    if (point->values[KEY_ROTATION] > ROTATION_MOST_BYTES) {
        refuse("rotation_bytes=%" PRIu64 " is over %" PRIu64 "; give fewer",
               point->values[KEY_ROTATION], ROTATION_MOST_BYTES);
    }
}

static struct bench_buffers open_pipe(const struct bench_settings *settings) {
    seed = settings->seed;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0 ||
        fcntl(ends[WRITE_END], F_SETPIPE_SZ, PAYLOAD_MOST_BYTES) < PAYLOAD_MOST_BYTES) {
        cannot_run("no pipe of %d bytes (%s); see /proc/sys/fs/pipe-max-size", PAYLOAD_MOST_BYTES,
                   strerror(errno));
    }
    return (struct bench_buffers){0};
}

static struct bench_task prepare(const struct bench_point *point) {
    payload_bytes = point->values[KEY_PAYLOAD];
    cut_short = 0;
    /* Half of the memory each; all of it is written, so that the last of it is in the caches. */
    slots_make(&sent, payload_bytes, 1, point->values[KEY_ROTATION] / 2, seed);
    slots_make(&received, payload_bytes, 1, point->values[KEY_ROTATION] / 2, seed);
    slots_stamp(&sent, 0);
    slots_poison(&received);
    return (struct bench_task){
        .timed = timed_to_itself,
        .bytes_declared = payload_bytes,
        .between = look,
    };
}

static void check(const struct bench_point *point, struct bench_report *report) {
    (void)point;
    if (cut_short > 0) {
        bench_fail(report, "%" PRIu64 " of %" PRIu64 " messages went in parts, or not at all",
                   cut_short, sent.count);
    }
    if (received.wrong > 0) {
        bench_fail(report, "%" PRIu64 " of %" PRIu64 " messages looked at were not as sent",
                   received.wrong, received.looked_at);
    }
    bench_observe_count(report, "messages", received.count);
    bench_observe_count(report, "messages_looked_at", received.looked_at);
    bench_observe_count(report, "messages_in_window", 1);
    bench_observe_count(report, "message_directions", 1);
    bench_observe_count(report, "message_buffers", sent.count_of_slots + received.count_of_slots);
    bench_observe_count(report, "message_buffers_bytes", sent.bytes + received.bytes);
    /* The pipe takes a message before anyone asks for it. */
    bench_observe_count(report, "sent_before_received", 1);
}

const struct bench_kernel bench_kernel = {
    .name = "pipe",
    .question = "Do messages from the same buffers take less time than messages from many?",
    .keys = keys,
    .methods = methods,
    .accept = accept_point,
    .open = open_pipe,
    .prepare = prepare,
    .check = check,
};

/* Transfers between the memory of the host and that of a device: by a pool of threads, each of
 * which moves its part, to the device, from it, or half of the threads either way. Every transfer
 * moves other data, and all of it is compared afterwards, untimed. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "bench.h"
#include "buffer.h"
#include "clock.h"
#include "data.h"
#include "device.h"
#include "link.h"
#include "pool.h"

enum { WORD_BYTES = 8, THREADS_MOST = 256, PIECES = 8, SIZES_MOST = 64 };
enum { KEY_BYTES, KEY_THREADS, KEY_SUBMISSION, KEY_DATA };
enum { BLOCKING, QUEUED, UNWAITED };
enum { RANDOM, ZEROS };
enum { TO, FROM, BOTH };
enum { DIRECTIONS = 2 };
enum {
    OPTION_BACKEND = 0x1000,
    OPTION_MEMORY,
    OPTION_DEVICE,
    OPTION_OPENCL_DEVICE,
    OPTION_CUDA_DEVICE,
    OPTION_SYS
};

#define FAILED "%s failed on %s: %s says %d; %s"
#define TAKING_MEMORY "taking memory of the device"
#define PINNING "pinning host memory"

struct part {
    struct lane *lane;
    struct order order;
    uint64_t *host;    /* its share of the host's side */
    uint64_t *scratch; /* as much again: what fills the device, and what is read back */
    size_t first_word; /* of the whole of its direction */
    size_t words;
    struct data data;
    size_t words_right; /* of the last transfer */
    struct settled settled;
    struct failure failure;
};

static const struct backend *backend;
static bool pinned;
static bool memory_is_given;
static const char *wanted_device;
static const char *wanted_of_opencl;
static const char *wanted_of_cuda;
static const char *sys_folder = "/sys";
static uint64_t seed;

static struct device device;
static struct link idle_link;
static struct link load_link;

/* The host's sides, by direction; scratch is always pageable. */
static uint64_t bytes_most[DIRECTIONS];
static uint64_t *host_memory[DIRECTIONS];
static uint64_t *scratch[DIRECTIONS];

/* The sizes of the points, each once; where the driver cannot pin the largest it may pin others. */
static uint64_t sizes[SIZES_MOST];
static size_t size_count;
static uint64_t pinned_bytes[DIRECTIONS];
static struct failure unpinned[DIRECTIONS]; /* how pinning more than that failed */

/* By part, with so much memory: as the points need it, so that one that does not fit costs no other
 * its numbers. */
static struct lane *lanes[THREADS_MOST];
static uint64_t lane_bytes[THREADS_MOST];

/* The point being measured. */
static struct part parts[THREADS_MOST];
static size_t part_count;
static struct failure lacking; /* there is no room for it */
static const char *lacking_what;
static bool in_order_of_caller; /* no pool: the caller orders all parts, and then waits for each */
static bool waits;
static bool zeros;
static uint64_t transfers; /* of this run of the program: each has data of its own number */
static uint64_t words_right;
static uint64_t words_moved;
static uint64_t orders_done; /* before the program waited for them */
static uint64_t orders;
static double traced_device_ns;
static uint64_t traced_wall_ns;

static const struct argp_option options[] = {
    {.name = "backend",
     .key = OPTION_BACKEND,
     .arg = "opencl|cuda",
     .doc = "The library that leads to the device"},
    {.name = "memory",
     .key = OPTION_MEMORY,
     .arg = "pageable|pinned",
     .doc = "The host's side: ordinary memory, or memory that the driver gave"},
    {.name = "device",
     .key = OPTION_DEVICE,
     .arg = "INDEX|NAME",
     .doc = "Which of its devices (if not given, the first that is not host memory)"},
    {.name = "opencl-device",
     .key = OPTION_OPENCL_DEVICE,
     .arg = "INDEX|NAME",
     .doc = "The same, of OpenCL only"},
    {.name = "cuda-device",
     .key = OPTION_CUDA_DEVICE,
     .arg = "INDEX|NAME",
     .doc = "The same, of CUDA only"},
    {.name = "sys",
     .key = OPTION_SYS,
     .arg = "FOLDER",
     .doc = "Where the kernel describes the PCI bus (/sys)"},
    {0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state) {
    (void)state;
    switch (key) {
    case OPTION_BACKEND:
        if (strcmp(argument, "opencl") != 0 && strcmp(argument, "cuda") != 0) {
            refuse("--backend '%s' is neither opencl nor cuda; give one of these", argument);
        }
        backend = *argument == 'o' ? &opencl_backend : &cuda_backend;
        return 0;
    case OPTION_MEMORY:
        pinned = strcmp(argument, "pinned") == 0;
        memory_is_given = true;
        if (!pinned && strcmp(argument, "pageable") != 0) {
            refuse("--memory '%s' is neither pageable nor pinned; give one of these", argument);
        }
        return 0;
    case OPTION_DEVICE:
        wanted_device = argument;
        return 0;
    case OPTION_OPENCL_DEVICE:
        wanted_of_opencl = argument;
        return 0;
    case OPTION_CUDA_DEVICE:
        wanted_of_cuda = argument;
        return 0;
    case OPTION_SYS:
        sys_folder = argument;
        return 0;
    case ARGP_KEY_END:
        if (!backend) {
            refuse("--backend is missing; give opencl or cuda");
        }
        if (!memory_is_given) {
            refuse("--memory is missing; give pageable or pinned");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static bool goes(const struct bench_point *point, size_t way) {
    return point->method == BOTH || point->method == way;
}

static size_t directions(const struct bench_point *point) {
    return point->method == BOTH ? 2 : 1;
}

/* At least one each way; without threads the caller has one each way. */
static size_t parts_each_way(const struct bench_point *point) {
    const uint64_t threads = point->values[KEY_THREADS];
    return threads == 0 ? 1 : threads / directions(point);
}

/* Beyond SIZES_MOST the smaller ones are kept: they may still fit. */
static void note_size(uint64_t bytes) {
    size_t largest = 0;
    for (size_t i = 0; i < size_count; i++) {
        if (sizes[i] == bytes) {
            return;
        }
        largest = sizes[i] > sizes[largest] ? i : largest;
    }
    if (size_count < SIZES_MOST) {
        sizes[size_count++] = bytes;
    } else if (bytes < sizes[largest]) {
        sizes[largest] = bytes;
    }
}

/* The largest size of a point below this; 0: there is none. */
static uint64_t next_smaller(uint64_t bytes) {
    uint64_t found = 0;
    for (size_t i = 0; i < size_count; i++) {
        found = sizes[i] < bytes && sizes[i] > found ? sizes[i] : found;
    }
    return found;
}

static void accept_point(const struct bench_point *point) {
    const uint64_t threads = point->values[KEY_THREADS];
    const uint64_t bytes = point->values[KEY_BYTES];
    if (threads > THREADS_MOST || (threads > 0 && threads % directions(point) != 0)) {
        refuse("transfer_threads=%" PRIu64 " are more than %d, or an odd number for two "
               "directions; give others",
               threads, THREADS_MOST);
    }
    const uint64_t multiple = parts_each_way(point) * WORD_BYTES;
    if (bytes == 0 || bytes % multiple != 0 || bytes > INT64_MAX) {
        refuse("bytes=%" PRIu64 " is not a multiple of %" PRIu64
               ", a word for each thread; give one that is",
               bytes, multiple);
    }
    for (size_t way = 0; way < DIRECTIONS; way++) {
        if (goes(point, way) && bytes > bytes_most[way]) {
            bytes_most[way] = bytes;
        }
    }
    note_size(bytes);
}

static void must(struct failure failure, const char *doing) {
    if (failure.call) {
        refuse(FAILED, doing, device.name, failure.call, failure.code, failure.means);
    }
}

/* Not with 77 as elsewhere: the device is there, and what was asked of it did not succeed. */
static uint64_t *allocate(uint64_t bytes, uint64_t offset) {
    unsigned char *pages = mmap(NULL, bytes + BUFFER_OFFSET_MOST + 1, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) {
        refuse("the host has no memory for %" PRIu64 " bytes (%s); ask for fewer", bytes,
               strerror(errno));
    }
    return (uint64_t *)(void *)(pages + offset);
}

/* As much as the points of this direction need, or as the largest of them that can be had needs:
 * what is too large costs no other point its numbers. */
static uint64_t *pin(size_t way) {
    unsigned char *memory = NULL;
    uint64_t bytes = bytes_most[way] > 0 ? bytes_most[way] : WORD_BYTES;
    struct failure failure = unpinned[way] = backend->pin(bytes, &memory);
    while (failure.no_room && (bytes = next_smaller(bytes)) > 0) {
        failure = backend->pin(bytes, &memory);
    }
    must(failure, PINNING);
    pinned_bytes[way] = bytes;
    return (uint64_t *)(void *)memory;
}

static const char *wish(void) {
    const char *own = backend == &cuda_backend ? wanted_of_cuda : wanted_of_opencl;
    return own ? own : wanted_device;
}

static struct bench_buffers open_device(const struct bench_settings *settings) {
    const uint64_t offsets[DIRECTIONS] = {settings->source_offset, settings->destination_offset};
    seed = settings->seed;
    link_remember(sys_folder); /* before the library wakes any device */
    device = backend->find(wish());
    idle_link = link_before(device.pci);
    must(backend->open(), "opening the device");
    for (size_t way = 0; way < DIRECTIONS; way++) {
        scratch[way] = allocate(bytes_most[way], 0);
        madvise(scratch[way], bytes_most[way], MADV_HUGEPAGE); /* never timed: the fewer faults */
        host_memory[way] = pinned ? pin(way) : allocate(bytes_most[way], offsets[way]);
    }
    return (struct bench_buffers){
        .source = host_memory[TO_DEVICE], .destination = host_memory[FROM_DEVICE], .fixed = pinned};
}

static void attach(size_t thread, void *unused) {
    (void)unused;
    parts[thread].failure = backend->attach();
}

static void transfer_in_order_of_caller(void) {
    for (size_t i = 0; i < part_count; i++) {
        parts[i].failure = backend->move(parts[i].lane, &parts[i].order);
    }
    for (size_t i = 0; i < part_count && waits && part_count > 1; i++) {
        if (!parts[i].failure.call) {
            parts[i].failure = backend->wait(parts[i].lane);
        }
    }
}

static void transfer(size_t thread, void *unused) {
    (void)unused;
    if (in_order_of_caller) {
        transfer_in_order_of_caller();
    } else {
        parts[thread].failure = backend->move(parts[thread].lane, &parts[thread].order);
    }
}

BENCH_TIMED static void timed_transfer(const void *unused) {
    (void)unused;
    pool_run(transfer, NULL, NULL);
}

/* What the next untimed steps need is done by the pool too, which has the device's context. */
static void each_part(void (*step)(struct part *part), size_t thread) {
    const size_t last = in_order_of_caller ? part_count : thread + 1;
    for (size_t i = thread; i < last; i++) {
        if (!parts[i].failure.call) {
            step(&parts[i]);
        }
    }
}

static struct failure copy_whole(struct part *part, enum direction direction, uint64_t *host) {
    const struct order order = {.direction = direction,
                                .host = (unsigned char *)host,
                                .bytes = part->words * WORD_BYTES,
                                .pieces = 1,
                                .waits = true};
    struct settled settled;
    const struct failure failure = backend->move(part->lane, &order);
    return failure.call ? failure : backend->settle(part->lane, &settled);
}

static void settle_part(struct part *part) {
    part->failure = backend->settle(part->lane, &part->settled);
}

static void settle(size_t thread, void *unused) {
    (void)unused;
    each_part(settle_part, thread);
}

static void verify_part(struct part *part) {
    const uint64_t *arrived = part->host;
    if (part->order.direction == TO_DEVICE) {
        part->failure = copy_whole(part, FROM_DEVICE, part->scratch);
        arrived = part->scratch;
    }
    part->words_right = data_right(part->data, arrived, part->first_word, part->words);
}

static void verify(size_t thread, void *unused) {
    (void)unused;
    each_part(verify_part, thread);
}

/* Other data at the source, and at the destination none of it: what was there before is other
 * data, and random words where zeros are to come. */
static void arm_part(struct part *part) {
    const bool to_device = part->order.direction == TO_DEVICE;
    const struct data other = data_make(seed, ~transfers, false);
    uint64_t *source = to_device ? part->host : part->scratch;
    part->data = data_make(seed, 2 * transfers + !to_device, zeros);
    data_fill(part->data, source, part->first_word, part->words);
    if (!to_device) {
        part->failure = copy_whole(part, TO_DEVICE, source);
    }
    if (!zeros) {
        return;
    }
    uint64_t *destination = to_device ? part->scratch : part->host;
    data_fill(other, destination, part->first_word, part->words);
    if (to_device) {
        part->failure = copy_whole(part, TO_DEVICE, destination);
    }
}

static void arm(size_t thread, void *unused) {
    (void)unused;
    each_part(arm_part, thread);
}

/* What has not been touched yet costs a fault at its first use: the device's side here by a
 * transfer out of whatever the scratch holds. */
static void touch_part(struct part *part) {
    enum { PAGE_WORDS = 4096 / WORD_BYTES };
    for (size_t i = 0; i < part->words; i += PAGE_WORDS) {
        ((volatile uint64_t *)part->host)[i] = 0;
    }
    part->failure = copy_whole(part, TO_DEVICE, part->scratch);
}

static void touch(size_t thread, void *unused) {
    (void)unused;
    each_part(touch_part, thread);
}

static struct failure first_failure(void) {
    for (size_t i = 0; i < part_count; i++) {
        if (parts[i].failure.call) {
            return parts[i].failure;
        }
    }
    return GOOD;
}

static void refuse_failed(const char *doing) {
    must(first_failure(), doing);
}

static void arm_all(void) {
    transfers++;
    pool_run(arm, NULL, NULL);
    refuse_failed("filling the device");
}

/* The last transfer: did it succeed, was it over, and what has arrived? */
static void conclude(void) {
    refuse_failed("the transfer");
    pool_run(settle, NULL, NULL);
    refuse_failed("the transfer");
    pool_run(verify, NULL, NULL);
    refuse_failed("reading back");
    for (size_t i = 0; i < part_count; i++) {
        words_right += parts[i].words_right;
        words_moved += parts[i].words;
        orders_done += parts[i].settled.was_done;
        orders++;
    }
}

static void between(const void *unused) {
    (void)unused;
    conclude();
    arm_all();
}

static void close_lane(size_t part) {
    if (lanes[part]) {
        backend->lane_close(lanes[part]);
    }
    lanes[part] = NULL;
    lane_bytes[part] = 0;
}

static void close_lanes(void) {
    for (size_t part = 0; part < THREADS_MOST; part++) {
        close_lane(part);
    }
}

static struct failure open_lanes(size_t count, uint64_t bytes) {
    for (size_t part = 0; part < count; part++) {
        if (lane_bytes[part] >= bytes) {
            continue;
        }
        close_lane(part);
        const struct failure failure = backend->lane_open(&lanes[part], bytes);
        if (failure.call) {
            return failure;
        }
        lane_bytes[part] = bytes;
    }
    return GOOD;
}

static void add_parts(const struct bench_point *point, enum direction direction) {
    const size_t count = parts_each_way(point);
    const size_t words = point->values[KEY_BYTES] / WORD_BYTES / count;
    const bool queued = point->values[KEY_SUBMISSION] == QUEUED;
    for (size_t i = 0; i < count; i++) {
        struct part *part = &parts[part_count];
        *part = (struct part){
            .lane = lanes[part_count++],
            .host = host_memory[direction] + i * words,
            .scratch = scratch[direction] + i * words,
            .first_word = i * words,
            .words = words,
        };
        part->order = (struct order){
            .direction = direction,
            .host = (unsigned char *)part->host,
            .bytes = words * WORD_BYTES,
            .pieces = queued && words >= PIECES ? PIECES : 1,
        };
    }
}

/* From when the first part began to when the last one ended. */
static double span_ns(void) {
    double began_ns = parts[0].settled.began_ns;
    double ended_ns = parts[0].settled.ended_ns;
    for (size_t i = 1; i < part_count; i++) {
        const struct settled *settled = &parts[i].settled;
        began_ns = settled->began_ns < began_ns ? settled->began_ns : began_ns;
        ended_ns = settled->ended_ns > ended_ns ? settled->ended_ns : ended_ns;
    }
    return ended_ns > began_ns ? ended_ns - began_ns : 0;
}

/* The transfer before all samples, which is no sample: the device notes when it began and ended,
 * and so much at once would cost the samples time. */
static void trace(void) {
    for (size_t part = 0; part < part_count; part++) {
        parts[part].order.traced = true;
    }
    const uint64_t start_ns = clock_now();
    pool_run(transfer, NULL, NULL);
    traced_wall_ns = clock_now() - start_ns;
    conclude();
    traced_device_ns = span_ns();
    for (size_t part = 0; part < part_count; part++) {
        parts[part].order.traced = false;
    }
}

/* All memory of the point, used once: a driver may give none before it is used. */
static struct failure take_memory(const struct bench_point *point) {
    const size_t count = parts_each_way(point);
    pool_close();
    part_count = 0;
    const struct failure failure =
        open_lanes(directions(point) * count, point->values[KEY_BYTES] / count);
    if (failure.call) {
        return failure;
    }
    for (size_t way = 0; way < DIRECTIONS; way++) {
        if (goes(point, way)) {
            add_parts(point, way == TO ? TO_DEVICE : FROM_DEVICE);
        }
    }
    pool_open(point->values[KEY_THREADS]);
    pool_run(attach, NULL, NULL);
    refuse_failed("opening the device");
    pool_run(touch, NULL, NULL);
    return first_failure();
}

/* Whether it fits must not depend on what the points before it left there. */
static bool has_room(const struct bench_point *point) {
    lacking_what = PINNING;
    for (size_t way = 0; way < DIRECTIONS && pinned; way++) {
        if (goes(point, way) && point->values[KEY_BYTES] > pinned_bytes[way]) {
            lacking = unpinned[way];
            return false;
        }
    }
    lacking_what = TAKING_MEMORY;
    lacking = take_memory(point);
    if (lacking.no_room) {
        close_lanes();
        lacking = take_memory(point);
    }
    if (lacking.no_room) {
        close_lanes();
        return false;
    }
    must(lacking, lacking_what);
    return true;
}

static void time_nothing(const void *unused) {
    (void)unused;
}

static struct bench_task prepare(const struct bench_point *point) {
    const uint64_t bytes = point->values[KEY_BYTES];
    waits = point->values[KEY_SUBMISSION] != UNWAITED;
    zeros = point->values[KEY_DATA] == ZEROS;
    in_order_of_caller = point->values[KEY_THREADS] == 0;
    words_right = words_moved = orders_done = orders = 0;
    load_link = (struct link){0};
    if (!has_room(point)) { /* which the check says: its samples are void */
        return (struct bench_task){.timed = time_nothing};
    }
    for (size_t i = 0; i < part_count; i++) {
        parts[i].order.waits = waits && (!in_order_of_caller || part_count == 1);
    }
    arm_all();
    trace();
    arm_all();
    /* A library's own threads may work at the same time as those of the pool. */
    struct bench_task task = {.timed = timed_transfer,
                              .bytes_declared = bytes * directions(point),
                              .between = between,
                              .crowded = true};
    /* What a driver pins is mapped as it likes, so its pages say nothing. */
    for (size_t way = 0; way < DIRECTIONS && !pinned; way++) {
        if (goes(point, way)) {
            task.buffers[way] = (struct bench_range){host_memory[way], bytes};
        }
    }
    return task;
}

static void read_load_link(void) {
    load_link = link_now(sys_folder, device.pci);
}

static void observe_link(struct bench_report *report, const char *gt_per_s, const char *width,
                         const char *at, struct link link) {
    if (link.known) {
        bench_observe_real(report, gt_per_s, link.gt_per_s);
        bench_observe_count(report, width, link.width);
        bench_observe_text(report, at, link.at);
    } else {
        bench_observe_absent(report, gt_per_s);
        bench_observe_absent(report, width);
        bench_observe_absent(report, at);
    }
}

static void check(const struct bench_point *point, struct bench_report *report) {
    const uint64_t bytes = point->values[KEY_BYTES];
    if (lacking.call) {
        bench_fail(report, FAILED, lacking_what, device.name, lacking.call, lacking.code,
                   lacking.means);
        return;
    }
    if (*device.pci) { /* one more, under which the link is read */
        pool_run(transfer, NULL, read_load_link);
        conclude();
    }
    if (words_right < words_moved) {
        bench_fail(report, "%" PRIu64 " of %" PRIu64 " words that were moved are wrong",
                   words_moved - words_right, words_moved);
    }
    bench_observe_real(report, "device_time_ns", traced_device_ns);
    bench_observe_count(report, "device_wall_ns", traced_wall_ns);
    bench_observe_text(report, "device_name", device.name);
    bench_observe_share(report, "work_done_fraction", words_right, words_moved);
    bench_observe_share(report, "orders_done_fraction", orders_done, orders);
    bench_observe_count(report, "bytes_to_device", goes(point, TO) ? bytes : 0);
    bench_observe_count(report, "bytes_from_device", goes(point, FROM) ? bytes : 0);
    bench_observe_count(report, "orders_of_each_part", parts[0].order.pieces);
    bench_observe_count(report, "data_is_zero", zeros);
    bench_observe_count(report, "host_memory_is_pinned", pinned);
    bench_observe_count(report, "device_is_host_memory", device.is_host_memory);
    bench_observe_count(report, "through_cuda", backend == &cuda_backend);
    observe_link(report, "link_idle_gt_per_s", "link_idle_width", "link_idle_at", idle_link);
    observe_link(report, "link_load_gt_per_s", "link_load_width", "link_load_at", load_link);
    observe_link(report, "link_most_gt_per_s", "link_most_width", "link_most_at",
                 link_most(sys_folder, device.pci));
}

static void close_device(void) {
    pool_close();
    close_lanes();
    backend->close();
}

static const char *const submissions[] = {
    [BLOCKING] = "blocking", [QUEUED] = "queued", [UNWAITED] = "unwaited", NULL};
static const char *const contents[] = {[RANDOM] = "random", [ZEROS] = "zeros", NULL};

static const struct bench_key keys[] = {
    [KEY_BYTES] = {.name = "bytes"},
    [KEY_THREADS] = {.name = "transfer_threads"},
    [KEY_SUBMISSION] = {.name = "submission", .words = submissions},
    [KEY_DATA] = {.name = "data", .words = contents},
    {0},
};

#define ALL_KEYS 15

static const struct bench_method methods[] = {
    [TO] = {.name = "to-device", .keys = ALL_KEYS},
    [FROM] = {.name = "from-device", .keys = ALL_KEYS},
    [BOTH] = {.name = "both", .keys = ALL_KEYS},
    {0},
};

static const struct argp argp = {.options = options, .parser = parse_option};

const struct bench_kernel bench_kernel = {
    .name = "hostdev",
    .question = "How fast do threads move data to a device, from it, and both ways at once?",
    .argp = &argp,
    .keys = keys,
    .methods = methods,
    .accept = accept_point,
    .open = open_device,
    .prepare = prepare,
    .check = check,
    .close = close_device,
};

/* The way through OpenCL: its loader, opened at run time, and what little of it is called. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cannot_run.h"
#include "device.h"

/* As in CL/cl.h and CL/cl_ext.h, which need not be installed. */
typedef int32_t status;
typedef uint32_t flag;
typedef uint64_t bits;
typedef void *handle;

enum {
    DEVICE_NOT_AVAILABLE = -2,
    MEM_OBJECT_ALLOCATION_FAILURE = -4,
    OUT_OF_RESOURCES = -5,
    OUT_OF_HOST_MEMORY = -6,
    INVALID_BUFFER_SIZE = -61,
    EXEC_STATUS_ERROR = -14,
    PLATFORM_NOT_FOUND = -1001,
};
enum {
    DEVICE_TYPE = 0x1000,
    DEVICE_NAME = 0x102B,
    DEVICE_HOST_UNIFIED_MEMORY = 0x1035,
    DEVICE_PCI_BUS_INFO_KHR = 0x410F,
    DEVICE_PCI_BUS_ID_NV = 0x4008,
    DEVICE_PCI_SLOT_ID_NV = 0x4009,
    DEVICE_PCI_DOMAIN_ID_NV = 0x400A,
    DEVICE_TOPOLOGY_AMD = 0x4037,
    EVENT_COMMAND_EXECUTION_STATUS = 0x11D3,
    PROFILING_COMMAND_START = 0x1282,
    PROFILING_COMMAND_END = 0x1283,
};
#define DEVICE_TYPE_CPU UINT64_C(2)
#define DEVICE_TYPE_ALL UINT64_C(0xFFFFFFFF)
#define QUEUE_PROFILING_ENABLE UINT64_C(2)
#define MEM_READ_WRITE UINT64_C(1)
#define MEM_ALLOC_HOST_PTR UINT64_C(16)
#define MAP_READ_AND_WRITE UINT64_C(3)
#define COMPLETE 0

enum { PLATFORMS_MOST = 16, DEVICES_MOST = 32, PINNED_MOST = 4 };

static struct {
    status (*platforms)(flag, handle *, flag *);
    status (*devices)(handle, bits, flag, handle *, flag *);
    status (*device_info)(handle, flag, size_t, void *, size_t *);
    handle (*create_context)(const void *, flag, const handle *, void *, void *, status *);
    status (*release_context)(handle);
    handle (*create_queue)(handle, handle, bits, status *);
    status (*release_queue)(handle);
    handle (*create_buffer)(handle, bits, size_t, void *, status *);
    status (*release_buffer)(handle);
    status (*write)(handle, handle, flag, size_t, size_t, const void *, flag, const handle *,
                    handle *);
    status (*read)(handle, handle, flag, size_t, size_t, void *, flag, const handle *, handle *);
    void *(*map)(handle, handle, flag, bits, size_t, size_t, flag, const handle *, handle *,
                 status *);
    status (*unmap)(handle, handle, void *, flag, const handle *, handle *);
    status (*flush)(handle);
    status (*finish)(handle);
    status (*event_info)(handle, flag, size_t, void *, size_t *);
    status (*event_times)(handle, flag, size_t, void *, size_t *);
    status (*release_event)(handle);
} cl;

static const struct symbol symbols[] = {
    {"clGetPlatformIDs", &cl.platforms},
    {"clGetDeviceIDs", &cl.devices},
    {"clGetDeviceInfo", &cl.device_info},
    {"clCreateContext", &cl.create_context},
    {"clReleaseContext", &cl.release_context},
    {"clCreateCommandQueue", &cl.create_queue},
    {"clReleaseCommandQueue", &cl.release_queue},
    {"clCreateBuffer", &cl.create_buffer},
    {"clReleaseMemObject", &cl.release_buffer},
    {"clEnqueueWriteBuffer", &cl.write},
    {"clEnqueueReadBuffer", &cl.read},
    {"clEnqueueMapBuffer", &cl.map},
    {"clEnqueueUnmapMemObject", &cl.unmap},
    {"clFlush", &cl.flush},
    {"clFinish", &cl.finish},
    {"clGetEventInfo", &cl.event_info},
    {"clGetEventProfilingInfo", &cl.event_times},
    {"clReleaseEvent", &cl.release_event},
    {0},
};

struct lane {
    handle queue;
    handle traced_queue; /* made with the first traced order */
    handle used;         /* by the last order: one of these two */
    handle memory;
    handle first; /* events of the last order: its first piece, where it is traced, and its last */
    handle last;
};

static struct {
    handle buffer;
    void *memory;
} pinned[PINNED_MOST];
static size_t pinned_count;
static handle device;
static handle context;
static handle own_queue; /* of pinned memory */

static const char *means(status code) {
    switch (code) {
    case MEM_OBJECT_ALLOCATION_FAILURE:
    case OUT_OF_RESOURCES:
    case INVALID_BUFFER_SIZE:
        return "the device has no memory for it; ask for fewer bytes";
    case OUT_OF_HOST_MEMORY:
        return "the host has no memory for it; ask for fewer bytes";
    case DEVICE_NOT_AVAILABLE:
        return "the device is gone; check that it is there and powered, and run again";
    default:
        return "read the kernel's log about the device, and run again";
    }
}

static bool is_no_room(status code) {
    return code == MEM_OBJECT_ALLOCATION_FAILURE || code == OUT_OF_RESOURCES ||
           code == INVALID_BUFFER_SIZE || code == OUT_OF_HOST_MEMORY;
}

static struct failure failed(const char *call, status code) {
    return code >= 0
               ? GOOD
               : (struct failure){
                     .call = call, .code = code, .means = means(code), .no_room = is_no_room(code)};
}

/* "0000:01:00.0", from whichever extension the driver has. */
static void find_pci(handle one, char *pci, size_t size) {
    flag place[4]; /* domain, bus, device, function */
    if (cl.device_info(one, DEVICE_PCI_BUS_INFO_KHR, sizeof place, place, NULL) == 0) {
        snprintf(pci, size, "%04x:%02x:%02x.%x", place[0], place[1], place[2], place[3]);
        return;
    }
    flag bus;
    flag slot;
    flag domain = 0;
    if (cl.device_info(one, DEVICE_PCI_BUS_ID_NV, sizeof bus, &bus, NULL) == 0 &&
        cl.device_info(one, DEVICE_PCI_SLOT_ID_NV, sizeof slot, &slot, NULL) == 0) {
        cl.device_info(one, DEVICE_PCI_DOMAIN_ID_NV, sizeof domain, &domain, NULL);
        snprintf(pci, size, "%04x:%02x:%02x.%x", domain, bus, slot >> 3, slot & 7);
        return;
    }
    unsigned char topology[24]; /* its type, 17 unused bytes, then bus, device, function */
    if (cl.device_info(one, DEVICE_TOPOLOGY_AMD, sizeof topology, topology, NULL) == 0) {
        snprintf(pci, size, "0000:%02x:%02x.%x", topology[21], topology[22], topology[23]);
    }
}

static struct device describe(handle one) {
    struct device found = {0};
    bits type = 0;
    flag unified = 0;
    cl.device_info(one, DEVICE_TYPE, sizeof type, &type, NULL);
    cl.device_info(one, DEVICE_HOST_UNIFIED_MEMORY, sizeof unified, &unified, NULL);
    cl.device_info(one, DEVICE_NAME, sizeof found.name - 1, found.name, NULL);
    found.is_host_memory = unified || type & DEVICE_TYPE_CPU;
    find_pci(one, found.pci, sizeof found.pci);
    return found;
}

/* Of all platforms, in their order. */
static size_t list(handle *all) {
    handle platforms[PLATFORMS_MOST];
    flag platform_count = 0;
    const status code = cl.platforms(PLATFORMS_MOST, platforms, &platform_count);
    if (code != 0 && code != PLATFORM_NOT_FOUND) {
        cannot_run("OpenCL does not list its platforms (clGetPlatformIDs says %" PRId32
                   "); check its driver",
                   code);
    }
    size_t count = 0;
    for (flag i = 0; i < platform_count && i < PLATFORMS_MOST; i++) {
        flag more = 0;
        const flag room = (flag)(DEVICES_MOST - count);
        if (room > 0 && cl.devices(platforms[i], DEVICE_TYPE_ALL, room, all + count, &more) == 0) {
            count += more < room ? more : room;
        }
    }
    return count;
}

static struct device find(const char *wanted) {
    device_library("libOpenCL.so.1", "ocl-icd-libopencl1", symbols);
    handle all[DEVICES_MOST];
    struct device described[DEVICES_MOST];
    const size_t count = list(all);
    if (count == 0) {
        cannot_run("OpenCL finds no device; install its driver, or pocl-opencl-icd for one in host "
                   "memory");
    }
    for (size_t i = 0; i < count; i++) {
        described[i] = describe(all[i]);
    }
    const size_t chosen = device_choose(described, count, wanted, "OpenCL");
    device = all[chosen];
    return described[chosen];
}

static struct failure open_device(void) {
    status code;
    context = cl.create_context(NULL, 1, &device, NULL, NULL, &code);
    return failed("clCreateContext", code);
}

static struct failure attach(void) {
    return GOOD; /* contexts of OpenCL belong to no thread */
}

static void release_event(handle *event) {
    if (*event) {
        cl.release_event(*event);
        *event = NULL;
    }
}

static void lane_close(struct lane *lane) {
    release_event(&lane->first);
    release_event(&lane->last);
    if (lane->memory) {
        cl.release_buffer(lane->memory);
    }
    if (lane->traced_queue) {
        cl.release_queue(lane->traced_queue);
    }
    if (lane->queue) {
        cl.release_queue(lane->queue);
    }
    free(lane);
}

/* A buffer for each lane: what several queues do to one at once is undefined. */
static struct failure lane_open(struct lane **opened, uint64_t bytes) {
    struct lane *lane = *opened = calloc(1, sizeof *lane);
    if (!lane) {
        return failed("calloc", OUT_OF_HOST_MEMORY);
    }
    status code;
    lane->queue = cl.create_queue(context, device, 0, &code);
    if (code < 0) {
        return failed("clCreateCommandQueue", code);
    }
    lane->memory = cl.create_buffer(context, MEM_READ_WRITE, bytes, NULL, &code);
    return failed("clCreateBuffer", code);
}

/* What a driver allocates for the host it can reach without a copy of its own. */
static struct failure pin(uint64_t bytes, unsigned char **memory) {
    status code = pinned_count < PINNED_MOST ? 0 : OUT_OF_RESOURCES;
    if (!own_queue && code == 0) {
        own_queue = cl.create_queue(context, device, 0, &code);
    }
    if (code < 0) {
        return failed("clCreateCommandQueue", code);
    }
    handle buffer =
        cl.create_buffer(context, MEM_READ_WRITE | MEM_ALLOC_HOST_PTR, bytes, NULL, &code);
    if (code < 0) {
        return failed("clCreateBuffer", code);
    }
    *memory = cl.map(own_queue, buffer, 1, MAP_READ_AND_WRITE, 0, bytes, 0, NULL, NULL, &code);
    if (code < 0) {
        cl.release_buffer(buffer);
        return failed("clEnqueueMapBuffer", code);
    }
    pinned[pinned_count].memory = *memory;
    pinned[pinned_count++].buffer = buffer;
    return GOOD;
}

static struct failure choose_queue(struct lane *lane, bool traced) {
    status code = 0;
    if (traced && !lane->traced_queue) {
        lane->traced_queue = cl.create_queue(context, device, QUEUE_PROFILING_ENABLE, &code);
    }
    lane->used = traced ? lane->traced_queue : lane->queue;
    return failed("clCreateCommandQueue", code);
}

static struct failure move_piece(const struct lane *lane, const struct order *order, uint64_t first,
                                 uint64_t bytes, handle *event) {
    const flag blocking = order->waits && order->pieces == 1;
    unsigned char *host = order->host + first;
    if (order->direction == TO_DEVICE) {
        return failed("clEnqueueWriteBuffer", cl.write(lane->used, lane->memory, blocking, first,
                                                       bytes, host, 0, NULL, event));
    }
    return failed("clEnqueueReadBuffer",
                  cl.read(lane->used, lane->memory, blocking, first, bytes, host, 0, NULL, event));
}

static struct failure wait_for(struct lane *lane) {
    return failed("clFinish", cl.finish(lane->used));
}

static struct failure move(struct lane *lane, const struct order *order) {
    struct failure failure = choose_queue(lane, order->traced);
    release_event(&lane->last); /* of an order that was not waited for: a sample may repeat it */
    const uint64_t piece = order->bytes / order->pieces;
    for (uint64_t i = 0; i < order->pieces && !failure.call; i++) {
        const bool is_last = i + 1 == order->pieces;
        const uint64_t bytes = is_last ? order->bytes - i * piece : piece;
        handle *const event = is_last ? &lane->last : i == 0 && order->traced ? &lane->first : NULL;
        failure = move_piece(lane, order, i * piece, bytes, event);
    }
    if (!failure.call && order->waits && order->pieces > 1) {
        failure = wait_for(lane);
    } else if (!failure.call && !order->waits) {
        failure = failed("clFlush", cl.flush(lane->used));
    }
    return failure;
}

static struct failure state_of(handle event, status *state) {
    return failed("clGetEventInfo",
                  cl.event_info(event, EVENT_COMMAND_EXECUTION_STATUS, sizeof *state, state, NULL));
}

static struct failure time_of(handle event, flag which, double *time_ns) {
    uint64_t ticks_ns = 0;
    const status code = cl.event_times(event, which, sizeof ticks_ns, &ticks_ns, NULL);
    *time_ns = (double)ticks_ns;
    return failed("clGetEventProfilingInfo", code);
}

static struct failure trace(struct lane *lane, struct settled *settled) {
    const struct failure failure = time_of(lane->first ? lane->first : lane->last,
                                           PROFILING_COMMAND_START, &settled->began_ns);
    return failure.call ? failure : time_of(lane->last, PROFILING_COMMAND_END, &settled->ended_ns);
}

static struct failure settle(struct lane *lane, struct settled *settled) {
    status state = COMPLETE;
    struct failure failure = state_of(lane->last, &state);
    settled->was_done = state == COMPLETE;
    if (!failure.call && state > COMPLETE) {
        failure = wait_for(lane);
        failure = failure.call ? failure : state_of(lane->last, &state);
    }
    failure = failure.call ? failure : failed("the transfer", state);
    if (!failure.call && lane->used == lane->traced_queue) {
        failure = trace(lane, settled);
    }
    release_event(&lane->first);
    release_event(&lane->last);
    return failure;
}

static void close_device(void) {
    for (size_t i = 0; i < pinned_count; i++) {
        cl.unmap(own_queue, pinned[i].buffer, pinned[i].memory, 0, NULL, NULL);
    }
    if (own_queue) {
        cl.finish(own_queue);
        cl.release_queue(own_queue);
    }
    for (size_t i = 0; i < pinned_count; i++) {
        cl.release_buffer(pinned[i].buffer);
    }
    cl.release_context(context);
}

const struct backend opencl_backend = {
    .find = find,
    .open = open_device,
    .close = close_device,
    .attach = attach,
    .lane_open = lane_open,
    .lane_close = lane_close,
    .pin = pin,
    .move = move,
    .wait = wait_for,
    .settle = settle,
};

/* The way through CUDA: its driver library, opened at run time, and what little of it is called. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cannot_run.h"
#include "device.h"

/* As in cuda.h, which need not be installed. */
typedef int status;
typedef int ordinal;
typedef void *handle;
typedef unsigned long long address;

enum {
    OUT_OF_MEMORY = 2,
    NO_DEVICE = 100,
    NOT_READY = 600,
    DEVICES_UNAVAILABLE = 46,
    ATTRIBUTE_INTEGRATED = 18,
    ATTRIBUTE_PCI_BUS = 33,
    ATTRIBUTE_PCI_DEVICE = 34,
    ATTRIBUTE_PCI_DOMAIN = 50,
    STREAM_NON_BLOCKING = 1,
    DEVICES_MOST = 32,
    PINNED_MOST = 4,
};

static struct {
    status (*init)(unsigned);
    status (*device_count)(int *);
    status (*device_get)(ordinal *, int);
    status (*device_name)(char *, int, ordinal);
    status (*device_attribute)(int *, int, ordinal);
    status (*retain_context)(handle *, ordinal);
    status (*release_context)(ordinal);
    status (*set_context)(handle);
    status (*create_stream)(handle *, unsigned);
    status (*destroy_stream)(handle);
    status (*stream_query)(handle);
    status (*stream_wait)(handle);
    status (*allocate)(address *, size_t);
    status (*release)(address);
    status (*allocate_host)(void **, size_t);
    status (*release_host)(void *);
    status (*to_device)(address, const void *, size_t, handle);
    status (*from_device)(void *, address, size_t, handle);
    status (*create_event)(handle *, unsigned);
    status (*destroy_event)(handle);
    status (*record_event)(handle, handle);
    status (*wait_for_event)(handle);
    status (*elapsed)(float *, handle, handle);
} cu;

static const struct symbol symbols[] = {
    {"cuInit", &cu.init},
    {"cuDeviceGetCount", &cu.device_count},
    {"cuDeviceGet", &cu.device_get},
    {"cuDeviceGetName", &cu.device_name},
    {"cuDeviceGetAttribute", &cu.device_attribute},
    {"cuDevicePrimaryCtxRetain", &cu.retain_context},
    {"cuDevicePrimaryCtxRelease_v2", &cu.release_context},
    {"cuCtxSetCurrent", &cu.set_context},
    {"cuStreamCreate", &cu.create_stream},
    {"cuStreamDestroy_v2", &cu.destroy_stream},
    {"cuStreamQuery", &cu.stream_query},
    {"cuStreamSynchronize", &cu.stream_wait},
    {"cuMemAlloc_v2", &cu.allocate},
    {"cuMemFree_v2", &cu.release},
    {"cuMemAllocHost_v2", &cu.allocate_host},
    {"cuMemFreeHost", &cu.release_host},
    {"cuMemcpyHtoDAsync_v2", &cu.to_device},
    {"cuMemcpyDtoHAsync_v2", &cu.from_device},
    {"cuEventCreate", &cu.create_event},
    {"cuEventDestroy_v2", &cu.destroy_event},
    {"cuEventRecord", &cu.record_event},
    {"cuEventSynchronize", &cu.wait_for_event},
    {"cuEventElapsedTime", &cu.elapsed},
    {0},
};

struct lane {
    handle stream;
    address memory;
    handle began; /* of the last order, where it is traced */
    handle ended;
    bool is_traced;
};

static void *pinned[PINNED_MOST];
static size_t pinned_count;
static ordinal device;
static handle context;
/* From this event all traces count, in a float of milliseconds: it is recorded anew with each
 * thread, so that they stay small. */
static handle epoch;

static const char *means(status code) {
    switch (code) {
    case OUT_OF_MEMORY:
        return "host or device has no memory for it; ask for fewer bytes";
    case NO_DEVICE:
    case DEVICES_UNAVAILABLE:
        return "the device is gone or taken; check that it is there and free, and run again";
    default:
        return "read the kernel's log about the device, and run again";
    }
}

static struct failure failed(const char *call, status code) {
    return code == 0 ? GOOD
                     : (struct failure){.call = call,
                                        .code = code,
                                        .means = means(code),
                                        .no_room = code == OUT_OF_MEMORY};
}

static struct device describe(ordinal one) {
    struct device found = {0};
    int integrated = 0;
    int domain = 0;
    int bus = 0;
    int slot = 0;
    cu.device_name(found.name, sizeof found.name, one);
    cu.device_attribute(&integrated, ATTRIBUTE_INTEGRATED, one);
    found.is_host_memory = integrated != 0;
    if (cu.device_attribute(&bus, ATTRIBUTE_PCI_BUS, one) == 0 &&
        cu.device_attribute(&slot, ATTRIBUTE_PCI_DEVICE, one) == 0 &&
        cu.device_attribute(&domain, ATTRIBUTE_PCI_DOMAIN, one) == 0) {
        snprintf(found.pci, sizeof found.pci, "%04x:%02x:%02x.0", (unsigned)domain, (unsigned)bus,
                 (unsigned)slot);
    }
    return found;
}

static struct device find(const char *wanted) {
    device_library("libcuda.so.1", "the driver of an NVIDIA device", symbols);
    int count = 0;
    const status code = cu.init(0);
    if (code != 0 || cu.device_count(&count) != 0 || count == 0) {
        cannot_run("CUDA finds no device (cuInit says %d); check the device and its driver", code);
    }
    ordinal all[DEVICES_MOST] = {0};
    struct device described[DEVICES_MOST];
    const size_t known = count < DEVICES_MOST ? (size_t)count : DEVICES_MOST;
    for (size_t i = 0; i < known; i++) {
        cu.device_get(&all[i], (int)i);
        described[i] = describe(all[i]);
    }
    const size_t chosen = device_choose(described, known, wanted, "CUDA");
    device = all[chosen];
    return described[chosen];
}

static struct failure attach(void) {
    struct failure failure = failed("cuCtxSetCurrent", cu.set_context(context));
    if (!failure.call) {
        failure = failed("cuEventRecord", cu.record_event(epoch, NULL));
    }
    return failure.call ? failure : failed("cuEventSynchronize", cu.wait_for_event(epoch));
}

static struct failure open_device(void) {
    struct failure failure =
        failed("cuDevicePrimaryCtxRetain", cu.retain_context(&context, device));
    if (!failure.call) {
        failure = failed("cuCtxSetCurrent", cu.set_context(context));
    }
    return failure.call ? failure : failed("cuEventCreate", cu.create_event(&epoch, 0));
}

static void lane_close(struct lane *lane) {
    if (lane->began) {
        cu.destroy_event(lane->began);
    }
    if (lane->ended) {
        cu.destroy_event(lane->ended);
    }
    if (lane->memory) {
        cu.release(lane->memory);
    }
    if (lane->stream) {
        cu.destroy_stream(lane->stream);
    }
    free(lane);
}

static struct failure lane_open(struct lane **opened, uint64_t bytes) {
    struct lane *lane = *opened = calloc(1, sizeof *lane);
    if (!lane) {
        return failed("calloc", OUT_OF_MEMORY);
    }
    struct failure failure =
        failed("cuStreamCreate", cu.create_stream(&lane->stream, STREAM_NON_BLOCKING));
    if (!failure.call) {
        failure = failed("cuEventCreate", cu.create_event(&lane->began, 0));
    }
    if (!failure.call) {
        failure = failed("cuEventCreate", cu.create_event(&lane->ended, 0));
    }
    return failure.call ? failure : failed("cuMemAlloc", cu.allocate(&lane->memory, bytes));
}

static struct failure pin(uint64_t bytes, unsigned char **memory) {
    void *found = NULL;
    const status code =
        pinned_count < PINNED_MOST ? cu.allocate_host(&found, bytes) : OUT_OF_MEMORY;
    *memory = found;
    if (code == 0) {
        pinned[pinned_count++] = found;
    }
    return failed("cuMemAllocHost", code);
}

static struct failure move_piece(const struct lane *lane, const struct order *order, uint64_t first,
                                 uint64_t bytes) {
    const address there = lane->memory + first;
    unsigned char *here = order->host + first;
    return order->direction == TO_DEVICE
               ? failed("cuMemcpyHtoDAsync", cu.to_device(there, here, bytes, lane->stream))
               : failed("cuMemcpyDtoHAsync", cu.from_device(here, there, bytes, lane->stream));
}

static struct failure record(const struct order *order, const struct lane *lane, handle event) {
    return order->traced ? failed("cuEventRecord", cu.record_event(event, lane->stream)) : GOOD;
}

static struct failure wait_for(struct lane *lane) {
    return failed("cuStreamSynchronize", cu.stream_wait(lane->stream));
}

static struct failure move(struct lane *lane, const struct order *order) {
    const uint64_t piece = order->bytes / order->pieces;
    lane->is_traced = order->traced;
    struct failure failure = record(order, lane, lane->began);
    for (uint64_t i = 0; i < order->pieces && !failure.call; i++) {
        const bool is_last = i + 1 == order->pieces;
        failure = move_piece(lane, order, i * piece, is_last ? order->bytes - i * piece : piece);
    }
    if (!failure.call) {
        failure = record(order, lane, lane->ended);
    }
    return failure.call || !order->waits ? failure : wait_for(lane);
}

static struct failure time_of(handle event, double *time_ns) {
    float ms = 0;
    const status code = cu.elapsed(&ms, epoch, event);
    *time_ns = (double)ms * 1e6;
    return failed("cuEventElapsedTime", code);
}

static struct failure settle(struct lane *lane, struct settled *settled) {
    const status state = cu.stream_query(lane->stream);
    settled->was_done = state == 0;
    struct failure failure = failed("cuStreamQuery", state == NOT_READY ? 0 : state);
    if (!failure.call && state == NOT_READY) {
        failure = wait_for(lane);
    }
    if (!failure.call && lane->is_traced) {
        failure = time_of(lane->began, &settled->began_ns);
    }
    if (!failure.call && lane->is_traced) {
        failure = time_of(lane->ended, &settled->ended_ns);
    }
    return failure;
}

static void close_device(void) {
    for (size_t i = 0; i < pinned_count; i++) {
        cu.release_host(pinned[i]);
    }
    cu.destroy_event(epoch);
    cu.release_context(device);
}

const struct backend cuda_backend = {
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

/* Stands in for libOpenCL.so.1 and for libcuda.so.1, whichever it is linked as: devices with memory
 * of their own, in which an order that nobody waits for is never carried out before somebody does.
 * What goes wrong is told by the environment, the calls that move data counted from 1:
 *
 *   FAKE_DEVICES=N        so many devices (1)
 *   FAKE_PCI=BUS          the bus of their PCI address
 *   FAKE_DRIVER=N         the version of their driver (1)
 *   FAKE_CORRUPT=N        the N-th transfer delivers one byte wrong
 *   FAKE_LOSE=N           the N-th transfer delivers nothing
 *   FAKE_FAIL=N FAKE_CODE=C   the N-th transfer, and all after it, fail with this code
 *   FAKE_DEVICE_MEMORY=BYTES  so much memory in all (1 GiB)
 *   FAKE_LATE=1           OpenCL gives memory that is not there, and fails where it is used
 *   FAKE_PINNABLE=BYTES   no more of the host's memory can be pinned at a time
 *   FAKE_WAKES=FILE       the first call of all makes the link that this file tells of faster
 *   FAKE_NO_HOST_MEMORY=1, FAKE_HOST=1 (the device is host memory)
 */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { JOBS_MOST = 64 };

struct event {
    int done;
    uint64_t began_ns;
    uint64_t ended_ns;
};

struct job {
    void *to;
    const void *from;
    size_t bytes;
    struct event *event;
};

struct queue {
    struct job jobs[JOBS_MOST];
    int count;
};

static atomic_int transfers;
static atomic_long taken_bytes; /* of the device's memory */

static int given(const char *name, int otherwise) {
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

static void *pin(size_t bytes) {
    const int most = given("FAKE_PINNABLE", 0);
    const int none = given("FAKE_NO_HOST_MEMORY", 0) || (most && bytes > (size_t)most);
    return none ? NULL : malloc(bytes);
}

static void wake(void) {
    const char *path = getenv("FAKE_WAKES");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "16.0 GT/s PCIe\n");
        fclose(file);
    }
}

static long room_bytes(void) {
    return given("FAKE_DEVICE_MEMORY", 1 << 30);
}

/* What give_back() must know is kept before it. */
enum { HEAD_BYTES = 64 };

static void *take(size_t bytes, int late) {
    if ((taken_bytes += (long)bytes) > room_bytes() && !late) {
        taken_bytes -= (long)bytes;
        return NULL;
    }
    char *memory = malloc(HEAD_BYTES + bytes);
    *(size_t *)memory = bytes;
    return memory + HEAD_BYTES;
}

static void give_back(void *memory) {
    char *whole = (char *)memory - HEAD_BYTES;
    taken_bytes -= (long)*(size_t *)whole;
    free(whole);
}

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void carry_out(struct queue *queue) {
    for (int i = 0; i < queue->count; i++) {
        struct job *job = &queue->jobs[i];
        const uint64_t began_ns = now_ns();
        if (job->bytes > 0) {
            memcpy(job->to, job->from, job->bytes);
        }
        if (job->event) {
            *job->event = (struct event){1, began_ns, now_ns()};
        }
    }
    queue->count = 0;
}

/* 0, or the code with which it fails. */
static int order(struct queue *queue, void *to, const void *from, size_t bytes,
                 struct event *event) {
    const int number = ++transfers;
    const int failing = given("FAKE_FAIL", 0);
    if (failing && number >= failing) {
        return given("FAKE_CODE", 0);
    }
    if (queue->count == JOBS_MOST) {
        carry_out(queue);
    }
    const size_t delivered = number == given("FAKE_LOSE", 0) ? 0 : bytes;
    queue->jobs[queue->count++] = (struct job){to, from, delivered, event};
    if (number == given("FAKE_CORRUPT", 0)) {
        carry_out(queue);
        ((unsigned char *)to)[bytes / 2] ^= 1;
    }
    return 0;
}

#ifdef FAKE_OPENCL

typedef int32_t status;
typedef uint32_t flag;

struct buffer {
    void *memory;
    int pins;
};

static char device_names[4][32] = {"Fake Accelerator 0", "Fake Accelerator 1", "Fake Accelerator 2",
                                   "Fake Accelerator 3"};

status clGetPlatformIDs(flag room, void **platforms, flag *count) {
    static char platform;
    wake();
    if (room > 0) {
        platforms[0] = &platform;
    }
    if (count) {
        *count = 1;
    }
    return 0;
}

status clGetPlatformInfo(void *platform, flag what, size_t room, void *value, size_t *size) {
    (void)platform, (void)what, (void)size;
    snprintf(value, room, "Fake");
    return 0;
}

status clGetDeviceIDs(void *platform, uint64_t type, flag room, void **devices, flag *count) {
    (void)platform;
    (void)type;
    *count = (flag)given("FAKE_DEVICES", 1);
    for (flag i = 0; i < *count && i < room; i++) {
        devices[i] = device_names[i];
    }
    return *count ? 0 : -1;
}

status clGetDeviceInfo(void *device, flag what, size_t room, void *value, size_t *size) {
    (void)size;
    const flag pci[4] = {0, (flag)given("FAKE_PCI", 0), 0, 0};
    const uint64_t type = given("FAKE_HOST", 0) ? 2 : 4;
    const flag unified = 0;
    switch (what) {
    case 0x1000:
        memcpy(value, &type, sizeof type);
        return 0;
    case 0x1035:
        memcpy(value, &unified, sizeof unified);
        return 0;
    case 0x102B:
        snprintf(value, room, "%s", (char *)device);
        return 0;
    case 0x102D:
        snprintf(value, room, "%d.0", given("FAKE_DRIVER", 1));
        return 0;
    case 0x410F:
        memcpy(value, pci, sizeof pci);
        return pci[1] ? 0 : -30;
    default:
        return -30;
    }
}

void *clCreateContext(const void *a, flag b, void *const *c, void *d, void *e, status *code) {
    (void)a, (void)b, (void)c, (void)d, (void)e;
    *code = 0;
    return malloc(1);
}

status clReleaseContext(void *context) {
    free(context);
    return 0;
}

void *clCreateCommandQueue(void *a, void *b, uint64_t c, status *code) {
    (void)a, (void)b, (void)c;
    *code = 0;
    return calloc(1, sizeof(struct queue));
}

status clReleaseCommandQueue(void *queue) {
    free(queue);
    return 0;
}

void *clCreateBuffer(void *context, uint64_t flags, size_t bytes, void *host, status *code) {
    (void)context, (void)host;
    const int pins = (flags & 16) != 0;
    void *memory = pins ? pin(bytes) : take(bytes, given("FAKE_LATE", 0));
    *code = memory ? 0 : pins ? -6 : -4;
    if (*code) {
        return NULL;
    }
    struct buffer *buffer = malloc(sizeof *buffer);
    *buffer = (struct buffer){memory, pins};
    return buffer;
}

status clReleaseMemObject(void *released) {
    struct buffer *buffer = released;
    if (buffer->pins) {
        free(buffer->memory);
    } else {
        give_back(buffer->memory);
    }
    free(buffer);
    return 0;
}

static status enqueue(struct queue *queue, flag blocking, void *to, const void *from, size_t bytes,
                      void **event) {
    if (taken_bytes > room_bytes()) {
        return -4;
    }
    struct event *own = event ? calloc(1, sizeof *own) : NULL;
    const int code = order(queue, to, from, bytes, own);
    if (code) {
        free(own);
        return code;
    }
    if (event) {
        *event = own;
    }
    if (blocking) {
        carry_out(queue);
    }
    return 0;
}

status clEnqueueWriteBuffer(void *queue, void *buffer, flag blocking, size_t first, size_t bytes,
                            const void *host, flag a, void *const *b, void **event) {
    (void)a, (void)b;
    return enqueue(queue, blocking, (char *)((struct buffer *)buffer)->memory + first, host, bytes,
                   event);
}

status clEnqueueReadBuffer(void *queue, void *buffer, flag blocking, size_t first, size_t bytes,
                           void *host, flag a, void *const *b, void **event) {
    (void)a, (void)b;
    return enqueue(queue, blocking, host, (char *)((struct buffer *)buffer)->memory + first, bytes,
                   event);
}

void *clEnqueueMapBuffer(void *queue, void *buffer, flag a, uint64_t b, size_t c, size_t d, flag e,
                         void *const *f, void **g, status *code) {
    (void)queue, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g;
    *code = 0;
    return ((struct buffer *)buffer)->memory;
}

status clEnqueueUnmapMemObject(void *queue, void *a, void *b, flag c, void *const *d, void **e) {
    (void)queue, (void)a, (void)b, (void)c, (void)d, (void)e;
    return 0;
}

status clFlush(void *queue) {
    (void)queue;
    return 0;
}

status clFinish(void *queue) {
    carry_out(queue);
    return 0;
}

status clGetEventInfo(void *event, flag what, size_t room, void *value, size_t *size) {
    (void)what, (void)room, (void)size;
    *(status *)value = ((struct event *)event)->done ? 0 : 3;
    return 0;
}

status clGetEventProfilingInfo(void *event, flag what, size_t room, void *value, size_t *size) {
    (void)room, (void)size;
    const struct event *own = event;
    *(uint64_t *)value = what == 0x1282 ? own->began_ns : own->ended_ns;
    return 0;
}

status clReleaseEvent(void *event) {
    free(event);
    return 0;
}

#else /* CUDA */

typedef int status;
typedef unsigned long long address;

static _Thread_local int has_context;

status cuInit(unsigned flags) {
    (void)flags;
    wake();
    return given("FAKE_DEVICES", 1) ? 0 : 100;
}

status cuDriverGetVersion(int *version) {
    *version = given("FAKE_DRIVER", 1);
    return 0;
}

status cuDeviceGetCount(int *count) {
    *count = given("FAKE_DEVICES", 1);
    return 0;
}

status cuDeviceGet(int *device, int index) {
    *device = index;
    return 0;
}

status cuDeviceGetName(char *name, int room, int device) {
    snprintf(name, (size_t)room, "Fake GPU %d", device);
    return 0;
}

status cuDeviceGetAttribute(int *value, int what, int device) {
    (void)device;
    *value = what == 33 ? given("FAKE_PCI", 0) : what == 18 ? given("FAKE_HOST", 0) : 0;
    return what == 33 && *value == 0 ? 1 : 0;
}

status cuDevicePrimaryCtxRetain(void **context, int device) {
    (void)device;
    *context = malloc(1);
    return 0;
}

status cuDevicePrimaryCtxRelease_v2(int device) {
    (void)device;
    return 0;
}

status cuCtxSetCurrent(void *context) {
    has_context = context != NULL;
    return 0;
}

status cuStreamCreate(void **stream, unsigned flags) {
    (void)flags;
    *stream = calloc(1, sizeof(struct queue));
    return 0;
}

status cuStreamDestroy_v2(void *stream) {
    free(stream);
    return 0;
}

status cuStreamQuery(void *stream) {
    return ((struct queue *)stream)->count ? 600 : 0;
}

status cuStreamSynchronize(void *stream) {
    carry_out(stream);
    return 0;
}

status cuMemAlloc_v2(address *memory, size_t bytes) {
    *memory = (address)(uintptr_t)take(bytes, 0);
    return *memory ? 0 : 2;
}

status cuMemFree_v2(address memory) {
    give_back((void *)(uintptr_t)memory);
    return 0;
}

status cuMemAllocHost_v2(void **memory, size_t bytes) {
    *memory = pin(bytes);
    return *memory ? 0 : 2;
}

status cuMemFreeHost(void *memory) {
    free(memory);
    return 0;
}

/* As the driver does, where a thread has not made the context its own. */
status cuMemcpyHtoDAsync_v2(address to, const void *from, size_t bytes, void *stream) {
    return has_context ? order(stream, (void *)(uintptr_t)to, from, bytes, NULL) : 201;
}

status cuMemcpyDtoHAsync_v2(void *to, address from, size_t bytes, void *stream) {
    return has_context ? order(stream, to, (void *)(uintptr_t)from, bytes, NULL) : 201;
}

status cuEventCreate(void **event, unsigned flags) {
    (void)flags;
    *event = calloc(1, sizeof(struct event));
    return 0;
}

status cuEventDestroy_v2(void *event) {
    free(event);
    return 0;
}

status cuEventRecord(void *event, void *stream) {
    struct queue *queue = stream;
    if (queue) {
        queue->jobs[queue->count++] = (struct job){.event = event};
    } else {
        *(struct event *)event = (struct event){1, now_ns(), now_ns()};
    }
    return 0;
}

status cuEventSynchronize(void *event) {
    return ((struct event *)event)->done ? 0 : 600;
}

status cuEventElapsedTime(float *ms, void *from, void *to) {
    const struct event *one = from;
    const struct event *other = to;
    *ms = (float)(other->ended_ns - one->ended_ns) / 1e6f;
    return 0;
}

#endif

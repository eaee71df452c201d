/* What hostdev asks of a device, whatever the library that leads to it. */
#ifndef DEVICE_H
#define DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "link.h"

enum direction { TO_DEVICE, FROM_DEVICE };

/* A call that did not do its work; none where `call` is NULL. */
struct failure {
    const char *call;
    int code;
    const char *means; /* in words, with the remedy */
    bool no_room;      /* for lack of memory: what is smaller may succeed */
};

#define GOOD ((struct failure){0})

struct device {
    char name[128];
    bool is_host_memory; /* no bus lies between it and the host */
    char pci[PCI_BYTES]; /* domain:bus:device.function; empty where the library does not tell */
};

/* What one thread moves at a time: a queue and device memory of its own. */
struct lane;

struct order {
    enum direction direction;
    unsigned char *host;
    uint64_t bytes;
    uint64_t pieces; /* so many calls, of which none waits; 1: one call, which waits if any does */
    bool waits;      /* until all is done; else the order is given and nothing more */
    bool traced;     /* the device notes when it began and ended */
};

/* How the last order of a lane ended. */
struct settled {
    bool was_done;   /* before the program waited for it */
    double began_ns; /* of a traced order, by a clock that all lanes share */
    double ended_ns;
};

struct backend {
    /* Exits with 77 where there is no library or no device; `wanted`: index, name or NULL. Nothing
     * of the device itself is woken yet. */
    struct device (*find)(const char *wanted);
    struct failure (*open)(void);
    void (*close)(void); /* lanes first */

    struct failure (*attach)(void); /* each thread, before any of them moves anything */
    struct failure (*lane_open)(struct lane **lane, uint64_t bytes); /* with so much memory */
    void (*lane_close)(struct lane *lane);
    struct failure (*pin)(uint64_t bytes, unsigned char **memory); /* until close */

    struct failure (*move)(struct lane *lane, const struct order *order);
    struct failure (*wait)(struct lane *lane); /* until all that was ordered is done */
    struct failure (*settle)(struct lane *lane, struct settled *settled); /* after each order */
};

extern const struct backend opencl_backend;
extern const struct backend cuda_backend;

/* The one of `count` names that is wanted: by its number, else the first that has the word in it,
 * in whatever case; without a wish the first that is not host memory, else the first. Exits with 77
 * and the names where none fits. */
size_t device_choose(const struct device *devices, size_t count, const char *wanted,
                     const char *library);

/* A function of a library that is opened at run time, and where its address goes. */
struct symbol {
    const char *name;
    void *place;
};

/* The table ends with a name that is NULL. Exits with 77 where library or function is missing. */
void device_library(const char *file, const char *package, const struct symbol *symbols);

#endif

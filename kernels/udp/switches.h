/* Emulated store-and-forward switches: each has two interfaces, takes in a whole frame at one of
 * them, holds it for its wire time, and sends it by the other one. */
#ifndef SWITCHES_H
#define SWITCHES_H

#include <stdint.h>
#include <sys/types.h>

enum { SWITCHES_MOST = 16, SWITCHES_QUEUE_FRAMES = 128 };

/* Of the frames that came in at one interface. A queue's drops are counted once it has room again;
 * a frame that is larger than a slot of the ring, or that the other interface refused, is dropped
 * too. */
struct switches_count {
    uint64_t frames_sent;
    uint64_t frames_dropped;
};

struct switches {
    unsigned count;           /* switch i, from 1 on, lies between the interfaces s<i>a and s<i>b */
    uint64_t link_bits_per_s; /* of every link; 0: holds nothing */
    uint64_t switching_ns;    /* from a whole frame to its first bit on the next link */
    struct switches_count *counts; /* 2 x count, of s1a, s1b, s2a, ...; memory shared with others */
    pid_t parent;                  /* at its death this process ends too */
    void (*ready)(void *context);  /* called once frames at every interface are taken in */
    void *context;
};

/* Serves all switches, in the network namespace and on the CPU of this process, until it is ended.
 * It spins, except where no frame came for a second. At most SWITCHES_QUEUE_FRAMES wait at one
 * interface. Where there are no raw sockets, exits with 77; where an interface is missing, with
 * 1. */
_Noreturn void switches_run(const struct switches *config);

#endif

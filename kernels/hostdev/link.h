/* The PCI Express links between a device and the root of its bus, as the kernel reports them. */
#ifndef LINK_H
#define LINK_H

#include <stdbool.h>
#include <stdint.h>

enum { PCI_BYTES = 32 }; /* of "domain:bus:device.function" */

struct link {
    bool known;
    double gt_per_s;    /* 10^9 transfers per second and lane */
    uint64_t width;     /* lanes */
    char at[PCI_BYTES]; /* the port that reports it: the device's own, or that of a bridge above it
                         */
};

/* At this moment, the slowest between the device and the root; `folder` stands in for /sys. */
struct link link_now(const char *folder, const char *pci);

/* The most that the device itself can. */
struct link link_most(const char *folder, const char *pci);

/* link_now() of every device but bridges, kept for link_before(): which of them will do the work
 * only its library knows it, and asking wakes it. */
void link_remember(const char *folder);
struct link link_before(const char *pci);

#endif

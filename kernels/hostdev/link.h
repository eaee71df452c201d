/* The PCI Express link of a device, as the kernel tells it. */
#ifndef LINK_H
#define LINK_H

#include <stdbool.h>
#include <stdint.h>

struct link {
    bool known;
    double gt_per_s; /* 10^9 transfers per second and lane */
    uint64_t width;  /* lanes */
};

/* At this moment, or the most that the device can; `folder` stands in for /sys. */
struct link link_now(const char *folder, const char *pci);
struct link link_most(const char *folder, const char *pci);

#endif

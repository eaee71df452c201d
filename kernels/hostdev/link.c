#include "link.h"

#include <inttypes.h>
#include <stdio.h>

/* The file begins with a number, as in "8.0 GT/s PCIe"; what is off or unknown has none. */
static bool read_number(const char *folder, const char *pci, const char *name, double *value) {
    char path[512];
    snprintf(path, sizeof path, "%s/bus/pci/devices/%s/%s", folder, pci, name);
    FILE *file = fopen(path, "re");
    if (!file) {
        return false;
    }
    const bool good = fscanf(file, "%lf", value) == 1 && *value > 0;
    fclose(file);
    return good;
}

static struct link read_link(const char *folder, const char *pci, const char *speed,
                             const char *lanes) {
    double gt_per_s = 0;
    double width = 0;
    const bool known = *pci && read_number(folder, pci, speed, &gt_per_s) &&
                       read_number(folder, pci, lanes, &width);
    return (struct link){.known = known, .gt_per_s = gt_per_s, .width = (uint64_t)width};
}

struct link link_now(const char *folder, const char *pci) {
    return read_link(folder, pci, "current_link_speed", "current_link_width");
}

struct link link_most(const char *folder, const char *pci) {
    return read_link(folder, pci, "max_link_speed", "max_link_width");
}

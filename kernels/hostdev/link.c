#define _GNU_SOURCE
#include "link.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { REMEMBERED_MOST = 512, BRIDGES = 6 };

static struct {
    char pci[PCI_BYTES];
    struct link link;
} remembered[REMEMBERED_MOST];
static size_t remembered_count;

/* The file begins with a number, as in "8.0 GT/s PCIe"; what is off or unknown has none. */
static bool read_number(const char *folder, const char *name, double *value) {
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    if (!file) {
        return false;
    }
    const bool good = fscanf(file, "%lf", value) == 1 && *value > 0;
    fclose(file);
    return good;
}

static struct link read_link(const char *folder, const char *at, const char *speed,
                             const char *lanes) {
    double gt_per_s = 0;
    double width = 0;
    const bool known = read_number(folder, speed, &gt_per_s) && read_number(folder, lanes, &width);
    struct link link = {.known = known, .gt_per_s = gt_per_s, .width = (uint64_t)width};
    snprintf(link.at, sizeof link.at, "%s", at);
    return link;
}

/* To rank links only, as benchbook/host/pcie.py has it: the payload of all lanes. */
static double carried(struct link link) {
    const double share = link.gt_per_s <= 5    ? 8.0 / 10
                         : link.gt_per_s <= 32 ? 128.0 / 130
                                               : 236.0 / 256;
    return link.gt_per_s * (double)link.width * share;
}

/* "0000:41:00.0", and no "pci0000:40", which is the root. */
static bool is_address(const char *name) {
    unsigned domain;
    unsigned bus;
    unsigned slot;
    unsigned function;
    int used = 0;
    return isxdigit((unsigned char)*name) &&
           sscanf(name, "%x:%x:%x.%x%n", &domain, &bus, &slot, &function, &used) == 4 &&
           name[used] == '\0';
}

/* Where the device hangs in the tree, whose folders are the bridges above it. */
static bool find_place(const char *folder, const char *pci, char place[PATH_MAX]) {
    char path[PATH_MAX];
    const int length = snprintf(path, sizeof path, "%s/bus/pci/devices/%s", folder, pci);
    return *pci && length < PATH_MAX && realpath(path, place);
}

struct link link_now(const char *folder, const char *pci) {
    struct link slowest = {0};
    char place[PATH_MAX];
    if (!find_place(folder, pci, place)) {
        return slowest;
    }
    for (char *name; (name = strrchr(place, '/')) && is_address(name + 1); *name = '\0') {
        const struct link link =
            read_link(place, name + 1, "current_link_speed", "current_link_width");
        /* Both ends of a link tell the same: the one nearer to the device has the word. */
        if (link.known && (!slowest.known || carried(link) < carried(slowest))) {
            slowest = link;
        }
    }
    return slowest;
}

struct link link_most(const char *folder, const char *pci) {
    char place[PATH_MAX];
    return find_place(folder, pci, place)
               ? read_link(place, pci, "max_link_speed", "max_link_width")
               : (struct link){0};
}

static bool is_bridge(const char *folder, const char *pci) {
    char path[PATH_MAX];
    char text[16] = "";
    snprintf(path, sizeof path, "%s/bus/pci/devices/%.31s/class", folder, pci);
    FILE *file = fopen(path, "re");
    if (!file) {
        return false;
    }
    const char *read = fgets(text, sizeof text, file);
    fclose(file);
    return read && strtoul(text, NULL, 16) >> 16 == BRIDGES;
}

void link_remember(const char *folder) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/bus/pci/devices", folder);
    DIR *devices = opendir(path);
    remembered_count = 0;
    if (!devices) {
        return;
    }
    for (struct dirent *one; remembered_count < REMEMBERED_MOST && (one = readdir(devices));) {
        if (!is_address(one->d_name) || is_bridge(folder, one->d_name)) {
            continue;
        }
        const struct link link = link_now(folder, one->d_name);
        if (link.known) {
            snprintf(remembered[remembered_count].pci, PCI_BYTES, "%.31s", one->d_name);
            remembered[remembered_count++].link = link;
        }
    }
    closedir(devices);
}

struct link link_before(const char *pci) {
    for (size_t i = 0; i < remembered_count; i++) {
        if (strcasecmp(remembered[i].pci, pci) == 0) {
            return remembered[i].link;
        }
    }
    return (struct link){0};
}

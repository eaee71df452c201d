#define _GNU_SOURCE
#include "device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cannot_run.h"
#include "refuse.h"

static bool is_index(const char *wanted) {
    return *wanted && strspn(wanted, "0123456789") == strlen(wanted);
}

static size_t choose(const struct device *devices, size_t count, const char *wanted) {
    if (wanted && is_index(wanted)) {
        const unsigned long long index = strtoull(wanted, NULL, 10);
        return index < count ? (size_t)index : count;
    }
    for (size_t i = 0; i < count; i++) {
        if (wanted ? strcasestr(devices[i].name, wanted) != NULL : !devices[i].is_host_memory) {
            return i;
        }
    }
    return wanted ? count : 0;
}

size_t device_choose(const struct device *devices, size_t count, const char *wanted,
                     const char *library) {
    const size_t chosen = choose(devices, count, wanted);
    if (chosen < count) {
        return chosen;
    }
    char names[SENTENCE_BYTES / 2] = "";
    for (size_t i = 0, used = 0; i < count && used < sizeof names; i++) {
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%zu (%s)", i ? ", " : "", i,
                                 devices[i].name);
    }
    cannot_run("%s has no device '%s'; there is %s; give one of these", library, wanted, names);
}

void device_library(const char *file, const char *package, const struct symbol *symbols) {
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror();
        const bool absent = strstr(why, "No such file") != NULL;
        cannot_run("there is no %s here%s%s%s; install %s", file, absent ? "" : " that is one (",
                   absent ? "" : why, absent ? "" : ")", package);
    }
    for (; symbols->name; symbols++) {
        void *found = dlsym(library, symbols->name);
        if (!found) {
            cannot_run("%s has no function %s; install a newer one", file, symbols->name);
        }
        memcpy(symbols->place, &found, sizeof found);
    }
}

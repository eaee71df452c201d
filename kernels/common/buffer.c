#define _GNU_SOURCE
#include "buffer.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "cannot_run.h"

uint64_t *buffer_allocate(uint64_t bytes, uint64_t offset) {
    void *pages = MAP_FAILED;
    size_t room;
    errno = ENOMEM;
    if (!__builtin_add_overflow(bytes, BUFFER_OFFSET_MOST + 1, &room)) {
        pages = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    if (pages == MAP_FAILED) {
        cannot_run("a buffer of %" PRIu64 " bytes cannot be allocated (%s); ask for a smaller one",
                   bytes, strerror(errno));
    }
    return (uint64_t *)pages + offset / sizeof(uint64_t);
}

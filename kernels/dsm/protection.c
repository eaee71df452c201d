#define _GNU_SOURCE
#include "protection.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "refuse.h"

/* A page of the file that is not mapped here is a minor fault; a page that is, and is protected,
 * a fault of writing. Both come as a signal to the thread that touched it: nobody need wait at the
 * descriptor. */
#if defined(UFFD_FEATURE_MINOR_SHMEM) && defined(UFFD_FEATURE_WP_HUGETLBFS_SHMEM)
#define HAS_USERFAULT 1
#if !defined(UFFDIO_CONTINUE_MODE_WP)
#define UFFDIO_CONTINUE_MODE_WP (UINT64_C(1) << 1) /* Linux 6.4; its headers may be older */
#endif
#define USERFAULT_FEATURES                                                                         \
    (UFFD_FEATURE_SIGBUS | UFFD_FEATURE_MINOR_SHMEM | UFFD_FEATURE_WP_HUGETLBFS_SHMEM)
#endif

static int userfault = -1;
static protection_handler *handle;

static void catch_fault(int signal, siginfo_t *info, void *context) {
    const int error = errno;
    (void)context;
    if (!handle(info->si_addr)) {
        struct sigaction ends = {.sa_handler = SIG_DFL};
        sigaction(signal, &ends, NULL); /* it faults again, and ends the program */
    }
    errno = error;
}

static bool catch_signal(int signal) {
    struct sigaction action = {.sa_sigaction = catch_fault, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    return sigaction(signal, &action, NULL) == 0;
}

#if HAS_USERFAULT
/* What an older kernel does not know is refused when it is done. */
static bool map_protected(void *first, size_t bytes) {
    struct uffdio_continue map = {
        .range = {.start = (uintptr_t)first, .len = bytes},
        .mode = UFFDIO_CONTINUE_MODE_WP,
    };
    return ioctl(userfault, UFFDIO_CONTINUE, &map) == 0;
}

static bool open_userfault(void *first, size_t bytes) {
    struct uffdio_api api = {.api = UFFD_API, .features = USERFAULT_FEATURES};
    struct uffdio_register range = {
        .range = {.start = (uintptr_t)first, .len = bytes},
        .mode = UFFDIO_REGISTER_MODE_MINOR | UFFDIO_REGISTER_MODE_WP,
    };
    const uint64_t needed = UINT64_C(1) << _UFFDIO_CONTINUE | UINT64_C(1) << _UFFDIO_WRITEPROTECT;
    userfault = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
    if (userfault >= 0 && ioctl(userfault, UFFDIO_API, &api) == 0 &&
        ioctl(userfault, UFFDIO_REGISTER, &range) == 0 && (range.ioctls & needed) == needed &&
        madvise(first, bytes, MADV_DONTNEED) == 0 &&
        map_protected(first, (size_t)sysconf(_SC_PAGESIZE)) &&
        madvise(first, bytes, MADV_DONTNEED) == 0) {
        return true;
    }
    if (userfault >= 0) {
        close(userfault);
    }
    userfault = -1;
    return false;
}

static int change_userfault(void *first, size_t bytes, enum page_state before,
                            enum page_state after) {
    const struct uffdio_range range = {.start = (uintptr_t)first, .len = bytes};
    if (after == PAGE_ABSENT) {
        return madvise(first, bytes, MADV_DONTNEED);
    }
    if (before == PAGE_ABSENT) {
        return map_protected(first, bytes) ? 0 : -1;
    }
    struct uffdio_writeprotect protect = {
        .range = range,
        .mode = after == PAGE_READABLE ? UFFDIO_WRITEPROTECT_MODE_WP : 0,
    };
    return ioctl(userfault, UFFDIO_WRITEPROTECT, &protect);
}
#else
static bool open_userfault(void *first, size_t bytes) {
    (void)first;
    (void)bytes;
    return false;
}

static int change_userfault(void *first, size_t bytes, enum page_state before,
                            enum page_state after) {
    (void)first;
    (void)bytes;
    (void)before;
    (void)after;
    return -1;
}
#endif

const char *protection_open(void *first, size_t bytes, protection_handler *handler,
                            bool is_userfault_tried) {
    handle = handler;
    if (is_userfault_tried && open_userfault(first, bytes)) {
        return catch_signal(SIGBUS) ? "userfaultfd" : NULL;
    }
    return mprotect(first, bytes, PROT_NONE) == 0 && catch_signal(SIGSEGV) ? "mprotect" : NULL;
}

void protection_change(void *first, size_t bytes, enum page_state before, enum page_state after) {
    static const int rights[] = {
        [PAGE_ABSENT] = PROT_NONE,
        [PAGE_READABLE] = PROT_READ,
        [PAGE_WRITABLE] = PROT_READ | PROT_WRITE,
    };
    const int failed = userfault >= 0 ? change_userfault(first, bytes, before, after)
                                      : mprotect(first, bytes, rights[after]);
    if (failed) {
        refuse("a page cannot be protected (%s); raise vm.max_map_count, or take a smaller problem",
               strerror(errno));
    }
}

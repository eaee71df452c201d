#define _GNU_SOURCE
#include "meeting.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"

enum { SPINS_PER_CLOCK = 1024 };

/* Without a pause instruction: on some processors, and in virtual machines, that takes longer
 * than what is measured. */
bool spin_until(const struct shared_word *word, uint64_t least, uint64_t deadline_ns) {
    for (unsigned spins = 1;; spins++) {
        if (atomic_load_explicit(&word->value, memory_order_acquire) >= least) {
            return true;
        }
        if (spins % SPINS_PER_CLOCK == 0 && clock_now() >= deadline_ns) {
            return false;
        }
    }
}

/* Who spins, even yielding, takes turns from those that it waits for. */
static bool sleep_until(struct meeting *meeting, uint64_t least, uint64_t deadline_ns) {
    const struct timespec second = {.tv_sec = 1};
    for (;;) {
        const uint32_t calls = atomic_load(&meeting->calls);
        if (atomic_load(&meeting->arrivals.value) >= least) {
            return true;
        }
        if (clock_now() >= deadline_ns) {
            return false;
        }
        syscall(SYS_futex, &meeting->calls, FUTEX_WAIT, calls, &second, NULL, 0);
    }
}

static bool wait_until(struct meeting *meeting, uint64_t least, uint64_t deadline_ns) {
    return meeting->sleeps ? sleep_until(meeting, least, deadline_ns)
                           : spin_until(&meeting->arrivals, least, deadline_ns);
}

bool meeting_wait(struct meeting *meeting, uint64_t *attended, uint64_t *start_ns) {
    const uint64_t all = meeting->members * ++*attended;
    const uint64_t deadline_ns = clock_now() + meeting->limit_ns;
    bool together = true;
    if (start_ns) {
        together = wait_until(meeting, all - 1, deadline_ns);
        *start_ns = clock_now();
    }
    const uint64_t before =
        atomic_fetch_add_explicit(&meeting->arrivals.value, 1, memory_order_acq_rel);
    if (meeting->sleeps && before + 2 >= all) { /* the last, and the last before `start_ns` */
        atomic_fetch_add(&meeting->calls, 1);
        syscall(SYS_futex, &meeting->calls, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    }
    together = wait_until(meeting, all, deadline_ns) && together;
    if (!together) {
        atomic_store(&meeting->missed, true);
    }
    return together;
}

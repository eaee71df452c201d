#define _GNU_SOURCE
#include "pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "cannot_run.h"
#include "clock.h"
#include "meeting.h"

/* Longer than a transfer of 64 MiB over a fast link: waking a sleeping thread takes 20 to 50 us,
 * which is 4 % of such a transfer (measured on an H200 behind 16 lanes of 32 GT/s). */
#define AWAKE_NS UINT64_C(3000000)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t woken = PTHREAD_COND_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;

/* Written with the lock held, so that no thread sleeps through a change; read without it by who is
 * awake. Both only grow. */
static struct shared_word begun;
static struct shared_word ended; /* by each member once a task */

static pool_task *current; /* NULL: it is over; written before `begun` grows */
static void *current_argument;
static bool stays_awake;

static pthread_t *members;
static size_t member_count;

/* Until the word has come to `least`: awake at first where CPUs are free for it, then asleep. */
static void await(struct shared_word *word, uint64_t least, pthread_cond_t *condition) {
    if (stays_awake && spin_until(word, least, clock_now() + AWAKE_NS)) {
        return;
    }
    pthread_mutex_lock(&lock);
    while (atomic_load_explicit(&word->value, memory_order_acquire) < least) {
        pthread_cond_wait(condition, &lock);
    }
    pthread_mutex_unlock(&lock);
}

static void grow(struct shared_word *word, pthread_cond_t *condition) {
    pthread_mutex_lock(&lock);
    atomic_fetch_add_explicit(&word->value, 1, memory_order_acq_rel);
    pthread_cond_broadcast(condition);
    pthread_mutex_unlock(&lock);
}

static void *member(void *argument) {
    const size_t thread = (uintptr_t)argument;
    for (uint64_t task_number = 1;; task_number++) {
        await(&begun, task_number, &woken);
        if (!current) {
            return NULL;
        }
        current(thread, current_argument);
        grow(&ended, &done);
    }
}

/* A CPU each for the members and the caller, and one for the threads of the driver. */
static bool cpus_suffice(size_t threads) {
    cpu_set_t usable;
    return sched_getaffinity(0, sizeof usable, &usable) == 0 &&
           threads + 2 <= (size_t)CPU_COUNT(&usable);
}

void pool_open(size_t threads) {
    atomic_store(&begun.value, 0);
    atomic_store(&ended.value, 0);
    stays_awake = cpus_suffice(threads);
    members = calloc(threads + 1, sizeof *members);
    if (!members) {
        cannot_run("no memory for %zu threads; ask for fewer", threads);
    }
    for (; member_count < threads; member_count++) {
        void *const thread = (void *)(uintptr_t)member_count;
        const int error = pthread_create(&members[member_count], NULL, member, thread);
        if (error) {
            cannot_run("thread %zu of %zu could not be started (%s); ask for fewer",
                       member_count + 1, threads, strerror(error));
        }
    }
}

static void begin(pool_task *task, void *argument) {
    current = task;
    current_argument = argument;
    grow(&begun, &woken);
}

void pool_run(pool_task *task, void *argument, void (*meanwhile)(void)) {
    if (member_count > 0) {
        begin(task, argument);
    } else {
        task(0, argument);
    }
    if (meanwhile) {
        meanwhile();
    }
    await(&ended, atomic_load(&begun.value) * member_count, &done);
}

void pool_close(void) {
    begin(NULL, NULL);
    for (size_t i = 0; i < member_count; i++) {
        pthread_join(members[i], NULL);
    }
    free(members);
    members = NULL;
    member_count = 0;
}

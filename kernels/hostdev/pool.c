#define _GNU_SOURCE
#include "pool.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cannot_run.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t woken = PTHREAD_COND_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;

/* These belong to the lock. */
static uint64_t rounds;
static size_t busy;
static pool_task *current; /* NULL: it is over */
static void *current_argument;

static pthread_t *members;
static size_t member_count;

static void *member(void *argument) {
    const size_t thread = (uintptr_t)argument;
    uint64_t seen = 0;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (rounds == seen) {
            pthread_cond_wait(&woken, &lock);
        }
        seen = rounds;
        pool_task *const task = current;
        void *const own = current_argument;
        if (!task) {
            break;
        }
        pthread_mutex_unlock(&lock);
        task(thread, own);
        pthread_mutex_lock(&lock);
        if (--busy == 0) {
            pthread_cond_signal(&done);
        }
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

void pool_open(size_t threads) {
    rounds = 0;
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
    pthread_mutex_lock(&lock);
    current = task;
    current_argument = argument;
    busy = member_count;
    rounds++;
    pthread_cond_broadcast(&woken);
    pthread_mutex_unlock(&lock);
}

static void wait_for_all(void) {
    pthread_mutex_lock(&lock);
    while (busy > 0) {
        pthread_cond_wait(&done, &lock);
    }
    pthread_mutex_unlock(&lock);
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
    wait_for_all();
}

void pool_close(void) {
    begin(NULL, NULL);
    for (size_t i = 0; i < member_count; i++) {
        pthread_join(members[i], NULL);
    }
    free(members);
    members = NULL;
    member_count = busy = 0;
}

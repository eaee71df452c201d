/* Node 0 keeps who waits for each lock, and grants it in that order. What a node wrote has arrived
 * everywhere before it gives the lock back. */
#include <string.h>

#include "cannot_run.h"
#include "state.h"

enum { KEEPER = 0 };

struct wish {
    uint32_t lock;
    uint32_t gives_back;
};

struct lock {
    bool is_taken;
    size_t first; /* of those who wait */
    size_t count;
    size_t waiting[SHARING_NODES_MOST];
};

static struct lock locks[SHARING_LOCKS]; /* at their keeper */
static uint32_t grants[SHARING_LOCKS];   /* to this node */

static void keep(size_t node, const struct wish *wish) {
    struct lock *lock = &locks[wish->lock % SHARING_LOCKS];
    if (wish->gives_back) {
        lock->is_taken = false;
    } else {
        lock->waiting[(lock->first + lock->count++) % SHARING_NODES_MOST] = node;
    }
}

static void grant(uint32_t number, size_t node) {
    const uint32_t is_granted = 1;
    if (node == KEEPER) {
        grants[number] = is_granted;
    } else {
        post_write(&sharing.peers[node], KEY_GRANTS, (uint32_t)(number * sizeof *grants),
                   &is_granted, sizeof is_granted);
    }
}

void locks_serve(void) {
    for (uint32_t number = 0; sharing.node == KEEPER && number < SHARING_LOCKS; number++) {
        struct lock *lock = &locks[number];
        if (!lock->is_taken && lock->count > 0) {
            const size_t node = lock->waiting[lock->first];
            lock->is_taken = true;
            lock->first = (lock->first + 1) % SHARING_NODES_MOST;
            lock->count--;
            grant(number, node);
        }
    }
}

static void wish_arrives(void *context, const void *payload, size_t bytes) {
    const struct peer *peer = context;
    struct wish wish;
    if (bytes == sizeof wish) {
        memcpy(&wish, payload, sizeof wish);
        keep(peer->node, &wish);
    }
}

void locks_register(struct peer *peer) {
    if (!endpoint_register(peer->endpoint, KEY_GRANTS, grants, sizeof grants) ||
        !endpoint_register_handler(peer->endpoint, KEY_LOCK, wish_arrives, peer)) {
        cannot_run("there is no memory for locks; free some");
    }
}

static void tell_keeper(size_t number, bool gives_back) {
    const struct wish wish = {.lock = (uint32_t)number, .gives_back = gives_back};
    if (sharing.node == KEEPER) {
        keep(KEEPER, &wish);
        locks_serve();
    } else {
        post_signal(&sharing.peers[KEEPER], KEY_LOCK, &wish, sizeof wish);
    }
}

void sharing_lock(size_t number) {
    const enum sharing_part before = enter_part(SHARING_SYNC);
    struct patience patience = {.waits_for = "a lock"};
    grants[number] = 0;
    tell_keeper(number, false);
    while (!grants[number]) {
        wait_a_round(&patience);
    }
    pages_forget_all();
    enter_part(before);
}

void sharing_unlock(size_t number) {
    const enum sharing_part before = enter_part(SHARING_SYNC);
    updates_flush();
    pages_flush();
    await_arrival();
    tell_keeper(number, true);
    enter_part(before);
}

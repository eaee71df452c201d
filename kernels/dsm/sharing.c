#define _GNU_SOURCE
#include "sharing.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "cannot_run.h"
#include "clock.h"
#include "refuse.h"
#include "state.h"

#define CONNECTION UINT64_C(0x7368617265640000)
#define PATIENCE_NS UINT64_C(15000000000)
#define LOOK_EVERY_NS UINT64_C(20000000)
/* Time-out where processes take turns on a CPU: a turn is longer than that of the library. */
#define CROWDED_RESEND_NS UINT64_C(10000000)

enum { ROUNDS_PER_LOOK = 1 << 12, FRAMES_AT_ONCE = MESSAGES_WINDOW / 2 };
enum { BYTES_AT_ONCE = FRAMES_AT_ONCE * MESSAGES_BYTES_MOST };

struct state sharing;
static uint32_t barriers; /* passed, or arrived at */
static uint32_t arrived[SHARING_NODES_MOST];

size_t sharing_node(void) {
    return sharing.node;
}

size_t sharing_nodes(void) {
    return sharing.nodes;
}

/* --- Time and counts. */

enum sharing_part enter_part(enum sharing_part part) {
    const enum sharing_part before = sharing.part;
    if (part != before) {
        const uint64_t now_ns = clock_now();
        sharing.part_ns[before] += now_ns - sharing.part_began_ns;
        sharing.part_began_ns = now_ns;
        sharing.part = part;
    }
    return before;
}

static uint64_t count_resent(void) {
    uint64_t resent = 0;
    for (size_t node = 0; node < sharing.nodes; node++) {
        const struct endpoint *endpoint = sharing.peers[node].endpoint;
        resent += endpoint ? endpoint_counts(endpoint)->resent : 0;
    }
    return resent;
}

void sharing_record_begin(void) {
    memset(sharing.counts, 0, sizeof sharing.counts);
    memset(sharing.part_ns, 0, sizeof sharing.part_ns);
    sharing.resent_before = count_resent();
    sharing.part = SHARING_TASK;
    sharing.part_began_ns = clock_now();
}

struct sharing_record sharing_record_end(void) {
    struct sharing_record record;
    sharing.counts[SHARING_RESENT] = count_resent() - sharing.resent_before;
    sharing.part_ns[sharing.part] += clock_now() - sharing.part_began_ns;
    memcpy(record.counts, sharing.counts, sizeof record.counts);
    memcpy(record.part_ns, sharing.part_ns, sizeof record.part_ns);
    return record;
}

/* --- Waiting. */

static void look_at_peers(void) {
    for (size_t node = 0; node < sharing.nodes; node++) {
        const struct endpoint *endpoint = sharing.peers[node].endpoint;
        if (endpoint && endpoint_failure(endpoint)) {
            refuse("node %zu cannot go on: %s", sharing.node, endpoint_failure(endpoint));
        }
    }
}

static void look_around(struct patience *patience) {
    const uint64_t now_ns = clock_now();
    if (sharing.watch) {
        sharing.watch();
    }
    look_at_peers();
    if (patience->deadline_ns == 0) {
        patience->deadline_ns = now_ns + PATIENCE_NS;
    } else if (now_ns > patience->deadline_ns) {
        refuse("node %zu heard nothing for %" PRIu64 " s while it waited for %s; see whether the "
               "others still run",
               sharing.node, PATIENCE_NS / UINT64_C(1000000000), patience->waits_for);
    }
}

/* Acknowledgements go before the others run: they may wait for them. */
static void let_others_run(void) {
    for (size_t node = 0; node < sharing.nodes; node++) {
        if (sharing.peers[node].endpoint) {
            endpoint_look_at_clock(sharing.peers[node].endpoint);
        }
    }
    sched_yield();
}

/* A round takes some 100 ns where each node has its CPU, and as long as the turns of all others,
 * ms on a busy machine, where it has not: there the clock says when to look. */
static bool is_time_to_look(struct patience *patience) {
    static uint64_t looked_ns;
    if (!sharing.is_crowded) {
        return ++patience->rounds % ROUNDS_PER_LOOK == 0;
    }
    const uint64_t now_ns = clock_now();
    const bool is_time = now_ns - looked_ns > LOOK_EVERY_NS;
    looked_ns = is_time ? now_ns : looked_ns;
    return is_time;
}

void wait_a_round(struct patience *patience) {
    if (sharing_poll()) {
        patience->deadline_ns = 0;
    } else if (sharing.is_crowded) {
        let_others_run();
    }
    if (is_time_to_look(patience)) {
        look_around(patience);
    }
}

/* A frame is taken in by its own connection, and what it asks for is answered behind all of them,
 * since a handler cannot wait for room. */
bool sharing_poll(void) {
    static bool is_serving;
    bool has_come = false;
    for (size_t node = 0; node < sharing.nodes; node++) {
        struct endpoint *endpoint = sharing.peers[node].endpoint;
        while (endpoint && endpoint_poll(endpoint)) {
            has_come = true;
        }
    }
    if (has_come && !is_serving) {
        is_serving = true;
        locks_serve();
        pages_serve();
        is_serving = false;
    }
    return has_come;
}

void await_arrival(void) {
    struct patience patience = {.waits_for = "its messages to arrive"};
    for (size_t node = 0; node < sharing.nodes; node++) {
        const struct endpoint *endpoint = sharing.peers[node].endpoint;
        while (endpoint && endpoint_room(endpoint) < MESSAGES_WINDOW) {
            wait_a_round(&patience);
        }
    }
}

/* --- Sending. Who waited at one connection alone would not take in what the others need to have
 * taken in before they can go on. */

static void make_room(const struct peer *peer, size_t frames) {
    struct patience patience = {.waits_for = "room for messages"};
    while (endpoint_room(peer->endpoint) < frames) {
        wait_a_round(&patience);
    }
}

static size_t frames_of(size_t bytes) {
    return bytes > 0 ? (bytes + MESSAGES_BYTES_MOST - 1) / MESSAGES_BYTES_MOST : 1;
}

static void count_sent(const struct peer *peer, bool is_sent, size_t bytes) {
    sharing.counts[SHARING_PACKETS] += frames_of(bytes);
    sharing.counts[SHARING_BYTES] += bytes;
    if (!is_sent) {
        look_at_peers();
        refuse("node %zu has no room for a message to %s; report this as a defect", sharing.node,
               peer->name);
    }
}

void post_write(struct peer *peer, enum key key, uint32_t offset, const void *payload,
                size_t bytes) {
    const unsigned char *place = payload;
    for (size_t sent = 0; sent < bytes;) {
        const size_t now = bytes - sent < BYTES_AT_ONCE ? bytes - sent : BYTES_AT_ONCE;
        make_room(peer, frames_of(now));
        count_sent(peer, endpoint_write(peer->endpoint, key, offset + sent, place + sent, now),
                   now);
        sent += now;
    }
}

void post_signal(struct peer *peer, enum key key, const void *payload, size_t bytes) {
    make_room(peer, 1);
    count_sent(peer, endpoint_signal(peer->endpoint, key, payload, bytes), bytes);
}

/* --- The range. */

void *sharing_room(size_t bytes) {
    const size_t pages = (bytes + SHARING_PAGE_BYTES - 1) / SHARING_PAGE_BYTES;
    if (pages > (SHARING_RANGE_BYTES - sharing.used) / SHARING_PAGE_BYTES) {
        refuse("%zu bytes more are not in the shared range of %d; take a smaller problem", bytes,
               SHARING_RANGE_BYTES);
    }
    unsigned char *room = sharing.range + sharing.used;
    sharing.used += pages * SHARING_PAGE_BYTES;
    memset(sharing_raw(room), 0, pages * SHARING_PAGE_BYTES);
    return room;
}

void *sharing_first(void) {
    return sharing.range;
}

void sharing_clear(void) {
    sharing.used = 0;
}

void *sharing_raw(void *shared) {
    return sharing.raw + offset_of(shared);
}

static void open_range(bool is_userfault_tried) {
    pages_open(is_userfault_tried);
    if (!sharing.range) {
        void *range = mmap(NULL, SHARING_RANGE_BYTES, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (range == MAP_FAILED) {
            cannot_run("no memory for the shared range (%s); free some", strerror(errno));
        }
        sharing.range = sharing.raw = range;
    }
}

/* --- Beginning and end. */

static void records_arrive(void *context, const void *payload, size_t bytes) {
    (void)context;
    const enum sharing_part before = enter_part(SHARING_MESSAGES);
    records_apply(payload, bytes);
    enter_part(before);
}

static void open_peer(struct peer *peer, struct carrier *carrier) {
    const size_t low = peer->node < sharing.node ? peer->node : sharing.node;
    const size_t high = peer->node < sharing.node ? sharing.node : peer->node;
    snprintf(peer->name, sizeof peer->name, "node %zu", peer->node);
    /* A node may be at work for long without polling; who is killed is noticed by who started it.
     */
    const struct endpoint_options options = {
        .peer = peer->name,
        .connection = CONNECTION + low * SHARING_NODES_MOST + high,
        .resend_ns = sharing.is_crowded ? CROWDED_RESEND_NS : 0,
        .silent_ns = MESSAGES_SILENT_EVER,
    };
    peer->endpoint = endpoint_open(carrier, &options);
    if (!peer->endpoint ||
        !endpoint_register(peer->endpoint, KEY_RANGE, sharing.raw, SHARING_RANGE_BYTES) ||
        !endpoint_register(peer->endpoint, KEY_ARRIVED, &arrived[peer->node], sizeof *arrived) ||
        !endpoint_register_handler(peer->endpoint, KEY_RECORDS, records_arrive, NULL)) {
        cannot_run("there is no memory for messages; free some");
    }
    locks_register(peer);
    pages_register(peer);
}

void sharing_open(const struct sharing_setup *setup) {
    sharing = (struct state){
        .node = setup->node,
        .nodes = setup->nodes,
        .is_crowded = setup->is_crowded,
        .watch = setup->watch,
    };
    open_range(!setup->has_mprotect_only);
    for (size_t node = 0; node < sharing.nodes; node++) {
        sharing.peers[node].node = node;
        if (node != sharing.node) {
            open_peer(&sharing.peers[node], setup->carriers[node]);
        }
    }
    sharing_record_begin();
}

void sharing_close(void) {
    for (size_t node = 0; node < sharing.nodes; node++) {
        endpoint_close(sharing.peers[node].endpoint);
        sharing.peers[node].endpoint = NULL;
    }
}

/* --- Barriers. What a node sent before it said that it had arrived is taken in before that. */

static void await_others(void) {
    struct patience patience = {.waits_for = "the others at a barrier"};
    for (size_t node = 0; node < sharing.nodes; node++) {
        /* Numbers go around. */
        while (node != sharing.node && (int32_t)(arrived[node] - barriers) < 0) {
            wait_a_round(&patience);
        }
    }
}

void sharing_barrier(void) {
    const enum sharing_part before = enter_part(SHARING_SYNC);
    updates_flush();
    pages_flush();
    pages_tell();
    barriers++;
    for (size_t node = 0; node < sharing.nodes; node++) {
        if (node != sharing.node) {
            post_write(&sharing.peers[node], KEY_ARRIVED, 0, &barriers, sizeof barriers);
        }
    }
    await_others();
    pages_forget();
    enter_part(before);
}

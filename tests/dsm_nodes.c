/* Nodes of kernels/dsm for tests: their carriers lose, repeat, reorder and delay frames on purpose,
 * and each run has other accidents. All nodes verify their own copies. Arguments: runs, nodes,
 * seed, and how many of a million frames are lost. Prints how many frames were hit. Where nothing
 * goes forward for 20 s, the program ends with a sentence. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "crew.h"
#include "mesh.h"
#include "program.h"
#include "state.h"

enum {
    PAUSE_ODDS = 64,
    PAUSE_NS = 40000,
    LONG_ODDS = 16,
    LONG_PAUSE_NS = 5000000,
    FULL_ODDS = 200
};
enum { LOCK = 3, TURNS = 5 };

static struct lossy_rates rates = {.repeated = 5000, .reordered = 5000, .damaged = 500};

/* By node, in memory that all see. */
struct tally {
    struct lossy_counts hit;
    uint64_t pauses;
    uint64_t wrong;
    atomic_uint_least64_t progress; /* messages sent and delivered, once a second */
    atomic_size_t ended;            /* of the first: nodes that have passed the last barrier */
};

static struct tally *tallies;

/* --- A carrier that now and then hands out nothing for a while, or has no room. */

struct slow_carrier {
    struct carrier carrier;
    struct carrier *below; /* lossy */
    uint64_t state;
    uint64_t pause_ends_ns; /* until then nothing is there */
    uint64_t *pauses;
};

static uint64_t draw(uint64_t *state, uint64_t below) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*state >> 33) % below;
}

static uint64_t polls; /* of this node */

static struct slow_carrier *slow_of(struct carrier *carrier) {
    return (struct slow_carrier *)carrier;
}

static bool slow_send(struct carrier *carrier, const void *frame, size_t bytes) {
    struct slow_carrier *slow = slow_of(carrier);
    return draw(&slow->state, FULL_ODDS) > 0 &&
           slow->below->methods->send(slow->below, frame, bytes);
}

static const unsigned char *slow_take(struct carrier *carrier, size_t *bytes) {
    struct slow_carrier *slow = slow_of(carrier);
    polls++;
    if (slow->pause_ends_ns > 0 && clock_now() < slow->pause_ends_ns) {
        return NULL;
    }
    slow->pause_ends_ns = 0;
    const unsigned char *frame = slow->below->methods->take(slow->below, bytes);
    if (frame && draw(&slow->state, PAUSE_ODDS) == 0) {
        const bool is_long = draw(&slow->state, LONG_ODDS) == 0;
        slow->pause_ends_ns = clock_now() + draw(&slow->state, is_long ? LONG_PAUSE_NS : PAUSE_NS);
        ++*slow->pauses;
    }
    return frame;
}

static void slow_release(struct carrier *carrier) {
    struct carrier *below = slow_of(carrier)->below;
    below->methods->release(below);
}

static void slow_wait(struct carrier *carrier, uint64_t limit_ns) {
    struct carrier *below = slow_of(carrier)->below;
    below->methods->wait(below, limit_ns);
}

static uint64_t slow_dropped(struct carrier *carrier) {
    struct carrier *below = slow_of(carrier)->below;
    return below->methods->dropped(below);
}

static void slow_close(struct carrier *carrier) {
    struct slow_carrier *slow = slow_of(carrier);
    slow->below->methods->close(slow->below);
    free(slow);
}

static const struct carrier_methods methods = {
    .send = slow_send,
    .take = slow_take,
    .release = slow_release,
    .wait = slow_wait,
    .dropped = slow_dropped,
    .close = slow_close,
};

static struct carrier *open_slow(struct carrier *below, uint64_t seed, uint64_t *pauses) {
    struct slow_carrier *slow = calloc(1, sizeof *slow);
    if (!slow) {
        exit(EXIT_FAILURE);
    }
    slow->carrier.methods = &methods;
    slow->below = lossy_carrier_open(below, &rates, seed + 1);
    slow->state = seed;
    slow->pauses = pauses;
    return &slow->carrier;
}

/* --- Deadlock: for 20 s no node sends a message or has one delivered, although this one polls or
 * computes. A busy machine cannot look like that: who gets no CPU does neither. A node that is
 * stuck without its CPU is noticed by those that wait for it. */

enum { LOOKS_MOST = 20, STUCK_POLLS = 2000, STUCK_CPU_S = 5 };

static struct tally *own_tally;

static uint64_t count_progress(void) {
    uint64_t progress = sharing.counts[SHARING_PACKETS];
    for (size_t node = 0; node < sharing.nodes; node++) {
        const struct endpoint *endpoint = sharing.peers[node].endpoint;
        progress += endpoint ? endpoint_counts(endpoint)->delivered : 0;
    }
    return progress;
}

static time_t cpu_seconds(void) {
    struct timespec used = {0};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return used.tv_sec;
}

static void look_for_progress(int number) {
    static uint64_t progress_before;
    static uint64_t polls_before;
    static time_t cpu_before_s;
    static unsigned looks;
    uint64_t progress = 0;
    (void)number;
    atomic_store(&own_tally->progress, count_progress());
    for (size_t node = 0; node < sharing.nodes; node++) {
        progress += atomic_load(&tallies[node].progress);
    }
    if (progress != progress_before) {
        progress_before = progress;
        polls_before = polls;
        cpu_before_s = cpu_seconds();
        looks = 0;
    } else if (++looks >= LOOKS_MOST && (polls - polls_before > STUCK_POLLS ||
                                         cpu_seconds() - cpu_before_s >= STUCK_CPU_S)) {
        static const char words[] = "a deadlock: for 20 s no message was sent or delivered\n";
        (void)!write(STDERR_FILENO, words, sizeof words - 1);
        _exit(EXIT_FAILURE);
    }
    alarm(1);
}

static void watch_progress(struct tally *tally) {
    const struct sigaction action = {.sa_handler = look_for_progress, .sa_flags = SA_RESTART};
    own_tally = tally;
    sigaction(SIGALRM, &action, NULL);
    alarm(1);
}

/* --- Runs. */

static size_t home(const void *shared) {
    (void)shared;
    return 0;
}

static uint64_t count_under_lock(uint64_t runs) {
    uint64_t *counter = sharing_room(sizeof *counter);
    sharing_settle(home);
    sharing_barrier();
    for (uint64_t turn = 0; turn < TURNS; turn++) {
        sharing_lock(LOCK);
        SHARED_STORE(*counter, *counter + runs);
        SHARED_ANNOUNCE(counter, sizeof *counter);
        sharing_unlock(LOCK);
    }
    sharing_barrier();
    return *counter != runs * TURNS * sharing_nodes();
}

static uint64_t solve(const struct program *program, uint64_t size) {
    struct verdict verdict = {0};
    program->make(size);
    program->reset();
    sharing_barrier();
    program->timed(NULL);
    program->verify(&verdict);
    return verdict.wrong + (verdict.compared == 0);
}

static void be_node(struct mesh *mesh, size_t node, size_t nodes, uint64_t runs, uint64_t seed) {
    struct sharing_setup setup = {.node = node, .nodes = nodes, .is_crowded = true};
    struct tally *own = &tallies[node];
    mesh_keep(mesh, node);
    for (size_t to = 0; to < nodes; to++) {
        struct carrier *carrier = mesh->carriers[node][to];
        setup.carriers[to] =
            carrier ? open_slow(carrier, seed + (node * nodes + to) * 1000003, &own->pauses) : NULL;
    }
    sharing_open(&setup);
    watch_progress(own);
    for (uint64_t run = 0; run < runs; run++) {
        sharing_clear();
        own->wrong += run % 3 == 0   ? solve(&dsm_lu, 32)
                      : run % 3 == 1 ? solve(&dsm_radix, 64 * nodes)
                                     : count_under_lock(run);
        sharing_barrier(); /* until all have looked */
    }
    for (size_t to = 0; to < nodes; to++) {
        if (setup.carriers[to]) {
            const struct lossy_counts counts =
                lossy_carrier_counts(slow_of(setup.carriers[to])->below);
            own->hit.lost += counts.lost;
            own->hit.repeated += counts.repeated;
            own->hit.reordered += counts.reordered;
            own->hit.damaged += counts.damaged;
        }
    }
    /* Who has left can no longer send again what was lost. */
    atomic_fetch_add(&tallies[0].ended, 1);
    while (atomic_load(&tallies[0].ended) < nodes) {
        sharing_poll();
    }
    alarm(0);
    sharing_close();
}

int main(int argc, char **argv) {
    static struct mesh mesh;
    if (argc != 5) {
        fprintf(stderr, "give runs, nodes, a seed, and frames lost of a million\n");
        return EXIT_FAILURE;
    }
    const uint64_t runs = strtoull(argv[1], NULL, 10);
    const size_t nodes = strtoull(argv[2], NULL, 10);
    const uint64_t seed = strtoull(argv[3], NULL, 10);
    rates.lost = (uint32_t)strtoul(argv[4], NULL, 10);
    tallies = crew_share(nodes * sizeof *tallies, "tallies");
    mesh_open(&mesh, MESH_MEMORY, nodes);
    for (size_t node = 1; node < nodes; node++) {
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            be_node(&mesh, node, nodes, runs, seed);
            return EXIT_SUCCESS;
        }
    }
    be_node(&mesh, 0, nodes, runs, seed);
    struct tally all = {0};
    int status = 0;
    int worst = 0;
    while (wait(&status) > 0) {
        worst |= status;
    }
    for (size_t node = 0; node < nodes; node++) {
        all.hit.lost += tallies[node].hit.lost;
        all.hit.repeated += tallies[node].hit.repeated;
        all.hit.reordered += tallies[node].hit.reordered;
        all.pauses += tallies[node].pauses;
        all.wrong += tallies[node].wrong;
    }
    printf("wrong %" PRIu64 "\nlost %" PRIu64 "\nrepeated %" PRIu64 "\nreordered %" PRIu64
           "\npauses %" PRIu64 "\n",
           all.wrong, all.hit.lost, all.hit.repeated, all.hit.reordered, all.pauses);
    return worst || all.wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Three ranks of the few MPI calls on messages, over carriers that may lose and damage: rank 0
 * looks whether each receive has the message that MPI's rules give it. Prints nothing where all is
 * well. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../kernels/messages/messages.h"
#include "../kernels/mpi/over_messages.h"

enum { RANKS = 3, LONG = 100000, WINDOW = 32, TAGS = 4, MOST_BYTES = 20000 };
#define CONNECTION UINT64_C(0x6d7069)

static unsigned rates; /* faults of the carriers, of a million frames each */
static unsigned char room[3][LONG];

_Noreturn static void stop(const char *why) {
    fprintf(stderr, "%s\n", why);
    exit(1);
}

static void fail(const char *why) {
    stop(why);
}

static void expect(bool is_right, const char *what) {
    if (!is_right) {
        stop(what);
    }
}

/* --- Three ranks. */

static void *share_pair(void) {
    void *memory = mmap(NULL, memory_carrier_bytes(), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    expect(memory != MAP_FAILED, "no memory");
    return memory;
}

static void join(int rank, void *pairs[RANKS][RANKS]) {
    static const char *const names[RANKS] = {"rank 0", "rank 1", "rank 2"};
    struct endpoint *endpoints[RANKS] = {NULL};
    for (int peer = 0; peer < RANKS; peer++) {
        if (peer == rank) {
            continue;
        }
        const struct endpoint_options options = {
            .peer = names[peer], .connection = CONNECTION, .resend_ns = 300000};
        const struct lossy_rates faults = {rates, rates, rates, rates / 10};
        void *pair = rank < peer ? pairs[rank][peer] : pairs[peer][rank];
        struct carrier *carrier = memory_carrier_open(pair, rank < peer, false);
        if (rates) {
            carrier = lossy_carrier_open(carrier, &faults, (uint64_t)(rank * RANKS + peer));
        }
        endpoints[peer] = endpoint_open(carrier, &options);
        expect(endpoints[peer], "no endpoint");
    }
    over_messages_open(rank, RANKS, endpoints, fail);
}

static void send_text(const char *text, int destination, int tag) {
    MPI_Send(text, (int)strlen(text) + 1, MPI_BYTE, destination, tag, MPI_COMM_WORLD);
}

static void expect_text(const char *text, int source, int tag, int from, int with_tag) {
    char came[64] = "";
    MPI_Status status;
    MPI_Recv(came, sizeof came, MPI_BYTE, source, tag, MPI_COMM_WORLD, &status);
    expect(strcmp(came, text) == 0, text);
    expect(status.MPI_SOURCE == from && status.MPI_TAG == with_tag, "source or tag of a status");
    expect(status.bytes == strlen(text) + 1, "length of a status");
}

/* --- Cases. All ranks call each; what was sent before a barrier has been kept by then. */

static void unexpected_messages_match_by_tag_in_order(int rank) {
    if (rank == 1) {
        send_text("a", 0, 5);
        send_text("b", 0, 7);
        send_text("c", 0, 5);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        expect_text("b", 1, 7, 1, 7);
        expect_text("a", 1, 5, 1, 5);
        expect_text("c", 1, 5, 1, 5);
    }
}

static void a_receive_takes_its_source_alone(int rank) {
    if (rank > 0) {
        send_text(rank == 1 ? "from 1" : "from 2", 0, 3);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        expect_text("from 2", 2, 3, 2, 3);
        expect_text("from 1", 1, 3, 1, 3);
    }
}

static void any_source_and_any_tag_take_what_is_there(int rank) {
    if (rank == 2) {
        send_text("x", 0, 11);
    }
    if (rank == 0) {
        expect_text("x", MPI_ANY_SOURCE, MPI_ANY_TAG, 2, 11);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        send_text("y", 0, 12);
    }
    if (rank == 0) {
        expect_text("y", MPI_ANY_SOURCE, 12, 1, 12);
    }
}

static void the_first_receive_that_fits_has_the_message(int rank) {
    MPI_Request requests[3];
    if (rank == 0) {
        MPI_Irecv(room[0], 8, MPI_BYTE, 2, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(room[1], 8, MPI_BYTE, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &requests[1]);
        MPI_Irecv(room[2], 8, MPI_BYTE, 1, 9, MPI_COMM_WORLD, &requests[2]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        send_text("x", 0, 9);
        send_text("y", 0, 9);
    }
    if (rank == 0) {
        MPI_Waitall(2, requests + 1, NULL);
        int is_done = true;
        MPI_Test(&requests[0], &is_done, MPI_STATUS_IGNORE);
        expect(!is_done, "a receive has a message of another source");
        expect(room[1][0] == 'x' && room[2][0] == 'y', "receives out of order");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 2) {
        send_text("z", 0, 1);
    }
    if (rank == 0) {
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        expect(room[0][0] == 'z', "a receive of any tag");
    }
}

static void a_short_message_does_not_pass_a_long_one(int rank) {
    MPI_Request requests[2];
    if (rank == 1) {
        memset(room[0], 'l', LONG);
        memset(room[1], 's', 8);
        MPI_Isend(room[0], LONG, MPI_BYTE, 0, 4, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(room[1], 8, MPI_BYTE, 0, 4, MPI_COMM_WORLD, &requests[1]);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Waitall(2, requests, NULL);
        return;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Status status;
        memset(room[0], 0, LONG);
        MPI_Recv(room[0], LONG, MPI_BYTE, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &status);
        expect(status.bytes == LONG && room[0][0] == 'l' && room[0][LONG - 1] == 'l', "long first");
        MPI_Recv(room[0], LONG, MPI_BYTE, 1, 4, MPI_COMM_WORLD, &status);
        expect(status.bytes == 8 && room[0][7] == 's' && room[0][8] == 'l', "then short");
    }
}

/* What a collective operation gave that is not what it has to give, on this rank. */
static int wrong_collectives(int rank) {
    int wrong = 0;
    /* Longer than what is sent eagerly: 1, 2 and 3 times the place. */
    static double own[MOST_BYTES / 8], sums[MOST_BYTES / 8];
    const int count = MOST_BYTES / 8;
    for (int i = 0; i < count; i++) {
        own[i] = (rank + 1) * i;
    }
    MPI_Allreduce(own, sums, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) {
        wrong += sums[i] != 6.0 * i;
    }
    uint64_t largest = (uint64_t)1 << (40 + rank);
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    wrong += largest != (uint64_t)1 << 42;

    int word = rank == 2 ? 77 : 0;
    MPI_Bcast(&word, 1, MPI_INT, 2, MPI_COMM_WORLD);
    wrong += word != 77;
    int sum = 0;
    MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
    wrong += sum != (rank == 1 ? 3 : 0);

    int all[2 * RANKS];
    const int pair[2] = {rank, -rank};
    MPI_Allgather(pair, 2, MPI_INT, all, 2, MPI_INT, MPI_COMM_WORLD);
    int out[RANKS], in[RANKS];
    for (int peer = 0; peer < RANKS; peer++) {
        wrong += all[2 * peer] != peer || all[2 * peer + 1] != -peer;
        out[peer] = 10 * rank + peer;
    }
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    for (int peer = 0; peer < RANKS; peer++) {
        wrong += in[peer] != 10 * peer + rank;
    }

    /* Rank r hands p + 1 times its number to rank p, from behind one another; they come reversed.
     */
    const int counts[] = {1, 2, 3}, places[] = {0, 1, 3};
    int mine[6], came[9] = {0};
    for (int i = 0; i < 6; i++) {
        mine[i] = rank;
    }
    const int each[] = {rank + 1, rank + 1, rank + 1};
    const int reversed[] = {2 * (rank + 1), rank + 1, 0};
    MPI_Alltoallv(mine, counts, places, MPI_INT, came, each, reversed, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < 3 * (rank + 1); i++) {
        wrong += came[i] != 2 - i / (rank + 1);
    }
    return wrong;
}

static void collective_operations_give_known_answers(int rank) {
    int wrong = wrong_collectives(rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank > 0) {
        MPI_Send(&wrong, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    } else {
        for (int peer = 1; peer < RANKS; peer++) {
            int more = 0;
            MPI_Recv(&more, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            wrong += more;
        }
        expect(wrong == 0, "a collective operation");
    }
}

/* --- Many messages, taken in an order of the receiver's own. */

struct message {
    int tag;
    size_t bytes;
    unsigned char first;
};

static struct message message_of(int source, unsigned number) {
    const unsigned word = (number * 2654435761u + (unsigned)source * 40503u) >> 7;
    const size_t edges[] = {0, 1, 1384, 1385, EAGER_BYTES, EAGER_BYTES + 1, MOST_BYTES};
    const size_t bytes = word % 3 ? word / 3 % 2000 : edges[word / 3 % 7];
    return (struct message){
        .tag = (int)(word / 64 % TAGS), .bytes = bytes, .first = (unsigned char)(word / 256)};
}

static void fill(unsigned char *bytes, struct message message) {
    for (size_t i = 0; i < message.bytes; i++) {
        bytes[i] = (unsigned char)(message.first + i * 7);
    }
}

static void send_many(int rank, unsigned count) {
    static unsigned char out[WINDOW][MOST_BYTES];
    MPI_Request requests[WINDOW];
    for (unsigned number = 0; number < count; number++) {
        const struct message message = message_of(rank, number);
        fill(out[number % WINDOW], message);
        MPI_Isend(out[number % WINDOW], (int)message.bytes, MPI_BYTE, 0, message.tag,
                  MPI_COMM_WORLD, &requests[number % WINDOW]);
        if ((number + 1) % WINDOW == 0) {
            MPI_Waitall(WINDOW, requests, NULL);
        }
    }
}

static void receive_many(unsigned count) {
    static unsigned char right[MOST_BYTES], came[MOST_BYTES];
    bool is_taken[RANKS][WINDOW] = {{false}};
    for (unsigned first = 0; first < count; first += WINDOW) {
        memset(is_taken, 0, sizeof is_taken);
        for (unsigned left = 2 * WINDOW; left > 0; left--) {
            unsigned source;
            unsigned wanted;
            do {
                source = 1 + (unsigned)rand() % 2;
                wanted = (unsigned)rand() % WINDOW;
            } while (is_taken[source][wanted]);
            const int tag = message_of((int)source, first + wanted).tag;
            unsigned next = 0; /* the first of that tag that was not received yet */
            while (is_taken[source][next] || message_of((int)source, first + next).tag != tag) {
                next++;
            }
            const struct message message = message_of((int)source, first + next);
            MPI_Status status;
            MPI_Recv(came, MOST_BYTES, MPI_BYTE, (int)source, tag, MPI_COMM_WORLD, &status);
            fill(right, message);
            expect(status.bytes == message.bytes, "another length");
            expect(message.bytes == 0 || memcmp(came, right, message.bytes) == 0, "other bytes");
            is_taken[source][next] = true;
        }
    }
}

static void be_rank(int rank, unsigned count) {
    unexpected_messages_match_by_tag_in_order(rank);
    a_receive_takes_its_source_alone(rank);
    any_source_and_any_tag_take_what_is_there(rank);
    the_first_receive_that_fits_has_the_message(rank);
    a_short_message_does_not_pass_a_long_one(rank);
    collective_operations_give_known_answers(rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        receive_many(count);
    } else {
        send_many(rank, count);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A message that is too long for its receive, or a rank that is killed: rank 0 ends with why. */
static void be_faulty_rank(int rank, const char *fault) {
    enum { FAULTY = RANKS - 1 }; /* no other rank's parent, so it dies alone */
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == FAULTY && strcmp(fault, "killed") == 0) {
        raise(SIGKILL);
    }
    if (rank == FAULTY) {
        send_text("longer", 0, 1);
    }
    /* Who waits for a message answers when it is asked. */
    MPI_Recv(room[0], 2, MPI_BYTE, rank == 0 ? FAULTY : 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* COUNT FAULTS: so many messages of each source, over carriers with so many faults of a million;
 * or the name of what goes wrong. */
int main(int argc, char **argv) {
    void *pairs[RANKS][RANKS];
    const unsigned count = argc > 2 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
    rates = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    for (int first = 0; first < RANKS; first++) {
        for (int second = first + 1; second < RANKS; second++) {
            pairs[first][second] = share_pair();
        }
    }
    int rank = 0;
    while (rank + 1 < RANKS && fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        rank++;
    }
    /* A chain: each rank has the next one as its child. */
    join(rank, pairs);
    if (count) {
        be_rank(rank, count);
    } else {
        be_faulty_rank(rank, argv[1]);
    }
    while (rank > 0) {
        pause(); /* what is on its way to rank 0 has come: it ends, and all with it */
    }
    return 0;
}

/* IS: the ranks of random integers, ten times, two keys being changed before each. */
#include <stdlib.h>
#include <string.h>

#include "program.h"
#include "random.h"

enum { ITERATIONS = 10, TESTS = 5, BUCKETS_MOST = 1 << 10, RANKS_MOST = 64 };

static const struct {
    int log_keys;
    int log_largest; /* keys are below 2 to this */
    int log_buckets;
    int tested[TESTS]; /* places of keys */
    int ranks[TESTS];  /* of these keys, but for what `risen` tells */
} problems[CLASSES] = {
    [CLASS_S] = {16, 11, 9, {48427, 17148, 23627, 62548, 4431}, {0, 18, 346, 64917, 65463}},
    [CLASS_W] = {20,
                 16,
                 10,
                 {357773, 934767, 875723, 898999, 404505},
                 {1249, 11698, 1039987, 1043896, 1048018}},
    [CLASS_A] = {23,
                 19,
                 10,
                 {2112377, 662041, 5336171, 3642833, 4250760},
                 {104, 17523, 123928, 8288932, 8388264}},
    [CLASS_B] = {25,
                 21,
                 10,
                 {41869, 812306, 5102857, 18232239, 26860214},
                 {33422937, 10244, 59149, 33135281, 99}},
};

static enum nas_class class;
static int keys_here; /* of this rank at the beginning */
static int buckets;
static int shift;       /* of a key, to its bucket */
static int *keys;       /* as they were generated, but for those changed */
static int *first_keys; /* the first ones as they were generated */
static int *in_buckets; /* this rank's keys, by bucket */
static int *received;   /* the keys of this rank's buckets, from others */
static int received_most;
static int *counts; /* by key of this rank's buckets; then how many keys are no greater */
/* This rank's, and then all ranks': keys in each bucket, and the keys that are tested. */
static int own_sizes[BUCKETS_MOST + TESTS];
static int sizes[BUCKETS_MOST + TESTS];
static int places[BUCKETS_MOST + 1]; /* where each bucket begins in in_buckets */
static int bucket_ends[RANKS_MOST];  /* of each rank: the bucket after its last */
static int first_key;                /* of this rank's buckets */
static int end_key;
static long long lesser_keys; /* in buckets of ranks before this one */
static int keys_ranked;       /* that are in this rank's buckets */
static const int *own_keys;   /* those of them that were here already */
static int own_count;
static uint64_t tests_wrong; /* of those whose key is ranked here */
static uint64_t tests_done;

static const char *refusal(enum nas_class of, int ranks) {
    (void)of;
    return nas_is_power_of_two(ranks) && ranks <= RANKS_MOST
               ? NULL
               : "IS divides its keys among 1, 2, 4 … 64 ranks";
}

static void make(enum nas_class wanted) {
    class = wanted;
    buckets = 1 << problems[class].log_buckets;
    shift = problems[class].log_largest - problems[class].log_buckets;
    keys_here = (1 << problems[class].log_keys) / nas_ranks;
    keys = nas_room((size_t)keys_here, sizeof *keys);
    first_keys = nas_room(2 * ITERATIONS + 1, sizeof *first_keys);
    in_buckets = nas_room((size_t)keys_here, sizeof *in_buckets);
    /* All keys of a bucket come to one rank, which may get more than its share. */
    received_most = nas_ranks > 1 ? keys_here * 3 / 2 + keys_here / 8 : 0;
    received = nas_room((size_t)received_most, sizeof *received);
    counts = nas_room((size_t)1 << problems[class].log_largest, sizeof *counts);
    uint64_t x = random_after(RANDOM_SEED, 4 * (uint64_t)nas_rank * (uint64_t)keys_here);
    const double quarter = (double)(1 << (problems[class].log_largest - 2));
    for (int i = 0; i < keys_here; i++) {
        double sum = random_next(&x);
        sum += random_next(&x);
        sum += random_next(&x);
        sum += random_next(&x);
        keys[i] = (int)(quarter * sum);
    }
    memcpy(first_keys, keys, (2 * ITERATIONS + 1) * sizeof *keys);
}

static void reset(void) {
    memcpy(keys, first_keys, (2 * ITERATIONS + 1) * sizeof *keys);
    tests_wrong = 0;
    tests_done = 0;
}

static void count_buckets(void) {
    memset(own_sizes, 0, sizeof own_sizes);
    /* In four sets, since a counter that was just stored is slow to load again. */
    static int parts[4][BUCKETS_MOST];
    memset(parts, 0, sizeof parts);
    for (int i = 0; i < keys_here; i += 4) {
        parts[0][keys[i] >> shift]++;
        parts[1][keys[i + 1] >> shift]++;
        parts[2][keys[i + 2] >> shift]++;
        parts[3][keys[i + 3] >> shift]++;
    }
    places[0] = 0;
    for (int bucket = 0; bucket < buckets; bucket++) {
        own_sizes[bucket] =
            parts[0][bucket] + parts[1][bucket] + parts[2][bucket] + parts[3][bucket];
        places[bucket + 1] = places[bucket] + own_sizes[bucket];
    }
    for (int test = 0; test < TESTS; test++) {
        const int place = problems[class].tested[test] - nas_rank * keys_here;
        own_sizes[buckets + test] = place >= 0 && place < keys_here ? keys[place] : 0;
    }
}

static void fill_buckets(void) {
    int next[BUCKETS_MOST];
    memcpy(next, places, (size_t)buckets * sizeof *next);
    for (int i = 0; i < keys_here; i++) {
        const int key = keys[i];
        in_buckets[next[key >> shift]++] = key;
    }
}

/* Each rank gets buckets until it has its share of all keys. */
static void share_buckets(void) {
    long long sum = 0;
    int rank = 0;
    for (int bucket = 0; bucket < buckets; bucket++) {
        sum += sizes[bucket];
        if (sum >= (long long)(rank + 1) * keys_here) {
            bucket_ends[rank++] = bucket + 1;
        }
    }
    for (; rank < nas_ranks; rank++) {
        bucket_ends[rank] = buckets;
    }
    bucket_ends[nas_ranks - 1] = buckets;
    const int first = nas_rank > 0 ? bucket_ends[nas_rank - 1] : 0;
    const int end = bucket_ends[nas_rank];
    lesser_keys = 0;
    for (int bucket = 0; bucket < first; bucket++) {
        lesser_keys += sizes[bucket];
    }
    keys_ranked = 0;
    for (int bucket = first; bucket < end; bucket++) {
        keys_ranked += sizes[bucket];
    }
    first_key = first << shift;
    end_key = end << shift;
}

/* Keys that stay on this rank are not copied. */
static void exchange_keys(void) {
    int send_counts[RANKS_MOST];
    int send_places[RANKS_MOST];
    int receive_counts[RANKS_MOST];
    int receive_places[RANKS_MOST];
    for (int rank = 0; rank < nas_ranks; rank++) {
        const int first = rank > 0 ? bucket_ends[rank - 1] : 0;
        send_places[rank] = places[first];
        send_counts[rank] = places[bucket_ends[rank]] - places[first];
    }
    own_keys = in_buckets + send_places[nas_rank];
    own_count = send_counts[nas_rank];
    if (nas_ranks == 1) {
        return;
    }
    send_counts[nas_rank] = 0;
    MPI_Alltoall(send_counts, 1, MPI_INT, receive_counts, 1, MPI_INT, MPI_COMM_WORLD);
    int sum = 0;
    for (int rank = 0; rank < nas_ranks; rank++) {
        receive_places[rank] = sum;
        sum += receive_counts[rank];
    }
    if (sum > received_most) {
        cannot_run("rank %d gets %d keys, and has room for %d; take fewer ranks", nas_rank, sum,
                   received_most);
    }
    MPI_Alltoallv(in_buckets, send_counts, send_places, MPI_INT, received, receive_counts,
                  receive_places, MPI_INT, MPI_COMM_WORLD);
}

static void count_keys(void) {
    memset(counts, 0, (size_t)(end_key - first_key) * sizeof *counts);
    int *const by_key = counts - first_key;
    for (int i = 0; i < own_count; i++) {
        by_key[own_keys[i]]++;
    }
    for (int i = 0; i < keys_ranked - own_count; i++) {
        by_key[received[i]]++;
    }
    for (int key = 1; key < end_key - first_key; key++) {
        counts[key] += counts[key - 1];
    }
}

/* How the rank of a tested key changes from iteration to iteration: up or down by this. */
static long long risen(int test, int iteration) {
    switch (class) {
    case CLASS_S:
        return test <= 2 ? iteration : -iteration;
    case CLASS_W:
        return test < 2 ? iteration - 2 : -iteration;
    case CLASS_A:
        return test <= 2 ? iteration - 1 : -(iteration - 1);
    default:
        return test == 1 || test == 2 || test == 4 ? iteration : -iteration;
    }
}

static void test_ranks(int iteration) {
    for (int test = 0; test < TESTS; test++) {
        const int key = sizes[buckets + test];
        if (key < first_key || key >= end_key) {
            continue;
        }
        const long long before = key > first_key ? counts[key - 1 - first_key] : 0;
        const long long defined = problems[class].ranks[test] + risen(test, iteration);
        tests_done++;
        tests_wrong += lesser_keys + before != defined;
    }
}

BENCH_TIMED static void timed_is(const void *state) {
    (void)state;
    for (int iteration = 1; iteration <= ITERATIONS; iteration++) {
        if (nas_rank == 0) {
            keys[iteration] = iteration;
            keys[iteration + ITERATIONS] = (1 << problems[class].log_largest) - iteration;
        }
        count_buckets();
        MPI_Allreduce(own_sizes, sizes, buckets + TESTS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        fill_buckets();
        share_buckets();
        exchange_keys();
        count_keys();
        test_ranks(iteration);
    }
}

/* Puts the keys of this rank where their ranks say, and looks whether they are in order then. */
static uint64_t count_disorder(void) {
    int *const sorted = malloc((size_t)(keys_ranked + 1) * sizeof *sorted);
    if (!sorted) {
        cannot_run("no memory for %d keys in order; take a smaller class", keys_ranked);
    }
    for (int i = 0; i < keys_ranked; i++) {
        const int key = i < own_count ? own_keys[i] : received[i - own_count];
        sorted[--counts[key - first_key]] = key;
    }
    uint64_t wrong = 0;
    for (int i = 1; i < keys_ranked; i++) {
        wrong += sorted[i - 1] > sorted[i];
    }
    wrong += keys_ranked > 0 && (sorted[0] < first_key || sorted[keys_ranked - 1] >= end_key);
    free(sorted);
    return wrong;
}

static void verify(struct nas_verdict *verdict) {
    uint64_t found[] = {tests_done, tests_wrong, count_disorder(), (uint64_t)keys_ranked};
    MPI_Allreduce(MPI_IN_PLACE, found, sizeof found / sizeof *found, MPI_UINT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    nas_compare(verdict, "the number of ranks that were tested", (double)found[0],
                TESTS * ITERATIONS, 0);
    nas_compare(verdict, "the number of ranks that are wrong", (double)found[1], 0, 0);
    nas_compare(verdict, "the number of keys before a smaller one", (double)found[2], 0, 0);
    nas_compare(verdict, "the number of keys that are ranked", (double)found[3],
                (double)(1 << problems[class].log_keys), 0);
}

static double operations(enum nas_class of) {
    return ITERATIONS * (double)(1 << problems[of].log_keys);
}

const struct nas_program nas_is = {
    .name = "is",
    .refusal = refusal,
    .make = make,
    .reset = reset,
    .timed = timed_is,
    .verify = verify,
    .operations = operations,
};

#if defined(MPI_OVER_MESSAGES)
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "over_messages.h"

/* No receive of a program wants it. */
enum { TAG_COLLECTIVE = -3 };

/* Of all ranks what each handed over, which a reduction needs at once. */
static unsigned char *gathered;
static size_t gathered_room;

static size_t size_of(int count, MPI_Datatype type) {
    int bytes = 0;
    PMPI_Type_size(type, &bytes);
    return (size_t)count * (size_t)bytes;
}

static int own_rank(void) {
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

static int all_ranks(void) {
    int ranks = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return ranks;
}

static void copy(void *to, const void *from, size_t bytes) {
    if (bytes > 0) {
        memcpy(to, from, bytes);
    }
}

static unsigned char *room_for(size_t bytes) {
    if (bytes > gathered_room) {
        free(gathered);
        gathered = malloc(bytes);
        gathered_room = bytes;
        if (!gathered) {
            abort();
        }
    }
    return gathered;
}

int PMPI_Bcast(void *bytes, int count, MPI_Datatype type, int root, MPI_Comm world) {
    if (own_rank() != root) {
        return PMPI_Recv(bytes, count, type, root, TAG_COLLECTIVE, world, MPI_STATUS_IGNORE);
    }
    for (int rank = 0; rank < all_ranks(); rank++) {
        if (rank != root) {
            PMPI_Send(bytes, count, type, rank, TAG_COLLECTIVE, world);
        }
    }
    return MPI_SUCCESS;
}

#define COMBINE(TYPE)                                                                              \
    do {                                                                                           \
        TYPE *const into = to;                                                                     \
        const TYPE *const more = from;                                                             \
        for (int i = 0; i < count; i++) {                                                          \
            if (op == MPI_SUM) {                                                                   \
                into[i] += more[i];                                                                \
            } else if (more[i] > into[i]) {                                                        \
                into[i] = more[i];                                                                 \
            }                                                                                      \
        }                                                                                          \
    } while (0)

static void combine(void *to, const void *from, int count, MPI_Datatype type, MPI_Op op) {
    switch (type) {
    case MPI_BYTE:
        COMBINE(unsigned char);
        break;
    case MPI_INT:
        COMBINE(int);
        break;
    case MPI_DOUBLE:
        COMBINE(double);
        break;
    case MPI_UINT64_T:
        COMBINE(uint64_t);
        break;
    }
}

/* In the order of the ranks, so that all of them come to the same sum. */
static void combine_all(void *to, const unsigned char *all, int count, MPI_Datatype type,
                        MPI_Op op) {
    const size_t bytes = size_of(count, type);
    copy(to, all, bytes);
    for (int rank = 1; rank < all_ranks(); rank++) {
        combine(to, all + (size_t)rank * bytes, count, type, op);
    }
}

int PMPI_Reduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, int root,
                MPI_Comm world) {
    const size_t bytes = size_of(count, type);
    if (own_rank() != root) {
        return PMPI_Send(from, count, type, root, TAG_COLLECTIVE, world);
    }
    unsigned char *const all = room_for((size_t)all_ranks() * bytes);
    for (int rank = 0; rank < all_ranks(); rank++) {
        unsigned char *const part = all + (size_t)rank * bytes;
        if (rank == root) {
            copy(part, from, bytes);
        } else {
            PMPI_Recv(part, count, type, rank, TAG_COLLECTIVE, world, MPI_STATUS_IGNORE);
        }
    }
    combine_all(to, all, count, type, op);
    return MPI_SUCCESS;
}

int PMPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm world) {
    const void *const own = from == MPI_IN_PLACE ? to : from;
    unsigned char *const all = room_for((size_t)all_ranks() * size_of(count, type));
    PMPI_Allgather(own, count, type, all, count, type, world);
    combine_all(to, all, count, type, op);
    return MPI_SUCCESS;
}

/* What goes to each rank and comes from it, in items of a type, and where that lies. */
struct parts {
    const int *counts; /* NULL: `count` for each */
    const int *places; /* NULL: one behind the other, or all the same */
    int count;
    bool is_same; /* the same part for each rank */
    MPI_Datatype type;
};

static size_t place_of(const struct parts *parts, int rank) {
    const int place = parts->places    ? parts->places[rank]
                      : parts->is_same ? 0
                                       : rank * parts->count;
    return size_of(place, parts->type);
}

static int count_of(const struct parts *parts, int rank) {
    return parts->counts ? parts->counts[rank] : parts->count;
}

static int exchange(const unsigned char *from, const struct parts *out, unsigned char *to,
                    const struct parts *in, MPI_Comm world) {
    MPI_Request requests[2 * OVER_MESSAGES_RANKS_MOST];
    const int own = own_rank();
    int started = 0;
    for (int rank = 0; rank < all_ranks(); rank++) {
        if (rank != own) {
            PMPI_Irecv(to + place_of(in, rank), count_of(in, rank), in->type, rank, TAG_COLLECTIVE,
                       world, &requests[started++]);
        }
    }
    for (int rank = 0; rank < all_ranks(); rank++) {
        if (rank != own) {
            PMPI_Isend(from + place_of(out, rank), count_of(out, rank), out->type, rank,
                       TAG_COLLECTIVE, world, &requests[started++]);
        }
    }
    copy(to + place_of(in, own), from + place_of(out, own), size_of(count_of(in, own), in->type));
    return PMPI_Waitall(started, requests, MPI_STATUSES_IGNORE);
}

int PMPI_Allgather(const void *from, int from_count, MPI_Datatype from_type, void *to, int to_count,
                   MPI_Datatype to_type, MPI_Comm world) {
    const struct parts out = {.count = from_count, .is_same = true, .type = from_type};
    const struct parts in = {.count = to_count, .type = to_type};
    return exchange(from, &out, to, &in, world);
}

int PMPI_Alltoall(const void *from, int from_count, MPI_Datatype from_type, void *to, int to_count,
                  MPI_Datatype to_type, MPI_Comm world) {
    const struct parts out = {.count = from_count, .type = from_type};
    const struct parts in = {.count = to_count, .type = to_type};
    return exchange(from, &out, to, &in, world);
}

int PMPI_Alltoallv(const void *from, const int from_counts[], const int from_places[],
                   MPI_Datatype from_type, void *to, const int to_counts[], const int to_places[],
                   MPI_Datatype to_type, MPI_Comm world) {
    const struct parts out = {from_counts, from_places, 0, false, from_type};
    const struct parts in = {to_counts, to_places, 0, false, to_type};
    return exchange(from, &out, to, &in, world);
}

#pragma weak MPI_Bcast = PMPI_Bcast
#pragma weak MPI_Reduce = PMPI_Reduce
#pragma weak MPI_Allreduce = PMPI_Allreduce
#pragma weak MPI_Allgather = PMPI_Allgather
#pragma weak MPI_Alltoall = PMPI_Alltoall
#pragma weak MPI_Alltoallv = PMPI_Alltoallv

#endif

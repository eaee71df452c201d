#define _GNU_SOURCE
#include "traffic.h"

#include <sched.h>

#include "../mpi/mpi_calls.h"
#include "clock.h"

#if defined(NAS_UNCOUNTED)

void traffic_switch(bool is_on) {
    (void)is_on;
}

struct traffic traffic_take(void) {
    return (struct traffic){0};
}

bool traffic_is_counted(void) {
    return false;
}

void traffic_share_cpus(void) {
}

#else

static struct traffic seen;
static bool is_counting;
static bool is_crowded;

void traffic_switch(bool is_on) {
    is_counting = is_on;
}

struct traffic traffic_take(void) {
    const struct traffic taken = seen;
    seen = (struct traffic){0};
    return taken;
}

bool traffic_is_counted(void) {
    return true;
}

void traffic_share_cpus(void) {
    is_crowded = true;
}

/* The libraries poll without a pause, and a rank that has no CPU could not send meanwhile. */
static int wait_yielding(MPI_Request *request, MPI_Status *status) {
    for (;;) {
        int is_done = 0;
        const int result = PMPI_Test(request, &is_done, status);
        if (is_done || result != MPI_SUCCESS) {
            return result;
        }
        sched_yield();
    }
}

static int wait_for(MPI_Request *request, MPI_Status *status) {
    return is_crowded ? wait_yielding(request, status) : PMPI_Wait(request, status);
}

static int wait_for_all(int count, MPI_Request requests[], MPI_Status statuses[]) {
    if (!is_crowded) {
        return PMPI_Waitall(count, requests, statuses);
    }
    int result = MPI_SUCCESS;
    for (int i = 0; i < count && result == MPI_SUCCESS; i++) {
        const bool is_wanted = statuses != MPI_STATUSES_IGNORE;
        result = wait_yielding(&requests[i], is_wanted ? &statuses[i] : MPI_STATUS_IGNORE);
    }
    return result;
}

static int receive(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                   MPI_Status *status) {
    MPI_Request request;
    if (!is_crowded) {
        return PMPI_Recv(buffer, count, type, from, tag, comm, status);
    }
    PMPI_Irecv(buffer, count, type, from, tag, comm, &request);
    return wait_yielding(&request, status);
}

/* A large message waits for its receiver. */
static int send_to(const void *buffer, int count, MPI_Datatype type, int to, int tag,
                   MPI_Comm comm) {
    MPI_Request request;
    if (!is_crowded) {
        return PMPI_Send(buffer, count, type, to, tag, comm);
    }
    PMPI_Isend(buffer, count, type, to, tag, comm, &request);
    return wait_yielding(&request, MPI_STATUS_IGNORE);
}

static uint64_t bytes_of(int count, MPI_Datatype type) {
    int bytes = 0;
    PMPI_Type_size(type, &bytes);
    return (uint64_t)count * (uint64_t)bytes;
}

static uint64_t others(MPI_Comm comm) {
    int size = 1;
    PMPI_Comm_size(comm, &size);
    return (uint64_t)size - 1;
}

static void add_message(int count, MPI_Datatype type) {
    seen.counts[TRAFFIC_MESSAGES]++;
    seen.counts[TRAFFIC_BYTES] += bytes_of(count, type);
}

static void add_collective(uint64_t bytes) {
    seen.counts[TRAFFIC_COLLECTIVE_CALLS]++;
    seen.counts[TRAFFIC_COLLECTIVE_BYTES] += bytes;
}

/* The call, timed as this kind of time where it counts; `note` says what is counted of it. */
#define COUNTED(KIND, CALL, NOTE)                                                                  \
    do {                                                                                           \
        if (!is_counting) {                                                                        \
            return CALL;                                                                           \
        }                                                                                          \
        const uint64_t start_ns = clock_now();                                                     \
        const int result = CALL;                                                                   \
        seen.counts[KIND] += clock_now() - start_ns;                                               \
        NOTE;                                                                                      \
        return result;                                                                             \
    } while (false)

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    COUNTED(TRAFFIC_SENDING_NS, send_to(buffer, count, type, to, tag, comm),
            add_message(count, type));
}

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request) {
    COUNTED(TRAFFIC_SENDING_NS, PMPI_Isend(buffer, count, type, to, tag, comm, request),
            add_message(count, type));
}

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request) {
    COUNTED(TRAFFIC_SENDING_NS, PMPI_Irecv(buffer, count, type, from, tag, comm, request), (void)0);
}

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status *status) {
    COUNTED(TRAFFIC_WAITING_NS, receive(buffer, count, type, from, tag, comm, status), (void)0);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status) {
    COUNTED(TRAFFIC_WAITING_NS, wait_for(request, status), (void)0);
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    COUNTED(TRAFFIC_WAITING_NS, wait_for_all(count, requests, statuses), (void)0);
}

int MPI_Barrier(MPI_Comm comm) {
    COUNTED(TRAFFIC_COLLECTIVE_NS, PMPI_Barrier(comm), add_collective(0));
}

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
    COUNTED(TRAFFIC_COLLECTIVE_NS, PMPI_Allreduce(from, to, count, type, op, comm),
            add_collective(others(comm) > 0 ? bytes_of(count, type) : 0));
}

int MPI_Alltoall(const void *from, int from_count, MPI_Datatype from_type, void *to, int to_count,
                 MPI_Datatype to_type, MPI_Comm comm) {
    COUNTED(TRAFFIC_COLLECTIVE_NS,
            PMPI_Alltoall(from, from_count, from_type, to, to_count, to_type, comm),
            add_collective(others(comm) * bytes_of(from_count, from_type)));
}

static uint64_t bytes_to_others(const int counts[], MPI_Datatype type, MPI_Comm comm) {
    int rank = 0;
    uint64_t bytes = 0;
    PMPI_Comm_rank(comm, &rank);
    for (int to = 0; to <= (int)others(comm); to++) {
        bytes += to == rank ? 0 : bytes_of(counts[to], type);
    }
    return bytes;
}

int MPI_Alltoallv(const void *from, const int from_counts[], const int from_places[],
                  MPI_Datatype from_type, void *to, const int to_counts[], const int to_places[],
                  MPI_Datatype to_type, MPI_Comm comm) {
    COUNTED(TRAFFIC_COLLECTIVE_NS,
            PMPI_Alltoallv(from, from_counts, from_places, from_type, to, to_counts, to_places,
                           to_type, comm),
            add_collective(bytes_to_others(from_counts, from_type, comm)));
}

#endif

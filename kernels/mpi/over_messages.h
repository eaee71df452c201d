/* A few calls of MPI on the messages library (../messages/messages.h): this header is the manual.
 *
 * A message goes to the first receive, in the order in which receives were started, that wants its
 * source and its tag; a receive takes the first such message, in the order in which they were sent.
 * A message that no receive wants yet is kept. These are MPI's rules for one communicator.
 *
 * Up to EAGER_BYTES a message is appended to the receiver's queue, in parts, whether or not a
 * receive waits for it (MBCF_FIFO in SSS-CORE's words). A longer one is announced there, and when
 * it has its receive, it is written straight into that one's buffer (MBCF_WRITE).
 *
 * Each call has its name of MPI's profiling interface too (PMPI_Send), so that a layer may stand
 * between. The collective operations (collectives.c) are made of the calls that send and receive.
 *
 * Left out, so nobody should take its times for those of a whole MPI: communicators, derived types
 * and most of the basic ones, most collective operations, messages to oneself, probing, cancelling,
 * other modes of sending, threads, and progress while the program does something else. A message
 * that is longer than its receive, or a peer that dies, ends the program.
 */
#ifndef OVER_MESSAGES_H
#define OVER_MESSAGES_H

#include <stddef.h>

struct endpoint; /* ../messages/messages.h */

enum { EAGER_BYTES = 4096, OVER_MESSAGES_RANKS_MOST = 4 };

enum { MPI_SUCCESS, MPI_ANY_SOURCE = -1, MPI_ANY_TAG = -1, MPI_PROC_NULL = -2 };

typedef enum { MPI_COMM_WORLD } MPI_Comm;
typedef enum { MPI_BYTE, MPI_INT, MPI_DOUBLE, MPI_UINT64_T } MPI_Datatype;
typedef enum { MPI_SUM, MPI_MAX } MPI_Op;

typedef struct {
    int MPI_SOURCE;
    int MPI_TAG;
    size_t bytes;
} MPI_Status;

#define MPI_STATUS_IGNORE ((MPI_Status *)NULL)
#define MPI_STATUSES_IGNORE ((MPI_Status *)NULL)

/* In place of the buffer from which MPI_Allreduce takes: the one to which it gives. */
#define MPI_IN_PLACE ((const void *)-1)

typedef struct request *MPI_Request;

#define MPI_REQUEST_NULL ((MPI_Request)NULL)

/* Ends the program: `why` is a sentence that names the peer, or what is wrong. */
typedef void over_messages_fail(const char *why);

/* This process is that rank of so many, joined to each other one by an endpoint; the own one is
 * NULL. Before anything else, once. */
void over_messages_open(int rank, int ranks, struct endpoint *const endpoints[],
                        over_messages_fail *fail);

int MPI_Send(const void *bytes, int count, MPI_Datatype type, int destination, int tag,
             MPI_Comm world);
int MPI_Recv(void *bytes, int count, MPI_Datatype type, int source, int tag, MPI_Comm world,
             MPI_Status *status);
int MPI_Isend(const void *bytes, int count, MPI_Datatype type, int destination, int tag,
              MPI_Comm world, MPI_Request *request);
int MPI_Irecv(void *bytes, int count, MPI_Datatype type, int source, int tag, MPI_Comm world,
              MPI_Request *request);
int MPI_Wait(MPI_Request *request, MPI_Status *status);
int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]);
int MPI_Test(MPI_Request *request, int *is_done, MPI_Status *status);
int MPI_Barrier(MPI_Comm world);
int MPI_Comm_rank(MPI_Comm world, int *rank);
int MPI_Comm_size(MPI_Comm world, int *ranks);
int MPI_Type_size(MPI_Datatype type, int *bytes);

/* collectives.c */
int MPI_Bcast(void *bytes, int count, MPI_Datatype type, int root, MPI_Comm world);
int MPI_Reduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm world);
int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm world);
int MPI_Allgather(const void *from, int from_count, MPI_Datatype from_type, void *to, int to_count,
                  MPI_Datatype to_type, MPI_Comm world);
int MPI_Alltoall(const void *from, int from_count, MPI_Datatype from_type, void *to, int to_count,
                 MPI_Datatype to_type, MPI_Comm world);
int MPI_Alltoallv(const void *from, const int from_counts[], const int from_places[],
                  MPI_Datatype from_type, void *to, const int to_counts[], const int to_places[],
                  MPI_Datatype to_type, MPI_Comm world);

/* The same, for who stands behind a layer that has the names above. */
extern __typeof__(MPI_Send) PMPI_Send;
extern __typeof__(MPI_Recv) PMPI_Recv;
extern __typeof__(MPI_Isend) PMPI_Isend;
extern __typeof__(MPI_Irecv) PMPI_Irecv;
extern __typeof__(MPI_Wait) PMPI_Wait;
extern __typeof__(MPI_Waitall) PMPI_Waitall;
extern __typeof__(MPI_Test) PMPI_Test;
extern __typeof__(MPI_Barrier) PMPI_Barrier;
extern __typeof__(MPI_Comm_rank) PMPI_Comm_rank;
extern __typeof__(MPI_Comm_size) PMPI_Comm_size;
extern __typeof__(MPI_Type_size) PMPI_Type_size;
extern __typeof__(MPI_Bcast) PMPI_Bcast;
extern __typeof__(MPI_Reduce) PMPI_Reduce;
extern __typeof__(MPI_Allreduce) PMPI_Allreduce;
extern __typeof__(MPI_Allgather) PMPI_Allgather;
extern __typeof__(MPI_Alltoall) PMPI_Alltoall;
extern __typeof__(MPI_Alltoallv) PMPI_Alltoallv;

#endif

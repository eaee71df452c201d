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
 * Left out, so nobody should take its times for those of a whole MPI: communicators, derived types
 * and any type but MPI_BYTE, collective operations except the barrier, messages to oneself,
 * probing, cancelling, other modes of sending, threads, and progress while the program does
 * something else. A message that is longer than its receive, or a peer that dies, ends the program.
 */
#ifndef OVER_MESSAGES_H
#define OVER_MESSAGES_H

#include <stddef.h>

struct endpoint; /* ../messages/messages.h */

enum { EAGER_BYTES = 4096, OVER_MESSAGES_RANKS_MOST = 4 };

enum { MPI_SUCCESS, MPI_ANY_SOURCE = -1, MPI_ANY_TAG = -1 };

typedef enum { MPI_COMM_WORLD } MPI_Comm;
typedef enum { MPI_BYTE } MPI_Datatype;

typedef struct {
    int MPI_SOURCE;
    int MPI_TAG;
    size_t bytes;
} MPI_Status;

#define MPI_STATUS_IGNORE ((MPI_Status *)NULL)

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

#endif

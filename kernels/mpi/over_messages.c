#if defined(MPI_OVER_MESSAGES)
#include "over_messages.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../messages/messages.h"

enum { REQUESTS_MOST = 1024, TAG_BARRIER = -2, SENTENCE_BYTES = 160 };

/* Keys of one end: the queue has the first place, each region that is written to has another. */
enum { QUEUE_KEY = 0, QUEUE_BYTES = MESSAGES_WINDOW_MOST * (MESSAGES_BYTES_MOST + 16) };

enum record_kind {
    RECORD_EAGER,    /* a message, or its first part */
    RECORD_MORE,     /* its next part */
    RECORD_ANNOUNCE, /* a long message that is still at its sender */
    RECORD_GRANT,    /* it may be written to the region of this key */
    RECORD_WRITTEN,  /* it was */
};

/* In front of each part in a queue. */
struct record {
    uint32_t kind;
    int32_t tag;
    uint32_t request; /* of the sender, of a message that is announced */
    uint32_t key;
    uint64_t bytes; /* of the whole message */
};

enum { PART_BYTES = MESSAGES_BYTES_MOST - sizeof(struct record) };

struct request {
    struct request *next;
    bool is_done;
    int rank; /* the other one, or any */
    int tag;
    union {
        const unsigned char *out;
        unsigned char *in;
    };
    size_t bytes;    /* of the message; of a receive that waits: room */
    size_t moved;    /* of a long message: written so far */
    uint32_t sender; /* of a long message: the sender's request */
    uint32_t key;
    MPI_Status status;
};

struct request_list {
    struct request *first;
    struct request **end;
};

/* A message that no receive wanted when it came. */
struct unexpected {
    struct unexpected *next;
    int source;
    struct record record;
    bool is_whole;
    unsigned char payload[];
};

struct link {
    struct endpoint *endpoint;
    int rank;
    struct request_list grants;    /* receives whose long messages may be written from now on */
    struct request_list transfers; /* sends whose long messages are being written */
    struct request *regions[MESSAGES_TARGETS_MOST]; /* receives, by place of their keys */
    uint32_t keys_used;

    /* The message of which parts are still to come, and who has it: */
    struct request *receive;
    struct unexpected *kept;
    unsigned char *place;
    size_t missing;
};

static struct {
    int rank;
    int ranks;
    struct link links[OVER_MESSAGES_RANKS_MOST];
    struct request requests[REQUESTS_MOST];
    struct request *unused;
    struct request_list posted;
    struct unexpected *unexpected;
    struct unexpected **unexpected_end;
    over_messages_fail *fail;
} own;

/* --- Lists. */

static void list_empty(struct request_list *list) {
    list->first = NULL;
    list->end = &list->first;
}

static void list_add(struct request_list *list, struct request *request) {
    request->next = NULL;
    *list->end = request;
    list->end = &request->next;
}

/* Takes out what `place` points to. */
static struct request *list_take(struct request_list *list, struct request **place) {
    struct request *request = *place;
    *place = request->next;
    if (!*place) {
        list->end = place;
    }
    return request;
}

static struct request *new_request(int rank, int tag, size_t bytes) {
    struct request *request = own.unused;
    if (!request) {
        own.fail("more requests are under way than this MPI has room for");
        abort();
    }
    own.unused = request->next;
    *request = (struct request){.rank = rank, .tag = tag, .bytes = bytes};
    return request;
}

/* --- Matching. */

static bool wants(int rank, int tag, int source, int source_tag) {
    return (rank == MPI_ANY_SOURCE || rank == source) &&
           (tag == source_tag || (tag == MPI_ANY_TAG && source_tag >= 0));
}

static struct request *take_posted(int source, int tag) {
    for (struct request **place = &own.posted.first; *place; place = &(*place)->next) {
        if (wants((*place)->rank, (*place)->tag, source, tag)) {
            return list_take(&own.posted, place);
        }
    }
    return NULL;
}

static struct unexpected *take_unexpected(int rank, int tag) {
    for (struct unexpected **place = &own.unexpected; *place; place = &(*place)->next) {
        struct unexpected *message = *place;
        if (wants(rank, tag, message->source, message->record.tag)) {
            *place = message->next;
            if (!*place) {
                own.unexpected_end = place;
            }
            return message;
        }
    }
    return NULL;
}

static struct unexpected *keep(int source, const struct record *record) {
    const size_t bytes = record->kind == RECORD_EAGER ? record->bytes : 0;
    struct unexpected *message = malloc(sizeof *message + bytes);
    if (!message) {
        own.fail("there is no memory for a message that no receive wants yet");
        abort();
    }
    *message = (struct unexpected){.source = source, .record = *record};
    *own.unexpected_end = message;
    own.unexpected_end = &message->next;
    return message;
}

/* The receive is for this message, and for no other any more. */
static void match(struct request *receive, int source, const struct record *record) {
    if (record->bytes > receive->bytes) {
        char why[SENTENCE_BYTES];
        snprintf(why, sizeof why, "a message of %zu bytes is too long for its receive of %zu",
                 (size_t)record->bytes, receive->bytes);
        own.fail(why);
        abort();
    }
    receive->bytes = record->bytes;
    receive->sender = record->request;
    receive->status =
        (MPI_Status){.MPI_SOURCE = source, .MPI_TAG = record->tag, .bytes = record->bytes};
    if (record->kind == RECORD_ANNOUNCE) {
        list_add(&own.links[source].grants, receive);
    }
}

/* --- What arrives. */

static void copy(unsigned char *to, const unsigned char *from, size_t bytes) {
    if (bytes > 0) {
        memcpy(to, from, bytes);
    }
}

static void take_part(struct link *link, const unsigned char *payload, size_t bytes) {
    if (bytes > link->missing) {
        own.fail("a part of a message is longer than what is missing");
        abort();
    }
    if (bytes > 0) { /* else the receive may have no buffer */
        memcpy(link->place, payload, bytes);
        link->place += bytes;
        link->missing -= bytes;
    }
    if (link->missing == 0 && link->receive) {
        link->receive->is_done = true;
    } else if (link->missing == 0 && link->kept) {
        link->kept->is_whole = true;
    }
}

static void take_message(struct link *link, const struct record *record,
                         const unsigned char *payload, size_t bytes) {
    struct request *receive = take_posted(link->rank, record->tag);
    struct unexpected *kept = receive ? NULL : keep(link->rank, record);
    if (receive) {
        match(receive, link->rank, record);
    }
    if (record->kind == RECORD_EAGER) {
        link->receive = receive;
        link->kept = kept;
        link->place = receive ? receive->in : kept->payload;
        link->missing = record->bytes;
        take_part(link, payload, bytes);
    }
}

static void take_grant(struct link *link, const struct record *record) {
    struct request *send = &own.requests[record->request % REQUESTS_MOST];
    send->key = record->key;
    list_add(&link->transfers, send);
}

static void take_written(struct link *link, const struct record *record) {
    struct request **region = &link->regions[record->key % MESSAGES_TARGETS_MOST];
    if (*region && (*region)->key == record->key) {
        endpoint_withdraw(link->endpoint, record->key);
        (*region)->is_done = true;
        *region = NULL;
    }
}

static void take_record(struct link *link, const unsigned char *bytes, size_t count) {
    struct record record;
    memcpy(&record, bytes, sizeof record);
    switch ((enum record_kind)record.kind) {
    case RECORD_EAGER:
    case RECORD_ANNOUNCE:
        take_message(link, &record, bytes + sizeof record, count - sizeof record);
        break;
    case RECORD_MORE:
        take_part(link, bytes + sizeof record, count - sizeof record);
        break;
    case RECORD_GRANT:
        take_grant(link, &record);
        break;
    case RECORD_WRITTEN:
        take_written(link, &record);
        break;
    }
}

/* --- What is sent. */

static void append(struct link *link, const struct record *record, const unsigned char *payload,
                   size_t bytes) {
    unsigned char part[MESSAGES_BYTES_MOST];
    memcpy(part, record, sizeof *record);
    copy(part + sizeof *record, payload, bytes);
    (void)endpoint_append(link->endpoint, QUEUE_KEY, part, sizeof *record + bytes);
}

/* 0: none is free. */
static size_t free_place(const struct link *link) {
    for (size_t place = 1; place < MESSAGES_TARGETS_MOST; place++) {
        if (!link->regions[place]) {
            return place;
        }
    }
    return 0;
}

static void grant_some(struct link *link) {
    size_t place;
    while (link->grants.first && endpoint_room(link->endpoint) > 0 && (place = free_place(link))) {
        struct request *receive = list_take(&link->grants, &link->grants.first);
        /* Never the same key again: what comes late for an old one is refused. */
        receive->key = ++link->keys_used * MESSAGES_TARGETS_MOST + (uint32_t)place;
        link->regions[place] = receive;
        (void)endpoint_register(link->endpoint, receive->key, receive->in, receive->bytes);
        const struct record record = {
            .kind = RECORD_GRANT, .request = receive->sender, .key = receive->key};
        append(link, &record, NULL, 0);
    }
}

static void write_some(struct link *link) {
    while (link->transfers.first && endpoint_room(link->endpoint) > 0) {
        struct request *send = link->transfers.first;
        const size_t left = send->bytes - send->moved;
        const size_t bytes = left < MESSAGES_BYTES_MOST ? left : MESSAGES_BYTES_MOST;
        if (bytes > 0) {
            (void)endpoint_write(link->endpoint, send->key, (uint32_t)send->moved,
                                 send->out + send->moved, bytes);
            send->moved += bytes;
            continue;
        }
        const struct record record = {.kind = RECORD_WRITTEN, .key = send->key};
        append(link, &record, NULL, 0);
        list_take(&link->transfers, &link->transfers.first)->is_done = true;
    }
}

static void advance_link(struct link *link) {
    size_t bytes;
    const unsigned char *record;
    if (!endpoint_poll(link->endpoint) && endpoint_failure(link->endpoint)) {
        own.fail(endpoint_failure(link->endpoint));
        abort();
    }
    while ((record = endpoint_front(link->endpoint, QUEUE_KEY, &bytes))) {
        take_record(link, record, bytes);
        endpoint_pop(link->endpoint, QUEUE_KEY);
    }
    grant_some(link);
    write_some(link);
}

static void advance(void) {
    for (int rank = 0; rank < own.ranks; rank++) {
        if (rank != own.rank) {
            advance_link(&own.links[rank]);
        }
    }
}

static void append_when_it_fits(struct link *link, const struct record *record,
                                const unsigned char *payload, size_t bytes) {
    while (endpoint_room(link->endpoint) == 0) {
        advance();
    }
    append(link, record, payload, bytes);
}

static void send_eagerly(struct link *link, struct request *send) {
    struct record record = {.kind = RECORD_EAGER, .tag = send->tag, .bytes = send->bytes};
    do {
        const size_t left = send->bytes - send->moved;
        const size_t bytes = left < PART_BYTES ? left : PART_BYTES;
        append_when_it_fits(link, &record, send->bytes ? send->out + send->moved : NULL, bytes);
        send->moved += bytes;
        record.kind = RECORD_MORE;
    } while (send->moved < send->bytes);
    send->is_done = true;
}

/* --- The calls. */

static size_t bytes_of(int count, MPI_Datatype type) {
    static const size_t sizes[] = {[MPI_BYTE] = 1,
                                   [MPI_INT] = sizeof(int),
                                   [MPI_DOUBLE] = sizeof(double),
                                   [MPI_UINT64_T] = sizeof(uint64_t)};
    return (size_t)count * sizes[type];
}

void over_messages_open(int rank, int ranks, struct endpoint *const endpoints[],
                        over_messages_fail *fail) {
    own.rank = rank;
    own.ranks = ranks;
    own.fail = fail;
    own.unexpected_end = &own.unexpected;
    list_empty(&own.posted);
    for (size_t i = 0; i < REQUESTS_MOST; i++) {
        own.requests[i].next = own.unused;
        own.unused = &own.requests[i];
    }
    for (int other_rank = 0; other_rank < ranks; other_rank++) {
        struct link *link = &own.links[other_rank];
        link->rank = other_rank;
        link->endpoint = endpoints[other_rank];
        list_empty(&link->grants);
        list_empty(&link->transfers);
        if (link->endpoint && !endpoint_register_queue(link->endpoint, QUEUE_KEY, QUEUE_BYTES)) {
            fail("there is no memory for a queue of messages");
            abort();
        }
    }
}

int PMPI_Isend(const void *bytes, int count, MPI_Datatype type, int destination, int tag,
               MPI_Comm world, MPI_Request *request) {
    struct link *link = &own.links[destination];
    struct request *send = new_request(destination, tag, bytes_of(count, type));
    (void)world;
    send->out = bytes;
    if (send->bytes <= EAGER_BYTES) {
        send_eagerly(link, send);
    } else {
        const struct record record = {.kind = RECORD_ANNOUNCE,
                                      .tag = tag,
                                      .bytes = send->bytes,
                                      .request = (uint32_t)(send - own.requests)};
        append_when_it_fits(link, &record, NULL, 0);
    }
    *request = send;
    return MPI_SUCCESS;
}

/* The first parts of the message are here already, or all of it. */
static void receive_kept(struct request *receive, struct unexpected *message) {
    struct link *link = &own.links[message->source];
    match(receive, message->source, &message->record);
    if (message->record.kind == RECORD_EAGER) {
        const size_t missing = message->is_whole ? 0 : link->missing;
        const size_t here = message->record.bytes - missing;
        copy(receive->in, message->payload, here);
        receive->is_done = message->is_whole;
        if (!message->is_whole) {
            link->receive = receive;
            link->kept = NULL;
            link->place = receive->in + here;
        }
    }
    if (link->kept == message) {
        link->kept = NULL;
    }
    free(message);
}

int PMPI_Irecv(void *bytes, int count, MPI_Datatype type, int source, int tag, MPI_Comm world,
               MPI_Request *request) {
    struct request *receive = new_request(source, tag, bytes_of(count, type));
    struct unexpected *message = take_unexpected(source, tag);
    (void)world;
    receive->in = bytes;
    if (message) {
        receive_kept(receive, message);
    } else {
        list_add(&own.posted, receive);
    }
    *request = receive;
    return MPI_SUCCESS;
}

static void finish(MPI_Request *request, MPI_Status *status) {
    if (status) {
        *status = (*request)->status;
    }
    (*request)->next = own.unused;
    own.unused = *request;
    *request = MPI_REQUEST_NULL;
}

int PMPI_Test(MPI_Request *request, int *is_done, MPI_Status *status) {
    *is_done = true;
    if (*request) {
        advance();
        *is_done = (*request)->is_done;
        if (*is_done) {
            finish(request, status);
        }
    }
    return MPI_SUCCESS;
}

int PMPI_Wait(MPI_Request *request, MPI_Status *status) {
    if (*request) {
        while (!(*request)->is_done) {
            advance();
        }
        finish(request, status);
    }
    return MPI_SUCCESS;
}

int PMPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    for (int i = 0; i < count; i++) {
        PMPI_Wait(&requests[i], statuses ? &statuses[i] : MPI_STATUS_IGNORE);
    }
    return MPI_SUCCESS;
}

int PMPI_Send(const void *bytes, int count, MPI_Datatype type, int destination, int tag,
              MPI_Comm world) {
    MPI_Request request;
    PMPI_Isend(bytes, count, type, destination, tag, world, &request);
    return PMPI_Wait(&request, MPI_STATUS_IGNORE);
}

int PMPI_Recv(void *bytes, int count, MPI_Datatype type, int source, int tag, MPI_Comm world,
              MPI_Status *status) {
    MPI_Request request;
    PMPI_Irecv(bytes, count, type, source, tag, world, &request);
    return PMPI_Wait(&request, status);
}

int PMPI_Barrier(MPI_Comm world) {
    for (int pass = 0; pass < 2; pass++) {
        for (int rank = 1; rank < own.ranks; rank++) {
            const bool comes_in = pass == 0;
            if (own.rank == 0 ? comes_in : own.rank == rank && !comes_in) {
                PMPI_Recv(NULL, 0, MPI_BYTE, own.rank == 0 ? rank : 0, TAG_BARRIER, world,
                          MPI_STATUS_IGNORE);
            } else if (own.rank == 0 || own.rank == rank) {
                PMPI_Send(NULL, 0, MPI_BYTE, own.rank == 0 ? rank : 0, TAG_BARRIER, world);
            }
        }
    }
    return MPI_SUCCESS;
}

int PMPI_Comm_rank(MPI_Comm world, int *rank) {
    (void)world;
    *rank = own.rank;
    return MPI_SUCCESS;
}

int PMPI_Comm_size(MPI_Comm world, int *ranks) {
    (void)world;
    *ranks = own.ranks;
    return MPI_SUCCESS;
}

int PMPI_Type_size(MPI_Datatype type, int *bytes) {
    *bytes = (int)bytes_of(1, type);
    return MPI_SUCCESS;
}

#pragma weak MPI_Send = PMPI_Send
#pragma weak MPI_Recv = PMPI_Recv
#pragma weak MPI_Isend = PMPI_Isend
#pragma weak MPI_Irecv = PMPI_Irecv
#pragma weak MPI_Wait = PMPI_Wait
#pragma weak MPI_Waitall = PMPI_Waitall
#pragma weak MPI_Test = PMPI_Test
#pragma weak MPI_Barrier = PMPI_Barrier
#pragma weak MPI_Comm_rank = PMPI_Comm_rank
#pragma weak MPI_Comm_size = PMPI_Comm_size
#pragma weak MPI_Type_size = PMPI_Type_size

#endif

/* What the files of this folder that make up sharing.h keep and call of each other. */
#ifndef STATE_H
#define STATE_H

#include "../messages/messages.h"
#include "sharing.h"

enum key {
    KEY_RANGE = 1,
    KEY_RECORDS,
    KEY_ARRIVED,
    KEY_DIRTY,
    KEY_LOCK,
    KEY_GRANTS,
    KEY_PAGE,
    KEY_FETCHED,
};

enum { NAME_BYTES = 32 };

struct peer {
    size_t node;
    struct endpoint *endpoint; /* NULL: this node itself */
    char name[NAME_BYTES];
};

struct state {
    size_t node;
    size_t nodes;
    bool is_crowded;
    sharing_watch *watch;
    struct peer peers[SHARING_NODES_MOST];
    unsigned char *range; /* as the program sees it */
    unsigned char *raw;   /* the same bytes, never protected */
    size_t used;
    uint64_t counts[SHARING_COUNTS];
    uint64_t resent_before;
    uint64_t part_ns[SHARING_PARTS];
    enum sharing_part part; /* whose time runs */
    uint64_t part_began_ns;
};

extern struct state sharing;

static inline uint32_t offset_of(const void *shared) {
    return (uint32_t)((const unsigned char *)shared - sharing.range);
}

/* --- sharing.c: sending, with all connections polled where one has no room. */

void post_write(struct peer *peer, enum key key, uint32_t offset, const void *payload,
                size_t bytes);
void post_signal(struct peer *peer, enum key key, const void *payload, size_t bytes);

/* Until all that this node sent has arrived. */
void await_arrival(void);

/* For loops that wait: a round of polling. Where nothing comes for too long, the program ends. */
struct patience {
    const char *waits_for;
    uint64_t rounds;
    uint64_t deadline_ns;
};
void wait_a_round(struct patience *patience);

/* The time from now on is that part's; returns whose it was. */
enum sharing_part enter_part(enum sharing_part part);

/* --- records.c: small updates in one packet. */

struct records {
    size_t bytes;
    _Alignas(8) unsigned char room[MESSAGES_BYTES_MOST];
};

/* Whether so many bytes can be in a packet with others. */
bool records_take(size_t bytes);

/* Adds what stands there in the range; false: it has no room. */
bool records_add(struct records *records, uint32_t offset, size_t bytes);
void records_apply(const void *payload, size_t bytes);

/* --- updates.c */
void updates_flush(void);

/* --- locks.c */
void locks_register(struct peer *peer);
void locks_serve(void);

/* --- pages.c; without -DDSM_PAGES they do nothing. */
void pages_open(bool is_userfault_tried);
void pages_register(struct peer *peer);
void pages_serve(void);
/* What this node changed goes home; arrived when it returns. */
void pages_flush(void);
void pages_tell(void);   /* the others, which pages those were, since the last barrier */
void pages_forget(void); /* those that others changed before this barrier */
void pages_forget_all(void);

#endif

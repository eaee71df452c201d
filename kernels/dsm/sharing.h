/* Memory that processes without common memory share: this header is the manual.
 *
 * Each process, a node, has a copy of the whole shared range at addresses of its own. All nodes
 * make the same rooms in the same order, so that a place has one offset everywhere. Programs write
 * with SHARED_STORE and SHARED_ANNOUNCE, and meet at barriers; what a node wrote before a barrier
 * or an unlock is read by all behind it. Two nodes may write into one page, not into one word.
 *
 * How the copies become equal is decided when the program is compiled:
 *
 *   (none)                           each store sends itself to all other nodes (ADSM style)
 *   -DDSM_COMBINING                  stores wait until they fill a packet, or until nodes meet
 *   -DDSM_COALESCING                 a store sends nothing; SHARED_ANNOUNCE sends a whole part
 *   -DDSM_COMBINING -DDSM_COALESCING both
 *   -DDSM_PAGES                      no code at stores; pages are fetched on a fault, and what
 *                                    changed goes to a page's home where nodes meet (UDSM style)
 *
 * The code at stores is inserted by a compiler in the source that we rerun; here by macros, and
 * where a part is announced was decided by hand.
 *
 * Work is done by whoever polls: a node that neither stores nor meets others calls sharing_poll
 * now and then. Nothing is allocated, printed or locked but in sharing_open, sharing_room and
 * sharing_close. A node has one thread. */
#ifndef SHARING_H
#define SHARING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../messages/carrier.h"

enum {
    SHARING_NODES_MOST = 8,
    SHARING_PAGE_BYTES = 4096,
    SHARING_RANGE_BYTES = 1 << 26,
    SHARING_PAGES = SHARING_RANGE_BYTES / SHARING_PAGE_BYTES,
    SHARING_LOCKS = 16,
};

#if defined(DSM_COALESCING) || defined(DSM_PAGES)
#define SHARED_STORE(place, value) ((void)((place) = (value)))
#else
#define SHARED_STORE(place, value) ((place) = (value), sharing_update(&(place), sizeof(place)))
#endif

#if defined(DSM_COALESCING)
#define SHARED_ANNOUNCE(first, bytes) sharing_update(first, bytes)
#else
#define SHARED_ANNOUNCE(first, bytes) ((void)(first), (void)(bytes))
#endif

typedef void sharing_watch(void);

struct sharing_setup {
    size_t node;
    size_t nodes;
    struct carrier *carriers[SHARING_NODES_MOST]; /* to each other node; they are closed here */
    bool has_mprotect_only;                       /* of the ways to catch faults */
    bool is_crowded;      /* more nodes than CPUs: who waits lets others run */
    sharing_watch *watch; /* called now and then by who waits; NULL: nobody */
};

/* Exits as cannot_run does where the system lacks something. */
void sharing_open(const struct sharing_setup *setup);
void sharing_close(void);

size_t sharing_node(void);
size_t sharing_nodes(void);

/* Memory of the range, from a page's begin on; all zero, and never NULL. */
void *sharing_room(size_t bytes);

/* Where the first room begins. */
void *sharing_first(void);

/* Takes all rooms back. All nodes call it with no message on its way. */
void sharing_clear(void);

/* The same memory for filling in what all nodes begin with: each node writes all of it, and then
 * calls sharing_settle. */
void *sharing_raw(void *shared);

/* From now on each page is on its home alone; `home` says whose page each address is. ADSM has all
 * pages everywhere, and does nothing. */
typedef size_t sharing_home(const void *shared);
void sharing_settle(sharing_home *home);

/* The code of consistency: what stands there now goes to all other nodes. */
void sharing_update(const void *first, size_t bytes);

/* All nodes wait for each other. */
void sharing_barrier(void);

/* One node at a time; it sees what the last one wrote. */
void sharing_lock(size_t lock);
void sharing_unlock(size_t lock);

/* Takes in what came, and answers it. Says whether something came. */
bool sharing_poll(void);

/* --- What was counted and timed at this node. */

enum sharing_count {
    SHARING_CODES,   /* times that code of consistency ran */
    SHARING_PACKETS, /* messages sent, each to one node */
    SHARING_BYTES,   /* in these, without the library's headers */
    SHARING_FAULTS,  /* of pages that were not there, or not to be written */
    SHARING_FETCHES, /* pages that came from their home */
    SHARING_TWINS,   /* pages copied before the first store to them */
    SHARING_DIFFS,   /* pages compared with their copy */
    SHARING_SEVERAL, /* pages that several nodes wrote before they met, each at its last writer */
    SHARING_RESENT,  /* frames that the library sent again */
    SHARING_COUNTS
};

/* Parts of a node's time, each without those inside of it. Of ADSM only the first is told. */
enum sharing_part {
    SHARING_SYNC,     /* waiting for others */
    SHARING_WRITING,  /* twins and diffs */
    SHARING_FAULTING, /* faults, and waiting for pages */
    SHARING_MESSAGES, /* taking in and answering */
    SHARING_TASK,     /* all else: the program's own work */
    SHARING_PARTS
};

struct sharing_record {
    uint64_t counts[SHARING_COUNTS];
    uint64_t part_ns[SHARING_PARTS];
};

/* Begins anew, with all counts 0. */
void sharing_record_begin(void);
struct sharing_record sharing_record_end(void);

/* How faults are caught: "userfaultfd" or "mprotect"; NULL: there are none. */
const char *sharing_fault_way(void);

#endif

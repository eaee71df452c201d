/* Pages come from their home when they are touched. Before its first store to a page a node copies
 * it (twin); where nodes meet, the words that differ from the twin go to the page's home, and all
 * others forget the page. So several nodes may write into one page between two meetings. */
#define _GNU_SOURCE
#include "state.h"

#if defined(DSM_PAGES)
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cannot_run.h"
#include "protection.h"

enum { BITMAP_BYTES = SHARING_PAGES / 8, WORDS = SHARING_PAGE_BYTES / 4 };

struct page {
    unsigned char state;
    unsigned char home;
};

static struct page pages[SHARING_PAGES];
static const char *fault_way;
static unsigned char *twins;

static uint32_t written[SHARING_PAGES]; /* pages, since this node last sent what it changed */
static size_t written_count;

/* Which pages a node changed: one map grows while the other one is looked at. */
static unsigned char changed[SHARING_NODES_MOST][2][BITMAP_BYTES];
static size_t turn;
static unsigned char announced[BITMAP_BYTES]; /* this node's own map, as the others got it */

static uint32_t asked[SHARING_NODES_MOST]; /* page + 1 that a node waits for; 0: none */
static uint32_t came;                      /* page + 1 */

static struct records diffs[SHARING_NODES_MOST]; /* by home */

static size_t used_pages(void) {
    return sharing.used / SHARING_PAGE_BYTES;
}

static unsigned char *seen_page(size_t page) {
    return sharing.range + page * SHARING_PAGE_BYTES;
}

static uint32_t *raw_page(size_t page) {
    return (uint32_t *)(void *)(sharing.raw + page * SHARING_PAGE_BYTES);
}

static uint32_t *twin_of(size_t page) {
    return (uint32_t *)(void *)(twins + page * SHARING_PAGE_BYTES);
}

static void set_state(size_t page, enum page_state state) {
    protection_change(seen_page(page), SHARING_PAGE_BYTES, (enum page_state)pages[page].state,
                      state);
    pages[page].state = (unsigned char)state;
}

/* --- Faults. */

static void fetch(size_t page) {
    struct patience patience = {.waits_for = "a page"};
    const uint32_t number = (uint32_t)page;
    came = 0;
    sharing.counts[SHARING_FETCHES]++;
    post_signal(&sharing.peers[pages[page].home], KEY_PAGE, &number, sizeof number);
    while (came != number + 1) {
        wait_a_round(&patience);
    }
    set_state(page, PAGE_READABLE);
}

static void begin_to_write(size_t page) {
    const enum sharing_part before = enter_part(SHARING_WRITING);
    if (pages[page].home != sharing.node) {
        memcpy(twin_of(page), raw_page(page), SHARING_PAGE_BYTES);
        sharing.counts[SHARING_TWINS]++;
    }
    written[written_count++] = (uint32_t)page;
    changed[sharing.node][turn][page / 8] |= (unsigned char)(1u << page % 8);
    set_state(page, PAGE_WRITABLE);
    enter_part(before);
}

static bool handle_fault(void *byte) {
    const size_t page = offset_of(byte) / SHARING_PAGE_BYTES;
    if ((unsigned char *)byte < sharing.range || page >= used_pages() ||
        pages[page].state == PAGE_WRITABLE) {
        return false;
    }
    const enum sharing_part before = enter_part(SHARING_FAULTING);
    sharing.counts[SHARING_FAULTS]++;
    if (pages[page].state == PAGE_ABSENT) {
        fetch(page);
    } else {
        begin_to_write(page);
    }
    enter_part(before);
    return true;
}

/* --- What others ask for. */

static void page_is_asked(void *context, const void *payload, size_t bytes) {
    const struct peer *peer = context;
    uint32_t page = SHARING_PAGES;
    if (bytes == sizeof page) {
        memcpy(&page, payload, sizeof page);
    }
    if (page < used_pages() && pages[page].home == sharing.node) {
        asked[peer->node] = page + 1;
    }
}

void pages_serve(void) {
    for (size_t node = 0; node < sharing.nodes; node++) {
        const uint32_t number = asked[node];
        if (number > 0) {
            const enum sharing_part before = enter_part(SHARING_MESSAGES);
            struct peer *peer = &sharing.peers[node];
            asked[node] = 0;
            post_write(peer, KEY_RANGE, (number - 1) * SHARING_PAGE_BYTES, raw_page(number - 1),
                       SHARING_PAGE_BYTES);
            post_write(peer, KEY_FETCHED, 0, &number, sizeof number);
            enter_part(before);
        }
    }
}

void pages_register(struct peer *peer) {
    if (!endpoint_register(peer->endpoint, KEY_DIRTY, changed[peer->node],
                           sizeof changed[peer->node]) ||
        !endpoint_register(peer->endpoint, KEY_FETCHED, &came, sizeof came) ||
        !endpoint_register_handler(peer->endpoint, KEY_PAGE, page_is_asked, peer)) {
        cannot_run("there is no memory for pages; free some");
    }
}

/* --- Where nodes meet. */

static void send_diffs(size_t home) {
    if (diffs[home].bytes > 0) {
        post_signal(&sharing.peers[home], KEY_RECORDS, diffs[home].room, diffs[home].bytes);
        diffs[home].bytes = 0;
    }
}

static void add_run(size_t page, size_t first, size_t end) {
    const size_t home = pages[page].home;
    while (first < end) {
        /* What is behind a record's head in a packet, at most. */
        const size_t most = MESSAGES_BYTES_MOST / 4 - 2;
        const size_t words = end - first < most ? end - first : most;
        const uint32_t offset = (uint32_t)(page * SHARING_PAGE_BYTES + first * 4);
        if (!records_add(&diffs[home], offset, words * 4)) {
            send_diffs(home);
            records_add(&diffs[home], offset, words * 4);
        }
        first += words;
    }
}

static void compare(size_t page) {
    const uint32_t *now = raw_page(page);
    const uint32_t *then = twin_of(page);
    for (size_t word = 0; word < WORDS; word++) {
        const size_t first = word;
        while (word < WORDS && now[word] != then[word]) {
            word++;
        }
        add_run(page, first, word);
    }
    sharing.counts[SHARING_DIFFS]++;
}

void pages_flush(void) {
    const enum sharing_part before = enter_part(SHARING_WRITING);
    for (size_t i = 0; i < written_count; i++) {
        const size_t page = written[i];
        set_state(page, PAGE_READABLE);
        if (pages[page].home != sharing.node) {
            compare(page);
        }
    }
    written_count = 0;
    for (size_t home = 0; home < sharing.nodes; home++) {
        send_diffs(home);
    }
    enter_part(before);
    /* Whoever hears of the change fetches the page from a home that has it. */
    await_arrival();
}

void pages_tell(void) {
    unsigned char *own = changed[sharing.node][turn];
    const size_t bytes = (used_pages() + 7) / 8;
    for (size_t node = 0; node < sharing.nodes; node++) {
        if (node != sharing.node) {
            post_write(&sharing.peers[node], KEY_DIRTY, (uint32_t)(turn * BITMAP_BYTES), own,
                       bytes);
        }
    }
    memcpy(announced, own, bytes);
    memset(own, 0, bytes);
}

static void forget(size_t page) {
    if (pages[page].home != sharing.node && pages[page].state != PAGE_ABSENT) {
        set_state(page, PAGE_ABSENT);
    }
}

/* Pages that this node changed, a node before it too, and none behind it. */
static void count_several(void) {
    for (size_t byte = 0; byte < (used_pages() + 7) / 8; byte++) {
        unsigned before = 0;
        unsigned behind = 0;
        for (size_t node = 0; node < sharing.nodes; node++) {
            before |= node < sharing.node ? changed[node][turn][byte] : 0;
            behind |= node > sharing.node ? changed[node][turn][byte] : 0;
        }
        sharing.counts[SHARING_SEVERAL] +=
            (unsigned)__builtin_popcount(announced[byte] & before & ~behind);
    }
}

void pages_forget(void) {
    count_several();
    for (size_t node = 0; node < sharing.nodes; node++) {
        for (size_t page = 0; node != sharing.node && page < used_pages(); page++) {
            if (changed[node][turn][page / 8] >> page % 8 & 1) {
                forget(page);
            }
        }
    }
    turn = 1 - turn;
}

void pages_forget_all(void) {
    pages_flush();
    for (size_t page = 0; page < used_pages(); page++) {
        forget(page);
    }
}

/* --- Beginning. */

void sharing_settle(sharing_home *home) {
    memset(twins, 0, sharing.used); /* its pages are there before anything is timed */
    for (size_t page = 0; page < used_pages(); page++) {
        const size_t node = home(seen_page(page));
        pages[page].home = (unsigned char)(node < sharing.nodes ? node : 0);
        if (pages[page].state != PAGE_ABSENT) {
            set_state(page, PAGE_ABSENT);
        }
        if (pages[page].home == sharing.node) {
            set_state(page, PAGE_READABLE);
        }
    }
    written_count = 0;
    memset(changed[sharing.node][turn], 0, BITMAP_BYTES);
}

const char *sharing_fault_way(void) {
    return fault_way;
}

static void *map(int file, size_t bytes) {
    const int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
    if (memory == MAP_FAILED) {
        cannot_run("no memory for the shared range (%s); free some", strerror(errno));
    }
    return memory;
}

void pages_open(bool is_userfault_tried) {
    const int file = memfd_create("shared range", MFD_CLOEXEC);
    if (sysconf(_SC_PAGESIZE) != SHARING_PAGE_BYTES) {
        cannot_run("pages of this machine have %ld bytes, not %d; take a build without DSM_PAGES",
                   sysconf(_SC_PAGESIZE), SHARING_PAGE_BYTES);
    }
    if (file < 0 || ftruncate(file, SHARING_RANGE_BYTES) != 0) {
        cannot_run("no file in memory for the shared range (%s); free some", strerror(errno));
    }
    sharing.range = map(file, SHARING_RANGE_BYTES);
    sharing.raw = map(file, SHARING_RANGE_BYTES);
    twins = map(-1, SHARING_RANGE_BYTES);
    close(file);
    *sharing.raw = 0;
    fault_way =
        protection_open(sharing.range, SHARING_RANGE_BYTES, handle_fault, is_userfault_tried);
    if (!fault_way) {
        cannot_run("neither userfaultfd nor mprotect catches a fault here (%s); allow one of them, "
                   "or take a build without DSM_PAGES",
                   strerror(errno));
    }
}
#else
void pages_open(bool is_userfault_tried) {
    (void)is_userfault_tried;
}

void pages_register(struct peer *peer) {
    (void)peer;
}

void pages_serve(void) {
}

void pages_flush(void) {
}

void pages_tell(void) {
}

void pages_forget(void) {
}

void pages_forget_all(void) {
}

void sharing_settle(sharing_home *home) {
    (void)home;
}

const char *sharing_fault_way(void) {
    return NULL;
}
#endif

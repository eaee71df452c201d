/* Pages of a mapping that can be kept from being read or written, and a handler for who tries. */
#ifndef PROTECTION_H
#define PROTECTION_H

#include <stdbool.h>
#include <stddef.h>

enum page_state { PAGE_ABSENT, PAGE_READABLE, PAGE_WRITABLE };

/* Called in the thread that touched the byte, which touches it again afterwards. False: the byte is
 * none of these pages, and the program ends as if nobody had watched. */
typedef bool protection_handler(void *byte);

/* Protects a shared mapping of a file in memory. Its pages are there before their state changes,
 * the first one now; all begin as absent.
 * Returns how faults are caught, "userfaultfd" or "mprotect"; NULL: errno says why neither works.
 * Without `is_userfault_tried` only the latter is. */
const char *protection_open(void *first, size_t bytes, protection_handler *handler,
                            bool is_userfault_tried);

/* Changes the state of whole pages that all have the state `before`. An absent page is made
 * readable before it is made writable. */
void protection_change(void *first, size_t bytes, enum page_state before, enum page_state after);

#endif

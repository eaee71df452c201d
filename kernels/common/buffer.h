/* Memory whose place in a page the caller chooses. */
#ifndef BUFFER_H
#define BUFFER_H

#include <stdint.h>

enum { BUFFER_OFFSET_MOST = 4095, BUFFER_OFFSET_STEP = 8 };

/* Begins `offset` bytes into a page; exits with 77 if there is not so much. Not yet touched. */
uint64_t *buffer_allocate(uint64_t bytes, uint64_t offset);

#endif

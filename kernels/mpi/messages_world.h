/* Two ranks without a library of MPI: this process, and a far one that it starts. */
#ifndef MESSAGES_WORLD_H
#define MESSAGES_WORLD_H

#include "bench.h"

/* In the place of a library's name and version. */
#define MESSAGES_WORLD_LIBRARY "none: a few calls of MPI on this project's messages"

/* Starts the far rank, which does that from then on and does not return; this process is the near
 * one. They are joined by rings of Ethernet frames where there are two hosts, else by memory that
 * they share. */
void messages_world_enter(void (*be_far_rank)(void));

/* Frames of the near rank that were sent again, or found no room, since the point before. */
void messages_world_observe(struct bench_report *report);

#endif

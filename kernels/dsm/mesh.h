/* The carriers between each two nodes of one machine, opened before the nodes part. */
#ifndef MESH_H
#define MESH_H

#include "sharing.h"

enum mesh_kind { MESH_MEMORY, MESH_UDP };

struct mesh {
    struct carrier *carriers[SHARING_NODES_MOST][SHARING_NODES_MOST]; /* [at][to] */
};

/* Exits as cannot_run does where the system lacks something. */
void mesh_open(struct mesh *mesh, enum mesh_kind kind, size_t nodes);

/* A node keeps its own ends, and closes all others. */
void mesh_keep(struct mesh *mesh, size_t node);

#endif

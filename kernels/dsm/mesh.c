#include "mesh.h"

#include <errno.h>
#include <string.h>

#include "cannot_run.h"
#include "crew.h"

static void join_by_memory(struct carrier **first, struct carrier **second) {
    void *shared = crew_share(memory_carrier_bytes(), "messages");
    *first = memory_carrier_open(shared, true, false);
    *second = memory_carrier_open(shared, false, false);
}

static void join_by_udp(struct carrier **first, struct carrier **second) {
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in there = here;
    const int sockets[] = {udp_carrier_bind(&here), udp_carrier_bind(&there)};
    if (sockets[0] >= 0 && sockets[1] >= 0) {
        *first = udp_carrier_join(sockets[0], &there);
        *second = udp_carrier_join(sockets[1], &here);
    }
}

void mesh_open(struct mesh *mesh, enum mesh_kind kind, size_t nodes) {
    memset(mesh, 0, sizeof *mesh);
    for (size_t low = 0; low < nodes; low++) {
        for (size_t high = low + 1; high < nodes; high++) {
            struct carrier **first = &mesh->carriers[low][high];
            struct carrier **second = &mesh->carriers[high][low];
            if (kind == MESH_UDP) {
                join_by_udp(first, second);
            } else {
                join_by_memory(first, second);
            }
            if (!*first || !*second) {
                cannot_run("nodes %zu and %zu cannot be joined (%s); free memory and ports", low,
                           high, strerror(errno));
            }
        }
    }
}

void mesh_keep(struct mesh *mesh, size_t node) {
    for (size_t at = 0; at < SHARING_NODES_MOST; at++) {
        for (size_t to = 0; at != node && to < SHARING_NODES_MOST; to++) {
            struct carrier *carrier = mesh->carriers[at][to];
            if (carrier) {
                carrier->methods->close(carrier);
                mesh->carriers[at][to] = NULL;
            }
        }
    }
}

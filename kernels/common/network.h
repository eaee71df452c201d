/* Two hosts: the near side is this process; the far side is in a namespace that the measurer made,
 * or on a real machine. IPv4 only. */
#ifndef NETWORK_H
#define NETWORK_H

#include <argp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench.h"
#include "proc_net.h"

/* As the command line has it. */
struct network {
    struct in_addr near;
    struct in_addr far;
    const char *far_namespace; /* a path, or NULL: the far side is where this process is */
    uint16_t port;            /* of a far side that is already running; 0: this program starts it */
    bool spins;               /* both sides poll in a loop, else they sleep */
    uint64_t link_bits_per_s; /* of emulated links, or of the token bucket; 0: not limited */
};

/* For a child of the kernel's argp. */
extern const struct argp network_argp;

/* Before and after network_open, which finds out a near address that was not given. */
const struct network *network_asked(void);

/* Refuses what is missing, and an address that its side does not have. Opens what the counters are
 * read from. To be called once. */
void network_open(void);

/* The address of a dotted quad, else refused; `label` as for parse_number. */
struct in_addr network_parse_address(const char *label, const char *text);

/* Whether this host has the address. */
bool network_is_own(struct in_addr address);

/* This process, from now on, is in that network namespace; NULL: stays where it is. */
void network_enter(const char *path);

/* And back, to where it was at network_open. */
void network_return(void);

enum network_side { NETWORK_NEAR, NETWORK_FAR };

/* What the host of a side has counted; false where it does not tell, as a real far host does
 * not. See proc_net.h. */
bool network_count(enum network_side side, const char *protocol, const char *name, uint64_t *value);
bool network_traffic(enum network_side side, struct proc_net_traffic *traffic);

/* The interface through which a side reaches the other one. */
struct network_device {
    char name[IF_NAMESIZE];
    bool is_loopback; /* the other side is this host itself */
    uint64_t mtu_bytes;
    bool has_interrupt_delay;    /* its driver says how long it holds interrupts back */
    uint64_t interrupt_delay_ns; /* for frames received, at most */
};
bool network_device(enum network_side side, struct network_device *device);

/* Observes the near side's interface: what it is, its MTU, how long it holds interrupts back. */
void network_observe_device(struct bench_report *report);

#endif

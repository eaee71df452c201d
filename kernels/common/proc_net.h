/* Counters of a network namespace, out of files that were opened in it. Each grows from the time
 * at which the namespace was made. */
#ifndef PROC_NET_H
#define PROC_NET_H

#include <stdbool.h>
#include <stdint.h>

/* Out of /proc/net/snmp: of a protocol and a name of it, like "Udp" and "RcvbufErrors". False
 * where there is no such counter. */
bool proc_net_count(int snmp, const char *protocol, const char *name, uint64_t *value);

struct proc_net_traffic {
    uint64_t received_packets;
    uint64_t received_drops;
    uint64_t sent_packets;
    uint64_t sent_drops;
};

/* Out of /proc/net/dev: of an interface. */
bool proc_net_traffic(int dev, const char *interface, struct proc_net_traffic *traffic);

#endif

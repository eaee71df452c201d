#define _GNU_SOURCE
#include "ethernet.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

bool ethernet_look(const char *name, int *interface, unsigned char address[6]) {
    struct ifreq request = {0};
    const int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (any < 0) {
        return false;
    }
    strncpy(request.ifr_name, name, sizeof request.ifr_name - 1);
    bool is_there = ioctl(any, SIOCGIFHWADDR, &request) == 0;
    if (is_there) {
        memcpy(address, request.ifr_hwaddr.sa_data, 6);
        is_there = ioctl(any, SIOCGIFINDEX, &request) == 0;
        *interface = request.ifr_ifindex;
    }
    const int error = errno;
    close(any);
    errno = error;
    return is_there;
}

int ethernet_socket(const struct ethernet *ethernet) {
    const int raw = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    const int on = 1;
    if (raw >= 0 && ethernet->bypasses_queue) {
        (void)setsockopt(raw, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof on);
    }
    return raw;
}

bool ethernet_bind(int socket, const struct ethernet *ethernet) {
    const struct sockaddr_ll place = {
        .sll_family = AF_PACKET,
        .sll_protocol = htons(ethernet->type),
        .sll_ifindex = ethernet->interface,
    };
    return bind(socket, (const struct sockaddr *)&place, sizeof place) == 0;
}

void ethernet_head(const struct ethernet *ethernet, unsigned char header[ETHERNET_HEADER_BYTES]) {
    const uint16_t type = htons(ethernet->type);
    memcpy(header, ethernet->there, sizeof ethernet->there);
    memcpy(header + sizeof ethernet->there, ethernet->here, sizeof ethernet->here);
    memcpy(header + sizeof ethernet->there + sizeof ethernet->here, &type, sizeof type);
}

uint64_t ethernet_dropped(int socket) {
    struct tpacket_stats statistics = {0};
    socklen_t length = sizeof statistics;
    if (getsockopt(socket, SOL_PACKET, PACKET_STATISTICS, &statistics, &length) != 0) {
        return 0;
    }
    return statistics.tp_drops;
}

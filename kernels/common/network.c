#define _GNU_SOURCE
#include "network.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "bench.h"

enum { OPTION_NEAR = 0x100, OPTION_FAR, OPTION_NAMESPACE, OPTION_PORT, OPTION_WAIT, OPTION_LINK };
enum { SIDES = 2 };

static struct network network;
static int near_namespace = -1;

/* Files of a namespace can be read from any other one, once they are open. */
static struct {
    int snmp;
    int dev;
    bool has_device;
    struct network_device device;
} sides[SIDES] = {{.snmp = -1, .dev = -1}, {.snmp = -1, .dev = -1}};

static const struct argp_option options[] = {
    {.name = "near-address",
     .key = OPTION_NEAR,
     .arg = "ADDRESS",
     .doc = "Address of this host (if not given, the one from which the far side is reached)"},
    {.name = "far-address", .key = OPTION_FAR, .arg = "ADDRESS", .doc = "Of the far side"},
    {.name = "far-namespace",
     .key = OPTION_NAMESPACE,
     .arg = "PATH",
     .doc = "Network namespace in which the far side is started (if not given, this one)"},
    {.name = "port",
     .key = OPTION_PORT,
     .arg = "N",
     .doc = "Start no far side: another program answers on this port"},
    {.name = "wait",
     .key = OPTION_WAIT,
     .arg = "block|spin",
     .doc = "Both sides sleep until a datagram comes (the default), or poll in a loop"},
    {.name = "link_bits_per_s",
     .key = OPTION_LINK,
     .arg = "N",
     .doc = "Of emulated links, or of the token bucket that stands before the near side"},
    {0},
};

struct in_addr network_parse_address(const char *label, const char *text) {
    struct in_addr address;
    if (inet_pton(AF_INET, text, &address) != 1) {
        refuse("%s'%s' is not an IPv4 address; give one like 10.0.0.1", label, text);
    }
    return address;
}

static bool parse_spins(const char *text) {
    const bool spins = strcmp(text, "spin") == 0;
    if (!spins && strcmp(text, "block") != 0) {
        refuse("--wait '%s' is neither block nor spin; give one of them", text);
    }
    return spins;
}

static error_t parse_option(int key, char *text, struct argp_state *state) {
    (void)state;
    switch (key) {
    case OPTION_NEAR:
        network.near = network_parse_address("--near-address ", text);
        return 0;
    case OPTION_FAR:
        network.far = network_parse_address("--far-address ", text);
        return 0;
    case OPTION_NAMESPACE:
        network.far_namespace = text;
        return 0;
    case OPTION_PORT:
        network.port = (uint16_t)parse_number("--port ", text, strlen(text), 1, UINT16_MAX);
        return 0;
    case OPTION_WAIT:
        network.spins = parse_spins(text);
        return 0;
    case OPTION_LINK:
        network.link_bits_per_s =
            parse_number("--link_bits_per_s ", text, strlen(text), 0, UINT64_MAX);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp network_argp = {.options = options, .parser = parse_option};

static void enter(int file, const char *name) {
    if (setns(file, CLONE_NEWNET) != 0) {
        cannot_run("the network namespace %s cannot be entered (%s); it takes CAP_SYS_ADMIN in "
                   "the user namespace that owns it",
                   name, strerror(errno));
    }
}

void network_enter(const char *path) {
    if (!path) {
        return;
    }
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        refuse("%s cannot be opened (%s); give the file of a network namespace", path,
               strerror(errno));
    }
    enter(file, path);
    close(file);
}

void network_return(void) {
    if (network.far_namespace) {
        enter(near_namespace, "of the near side");
    }
}

/* Whether an interface of this namespace has the address, and which. */
static bool find_interface(struct in_addr address, struct network_device *device) {
    struct ifaddrs *all = NULL;
    if (getifaddrs(&all) != 0) {
        cannot_run("the addresses of this host are unknown (%s)", strerror(errno));
    }
    bool is_found = false;
    for (const struct ifaddrs *one = all; one && !is_found; one = one->ifa_next) {
        if (!one->ifa_addr || one->ifa_addr->sa_family != AF_INET) {
            continue;
        }
        struct sockaddr_in own;
        memcpy(&own, one->ifa_addr, sizeof own);
        if (own.sin_addr.s_addr == address.s_addr) {
            is_found = true;
            device->is_loopback = one->ifa_flags & IFF_LOOPBACK;
            snprintf(device->name, sizeof device->name, "%s", one->ifa_name);
        }
    }
    freeifaddrs(all);
    return is_found;
}

static bool is_loopback(struct in_addr address) {
    return ntohl(address.s_addr) >> 24 == IN_LOOPBACKNET;
}

bool network_is_own(struct in_addr address) {
    struct network_device device;
    return is_loopback(address) || find_interface(address, &device);
}

/* Virtual interfaces have no such setting. */
static void look_at_interrupts(struct network_device *device) {
    struct ethtool_coalesce coalesce = {.cmd = ETHTOOL_GCOALESCE};
    struct ifreq request = {.ifr_data = (char *)&coalesce};
    memcpy(request.ifr_name, device->name, sizeof request.ifr_name);
    const int socket_of_host = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    device->has_interrupt_delay = ioctl(socket_of_host, SIOCETHTOOL, &request) == 0;
    device->interrupt_delay_ns = UINT64_C(1000) * coalesce.rx_coalesce_usecs;
    close(socket_of_host);
}

/* What is sent to an own address never leaves the loopback interface, whichever has the address. */
static bool look_at_device(struct in_addr own, struct in_addr other,
                           struct network_device *device) {
    if (network_is_own(other)) {
        *device = (struct network_device){.name = "lo", .is_loopback = true};
    } else if (!find_interface(own, device)) {
        return false;
    }
    struct ifreq request = {0};
    memcpy(request.ifr_name, device->name, sizeof request.ifr_name);
    const int asked = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const bool is_told = ioctl(asked, SIOCGIFMTU, &request) == 0;
    close(asked);
    device->mtu_bytes = is_told ? (uint64_t)request.ifr_mtu : 0;
    look_at_interrupts(device);
    return is_told;
}

/* In the namespace of the side. */
static void look_at_side(enum network_side side, struct in_addr own, struct in_addr other) {
    sides[side].snmp = open("/proc/thread-self/net/snmp", O_RDONLY | O_CLOEXEC);
    sides[side].dev = open("/proc/thread-self/net/dev", O_RDONLY | O_CLOEXEC);
    sides[side].has_device = look_at_device(own, other, &sides[side].device);
}

/* The own address from which the far side is reached; nothing is sent. */
static struct in_addr find_near(struct in_addr far) {
    const struct sockaddr_in there = {.sin_family = AF_INET, .sin_addr = far, .sin_port = 1};
    struct sockaddr_in here = {0};
    socklen_t length = sizeof here;
    const int way = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (way < 0 || connect(way, (const struct sockaddr *)&there, sizeof there) != 0 ||
        getsockname(way, (struct sockaddr *)&here, &length) != 0) {
        cannot_run("there is no way to the far side (%s); check its address and the routes",
                   strerror(errno));
    }
    close(way);
    return here.sin_addr;
}

const struct network *network_asked(void) {
    return &network;
}

void network_open(void) {
    if (!network.far.s_addr) {
        refuse("--far-address is missing; give the address of the far side");
    }
    if (network.port && network.far_namespace) {
        refuse("--port is of a far side that somebody else started, and --far-namespace of one to "
               "start; leave one out");
    }
    if (!network.near.s_addr) {
        network.near = find_near(network.far);
    } else if (!network_is_own(network.near)) {
        refuse("--near-address is not an address of this host; give one that is");
    }
    near_namespace = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    look_at_side(NETWORK_NEAR, network.near, network.far);
    if (!network.port) {
        network_enter(network.far_namespace);
        if (!network_is_own(network.far)) {
            refuse("--far-address is not an address of the far side; give one that is");
        }
        look_at_side(NETWORK_FAR, network.far, network.near);
        network_return();
    }
}

bool network_count(enum network_side side, const char *protocol, const char *name,
                   uint64_t *value) {
    return proc_net_count(sides[side].snmp, protocol, name, value);
}

bool network_device(enum network_side side, struct network_device *device) {
    *device = sides[side].device;
    return sides[side].has_device;
}

bool network_traffic(enum network_side side, struct proc_net_traffic *traffic) {
    return proc_net_traffic(sides[side].dev, sides[side].device.name, traffic);
}

void network_observe_device(struct bench_report *report) {
    struct network_device device;
    if (!network_device(NETWORK_NEAR, &device)) {
        bench_observe_absent(report, "device_is_loopback");
        bench_observe_absent(report, "device_mtu_bytes");
        bench_observe_absent(report, "interrupt_delay_ns");
        return;
    }
    bench_observe_count(report, "device_is_loopback", device.is_loopback);
    bench_observe_count(report, "device_mtu_bytes", device.mtu_bytes);
    if (device.has_interrupt_delay) {
        bench_observe_count(report, "interrupt_delay_ns", device.interrupt_delay_ns);
    } else {
        bench_observe_absent(report, "interrupt_delay_ns");
    }
}

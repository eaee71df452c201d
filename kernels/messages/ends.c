#define _GNU_SOURCE
#include "ends.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"
#include "crew.h"

/* Between virtual interfaces that nobody else has: one of these for each connection. */
enum { TYPE_FIRST = 0xe000, TYPES = 0x1000 };

const char *const carrier_words[] = {
    [CARRIER_RINGS] = "rings",         [CARRIER_XDP] = "xdp",
    [CARRIER_PACKET] = "packet",       [CARRIER_UDP] = "udp",
    [CARRIER_MEMORY] = "memory",       [CARRIER_TCP] = "tcp",
    [CARRIER_TCP_NAGLE] = "tcp-nagle", NULL,
};

_Noreturn static void lack(const char *what, const char *remedy) {
    cannot_run("%s cannot be opened here (%s); %s", what, strerror(errno), remedy);
}

/* --- UDP. */

static void open_udp(const struct network *network, struct ends *ends) {
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr = network->near};
    struct sockaddr_in there = {.sin_family = AF_INET, .sin_addr = network->far};
    ends->near.socket = udp_carrier_bind(&here);
    network_enter(network->far_namespace);
    ends->far.socket = udp_carrier_bind(&there);
    network_return();
    if (ends->near.socket >= 0 && ends->far.socket >= 0) {
        ends->near.carrier = udp_carrier_join(ends->near.socket, &there);
        ends->far.carrier = udp_carrier_join(ends->far.socket, &here);
    }
    if (!ends->near.carrier || !ends->far.carrier) {
        lack("a pair of UDP sockets", "free ports at both addresses, or check the limits");
    }
}

/* --- Shared memory. */

static void open_memory(const struct network *network, struct ends *ends) {
    void *shared = crew_share(memory_carrier_bytes(), "messages");
    ends->near.carrier = memory_carrier_open(shared, true, !network->spins);
    ends->far.carrier = memory_carrier_open(shared, false, !network->spins);
    if (!ends->near.carrier || !ends->far.carrier) {
        lack("shared memory", "free memory");
    }
}

/* --- Ethernet. */

static void look_at_interfaces(const struct network *network, uint64_t connection,
                               struct ethernet *near, struct ethernet *far) {
    struct network_device near_device;
    struct network_device far_device;
    if (!network->far_namespace || !network_device(NETWORK_NEAR, &near_device) ||
        !network_device(NETWORK_FAR, &far_device) || near_device.is_loopback) {
        refuse("Ethernet frames go between two hosts, and the far one is this; give "
               "--far-namespace, or take udp, tcp or memory");
    }
    bool is_there = ethernet_look(near_device.name, &near->interface, near->here);
    network_enter(network->far_namespace);
    is_there = is_there && ethernet_look(far_device.name, &far->interface, far->here);
    network_return();
    if (!is_there) {
        lack("the interfaces", "check that both hosts have one");
    }
    memcpy(near->there, far->here, sizeof near->there);
    memcpy(far->there, near->here, sizeof far->there);
    /* A link that is shaped is shaped by the queue in front of the near side. */
    near->type = far->type = (uint16_t)(TYPE_FIRST + connection % TYPES);
    near->bypasses_queue = far->bypasses_queue = network->link_bits_per_s == 0;
}

static struct carrier *open_frames(enum carrier_word word, const struct ethernet *ethernet,
                                   size_t frames) {
    switch (word) {
    case CARRIER_RINGS:
        return rings_carrier_open(ethernet, frames);
    case CARRIER_XDP:
        return xdp_carrier_open(ethernet, frames);
    case CARRIER_PACKET:
        return packet_carrier_open(ethernet);
    default:
        errno = EOPNOTSUPP;
        return NULL;
    }
}

static void open_ethernet(enum carrier_word word, const struct network *network, size_t frames,
                          struct ends *ends) {
    struct ethernet near = {0};
    struct ethernet far = {0};
    look_at_interfaces(network, ends->connection, &near, &far);
    if (word == CARRIER_XDP && !near.bypasses_queue) {
        refuse("--carrier=xdp passes by what shapes the link; give rings, packet, udp or tcp");
    }
    ends->near.carrier = open_frames(word, &near, frames);
    network_enter(network->far_namespace);
    ends->far.carrier = ends->near.carrier ? open_frames(word, &far, frames) : NULL;
    const int error = errno;
    network_return();
    errno = error;
    if (ends->near.carrier && ends->far.carrier) {
        return;
    }
    if (word == CARRIER_XDP) {
        lack(
            "a pair of AF_XDP sockets",
            "they take root's CAP_BPF and CAP_NET_ADMIN, outside of any user namespace, and AF_XDP "
            "in the kernel (CONFIG_XDP_SOCKETS, Linux 5.9); or take rings");
    }
    lack(word == CARRIER_RINGS ? "rings of Ethernet frames" : "a socket for Ethernet frames",
         "it takes CAP_NET_RAW in the network namespace, and packet sockets in the kernel "
         "(CONFIG_PACKET)");
}

/* --- TCP. */

static void set_nodelay(int socket, bool on) {
    const int value = on;
    if (setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &value, sizeof value) != 0) {
        lack("a TCP connection without delay", "check the network between");
    }
}

static void open_tcp(const struct network *network, bool nodelay, struct ends *ends) {
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr = network->near};
    struct sockaddr_in there = {.sin_family = AF_INET, .sin_addr = network->far};
    socklen_t length = sizeof there;
    ends->near.socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    network_enter(network->far_namespace);
    const int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    network_return();
    if (ends->near.socket < 0 || listening < 0 ||
        bind(ends->near.socket, (const struct sockaddr *)&here, sizeof here) != 0 ||
        bind(listening, (const struct sockaddr *)&there, sizeof there) != 0 ||
        listen(listening, 1) != 0 ||
        getsockname(listening, (struct sockaddr *)&there, &length) != 0 ||
        connect(ends->near.socket, (const struct sockaddr *)&there, sizeof there) != 0 ||
        (ends->far.socket = accept4(listening, NULL, NULL, SOCK_CLOEXEC)) < 0) {
        lack("a TCP connection", "free ports at both addresses, or check the limits");
    }
    close(listening);
    set_nodelay(ends->near.socket, nodelay);
    set_nodelay(ends->far.socket, nodelay);
}

struct ends ends_open(enum carrier_word word, const struct network *network, size_t frames) {
    struct ends ends = {.near.socket = -1, .far.socket = -1};
    if (getrandom(&ends.connection, sizeof ends.connection, 0) != sizeof ends.connection) {
        lack("a random number", "check what forbids getrandom()");
    }
    switch (word) {
    case CARRIER_UDP:
        open_udp(network, &ends);
        break;
    case CARRIER_MEMORY:
        open_memory(network, &ends);
        break;
    case CARRIER_TCP:
    case CARRIER_TCP_NAGLE:
        open_tcp(network, word == CARRIER_TCP, &ends);
        break;
    case CARRIER_RINGS:
    case CARRIER_XDP:
    case CARRIER_PACKET:
        open_ethernet(word, network, frames, &ends);
        break;
    }
    return ends;
}

void end_let_go(struct end *end) {
    if (end->carrier) {
        end->carrier->methods->close(end->carrier);
    } else {
        close(end->socket);
    }
    *end = (struct end){.socket = -1};
}

void end_open_channel(const struct end *end, uint64_t connection, bool spins, const char *peer,
                      bool is_waited_for, struct channel *channel) {
    if (!end->carrier) {
        channel_open_stream(channel, end->socket, spins);
        return;
    }
    const struct endpoint_options options = {
        .peer = peer,
        .connection = connection,
        .sleeps = !spins,
        .silent_ns = is_waited_for ? 0 : MESSAGES_SILENT_EVER,
    };
    struct endpoint *endpoint = endpoint_open(end->carrier, &options);
    if (!endpoint || !channel_open_messages(channel, endpoint, spins)) {
        cannot_run("there is no memory for messages; free some");
    }
}

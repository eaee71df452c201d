/* A request over TCP, written in one part or in several, and its answer. The far side answers when
 * it has the whole request, so that the last part's wait is in the time. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "bench.h"
#include "companion.h"
#include "cpus.h"
#include "network.h"
#include "offload.h"
#include "server.h"

enum { KEY_REQUEST, KEY_WRITES, KEY_NODELAY, KEY_OFFLOAD, KEYS };
enum { REQUEST_BYTES_MOST = 1 << 24, WRITES_MOST = 1 << 16 };
enum { CPUS_WANTED = 2, ANSWER_LIMIT_S = 5 };

/* The request's last bytes are its tag, and the answer is the tag. */
struct exchange {
    int socket;
    unsigned char *request;
    size_t bytes;
    size_t part_bytes;
};

/* Where counters stood before the point. */
static struct {
    uint64_t served_bytes;
    uint64_t delayed_acks;
    struct proc_net_traffic near;
    bool has_delayed_acks;
    bool has_traffic;
} before;

static const struct network *network;
static struct network_device device;
static struct exchange exchange;
static struct sockaddr_in there;
static unsigned char *request;
static int netstat = -1; /* of the far host */
static uint64_t tag;
static uint64_t answer;
static uint64_t transfers;
static uint64_t wrong;
static int error;

BENCH_TIMED static void timed_request(const void *state) {
    const struct exchange *own = state;
    for (size_t done = 0; done < own->bytes;) {
        const size_t left = own->part_bytes - done % own->part_bytes;
        const ssize_t length = send(own->socket, own->request + done, left, MSG_NOSIGNAL);
        if (length < 0) {
            error = errno;
            return;
        }
        done += (size_t)length;
    }
    const ssize_t length = recv(own->socket, &answer, sizeof answer, MSG_WAITALL);
    if (length != sizeof answer) {
        error = length < 0 ? errno : ECONNRESET;
    }
}

static void make_ready(void) {
    tag++;
    memcpy(exchange.request + exchange.bytes - TAG_BYTES, &tag, sizeof tag);
}

static void finish(const void *state) {
    (void)state;
    companions_watch();
    if (error) {
        refuse("a request of %zu bytes was not answered (%s); check the network between the sides",
               exchange.bytes, strerror(error));
    }
    transfers++;
    wrong += answer != tag;
    make_ready();
}

static const struct bench_key keys[] = {
    [KEY_REQUEST] = {.name = "request_bytes"},
    [KEY_WRITES] = {.name = "writes"},
    [KEY_NODELAY] = {.name = "nodelay"},
    [KEY_OFFLOAD] = {.name = "offload"},
    [KEYS] = {0},
};

static const struct bench_method methods[] = {
    {.name = "request", .keys = (1 << KEYS) - 1},
    {0},
};

static void accept_point(const struct bench_point *point) {
    const uint64_t bytes = point->values[KEY_REQUEST];
    const uint64_t writes = point->values[KEY_WRITES];
    if (writes < 1 || writes > WRITES_MOST || bytes > REQUEST_BYTES_MOST || bytes % writes != 0 ||
        bytes / writes < TAG_BYTES) {
        refuse("request_bytes=%" PRIu64 " cannot be written in writes=%" PRIu64 " equal parts of "
               "%d bytes or more; give at most %d bytes and %d writes that fit",
               bytes, writes, TAG_BYTES, REQUEST_BYTES_MOST, WRITES_MOST);
    }
    if (point->values[KEY_NODELAY] > 1 || point->values[KEY_OFFLOAD] > 1) {
        refuse("nodelay=%" PRIu64 " or offload=%" PRIu64 " is neither 0 nor 1; give one of them",
               point->values[KEY_NODELAY], point->values[KEY_OFFLOAD]);
    }
    if (point->loops != 1) {
        refuse("loops=%" PRIu64 " is not 1, and each exchange is a sample; give loops=1",
               point->loops);
    }
}

static struct bench_buffers open_network(const struct bench_settings *settings) {
    int cpus[CPUS_WANTED];
    tag = settings->seed;
    network = network_asked();
    network_open();
    if (!network->far_namespace) {
        refuse("--far-namespace is missing, and segmentation is not switched at an interface that "
               "others use; give a network of one's own");
    }
    if (cpus_find(cpus, CPUS_WANTED) < CPUS_WANTED) {
        cannot_run("this process may use 1 CPU, and both sides need one each; give it two");
    }
    if (!network_device(NETWORK_NEAR, &device)) {
        cannot_run("the interface of the near side is unknown; check its address");
    }
    request = calloc(1, REQUEST_BYTES_MOST);
    if (!request) {
        cannot_run("there is no memory for a request; free some");
    }
    there = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = network->far};
    network_enter(network->far_namespace);
    netstat = open("/proc/thread-self/net/netstat", O_RDONLY | O_CLOEXEC);
    const int listening = server_listen(&there);
    network_return();
    server_start(listening, cpus[1]);
    cpus_pin(cpus[0]);
    return (struct bench_buffers){0};
}

/* A connection for each point: what TCP has learned in another one is not in it. */
static int connect_to_far_side(bool nodelay) {
    const int on = nodelay;
    const struct timeval limit = {.tv_sec = ANSWER_LIMIT_S};
    const int near = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (near < 0 || setsockopt(near, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0 ||
        setsockopt(near, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) != 0 ||
        connect(near, (const struct sockaddr *)&there, sizeof there) != 0) {
        refuse("the far side cannot be reached (%s); check addresses and limits", strerror(errno));
    }
    return near;
}

static struct bench_task prepare(const struct bench_point *point) {
    offload_set(device.name, point->values[KEY_OFFLOAD] == 1);
    transfers = 0;
    wrong = 0;
    error = 0;
    before.served_bytes = server_bytes();
    server_expect(point->values[KEY_REQUEST]);
    exchange = (struct exchange){
        .socket = connect_to_far_side(point->values[KEY_NODELAY] == 1),
        .request = request,
        .bytes = point->values[KEY_REQUEST],
        .part_bytes = point->values[KEY_REQUEST] / point->values[KEY_WRITES],
    };
    memset(request, 0x55, exchange.bytes);
    make_ready();
    before.has_delayed_acks =
        proc_net_count(netstat, "TcpExt", "DelayedACKs", &before.delayed_acks);
    before.has_traffic = network_traffic(NETWORK_NEAR, &before.near);
    return (struct bench_task){
        .timed = timed_request,
        .state = &exchange,
        .bytes_declared = exchange.bytes,
        .between = finish,
    };
}

static void observe_socket(struct bench_report *report) {
    int nodelay = 0;
    struct tcp_info info = {0};
    socklen_t length = sizeof nodelay;
    if (getsockopt(exchange.socket, IPPROTO_TCP, TCP_NODELAY, &nodelay, &length) == 0) {
        bench_observe_count(report, "tcp_nodelay", nodelay != 0);
    } else {
        bench_observe_absent(report, "tcp_nodelay");
    }
    length = sizeof info;
    if (getsockopt(exchange.socket, IPPROTO_TCP, TCP_INFO, &info, &length) == 0) {
        bench_observe_count(report, "tcp_retransmits", info.tcpi_total_retrans);
    } else {
        bench_observe_absent(report, "tcp_retransmits");
    }
}

static void observe_hosts(struct bench_report *report) {
    struct proc_net_traffic near;
    uint64_t delayed_acks = 0;
    if (before.has_delayed_acks &&
        proc_net_count(netstat, "TcpExt", "DelayedACKs", &delayed_acks)) {
        bench_observe_count(report, "delayed_acks", delayed_acks - before.delayed_acks);
    } else {
        bench_observe_absent(report, "delayed_acks");
    }
    if (before.has_traffic && network_traffic(NETWORK_NEAR, &near)) {
        bench_observe_count(report, "interface_packets_sent",
                            near.sent_packets - before.near.sent_packets);
    } else {
        bench_observe_absent(report, "interface_packets_sent");
    }
    bench_observe_count(report, "device_mtu_bytes", device.mtu_bytes);
}

static void check(const struct bench_point *point, struct bench_report *report) {
    int cpus[CPUS_WANTED];
    (void)point;
    companions_watch();
    if (wrong > 0) {
        bench_fail(report, "%" PRIu64 " of %" PRIu64 " answers were not those of their requests",
                   wrong, transfers);
    }
    bench_observe_count(report, "transfers", transfers);
    bench_observe_count(report, "bytes_sent", transfers * exchange.bytes);
    bench_observe_count(report, "bytes_received", server_bytes() - before.served_bytes);
    bench_observe_count(report, "segmentation_offload", offload_is_set(device.name));
    observe_socket(report);
    observe_hosts(report);
    bench_observe_count(report, "affinity_cpus", cpus_find(cpus, CPUS_WANTED));
    close(exchange.socket);
}

const struct bench_kernel bench_kernel = {
    .name = "request",
    .question = "How long does a request over TCP take until its answer arrives?",
    .argp = &network_argp,
    .keys = keys,
    .methods = methods,
    .accept = accept_point,
    .open = open_network,
    .prepare = prepare,
    .check = check,
    .close = companions_end,
};

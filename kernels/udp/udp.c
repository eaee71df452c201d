/* How long a datagram takes to a far side and back: with a socket for each round trip or one for
 * all, asleep or spinning, over whatever network the measurer made. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "clock.h"
#include "companion.h"
#include "cpus.h"
#include "echo.h"
#include "network.h"
#include "payload.h"
#include "schedule.h"
#include "switches.h"

enum { KEY_PAYLOAD, KEY_GAP };
enum { ONE_SOCKET, SOCKET_EACH, OPEN, OPEN_FROM_SEND };
enum { OPTION_SWITCHES = 0x100, OPTION_SWITCH_NAMESPACE, OPTION_SERVE, OPTION_BIND };
enum { SWITCHES_PLANNED_MOST = 4, CPUS_WANTED = 3, SERVED_PORT = 16385, US_PER_S = 1000000 };

/* A datagram is lost where two ticks pass without its answer. A timer that ticks costs a round
 * trip no system call of its own, unlike a time-out of the socket. */
enum { TICK_US = 250000, TICKS_LOST = 2, LOST_IN_A_ROW = 8, LOST_PERCENT = 1 };
#define LOST_NS UINT64_C(500000000)
#define NS_PER_S UINT64_C(1000000000)
#define GAP_NS_MOST (60 * NS_PER_S)

/* What the last round trip did. */
struct result {
    ssize_t length; /* of the answer; below 0: there was none */
    int error;      /* of what failed; 0: nothing did */
    uint64_t sockets;
};

struct trip {
    int socket;   /* of all round trips, or -1 */
    int far;      /* the far side's, where this thread plays it too, or -1 */
    int flags;    /* of each receive */
    size_t bytes; /* of the payload */
    struct sockaddr_in here;
    struct sockaddr_in there;
};

static struct {
    const char *switch_namespace;
    uint64_t switches;
    bool is_emulated;
    bool serves;
    struct in_addr bind;
} asked;

static const struct network *network;
static uint64_t seed;
static int far_in_turn = -1; /* the far side's socket, where this thread plays it too */
static struct sockaddr_in there;

static struct trip trip;
static struct result result;
static struct payload sent;
static struct payload received;
static uint32_t number; /* of the datagram that is or will be on its way */
static struct tally tally;
static struct schedule schedule;
static uint64_t gap_ns;
static uint64_t round_trips_most;
static uint64_t lost_in_a_row;
static bool has_buffer_errors;
static uint64_t buffer_errors; /* before the point */
static volatile sig_atomic_t ticks;

static void tick(int signal) {
    (void)signal;
    ticks++;
}

static void set_ticks(bool on) {
    const struct timeval every = {.tv_usec = on ? TICK_US : 0};
    const struct itimerval timer = {.it_interval = every, .it_value = every};
    const struct sigaction action = {.sa_handler = tick}; /* a tick ends a receive */
    ticks = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* At a port that the system chooses. */
static inline int open_socket(const struct sockaddr_in *here) {
    const int near = socket(AF_INET, SOCK_DGRAM, 0);
    if (near >= 0 && bind(near, (const struct sockaddr *)here, sizeof *here) != 0) {
        close(near);
        return -1;
    }
    return near;
}

static inline void go_round(const struct trip *trip, int near) {
    if (ticks >= TICKS_LOST) {
        return; /* given up: nothing is sent any more */
    }
    if (sendto(near, sent.bytes, trip->bytes, 0, (const struct sockaddr *)&trip->there,
               sizeof trip->there) < 0) {
        result.error = errno;
        return;
    }
    while (trip->far >= 0 && ticks < TICKS_LOST && !echo_answer(trip->far, trip->flags)) {
    }
    while (ticks < TICKS_LOST && result.length < 0) {
        result.length = recv(near, received.bytes, sizeof received.bytes, trip->flags);
    }
}

BENCH_TIMED static void timed_one_socket(const void *state) {
    const struct trip *trip = state;
    go_round(trip, trip->socket);
}

BENCH_TIMED static void timed_socket_each(const void *state) {
    const struct trip *trip = state;
    const int near = open_socket(&trip->here);
    if (near < 0) {
        result.error = errno;
        return;
    }
    result.sockets++;
    go_round(trip, near);
    close(near);
}

static int open_near(void) {
    const int near = open_socket(&trip.here);
    if (near < 0) {
        refuse("no socket can be opened on the near side (%s); see its address and the limits",
               strerror(errno));
    }
    result.sockets++;
    return near;
}

/* A full queue loses a datagram; all else is no result. */
static bool is_loss(int error) {
    return error == 0 || error == ENOBUFS || error == EAGAIN || error == EINTR;
}

static void lose(void) {
    tally.lost++;
    lost_in_a_row++;
    companions_watch();
    while (trip.far >= 0 && echo_answer(trip.far, MSG_DONTWAIT)) {
    }
    if (trip.socket >= 0) { /* another port: what comes too late finds it no more */
        close(trip.socket);
        trip.socket = open_near();
    }
}

static bool is_given_up(void) {
    return lost_in_a_row >= LOST_IN_A_ROW || tally.lost * 100 > LOST_PERCENT * round_trips_most;
}

static void pause_for(uint64_t pause_ns) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const uint64_t until_ns = (uint64_t)until.tv_nsec + pause_ns;
    until.tv_sec += (time_t)(until_ns / NS_PER_S);
    until.tv_nsec = (long)(until_ns % NS_PER_S);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
    }
}

static void make_ready(void) {
    payload_make(&sent, trip.bytes, seed, ++number);
    result.length = -1;
    result.error = 0;
}

static void finish(const void *state) {
    (void)state;
    if (is_given_up()) {
        return;
    }
    if (!is_loss(result.error)) {
        refuse("a datagram of %zu bytes could not be sent (%s); see addresses, MTU and limits",
               trip.bytes, strerror(result.error));
    }
    if (result.length >= 0) {
        lost_in_a_row = 0;
        tally_answer(&tally, number, &sent, trip.bytes, &received, result.length);
    } else {
        lose();
    }
    make_ready();
    if (is_given_up()) {
        ticks = TICKS_LOST;
        return;
    }
    if (gap_ns > 0) {
        pause_for(gap_ns);
    }
    ticks = 0;
}

static void keep_schedule(const void *state, struct sample *samples, size_t count) {
    schedule_run(state, samples, count);
}

static const struct bench_key keys[] = {
    [KEY_PAYLOAD] = {.name = "payload_bytes"},
    [KEY_GAP] = {.name = "gap_ns"},
    {0},
};

static const struct bench_method methods[] = {
    [ONE_SOCKET] = {.name = "one-socket", .keys = 1 << KEY_PAYLOAD | 1 << KEY_GAP},
    [SOCKET_EACH] = {.name = "socket-each", .keys = 1 << KEY_PAYLOAD | 1 << KEY_GAP},
    [OPEN] = {.name = "open", .keys = 1 << KEY_PAYLOAD | 1 << KEY_GAP},
    [OPEN_FROM_SEND] = {.name = "open-from-send", .keys = 1 << KEY_PAYLOAD | 1 << KEY_GAP},
    {0},
};

static bool is_open(const struct bench_point *point) {
    return point->method == OPEN || point->method == OPEN_FROM_SEND;
}

static void accept_point(const struct bench_point *point) {
    const uint64_t payload_bytes = point->values[KEY_PAYLOAD];
    const uint64_t gap = point->values[KEY_GAP];
    if (payload_bytes < PAYLOAD_LEAST_BYTES || payload_bytes > PAYLOAD_MOST_BYTES) {
        refuse("payload_bytes=%" PRIu64 " is not from %d to %d; give one that is", payload_bytes,
               PAYLOAD_LEAST_BYTES, PAYLOAD_MOST_BYTES);
    }
    if (gap > GAP_NS_MOST || (gap == 0 && is_open(point))) {
        refuse("gap_ns=%" PRIu64 " is not from %d to %" PRIu64 "; give one that is", gap,
               is_open(point), GAP_NS_MOST);
    }
    if (point->loops != 1) {
        refuse("loops=%" PRIu64 " is not 1, and each round trip is a sample; give loops=1",
               point->loops);
    }
}

static void be_far_side(const void *argument) {
    const int *far = argument;
    companion_ready(0);
    echo_run(*far, network->spins);
}

static void be_switches(const void *argument) {
    network_enter(asked.switch_namespace);
    switches_run(argument);
}

static void say_ready(void *context) {
    (void)context;
    companion_ready(0);
}

static void start_switches(int cpu) {
    const struct switches switches = {
        .count = (unsigned)asked.switches,
        .link_bits_per_s = network->link_bits_per_s,
        .parent = getpid(),
        .ready = say_ready,
    };
    companion_start("the emulated switches", cpu, be_switches, &switches);
}

/* Two that spin on one CPU would fight for it: where switches leave none for the far side, this
 * thread plays both sides, in turn. */
static void start_far_side(const int *cpus, size_t count) {
    if (count < 2) {
        cannot_run("this process may use %zu CPU, and both sides need one each; give it two",
                   count);
    }
    network_enter(network->far_namespace);
    const int far = echo_open(&there);
    network_return();
    if (asked.is_emulated && asked.switches > 0) {
        start_switches(cpus[1]);
    }
    if (asked.is_emulated && count < CPUS_WANTED) {
        far_in_turn = far;
        return;
    }
    companion_start("the far side", cpus[asked.is_emulated ? 2 : 1], be_far_side, &far);
    close(far); /* so that nothing is taken in when it has ended */
}

static struct bench_buffers open_network(const struct bench_settings *settings) {
    int cpus[CPUS_WANTED];
    const size_t count = cpus_find(cpus, CPUS_WANTED);
    seed = settings->seed;
    network_open();
    there = (struct sockaddr_in){
        .sin_family = AF_INET,
        .sin_addr = network->far,
        .sin_port = htons(network->port),
    };
    prctl(PR_SET_TIMERSLACK, 1UL); /* else a gap lasts 50 us longer than it is asked to */
    if (!network->port) {
        start_far_side(cpus, count);
    }
    cpus_pin(cpus[0]);
    return (struct bench_buffers){0};
}

static struct bench_task prepare(const struct bench_point *point) {
    tally = (struct tally){0};
    result = (struct result){0};
    lost_in_a_row = 0;
    gap_ns = point->values[KEY_GAP];
    round_trips_most = point->warm_up + point->samples;
    trip = (struct trip){
        .socket = -1,
        .far = far_in_turn,
        .flags = network->spins ? MSG_DONTWAIT : 0,
        .bytes = point->values[KEY_PAYLOAD],
        .here = {.sin_family = AF_INET, .sin_addr = network->near},
        .there = there,
    };
    if (point->method != SOCKET_EACH) {
        trip.socket = open_near();
    }
    has_buffer_errors = network_count(NETWORK_FAR, "Udp", "RcvbufErrors", &buffer_errors);
    struct bench_task task = {.state = &trip, .bytes_declared = 2 * trip.bytes};
    if (!is_open(point)) {
        task.timed = point->method == ONE_SOCKET ? timed_one_socket : timed_socket_each;
        task.between = finish;
        make_ready();
        set_ticks(true);
        return task;
    }
    if (far_in_turn >= 0) {
        cannot_run("an open schedule through emulated switches needs 3 CPUs; take ping-pong");
    }
    schedule = (struct schedule){
        .socket = trip.socket,
        .spins = network->spins,
        .from_send = point->method == OPEN_FROM_SEND,
        .interval_ns = gap_ns,
        .lost_ns = LOST_NS,
        .there = there,
        .bytes = trip.bytes,
        .seed = seed,
        .number = &number,
        .tally = &tally,
    };
    task.state = &schedule;
    task.series = keep_schedule;
    return task;
}

static void observe_network(struct bench_report *report) {
    struct network_device device;
    uint64_t errors = 0;
    if (network_device(NETWORK_NEAR, &device)) {
        bench_observe_count(report, "device_is_loopback", device.is_loopback);
        bench_observe_count(report, "device_mtu_bytes", device.mtu_bytes);
    } else {
        bench_observe_absent(report, "device_is_loopback");
        bench_observe_absent(report, "device_mtu_bytes");
    }
    if (has_buffer_errors && network_count(NETWORK_FAR, "Udp", "RcvbufErrors", &errors)) {
        bench_observe_count(report, "receive_buffer_errors", errors - buffer_errors);
    } else {
        bench_observe_absent(report, "receive_buffer_errors");
    }
}

static void check(const struct bench_point *point, struct bench_report *report) {
    set_ticks(false);
    if (trip.socket >= 0) {
        close(trip.socket);
    }
    companions_watch();
    if (tally.wrong > 0) {
        bench_fail(report, "%s (%" PRIu64 " wrong answers)", tally.first_wrong, tally.wrong);
    }
    if (is_given_up()) {
        bench_fail(report,
                   "%" PRIu64 " datagrams were not answered, of %" PRIu64 " planned, and %d in a "
                   "row or 1 %% are too many; see whether the far side runs and which queue drops",
                   tally.lost, round_trips_most, LOST_IN_A_ROW);
    }
    bench_observe_count(report, "round_trips", tally.answered);
    bench_observe_count(report, "datagrams_lost", tally.lost);
    bench_observe_count(report, "sockets_opened", result.sockets);
    bench_observe_count(report, "spinning", network->spins);
    bench_observe_count(report, "emulated_switches", asked.switches);
    bench_observe_count(report, "open_schedule", is_open(point));
    observe_network(report);
}

static const struct argp_option options[] = {
    {.name = "emulated-switches",
     .key = OPTION_SWITCHES,
     .arg = "N",
     .doc = "Switches of our own between the sides, 0 to 4, one behind the other"},
    {.name = "switch-namespace",
     .key = OPTION_SWITCH_NAMESPACE,
     .arg = "PATH",
     .doc = "Network namespace with their interfaces: s1a, s1b, s2a and so on"},
    {.name = "serve",
     .key = OPTION_SERVE,
     .doc = "Measure nothing: be the far side of somebody else, at --bind and --port (16385)"},
    {.name = "bind", .key = OPTION_BIND, .arg = "ADDRESS", .doc = "Of this host, for --serve"},
    {0},
};

static void look_at_options(void) {
    network = network_asked();
    if (asked.serves != (asked.bind.s_addr != 0)) {
        refuse("--serve and --bind go together, and 0.0.0.0 is no address of a host; give both");
    }
    if (asked.switches > 0 && !asked.switch_namespace) {
        refuse("--switch-namespace is missing; give that of the emulated switches");
    }
    if (asked.serves) {
        const struct sockaddr_in address = {
            .sin_family = AF_INET,
            .sin_addr = asked.bind,
            .sin_port = htons(network->port ? network->port : SERVED_PORT),
        };
        echo_serve(address, network->spins);
    }
}

static error_t parse_option(int key, char *text, struct argp_state *state) {
    (void)state;
    switch (key) {
    case OPTION_SWITCHES:
        asked.is_emulated = true;
        asked.switches =
            parse_number("--emulated-switches ", text, strlen(text), 0, SWITCHES_PLANNED_MOST);
        return 0;
    case OPTION_SWITCH_NAMESPACE:
        asked.switch_namespace = text;
        return 0;
    case OPTION_SERVE:
        asked.serves = true;
        return 0;
    case OPTION_BIND:
        asked.bind = network_parse_address("--bind ", text);
        return 0;
    case ARGP_KEY_END:
        look_at_options();
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{.argp = &network_argp}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse_option,
    .children = children,
};

const struct bench_kernel bench_kernel = {
    .name = "udp",
    .question = "How long does a datagram take to a far side and back?",
    .argp = &argp,
    .keys = keys,
    .methods = methods,
    .accept = accept_point,
    .open = open_network,
    .prepare = prepare,
    .check = check,
    .close = companions_end,
};

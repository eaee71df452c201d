#if !defined(MPI_OVER_MESSAGES)
#define _GNU_SOURCE
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "cannot_run.h"
#include "cpus.h"
#include "network.h"
#include "refuse.h"

enum { OUTPUT_BYTES = 1 << 16, PATH_BYTES = 128, RUNNING_LIMIT_MS = 5000 };

#if defined(OPEN_MPI)
static const char rank_variable[] = "OMPI_COMM_WORLD_RANK";
#else
static const char rank_variable[] = "PMI_RANK";
#endif

static int state_file = -1;
static int own_rank;
static char library[MPI_MAX_LIBRARY_VERSION_STRING];

static void report_state(int status, void *nothing) {
    (void)nothing;
    const struct rank_state state = {.rank = own_rank, .pid = getpid(), .exit_status = status};
    if (write(state_file, &state, sizeof state) != sizeof state) {
        perror("the launcher does not learn this rank's state");
    }
}

/* Past the library's program, which would take CPU time from the ranks to hand it on. */
static void write_like_launcher(const char *launched) {
    const char *const name = strrchr(launched, '/');
    const int folder = name ? (int)(name - launched) : 0;
    for (int standard = STDOUT_FILENO; standard <= STDERR_FILENO; standard++) {
        char path[PATH_BYTES];
        snprintf(path, sizeof path, "%.*s/%d", folder, launched, standard);
        const int file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
        if (file >= 0) {
            dup2(file, standard);
            close(file);
        }
    }
    state_file = open(launched, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (state_file < 0) {
        refuse("--launched %s cannot be opened (%s); leave this option to the launcher", launched,
               strerror(errno));
    }
}

static int rank_of_variable(int ranks) {
    const char *const text = getenv(rank_variable);
    if (!text) {
        refuse("%s is not set, so this process is no rank; leave --launched to the launcher",
               rank_variable);
    }
    return (int)parse_number("the rank ", text, strlen(text), 0, (uint64_t)ranks - 1);
}

#if defined(OPEN_MPI)
/* Its daemon has started the far ranks in the far host. */
static void enter_host(bool is_near) {
    if (is_near) {
        network_open();
    }
}
#else
/* UCX finds interfaces in /sys, which must be that of this namespace. */
static void mount_sys(void) {
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("sysfs", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0) {
        cannot_run("the far side cannot have a /sys of its own (%s); allow that mount in this "
                   "container",
                   strerror(errno));
    }
}

/* The kernel reports late that a new link is up, and UCX takes no other. */
static void wait_until_running(const char *interface) {
    const struct timespec pause = {.tv_nsec = 2000000};
    struct ifreq request = {0};
    const int file = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", interface);
    for (int waited = 0; waited < RUNNING_LIMIT_MS / 2; waited++) {
        if (ioctl(file, SIOCGIFFLAGS, &request) == 0 && request.ifr_flags & IFF_RUNNING) {
            close(file);
            return;
        }
        nanosleep(&pause, NULL);
    }
    cannot_run("the interface %s is not up after %d ms; make its link first", interface,
               RUNNING_LIMIT_MS);
}

/* All ranks are started in one host. */
static void enter_host(bool is_near) {
    struct network_device device;
    network_open();
    if (!network_device(is_near ? NETWORK_NEAR : NETWORK_FAR, &device)) {
        cannot_run("the interface between the hosts is not to be found; make its link first");
    }
    if (!is_near) {
        network_enter(network_asked()->far_namespace);
        mount_sys();
    }
    setenv("UCX_NET_DEVICES", device.name, 1);
    wait_until_running(device.name);
}
#endif

int world_near_ranks(int ranks) {
    return (ranks + 1) / 2;
}

int world_enter(const char *launched, int ranks, bool is_crowded) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    write_like_launcher(launched);
    const int rank = own_rank = rank_of_variable(ranks);
    report_state(RANK_STARTED, NULL);
    on_exit(report_state, NULL);
    int cpus[RANKS_MOST];
    const size_t count = cpus_find(cpus, (size_t)ranks);
    if (count < (size_t)ranks && !is_crowded) {
        cannot_run("rank %d was given %zu CPUs, and each of %d ranks needs its own; give them more",
                   rank, count, ranks);
    }
    if (network_asked()->far_namespace) {
        enter_host(rank < world_near_ranks(ranks));
    }
    int size = 0;
    int length = 0;
    MPI_Init(NULL, NULL);
    setvbuf(stdout, NULL, _IOFBF, OUTPUT_BYTES); /* a library may have taken the buffer away */
    MPI_Barrier(MPI_COMM_WORLD);
    /* Not before: threads of the library's own, which connect the ranks, would have to share the
     * CPU with one that polls without a pause. */
    cpus_pin(cpus[(size_t)rank % count]);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != ranks) {
        refuse("there are %d ranks instead of %d; let this program start the ranks", size, ranks);
    }
    MPI_Get_library_version(library, &length);
    library[strcspn(library, "\n,")] = 0;
    for (char *tab = strchr(library, '\t'); tab; tab = strchr(tab, '\t')) {
        *tab = ' ';
    }
    return rank;
}

const char *world_library(void) {
    return library;
}

#endif

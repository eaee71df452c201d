#if !defined(MPI_OVER_MESSAGES)
#define _GNU_SOURCE
#include "launch.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mpi.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cannot_run.h"
#include "cpus.h"
#include "network.h"
#include "refuse.h"
#include "world.h"

enum { WORDS_MOST = 4096, STACK_BYTES = 1 << 20, PATH_BYTES = 128, QUOTED_BYTES = 320 };
enum { NOT_FOUND = 127 };
enum { ALL_STARTED_LIMIT_MS = 60000, STARTER_END_LIMIT_MS = 1500 };

/* Full names first: the plain ones may be another library's. */
#if defined(OPEN_MPI)
static const char *const starters[] = {"mpiexec.openmpi", "orterun", NULL};
static const char package[] = "openmpi-bin";
#else
static const char *const starters[] = {"mpiexec.mpich", "mpiexec.hydra", NULL};
static const char package[] = "mpich";
#endif

static struct {
    int ranks;
    char *words[WORDS_MOST]; /* of the whole command line, up to a NULL */
    size_t count;
    char program[PATH_MAX];
    char *own; /* this process's own arguments, each ended by 0 */
    size_t own_bytes;
    int alive[2];      /* a pipe that hangs up when this process ends */
    int states[2];     /* a pipe of struct rank_state */
    int output;        /* a file: what the starter printed */
    int far_namespace; /* -1: there is none */
    int namespaces;    /* of its own, that what is started has */
    uid_t user;
    gid_t group;
} launch = {.far_namespace = -1};

static void add(const char *word) {
    if (launch.count + 1 >= WORDS_MOST) {
        refuse("more than %d arguments cannot be handed to the ranks; give fewer points",
               WORDS_MOST);
    }
    launch.words[launch.count++] = strdup(word);
}

__attribute__((format(printf, 1, 2))) static void add_made(const char *format, ...) {
    char word[PATH_BYTES];
    va_list values;
    va_start(values, format);
    vsnprintf(word, sizeof word, format, values);
    va_end(values);
    add(word);
}

static void read_own_arguments(void) {
    const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    size_t room = 1 << 16;
    launch.own = malloc(room);
    ssize_t got = 0;
    while (launch.own &&
           (got = read(file, launch.own + launch.own_bytes, room - launch.own_bytes)) > 0) {
        launch.own_bytes += (size_t)got;
        if (launch.own_bytes == room) {
            room *= 2;
            launch.own = realloc(launch.own, room);
        }
    }
    close(file);
    const ssize_t length = readlink("/proc/self/exe", launch.program, sizeof launch.program - 1);
    if (file < 0 || got < 0 || !launch.own || length < 0) {
        cannot_run("its own command line cannot be read (%s); mount /proc", strerror(errno));
    }
    launch.program[length] = 0;
}

/* All but the first word, which names the program. */
static void add_own_arguments(void) {
    const char *const end = launch.own + launch.own_bytes;
    const char *word = launch.own + strnlen(launch.own, launch.own_bytes) + 1;
    for (; word < end; word += strlen(word) + 1) {
        add(word);
    }
}

static void write_once(const char *path, const char *text) {
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0 || write(file, text, strlen(text)) < 0) {
        cannot_run("%s takes no '%s' (%s); allow user namespaces", path, text, strerror(errno));
    }
    close(file);
}

/* In the user namespace, of which this process is the first. */
static void be_root(void) {
    char map[64];
    write_once("/proc/self/setgroups", "deny");
    snprintf(map, sizeof map, "0 %u 1", launch.user);
    write_once("/proc/self/uid_map", map);
    snprintf(map, sizeof map, "0 %u 1", launch.group);
    write_once("/proc/self/gid_map", map);
}

/* What the libraries leave behind when they are killed is in memory that goes with the mount; and
 * each network namespace has its interfaces in a /sys of its own. Where a mount is refused, the
 * machine's own serves. */
static void mount_own(void) {
    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
    mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777");
    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
    if (launch.far_namespace >= 0) {
        mount("sysfs", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
    }
}

#if defined(OPEN_MPI)
/* Replaces ssh: the "host" is a namespace. The words after its name are for a shell, and those of
 * Open MPI 5 begin with assignments. Two ranks of Open MPI 5 on hosts of one name wait for each
 * other without end, so the far host has its own. */
static void write_agent(const char *path, const char *files) {
    const int agent = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    if (agent < 0 || dprintf(agent,
                             "#!/bin/sh\n"
                             "shift\n"
                             "exec nsenter --net=%s/%d unshare --uts "
                             "sh -c \"echo far >/proc/sys/kernel/hostname; $*\"\n",
                             files, launch.far_namespace) < 0) {
        cannot_run("%s cannot be written (%s); make room there", path, strerror(errno));
    }
    close(agent);
}

/* The library names its files after the host and the starter's process id, which is the same in
 * each run's namespace, and Open MPI 5 fails where such files exist. */
static void set_temporary_folder(const char *folder) {
    setenv("OMPI_MCA_orte_tmpdir_base", folder, 1); /* read by Open MPI 4 */
    setenv("PRTE_MCA_prte_tmpdir_base", folder, 1); /* read by Open MPI 5 */
}

static void add_starter(const char *files) {
    char folder[] = "/dev/shm/benchbook-mpi-XXXXXX";
    char agent[PATH_BYTES];
    if (!mkdtemp(folder)) {
        cannot_run("%s cannot be made (%s); make room there", folder, strerror(errno));
    }
    set_temporary_folder(folder);
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    for (const char *const *word = (const char *const[]){"--bind-to", "none", "--mca", "pml", "ob1",
                                                         "--mca", "btl", NULL};
         *word; word++) {
        add(*word);
    }
    if (launch.far_namespace < 0) {
        add("vader,self");
        add("-H");
        add_made("localhost:%d", launch.ranks);
        return;
    }
    char near[INET_ADDRSTRLEN];
    char far[INET_ADDRSTRLEN];
    inet_ntop(AF_INET, &network_asked()->near, near, sizeof near);
    inet_ntop(AF_INET, &network_asked()->far, far, sizeof far);
    snprintf(agent, sizeof agent, "%s/agent", folder);
    write_agent(agent, files);
    add("tcp,self");
    add("--mca");
    add("btl_tcp_if_include");
    add_made("%s/24", near);
    add("--mca");
    add("plm_rsh_agent");
    add(agent);
    add("-H");
    const int near_ranks = world_near_ranks(launch.ranks);
    /* Open MPI 5 finds no slot where this host is an address. */
    add_made("localhost:%d,%s:%d", near_ranks, far, launch.ranks - near_ranks);
}
#else
/* The ranks are pinned, so the library need not look at the machine: that takes 50 ms. */
static void add_starter(const char *files) {
    (void)files;
    setenv("HWLOC_COMPONENTS", "x86,stop", 0);
    if (launch.far_namespace >= 0) {
        setenv("MPIR_CVAR_NOLOCAL", "1", 1); /* no memory that both would share */
        setenv("UCX_TLS", "tcp,self", 1);
    }
}
#endif

static void make_words(const char *files) {
    add(starters[0]);
    add_starter(files);
    add("-n");
    add_made("%d", launch.ranks);
    add(launch.program);
    add_own_arguments();
    if (launch.far_namespace >= 0) {
        add_made("--far-namespace=%s/%d", files, launch.far_namespace);
    }
    add_made("--" LAUNCHED_OPTION "=%s/%d", files, launch.states[1]);
    launch.words[launch.count] = NULL;
}

_Noreturn static void be_starter(void) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    dup2(launch.output, STDOUT_FILENO);
    dup2(launch.output, STDERR_FILENO);
    for (const char *const *name = starters; *name; name++) {
        execvp(*name, launch.words);
    }
    _exit(NOT_FOUND);
}

/* The starter ended before a rank did. */
_Noreturn static void end_like(pid_t starter) {
    int how = 0;
    waitpid(starter, &how, 0);
    if (WIFEXITED(how) && WEXITSTATUS(how) == NOT_FOUND) {
        cannot_run("%s is not on PATH; install it (Debian: apt-get install %s)", starters[0],
                   package);
    }
    char words[QUOTED_BYTES] = "";
    const ssize_t got = pread(launch.output, words, sizeof words - 1, 0);
    for (ssize_t i = 0; i < got; i++) {
        words[i] = words[i] < ' ' ? ' ' : words[i];
    }
    refuse("%s ended with %s %d before its ranks did; it said: %s", starters[0],
           WIFSIGNALED(how) ? "signal" : "exit status",
           WIFSIGNALED(how) ? WTERMSIG(how) : WEXITSTATUS(how), words);
}

enum { STATES, STARTER, FIRST_RANK };

struct watched {
    struct pollfd files[FIRST_RANK + RANKS_MOST]; /* the pipe, and processes that may end */
    int started;
};

/* The near rank has all results: nothing waits until the library has shut itself down, which
 * takes longer than its start, and now and then never ends. */
static void take_states(struct watched *watched, pid_t starter) {
    struct rank_state state;
    while (read(launch.states[0], &state, sizeof state) == sizeof state) {
        struct pollfd *const rank = &watched->files[FIRST_RANK + state.rank];
        if (state.exit_status == RANK_STARTED) {
            watched->started++;
            rank->fd = (int)syscall(SYS_pidfd_open, state.pid, 0);
            rank->revents = rank->fd < 0 && errno == ESRCH ? POLLIN : 0;
        } else if (state.exit_status != EXIT_OK || state.rank == NEAR_RANK) {
            kill(starter, SIGKILL); /* its ranks go with it, in whichever namespace */
            waitpid(starter, NULL, 0);
            _exit(state.exit_status);
        } else {
            rank->fd = -1;
            rank->revents = 0;
        }
    }
}

/* The starter mostly says more of it. Open MPI 4.1 now and then waits on without end. */
static void let_starter_end(struct pollfd *process, pid_t starter) {
    if (poll(process, 1, STARTER_END_LIMIT_MS) > 0) {
        end_like(starter);
    }
}

_Noreturn static void wait_for_end(pid_t starter) {
    struct watched watched = {0};
    watched.files[STATES] = (struct pollfd){.fd = launch.states[0], .events = POLLIN};
    watched.files[STARTER] =
        (struct pollfd){.fd = (int)syscall(SYS_pidfd_open, starter, 0), .events = POLLIN};
    for (int rank = 0; rank < launch.ranks; rank++) {
        watched.files[FIRST_RANK + rank] = (struct pollfd){.fd = -1, .events = POLLIN};
    }
    fcntl(launch.states[0], F_SETFL, O_NONBLOCK);
    for (;;) {
        const bool is_partly_started = watched.started > 0 && watched.started < launch.ranks;
        const int ready = poll(watched.files, (nfds_t)(FIRST_RANK + launch.ranks),
                               is_partly_started ? ALL_STARTED_LIMIT_MS : -1);
        take_states(&watched, starter);
        if (ready == 0) {
            let_starter_end(&watched.files[STARTER], starter);
            refuse("only %d of %d ranks started within %d s; measure when the machine has less to "
                   "do",
                   watched.started, launch.ranks, ALL_STARTED_LIMIT_MS / 1000);
        }
        for (int rank = 0; ready > 0 && rank < launch.ranks; rank++) {
            if (watched.files[FIRST_RANK + rank].revents) {
                let_starter_end(&watched.files[STARTER], starter);
                refuse("rank %d was ended before its work was done; if nobody ended it, see "
                       "whether memory was short",
                       rank);
            }
        }
        if (ready > 0 && watched.files[STARTER].revents) {
            end_like(starter);
        }
    }
}

/* The first process of its namespace: when it ends, the kernel ends all others there. */
static int be_first(void *argument) {
    (void)argument;
    struct pollfd parent = {.fd = launch.alive[0]};
    close(launch.alive[1]);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (poll(&parent, 1, 0) != 0) {
        _exit(EXIT_FAILED);
    }
    if (launch.namespaces & CLONE_NEWUSER) {
        be_root();
    }
    if (launch.namespaces & CLONE_NEWNS) {
        mount_own();
    }
    /* By the /proc that is mounted now, whichever it is. */
    char self[32] = "";
    char files[PATH_BYTES];
    if (readlink("/proc/self", self, sizeof self - 1) < 0) {
        cannot_run("/proc is not mounted (%s); mount it", strerror(errno));
    }
    snprintf(files, sizeof files, "/proc/%s/fd", self);
    make_words(files);
    signal(SIGCHLD, SIG_DFL);
    const pid_t starter = fork();
    if (starter == 0) {
        be_starter();
    }
    wait_for_end(starter);
}

static pid_t start_first(int namespaces) {
    static char stack[STACK_BYTES] __attribute__((aligned(64)));
    launch.namespaces = namespaces;
    return clone(be_first, stack + sizeof stack, namespaces | SIGCHLD, NULL);
}

/* With rights over the namespaces that this process is in; else with those of a user namespace;
 * else as they are, and what is killed then may leave files in /dev/shm. */
static pid_t start_apart(void) {
    pid_t first = start_first(CLONE_NEWPID | CLONE_NEWNS);
    if (first < 0 && launch.far_namespace < 0) {
        first = start_first(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS);
    }
    return first < 0 ? start_first(0) : first;
}

/* Both ranks write there, each on its own. */
static void look_at_output(const char *name, const char *path) {
    const int again = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (again < 0) {
        refuse("%s belongs to another user and cannot be opened again (%s); redirect it to a file "
               "of your own",
               name, strerror(errno));
    }
    close(again);
}

void launch_run(int ranks, bool is_crowded) {
    launch.ranks = ranks;
    look_at_output("standard output", "/proc/self/fd/1");
    look_at_output("standard error", "/proc/self/fd/2");
    int cpus[RANKS_MOST];
    const size_t count = cpus_find(cpus, (size_t)ranks);
    if (count < (size_t)ranks && !is_crowded) {
        cannot_run("this process may use %zu CPU%s, and each rank polls all the time; give it %s",
                   count, count == 1 ? "" : "s", ranks == 2 ? "two" : "one for each rank");
    }
    if (network_asked()->far_namespace) {
        launch.far_namespace = open(network_asked()->far_namespace, O_RDONLY);
        if (launch.far_namespace < 0) {
            refuse("%s cannot be opened (%s); give the file of a network namespace",
                   network_asked()->far_namespace, strerror(errno));
        }
    }
    read_own_arguments();
    launch.user = geteuid();
    launch.group = getegid();
    launch.output = memfd_create("output", 0);
    if (launch.output < 0 || pipe2(launch.alive, O_CLOEXEC) != 0 || pipe(launch.states) != 0) {
        cannot_run("no pipe, or no file in memory (%s); raise the limit of open files",
                   strerror(errno));
    }
    signal(SIGCHLD, SIG_DFL);
    const pid_t first = start_apart();
    if (first < 0) {
        cannot_run("%s cannot be started (%s); free processes", starters[0], strerror(errno));
    }
    int how = 0;
    while (waitpid(first, &how, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(how)) {
        refuse("the program that started the ranks was ended by signal %d (%s); check "
               "whether memory was short",
               WTERMSIG(how), strsignal(WTERMSIG(how)));
    }
    _exit(WEXITSTATUS(how));
}

#endif

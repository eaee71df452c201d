#define _GNU_SOURCE
#include "crew.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cannot_run.h"
#include "cpus.h"
#include "meeting.h"
#include "refuse.h"

struct common {
    struct meeting meeting;
    char sentences[][SENTENCE_BYTES]; /* of those that ended early */
};

static struct {
    size_t processes;
    int *cpus;
    pid_t *pids; /* 0: ended, or not started */
    struct common *common;
} crew;

static struct meeting *meeting; /* in a process of a crew that works together */
static uint64_t attended;

void *crew_share(size_t bytes, const char *what) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        cannot_run("no memory for %s (%s): ask for fewer", what, strerror(errno));
    }
    return memory;
}

void crew_meet(void) {
    if (meeting && !meeting_wait(meeting, &attended, NULL)) {
        cannot_run("a process waited too long for the others: %" PRIu64 " s; free the CPUs",
                   meeting->limit_ns / UINT64_C(1000000000));
    }
}

/* One for each process: the usable ones in turn. Returns how many are used. */
static size_t share_cpus(void) {
    const size_t count = cpus_find(crew.cpus, crew.processes);
    for (size_t process = count; process < crew.processes; process++) {
        crew.cpus[process] = crew.cpus[process - count];
    }
    return count;
}

_Noreturn static void enter(size_t process, pid_t parent, const sigset_t *signals,
                            crew_body *body) {
    crew.processes = 0; /* its own copy: the others are not its to end */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(EXIT_FAILED);
    }
    sigprocmask(SIG_SETMASK, signals, NULL);
    refuse_into(crew.common->sentences[process]);
    cpus_pin(crew.cpus[process]);
    body(process);
    exit(EXIT_OK);
}

static void end_all(void) {
    for (size_t process = 0; process < crew.processes; process++) {
        if (crew.pids[process]) {
            kill(crew.pids[process], SIGKILL);
        }
    }
    for (size_t process = 0; process < crew.processes; process++) {
        if (crew.pids[process]) {
            waitpid(crew.pids[process], NULL, 0);
            crew.pids[process] = 0;
        }
    }
}

_Noreturn static void end_like(size_t process, int status) {
    const char *sentence = crew.common->sentences[process];
    const char *said = *sentence ? sentence : "no reason was given; start one process to see it";
    if (WIFSIGNALED(status)) {
        refuse("process %zu (of 0 to %zu, on CPU %d) was ended by signal %d (%s); check "
               "whether memory was short, or start one process alone",
               process, crew.processes - 1, crew.cpus[process], WTERMSIG(status),
               strsignal(WTERMSIG(status)));
    }
    if (WEXITSTATUS(status) == EXIT_CANNOT_RUN) {
        cannot_run("process %zu: %s", process, said);
    }
    refuse("process %zu: %s", process, said);
}

/* False when all have ended. */
static bool reap(crew_watch *watch) {
    bool any_left = false;
    for (size_t process = 0; process < crew.processes; process++) {
        int status = 0;
        if (!crew.pids[process] || waitpid(crew.pids[process], &status, WNOHANG) == 0) {
            any_left = any_left || crew.pids[process];
            continue;
        }
        crew.pids[process] = 0;
        if (status != 0) {
            end_all();
            watch(); /* what all of them finished is good */
            end_like(process, status);
        }
    }
    return any_left;
}

void crew_run(size_t processes, bool together, crew_body *body, crew_watch *watch) {
    crew.common = crew_share(sizeof *crew.common + processes * SENTENCE_BYTES, "processes");
    crew.pids = calloc(processes, sizeof *crew.pids);
    crew.cpus = calloc(processes, sizeof *crew.cpus);
    if (!crew.pids || !crew.cpus) {
        cannot_run("no memory for %zu processes; ask for fewer", processes);
    }
    crew.processes = processes;
    const size_t cpus = share_cpus();
    const size_t per_cpu = (processes + cpus - 1) / cpus;
    if (together) {
        meeting = &crew.common->meeting;
        meeting->members = processes;
        meeting->sleeps = processes > cpus;
        meeting->limit_ns = per_cpu * MEETING_LIMIT_NS; /* it may be the last one's turn */
    }

    sigset_t children;
    sigset_t before;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    signal(SIGCHLD, SIG_DFL); /* if ignored, there would be no child to wait for */
    sigprocmask(SIG_BLOCK, &children, &before);
    atexit(end_all);
    const pid_t parent = getpid();
    for (size_t process = 0; process < processes; process++) {
        const pid_t pid = fork();
        if (pid == 0) {
            enter(process, parent, &before, body);
        }
        if (pid < 0) {
            cannot_run("only %zu of %zu processes could be started (%s); ask for fewer", process,
                       processes, strerror(errno));
        }
        crew.pids[process] = pid;
    }
    /* Asleep, so that it takes no CPU from those that measure. */
    const struct timespec second = {.tv_sec = 1};
    while (reap(watch)) {
        if (sigtimedwait(&children, NULL, &second) < 0) {
            watch(); /* for a caller that ends this process at its time limit */
        }
    }
}

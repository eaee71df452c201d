#define _GNU_SOURCE
#include "companion.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cannot_run.h"
#include "cpus.h"
#include "crew.h"
#include "refuse.h"

enum { COMPANIONS_MOST = 8, READY_LIMIT_MS = 10000, END_LIMIT_MS = 10, DYING_NS = 50000000 };

struct companion {
    const char *name;
    pid_t pid;
    char *sentence; /* why it ended, in memory that it shares */
};

static struct companion companions[COMPANIONS_MOST];
static size_t count;
static int ready_pipe[2];

void companion_ready(uint64_t value) {
    if (write(ready_pipe[1], &value, sizeof value) != sizeof value) {
        refuse("it could not report that it was ready (%s); start again", strerror(errno));
    }
    close(ready_pipe[1]);
}

_Noreturn static void enter(const struct companion *self, pid_t parent, int cpu,
                            companion_body *body, const void *argument) {
    count = 0; /* the others are not its to end */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(EXIT_FAILED);
    }
    close(ready_pipe[0]);
    refuse_into(self->sentence);
    cpus_pin(cpu);
    body(argument);
    refuse("its part ended too early; report this as a defect");
}

/* It has ended, or is about to. */
_Noreturn static void end_like(struct companion *companion) {
    int status = 0;
    waitpid(companion->pid, &status, 0);
    companion->pid = 0;
    const char *said = *companion->sentence ? companion->sentence : "it gave no reason";
    if (WIFSIGNALED(status)) {
        refuse("%s was ended by signal %d (%s); check whether memory was short", companion->name,
               WTERMSIG(status), strsignal(WTERMSIG(status)));
    }
    if (WEXITSTATUS(status) == EXIT_CANNOT_RUN) {
        cannot_run("%s: %s", companion->name, said);
    }
    refuse("%s: %s", companion->name, said);
}

static uint64_t wait_for(struct companion *companion) {
    uint64_t value = 0;
    struct pollfd readable = {.fd = ready_pipe[0], .events = POLLIN};
    if (poll(&readable, 1, READY_LIMIT_MS) == 0) {
        cannot_run("%s was not ready within %d s; free the CPUs", companion->name,
                   READY_LIMIT_MS / 1000);
    }
    if (read(ready_pipe[0], &value, sizeof value) != sizeof value) {
        end_like(companion);
    }
    close(ready_pipe[0]);
    return value;
}

uint64_t companion_start(const char *name, int cpu, companion_body *body, const void *argument) {
    if (count == 0) {
        atexit(companions_end);
        signal(SIGCHLD, SIG_DFL); /* if ignored, there would be no child to wait for */
    }
    if (count == COMPANIONS_MOST || pipe(ready_pipe) != 0) {
        cannot_run("%s cannot be started (too many processes or files); start again", name);
    }
    struct companion *companion = &companions[count];
    *companion = (struct companion){.name = name, .sentence = crew_share(SENTENCE_BYTES, name)};
    const pid_t parent = getpid();
    companion->pid = fork();
    if (companion->pid == 0) {
        enter(companion, parent, cpu, body, argument);
    }
    if (companion->pid < 0) {
        companion->pid = 0;
        cannot_run("%s cannot be started (%s); free processes", name, strerror(errno));
    }
    count++;
    close(ready_pipe[1]);
    return wait_for(companion);
}

void companions_watch(void) {
    for (size_t i = 0; i < count; i++) {
        siginfo_t info = {0};
        const int options = WEXITED | WNOHANG | WNOWAIT;
        if (companions[i].pid && waitid(P_PID, (id_t)companions[i].pid, &info, options) == 0 &&
            info.si_pid) {
            end_like(&companions[i]);
        }
    }
}

/* A process closes its sockets before its end can be seen. */
void companions_watch_dying(void) {
    const struct timespec dying = {.tv_nsec = DYING_NS};
    nanosleep(&dying, NULL);
    companions_watch();
}

/* One that is killed runs no more; but raw sockets are let go of in its name, asleep, for 40 ms
 * each, and nobody needs to wait for that. */
static void wait_briefly_for(pid_t pid) {
    const struct timespec pause = {.tv_nsec = 200000};
    for (int waited = 0; waited < END_LIMIT_MS * 5; waited++) {
        if (waitpid(pid, NULL, WNOHANG) != 0) {
            return;
        }
        nanosleep(&pause, NULL);
    }
}

void companions_end(void) {
    for (size_t i = 0; i < count; i++) {
        if (companions[i].pid) {
            kill(companions[i].pid, SIGKILL);
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (companions[i].pid) {
            wait_briefly_for(companions[i].pid);
            companions[i].pid = 0;
        }
    }
    count = 0;
}

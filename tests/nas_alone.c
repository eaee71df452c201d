/* PROGRAM CLASS: one repetition of a program of the NAS Parallel Benchmarks on one rank, without a
 * library of MPI and without the harness: for a simulation of caches. Prints the operations. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../kernels/nas/program.h"

static void fail(const char *why) {
    fprintf(stderr, "%s\n", why);
    exit(1);
}

int main(int argc, char **argv) {
    static const struct nas_program *const programs[] = {&nas_lu, &nas_sp, &nas_bt};
    static const char *const classes[] = {"S", "W", "A", "B"};
    struct endpoint *const nobody[] = {NULL};
    over_messages_open(0, 1, nobody, fail);
    for (int i = 0; argc == 3 && i < 3; i++) {
        for (int class = CLASS_S; strcmp(argv[1], programs[i]->name) == 0 && class < CLASSES;
             class++) {
            if (strcmp(argv[2], classes[class]) == 0) {
                struct nas_verdict verdict = {0};
                programs[i]->make((enum nas_class)class);
                programs[i]->reset();
                programs[i]->timed(NULL);
                programs[i]->verify(&verdict);
                printf("%.0f\n", programs[i]->operations((enum nas_class)class));
                return verdict.compared > 0 && verdict.wrong == 0 ? 0 : 1;
            }
        }
    }
    fail("give a program (lu, sp or bt) and a class");
}

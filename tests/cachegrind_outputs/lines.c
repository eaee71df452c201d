/* Reads each of 1024 lines where it has one argument; with two it writes to 1024 others, too.
 * The files beside it are of `lines` and `lines read`, without AVX-512 and a C library. */
enum { LINES = 1024, LINE_BYTES = 64 };

static volatile int ended = -1;
static volatile char from[LINES][LINE_BYTES] __attribute__((aligned(LINE_BYTES)));
static volatile char to[LINES][LINE_BYTES] __attribute__((aligned(LINE_BYTES)));

__attribute__((noinline)) static void read_lines(void) {
    for (int i = 0; i < LINES; i++) {
        (void)from[i][0];
    }
}

__attribute__((noinline)) static void write_lines(void) {
    for (int i = 0; i < LINES; i++) {
        to[i][0] = 1;
    }
}

_Noreturn void run(long words) {
    if (words > 1) {
        read_lines();
    }
    if (words > 2) {
        write_lines();
    }
    ended = 0;
    __asm__ volatile("syscall" : : "a"(60), "D"(ended));
    __builtin_unreachable();
}

__asm__(".globl _start\n"
        "_start:\n"
        "    mov (%rsp), %rdi\n"
        "    call run\n");

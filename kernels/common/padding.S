/* Nothing but room. Linked in front of the other objects, it moves their code and data, and
 * nothing else about the binary changes. */
#ifndef BENCH_PADDING_BYTES
#define BENCH_PADDING_BYTES 1504
#endif

    .text
    .skip BENCH_PADDING_BYTES

    .section .rodata
    .skip BENCH_PADDING_BYTES

    .data
    .skip BENCH_PADDING_BYTES

    .bss
    .skip BENCH_PADDING_BYTES

    /* Without this the linker makes the stack executable. */
    .section .note.GNU-stack, "", %progbits

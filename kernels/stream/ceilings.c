/* How fast can memory be read, written and copied at all? Written by hand, so that it does not
 * depend on what a compiler makes of it; the length of the vectors is chosen where the program
 * runs, whatever -march says. */
#include "stream.h"

#if defined(__x86_64__)
#include <immintrin.h>

enum { LINE = 8 }; /* elements */

/* Elements before the first whole line. */
static size_t to_line(const double *elements, size_t count) {
    const size_t first = -(uintptr_t)elements / sizeof *elements % LINE;
    return first < count ? first : count;
}

static void stream_one(double *to, double value) {
    long long bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    _mm_stream_si64((long long *)(void *)to, bits);
}

#define NAME avx512
#define INSTRUCTIONS "avx512f"
#define VECTOR __m512d
#define OPERATIONS _mm512_
#include "vectors.h"
#undef NAME
#undef INSTRUCTIONS
#undef VECTOR
#undef OPERATIONS

#define NAME avx
#define INSTRUCTIONS "avx"
#define VECTOR __m256d
#define OPERATIONS _mm256_
#include "vectors.h"
#undef NAME
#undef INSTRUCTIONS
#undef VECTOR
#undef OPERATIONS

#define NAME sse2
#define INSTRUCTIONS "sse2"
#define VECTOR __m128d
#define OPERATIONS _mm_
#include "vectors.h"

BENCH_TIMED static void timed_copy_movsb_x86_64(struct stream_part *part) {
    void *to = part->to;
    const void *from = part->from;
    size_t bytes = part->count * sizeof(double);
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

#define METHODS(name)                                                                              \
    {[COPY_NT] = timed_copy_nt_##name,       [COPY_NT_256] = timed_copy_nt_##name,                 \
     [COPY_MOVSB] = timed_copy_movsb_x86_64, [READ] = timed_read_##name,                           \
     [WRITE] = timed_write_##name,           [WRITE_NT] = timed_write_nt_##name}

struct vectors {
    uint64_t bits;
    stream_body *bodies[WRITE_NT + 1];
};

static const struct vectors avx512 = {512, METHODS(avx512)};
static const struct vectors avx = {256, METHODS(avx)};
static const struct vectors sse2 = {128, METHODS(sse2)};

/* The longest that there are; for one method no longer than 256 bits, for longer ones are not
 * always faster. */
static const struct vectors *vectors_for(enum stream_method method) {
    if (method != COPY_NT_256 && __builtin_cpu_supports("avx512f")) {
        return &avx512;
    }
    return __builtin_cpu_supports("avx") ? &avx : &sse2;
}

static stream_body *body_of(enum stream_method method) {
    return vectors_for(method)->bodies[method];
}

uint64_t ceilings_vector_bits(enum stream_method method) {
    return method == COPY_MOVSB ? 0 : vectors_for(method)->bits;
}

#else

static stream_body *body_of(enum stream_method method) {
    (void)method;
    return NULL;
}

uint64_t ceilings_vector_bits(enum stream_method method) {
    (void)method;
    return 0;
}

#endif

BENCH_TIMED static void timed_parts(const void *state) {
    const struct stream_work *work = state;
    const int threads = work->threads;
    PARALLEL_FOR
    for (int part = 0; part < threads; part++) {
        work->body(&work->parts[part]);
    }
}

bench_timed *ceilings_timed(enum stream_method method, struct stream_work *work) {
    work->body = body_of(method);
    return work->body ? timed_parts : NULL;
}

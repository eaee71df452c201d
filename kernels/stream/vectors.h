/* Reading, writing and copying in vectors of one length, with nothing between the instructions and
 * the memory: one line at a time, because more loads in a row slowed the stores between them by 5 %
 * on the host that this was written on. Included by ceilings.c once for each length, with VECTOR,
 * its OPERATIONS, the INSTRUCTIONS it needs and the NAME of the functions. No single elements are
 * copied by ordinary code: compilers make library calls of that. */

#define PASTE_(left, right) left##right
#define PASTE(left, right) PASTE_(left, right)
#define TIMED(what) BENCH_TIMED __attribute__((target(INSTRUCTIONS))) static void PASTE(what, NAME)
#define OPERATION(what) PASTE(OPERATIONS, what)

enum { PASTE(LANES_, NAME) = sizeof(VECTOR) / sizeof(double) };
#define LANES PASTE(LANES_, NAME)

TIMED(timed_copy_nt_)(struct stream_part *part) {
    double *to = part->to;
    const double *from = part->from;
    const size_t count = part->count;
    size_t i = 0;
    for (const size_t first = to_line(to, count); i < first; i++) {
        stream_one(to + i, from[i]);
    }
    for (; i + LINE <= count; i += LINE) {
        for (size_t k = 0; k < LINE; k += LANES) {
            OPERATION(stream_pd)(to + i + k, OPERATION(loadu_pd)(from + i + k));
        }
    }
    for (; i < count; i++) {
        stream_one(to + i, from[i]);
    }
    _mm_sfence();
}

TIMED(timed_write_nt_)(struct stream_part *part) {
    double *to = part->to;
    const size_t count = part->count;
    const VECTOR value = OPERATION(set1_pd)(part->value);
    size_t i = 0;
    for (const size_t first = to_line(to, count); i < first; i++) {
        stream_one(to + i, part->value);
    }
    for (; i + LINE <= count; i += LINE) {
        for (size_t k = 0; k < LINE; k += LANES) {
            OPERATION(stream_pd)(to + i + k, value);
        }
    }
    for (; i < count; i++) {
        stream_one(to + i, part->value);
    }
    _mm_sfence();
}

TIMED(timed_write_)(struct stream_part *part) {
    double *to = part->to;
    const size_t count = part->count;
    const double one = part->value;
    const VECTOR value = OPERATION(set1_pd)(one);
    size_t i = 0;
    for (const size_t first = to_line(to, count); i < first; i++) {
        to[i] = one;
    }
    for (; i + LINE <= count; i += LINE) {
        for (size_t k = 0; k < LINE; k += LANES) {
            OPERATION(store_pd)(to + i + k, value);
        }
    }
    for (; i < count; i++) {
        to[i] = one;
    }
}

/* Eight sums: an addition takes as long as eight loads. */
TIMED(timed_read_)(struct stream_part *part) {
    const double *from = part->from;
    const size_t count = part->count;
    VECTOR s0 = OPERATION(setzero_pd)(), s1 = s0, s2 = s0, s3 = s0;
    VECTOR s4 = s0, s5 = s0, s6 = s0, s7 = s0;
    double sum = 0;
    size_t i = 0;
    for (const size_t first = to_line(from, count); i < first; i++) {
        sum += from[i];
    }
    for (; i + 8 * LANES <= count; i += 8 * LANES) {
        s0 += OPERATION(load_pd)(from + i);
        s1 += OPERATION(load_pd)(from + i + LANES);
        s2 += OPERATION(load_pd)(from + i + 2 * LANES);
        s3 += OPERATION(load_pd)(from + i + 3 * LANES);
        s4 += OPERATION(load_pd)(from + i + 4 * LANES);
        s5 += OPERATION(load_pd)(from + i + 5 * LANES);
        s6 += OPERATION(load_pd)(from + i + 6 * LANES);
        s7 += OPERATION(load_pd)(from + i + 7 * LANES);
    }
    for (; i < count; i++) {
        sum += from[i];
    }
    const VECTOR all = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7));
    for (size_t lane = 0; lane < LANES; lane++) {
        sum += all[lane];
    }
    part->sum = sum;
}

#undef PASTE_
#undef PASTE
#undef TIMED
#undef OPERATION
#undef LANES

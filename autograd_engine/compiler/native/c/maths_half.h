/* Floats of 16 bits. In registers they are float32 whose value is one of theirs: `ae_round` makes
   it one, to nearest and ties to even, and `ae_store` moves its bits alone. All of it is integer
   arithmetic and selections, which every vector unit has; of the conversions of processors
   compilers make vectors only lately. */
AE_INLINE float ae_load_bfloat16(ae_bfloat16 x)
{
    return aei_from_bits_f32((uint32_t)x.bits << 16);
}
AE_INLINE float ae_nearest_bfloat16(float x)
{
    uint32_t u = aei_bits_f32(x); /* a carry reaches infinity */
    return aei_from_bits_f32((u + 0x7fffu + ((u >> 16) & 1u)) & 0xffff0000u);
}
AE_INLINE float ae_round_bfloat16(float x)
{
    uint32_t nan = (aei_bits_f32(x) | 0x00400000u) & 0xffff0000u;
    return x == x ? ae_nearest_bfloat16(x) : aei_from_bits_f32(nan);
}
AE_INLINE ae_bfloat16 ae_store_bfloat16(float x)
{
    ae_bfloat16 half = {(uint16_t)(aei_bits_f32(x) >> 16)};
    return half;
}

/* The exponents of float16 are 112 below those of float32, and what is subnormal in float16 is so
   in float32 with the same exponent: a factor makes numbers of both. */
AE_INLINE float ae_load_float16(ae_float16 x)
{
    uint32_t u = (uint32_t)(x.bits & 0x7fffu) << 13;
    uint32_t number = aei_bits_f32(aei_from_bits_f32(u) * 0x1p112f);
    uint32_t sign = (uint32_t)(x.bits & 0x8000u) << 16;
    return aei_from_bits_f32((u >= 0x0f800000u ? u | 0x7f800000u : number) | sign);
}
/* A number that is 3 2^12 times the power of 2 in x has its last digit where float16 of this size
   do; a sum with it is rounded there. */
AE_INLINE float ae_nearest_float16(float x)
{
    uint32_t u = aei_bits_f32(x);
    float size = aei_from_bits_f32(u & 0x7fffffffu), power = aei_from_bits_f32(u & 0x7f800000u);
    float large = (power < 0x1p-14f ? 0x1p-14f : power) * 0x1.8p13f;
    float nearest = (size + large) - large;
    nearest = size >= 65520.0f ? AE_INF_f32 : nearest;
    return aei_from_bits_f32(aei_bits_f32(nearest) | (u & 0x80000000u));
}
AE_INLINE float ae_round_float16(float x) { return ae_nearest_float16(x); }
AE_INLINE ae_float16 ae_store_float16(float x)
{
    uint32_t u = aei_bits_f32(x), size = u & 0x7fffffffu;
    uint32_t number = aei_bits_f32(aei_from_bits_f32(size) * 0x1p-112f);
    uint32_t bits = (size >= 0x7f800000u ? size & 0x0fffffffu : number) >> 13;
    ae_float16 half = {(uint16_t)(bits | ((u >> 16) & 0x8000u))};
    return half;
}

/* The same of 16 numbers, by the conversions of a processor that has them, which round alike. */
AE_INLINE void aei_widen_lanes(float *to, const void *from)
{
#if defined(__AVX512F__)
    typedef short bits __attribute__((vector_size(32)));
    typedef float wide __attribute__((vector_size(64)));
    bits given;
    memcpy(&given, from, sizeof given);
    wide made = __builtin_ia32_vcvtph2ps512_mask(given, (wide){0}, 0xffff, 4);
    memcpy(to, &made, sizeof made);
#elif defined(__F16C__)
    typedef short bits __attribute__((vector_size(16)));
    typedef float wide __attribute__((vector_size(32)));
    for (int k = 0; k < 2; k++) {
        bits given;
        memcpy(&given, (const char *)from + 16 * k, sizeof given);
        wide made = __builtin_ia32_vcvtph2ps256(given);
        memcpy(to + 8 * k, &made, sizeof made);
    }
#else
    (void)to, (void)from;
#endif
}
AE_INLINE void aei_narrow_lanes(void *to, const float *from)
{
#if defined(__AVX512F__)
    typedef short bits __attribute__((vector_size(32)));
    typedef float wide __attribute__((vector_size(64)));
    wide given;
    memcpy(&given, from, sizeof given);
    bits made = (bits)__builtin_ia32_vcvtps2ph512_mask(given, 0, (bits){0}, 0xffff);
    memcpy(to, &made, sizeof made);
#elif defined(__F16C__)
    typedef short bits __attribute__((vector_size(16)));
    typedef float wide __attribute__((vector_size(32)));
    for (int k = 0; k < 2; k++) {
        wide given;
        memcpy(&given, from + 8 * k, sizeof given);
        bits made = (bits)__builtin_ia32_vcvtps2ph256(given, 0);
        memcpy((char *)to + 16 * k, &made, sizeof made);
    }
#else
    (void)to, (void)from;
#endif
}
AE_INLINE void ae_lanes_load_float16(float *to, const ae_float16 *from)
{
    aei_widen_lanes(to, from);
}
AE_INLINE void ae_lanes_round_float16(float *to, const float *from)
{
    uint16_t bits[16];
    aei_narrow_lanes(bits, from);
    aei_widen_lanes(to, bits);
}
AE_INLINE void ae_lanes_store_float16(ae_float16 *to, const float *from)
{
    aei_narrow_lanes(to, from);
}

/* Towards zero, but for an odd last bit where something was left: rounded to fewer bits after that
   it is as if rounded once. */
AE_INLINE float ae_to_odd_f64(double x)
{
    uint64_t u = aei_bits_f64(x);
    uint64_t left = (u & 0x1fffffffu) != 0;
    return (float)aei_from_bits_f64((u & ~(uint64_t)0x1fffffffu) | (left << 29));
}

/* `count` matrices, `stride` elements apart, in float32 and without gaps. Sizes are stride, rows,
   columns, and the distance of rows. */
AE_INLINE void aei_widen_part_bfloat16(void *context, int64_t lo, int64_t hi, int worker)
{
    const int64_t *sizes = ((void **)context)[2];
    int64_t stride = sizes[0], rows = sizes[1], columns = sizes[2], distance = sizes[3];
    (void)worker;
    for (int64_t r = lo; r < hi; r++) {
        const ae_bfloat16 *from = ((void **)context)[1];
        from += r / rows * stride + r % rows * distance;
        float *to = (float *)((void **)context)[0] + r * columns;
#pragma omp simd
        for (int64_t j = 0; j < columns; j++) to[j] = ae_load_bfloat16(from[j]);
    }
}
AE_INLINE void ae_widen_bfloat16(float *to, void *from, int64_t count, const int64_t *sizes)
{
    void *context[] = {to, from, (void *)sizes};
    int64_t rows = count * sizes[1];
    if (rows * sizes[2] < 1 << 15)
        aei_widen_part_bfloat16(context, 0, rows, 0);
    else
        ae_parallel(aei_widen_part_bfloat16, context, rows, 1 + (1 << 14) / sizes[2]);
}
AE_INLINE void aei_widen_part_float16(void *context, int64_t lo, int64_t hi, int worker)
{
    const int64_t *sizes = ((void **)context)[2];
    int64_t stride = sizes[0], rows = sizes[1], columns = sizes[2], distance = sizes[3];
    (void)worker;
    for (int64_t r = lo; r < hi; r++) {
        const ae_float16 *from = ((void **)context)[1];
        from += r / rows * stride + r % rows * distance;
        float *to = (float *)((void **)context)[0] + r * columns;
#pragma omp simd
        for (int64_t j = 0; j < columns; j++) to[j] = ae_load_float16(from[j]);
    }
}
AE_INLINE void ae_widen_float16(float *to, void *from, int64_t count, const int64_t *sizes)
{
    void *context[] = {to, from, (void *)sizes};
    int64_t rows = count * sizes[1];
    if (rows * sizes[2] < 1 << 15)
        aei_widen_part_float16(context, 0, rows, 0);
    else
        ae_parallel(aei_widen_part_float16, context, rows, 1 + (1 << 14) / sizes[2]);
}

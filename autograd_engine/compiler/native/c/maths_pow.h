/* The special cases of x^y, given y0 = |x|^y for positive finite |x|. An integer y has no fraction,
   an odd one a half after halving; infinities count as even. */
AE_INLINE float aei_pow_ends_f32(float x, float y, float y0)
{
    float a = __builtin_fabsf(x), half = 0.5f * y;
    int whole = __builtin_rintf(y) == y, odd = whole & (__builtin_rintf(half) != half);
    float edge = ((a == 0.0f) == (y < 0.0f)) ? AE_INF_f32 : 0.0f;
    float r = ((a == 0.0f) | (a == AE_INF_f32)) ? edge : y0;
    r = ((x < 0.0f) & (a < AE_INF_f32) & !whole) ? AE_NAN_f32 : r;
    r = odd ? __builtin_copysignf(r, x) : r;
    r = ((x == x) & (y == y)) ? r : AE_NAN_f32;
    return ((x == 1.0f) | (y == 0.0f)) ? 1.0f : r;
}
AE_INLINE double aei_pow_ends_f64(double x, double y, double y0)
{
    double a = __builtin_fabs(x), half = 0.5 * y;
    int whole = __builtin_rint(y) == y, odd = whole & (__builtin_rint(half) != half);
    double edge = ((a == 0.0) == (y < 0.0)) ? AE_INF_f64 : 0.0;
    double r = ((a == 0.0) | (a == AE_INF_f64)) ? edge : y0;
    r = ((x < 0.0) & (a < AE_INF_f64) & !whole) ? AE_NAN_f64 : r;
    r = odd ? __builtin_copysign(r, x) : r;
    r = ((x == x) & (y == y)) ? r : AE_NAN_f64;
    return ((x == 1.0) | (y == 0.0)) ? 1.0 : r;
}

/* x^y = 2^(y log2 |x|) in float64: every float32 is a normal number there, y log2 |x| is right to
   2^-30, and the one rounding to float32 makes overflow and denormals. |x| = 2^e (1 + f),
   log2(1 + f) = s L(s^2) with s = f / (2 + f), L of least maximal error, 2^-37; then 2^r as in
   ae_exp2_f32, 2^-29. |y| beyond 2^40 changes nothing, as |log2 |x|| is 0 or at least 2^-24.
   Within 1 ulp. */
AE_INLINE float ae_pow_f32(float x, float y)
{
    double f, e = aei_split_f64(__builtin_fabs((double)x), &f);
    double s = f / (2.0 + f), z = s * s, l = 0.3407390686864432;
    l = aei_fma_f64(l, z, 0.4116721815004083);
    l = aei_fma_f64(l, z, 0.5770835950330817);
    l = aei_fma_f64(l, z, 0.9617966732814952);
    l = aei_fma_f64(l, z, 2.8853900817901423);
    double n = aei_clamp_f64(y, -0x1p40, 0x1p40);
    double t = aei_clamp_f64(n * aei_fma_f64(l, s, e), -200.0, 200.0);
    double sum = t + AE_ROUND_f64, r = t - (sum - AE_ROUND_f64), p = 0.00015476331446447858;
    p = aei_fma_f64(p, r, 0.0013400296771409578);
    p = aei_fma_f64(p, r, 0.009618003784570154);
    p = aei_fma_f64(p, r, 0.05550327723351627);
    p = aei_fma_f64(p, r, 0.2402265134669463);
    p = aei_fma_f64(p, r, 0.6931472062802239);
    return aei_pow_ends_f32(x, y, (float)(aei_fma_f64(p, r, 1.0) * aei_power_of_2_f64(sum)));
}

/* a b without error: the rounded product, and what it lost. Without a fused multiplication the
   factors are cut into halves of 26 bits, whose products are exact. */
AE_INLINE double aei_product_f64(double a, double b, double *lost)
{
    double p = a * b;
#if AE_FMA
    *lost = __builtin_fma(a, b, -p);
#else
    uint64_t bit = 0x4000000u, head = 0xfffffffff8000000u;
    double a1 = aei_from_bits_f64((aei_bits_f64(a) + bit) & head), a2 = a - a1;
    double b1 = aei_from_bits_f64((aei_bits_f64(b) + bit) & head), b2 = b - b1;
    *lost = ((a1 * b1 - p) + (a1 * b2 + a2 * b1)) + a2 * b2;
#endif
    return p;
}

/* a + b for |a| >= |b| without error: the rounded sum, and what it lost. */
AE_INLINE double aei_sum_f64(double a, double b, double *lost)
{
    double s = a + b;
    *lost = b - (s - a);
    return s;
}

/* log2(x) as a sum of two numbers, right to 2^-64 of it, for positive finite x = 2^e (1 + f).
   With s = f / (2 + f) and z = s^2, log(1 + f) = 2 s (1 + z/3 + z^2 Q(z)); the double parts go as
   far as they count: s, z/3 and the products of them, not z^2 Q(z), which is below 2^-12. */
AE_INLINE double aei_log2_pair_f64(double x, double *low)
{
    double f, e = aei_split_f64(x, &f);
    double m = 2.0 + f, m2 = f - (m - 2.0), s, s2, z, z2, w, w2, t, t2;
    s = f / m;
    t = aei_product_f64(s, m, &t2);
    s2 = (((f - t) - t2) - s * m2) / m;
    z = aei_product_f64(s, s, &z2);
    z2 = aei_fma_f64(2.0 * s, s2, z2);
    double q = 0.06560529953085967;
    q = aei_fma_f64(q, z, 0.06632757269989525);
    q = aei_fma_f64(q, z, 0.07693176778159319);
    q = aei_fma_f64(q, z, 0.09090896971055411);
    q = aei_fma_f64(q, z, 0.11111111199368269);
    q = aei_fma_f64(q, z, 0.1428571428543296);
    q = aei_fma_f64(q, z, 0.20000000000000198);
    /* w = z/3 + z^2 q */
    t = aei_product_f64(z, 0x1.5555555555555p-2, &t2);
    t2 = aei_fma_f64(z, 0x1.5555555555555p-56, aei_fma_f64(z2, 0x1.5555555555555p-2, t2));
    w = aei_sum_f64(t, z * z * q, &w2);
    w2 += t2;
    /* u = s + s w */
    double u, u2;
    t = aei_product_f64(s, w, &t2);
    t2 = aei_fma_f64(s, w2, aei_fma_f64(s2, w, t2));
    u = aei_sum_f64(s, t, &u2);
    u2 += s2 + t2;
    /* e + u (2 / ln 2) */
    t = aei_product_f64(u, 0x1.71547652b82fep+1, &t2);
    t2 = aei_fma_f64(u, 0x1.777d0ffda0d24p-55, aei_fma_f64(u2, 0x1.71547652b82fep+1, t2));
    double sum = aei_sum_f64(e, t, &u2);
    /* where e is 0 the order does not matter: the sum is t, and nothing is lost */
    return aei_sum_f64(sum, u2 + t2, low);
}

/* x^y = 2^(y log2 |x|), the exponent as a sum of two numbers. |y| beyond 2^65 changes nothing, as
   |log2 |x|| is 0 or at least 2^-53. Within 2 ulp. */
AE_INLINE double ae_pow_f64(double x, double y)
{
    double low, high = aei_log2_pair_f64(__builtin_fabs(x), &low), lost;
    double n = aei_clamp_f64(y, -0x1p65, 0x1p65);
    double t = aei_product_f64(n, high, &lost);
    double rest = aei_fma_f64(n, low, lost);
    int inside = __builtin_fabs(t) < 1100.0;
    t = aei_clamp_f64(t, -1100.0, 1100.0);
    rest = inside ? rest : 0.0;
    double k = (t + AE_ROUND_f64) - AE_ROUND_f64;
    return aei_pow_ends_f64(x, y, aei_scale_f64(aei_exp2_near_0_f64((t - k) + rest), k));
}

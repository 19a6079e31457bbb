/* x = 2^e (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)): e is returned. For positive finite x, the
   denormal ones included; the bits of others give numbers that the callers do not use. */
AE_INLINE float aei_split_f32(float x, float *f)
{
    int tiny = x < 0x1p-126f;
    uint32_t u = aei_bits_f32(tiny ? x * 0x1p24f : x) + (0x3f800000u - 0x3f3504f3u);
    *f = aei_from_bits_f32((u & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
    return (float)(int32_t)(u >> 23) - (tiny ? 151.0f : 127.0f);
}
AE_INLINE double aei_split_f64(double x, double *f)
{
    int tiny = x < 0x1p-1022;
    uint64_t u = aei_bits_f64(tiny ? x * 0x1p54 : x) + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);
    *f = aei_from_bits_f64((u & 0xfffffffffffffu) + 0x3fe6a09e667f3bcdu) - 1.0;
    /* the exponent behind 2^52 as the low bits of that number: a conversion by subtraction */
    double e = aei_from_bits_f64((u >> 52) | 0x4330000000000000u);
    return e - (tiny ? 0x1p52 + 1077.0 : 0x1p52 + 1023.0);
}

/* log(1 + f) - f for 1 + f in [sqrt(1/2), sqrt(2)), plus `more`, a small number.
   float32: -f^2/2 + f^3 P(f), P of least maximal error, 2^-27 of the logarithm.
   float64: with s = f / (2 + f), log(1 + f) = 2 atanh(s) = f - f^2/2 + s (f^2/2 + R(s^2)), where
   R(z) = 2 atanh(s)/s - 2 is a polynomial without constant, 2^-59 of the logarithm. */
AE_INLINE float aei_log_rest_f32(float f, float more)
{
    float p = -0.0785962269f, z = f * f;
    p = aei_fma_f32(p, f, 0.1288165f);
    p = aei_fma_f32(p, f, -0.1312875f);
    p = aei_fma_f32(p, f, 0.141811922f);
    p = aei_fma_f32(p, f, -0.16624555f);
    p = aei_fma_f32(p, f, 0.200022861f);
    p = aei_fma_f32(p, f, -0.250008106f);
    p = aei_fma_f32(p, f, 0.333333164f);
    return aei_fma_f32(-0.5f, z, aei_fma_f32(f * z, p, more));
}
AE_INLINE double aei_log_rest_f64(double f, double more)
{
    double s = f / (2.0 + f), z = s * s, half = 0.5 * f * f, p = 0.1479600240744311;
    p = aei_fma_f64(p, z, 0.15314045621484);
    p = aei_fma_f64(p, z, 0.18183564504565675);
    p = aei_fma_f64(p, z, 0.22222198570054352);
    p = aei_fma_f64(p, z, 0.28571428742414784);
    p = aei_fma_f64(p, z, 0.39999999999414576);
    p = aei_fma_f64(p, z, 0.6666666666666734);
    return aei_fma_f64(s, aei_fma_f64(p, z, half), more) - half;
}

/* A logarithm y of x > 0 completed: -inf at 0, inf at inf, NaN at NaN and below 0. */
AE_INLINE float aei_log_ends_f32(float x, float y)
{
    y = x < AE_INF_f32 ? y : x;
    return x > 0.0f ? y : (x == 0.0f ? -AE_INF_f32 : AE_NAN_f32);
}
AE_INLINE double aei_log_ends_f64(double x, double y)
{
    y = x < AE_INF_f64 ? y : x;
    return x > 0.0 ? y : (x == 0.0 ? -AE_INF_f64 : AE_NAN_f64);
}

/* e ln 2 + log(1 + f), where e times the first part of ln 2 is exact. */
AE_INLINE float aei_log_join_f32(float e, float f)
{
    float rest = aei_log_rest_f32(f, e * -0.000212194440f);
    return aei_fma_f32(e, 0.693359375f, rest + f);
}
AE_INLINE double aei_log_join_f64(double e, double f)
{
    double rest = aei_log_rest_f64(f, e * 2.8235290563031577e-13);
    return aei_fma_f64(e, 0.693147180559663, rest + f);
}

/* log(x). Within 1 ulp. */
AE_INLINE float ae_log_f32(float x)
{
    float f, e = aei_split_f32(x, &f);
    return aei_log_ends_f32(x, aei_log_join_f32(e, f));
}
AE_INLINE double ae_log_f64(double x)
{
    double f, e = aei_split_f64(x, &f);
    return aei_log_ends_f64(x, aei_log_join_f64(e, f));
}

/* log2(x) = e + log(1 + f) / ln 2; exact at powers of 2. Within 2 ulp. */
AE_INLINE float ae_log2_f32(float x)
{
    float f, e = aei_split_f32(x, &f), rest = aei_log_rest_f32(f, 0.0f);
    /* 1 / ln 2 = 1.4375 + 0.00519504072, the first part short so that f times it loses little */
    float low = aei_fma_f32(rest + f, 0.00519504072f, rest * 1.4375f);
    return aei_log_ends_f32(x, e + aei_fma_f32(f, 1.4375f, low));
}
AE_INLINE double ae_log2_f64(double x)
{
    double f, e = aei_split_f64(x, &f), rest = aei_log_rest_f64(f, 0.0);
    double low = aei_fma_f64(rest + f, 0.005195040888963407, rest * 1.4375);
    return aei_log_ends_f64(x, e + aei_fma_f64(f, 1.4375, low));
}

/* log10(x) = e log10(2) + log(1 + f) / ln 10, e times the first part of log10(2) exact.
   Within 2 ulp. */
AE_INLINE float ae_log10_f32(float x)
{
    float f, e = aei_split_f32(x, &f), rest = aei_log_rest_f32(f, 0.0f);
    /* 1 / ln 10 = 0.4375 - 0.00320551810 */
    float low = aei_fma_f32(rest, 0.4375f, e * 4.60503907e-06f);
    low = aei_fma_f32(rest + f, -0.00320551810f, low);
    return aei_log_ends_f32(x, aei_fma_f32(e, 0.301025391f, aei_fma_f32(f, 0.4375f, low)));
}
AE_INLINE double ae_log10_f64(double x)
{
    double f, e = aei_split_f64(x, &f), rest = aei_log_rest_f64(f, 0.0);
    double low = aei_fma_f64(rest, 0.4375, e * 1.42050232272661e-13);
    low = aei_fma_f64(rest + f, -0.003205518096748172, low);
    return aei_log_ends_f64(x, aei_fma_f64(e, 0.30102999566383914, aei_fma_f64(f, 0.4375, low)));
}

/* log(1 + x) for x > -1: u = 1 + x is rounded, and what it lost, d = x - (u - 1), is exact. With
   u = 2^e (1 + f), 1 + x = 2^e (1 + f + d 2^-e), where large e do not matter. */
AE_INLINE float aei_log1p_inner_f32(float x)
{
    float u = 1.0f + x, d = x < 1.0f ? x - (u - 1.0f) : 1.0f - (u - x);
    float f, e = aei_split_f32(u, &f);
    float scale = aei_power_of_2_f32(AE_ROUND_f32 - (e > 99.0f ? 99.0f : e));
    return aei_log_join_f32(e, aei_fma_f32(d, scale, f));
}
AE_INLINE double aei_log1p_inner_f64(double x)
{
    double u = 1.0 + x, d = x < 1.0 ? x - (u - 1.0) : 1.0 - (u - x);
    double f, e = aei_split_f64(u, &f);
    double scale = aei_power_of_2_f64(AE_ROUND_f64 - (e > 99.0 ? 99.0 : e));
    return aei_log_join_f64(e, aei_fma_f64(d, scale, f));
}

/* log(1 + x), -0 at -0. Within 2 ulp. */
AE_INLINE float ae_log1p_f32(float x)
{
    float y = aei_log_ends_f32(1.0f + x, aei_log1p_inner_f32(x));
    return x == 0.0f ? x : y;
}
AE_INLINE double ae_log1p_f64(double x)
{
    double y = aei_log_ends_f64(1.0 + x, aei_log1p_inner_f64(x));
    return x == 0.0 ? x : y;
}

/* log(1 + t) for t from 0 to 1: t + t^2 P(t), P of least maximal relative error in it, 2^-30. */
AE_INLINE float aei_log_1_and_f32(float t)
{
    float p = 0.0020729515f;
    p = aei_fma_f32(p, t, -0.0136315f);
    p = aei_fma_f32(p, t, 0.041981403f);
    p = aei_fma_f32(p, t, -0.083074115f);
    p = aei_fma_f32(p, t, 0.12467126f);
    p = aei_fma_f32(p, t, -0.16129337f);
    p = aei_fma_f32(p, t, 0.19897932f);
    p = aei_fma_f32(p, t, -0.2498858f);
    p = aei_fma_f32(p, t, 0.3333269f);
    p = aei_fma_f32(p, t, -0.49999988f);
    return aei_fma_f32(t * t, p, t);
}
AE_INLINE double aei_log_1_and_f64(double t) { return aei_log1p_inner_f64(t); }

/* log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|)): nothing overflows. Within 2 ulp. */
AE_INLINE float ae_softplus_f32(float x)
{
    float t = ae_exp_down_f32(-__builtin_fabsf(x));
    float y = (x > 0.0f ? x : 0.0f) + aei_log_1_and_f32(t);
    return x == x ? y : x;
}
AE_INLINE double ae_softplus_f64(double x)
{
    double t = ae_exp_down_f64(-__builtin_fabs(x));
    double y = (x > 0.0 ? x : 0.0) + aei_log_1_and_f64(t);
    return x == x ? y : x;
}

/* log(exp(x) + exp(y)) = max(x, y) + log(1 + exp(-|x - y|)); the infinite results are those of
   the maximum, where the difference may be NaN. 2 ulp of the larger term. */
AE_INLINE float ae_logaddexp_f32(float x, float y)
{
    float top = x > y ? x : y, t = ae_exp_down_f32(-__builtin_fabsf(x - y));
    float sum = top + aei_log_1_and_f32(t);
    sum = __builtin_fabsf(top) < AE_INF_f32 ? sum : top;
    return x == x && y == y ? sum : AE_NAN_f32;
}
AE_INLINE double ae_logaddexp_f64(double x, double y)
{
    double top = x > y ? x : y, t = ae_exp_down_f64(-__builtin_fabs(x - y));
    double sum = top + aei_log_1_and_f64(t);
    sum = __builtin_fabs(top) < AE_INF_f64 ? sum : top;
    return x == x && y == y ? sum : AE_NAN_f64;
}

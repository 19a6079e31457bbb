/* exp(r) for |r| <= ln(2)/2 + 1e-4: 1 + r + r^2 P(r), P of least maximal error, 2^-28 and 2^-58. */
AE_INLINE float aei_exp_near_0_f32(float r)
{
    float p = 0.0013950509f;
    p = aei_fma_f32(p, r, 0.00836890284f);
    p = aei_fma_f32(p, r, 0.041666206f);
    p = aei_fma_f32(p, r, 0.166665182f);
    p = aei_fma_f32(p, r, 0.5f);
    return aei_fma_f32(r * r, p, r) + 1.0f;
}
AE_INLINE double aei_exp_near_0_f64(double r)
{
    double p = 2.5117881209412927e-08;
    p = aei_fma_f64(p, r, 2.763130871390265e-07);
    p = aei_fma_f64(p, r, 2.755721624167249e-06);
    p = aei_fma_f64(p, r, 2.4801489867329225e-05);
    p = aei_fma_f64(p, r, 0.00019841269917444905);
    p = aei_fma_f64(p, r, 0.0013888888947083205);
    p = aei_fma_f64(p, r, 0.008333333333307179);
    p = aei_fma_f64(p, r, 0.04166666666651518);
    p = aei_fma_f64(p, r, 0.166666666666667);
    p = aei_fma_f64(p, r, 0.5000000000000012);
    return aei_fma_f64(r * r, p, r) + 1.0;
}

/* k = round(x / ln 2) and r = x - k ln 2, where k times the first part of ln 2 is exact. */
AE_INLINE float aei_reduce_exp_f32(float x, float *r)
{
    float k = aei_fma_f32(x, 1.44269502f, AE_ROUND_f32) - AE_ROUND_f32;
    *r = aei_fma_f32(k, 0.000212194440f, aei_fma_f32(k, -0.693359375f, x));
    return k;
}
AE_INLINE double aei_reduce_exp_f64(double x, double *r)
{
    double k = aei_fma_f64(x, 1.4426950408889634, AE_ROUND_f64) - AE_ROUND_f64;
    *r = aei_fma_f64(k, -2.8235290563031577e-13, aei_fma_f64(k, -0.693147180559663, x));
    return k;
}

/* exp(x) = 2^k exp(r). Beyond 89 and 710 the result is infinite. Below -104 and -746 it is 0, which
   is chosen: products that underflow take a processor ten times as long, and masked scores are -inf.
   2^(k + 64) for negative x, and 2^(k - 64) for others, is an addition to the exponent, which stays
   that of a normal number; a product takes 2^64 away, or gives it, and rounds. That product also
   carries NaN, which bits alone would lose. Within 2 ulp. */
AE_INLINE float ae_exp_f32(float x)
{
    float y = x < -104.0f ? 0.0f : x;
    float up = x < 0.0f ? AE_ROUND_f32 + 64.0f : AE_ROUND_f32 - 64.0f;
    float back = x < 0.0f ? 0x1p-64f : 0x1p64f;
    float sum = aei_fma_f32(y, 1.44269502f, up), k = sum - up;
    float r = aei_fma_f32(k, 0.000212194440f, aei_fma_f32(k, -0.693359375f, y));
    float p = aei_from_bits_f32(aei_bits_f32(aei_exp_near_0_f32(r)) + (aei_bits_f32(sum) << 23));
    p = x < -104.0f ? 0.0f : p * aei_fma_f32(r, 0.0f, back);
    return x > 89.0f ? AE_INF_f32 : p;
}
AE_INLINE double ae_exp_f64(double x)
{
    double y = x < -746.0 ? 0.0 : x;
    double up = x < 0.0 ? AE_ROUND_f64 + 512.0 : AE_ROUND_f64 - 512.0;
    double back = x < 0.0 ? 0x1p-512 : 0x1p512;
    double sum = aei_fma_f64(y, 1.4426950408889634, up), k = sum - up;
    double r = aei_fma_f64(k, -2.8235290563031577e-13, aei_fma_f64(k, -0.693147180559663, y));
    double p = aei_from_bits_f64(aei_bits_f64(aei_exp_near_0_f64(r)) + (aei_bits_f64(sum) << 52));
    p = x < -746.0 ? 0.0 : p * aei_fma_f64(r, 0.0, back);
    return x > 710.0 ? AE_INF_f64 : p;
}

/* exp(x) for x up to 0, with the bits of the above and fewer instructions. */
AE_INLINE float ae_exp_down_f32(float x)
{
    float y = x < -104.0f ? 0.0f : x, up = AE_ROUND_f32 + 64.0f;
    float sum = aei_fma_f32(y, 1.44269502f, up), k = sum - up;
    float r = aei_fma_f32(k, 0.000212194440f, aei_fma_f32(k, -0.693359375f, y));
    float p = aei_from_bits_f32(aei_bits_f32(aei_exp_near_0_f32(r)) + (aei_bits_f32(sum) << 23));
    return x < -104.0f ? 0.0f : p * aei_fma_f32(r, 0.0f, 0x1p-64f);
}
AE_INLINE double ae_exp_down_f64(double x)
{
    double y = x < -746.0 ? 0.0 : x, up = AE_ROUND_f64 + 512.0;
    double sum = aei_fma_f64(y, 1.4426950408889634, up), k = sum - up;
    double r = aei_fma_f64(k, -2.8235290563031577e-13, aei_fma_f64(k, -0.693147180559663, y));
    double p = aei_from_bits_f64(aei_bits_f64(aei_exp_near_0_f64(r)) + (aei_bits_f64(sum) << 52));
    return x < -746.0 ? 0.0 : p * aei_fma_f64(r, 0.0, 0x1p-512);
}

/* 2^r for |r| <= 1/2: 1 + r P(r), P of least maximal error, 2^-29 and 2^-58. */
AE_INLINE float aei_exp2_near_0_f32(float r)
{
    float p = 0.000154763315f;
    p = aei_fma_f32(p, r, 0.00134002964f);
    p = aei_fma_f32(p, r, 0.00961800385f);
    p = aei_fma_f32(p, r, 0.055503279f);
    p = aei_fma_f32(p, r, 0.240226507f);
    p = aei_fma_f32(p, r, 0.693147182f);
    return aei_fma_f32(p, r, 1.0f);
}
AE_INLINE double aei_exp2_near_0_f64(double r)
{
    double p = 4.4573867788049337e-10;
    p = aei_fma_f64(p, r, 7.0738676134060675e-09);
    p = aei_fma_f64(p, r, 1.0178046468304343e-07);
    p = aei_fma_f64(p, r, 1.3215434776276622e-06);
    p = aei_fma_f64(p, r, 1.5252733867512809e-05);
    p = aei_fma_f64(p, r, 0.00015403530458155088);
    p = aei_fma_f64(p, r, 0.001333355814637908);
    p = aei_fma_f64(p, r, 0.009618129107593278);
    p = aei_fma_f64(p, r, 0.05550410866482174);
    p = aei_fma_f64(p, r, 0.24022650695910133);
    p = aei_fma_f64(p, r, 0.6931471805599453);
    return aei_fma_f64(p, r, 1.0);
}

/* exp2(x) = 2^k 2^(x - k) with k = round(x); exact at integers. Within 2 ulp. */
AE_INLINE float ae_exp2_f32(float x)
{
    float y = aei_clamp_f32(x, -151.0f, 129.0f);
    float k = (y + AE_ROUND_f32) - AE_ROUND_f32;
    return aei_scale_f32(aei_exp2_near_0_f32(y - k), k);
}
AE_INLINE double ae_exp2_f64(double x)
{
    double y = aei_clamp_f64(x, -1076.0, 1025.0);
    double k = (y + AE_ROUND_f64) - AE_ROUND_f64;
    return aei_scale_f64(aei_exp2_near_0_f64(y - k), k);
}

/* exp(x) - 1 = 2^k q + (2^k - 1) with q = exp(r) - 1 = r + r^2 P(r), P of least maximal relative
   error, 2^-32 and 2^-61; halved throughout, as 2^k may overflow where exp(x) does not. For x that
   the callers have clamped. */
AE_INLINE float aei_expm1_inner_f32(float x)
{
    float r, k = aei_reduce_exp_f32(x, &r), p = 0.000199141999f;
    p = aei_fma_f32(p, r, 0.00139410282f);
    p = aei_fma_f32(p, r, 0.00833327323f);
    p = aei_fma_f32(p, r, 0.041666355f);
    p = aei_fma_f32(p, r, 0.166666672f);
    p = aei_fma_f32(p, r, 0.5f);
    float q = aei_fma_f32(r * r, p, r);
    float half = aei_power_of_2_f32((k - 1.0f) + AE_ROUND_f32);
    return 2.0f * aei_fma_f32(half, q, half - 0.5f);
}
AE_INLINE double aei_expm1_inner_f64(double x)
{
    double r, k = aei_reduce_exp_f64(x, &r), p = 2.0924450316985283e-09;
    p = aei_fma_f64(p, r, 2.510906624912349e-08);
    p = aei_fma_f64(p, r, 2.7557242746500043e-07);
    p = aei_fma_f64(p, r, 2.755724412570403e-06);
    p = aei_fma_f64(p, r, 2.4801587360557986e-05);
    p = aei_fma_f64(p, r, 0.00019841269886208867);
    p = aei_fma_f64(p, r, 0.0013888888888866845);
    p = aei_fma_f64(p, r, 0.008333333333321598);
    p = aei_fma_f64(p, r, 0.0416666666666667);
    p = aei_fma_f64(p, r, 0.16666666666666677);
    p = aei_fma_f64(p, r, 0.5);
    double q = aei_fma_f64(r * r, p, r);
    double half = aei_power_of_2_f64((k - 1.0) + AE_ROUND_f64);
    return 2.0 * aei_fma_f64(half, q, half - 0.5);
}

/* exp(x) - 1; -1 below the clamp, x itself where x^2/2 does not count. Within 2 ulp. */
AE_INLINE float ae_expm1_f32(float x)
{
    float y = aei_expm1_inner_f32(aei_clamp_f32(x, -20.0f, 89.0f));
    return __builtin_fabsf(x) < 0x1p-26f ? x : y;
}
AE_INLINE double ae_expm1_f64(double x)
{
    double y = aei_expm1_inner_f64(aei_clamp_f64(x, -45.0, 710.0));
    return __builtin_fabs(x) < 0x1p-55 ? x : y;
}

/* tanh(x) = E / (E + 2) with E = exp(2|x|) - 1, and the sign of x. Within 3 ulp. */
AE_INLINE float ae_tanh_f32(float x)
{
    float a = __builtin_fabsf(x);
    float e = aei_expm1_inner_f32(2.0f * (a > 10.0f ? 10.0f : a));
    return __builtin_copysignf(e / (e + 2.0f), x);
}
AE_INLINE double ae_tanh_f64(double x)
{
    double a = __builtin_fabs(x);
    double e = aei_expm1_inner_f64(2.0 * (a > 20.0 ? 20.0 : a));
    return __builtin_copysign(e / (e + 2.0), x);
}

/* 1 / (1 + exp(-x)) as t / (1 + t) or 1 / (1 + t) with t = exp(-|x|), which cannot overflow and
   keeps its digits where the result is small. Within 3 ulp. */
AE_INLINE float ae_sigmoid_f32(float x)
{
    float t = ae_exp_down_f32(-__builtin_fabsf(x));
    return (x < 0.0f ? t : 1.0f) / (1.0f + t);
}
AE_INLINE double ae_sigmoid_f64(double x)
{
    double t = ae_exp_down_f64(-__builtin_fabs(x));
    return (x < 0.0 ? t : 1.0) / (1.0 + t);
}

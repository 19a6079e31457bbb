/* 2/pi modulo 4 units in the last place of the float32 in [16^j, 16^(j+1)), for j = 0..31, in two
   parts, of which the first has 29 bits: its product with a float32 is exact in float64. */
static const double aei_two_over_pi[64] __attribute__((unused)) = {
    0x1.45f306e000000p-1, -0x1.b1bbead603d8bp-32,
    0x1.45f306e000000p-1, -0x1.b1bbead603d8bp-32,
    0x1.45f306e000000p-1, -0x1.b1bbead603d8bp-32,
    0x1.45f306e000000p-1, -0x1.b1bbead603d8bp-32,
    0x1.45f306e000000p-1, -0x1.b1bbead603d8bp-32,
    0x1.45f306e000000p-1, -0x1.b1bbead603d8bp-32,
    0x1.45f306e000000p-1, -0x1.b1bbead603d8bp-32,
    0x1.7cc1b7p-7, 0x1.391054a7f09d6p-34,
    0x1.f306dca000000p-9, -0x1.bbead603d8a83p-40,
    0x1.9836e4e000000p-12, 0x1.1054a7f09d5f4p-42,
    0x1.836e4e4000000p-16, 0x1.054a7f09d5f48p-46,
    0x1.b72722p-23, 0x1.529fc2757d1f5p-52,
    0x1.6e4e441000000p-24, 0x1.4a7f09d5f47d5p-54,
    0x1.c9c882a000000p-29, 0x1.4fe13abe8fa9ap-59,
    0x1.391054c000000p-34, -0x1.80f62a0b82b2dp-62,
    0x1.c882a54000000p-37, -0x1.ec54170565912p-71,
    0x1.1054a8p-42, -0x1.ec54170565912p-71,
    0x1.054a7fp-46, 0x1.3abe8fa9a6ee0p-75,
    0x1.529fc2p-52, 0x1.d5f47d4d37703p-78,
    0x1.529fc27000000p-52, 0x1.5f47d4d377037p-82,
    0x1.29fc275000000p-56, 0x1.f47d4d377036ep-86,
    0x1.3f84ebp-61, -0x1.70565911f924fp-91,
    0x1.fc2757d000000p-64, 0x1.f534ddc0db629p-96,
    0x1.c2757d2000000p-68, -0x1.596447e493ad5p-101,
    0x1.3abe8f8000000p-75, 0x1.4d377036d8a56p-102,
    0x1.d5f47d4000000p-78, 0x1.a6ee06db14acdp-107,
    0x1.57d1f53000000p-80, 0x1.377036d8a5665p-110,
    0x1.7d1f535000000p-84, -0x1.11f924eb53362p-115,
    0x1.d1f534e000000p-88, -0x1.1f924eb53361ep-119,
    0x1.1f534de000000p-92, -0x1.f924eb53361dep-123,
    0x1.f534ddc000000p-96, 0x1.b6c52b3278872p-129,
    0x1.534ddc1000000p-100, -0x1.24eb53361de38p-131
};

/* x = (k + f) pi/2 modulo 2 pi, |f| <= 1/2: r = f pi/2 is stored, and bits whose lowest two are
   those of k are returned. For every finite x: the table drops the multiples of 4 that do not
   count, and no float32 is nearer to a multiple of pi/2 than 1e-9, while x times the parts of 2/pi
   is right to 2^-53. NaN at infinities. */
AE_INLINE uint32_t aei_quadrant_f32(float x, float *r)
{
    double y = x;
    int64_t j = (int64_t)(aei_bits_f64(y) >> 52 & 2047u) - 1023;
    j = j < 0 ? 0 : (j > 127 ? 127 : j);
    j = (j & 124) >> 1;
    double high = y * aei_two_over_pi[j], low = y * aei_two_over_pi[j + 1];
    double sum = (high + low) + AE_ROUND_f64, k = sum - AE_ROUND_f64;
    *r = (float)(((high - k) + low) * 1.5707963267948966);
    return (uint32_t)aei_bits_f64(sum);
}

/* sin(r) = r + r^3 S(r^2) for |r| <= pi/4, S of least maximal error, 2^-28. */
AE_INLINE float aei_sin_near_0_f32(float r)
{
    float z = r * r, p = -0.000195172164f;
    p = aei_fma_f32(p, z, 0.008332178f);
    p = aei_fma_f32(p, z, -0.166666552f);
    return aei_fma_f32(p, z * r, r);
}

/* cos(r) = 1 - r^2/2 + r^4 C(r^2) for |r| <= pi/4, C of least maximal error, 2^-33. */
AE_INLINE float aei_cos_near_0_f32(float r)
{
    float z = r * r, p = 2.44383609e-05f;
    p = aei_fma_f32(p, z, -0.00138873665f);
    p = aei_fma_f32(p, z, 0.0416666456f);
    return aei_fma_f32(p, z * z, aei_fma_f32(z, -0.5f, 1.0f));
}

/* sin(x): the sine or cosine of r, negated in the quadrants 2 and 3. Within 2 ulp. */
AE_INLINE float ae_sin_f32(float x)
{
    float r;
    uint32_t k = aei_quadrant_f32(x, &r);
    float y = (k & 1u) ? aei_cos_near_0_f32(r) : aei_sin_near_0_f32(r);
    y = aei_from_bits_f32(aei_bits_f32(y) ^ (k & 2u) << 30);
    return x == 0.0f ? x : y;
}

/* cos(x) = sin(x + pi/2). Within 2 ulp. */
AE_INLINE float ae_cos_f32(float x)
{
    float r;
    uint32_t k = aei_quadrant_f32(x, &r) + 1u;
    float y = (k & 1u) ? aei_cos_near_0_f32(r) : aei_sin_near_0_f32(r);
    return aei_from_bits_f32(aei_bits_f32(y) ^ (k & 2u) << 30);
}

/* tan(x) = tan(r) in even and -1/tan(r) in odd quadrants. Within 4 ulp. */
AE_INLINE float ae_tan_f32(float x)
{
    float r;
    uint32_t k = aei_quadrant_f32(x, &r);
    float s = aei_sin_near_0_f32(r), c = aei_cos_near_0_f32(r);
    float y = ((k & 1u) ? -c : s) / ((k & 1u) ? s : c);
    return x == 0.0f ? x : y;
}

/* a - b without error: the rounded difference, and what it lost. */
AE_INLINE double aei_difference_f64(double a, double b, double *lost)
{
    double d = a - b, part = a - d;
    *lost = (a - (d + part)) + (part - b);
    return d;
}

/* Up to where aei_quadrant_f64 is right: its k has 20 bits. */
#define AE_NEAR_f64 0x1.8p19

/* x = k pi/2 + r + tail with |r| <= pi/4, for |x| < AE_NEAR_f64: pi/2 in four parts, the first
   three of 33 bits, so that k times them is exact, and so are the differences as pairs. */
AE_INLINE uint64_t aei_quadrant_f64(double x, double *r, double *tail)
{
    double sum = aei_fma_f64(x, 0.6366197723675814, AE_ROUND_f64), k = sum - AE_ROUND_f64;
    double lost2, lost3, d = x - k * 0x1.921fb54400000p+0;
    d = aei_difference_f64(d, k * 0x1.0b4611a600000p-34, &lost2);
    d = aei_difference_f64(d, k * 0x1.3198a2e000000p-69, &lost3);
    double low = (lost2 + lost3) - k * 0x1.b839a252049c1p-104;
    *r = d + low;
    *tail = (d - *r) + low;
    return aei_bits_f64(sum);
}

/* sin(r + t) = r + (r^3 S(r^2) + t cos r), cos r as 1 - r^2/2; S of least maximal error, 2^-58. */
AE_INLINE double aei_sin_near_0_f64(double r, double t)
{
    double z = r * r, p = 1.5896786730219887e-10;
    p = aei_fma_f64(p, z, -2.505075796602843e-08);
    p = aei_fma_f64(p, z, 2.755731369099546e-06);
    p = aei_fma_f64(p, z, -0.00019841269829805238);
    p = aei_fma_f64(p, z, 0.008333333333322411);
    p = aei_fma_f64(p, z, -0.16666666666666632);
    return r + aei_fma_f64(p, z * r, t * aei_fma_f64(z, -0.5, 1.0));
}

/* cos(r + t) = 1 - r^2/2 + (r^4 C(r^2) - r t), C of least maximal error, 2^-63; 1 - r^2/2 as the
   rounded h and what it lost. */
AE_INLINE double aei_cos_near_0_f64(double r, double t)
{
    double z = r * r, half = 0.5 * z, h = 1.0 - half, p = -1.1365735827579173e-11;
    p = aei_fma_f64(p, z, 2.0875850451183687e-09);
    p = aei_fma_f64(p, z, -2.7557315375706373e-07);
    p = aei_fma_f64(p, z, 2.480158729341466e-05);
    p = aei_fma_f64(p, z, -0.0013888888888881259);
    p = aei_fma_f64(p, z, 0.04166666666666665);
    return h + (((1.0 - h) - half) + aei_fma_f64(p, z * z, -(r * t)));
}

/* Arguments of more than 20 bits before the point, which are rare, go to libm. */
AE_LANES double aei_sin_far_f64(double x, double y) { return fabs(x) < AE_NEAR_f64 ? y : sin(x); }
AE_LANES double aei_cos_far_f64(double x, double y) { return fabs(x) < AE_NEAR_f64 ? y : cos(x); }
AE_LANES double aei_tan_far_f64(double x, double y) { return fabs(x) < AE_NEAR_f64 ? y : tan(x); }

/* sin(x): the sine or cosine of r, negated in the quadrants 2 and 3. Within 2 ulp. */
AE_INLINE double ae_sin_f64(double x)
{
    double r, t;
    uint64_t k = aei_quadrant_f64(x, &r, &t);
    double y = (k & 1u) ? aei_cos_near_0_f64(r, t) : aei_sin_near_0_f64(r, t);
    y = aei_from_bits_f64(aei_bits_f64(y) ^ (k & 2u) << 62);
    return aei_sin_far_f64(x, x == 0.0 ? x : y);
}

/* cos(x) = sin(x + pi/2). Within 2 ulp. */
AE_INLINE double ae_cos_f64(double x)
{
    double r, t;
    uint64_t k = aei_quadrant_f64(x, &r, &t) + 1u;
    double y = (k & 1u) ? aei_cos_near_0_f64(r, t) : aei_sin_near_0_f64(r, t);
    return aei_cos_far_f64(x, aei_from_bits_f64(aei_bits_f64(y) ^ (k & 2u) << 62));
}

/* tan(x) = tan(r) in even and -1/tan(r) in odd quadrants. Within 4 ulp. */
AE_INLINE double ae_tan_f64(double x)
{
    double r, t;
    uint64_t k = aei_quadrant_f64(x, &r, &t);
    double s = aei_sin_near_0_f64(r, t), c = aei_cos_near_0_f64(r, t);
    double y = ((k & 1u) ? -c : s) / ((k & 1u) ? s : c);
    return aei_tan_far_f64(x, x == 0.0 ? x : y);
}

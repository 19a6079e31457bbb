/* erf(x), odd. For a = |x| below c: a + a S(a^2). From c on, with u = min(a, top) - c,
   erf(c) + erfc(c) (1 - (1 - u W(u))^16): the sixteenth root of erfc falls gently enough for a
   polynomial, and four steps v -> v (2 - v) undo it while they keep the relative error of v. The
   polynomials have least maximal error in erf, below 2^-26 and 2^-53. Within 2 ulp. */
AE_INLINE float ae_erf_f32(float x)
{
    float a = __builtin_fabsf(x), z = a * a, u = (a > 4.0999999f ? 4.0999999f : a) - 0.875f;
    float s = -0.000620325154f, v = -7.63735534e-06f;
    s = aei_fma_f32(s, z, 0.00503218453f);
    s = aei_fma_f32(s, z, -0.0267914683f);
    s = aei_fma_f32(s, z, 0.112824559f);
    s = aei_fma_f32(s, z, -0.376125515f);
    s = aei_fma_f32(s, z, 0.128379151f);
    v = aei_fma_f32(v, u, 0.00034164064f);
    v = aei_fma_f32(v, u, -0.0019489252f);
    v = aei_fma_f32(v, u, -0.00431754859f);
    v = aei_fma_f32(v, u, 0.0401214212f);
    v = aei_fma_f32(v, u, 0.151888862f);
    v *= u;
    v *= 2.0f - v;
    v *= 2.0f - v;
    v *= 2.0f - v;
    v *= 2.0f - v;
    float far = aei_fma_f32(v, 0.215924919f, 0.784075081f);
    float y = a < 0.875f ? aei_fma_f32(a, s, a) : far;
    return x == x ? __builtin_copysignf(y, x) : x;
}
AE_INLINE double ae_erf_f64(double x)
{
    double a = __builtin_fabs(x), z = a * a, u = (a > 5.95 ? 5.95 : a) - 1.125;
    double s = 5.265727231181895e-11, v = 9.593253572951658e-13;
    s = aei_fma_f64(s, z, -1.0921378543237676e-09);
    s = aei_fma_f64(s, z, 1.4530371735934702e-08);
    s = aei_fma_f64(s, z, -1.6328936519849505e-07);
    s = aei_fma_f64(s, z, 1.645875430067083e-06);
    s = aei_fma_f64(s, z, -1.4925438924936241e-05);
    s = aei_fma_f64(s, z, 0.0001205532383337286);
    s = aei_fma_f64(s, z, -0.0008548326757262601);
    s = aei_fma_f64(s, z, 0.00522397762045538);
    s = aei_fma_f64(s, z, -0.026866170644573615);
    s = aei_fma_f64(s, z, 0.11283791670951876);
    s = aei_fma_f64(s, z, -0.37612638903183676);
    s = aei_fma_f64(s, z, 0.12837916709551256);
    v = aei_fma_f64(v, u, -8.09993457818408e-12);
    v = aei_fma_f64(v, u, -1.0797153669110503e-10);
    v = aei_fma_f64(v, u, 2.502854194385904e-09);
    v = aei_fma_f64(v, u, -2.3365194774903255e-08);
    v = aei_fma_f64(v, u, 1.3220194655944067e-07);
    v = aei_fma_f64(v, u, -4.7368857581442834e-07);
    v = aei_fma_f64(v, u, 1.3641827589260833e-06);
    v = aei_fma_f64(v, u, -6.580437230240242e-06);
    v = aei_fma_f64(v, u, 7.525552976114045e-06);
    v = aei_fma_f64(v, u, 0.0003309193952598543);
    v = aei_fma_f64(v, u, -0.0015915009085816002);
    v = aei_fma_f64(v, u, -0.006308748517772228);
    v = aei_fma_f64(v, u, 0.037729600093875604);
    v = aei_fma_f64(v, u, 0.17822603036925214);
    v *= u;
    v *= 2.0 - v;
    v *= 2.0 - v;
    v *= 2.0 - v;
    v *= 2.0 - v;
    double far = aei_fma_f64(v, 0.11161176829829222, 0.8883882317017078);
    double y = a < 1.125 ? aei_fma_f64(a, s, a) : far;
    return x == x ? __builtin_copysign(y, x) : x;
}

/* Functions of one number, written so that a loop which calls them vectorises: no branches, only
   arithmetic, integer operations on the bits and selections. They are right at both ends of the
   range, for denormals, zeros of either sign, infinities and NaN, and rely on IEEE arithmetic as
   it stands: compile them without -ffast-math and its parts, but for -fno-math-errno and
   -fno-trapping-math. "ulp" below is the unit in the last place of the exact result. Names that
   begin with aei_ are of no use elsewhere. */
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Floats of 16 bits in memory: nothing computes with them by accident. */
typedef struct { uint16_t bits; } ae_float16;
typedef struct { uint16_t bits; } ae_bfloat16;

#define AE_INLINE static inline __attribute__((always_inline, unused))

/* A function that goes element by element, by libm: gcc gets a version of it that takes and
   returns vectors, so that the rest of the loop it is called in vectorises all the same. */
#if defined(__GNUC__) && !defined(__clang__)
#define AE_LANES static __attribute__((noinline, unused, const, simd("notinbranch")))
#else
#define AE_LANES static __attribute__((noinline, unused, const))
#endif

/* x y + z: rounded once where the processor can, twice where that would be a call. */
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(FP_FAST_FMA)
#define AE_FMA 1
AE_INLINE float aei_fma_f32(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
AE_INLINE double aei_fma_f64(double x, double y, double z) { return __builtin_fma(x, y, z); }
#else
#define AE_FMA 0
AE_INLINE float aei_fma_f32(float x, float y, float z) { return x * y + z; }
AE_INLINE double aei_fma_f64(double x, double y, double z) { return x * y + z; }
#endif

#define AE_INF_f32 __builtin_inff()
#define AE_INF_f64 __builtin_inf()
#define AE_NAN_f32 __builtin_nanf("")
#define AE_NAN_f64 __builtin_nan("")

AE_INLINE uint32_t aei_bits_f32(float x) { uint32_t u; memcpy(&u, &x, sizeof u); return u; }
AE_INLINE uint64_t aei_bits_f64(double x) { uint64_t u; memcpy(&u, &x, sizeof u); return u; }
AE_INLINE float aei_from_bits_f32(uint32_t u) { float x; memcpy(&x, &u, sizeof x); return x; }
AE_INLINE double aei_from_bits_f64(uint64_t u) { double x; memcpy(&x, &u, sizeof x); return x; }

/* Adding AE_ROUND rounds to an integer, half to even, and leaves that integer in the low bits of
   the sum, two's complement: a conversion that every vector unit has. Good to 2^22 and 2^51. */
#define AE_ROUND_f32 0x1.8p23f
#define AE_ROUND_f64 0x1.8p52

/* 2^k for the k that `sum` = k + AE_ROUND holds; k is an exponent of normal numbers. */
AE_INLINE float aei_power_of_2_f32(float sum)
{
    return aei_from_bits_f32((aei_bits_f32(sum) << 23) + 0x3f800000u);
}
AE_INLINE double aei_power_of_2_f64(double sum)
{
    return aei_from_bits_f64((aei_bits_f64(sum) << 52) + 0x3ff0000000000000u);
}

/* p 2^k, rounded once, for any k that two normal powers of 2 reach: into overflow and denormals. */
AE_INLINE float aei_scale_f32(float p, float k)
{
    float half = k * 0.5f + AE_ROUND_f32;
    float rest = (k - (half - AE_ROUND_f32)) + AE_ROUND_f32;
    return p * aei_power_of_2_f32(half) * aei_power_of_2_f32(rest);
}
AE_INLINE double aei_scale_f64(double p, double k)
{
    double half = k * 0.5 + AE_ROUND_f64;
    double rest = (k - (half - AE_ROUND_f64)) + AE_ROUND_f64;
    return p * aei_power_of_2_f64(half) * aei_power_of_2_f64(rest);
}

/* x within [low, high]; NaN stays NaN. */
AE_INLINE float aei_clamp_f32(float x, float low, float high)
{
    x = x > high ? high : x;
    return x < low ? low : x;
}
AE_INLINE double aei_clamp_f64(double x, double low, double high)
{
    x = x > high ? high : x;
    return x < low ? low : x;
}

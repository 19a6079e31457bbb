/* In this file `real` and `_fX` stand for float and _f32, then for double and _f64; AE_LIBM(name)
   for namef and name. All of it is exact, and agrees with NumPy. */

/* The larger of two, the second where they are equal, as two zeros are; NaN where either is. Written
   so that compilers see a choice between values and no branch, of which two in a row would not be
   vectors; of a number that is known not to be NaN one comparison is left. */
AE_INLINE real ae_maximum_fX(real x, real y) { return (!(x <= y) & (y == y)) ? x : y; }

/* The smaller of two, likewise. */
AE_INLINE real ae_minimum_fX(real x, real y) { return (!(x >= y) & (y == y)) ? x : y; }

/* The larger of two; the other one where one is NaN. */
AE_INLINE real ae_fmax_fX(real x, real y) { return (!(x < y) & (x == x)) ? x : y; }

/* The smaller of two; the other one where one is NaN. */
AE_INLINE real ae_fmin_fX(real x, real y) { return (!(x > y) & (x == x)) ? x : y; }

/* -1, 0 or 1; NaN at NaN, and +0 at -0. */
AE_INLINE real ae_sign_fX(real x)
{
    real s = x > 0 ? (real)1 : (x < 0 ? (real)-1 : (real)0);
    return x == x ? s : x;
}

/* |x| */
AE_INLINE real ae_abs_fX(real x) { return AE_LIBM(__builtin_fabs)(x); }

/* The size of x with the sign of y. */
AE_INLINE real ae_copysign_fX(real x, real y) { return AE_LIBM(__builtin_copysign)(x, y); }

/* The square root, rounded once. */
AE_INLINE real ae_sqrt_fX(real x) { return AE_LIBM(__builtin_sqrt)(x); }

/* x x */
AE_INLINE real ae_square_fX(real x) { return x * x; }

/* 1 / x */
AE_INLINE real ae_reciprocal_fX(real x) { return (real)1 / x; }

/* Rounded down. */
AE_INLINE real ae_floor_fX(real x) { return AE_LIBM(__builtin_floor)(x); }

/* Rounded up. */
AE_INLINE real ae_ceil_fX(real x) { return AE_LIBM(__builtin_ceil)(x); }

/* Rounded towards 0. */
AE_INLINE real ae_trunc_fX(real x) { return AE_LIBM(__builtin_trunc)(x); }

/* Rounded to the nearest integer, half to even. */
AE_INLINE real ae_rint_fX(real x) { return AE_LIBM(__builtin_rint)(x); }

/* Whether x is not a number. */
AE_INLINE int ae_isnan_fX(real x) { return x != x; }

/* Whether x is infinite. */
AE_INLINE int ae_isinf_fX(real x) { return AE_LIBM(__builtin_fabs)(x) == AE_INF_fX; }

/* Whether x is neither infinite nor NaN. */
AE_INLINE int ae_isfinite_fX(real x) { return AE_LIBM(__builtin_fabs)(x) < AE_INF_fX; }

/* Whether the sign bit is set, of zeros and NaN too. */
AE_INLINE int ae_signbit_fX(real x) { return AE_LIBM(__builtin_copysign)((real)1, x) < 0; }

/* x - floor(x / y) y, computed without rounding but for the last addition; it has the sign of y. */
AE_LANES real ae_remainder_fX(real x, real y)
{
    real m = AE_LIBM(fmod)(x, y);
    if (y == 0)
        return AE_NAN_fX;
    if (m == 0)
        return AE_LIBM(copysign)(0, y);
    return (y < 0) != (m < 0) ? m + y : m;
}

/* floor(x / y) from the exact remainder, so that it agrees with the remainder; x / y at y = 0. */
AE_LANES real ae_floor_divide_fX(real x, real y)
{
    if (y == 0)
        return x / y;
    real m = AE_LIBM(fmod)(x, y), q = (x - m) / y;
    if (m != 0 && (y < 0) != (m < 0))
        q -= 1;
    if (q == 0)
        return AE_LIBM(copysign)(0, x / y);
    real whole = AE_LIBM(floor)(q);
    return q - whole > (real)0.5 ? whole + 1 : whole;
}

/* The remainder of the division that rounds towards 0; it has the sign of x. */
AE_LANES real ae_fmod_fX(real x, real y) { return AE_LIBM(fmod)(x, y); }

/* x y + z, as steps of a polynomial: rounded once where the processor can. */
AE_INLINE real ae_multiply_add_fX(real x, real y, real z) { return aei_fma_fX(x, y, z); }

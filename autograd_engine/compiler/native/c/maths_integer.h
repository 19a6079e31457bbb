/* In this file `whole`, `natural` and `_iX` stand for int32_t, uint32_t and _i32, then for int64_t,
   uint64_t and _i64. What overflows wraps around, as in NumPy. */

/* |x| */
AE_INLINE whole ae_abs_iX(whole x) { return (whole)(x < 0 ? 0 - (natural)x : (natural)x); }

/* -1, 0 or 1 */
AE_INLINE whole ae_sign_iX(whole x) { return (whole)(x > 0) - (whole)(x < 0); }

/* x x */
AE_INLINE whole ae_square_iX(whole x) { return (whole)((natural)x * (natural)x); }

/* The larger of two. */
AE_INLINE whole ae_maximum_iX(whole x, whole y) { return x < y ? y : x; }

/* The smaller of two. */
AE_INLINE whole ae_minimum_iX(whole x, whole y) { return x > y ? y : x; }

/* The larger of two. */
AE_INLINE whole ae_fmax_iX(whole x, whole y) { return x < y ? y : x; }

/* The smaller of two. */
AE_INLINE whole ae_fmin_iX(whole x, whole y) { return x > y ? y : x; }

/* floor(x / y); 0 at y = 0. */
AE_LANES whole ae_floor_divide_iX(whole x, whole y)
{
    if (y == 0)
        return 0;
    if (y == -1)
        return (whole)(0 - (natural)x);
    whole q = x / y;
    return q - (whole)((x < 0) != (y < 0) && q * y != x);
}

/* x - floor(x / y) y, with the sign of y; 0 at y = 0. */
AE_LANES whole ae_remainder_iX(whole x, whole y)
{
    if (y == 0 || y == -1)
        return 0;
    whole m = x % y;
    return m != 0 && (m < 0) != (y < 0) ? m + y : m;
}

/* x - trunc(x / y) y, with the sign of x; 0 at y = 0. */
AE_LANES whole ae_fmod_iX(whole x, whole y) { return y == 0 || y == -1 ? 0 : x % y; }

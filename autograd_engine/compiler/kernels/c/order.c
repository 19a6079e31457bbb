/* The first elements of rows in order. NaN is larger than any number, and of equal elements the
   first comes first. */

struct ordered_fX {
    const real *x;
    real *values;
    int64_t *index;
    int64_t n, k;
    int largest;
};

AE_INLINE int before_fX(int largest, real x, real y)
{
    return largest ? x > y || (x != x && y == y) : x < y || (y != y && x == x);
}

/* Whether one of `count` elements may come before y. */
AE_INLINE int some_fX(int largest, const real *x, int64_t count, real y)
{
    int found = 0;
#pragma omp simd reduction(| : found)
    for (int64_t j = 0; j < count; j++)
        found |= largest ? !(x[j] <= y) : !(x[j] >= y);
    return found;
}

enum { AT_ONCE = 64 };

/* What has been met of a row so far, in order: an element goes in front of those that it comes
   before. Most of them come behind the last, and many are seen to do so at once. */
AE_INLINE void topk_row_fX(int largest, int64_t n, int64_t k, const real *x, real *values,
                           int64_t *index)
{
    int64_t kept = 0;
    for (int64_t start = 0; start < n; start += AT_ONCE) {
        int64_t end = start + AT_ONCE < n ? start + AT_ONCE : n;
        if (kept == k && !some_fX(largest, x + start, end - start, values[k - 1]))
            continue;
        for (int64_t j = start; j < end; j++) {
            if (kept == k && !before_fX(largest, x[j], values[k - 1]))
                continue;
            int64_t at = kept < k ? kept++ : k - 1;
            for (; at > 0 && before_fX(largest, x[j], values[at - 1]); at--) {
                values[at] = values[at - 1];
                index[at] = index[at - 1];
            }
            values[at] = x[j];
            index[at] = j;
        }
    }
}

static void topk_rows_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct ordered_fX *c = context;
    (void)worker;
    for (int64_t i = lo; i < hi; i++) {
        const real *x = c->x + i * c->n;
        real *values = c->values + i * c->k;
        int64_t *index = c->index + i * c->k;
        if (c->largest)
            topk_row_fX(1, c->n, c->k, x, values, index);
        else
            topk_row_fX(0, c->n, c->k, x, values, index);
    }
}

AE_FUNCTION topk_fX(ae_array x, ae_array values, ae_array index, int64_t rows, int64_t n, int64_t k,
                    int largest)
{
    struct ordered_fX c = {AE_DATA(const real, x), AE_DATA(real, values), AE_DATA(int64_t, index),
                           n, k, largest};
    ae_parallel(topk_rows_fX, &c, rows, ae_grain(n + k * k));
    ae_quiet();
}

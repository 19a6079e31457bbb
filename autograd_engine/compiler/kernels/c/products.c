/* Products with nothing to sum over. */

struct outer_fX {
    const real *x, *y;
    real *out;
    int64_t m, n;
};

static void outer_part_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct outer_fX *c = context;
    (void)worker;
    for (int64_t i = lo; i < hi; i++) {
        const real *y = c->y + i / c->m * c->n;
        real x = c->x[i], *out = c->out + i * c->n;
#pragma omp simd
        for (int64_t j = 0; j < c->n; j++)
            out[j] = x * y[j];
    }
}

/* x[b][m] y[b][n] in out[b][m][n]. */
AE_FUNCTION outer_fX(ae_array x, ae_array y, ae_array out, int64_t count, int64_t m, int64_t n)
{
    struct outer_fX c = {AE_DATA(const real, x), AE_DATA(const real, y), AE_DATA(real, out), m, n};
    ae_parallel(outer_part_fX, &c, count * m, ae_grain(2 * n));
    ae_quiet();
}

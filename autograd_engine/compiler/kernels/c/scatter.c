/* Adding up at places that an index names, in its order. */

struct added_fX {
    real *out;
    const int64_t *rows;
    const real *values;
    int64_t count, width;
};

/* Columns [lo, hi) of all rows: each element of the result is summed by one thread, in order. */
static void add_columns_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct added_fX *c = context;
    (void)worker;
    for (int64_t i = 0; i < c->count; i++) {
        real *out = c->out + c->rows[i] * c->width;
        const real *values = c->values + i * c->width;
#pragma omp simd
        for (int64_t j = lo; j < hi; j++)
            out[j] += values[j];
    }
}

/* Add row i of `values` to row rows[i] of `out`. */
AE_FUNCTION add_rows_fX(ae_array out, ae_array rows, ae_array values, int64_t count, int64_t width)
{
    struct added_fX c = {AE_DATA(real, out), AE_DATA(const int64_t, rows),
                         AE_DATA(const real, values), count, width};
    int64_t grain = ae_grain(count);
    ae_parallel(add_columns_fX, &c, width, grain < 64 ? 64 : grain);
    ae_quiet();
}

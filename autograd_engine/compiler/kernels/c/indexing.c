/* Reading, and adding up, at places that an index names, in its order. Indices are in range. */

struct added_fX {
    real *out;
    const int64_t *rows;
    const real *values;
    int64_t count, width, size;
};

AE_INLINE void add_block_fX(const struct added_fX *c, int64_t o, int64_t lo, int64_t hi)
{
    for (int64_t i = 0; i < c->count; i++) {
        real *out = c->out + (o * c->size + c->rows[i]) * c->width;
        const real *values = c->values + (o * c->count + i) * c->width;
#pragma omp simd
        for (int64_t j = lo; j < hi; j++)
            out[j] += values[j];
    }
}

/* Columns [lo, hi) of all rows: each element of the result is summed by one thread, in order. */
static void add_columns_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    (void)worker;
    add_block_fX(context, 0, lo, hi);
}

static void add_blocks_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct added_fX *c = context;
    (void)worker;
    for (int64_t o = lo; o < hi; o++)
        if (c->width == 1)
            add_block_fX(c, o, 0, 1);
        else
            add_block_fX(c, o, 0, c->width);
}

/* Add row i of each block of `values` to row rows[i] of that block of `out`, of `size` rows. */
AE_FUNCTION add_rows_fX(ae_array out, ae_array rows, ae_array values, int64_t blocks, int64_t size,
                        int64_t count, int64_t width)
{
    struct added_fX c = {AE_DATA(real, out), AE_DATA(const int64_t, rows),
                         AE_DATA(const real, values), count, width, size};
    int64_t grain = ae_grain(count);
    if (blocks > 1)
        ae_parallel(add_blocks_fX, &c, blocks, ae_grain(count * width));
    else
        ae_parallel(add_columns_fX, &c, width, grain < 64 ? 64 : grain);
    ae_quiet();
}

struct taken_fX {
    const real *x;
    const int64_t *rows;
    real *out;
    int64_t width;
};

static void take_rows_of_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct taken_fX *c = context;
    (void)worker;
    for (int64_t i = lo; i < hi; i++)
        memcpy(c->out + i * c->width, c->x + c->rows[i] * c->width,
               (size_t)c->width * sizeof(real));
}

/* Rows of `x` that an index names. */
AE_FUNCTION take_rows_fX(ae_array x, ae_array rows, ae_array out, int64_t count, int64_t width)
{
    struct taken_fX c = {AE_DATA(const real, x), AE_DATA(const int64_t, rows), AE_DATA(real, out),
                         width};
    ae_parallel(take_rows_of_fX, &c, count, ae_grain(2 * width));
}

/* Lines along the middle axis: of [outer, n, inner] and, as many as are indexed, [outer, m, inner]. */
struct lines_fX {
    real *whole, *picked;
    const int64_t *index;
    int64_t n, m, inner;
};

/* Negative indices count from the end. `inner` is a constant 1 where lines are rows. */
AE_INLINE void run_lines_fX(const struct lines_fX *c, int64_t lo, int64_t hi, int adds, int64_t inner)
{
    for (int64_t o = lo; o < hi; o++) {
        real *whole = c->whole + o * c->n * inner;
        for (int64_t i = 0, k = o * c->m * inner; i < c->m; i++)
            for (int64_t j = 0; j < inner; j++, k++) {
                int64_t at = c->index[k];
                at = (at < 0 ? at + c->n : at) * inner + j;
                if (adds)
                    whole[at] += c->picked[k];
                else
                    c->picked[k] = whole[at];
            }
    }
}

static void take_lines_of_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct lines_fX *c = context;
    (void)worker;
    if (c->inner == 1)
        run_lines_fX(c, lo, hi, 0, 1);
    else
        run_lines_fX(c, lo, hi, 0, c->inner);
}

static void add_lines_of_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct lines_fX *c = context;
    (void)worker;
    if (c->inner == 1)
        run_lines_fX(c, lo, hi, 1, 1);
    else
        run_lines_fX(c, lo, hi, 1, c->inner);
}

AE_FUNCTION take_lines_fX(ae_array x, ae_array index, ae_array out, int64_t outer, int64_t n,
                          int64_t m, int64_t inner)
{
    struct lines_fX c = {AE_DATA(real, x), AE_DATA(real, out), AE_DATA(const int64_t, index),
                         n, m, inner};
    ae_parallel(take_lines_of_fX, &c, outer, ae_grain(2 * m * inner));
    ae_quiet();
}

/* Add each element of `x` to that of `out` at its index. */
AE_FUNCTION add_lines_fX(ae_array out, ae_array index, ae_array x, int64_t outer, int64_t n,
                         int64_t m, int64_t inner)
{
    struct lines_fX c = {AE_DATA(real, out), AE_DATA(real, x), AE_DATA(const int64_t, index),
                         n, m, inner};
    ae_parallel(add_lines_of_fX, &c, outer, ae_grain(2 * m * inner));
    ae_quiet();
}

/* Reductions over a short last axis, whose elements follow each other, and over the middle one of
   [outer, n, inner] where the last is short; sums also where it is not. */

struct reduced_fX {
    char *const *args;
    const intptr_t *steps;
    int64_t width;
};

enum { SUM, MAX, MIN };

AE_INLINE real row_fX(int what, const real *x, int64_t n)
{
    real total = x[0];
    for (int64_t j = 1; j < n; j++)
        total = what == SUM   ? total + x[j]
                : what == MAX ? (x[j] > total) | (x[j] != x[j]) ? x[j] : total
                              : (x[j] < total) | (x[j] != x[j]) ? x[j] : total;
    return total;
}

/* The usual widths are constants, so that their loops are rolled out. */
AE_INLINE void rows_fX(const struct reduced_fX *c, int what, int64_t lo, int64_t hi)
{
#define ROWS(n)                                                                                    \
    for (int64_t i = lo; i < hi; i++)                                                              \
    *(real *)(c->args[1] + i * c->steps[1]) =                                                      \
        row_fX(what, (const real *)(c->args[0] + i * c->steps[0]), n)
    switch (c->width) {
    case 2:
        ROWS(2);
        break;
    case 3:
        ROWS(3);
        break;
    case 4:
        ROWS(4);
        break;
    case 8:
        ROWS(8);
        break;
    default:
        ROWS(c->width);
    }
#undef ROWS
}

static void sums_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    (void)worker;
    rows_fX(context, SUM, lo, hi);
}

static void maxima_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    (void)worker;
    rows_fX(context, MAX, lo, hi);
}

static void minima_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    (void)worker;
    rows_fX(context, MIN, lo, hi);
}

AE_UFUNC(sum_fX, "(n)->()")
{
    struct reduced_fX c = {args, steps, dims[1]};
    (void)data;
    ae_parallel(sums_fX, &c, dims[0], ae_grain(c.width));
    ae_quiet();
}

AE_UFUNC(max_fX, "(n)->()")
{
    struct reduced_fX c = {args, steps, dims[1]};
    (void)data;
    ae_parallel(maxima_fX, &c, dims[0], ae_grain(c.width));
    ae_quiet();
}

AE_UFUNC(min_fX, "(n)->()")
{
    struct reduced_fX c = {args, steps, dims[1]};
    (void)data;
    ae_parallel(minima_fX, &c, dims[0], ae_grain(c.width));
    ae_quiet();
}

struct between_fX {
    const real *x;
    real *out;
    int64_t n, inner;
};

/* Blocks are taken some at a time, as additions to one sum wait for each other. */
enum { BLOCKS = 4, INNER = 256 };

/* Of `count` blocks of n rows: elements are added up from 0 on in the order of rows, as NumPy has it,
   and of two zeros the latter is the extremum. */
AE_INLINE __attribute__((always_inline)) void between_rows_fX(int what, const real *x, real *out,
                                                              int64_t count, int64_t n,
                                                              int64_t inner)
{
    real total[BLOCKS][INNER];
    for (int64_t b = 0; b < count; b++)
        for (int64_t j = 0; j < inner; j++)
            total[b][j] = what == SUM ? 0 + x[b * n * inner + j] : x[b * n * inner + j];
    for (int64_t i = 1; i < n; i++)
        for (int64_t b = 0; b < count; b++) {
            const real *row = x + (b * n + i) * inner;
#pragma omp simd
            for (int64_t j = 0; j < inner; j++)
                total[b][j] = what == SUM   ? total[b][j] + row[j]
                              : what == MAX ? ae_maximum_fX(total[b][j], row[j])
                                            : ae_minimum_fX(total[b][j], row[j]);
        }
    for (int64_t b = 0; b < count; b++)
        for (int64_t j = 0; j < inner; j++)
            out[b * inner + j] = total[b][j];
}

/* `inner` is a constant where loops are to be rolled out. */
AE_INLINE __attribute__((always_inline)) void between_blocks_fX(int what,
                                                                const struct between_fX *c,
                                                                int64_t lo, int64_t hi,
                                                                int64_t inner)
{
    int64_t k = lo, block = c->n * inner;
    for (; k + BLOCKS <= hi; k += BLOCKS)
        between_rows_fX(what, c->x + k * block, c->out + k * inner, BLOCKS, c->n, inner);
    for (; k < hi; k++)
        between_rows_fX(what, c->x + k * block, c->out + k * inner, 1, c->n, inner);
}

AE_INLINE void between_fX(int what, const struct between_fX *c, int64_t lo, int64_t hi)
{
    switch (c->inner) {
    case 2: between_blocks_fX(what, c, lo, hi, 2); break;
    case 3: between_blocks_fX(what, c, lo, hi, 3); break;
    case 4: between_blocks_fX(what, c, lo, hi, 4); break;
    case 8: between_blocks_fX(what, c, lo, hi, 8); break;
    case 16: between_blocks_fX(what, c, lo, hi, 16); break;
    default: between_blocks_fX(what, c, lo, hi, c->inner);
    }
}

static void sums_between_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    (void)worker;
    between_fX(SUM, context, lo, hi);
}

static void maxima_between_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    (void)worker;
    between_fX(MAX, context, lo, hi);
}

static void minima_between_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    (void)worker;
    between_fX(MIN, context, lo, hi);
}

/* Of long rows, some columns at a time, and four rows in one pass over their sums. */
enum { COLUMNS = 2048 };

static void wide_sums_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct between_fX *c = context;
    int64_t n = c->n, inner = c->inner, parts = (inner + COLUMNS - 1) / COLUMNS;
    (void)worker;
    for (int64_t k = lo; k < hi; k++) {
        int64_t start = k % parts * COLUMNS, i = 1;
        int64_t count = inner - start < COLUMNS ? inner - start : COLUMNS;
        const real *x = c->x + k / parts * n * inner + start;
        real *out = c->out + k / parts * inner + start;
        for (int64_t j = 0; j < count; j++)
            out[j] = 0 + x[j];
        for (; i + 4 <= n; i += 4) {
            const real *row = x + i * inner;
#pragma omp simd
            for (int64_t j = 0; j < count; j++)
                out[j] = (((out[j] + row[j]) + row[j + inner]) + row[j + 2 * inner]) +
                         row[j + 3 * inner];
        }
        for (; i < n; i++)
#pragma omp simd
            for (int64_t j = 0; j < count; j++)
                out[j] += x[i * inner + j];
    }
}

AE_FUNCTION sum_between_fX(ae_array x, ae_array out, int64_t outer, int64_t n, int64_t inner)
{
    struct between_fX c = {AE_DATA(const real, x), AE_DATA(real, out), n, inner};
    if (inner > INNER) {
        int64_t parts = (inner + COLUMNS - 1) / COLUMNS;
        ae_parallel(wide_sums_fX, &c, outer * parts, ae_grain(n * (inner / parts)));
        ae_quiet();
        return;
    }
    ae_parallel(sums_between_fX, &c, outer, ae_grain(n * inner));
    ae_quiet();
}

AE_FUNCTION max_between_fX(ae_array x, ae_array out, int64_t outer, int64_t n, int64_t inner)
{
    struct between_fX c = {AE_DATA(const real, x), AE_DATA(real, out), n, inner};
    ae_parallel(maxima_between_fX, &c, outer, ae_grain(n * inner));
    ae_quiet();
}

AE_FUNCTION min_between_fX(ae_array x, ae_array out, int64_t outer, int64_t n, int64_t inner)
{
    struct between_fX c = {AE_DATA(const real, x), AE_DATA(real, out), n, inner};
    ae_parallel(minima_between_fX, &c, outer, ae_grain(n * inner));
    ae_quiet();
}

/* An equal share of c for each element of a row that is `value`; NaN is NaN, and its share NaN. */
static void shares_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct reduced_fX *c = context;
    int64_t n = c->width;
    (void)worker;
    for (int64_t i = lo; i < hi; i++) {
        real given = *(const real *)(c->args[0] + i * c->steps[0]);
        const real *x = (const real *)(c->args[1] + i * c->steps[1]);
        real value = *(const real *)(c->args[2] + i * c->steps[2]);
        real *out = (real *)(c->args[3] + i * c->steps[3]);
        int nan = value != value;
        int64_t count = 0;
        for (int64_t j = 0; j < n; j++)
            count += nan ? x[j] != x[j] : x[j] == value;
        real share = nan ? AE_NAN_fX : (real)((double)given / (double)(count > 1 ? count : 1));
        for (int64_t j = 0; j < n; j++)
            out[j] = (nan ? x[j] != x[j] : x[j] == value) ? share : 0;
    }
}

AE_UFUNC(share_ties_fX, "(),(n),()->(n)")
{
    struct reduced_fX c = {args, steps, dims[1]};
    (void)data;
    ae_parallel(shares_fX, &c, dims[0], ae_grain(2 * c.width));
    ae_quiet();
}

struct ties_fX {
    const real *given, *x, *value;
    real *out;
    int64_t n, inner;
};

/* The same of each column of a block. */
static void ties_between_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct ties_fX *c = context;
    int64_t inner = c->inner;
    real share[INNER], value[INNER];
    int32_t count[INNER];
    (void)worker;
    for (int64_t k = lo; k < hi; k++) {
        const real *x = c->x + k * c->n * inner;
        real *out = c->out + k * c->n * inner;
        for (int64_t j = 0; j < inner; j++) {
            value[j] = c->value[k * inner + j];
            count[j] = 0;
        }
        for (int64_t i = 0; i < c->n; i++)
#pragma omp simd
            for (int64_t j = 0; j < inner; j++)
                count[j] += x[i * inner + j] == value[j];
        for (int64_t j = 0; j < inner; j++)
            share[j] = value[j] != value[j]
                           ? AE_NAN_fX
                           : (real)((double)c->given[k * inner + j] / (count[j] > 1 ? count[j] : 1));
        for (int64_t i = 0; i < c->n; i++)
#pragma omp simd
            for (int64_t j = 0; j < inner; j++) {
                real v = x[i * inner + j];
                int ties = (v == value[j]) | ((v != v) & (value[j] != value[j]));
                out[i * inner + j] = ties ? share[j] : 0;
            }
    }
}

AE_FUNCTION share_ties_between_fX(ae_array given, ae_array x, ae_array value, ae_array out,
                                  int64_t outer, int64_t n, int64_t inner)
{
    struct ties_fX c = {AE_DATA(const real, given), AE_DATA(const real, x),
                        AE_DATA(const real, value), AE_DATA(real, out), n, inner};
    ae_parallel(ties_between_fX, &c, outer, ae_grain(2 * n * inner));
    ae_quiet();
}

/* Sums along the last axis, whose elements follow each other, and what goes with them. */

struct rows_fX {
    char *const *args;
    const intptr_t *steps;
    int64_t width;
};

/* Row i of an operand. */
static real *row_fX(const struct rows_fX *c, int operand, int64_t i)
{
    return (real *)(c->args[operand] + i * c->steps[operand]);
}

static void sum_rows_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct rows_fX *c = context;
    (void)worker;
    for (int64_t i = lo; i < hi; i++)
        *row_fX(c, 1, i) = ae_sum_fX(row_fX(c, 0, i), c->width);
}

AE_UFUNC(sum_fX, "(n)->()")
{
    struct rows_fX c = {args, steps, dims[1]};
    (void)data;
    ae_parallel(sum_rows_fX, &c, dims[0], ae_grain(c.width));
    ae_quiet();
}

static void dot_rows_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct rows_fX *c = context;
    (void)worker;
    for (int64_t i = lo; i < hi; i++)
        *row_fX(c, 2, i) = ae_dot_fX(row_fX(c, 0, i), row_fX(c, 1, i), c->width);
}

AE_UFUNC(dot_fX, "(n),(n)->()")
{
    struct rows_fX c = {args, steps, dims[1]};
    (void)data;
    ae_parallel(dot_rows_fX, &c, dims[0], ae_grain(c.width));
    ae_quiet();
}

/* c (x / norm), of numbers c and norm */
static void scaled_rows_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct rows_fX *c = context;
    (void)worker;
    for (int64_t i = lo; i < hi; i++) {
        const real *x = row_fX(c, 1, i);
        real factor = *row_fX(c, 0, i), norm = *row_fX(c, 2, i), *out = row_fX(c, 3, i);
#pragma omp simd
        for (int64_t j = 0; j < c->width; j++)
            out[j] = factor * (x[j] / norm);
    }
}

AE_UFUNC(scaled_fX, "(),(n),()->(n)")
{
    struct rows_fX c = {args, steps, dims[1]};
    (void)data;
    ae_parallel(scaled_rows_fX, &c, dims[0], ae_grain(c.width));
    ae_quiet();
}

/* The sum of (x - y)^2, with the bits of the product of x - y with itself. */
AE_UFUNC(squared_distance_fX, "(n),(n)->()")
{
    struct rows_fX c = {args, steps, dims[1]};
    (void)data;
    for (int64_t i = 0; i < dims[0]; i++) {
        const real *x = row_fX(&c, 0, i), *y = row_fX(&c, 1, i);
        double total = 0;
        for (int64_t start = 0; start < c.width; start += AE_PART) {
            int64_t end = start + AE_PART < c.width ? start + AE_PART : c.width;
            real sum = 0;
#pragma omp simd reduction(+ : sum)
            for (int64_t j = start; j < end; j++)
                sum += (x[j] - y[j]) * (x[j] - y[j]);
            total += sum;
        }
        *row_fX(&c, 2, i) = (real)total;
    }
    ae_quiet();
}

struct difference_fX {
    const real *x, *y;
    real *out;
    real factor;
};

static void difference_part_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct difference_fX *c = context;
    (void)worker;
#pragma omp simd
    for (int64_t j = lo; j < hi; j++)
        c->out[j] = (c->x[j] - c->y[j]) * c->factor;
}

/* factor (x - y) */
AE_UFUNC(scaled_difference_fX, "(),(n),(n)->(n)")
{
    struct rows_fX c = {args, steps, dims[1]};
    (void)data;
    for (int64_t i = 0; i < dims[0]; i++) {
        struct difference_fX each = {row_fX(&c, 1, i), row_fX(&c, 2, i), row_fX(&c, 3, i),
                                     *row_fX(&c, 0, i)};
        ae_parallel(difference_part_fX, &each, c.width, ae_grain(2));
    }
    ae_quiet();
}

/* Functions along the last axis, whose elements follow each other. */

#include "weights.h"

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

/* Ask memory for row i of an operand, so that it comes while the exponentials of another are
   computed. */
static void ask_for_fX(const struct rows_fX *c, int operand, int64_t i, int64_t end)
{
    enum { LINE = 64 / sizeof(real) };
    if (i < end)
        for (int64_t j = 0; j < c->width; j += LINE)
            __builtin_prefetch(row_fX(c, operand, i) + j, 0, 2);
}

/* exp(x - m) of the last elements of a row, and the sum of the last `rest`. */
static real last_exponentials_fX(const real *x, real m, real *e, int64_t rest, int64_t n)
{
    real sum = 0;
    if (n < AE_WIDTH) {
        for (int64_t j = n - rest; j < n; j++)
            sum += e[AE_WIDTH - n + j] = ae_exp_down_fX(x[j] - m);
        return sum;
    }
    x += n - AE_WIDTH;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < AE_WIDTH; j++) {
        e[j] = ae_exp_down_fX(x[j] - m);
        sum += j < AE_WIDTH - rest ? 0 : e[j];
    }
    return sum;
}

/* exp(x - m) and their sum; `out`, which may be where `x` is, may be NULL. */
static real exponentials_fX(const real *x, real m, real *out, int64_t n)
{
    int64_t rest = n % AE_WIDTH, whole = n - rest;
    real last[AE_WIDTH];
    double total = rest ? last_exponentials_fX(x, m, last, rest, n) : 0;
    for (int64_t start = 0; start < whole; start += AE_PART) {
        int64_t end = start + AE_PART < whole ? start + AE_PART : whole;
        real sum = 0;
        if (out) {
#pragma omp simd reduction(+ : sum)
            for (int64_t j = start; j < end; j++) {
                real e = ae_exp_down_fX(x[j] - m);
                out[j] = e;
                sum += e;
            }
        } else {
#pragma omp simd reduction(+ : sum)
            for (int64_t j = start; j < end; j++)
                sum += ae_exp_down_fX(x[j] - m);
        }
        total += sum;
    }
    if (out)
        memcpy(out + whole, last + AE_WIDTH - rest, rest * sizeof(real));
    return (real)total;
}

/* exp(x - max), of which no element overflows and one is 1, times one over their sum. */
static void softmax_rows_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct rows_fX *c = context;
    int64_t n = c->width;
    (void)worker;
    for (int64_t i = lo; i < hi; i++) {
        const real *x = row_fX(c, 0, i);
        real *out = row_fX(c, 1, i), m = ae_largest_fX(x, n);
        ask_for_fX(c, 0, i + 1, hi);
        real part = 1 / exponentials_fX(x, m, out, n);
#pragma omp simd
        for (int64_t j = 0; j < n; j++)
            out[j] *= part;
    }
}

/* The same of rows shorter than vectors are long: the exponentials of several rows at once. */
enum { SHORT_ROW = 64 };

static void softmax_short_rows_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct rows_fX *c = context;
    int64_t n = c->width, most = AE_PART / n;
    real e[AE_PART];
    (void)worker;
    for (int64_t start = lo; start < hi; start += most) {
        int64_t rows = hi - start < most ? hi - start : most;
        for (int64_t i = 0; i < rows; i++) {
            const real *x = row_fX(c, 0, start + i);
            real m = ae_largest_fX(x, n);
            for (int64_t j = 0; j < n; j++)
                e[i * n + j] = x[j] - m;
        }
#pragma omp simd
        for (int64_t j = 0; j < rows * n; j++)
            e[j] = ae_exp_down_fX(e[j]);
        for (int64_t i = 0; i < rows; i++) {
            real *out = row_fX(c, 1, start + i);
            double total = 0;
            for (int64_t j = 0; j < n; j++)
                total += e[i * n + j];
            real part = (real)(1 / total);
            for (int64_t j = 0; j < n; j++)
                out[j] = e[i * n + j] * part;
        }
    }
}

AE_UFUNC(softmax_fX, "(n)->(n)")
{
    struct rows_fX c = {args, steps, dims[1]};
    (void)data;
    ae_parallel(c.width < SHORT_ROW ? softmax_short_rows_fX : softmax_rows_fX, &c, dims[0],
                ae_grain(4 * c.width));
    ae_quiet();
}

/* (x - max) - log(sum of exp(x - max)) */
static void log_softmax_rows_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct rows_fX *c = context;
    int64_t n = c->width;
    (void)worker;
    for (int64_t i = lo; i < hi; i++) {
        const real *x = row_fX(c, 0, i);
        real *out = row_fX(c, 1, i), m = ae_largest_fX(x, n);
        ask_for_fX(c, 0, i + 1, hi);
        real log_total = ae_log_fX(exponentials_fX(x, m, NULL, n));
#pragma omp simd
        for (int64_t j = 0; j < n; j++)
            out[j] = (x[j] - m) - log_total;
    }
}

AE_UFUNC(log_softmax_fX, "(n)->(n)")
{
    struct rows_fX c = {args, steps, dims[1]};
    (void)data;
    ae_parallel(log_softmax_rows_fX, &c, dims[0], ae_grain(4 * c.width));
    ae_quiet();
}

/* out (y - <y, out>) */
static void softmax_adjoint_rows_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct rows_fX *c = context;
    int64_t n = c->width;
    (void)worker;
    for (int64_t i = lo; i < hi; i++) {
        const real *y = row_fX(c, 0, i), *out = row_fX(c, 1, i);
        real *dx = row_fX(c, 2, i);
        real product = ae_dot_fX(y, out, n);
#pragma omp simd
        for (int64_t j = 0; j < n; j++)
            dx[j] = out[j] * (y[j] - product);
    }
}

AE_UFUNC(softmax_adjoint_fX, "(n),(n)->(n)")
{
    struct rows_fX c = {args, steps, dims[1]};
    (void)data;
    ae_parallel(softmax_adjoint_rows_fX, &c, dims[0], ae_grain(2 * c.width));
    ae_quiet();
}

/* y - exp(out) sum(y), no `out` above 0. */
static void log_softmax_adjoint_rows_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct rows_fX *c = context;
    int64_t n = c->width, rest = n % AE_WIDTH, whole = n - rest;
    (void)worker;
    for (int64_t i = lo; i < hi; i++) {
        const real *y = row_fX(c, 0, i), *out = row_fX(c, 1, i);
        real *dx = row_fX(c, 2, i), total = ae_sum_fX(y, n), last[AE_WIDTH];
        if (rest)
            last_exponentials_fX(out, 0, last, rest, n);
        ask_for_fX(c, 0, i + 1, hi);
#pragma omp simd
        for (int64_t j = 0; j < whole; j++)
            dx[j] = y[j] - ae_exp_down_fX(out[j]) * total;
        for (int64_t j = whole; j < n; j++)
            dx[j] = y[j] - last[AE_WIDTH - n + j] * total;
    }
}

AE_UFUNC(log_softmax_adjoint_fX, "(n),(n)->(n)")
{
    struct rows_fX c = {args, steps, dims[1]};
    (void)data;
    ae_parallel(log_softmax_adjoint_rows_fX, &c, dims[0], ae_grain(4 * c.width));
    ae_quiet();
}

/* log(sum of exp(x)): an infinity where that is the largest */
static void logsumexp_rows_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct rows_fX *c = context;
    (void)worker;
    for (int64_t i = lo; i < hi; i++) {
        const real *x = row_fX(c, 0, i);
        real m = ae_largest_fX(x, c->width);
        int infinite = m == AE_INF_fX || m == -AE_INF_fX;
        *row_fX(c, 1, i) = infinite ? m : ae_log_fX(exponentials_fX(x, m, NULL, c->width)) + m;
    }
}

AE_UFUNC(logsumexp_fX, "(n)->()")
{
    struct rows_fX c = {args, steps, dims[1]};
    (void)data;
    ae_parallel(logsumexp_rows_fX, &c, dims[0], ae_grain(4 * c.width));
    ae_quiet();
}

/* g exp(x - out) / sum of exp(x - out) */
static void logsumexp_adjoint_rows_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct rows_fX *c = context;
    int64_t n = c->width;
    (void)worker;
    for (int64_t i = lo; i < hi; i++) {
        const real *x = row_fX(c, 1, i);
        real g = *row_fX(c, 0, i), out = *row_fX(c, 2, i), *dx = row_fX(c, 3, i);
        double total = 0;
        for (int64_t start = 0; start < n; start += AE_PART) {
            int64_t end = start + AE_PART < n ? start + AE_PART : n;
            real sum = 0;
#pragma omp simd reduction(+ : sum)
            for (int64_t j = start; j < end; j++) {
                real e = weight_fX(x[j], out);
                dx[j] = e;
                sum += e;
            }
            total += sum;
        }
        real factor = g / (total == 0 ? 1 : (real)total);
#pragma omp simd
        for (int64_t j = 0; j < n; j++)
            dx[j] *= factor;
    }
}

AE_UFUNC(logsumexp_adjoint_fX, "(),(n),()->(n)")
{
    struct rows_fX c = {args, steps, dims[1]};
    (void)data;
    ae_parallel(logsumexp_adjoint_rows_fX, &c, dims[0], ae_grain(4 * c.width));
    ae_quiet();
}

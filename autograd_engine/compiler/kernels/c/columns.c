/* Functions along an axis before the last: the middle one of [outer, n, inner]. A block of columns
   is computed at a time, whose sums are as many accumulators. */

#include "weights.h"

enum { BLOCK = 256 };

struct columns_fX {
    const real *x, *y, *variance_in;
    const real *weight, *bias;  /* of each place in [inner] */
    real *out, *first, *second; /* two numbers of each column */
    int64_t n, inner, blocks;
    double epsilon;
};

/* Of item k: where its first column starts in [outer, n, inner], and in [outer, inner]. */
struct block_fX {
    int64_t at, column, width;
};

static struct block_fX block_fX(const struct columns_fX *c, int64_t k)
{
    int64_t o = k / c->blocks, j = k % c->blocks * BLOCK;
    int64_t width = c->inner - j < BLOCK ? c->inner - j : BLOCK;
    return (struct block_fX){o * c->n * c->inner + j, o * c->inner + j, width};
}

static void run_fX(ae_body body, struct columns_fX *c, int64_t outer, int64_t cost)
{
    c->blocks = (c->inner + BLOCK - 1) / BLOCK;
    int64_t width = c->inner < BLOCK ? c->inner : BLOCK;
    ae_parallel(body, c, outer * c->blocks, ae_grain(cost * c->n * width));
    ae_quiet();
}

/* NaN is the largest where there is one. */
static void largest_fX(const struct columns_fX *c, const real *x, int64_t width, real *m)
{
    for (int64_t j = 0; j < width; j++)
        m[j] = -AE_INF_fX;
    for (int64_t i = 0; i < c->n; i++, x += c->inner) {
#pragma omp simd
        for (int64_t j = 0; j < width; j++)
            m[j] = (x[j] > m[j]) | (x[j] != x[j]) ? x[j] : m[j];
    }
}

static void softmax_blocks_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct columns_fX *c = context;
    real m[BLOCK];
    double sums[BLOCK];
    (void)worker;
    for (int64_t k = lo; k < hi; k++) {
        struct block_fX b = block_fX(c, k);
        largest_fX(c, c->x + b.at, b.width, m);
        memset(sums, 0, sizeof sums);
        for (int64_t i = 0; i < c->n; i++) {
            const real *x = c->x + b.at + i * c->inner;
            real *out = c->out + b.at + i * c->inner;
#pragma omp simd
            for (int64_t j = 0; j < b.width; j++) {
                out[j] = ae_exp_down_fX(x[j] - m[j]);
                sums[j] += out[j];
            }
        }
        for (int64_t i = 0; i < c->n; i++) {
            real *out = c->out + b.at + i * c->inner;
#pragma omp simd
            for (int64_t j = 0; j < b.width; j++)
                out[j] = out[j] / (real)sums[j];
        }
        for (int64_t j = 0; j < b.width; j++) {
            c->first[b.column + j] = m[j];
            c->second[b.column + j] = (real)sums[j];
        }
    }
}

/* exp(x - max) / sum of it; the largest element and that sum. */
AE_FUNCTION softmax_fX(ae_array x, ae_array out, ae_array largest, ae_array total, int64_t outer,
                       int64_t n, int64_t inner)
{
    struct columns_fX c = {.x = AE_DATA(const real, x),
                           .out = AE_DATA(real, out),
                           .first = AE_DATA(real, largest),
                           .second = AE_DATA(real, total),
                           .n = n,
                           .inner = inner};
    run_fX(softmax_blocks_fX, &c, outer, 4);
}

static void log_softmax_blocks_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct columns_fX *c = context;
    real m[BLOCK], log_sums[BLOCK];
    double sums[BLOCK];
    (void)worker;
    for (int64_t k = lo; k < hi; k++) {
        struct block_fX b = block_fX(c, k);
        largest_fX(c, c->x + b.at, b.width, m);
        memset(sums, 0, sizeof sums);
        for (int64_t i = 0; i < c->n; i++) {
            const real *x = c->x + b.at + i * c->inner;
#pragma omp simd
            for (int64_t j = 0; j < b.width; j++)
                sums[j] += ae_exp_down_fX(x[j] - m[j]);
        }
        for (int64_t j = 0; j < b.width; j++)
            log_sums[j] = ae_log_fX((real)sums[j]);
        for (int64_t i = 0; i < c->n; i++) {
            const real *x = c->x + b.at + i * c->inner;
            real *out = c->out + b.at + i * c->inner;
#pragma omp simd
            for (int64_t j = 0; j < b.width; j++)
                out[j] = (x[j] - m[j]) - log_sums[j];
        }
    }
}

AE_FUNCTION log_softmax_fX(ae_array x, ae_array out, int64_t outer, int64_t n, int64_t inner)
{
    struct columns_fX c = {
        .x = AE_DATA(const real, x), .out = AE_DATA(real, out), .n = n, .inner = inner};
    run_fX(log_softmax_blocks_fX, &c, outer, 4);
}

/* log(sum of exp(x)); an infinity that is the largest is not taken out */
static void logsumexp_blocks_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct columns_fX *c = context;
    real m[BLOCK];
    double sums[BLOCK];
    (void)worker;
    for (int64_t k = lo; k < hi; k++) {
        struct block_fX b = block_fX(c, k);
        largest_fX(c, c->x + b.at, b.width, m);
        for (int64_t j = 0; j < b.width; j++) {
            m[j] = m[j] == AE_INF_fX || m[j] == -AE_INF_fX ? 0 : m[j];
            sums[j] = 0;
        }
        for (int64_t i = 0; i < c->n; i++) {
            const real *x = c->x + b.at + i * c->inner;
#pragma omp simd
            for (int64_t j = 0; j < b.width; j++)
                sums[j] += ae_exp_fX(x[j] - m[j]);
        }
        for (int64_t j = 0; j < b.width; j++)
            c->out[b.column + j] = ae_log_fX((real)sums[j]) + m[j];
    }
}

AE_FUNCTION logsumexp_fX(ae_array x, ae_array out, int64_t outer, int64_t n, int64_t inner)
{
    struct columns_fX c = {
        .x = AE_DATA(const real, x), .out = AE_DATA(real, out), .n = n, .inner = inner};
    run_fX(logsumexp_blocks_fX, &c, outer, 4);
}

/* g exp(x - out) / sum of exp(x - out) */
static void logsumexp_adjoint_blocks_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct columns_fX *c = context;
    double sums[BLOCK];
    real factor[BLOCK];
    (void)worker;
    for (int64_t k = lo; k < hi; k++) {
        struct block_fX b = block_fX(c, k);
        const real *g = c->y + b.column, *out = c->first + b.column;
        memset(sums, 0, sizeof sums);
        for (int64_t i = 0; i < c->n; i++) {
            const real *x = c->x + b.at + i * c->inner;
            real *dx = c->out + b.at + i * c->inner;
#pragma omp simd
            for (int64_t j = 0; j < b.width; j++) {
                real e = weight_fX(x[j], out[j]);
                dx[j] = e;
                sums[j] += e;
            }
        }
        for (int64_t j = 0; j < b.width; j++)
            factor[j] = g[j] / (sums[j] == 0 ? 1 : (real)sums[j]);
        for (int64_t i = 0; i < c->n; i++) {
            real *dx = c->out + b.at + i * c->inner;
#pragma omp simd
            for (int64_t j = 0; j < b.width; j++)
                dx[j] *= factor[j];
        }
    }
}

AE_FUNCTION logsumexp_adjoint_fX(ae_array g, ae_array x, ae_array out, ae_array dx, int64_t outer,
                                 int64_t n, int64_t inner)
{
    struct columns_fX c = {.x = AE_DATA(const real, x),
                           .y = AE_DATA(const real, g),
                           .first = AE_DATA(real, out),
                           .out = AE_DATA(real, dx),
                           .n = n,
                           .inner = inner};
    run_fX(logsumexp_adjoint_blocks_fX, &c, outer, 4);
}

/* out (y - <y, out>) */
static void softmax_adjoint_blocks_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct columns_fX *c = context;
    double sums[BLOCK];
    (void)worker;
    for (int64_t k = lo; k < hi; k++) {
        struct block_fX b = block_fX(c, k);
        memset(sums, 0, sizeof sums);
        for (int64_t i = 0; i < c->n; i++) {
            const real *y = c->y + b.at + i * c->inner, *out = c->x + b.at + i * c->inner;
#pragma omp simd
            for (int64_t j = 0; j < b.width; j++)
                sums[j] += y[j] * out[j];
        }
        for (int64_t i = 0; i < c->n; i++) {
            const real *y = c->y + b.at + i * c->inner, *out = c->x + b.at + i * c->inner;
            real *dx = c->out + b.at + i * c->inner;
#pragma omp simd
            for (int64_t j = 0; j < b.width; j++)
                dx[j] = out[j] * (y[j] - (real)sums[j]);
        }
    }
}

AE_FUNCTION softmax_adjoint_fX(ae_array y, ae_array out, ae_array dx, int64_t outer, int64_t n,
                               int64_t inner)
{
    struct columns_fX c = {.x = AE_DATA(const real, out),
                           .y = AE_DATA(const real, y),
                           .out = AE_DATA(real, dx),
                           .n = n,
                           .inner = inner};
    run_fX(softmax_adjoint_blocks_fX, &c, outer, 2);
}

/* y - exp(out) sum(y), no `out` above 0. */
static void log_softmax_adjoint_blocks_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct columns_fX *c = context;
    double sums[BLOCK];
    (void)worker;
    for (int64_t k = lo; k < hi; k++) {
        struct block_fX b = block_fX(c, k);
        memset(sums, 0, sizeof sums);
        for (int64_t i = 0; i < c->n; i++) {
            const real *y = c->y + b.at + i * c->inner;
#pragma omp simd
            for (int64_t j = 0; j < b.width; j++)
                sums[j] += y[j];
        }
        for (int64_t i = 0; i < c->n; i++) {
            const real *y = c->y + b.at + i * c->inner, *out = c->x + b.at + i * c->inner;
            real *dx = c->out + b.at + i * c->inner;
#pragma omp simd
            for (int64_t j = 0; j < b.width; j++)
                dx[j] = y[j] - ae_exp_down_fX(out[j]) * (real)sums[j];
        }
    }
}

AE_FUNCTION log_softmax_adjoint_fX(ae_array y, ae_array out, ae_array dx, int64_t outer, int64_t n,
                                   int64_t inner)
{
    struct columns_fX c = {.x = AE_DATA(const real, out),
                           .y = AE_DATA(const real, y),
                           .out = AE_DATA(real, dx),
                           .n = n,
                           .inner = inner};
    run_fX(log_softmax_adjoint_blocks_fX, &c, outer, 4);
}

/* The mean and the variance of each column of a block. */
static void moments_fX(const struct columns_fX *c, struct block_fX b, real *mean, real *variance,
                       real *scale)
{
    double sums[BLOCK];
    memset(sums, 0, sizeof sums);
    for (int64_t i = 0; i < c->n; i++) {
        const real *x = c->x + b.at + i * c->inner;
#pragma omp simd
        for (int64_t j = 0; j < b.width; j++)
            sums[j] += x[j];
    }
    for (int64_t j = 0; j < b.width; j++)
        mean[j] = (real)(sums[j] / (double)c->n);
    memset(sums, 0, sizeof sums);
    for (int64_t i = 0; i < c->n; i++) {
        const real *x = c->x + b.at + i * c->inner;
#pragma omp simd
        for (int64_t j = 0; j < b.width; j++)
            sums[j] += (x[j] - mean[j]) * (x[j] - mean[j]);
    }
    for (int64_t j = 0; j < b.width; j++) {
        variance[j] = (real)(sums[j] / (double)c->n);
        scale[j] = (real)(1.0 / sqrt((double)variance[j] + c->epsilon));
    }
}

static void standardize_blocks_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct columns_fX *c = context;
    real scale[BLOCK];
    (void)worker;
    for (int64_t k = lo; k < hi; k++) {
        struct block_fX b = block_fX(c, k);
        real *mean = c->first + b.column;
        moments_fX(c, b, mean, c->second + b.column, scale);
        for (int64_t i = 0; i < c->n; i++) {
            const real *x = c->x + b.at + i * c->inner;
            real *out = c->out + b.at + i * c->inner;
#pragma omp simd
            for (int64_t j = 0; j < b.width; j++)
                out[j] = (x[j] - mean[j]) * scale[j];
        }
    }
}

AE_FUNCTION standardize_fX(ae_array x, ae_array out, ae_array mean, ae_array variance,
                           int64_t outer, int64_t n, int64_t inner, double epsilon)
{
    struct columns_fX c = {.x = AE_DATA(const real, x),
                           .out = AE_DATA(real, out),
                           .first = AE_DATA(real, mean),
                           .second = AE_DATA(real, variance),
                           .n = n,
                           .inner = inner,
                           .epsilon = epsilon};
    run_fX(standardize_blocks_fX, &c, outer, 2);
}

/* (y - <y> - out <y out>) / sqrt(variance + epsilon), < > being the mean. */
static void standardize_adjoint_blocks_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct columns_fX *c = context;
    double sums[BLOCK], dots[BLOCK];
    real mean[BLOCK], along[BLOCK], scale[BLOCK];
    (void)worker;
    for (int64_t k = lo; k < hi; k++) {
        struct block_fX b = block_fX(c, k);
        memset(sums, 0, sizeof sums);
        memset(dots, 0, sizeof dots);
        for (int64_t i = 0; i < c->n; i++) {
            const real *y = c->y + b.at + i * c->inner, *out = c->x + b.at + i * c->inner;
#pragma omp simd
            for (int64_t j = 0; j < b.width; j++) {
                sums[j] += y[j];
                dots[j] += y[j] * out[j];
            }
        }
        for (int64_t j = 0; j < b.width; j++) {
            mean[j] = (real)(sums[j] / (double)c->n);
            along[j] = (real)(dots[j] / (double)c->n);
            scale[j] = (real)(1.0 / sqrt((double)c->variance_in[b.column + j] + c->epsilon));
        }
        for (int64_t i = 0; i < c->n; i++) {
            const real *y = c->y + b.at + i * c->inner, *out = c->x + b.at + i * c->inner;
            real *dx = c->out + b.at + i * c->inner;
#pragma omp simd
            for (int64_t j = 0; j < b.width; j++)
                dx[j] = (y[j] - out[j] * along[j] - mean[j]) * scale[j];
        }
    }
}

AE_FUNCTION standardize_adjoint_fX(ae_array y, ae_array out, ae_array variance, ae_array dx,
                                   int64_t outer, int64_t n, int64_t inner, double epsilon)
{
    struct columns_fX c = {.x = AE_DATA(const real, out),
                           .y = AE_DATA(const real, y),
                           .variance_in = AE_DATA(const real, variance),
                           .out = AE_DATA(real, dx),
                           .n = n,
                           .inner = inner,
                           .epsilon = epsilon};
    run_fX(standardize_adjoint_blocks_fX, &c, outer, 2);
}

/* Standardized, times the factor and plus the term of each place in [inner]. */
static void affine_blocks_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct columns_fX *c = context;
    real scale[BLOCK];
    (void)worker;
    for (int64_t k = lo; k < hi; k++) {
        struct block_fX b = block_fX(c, k);
        const real *weight = c->weight + b.column % c->inner, *bias = c->bias + b.column % c->inner;
        real *mean = c->first + b.column;
        moments_fX(c, b, mean, c->second + b.column, scale);
        for (int64_t i = 0; i < c->n; i++) {
            const real *x = c->x + b.at + i * c->inner;
            real *out = c->out + b.at + i * c->inner;
#pragma omp simd
            for (int64_t j = 0; j < b.width; j++)
                out[j] = (x[j] - mean[j]) * scale[j] * weight[j] + bias[j];
        }
    }
}

/* `sizes`: those before, along and behind the axis. */
AE_FUNCTION affine_fX(ae_array x, ae_array weight, ae_array bias, ae_array out, ae_array mean,
                      ae_array variance, ae_array sizes, double epsilon)
{
    const int64_t *of = AE_DATA(const int64_t, sizes);
    struct columns_fX c = {.x = AE_DATA(const real, x),
                           .weight = AE_DATA(const real, weight),
                           .bias = AE_DATA(const real, bias),
                           .out = AE_DATA(real, out),
                           .first = AE_DATA(real, mean),
                           .second = AE_DATA(real, variance),
                           .n = of[1],
                           .inner = of[2],
                           .epsilon = epsilon};
    run_fX(affine_blocks_fX, &c, of[0], 2);
}

/* With h what x is standardized to and y = g weight: (y - <y> - h <y h>) scale, and the sums of g h
   and g, of each column. */
static void affine_adjoint_blocks_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct columns_fX *c = context;
    double sums[BLOCK], dots[BLOCK];
    real m[BLOCK], variance[BLOCK], scale[BLOCK], mean[BLOCK], along[BLOCK];
    (void)worker;
    for (int64_t k = lo; k < hi; k++) {
        struct block_fX b = block_fX(c, k);
        const real *weight = c->weight + b.column % c->inner;
        int64_t place = b.column / c->inner * c->inner; /* two numbers of each column before */
        moments_fX(c, b, m, variance, scale);
        memset(sums, 0, sizeof sums);
        memset(dots, 0, sizeof dots);
        for (int64_t i = 0; i < c->n; i++) {
            const real *g = c->y + b.at + i * c->inner, *x = c->x + b.at + i * c->inner;
#pragma omp simd
            for (int64_t j = 0; j < b.width; j++) {
                sums[j] += g[j];
                dots[j] += g[j] * ((x[j] - m[j]) * scale[j]);
            }
        }
        for (int64_t j = 0; j < b.width; j++) {
            c->first[b.column + place + j] = (real)dots[j];
            c->first[b.column + place + c->inner + j] = (real)sums[j];
            mean[j] = (real)(weight[j] * sums[j] / (double)c->n);
            along[j] = (real)(weight[j] * dots[j] / (double)c->n);
        }
        for (int64_t i = 0; i < c->n; i++) {
            const real *g = c->y + b.at + i * c->inner, *x = c->x + b.at + i * c->inner;
            real *dx = c->out + b.at + i * c->inner;
#pragma omp simd
            for (int64_t j = 0; j < b.width; j++)
                dx[j] = (g[j] * weight[j] - (x[j] - m[j]) * scale[j] * along[j] - mean[j]) *
                        scale[j];
        }
    }
}

/* `sums` has the shape [outer, 2, inner]: that of the first becomes the sum. */
AE_FUNCTION affine_adjoint_fX(ae_array g, ae_array x, ae_array weight, ae_array dx,
                              ae_array dweight, ae_array dbias, ae_array sums, ae_array sizes,
                              double epsilon)
{
    const int64_t *of = AE_DATA(const int64_t, sizes), outer = of[0], inner = of[2];
    real *first = AE_DATA(real, sums), *to_weight = AE_DATA(real, dweight);
    real *to_bias = AE_DATA(real, dbias);
    struct columns_fX c = {.x = AE_DATA(const real, x),
                           .y = AE_DATA(const real, g),
                           .weight = AE_DATA(const real, weight),
                           .out = AE_DATA(real, dx),
                           .first = first,
                           .n = of[1],
                           .inner = inner,
                           .epsilon = epsilon};
    run_fX(affine_adjoint_blocks_fX, &c, outer, 4);
    for (int64_t j = 0; j < 2 * inner; j++) {
        double total = 0;
        for (int64_t k = 0; k < outer; k++)
            total += first[2 * inner * k + j];
        *(j < inner ? to_weight + j : to_bias + j - inner) = (real)total;
    }
}

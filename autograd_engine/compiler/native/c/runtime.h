/* What every generated source starts from: threads and matrix products, behind one table.

   All matrices are row-major, sizes and strides are counted in elements. */

#ifndef AE_RUNTIME_H
#define AE_RUNTIME_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define AE_ABI 1

/* Runs [lo, hi) of the n of a region. `worker` is in 0..ae_threads()-1, and no two calls of one
   region that run at the same time have the same one. */
typedef void (*ae_body)(void *context, int64_t lo, int64_t hi, int worker);

struct ae_runtime {
    int64_t abi;
    int (*threads)(void);
    void (*parallel)(ae_body body, void *context, int64_t n, int64_t grain);
    void (*parallel_blocks)(ae_body body, void *context, int64_t blocks);
    int (*stopped)(void);
    void (*gemm_f32)(int ta, int tb, int64_t m, int64_t n, int64_t k, float alpha, const float *a,
                     int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc);
    void (*gemm_f64)(int ta, int tb, int64_t m, int64_t n, int64_t k, double alpha,
                     const double *a, int64_t lda, const double *b, int64_t ldb, double beta,
                     double *c, int64_t ldc);
    void (*gemm_batch_f32)(int64_t count, int ta, int tb, int64_t m, int64_t n, int64_t k,
                           float alpha, const float *a, int64_t lda, int64_t stride_a,
                           const float *b, int64_t ldb, int64_t stride_b, float beta, float *c,
                           int64_t ldc, int64_t stride_c);
    void (*gemm_batch_f64)(int64_t count, int ta, int tb, int64_t m, int64_t n, int64_t k,
                           double alpha, const double *a, int64_t lda, int64_t stride_a,
                           const double *b, int64_t ldb, int64_t stride_b, double beta, double *c,
                           int64_t ldc, int64_t stride_c);
};

#ifndef AE_IS_RUNTIME

#define AE_INLINE static inline __attribute__((unused))

/* A library of several translation units has one table, which the first unit defines. */
#ifdef AE_LATER_UNIT
extern const struct ae_runtime *ae __attribute__((visibility("hidden")));
#else
__attribute__((visibility("hidden"))) const struct ae_runtime *ae;

void ae_bind(const struct ae_runtime *runtime);
void ae_bind(const struct ae_runtime *runtime) { ae = runtime; }
#endif

/* How many threads a region may run on: the length of per-worker scratch memory. */
AE_INLINE int ae_threads(void) { return ae->threads(); }

/* Run `body` over [0, n): at once if n <= grain, else in chunks of `grain` or more, on several
   threads where there are several. Where the chunks end depends on n, grain and ae_threads() alone;
   which worker takes which does not. What sums over n belongs in ae_parallel_blocks. */
AE_INLINE void ae_parallel(ae_body body, void *context, int64_t n, int64_t grain)
{
    if (n <= grain || n <= 1) {
        if (n > 0)
            ae->parallel(body, context, n, n);
    } else {
        ae->parallel(body, context, n, grain);
    }
}

/* Run `body` over the blocks 0..blocks-1, which the caller has numbered. A body that writes what
   block i gives into place i, added up in order afterwards, gives the same bits on any number of
   threads. */
AE_INLINE void ae_parallel_blocks(ae_body body, void *context, int64_t blocks)
{
    ae->parallel_blocks(body, context, blocks);
}

/* Whether the run is to end: a signal came, and what Python does then raised an exception. Loops that
   take long ask, slice by slice, and give up; the entry, which asks behind them, returns 1. */
AE_INLINE int ae_stopped(void) { return ae->stopped(); }

/* C = alpha op(A) op(B) + beta C, with op(X) the transpose of X where ta (tb) is not 0.
   op(A) is m x k, op(B) is k x n. With beta = 0, C is not read. */
AE_INLINE void ae_gemm_f32(int ta, int tb, int64_t m, int64_t n, int64_t k, float alpha,
                           const float *a, int64_t lda, const float *b, int64_t ldb, float beta,
                           float *c, int64_t ldc)
{
    ae->gemm_f32(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

AE_INLINE void ae_gemm_f64(int ta, int tb, int64_t m, int64_t n, int64_t k, double alpha,
                           const double *a, int64_t lda, const double *b, int64_t ldb,
                           double beta, double *c, int64_t ldc)
{
    ae->gemm_f64(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

/* `count` products, the operands of each a stride behind those of the one before (0: the same). */
AE_INLINE void ae_gemm_batch_f32(int64_t count, int ta, int tb, int64_t m, int64_t n, int64_t k,
                                 float alpha, const float *a, int64_t lda, int64_t stride_a,
                                 const float *b, int64_t ldb, int64_t stride_b, float beta,
                                 float *c, int64_t ldc, int64_t stride_c)
{
    ae->gemm_batch_f32(count, ta, tb, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c,
                       ldc, stride_c);
}

AE_INLINE void ae_gemm_batch_f64(int64_t count, int ta, int tb, int64_t m, int64_t n, int64_t k,
                                 double alpha, const double *a, int64_t lda, int64_t stride_a,
                                 const double *b, int64_t ldb, int64_t stride_b, double beta,
                                 double *c, int64_t ldc, int64_t stride_c)
{
    ae->gemm_batch_f64(count, ta, tb, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c,
                       ldc, stride_c);
}

#endif
#endif

/* What a product is, of one precision, and plain loops for it. Read like runtime_gemm.c. */

struct NAME(product) {
    int ta, tb;
    int64_t m, n, k;
    REAL alpha;
    const REAL *a;
    int64_t lda;
    const REAL *b;
    int64_t ldb;
    REAL beta;
    REAL *c;
    int64_t ldc;
};

static void NAME(scale)(const struct NAME(product) *p)
{
    for (int64_t i = 0; i < p->m; i++) {
        REAL *restrict row = p->c + i * p->ldc;
        if (p->beta == 0)
            memset(row, 0, (size_t)p->n * sizeof(REAL));
        else if (p->beta != 1)
            for (int64_t j = 0; j < p->n; j++)
                row[j] *= p->beta;
    }
}

/* Plain loops: for products so small that a call of the BLAS costs more, or where there is none. */
static void NAME(product_loops)(const struct NAME(product) *p)
{
    NAME(scale)(p);
    int64_t step_i = p->ta ? 1 : p->lda, step_p = p->ta ? p->lda : 1, n = p->n, k = p->k;
    for (int64_t i = 0; i < p->m; i++) {
        REAL *restrict row = p->c + i * p->ldc;
        const REAL *restrict left = p->a + i * step_i;
        if (!p->tb) {
            for (int64_t q = 0; q < k; q++) {
                const REAL *restrict right = p->b + q * p->ldb;
                REAL factor = p->alpha * left[q * step_p];
#pragma omp simd
                for (int64_t j = 0; j < n; j++)
                    row[j] += factor * right[j];
            }
        } else {
            for (int64_t j = 0; j < n; j++) {
                const REAL *restrict right = p->b + j * p->ldb;
                REAL sum = 0;
#pragma omp simd reduction(+ : sum)
                for (int64_t q = 0; q < k; q++)
                    sum += left[q * step_p] * right[q];
                row[j] += p->alpha * sum;
            }
        }
    }
}

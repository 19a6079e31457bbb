/* Matrix products of one precision: read once with REAL float and once with REAL double. */

typedef void (*NAME(gemm_narrow))(int order, int ta, int tb, int32_t m, int32_t n, int32_t k,
                                  REAL alpha, const REAL *a, int32_t lda, const REAL *b,
                                  int32_t ldb, REAL beta, REAL *c, int32_t ldc);
typedef void (*NAME(gemm_wide))(int order, int ta, int tb, int64_t m, int64_t n, int64_t k,
                                REAL alpha, const REAL *a, int64_t lda, const REAL *b, int64_t ldb,
                                REAL beta, REAL *c, int64_t ldc);
typedef void (*NAME(gemv_narrow))(int order, int ta, int32_t m, int32_t n, REAL alpha,
                                  const REAL *a, int32_t lda, const REAL *x, int32_t step_x,
                                  REAL beta, REAL *y, int32_t step_y);
typedef void (*NAME(gemv_wide))(int order, int ta, int64_t m, int64_t n, REAL alpha, const REAL *a,
                                int64_t lda, const REAL *x, int64_t step_x, REAL beta, REAL *y,
                                int64_t step_y);

/* y = alpha op(A) x + beta y, with A of rows x columns as it lies in memory. */
static void NAME(gemv)(int transposed, int64_t rows, int64_t columns, REAL alpha, const REAL *a,
                       int64_t lda, const REAL *x, int64_t step_x, REAL beta, REAL *y,
                       int64_t step_y)
{
    int op = transposed ? TRANSPOSED : PLAIN;
    if (blas.wide)
        ((NAME(gemv_wide))blas.NAME(gemv))(ROW_MAJOR, op, rows, columns, alpha, a, lda, x, step_x,
                                           beta, y, step_y);
    else
        ((NAME(gemv_narrow))blas.NAME(gemv))(ROW_MAJOR, op, (int32_t)rows, (int32_t)columns, alpha,
                                             a, (int32_t)lda, x, (int32_t)step_x, beta, y,
                                             (int32_t)step_y);
}

/* One product, or a piece of one, in this thread; by tiles if those suit the whole. */
static void NAME(product_alone)(const struct NAME(product) *p, int by_tiles)
{
    int64_t m = p->m, n = p->n, k = p->k;
    if ((m * n * k <= TINY && (n > 1 || k <= 8)) || !blas.NAME(gemm) ||
        (!blas.wide && (too_long(m, n, k) || too_long(p->lda, p->ldb, p->ldc)))) {
        NAME(product_loops)(p);
    } else if (n == 1 && blas.NAME(gemv)) {
        NAME(gemv)(p->ta, p->ta ? k : m, p->ta ? m : k, p->alpha, p->a, p->lda, p->b,
                   p->tb ? 1 : p->ldb, p->beta, p->c, p->ldc);
    } else if (m == 1 && blas.NAME(gemv)) {
        NAME(gemv)(!p->tb, p->tb ? n : k, p->tb ? k : n, p->alpha, p->b, p->ldb, p->a,
                   p->ta ? p->lda : 1, p->beta, p->c, 1);
    } else if (by_tiles) {
        NAME(product_tiles)(p);
    } else if (blas.wide) {
        ((NAME(gemm_wide))blas.NAME(gemm))(ROW_MAJOR, p->ta ? TRANSPOSED : PLAIN,
                                           p->tb ? TRANSPOSED : PLAIN, m, n, k, p->alpha, p->a,
                                           p->lda, p->b, p->ldb, p->beta, p->c, p->ldc);
    } else {
        ((NAME(gemm_narrow))blas.NAME(gemm))(
            ROW_MAJOR, p->ta ? TRANSPOSED : PLAIN, p->tb ? TRANSPOSED : PLAIN, (int32_t)m,
            (int32_t)n, (int32_t)k, p->alpha, p->a, (int32_t)p->lda, p->b, (int32_t)p->ldb, p->beta,
            p->c, (int32_t)p->ldc);
    }
}

struct NAME(split) {
    const struct NAME(product) *product;
    struct cut cut;
    int by_tiles;
};

static void NAME(split_body)(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct NAME(split) *split = context;
    (void)worker;
    for (int64_t i = lo; i < hi; i++) {
        struct NAME(product) p = *split->product;
        int64_t start = i * split->cut.piece;
        int last = i == split->cut.pieces - 1;
        if (split->cut.along_rows) {
            p.m = last ? p.m - start : split->cut.piece;
            p.a += p.ta ? start : start * p.lda;
            p.c += start * p.ldc;
        } else {
            p.n = last ? p.n - start : split->cut.piece;
            p.b += p.tb ? start * p.ldb : start;
            p.c += start;
        }
        NAME(product_alone)(&p, split->by_tiles);
    }
}

static void NAME(product_split)(const struct NAME(product) *p)
{
    struct NAME(split) split = {p, cut_product(p->m, p->n, p->k), NAME(suits_tiles)(p)};
    runtime_parallel_blocks(NAME(split_body), &split, split.cut.pieces);
}

static void NAME(gemm)(int ta, int tb, int64_t m, int64_t n, int64_t k, REAL alpha, const REAL *a,
                       int64_t lda, const REAL *b, int64_t ldb, REAL beta, REAL *c, int64_t ldc)
{
    /* A matrix of one row has any leading dimension; the BLAS wants one that fits. */
    int64_t least_a = ta ? m : k, least_b = tb ? k : n;
    struct NAME(product) p = {ta, tb, m, n, k, alpha, a, longer(lda, least_a),
                              b, longer(ldb, least_b), beta, c, longer(ldc, n)};
    if (m <= 0 || n <= 0)
        return;
    if (k <= 0) {
        NAME(scale)(&p);
    } else if (m * n * k <= BLAS_KEEPS_TO_ONE_THREAD) {
        NAME(product_alone)(&p, NAME(suits_tiles)(&p));
    } else {
        quieten_blas();
        NAME(product_split)(&p);
        release_blas();
    }
}

struct NAME(batch) {
    struct NAME(product) product;
    int64_t stride_a, stride_b, stride_c;
};

static void NAME(batch_body)(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct NAME(batch) *batch = context;
    (void)worker;
    for (int64_t i = lo; i < hi; i++) {
        struct NAME(product) p = batch->product;
        p.a += i * batch->stride_a;
        p.b += i * batch->stride_b;
        p.c += i * batch->stride_c;
        NAME(gemm)(p.ta, p.tb, p.m, p.n, p.k, p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc);
    }
}

static void NAME(gemm_batch)(int64_t count, int ta, int tb, int64_t m, int64_t n, int64_t k,
                             REAL alpha, const REAL *a, int64_t lda, int64_t stride_a,
                             const REAL *b, int64_t ldb, int64_t stride_b, REAL beta, REAL *c,
                             int64_t ldc, int64_t stride_c)
{
    if (count <= 0 || m <= 0 || n <= 0)
        return;
    if (!ta && stride_b == 0 && stride_a == m * lda && stride_c == m * ldc && lda >= k &&
        ldc >= n) {
        /* The same right operand, and rows that follow each other: one product. */
        NAME(gemm)(ta, tb, count * m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
        return;
    }
    struct NAME(batch) batch = {
        {ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, stride_a, stride_b, stride_c};
    int64_t work = m * n * (k > 0 ? k : 1), threads = runtime_threads();
    int calm = blas.set_threads || work <= BLAS_KEEPS_TO_ONE_THREAD;
    if (inside || count < threads || count * work < 2 * LEAST || !calm || stride_c == 0) {
        NAME(batch_body)(&batch, 0, count, 0);
        return;
    }
    int64_t grain = LEAST / 2 / work;
    quieten_blas();
    runtime_parallel(NAME(batch_body), &batch, count, grain > 1 ? grain : 1);
    release_blas();
}

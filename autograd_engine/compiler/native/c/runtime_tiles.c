/* Products by tiles of C in registers, of one precision: for matrices so narrow that a BLAS spends
   a good part of its time on copying them. Read like runtime_gemm.c, and by it.

   Some columns of B are copied, a panel of two vectors of columns after the other, so that what one
   tile reads follows each other in the cache. A is read where it lies. */

#if HAVE_TILES

typedef REAL NAME(lane) __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(REAL))));

#define LANES ((int64_t)(VECTOR_BYTES / sizeof(REAL)))
#define PANEL (2 * LANES)

/* y = alpha s + beta y */
static inline __attribute__((always_inline)) void
NAME(write_lane)(NAME(lane) s, REAL alpha, REAL beta, REAL *y)
{
    NAME(lane) *out = (NAME(lane) *)y;
    *out = beta == 0 ? alpha * s : alpha * s + beta * *out;
}

/* C (`rows` by a panel) = alpha A B + beta C, of which `columns` are there. */
static inline __attribute__((always_inline)) void
NAME(tile)(const int rows, int64_t k, REAL alpha, const REAL *a, int64_t step_i, int64_t step_q,
           const REAL *b, REAL beta, REAL *c, int64_t ldc, int64_t columns)
{
    NAME(lane) s[TILE_ROWS][2];
#pragma GCC unroll 6
    for (int r = 0; r < rows; r++)
        s[r][0] = s[r][1] = (NAME(lane)){0};
    for (int64_t q = 0; q < k; q++) {
        NAME(lane) y0 = *(const NAME(lane) *)(b + q * PANEL);
        NAME(lane) y1 = *(const NAME(lane) *)(b + q * PANEL + LANES);
#pragma GCC unroll 6
        for (int r = 0; r < rows; r++) {
            REAL x = a[r * step_i + q * step_q];
            s[r][0] += x * y0;
            s[r][1] += x * y1;
        }
    }
#pragma GCC unroll 6
    for (int r = 0; r < rows; r++) {
        REAL part[PANEL], *row = columns == PANEL ? c + r * ldc : part;
        size_t bytes = (size_t)columns * sizeof(REAL);
        if (row == part && beta != 0) {
            memset(part, 0, sizeof part);
            memcpy(part, c + r * ldc, bytes);
        }
        NAME(write_lane)(s[r][0], alpha, beta, row);
        NAME(write_lane)(s[r][1], alpha, beta, row + LANES);
        if (row == part)
            memcpy(c + r * ldc, part, bytes);
    }
}

/* All rows of C beside one panel of B. */
static void NAME(tiles)(int64_t m, int64_t k, REAL alpha, const REAL *a, int64_t step_i,
                        int64_t step_q, const REAL *b, REAL beta, REAL *c, int64_t ldc,
                        int64_t columns)
{
    int64_t i = 0;
    for (; i + TILE_ROWS <= m; i += TILE_ROWS, a += TILE_ROWS * step_i, c += TILE_ROWS * ldc)
        NAME(tile)(TILE_ROWS, k, alpha, a, step_i, step_q, b, beta, c, ldc, columns);
    switch (m - i) {
#define REST(rows)                                                                                 \
    case rows:                                                                                     \
        NAME(tile)(rows, k, alpha, a, step_i, step_q, b, beta, c, ldc, columns);                   \
        break;
        REST(1)
        REST(2)
        REST(3)
        REST(4)
        REST(5)
#undef REST
    }
}

/* The columns of B as panels: zeros beyond the last. */
static void NAME(pack)(int64_t k, int64_t n, const REAL *b, int64_t step_q, int64_t step_j,
                       REAL *out)
{
    for (int64_t j = 0; j < n; j += PANEL, out += k * PANEL) {
        int64_t there = n - j < PANEL ? n - j : PANEL;
        const REAL *from = b + j * step_j;
        if (there == PANEL && step_j == 1) {
            for (int64_t q = 0; q < k; q++)
                memcpy(out + q * PANEL, from + q * step_q, (size_t)PANEL * sizeof(REAL));
        } else {
            for (int64_t q = 0; q < k; q++)
                for (int64_t l = 0; l < PANEL; l++)
                    out[q * PANEL + l] = l < there ? from[q * step_q + l * step_j] : 0;
        }
    }
}

/* So much of k at a time, as much of B as fits, and so many rows of A, which then stay in the cache;
   `beta` counts for the first part of k, and those that follow add to it. */
static void NAME(product_tiles)(const struct NAME(product) *p)
{
    REAL panels[TILES_BYTES / sizeof(REAL)] __attribute__((aligned(64)));
    int64_t depth = p->ta ? 64 : 256, wide = TILES_BYTES / (int64_t)sizeof(REAL);
    int64_t step_i = p->ta ? 1 : p->lda, step_q = p->ta ? p->lda : 1;
    for (int64_t q = 0; q < p->k; q += depth) {
        int64_t k = shorter(p->k - q, depth), across = wide / k / PANEL * PANEL;
        REAL beta = q ? 1 : p->beta;
        for (int64_t j = 0; j < p->n; j += across) {
            int64_t n = shorter(p->n - j, across);
            const REAL *b = p->b + (p->tb ? j * p->ldb + q : q * p->ldb + j);
            NAME(pack)(k, n, b, p->tb ? 1 : p->ldb, p->tb ? p->ldb : 1, panels);
            for (int64_t i = 0; i < p->m; i += ROWS_AT_A_TIME) {
                int64_t m = shorter(p->m - i, ROWS_AT_A_TIME);
                const REAL *a = p->a + i * step_i + q * step_q;
                for (int64_t l = 0; l < n; l += PANEL)
                    NAME(tiles)(m, k, p->alpha, a, step_i, step_q, panels + l * k, beta,
                                p->c + i * p->ldc + j + l, p->ldc, shorter(n - l, PANEL));
            }
        }
    }
}

/* Whether that takes less time than the BLAS. */
static int NAME(suits_tiles)(const struct NAME(product) *p)
{
    if (p->m < TILE_ROWS || p->n < LANES)
        return 0;
    return p->ta ? p->k <= 256 && p->m <= 256 && p->n <= 256 : p->k <= 512 && p->n <= 512;
}

#undef LANES
#undef PANEL

#else

static void NAME(product_tiles)(const struct NAME(product) *p) { NAME(product_loops)(p); }

static int NAME(suits_tiles)(const struct NAME(product) *p)
{
    (void)p;
    return 0;
}

#endif

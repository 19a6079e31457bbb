/* What convolutions are made of: vectors and the tiles of them that registers hold. */

#if defined(__clang__)
#pragma STDC FP_CONTRACT ON
#else
#pragma GCC optimize("fp-contract=fast")
#endif

/* Registers decide: 32 of 64 bytes, or 16 of 32. Tables count vectors of 64 bytes (CONV_HALVES). */
#if defined(__AVX512F__)
enum { CONV_BYTES = 64, CONV_TALL = 8, CONV_WIDE = 3, CONV_TAPS = 3, CONV_FILTERS = 4 };
#else
enum { CONV_BYTES = 32, CONV_TALL = 6, CONV_WIDE = 1, CONV_TAPS = 2, CONV_FILTERS = 2 };
#endif
enum { CONV_HALVES = 64 / CONV_BYTES, CONV_ACROSS = CONV_WIDE * CONV_HALVES };
#define CONV_LANES_fX ((int64_t)(CONV_BYTES / sizeof(real)))
typedef real conv_lane_fX __attribute__((vector_size(CONV_BYTES), aligned(sizeof(real)), may_alias));

/* How many products are added up in one go: their vectors stay in the first cache. */
enum { CONV_DEEP = 128 };

/* Filters as vectors: a whole number of them. */
static __attribute__((unused)) int64_t conv_lanes_fX(int64_t filters)
{
    return (filters + CONV_LANES_fX - 1) / CONV_LANES_fX * CONV_LANES_fX;
}

static void *conv_memory(int64_t elements, size_t size)
{
    return aligned_alloc(64, ((size_t)elements * size + 1023) / 64 * 64);
}

/* A square of elements, turned: lanes become vectors. */
AE_INLINE void conv_square_fX(conv_lane_fX *v)
{
#if defined(__clang__)
    for (int64_t i = 0; i < CONV_LANES_fX; i++)
        for (int64_t k = 0; k < i; k++) {
            real kept = v[i][k];
            v[i][k] = v[k][i];
            v[k][i] = kept;
        }
#else
    typedef __typeof__(v[0] < v[0]) places;
#pragma GCC unroll 4
    for (int64_t step = 1; step < CONV_LANES_fX; step *= 2) {
        places low, high; /* blocks of `step` lanes change places beside the diagonal */
        for (int64_t k = 0; k < CONV_LANES_fX; k++) {
            low[k] = k & step ? k - step + CONV_LANES_fX : k;
            high[k] = k & step ? k + CONV_LANES_fX : k + step;
        }
#pragma GCC unroll 16
        for (int64_t i = 0; i < CONV_LANES_fX; i++)
            if (!(i & step)) {
                conv_lane_fX a = v[i], b = v[i + step];
                v[i] = __builtin_shuffle(a, b, low);
                v[i + step] = __builtin_shuffle(a, b, high);
            }
    }
#endif
}

/* So many rows of n elements as columns of vectors, `step` apart; zeros fill the last lanes. */
static void conv_turn_fX(const real *x, int64_t pitch, int64_t rows, int64_t n, real *to,
                         int64_t step)
{
    for (int64_t j = 0; j < n; j += CONV_LANES_fX) {
        int64_t there = n - j < CONV_LANES_fX ? n - j : CONV_LANES_fX;
        conv_lane_fX v[CONV_LANES_fX];
        for (int64_t i = 0; i < CONV_LANES_fX; i++) {
            v[i] = (conv_lane_fX){0};
            if (i < rows && there == CONV_LANES_fX)
                v[i] = *(const conv_lane_fX *)(x + i * pitch + j);
            else if (i < rows)
                for (int64_t k = 0; k < there; k++)
                    v[i][k] = x[i * pitch + j + k];
        }
        conv_square_fX(v);
        for (int64_t k = 0; k < there; k++)
            *(conv_lane_fX *)(to + (j + k) * step) = v[k];
    }
}

/* total[r] += sum over n windows of  y[window] x[r][at[window]],  for `tall` rows and `across`
   vectors of filters. */
#define CONV_ROWS_fX(across, tall)                                                                 \
    static void conv_rows_##across##_fX(int64_t n, const real *y, const real *const *x,            \
                                        const int64_t *at, real *total, int64_t pitch,             \
                                        int64_t there)                                             \
    {                                                                                              \
        conv_lane_fX s[tall][across];                                                              \
        const real *p[tall];                                                                       \
        for (int r = 0; r < tall; r++) {                                                           \
            p[r] = x[r];                                                                           \
            for (int v = 0; v < across; v++)                                                       \
                s[r][v] = (conv_lane_fX){0};                                                       \
        }                                                                                          \
        for (int64_t i = 0; i < n; i++, y += across * CONV_LANES_fX) {                             \
            int64_t a = at[i];                                                                     \
            for (int r = 0; r < tall; r++)                                                         \
                for (int v = 0; v < across; v++)                                                   \
                    s[r][v] += *(const conv_lane_fX *)(y + v * CONV_LANES_fX) * p[r][a];           \
        }                                                                                          \
        for (int r = 0; r < there; r++)                                                            \
            for (int v = 0; v < across; v++)                                                       \
                *(conv_lane_fX *)(total + r * pitch + v * CONV_LANES_fX) += s[r][v];               \
    }

#if defined(__AVX512F__)
CONV_ROWS_fX(1, 12) CONV_ROWS_fX(2, 12) CONV_ROWS_fX(3, 8) CONV_ROWS_fX(4, 6)
static const int64_t CONV_HIGH_fX[] = {0, 12, 12, 8, 6};
#else
CONV_ROWS_fX(1, 8) CONV_ROWS_fX(2, 6)
static const int64_t CONV_HIGH_fX[] = {0, 8, 6};
#endif

/* The rows of the highest tile. */
enum { CONV_SPARE = 12 };

/* The same of any number of rows, which have CONV_SPARE more entries of x behind them. */
static void conv_rows_fX(int64_t across, int64_t n, const real *y, const real *const *x,
                         const int64_t *at, real *total, int64_t pitch, int64_t rows)
{
    int64_t high = CONV_HIGH_fX[across];
    for (int64_t k = 0; k < rows; k += high, x += high, total += high * pitch) {
        int64_t there = rows - k < high ? rows - k : high;
        switch (across) {
        case 1: conv_rows_1_fX(n, y, x, at, total, pitch, there); break;
        case 2: conv_rows_2_fX(n, y, x, at, total, pitch, there); break;
#if defined(__AVX512F__)
        case 3: conv_rows_3_fX(n, y, x, at, total, pitch, there); break;
        case 4: conv_rows_4_fX(n, y, x, at, total, pitch, there); break;
#endif
        }
    }
}

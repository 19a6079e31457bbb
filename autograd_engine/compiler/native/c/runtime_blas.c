/* The BLAS. Its own threads stay idle while a product of ours is under way: two pools on the same
   cores cost more than either gains. */

static struct {
    int wide; /* its integers have 64 bits */
    void *gemm_f32, *gemm_f64, *gemv_f32, *gemv_f64;
    int (*get_threads)(void);
    void (*set_threads)(int);
    pthread_mutex_t lock;
    int users, before;
    int forked; /* with users: `before` is to be restored */
} blas = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void quieten_blas(void)
{
    if (!blas.set_threads)
        return;
    pthread_mutex_lock(&blas.lock);
    if (blas.users++ == 0) {
        if (!blas.forked)
            blas.before = blas.get_threads();
        blas.forked = 0;
        if (blas.before != 1)
            blas.set_threads(1);
    }
    pthread_mutex_unlock(&blas.lock);
}

static void release_blas(void)
{
    if (!blas.set_threads)
        return;
    pthread_mutex_lock(&blas.lock);
    if (--blas.users == 0 && blas.before != 1)
        blas.set_threads(blas.before);
    pthread_mutex_unlock(&blas.lock);
}

enum { ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112 };

/* Below so many multiplications plain loops are faster than a call of the BLAS. */
#define TINY 64
/* OpenBLAS itself uses one thread for up to 2^18 of them (gemv: 9216), so need not be told to. */
#define BLAS_KEEPS_TO_ONE_THREAD 8192
/* From so many on, several threads pay. */
#define SPLIT_FROM (3 << 19)
#define SPLIT_VECTOR_FROM (1 << 19)

static int too_long(int64_t a, int64_t b, int64_t c)
{
    return a > INT32_MAX || b > INT32_MAX || c > INT32_MAX;
}

static int64_t longer(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t shorter(int64_t a, int64_t b) { return a < b ? a : b; }

/* Products by tiles of 6 rows and two vectors, which take 12 of the 16 registers of AVX2. Where
   there are longer vectors, the BLAS has tiles of these, and its copies pay. */
#if defined(__AVX2__) && defined(__FMA__) && !defined(__AVX512F__)
#define HAVE_TILES 1
#else
#define HAVE_TILES 0
#endif
#define VECTOR_BYTES 32
#define TILE_ROWS 6
#define TILES_BYTES (1 << 16)
#define ROWS_AT_A_TIME 96

/* Into how many pieces a product is split. */
static int64_t split_pieces(int64_t m, int64_t n, int64_t k)
{
    int64_t threads = runtime_threads(), longest = longer(m, n), work = m * n * k;
    int64_t from = m == 1 || n == 1 ? SPLIT_VECTOR_FROM : SPLIT_FROM;
    if (inside || threads == 1 || work < from || longest < 32 || !blas.set_threads)
        return 1;
    return shorter(work / (from / 2), threads);
}

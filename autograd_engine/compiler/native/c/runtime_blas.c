/* The BLAS. Its own threads stay idle while a product of ours is under way: two pools on the same
   cores cost more than either gains. */

#define BLAS_JOBS 64

static struct {
    int wide; /* its integers have 64 bits */
    void *gemm_f32, *gemm_f64, *gemv_f32, *gemv_f64;
    int (*get_threads)(void);
    void (*set_threads)(int);
    pthread_mutex_t lock;
    int users, before;
    int forked; /* with users: `before` is to be restored */
    pthread_mutex_t running; /* jobs of a product of its own */
    int most;                /* numbers that its threads have */
    void (*set_callback)(void *);
    int (*run_by_its_own)(long count, void *first);
    void *(*allocate)(int);
    void *memory[BLAS_JOBS]; /* of the jobs that run, by their places; kept */
} blas = {.lock = PTHREAD_MUTEX_INITIALIZER, .running = PTHREAD_MUTEX_INITIALIZER};

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

/* --- Jobs of the BLAS

   What NumPy multiplies is split by the BLAS, into as many jobs as it would have threads. Its own
   threads look for the next product for a tenth of a second before they block, on a processor that
   ours want; so the pool runs these jobs, where the BLAS asks whom it is told to ask. Which jobs
   there are is for the BLAS to say, so bits are those of its own threads.

   A job may wait for what another one writes: each has a thread of its own. Where the pool is taken,
   these are made for it. Where the system gives none, the BLAS keeps its own from then on.

   The BLAS finds memory for a job by the number of its thread, and gives memory of numbers that its
   own threads do not have to others whenever these are started anew: behind a fork, by each thread
   that finds them gone, while jobs of another one run. So jobs bring memory of their own. */

typedef void (*blas_job)(int thread, void *job, int info);

/* A job, as OpenBLAS has it. Without `a`, memory is that of the number; `b` follows `a`. */
struct job {
    void *routine;
    long position, assigned;
    void *arguments, *rows, *columns, *a, *b;
    struct job *next;
    pthread_mutex_t lock;
    pthread_cond_t finished;
    int mode, status;
};

struct jobs {
    blas_job run;
    char *first;
    size_t bytes;
    int info, known; /* these are jobs as above */
    int from, step;  /* the number of the first thread, and to the next one's */
    atomic_int next;
    pthread_mutex_t gate;
    int given_up;
};

static void run_job(struct jobs *jobs, int64_t i)
{
    void *job = jobs->first + (size_t)i * jobs->bytes;
    int number = jobs->from + jobs->step * (int)i;
    struct job *known = jobs->known ? job : NULL;
    if (!known || known->a) {
        jobs->run(number, job, jobs->info);
        return;
    }
    known->a = blas.memory[i];
    jobs->run(number, job, jobs->info);
    known->a = NULL;
}

/* 0 if these are other jobs than we know. */
static int give_memory(struct jobs *jobs, int count)
{
    if (jobs->bytes != sizeof(struct job) || count > BLAS_JOBS)
        return 0;
    struct job *job = (struct job *)jobs->first;
    for (int i = 0; i < count; i++) {
        struct job *next = i < count - 1 ? job + i + 1 : NULL;
        if (job[i].position != i || (count > 1 && job[i].next != next))
            return 0;
        if (!job[i].a && !blas.memory[i] && !(blas.memory[i] = blas.allocate(2)))
            return 0;
    }
    return 1;
}

static void jobs_body(void *context, int64_t lo, int64_t hi, int worker)
{
    struct jobs *jobs = context;
    (void)worker;
    for (int64_t i = lo; i < hi; i++)
        run_job(jobs, i);
}

static int jobs_in_pool(struct jobs *jobs, int count)
{
    if (inside || atomic_exchange(&pool.taken, 1))
        return 0;
    pthread_mutex_lock(&pool.lock);
    hire(count - 1);
    int enough = pool.workers >= count - 1;
    pthread_mutex_unlock(&pool.lock);
    if (enough) {
        struct region region = {
            .body = jobs_body, .context = jobs, .n = count, .chunk = 1, .halted = &halted};
        inside = 1;
        open_region(&region, count - 1);
        take_chunks(&region);
        close_region(&region);
        inside = 0;
    }
    atomic_store(&pool.taken, 0);
    return enough;
}

static void *run_next_job(void *context)
{
    struct jobs *jobs = context;
    pthread_mutex_lock(&jobs->gate);
    int given_up = jobs->given_up;
    pthread_mutex_unlock(&jobs->gate);
    if (!given_up)
        run_job(jobs, atomic_fetch_add(&jobs->next, 1));
    return NULL;
}

/* None begins before all are there: those that have begun could not be given up. */
static int jobs_in_threads(struct jobs *jobs, int count)
{
    pthread_t threads[count];
    sigset_t all, before;
    int made = 1;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_mutex_lock(&jobs->gate);
    while (made < count && pthread_create(&threads[made], NULL, run_next_job, jobs) == 0)
        made++;
    jobs->given_up = made < count;
    pthread_mutex_unlock(&jobs->gate);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    run_next_job(jobs);
    for (int i = 1; i < made; i++)
        pthread_join(threads[i], NULL);
    return !jobs->given_up;
}

static void run_jobs(int synchronous, blas_job run, int count, size_t bytes, void *first, int info)
{
    struct jobs jobs = {.run = run, .first = first, .bytes = bytes, .info = info,
                        .gate = PTHREAD_MUTEX_INITIALIZER};
    (void)synchronous;
    pthread_mutex_lock(&blas.running);
    jobs.known = give_memory(&jobs, count);
    /* Not the numbers of its own threads, which factor matrices meanwhile. Where it was told since to
       use so many that there is no room beside them: the last one, which they never have. */
    jobs.step = !jobs.known || 2 * blas.get_threads() <= blas.most;
    jobs.from = blas.most - (jobs.step ? count : 1);
    jobs.from = jobs.from > 0 ? jobs.from : 0;
    int done = jobs_in_pool(&jobs, count) || jobs_in_threads(&jobs, count);
    if (!done)
        blas.set_callback(NULL);
    pthread_mutex_unlock(&blas.running);
    if (!done)
        blas.run_by_its_own(count, first);
}

enum { ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112 };

/* Below so many multiplications plain loops are faster than a call of the BLAS. */
#define TINY 64
/* OpenBLAS itself uses one thread for up to 2^18 of them (gemv: 9216), so need not be told to. */
#define BLAS_KEEPS_TO_ONE_THREAD 8192
/* So many for a piece: from twice as many on, several threads pay. */
#define LEAST (1 << 20)
#define LEAST_OF_VECTOR (1 << 18)
/* Where pieces of rows begin. In each tile of 24 rows OpenBLAS adds up in one order; in what is left
   of them, and in products of less than 10^6 multiplications, in another one. */
#define PIECE_ROWS 24
/* Pieces along columns, and of vectors, are cut by sizes alone: so many at most. */
#define PIECE_COLUMNS 64
#define PIECES_MOST 8

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

/* How a product is split: a piece is so many rows, or columns, of C, and the last one what is left.
   Along rows there are as many pieces as threads, for bits do not depend on where these end; a
   product of few rows is cut by its size, in one thread too. */
struct cut {
    int along_rows;
    int64_t pieces, piece;
};

static struct cut cut_product(int64_t m, int64_t n, int64_t k)
{
    int vector = m == 1 || n == 1, by_threads = !vector && m >= 2 * PIECE_ROWS;
    struct cut cut = {by_threads || n == 1, 1, 0};
    int64_t length = cut.along_rows ? m : n, each = m * n * k / length;
    int64_t unit = by_threads ? PIECE_ROWS : PIECE_COLUMNS, most = PIECES_MOST;
    int64_t least = vector ? LEAST_OF_VECTOR : LEAST;
    if (by_threads)
        most = inside ? 1 : runtime_threads();
    for (most = shorter(most, m * n * k / least); blas.set_threads && most > 1; most--) {
        int64_t piece = (length / most + unit / 2) / unit * unit, last = length - (most - 1) * piece;
        if (shorter(piece, last) * each >= least) {
            cut.pieces = most;
            cut.piece = piece;
            break;
        }
    }
    return cut;
}

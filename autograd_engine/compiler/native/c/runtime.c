/* The table that libraries are bound to, and what Python sets it up with. */

static const struct ae_runtime table = {
    .abi = AE_ABI,
    .threads = runtime_threads,
    .parallel = runtime_parallel,
    .parallel_blocks = runtime_parallel_blocks,
    .stopped = runtime_stopped,
    .gemm_f32 = gemm_f32,
    .gemm_f64 = gemm_f64,
    .gemm_batch_f32 = gemm_batch_f32,
    .gemm_batch_f64 = gemm_batch_f64,
};

/* A thread of the BLAS's caller holds a lock of the BLAS's while its jobs run, which a child would
   find locked. */
static void before_fork(void) { pthread_mutex_lock(&blas.running); }

static void after_fork_in_parent(void) { pthread_mutex_unlock(&blas.running); }

/* A child has none of its parent's threads but the one that forked. */
static void after_fork(void)
{
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.work, NULL);
    pthread_cond_init(&pool.done, NULL);
    pool.region = NULL;
    pool.workers = pool.helpers = pool.joined = pool.refused = 0;
    pool.sit_out = 0;
    atomic_store(&pool.penalty, 0);
    atomic_store(&pool.active, 0);
    atomic_store(&pool.taken, 0);
    pthread_mutex_init(&blas.lock, NULL);
    pthread_mutex_init(&blas.running, NULL);
    blas.forked = blas.forked || blas.users > 0;
    blas.users = 0;
}

const struct ae_runtime *ae_runtime_table(void);
void ae_runtime_set_threads(int threads);
int ae_runtime_get_threads(void);
void ae_runtime_set_spin(int nanoseconds);
int ae_runtime_workers(void);
void ae_runtime_set_blas(int wide, void *gemm_f32, void *gemm_f64, void *gemv_f32, void *gemv_f64,
                         int (*get_threads)(void), void (*set_threads)(int));
void ae_runtime_run_jobs_of_blas(void (*set_callback)(void *), int (*run_by_its_own)(long, void *),
                                 void *(*allocate)(int), int most);
void ae_runtime_set_python(int (*lock)(void), void (*unlock)(int), int (*check_signals)(void),
                           void (*fetch)(void **, void **, void **),
                           void (*restore)(void *, void *, void *));
int ae_runtime_raise(void);

const struct ae_runtime *ae_runtime_table(void)
{
    static atomic_int watched;
    if (!atomic_exchange(&watched, 1))
        pthread_atfork(before_fork, after_fork_in_parent, after_fork);
    return &table;
}

/* Fewer threads: those that are there stay blocked. A region under way keeps its number. */
void ae_runtime_set_threads(int threads)
{
    atomic_store(&thread_limit, threads > 1 ? threads : 1);
    pthread_mutex_lock(&pool.lock);
    pool.refused = 0;
    pthread_mutex_unlock(&pool.lock);
}

int ae_runtime_get_threads(void) { return runtime_threads(); }

void ae_runtime_set_spin(int nanoseconds) { atomic_store(&spin_ns, nanoseconds); }

/* How many threads the pool has started in this process. */
int ae_runtime_workers(void)
{
    pthread_mutex_lock(&pool.lock);
    int workers = pool.workers;
    pthread_mutex_unlock(&pool.lock);
    return workers;
}

void ae_runtime_set_blas(int wide, void *gemm_f32, void *gemm_f64, void *gemv_f32, void *gemv_f64,
                         int (*get_threads)(void), void (*set_threads)(int))
{
    blas.wide = wide;
    blas.gemm_f32 = gemm_f32;
    blas.gemm_f64 = gemm_f64;
    blas.gemv_f32 = gemv_f32;
    blas.gemv_f64 = gemv_f64;
    blas.get_threads = get_threads;
    blas.set_threads = get_threads ? set_threads : NULL;
}

/* Let the BLAS ask us for threads: its own have so many numbers. */
void ae_runtime_run_jobs_of_blas(void (*set_callback)(void *), int (*run_by_its_own)(long, void *),
                                 void *(*allocate)(int), int most)
{
    blas.most = most;
    blas.allocate = allocate;
    blas.run_by_its_own = run_by_its_own;
    blas.set_callback = set_callback;
    set_callback((void *)run_jobs);
}

void ae_runtime_set_python(int (*lock)(void), void (*unlock)(int), int (*check_signals)(void),
                           void (*fetch)(void **, void **, void **),
                           void (*restore)(void *, void *, void *))
{
    python.lock = lock;
    python.unlock = unlock;
    python.fetch = fetch;
    python.restore = restore;
    python.check_signals = check_signals;
}

/* Called by Python behind a run that was given up: raises what a handler of a signal did. */
int ae_runtime_raise(void)
{
    atomic_store(&halted, 0);
    if (!raised.kind)
        return 0;
    python.restore(raised.kind, raised.value, raised.traceback);
    raised.kind = raised.value = raised.traceback = NULL;
    return 1;
}

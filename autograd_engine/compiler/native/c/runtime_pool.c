/* A pool of threads that block, and the BLAS of the process behind one table (see runtime.h).

   One region at a time has the pool. A caller that finds it taken, or that is inside a region, runs
   its chunks alone: nobody waits for the pool. A region ends when its chunks are done, whether or
   not the workers ever woke up: under a competing load the caller does the work itself. And where a
   worker was held up with a chunk in its hands, so that the region took longer than it would have
   in one thread, the next regions do without the pool: a few, then twice as many. */

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#define SIT_OUT_LEAST 4
#define SIT_OUT_MOST 64
#define SIT_OUT_FROM_NS 20000 /* a delay worth the name */
#define CHUNKS_PER_THREAD 4 /* so that a thread that is held up delays a quarter of its share */
#define STACK_BYTES (8 << 20)
#define ASK_NS 200000000 /* between two questions to Python, each of which waits for its lock */

struct region {
    ae_body body;
    void *context;
    int64_t n, chunk;
    atomic_int_fast64_t next;
    atomic_int *halted;   /* the caller's */
    atomic_int stoppable; /* its bodies look at that */
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    struct region *region; /* while it may be joined */
    int helpers, joined;   /* how many workers may join it, and have */
    int workers;           /* threads of the pool, without the caller's */
    int refused;           /* the system gave no further thread */
    int sit_out;           /* regions that do without the pool */
    atomic_int penalty;    /* how many that were the last time; 0: nothing competes with us */
    atomic_int active;     /* workers inside the region */
    atomic_uint generation;
    atomic_int taken;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .work = PTHREAD_COND_INITIALIZER,
          .done = PTHREAD_COND_INITIALIZER};

static atomic_int thread_limit = 1;
static atomic_int spin_ns = 200000;

static _Thread_local int inside; /* a region */
static _Thread_local int number; /* of this thread in that region */

/* Functions of Python's, and the exception that waits for the run of this thread to end. */
static struct {
    int (*lock)(void);
    void (*unlock)(int);
    int (*check_signals)(void);
    void (*fetch)(void **kind, void **value, void **traceback);
    void (*restore)(void *kind, void *value, void *traceback);
} python;

static _Thread_local struct {
    void *kind, *value, *traceback;
} raised;
static _Thread_local atomic_int halted;
static _Thread_local int64_t ask_at;
static _Thread_local struct region *helped; /* of a worker: the region that it is in */

static int runtime_threads(void)
{
    return atomic_load_explicit(&thread_limit, memory_order_relaxed);
}

static inline void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __asm__ volatile("pause");
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static int64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Python's handlers of signals run here, where this is its main thread: elsewhere it looks at none. */
static int signal_raised(void)
{
    if (!python.check_signals)
        return 0;
    int before = python.lock();
    int failed = python.check_signals() != 0;
    if (failed)
        python.fetch(&raised.kind, &raised.value, &raised.traceback);
    python.unlock(before);
    return failed;
}

static int runtime_stopped(void)
{
    if (helped) {
        atomic_store_explicit(&helped->stoppable, 1, memory_order_relaxed);
        return atomic_load_explicit(helped->halted, memory_order_relaxed);
    }
    if (atomic_load_explicit(&halted, memory_order_relaxed))
        return 1;
    int64_t now = now_ns();
    if (now < ask_at)
        return 0;
    ask_at = now + ASK_NS;
    if (signal_raised())
        atomic_store(&halted, 1);
    return atomic_load(&halted);
}

/* Some microseconds of looking, before the thread blocks: about what it costs to wake it. None
   where other processes want the processors. */
static int64_t spin_limit(void)
{
    return atomic_load_explicit(&pool.penalty, memory_order_relaxed)
               ? 0
               : atomic_load_explicit(&spin_ns, memory_order_relaxed);
}

#define SPIN_WHILE(condition)                                                                      \
    do {                                                                                           \
        int64_t limit = spin_limit();                                                              \
        int64_t until = limit > 0 && (condition) ? now_ns() + limit : 0;                           \
        while (until && (condition)) {                                                             \
            for (int i = 0; i < 16; i++)                                                           \
                pause_briefly();                                                                   \
            if (now_ns() > until)                                                                  \
                break;                                                                             \
        }                                                                                          \
    } while (0)

/* How many chunks this thread has run. */
static int64_t take_chunks(struct region *region)
{
    for (int64_t taken = 0;; taken++) {
        int64_t lo = atomic_fetch_add_explicit(&region->next, region->chunk, memory_order_relaxed);
        if (lo >= region->n)
            return taken;
        int64_t hi = lo + region->chunk < region->n ? lo + region->chunk : region->n;
        region->body(region->context, lo, hi, number);
    }
}

static void *work(void *unused)
{
    unsigned seen = 0;
    (void)unused;
    inside = 1;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        while (!pool.region || atomic_load(&pool.generation) == seen ||
               pool.joined >= pool.helpers)
            pthread_cond_wait(&pool.work, &pool.lock);
        struct region *region = pool.region;
        seen = atomic_load(&pool.generation);
        number = ++pool.joined;
        atomic_fetch_add(&pool.active, 1);
        pthread_mutex_unlock(&pool.lock);
        helped = region;
        take_chunks(region);
        helped = NULL;
        pthread_mutex_lock(&pool.lock);
        if (atomic_fetch_sub(&pool.active, 1) == 1 && !pool.region)
            pthread_cond_signal(&pool.done);
        pthread_mutex_unlock(&pool.lock);
        SPIN_WHILE(atomic_load_explicit(&pool.generation, memory_order_acquire) == seen);
        pthread_mutex_lock(&pool.lock);
    }
    return NULL;
}

/* Called with the lock held. Signals are for the threads of Python. */
static void hire(int wanted)
{
    if (pool.workers >= wanted || pool.refused)
        return;
    sigset_t all, before;
    pthread_attr_t attributes;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    while (pool.workers < wanted && !pool.refused) {
        pthread_t thread;
        if (pthread_create(&thread, &attributes, work, NULL) == 0)
            pool.workers++;
        else
            pool.refused = 1;
    }
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Let the workers in. Called by the thread that has taken the pool, as all that follows. */
static void open_region(struct region *region, int helpers)
{
    pthread_mutex_lock(&pool.lock);
    hire(helpers);
    pool.region = region;
    pool.helpers = helpers;
    pool.joined = 0;
    atomic_fetch_add(&pool.generation, 1);
    if (helpers >= pool.workers)
        pthread_cond_broadcast(&pool.work);
    else
        for (int i = 0; i < helpers; i++)
            pthread_cond_signal(&pool.work);
    pthread_mutex_unlock(&pool.lock);
}

/* Let nobody in any more, and wait for those who are: where they can be stopped, with an eye on
   signals. */
static void close_region(struct region *region)
{
    pthread_mutex_lock(&pool.lock);
    pool.region = NULL;
    if (atomic_load(&pool.active)) {
        pthread_mutex_unlock(&pool.lock);
        SPIN_WHILE(atomic_load_explicit(&pool.active, memory_order_acquire));
        pthread_mutex_lock(&pool.lock);
        while (atomic_load(&pool.active)) {
            struct timespec until;
            clock_gettime(CLOCK_REALTIME, &until);
            until.tv_nsec += ASK_NS;
            if (until.tv_nsec >= 1000000000) {
                until.tv_nsec -= 1000000000;
                until.tv_sec++;
            }
            pthread_cond_timedwait(&pool.done, &pool.lock, &until);
            if (atomic_load(&region->stoppable)) {
                pthread_mutex_unlock(&pool.lock);
                runtime_stopped();
                pthread_mutex_lock(&pool.lock);
            }
        }
    }
    pthread_mutex_unlock(&pool.lock);
}

static void run_together(struct region *region, int64_t chunks, int helpers)
{
    int64_t start = now_ns();
    open_region(region, helpers);
    int64_t mine = take_chunks(region);
    int64_t finished = now_ns();
    close_region(region);
    int64_t end = now_ns();
    if (mine > 0 && end - finished > SIT_OUT_FROM_NS &&
        (double)(end - start) > (double)(finished - start) * (double)chunks / (double)mine) {
        int penalty = 2 * atomic_load(&pool.penalty);
        penalty = penalty > SIT_OUT_LEAST ? penalty : SIT_OUT_LEAST;
        penalty = penalty < SIT_OUT_MOST ? penalty : SIT_OUT_MOST;
        atomic_store(&pool.penalty, penalty);
        pool.sit_out = penalty;
    } else if (atomic_load_explicit(&pool.penalty, memory_order_relaxed)) {
        atomic_store(&pool.penalty, 0);
    }
}

static void run_chunks(ae_body body, void *context, int64_t n, int64_t chunk)
{
    if (n <= 0)
        return;
    struct region region = {
        .body = body, .context = context, .n = n, .chunk = chunk, .halted = &halted};
    if (inside) {
        take_chunks(&region);
        return;
    }
    int64_t chunks = (n + chunk - 1) / chunk;
    int threads = runtime_threads();
    int helpers = (int)(chunks < threads ? chunks : threads) - 1;
    inside = 1;
    number = 0;
    if (helpers > 0 && atomic_exchange(&pool.taken, 1) == 0) {
        if (pool.sit_out > 0) {
            pool.sit_out--;
            take_chunks(&region);
        } else {
            run_together(&region, chunks, helpers);
        }
        atomic_store(&pool.taken, 0);
    } else {
        take_chunks(&region);
    }
    inside = 0;
}

static void runtime_parallel(ae_body body, void *context, int64_t n, int64_t grain)
{
    int threads = runtime_threads();
    int64_t chunk = n;
    if (threads > 1 && n > grain) {
        int64_t share = threads * CHUNKS_PER_THREAD;
        chunk = (n + share - 1) / share;
        chunk = chunk > grain ? chunk : grain;
        if (chunk >= 64) /* whole cache lines */
            chunk = (chunk + 15) / 16 * 16;
        chunk = chunk > 0 ? chunk : 1;
    }
    run_chunks(body, context, n, chunk);
}

static void runtime_parallel_blocks(ae_body body, void *context, int64_t blocks)
{
    run_chunks(body, context, blocks, runtime_threads() > 1 ? 1 : blocks);
}

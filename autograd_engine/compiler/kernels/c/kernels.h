/* What kernels for large arrays start from. `real` and `_fX` stand for the dtype. */

#include <fenv.h>

#define AE_VISIBLE __attribute__((visibility("default")))

/* The loop of a ufunc, or of one over core dimensions: see NumPy on PyUFuncGenericFunction. `dims`
   holds the number of calls and then the core dimensions; `steps`, in bytes, how far the operands of
   one call are from those of the next, and then those of core dimensions. The signature is for
   Python to read. */
#define AE_UFUNC(name, signature)                                                                  \
    AE_VISIBLE void name(char **args, const intptr_t *dims, const intptr_t *steps, void *data);    \
    AE_VISIBLE void name(char **args, const intptr_t *dims, const intptr_t *steps, void *data)

/* A function that Python calls with arrays and numbers. The address of the elements of an array
   stands behind the head that all objects of Python have, then the number of its axes, and where
   their sizes and strides (in bytes) are. */
#define AE_FUNCTION AE_VISIBLE void
typedef const char *ae_array;
#define AE_DATA(type, array) (*(type *const *)((array) + AE_HEAD))
#define AE_SIZES(array) (*(const intptr_t *const *)((array) + AE_HEAD + 2 * sizeof(void *)))
#define AE_STRIDES(array) (*(const intptr_t *const *)((array) + AE_HEAD + 3 * sizeof(void *)))

/* Work, counted in elements of a cheap function, from which on a thread is worth waking: some ten
   microseconds of it. */
#define AE_WORTH 65536

/* How many items of so much work each make it worth that. */
AE_INLINE int64_t ae_grain(int64_t each)
{
    return each < AE_WORTH ? AE_WORTH / (each > 0 ? each : 1) : 1;
}

/* NumPy looks at the flags of the processor behind a loop, and warns. Vectors compute what is then
   not chosen, and other threads have flags of their own: so none are left. */
AE_INLINE void ae_quiet(void) { feclearexcept(FE_ALL_EXCEPT); }

/* How many elements are added up in one go; what is longer is added up in float64 from parts, so that
   sums of long rows keep their digits. */
enum { AE_PART = 1024 };

AE_INLINE real ae_dot_fX(const real *x, const real *y, int64_t n)
{
    double total = 0;
    for (int64_t start = 0; start < n; start += AE_PART) {
        int64_t end = start + AE_PART < n ? start + AE_PART : n;
        real sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t j = start; j < end; j++)
            sum += x[j] * y[j];
        total += sum;
    }
    return (real)total;
}

AE_INLINE real ae_sum_fX(const real *x, int64_t n)
{
    double total = 0;
    for (int64_t start = 0; start < n; start += AE_PART) {
        int64_t end = start + AE_PART < n ? start + AE_PART : n;
        real sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t j = start; j < end; j++)
            sum += x[j];
        total += sum;
    }
    return (real)total;
}

/* What is left of a row behind its vectors goes by a vector, too, which begins before it: element by
   element it would take as long as all others of a hundred. */
enum { AE_WIDTH = 16 };

/* NaN if one of them is. */
AE_INLINE real ae_largest_fX(const real *x, int64_t n)
{
    real m = -(real)INFINITY;
    int nan = 0;
    int64_t whole = n < AE_WIDTH ? n : n / AE_WIDTH * AE_WIDTH;
#pragma omp simd reduction(max : m) reduction(| : nan)
    for (int64_t j = 0; j < whole; j++) {
        nan |= x[j] != x[j];
        m = x[j] > m ? x[j] : m;
    }
    if (whole < n) {
        x += n - AE_WIDTH;
#pragma omp simd reduction(max : m) reduction(| : nan)
        for (int64_t j = 0; j < AE_WIDTH; j++) {
            nan |= x[j] != x[j];
            m = x[j] > m ? x[j] : m;
        }
    }
    return nan ? (real)NAN : m;
}

/* A function of elements: a loop over some that follow each other, run on all of a call. Operands
   that lie in another way go through buffers, a part at a time. */
enum { AE_OPERANDS = 8 };

struct ae_mapped {
    void (*dense)(int64_t n, char *const *p);
    char *const *args;
    const intptr_t *steps;
    const int *sizes;
    int inputs, outputs;
};

/* n elements of `size` bytes, one `from` bytes behind the other, to where they are `to` apart. */
AE_INLINE void ae_moved(char *out, intptr_t to, const char *x, intptr_t from, int size, int64_t n)
{
    switch (size) {
    case 1:
        for (int64_t j = 0; j < n; j++)
            out[j * to] = x[j * from];
        break;
    case 4:
        for (int64_t j = 0; j < n; j++)
            *(int32_t *)(out + j * to) = *(const int32_t *)(x + j * from);
        break;
    default:
        for (int64_t j = 0; j < n; j++)
            *(int64_t *)(out + j * to) = *(const int64_t *)(x + j * from);
    }
}

static __attribute__((unused)) void ae_map_part(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct ae_mapped *c = context;
    int count = c->inputs + c->outputs;
    char buffers[AE_OPERANDS][AE_PART * sizeof(double)] __attribute__((aligned(64)));
    char *p[AE_OPERANDS];
    (void)worker;
    for (int64_t start = lo; start < hi; start += AE_PART) {
        int64_t n = hi - start < AE_PART ? hi - start : AE_PART;
        for (int k = 0; k < count; k++) {
            char *x = c->args[k] + start * c->steps[k];
            int in_order = c->steps[k] == c->sizes[k];
            p[k] = in_order ? x : buffers[k];
            if (!in_order && k < c->inputs && (c->steps[k] != 0 || start == lo))
                ae_moved(p[k], c->sizes[k], x, c->steps[k], c->sizes[k], n);
        }
        c->dense(n, p);
        for (int k = c->inputs; k < count; k++)
            if (c->steps[k] != c->sizes[k])
                ae_moved(c->args[k] + start * c->steps[k], c->steps[k], p[k], c->sizes[k],
                         c->sizes[k], n);
    }
}

/* `cost`: of an element, that of a copy being 1. */
AE_INLINE void ae_map(void (*dense)(int64_t n, char *const *p), char *const *args, int64_t n,
                      const intptr_t *steps, const int *sizes, int inputs, int outputs, int64_t cost)
{
    struct ae_mapped c = {dense, args, steps, sizes, inputs, outputs};
    ae_parallel(ae_map_part, &c, n, ae_grain(cost));
    ae_quiet();
}

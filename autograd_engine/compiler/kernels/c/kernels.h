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

/* By how many bytes an address lies behind the beginning of a line of the cache. What is written from
   such a beginning on crosses no line: vectors would else cross each. */
AE_INLINE int64_t ae_past_a_line(const void *p) { return (int64_t)((uintptr_t)p % 64); }

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
    for (int k = 0; k < c->inputs; k++)
        if (c->steps[k] == 0)
            ae_moved(buffers[k], c->sizes[k], c->args[k], 0, c->sizes[k], AE_PART);
    for (int64_t start = lo, n; start < hi; start += n) {
        n = AE_PART - ae_past_a_line(c->args[count - 1] + start * c->steps[count - 1]) /
                          c->sizes[count - 1];
        n = n < hi - start ? n : hi - start;
        for (int k = 0; k < count; k++) {
            char *x = c->args[k] + start * c->steps[k];
            int in_order = c->steps[k] == c->sizes[k];
            p[k] = in_order ? x : buffers[k];
            if (!in_order && k < c->inputs && c->steps[k] != 0)
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

/* The same of one or two operands that are broadcast: [n0, n1, n2], of which an operand has no part of
   an axis that it does not step along. Elements of the result follow each other. */
struct ae_spread_fX {
    void (*const *dense)(int64_t n, char *const *p);
    const real *x[2];
    real *out;
    int64_t n1, n2;
    int64_t steps[2][3];
};

/* The loops of such a function: of arrays, and with one number in place of an operand. */
enum { AE_ARRAYS, AE_NUMBER_FIRST, AE_NUMBER_SECOND };

/* Rows that are shorter go some at a time. */
enum { AE_LONG = 64 };

AE_INLINE void ae_repeat_fX(real *out, const real *x, int64_t step, int64_t rows, int64_t width)
{
    for (int64_t i = 0; i < rows; i++, x += step, out += width)
        for (int64_t j = 0; j < width; j++)
            out[j] = x[0];
}

/* What a loop reads of one operand: where it lies there in order that, else a buffer, of which so
   many elements hold what is to be read already. */
AE_INLINE const real *ae_spread_operand_fX(const real *x, const int64_t *steps, int64_t rows,
                                           int64_t width, real *buffer, int64_t *filled)
{
    int64_t n = rows * width;
    if (steps[2] && (rows == 1 || steps[1]))
        return x;
    if (*filled >= n)
        return buffer;
    *filled = n;
    if (steps[2]) { /* one row, again and again */
        memcpy(buffer, x, (size_t)width * sizeof(real));
        for (int64_t done = width; done < n; done *= 2)
            memcpy(buffer + done, buffer, (size_t)(done < n - done ? done : n - done) * sizeof(real));
        return buffer;
    }
    if (width == 8) /* a loop of known length is a store or two */
        ae_repeat_fX(buffer, x, steps[1], rows, 8);
    else if (width == 4)
        ae_repeat_fX(buffer, x, steps[1], rows, 4);
    else
        ae_repeat_fX(buffer, x, steps[1], rows, width);
    return buffer;
}

static __attribute__((unused)) void ae_spread_part_fX(void *context, int64_t lo, int64_t hi,
                                                      int worker)
{
    const struct ae_spread_fX *c = context;
    real buffers[2][AE_PART] __attribute__((aligned(64)));
    int64_t block = -1, filled[2] = {0, 0};
    int form = AE_ARRAYS;
    (void)worker;
    if (c->n2 >= AE_LONG)
        form = !c->steps[0][2] ? AE_NUMBER_FIRST : c->x[1] && !c->steps[1][2] ? AE_NUMBER_SECOND : form;
    for (int64_t i = lo, rows; i < hi; i += rows) {
        int64_t i0 = i / c->n1, i1 = i % c->n1;
        rows = c->n2 < AE_LONG ? AE_PART / c->n2 : 1;
        rows = rows < hi - i ? rows : hi - i;
        rows = rows < c->n1 - i1 ? rows : c->n1 - i1;
        for (int k = 0; k < 2; k++)
            if (i0 != block || c->steps[k][1])
                filled[k] = 0;
        block = i0;
        for (int64_t start = 0; start < c->n2; start += AE_PART) {
            int64_t width = c->n2 - start < AE_PART ? c->n2 - start : AE_PART;
            char *p[3] = {NULL, NULL, (char *)(c->out + i * c->n2 + start)};
            for (int k = 0; k < 2 && c->x[k]; k++) {
                const int64_t *steps = c->steps[k];
                const real *x = c->x[k] + i0 * steps[0] + i1 * steps[1] + start * steps[2];
                p[k] = form == AE_NUMBER_FIRST + k
                           ? (char *)x
                           : (char *)ae_spread_operand_fX(x, steps, rows, width, buffers[k], &filled[k]);
            }
            c->dense[form](rows * width, p);
        }
    }
}

/* Bit 3 k + a of `missing`: operand k has no axis a. */
AE_INLINE void ae_spread_over_fX(void (*const *dense)(int64_t n, char *const *p), const real *x,
                                 const real *y, real *out, int64_t n0, int64_t n1, int64_t n2,
                                 int missing, int64_t cost)
{
    struct ae_spread_fX c = {dense, {x, y}, out, n1, n2, {{0}}};
    const int64_t sizes[] = {n0, n1, n2};
    for (int k = 0; k < 2; k++) {
        int64_t step = 1;
        for (int a = 2; a >= 0; a--)
            if (!(missing >> (3 * k + a) & 1)) {
                c.steps[k][a] = step;
                step *= sizes[a];
            }
    }
    ae_parallel(ae_spread_part_fX, &c, n0 * n1, ae_grain(cost * n2));
    ae_quiet();
}

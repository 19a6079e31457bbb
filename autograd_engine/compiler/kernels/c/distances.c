/* Between rows: of x [m, d], and of y, which is given as its columns [d, n]. */

struct distances_fX {
    const real *x, *columns, *weights;
    real *out;
    int64_t m, n, d;
};

enum { SOME = 256 };

/* How far row i of x, of all matrices one behind the other, is from rows start, ... of y. */
static void distances_of_fX(const struct distances_fX *c, int64_t i, int64_t start, int64_t count)
{
    const real *x = c->x + i * c->d, *y = c->columns + i / c->m * c->d * c->n + start;
    real total[SOME], *out = c->out + i * c->n + start;
    for (int64_t j = 0; j < count; j++)
        total[j] = 0;
    for (int64_t k = 0; k < c->d; k++, y += c->n) {
        real at = x[k];
#pragma omp simd
        for (int64_t j = 0; j < count; j++)
            total[j] += (at - y[j]) * (at - y[j]);
    }
#pragma omp simd
    for (int64_t j = 0; j < count; j++)
        out[j] = ae_sqrt_fX(total[j]);
}

static void distances_part_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct distances_fX *c = context;
    (void)worker;
    for (int64_t i = lo; i < hi; i++)
        for (int64_t start = 0; start < c->n; start += SOME)
            distances_of_fX(c, i, start, c->n - start < SOME ? c->n - start : SOME);
}

/* The square root of the sum over k of (x[i, k] - y[j, k])^2, for `count` matrices. */
AE_FUNCTION distances_fX(ae_array x, ae_array columns, ae_array out, int64_t count, int64_t m,
                         int64_t n, int64_t d)
{
    struct distances_fX c = {AE_DATA(const real, x), AE_DATA(const real, columns), NULL,
                             AE_DATA(real, out), m, n, d};
    ae_parallel(distances_part_fX, &c, count * m, ae_grain(2 * n * d));
    ae_quiet();
}

static void differences_part_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct distances_fX *c = context;
    int64_t n = c->n;
    (void)worker;
    for (int64_t i = lo; i < hi; i++) {
        const real *w = c->weights + i * n, *y = c->columns + i / c->m * c->d * n;
        for (int64_t k = 0; k < c->d; k++, y += n) {
            real at = c->x[i * c->d + k];
            double total = 0;
            for (int64_t start = 0; start < n; start += AE_PART) {
                int64_t end = start + AE_PART < n ? start + AE_PART : n;
                real sum = 0;
#pragma omp simd reduction(+ : sum)
                for (int64_t j = start; j < end; j++)
                    sum += w[j] * (at - y[j]);
                total += sum;
            }
            c->out[i * c->d + k] = (real)total;
        }
    }
}

/* The sum over j of w[i, j] (x[i, k] - y[j, k]). */
AE_FUNCTION differences_fX(ae_array weights, ae_array x, ae_array columns, ae_array out,
                           int64_t count, int64_t m, int64_t n, int64_t d)
{
    struct distances_fX c = {AE_DATA(const real, x), AE_DATA(const real, columns),
                             AE_DATA(const real, weights), AE_DATA(real, out), m, n, d};
    ae_parallel(differences_part_fX, &c, count * m, ae_grain(2 * n * d));
    ae_quiet();
}

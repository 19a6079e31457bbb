/* Moments of rows, and what they standardise. Row i of [parts, rows, width] is made of the parts
   [p, i, :]: of channels there is one in each image, of layers and groups one part alone. */

struct standardized_fX {
    const real *x, *out, *variance_in;
    real *result, *mean, *variance;
    int64_t parts, rows, width;
    double epsilon;
};

static const real *part_fX(const struct standardized_fX *c, const real *x, int64_t p, int64_t i)
{
    return x + (p * c->rows + i) * c->width;
}

static double sum_fX(const real *x, int64_t n)
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
    return total;
}

/* Sum of (x - m) (y - m). */
static double products_fX(const real *x, const real *y, real m, int64_t n)
{
    double total = 0;
    for (int64_t start = 0; start < n; start += AE_PART) {
        int64_t end = start + AE_PART < n ? start + AE_PART : n;
        real sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t j = start; j < end; j++)
            sum += (x[j] - m) * (y[j] - m);
        total += sum;
    }
    return total;
}

static void standardize_rows_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct standardized_fX *c = context;
    int64_t n = c->width;
    double count = (double)c->parts * (double)n;
    (void)worker;
    for (int64_t i = lo; i < hi; i++) {
        double sum = 0, squares = 0;
        for (int64_t p = 0; p < c->parts; p++)
            sum += sum_fX(part_fX(c, c->x, p, i), n);
        real m = (real)(sum / count);
        for (int64_t p = 0; p < c->parts; p++) {
            const real *x = part_fX(c, c->x, p, i);
            squares += products_fX(x, x, m, n);
        }
        real v = (real)(squares / count), scale = (real)(1.0 / sqrt((double)v + c->epsilon));
        for (int64_t p = 0; p < c->parts; p++) {
            const real *x = part_fX(c, c->x, p, i);
            real *out = c->result + (x - c->x);
#pragma omp simd
            for (int64_t j = 0; j < n; j++)
                out[j] = (x[j] - m) * scale;
        }
        c->mean[i] = m;
        c->variance[i] = v;
    }
}

AE_FUNCTION standardize_fX(ae_array x, ae_array out, ae_array mean, ae_array variance,
                           int64_t parts, int64_t rows, int64_t width, double epsilon)
{
    struct standardized_fX c = {.x = AE_DATA(const real, x),
                                .result = AE_DATA(real, out),
                                .mean = AE_DATA(real, mean),
                                .variance = AE_DATA(real, variance),
                                .parts = parts,
                                .rows = rows,
                                .width = width,
                                .epsilon = epsilon};
    ae_parallel(standardize_rows_fX, &c, rows, ae_grain(2 * parts * width));
    ae_quiet();
}

/* (y - <y> - out <y out>) / sqrt(variance + epsilon), < > being the mean. */
static void adjoint_rows_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct standardized_fX *c = context;
    int64_t n = c->width;
    double count = (double)c->parts * (double)n;
    (void)worker;
    for (int64_t i = lo; i < hi; i++) {
        double sum = 0, dots = 0;
        for (int64_t p = 0; p < c->parts; p++) {
            const real *y = part_fX(c, c->x, p, i);
            sum += sum_fX(y, n);
            dots += products_fX(y, part_fX(c, c->out, p, i), 0, n);
        }
        real mean = (real)(sum / count), along = (real)(dots / count);
        real scale = (real)(1.0 / sqrt((double)c->variance_in[i] + c->epsilon));
        for (int64_t p = 0; p < c->parts; p++) {
            const real *y = part_fX(c, c->x, p, i), *out = part_fX(c, c->out, p, i);
            real *dx = c->result + (y - c->x);
#pragma omp simd
            for (int64_t j = 0; j < n; j++)
                dx[j] = (y[j] - out[j] * along - mean) * scale;
        }
    }
}

AE_FUNCTION standardize_adjoint_fX(ae_array y, ae_array out, ae_array variance, ae_array dx,
                                   int64_t parts, int64_t rows, int64_t width, double epsilon)
{
    struct standardized_fX c = {.x = AE_DATA(const real, y),
                                .out = AE_DATA(const real, out),
                                .variance_in = AE_DATA(const real, variance),
                                .result = AE_DATA(real, dx),
                                .parts = parts,
                                .rows = rows,
                                .width = width,
                                .epsilon = epsilon};
    ae_parallel(adjoint_rows_fX, &c, rows, ae_grain(2 * parts * width));
    ae_quiet();
}

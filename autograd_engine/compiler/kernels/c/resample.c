/* Resampling: sparse linear maps along one axis or two, each element a weighted sum of a few.

   A map from n elements to m with so many taps has an index and a weight for each tap of each
   element, [taps, m]; what has the weight 0 is not read. Its adjoint is such a map as well. */

struct map_fX {
    const int32_t *index;
    const real *weight;
    int64_t n, m, taps; /* taps = 0: elements stay where they are */
};

/* Rows that are resampled both ways wait here, if they are no longer than this. */
enum { WIDTH = 4096 };

struct resampled_fX {
    const real *x;
    real *out;
    struct map_fX rows, columns;
};

/* Elements of `given`, `taps` of them: a constant, so that the loop over them is rolled out. */
AE_INLINE void along_fX(const struct map_fX *c, int64_t taps, const real *restrict given,
                        real *restrict out)
{
    const int32_t *restrict index = c->index;
    const real *restrict weight = c->weight;
    int64_t m = c->m;
#pragma omp simd
    for (int64_t p = 0; p < m; p++) {
        real total = 0;
        for (int64_t t = 0; t < taps; t++) {
            real w = weight[t * m + p], term = w * given[index[t * m + p]];
            total += w != 0 ? term : 0;
        }
        out[p] = total;
    }
}

static void columns_fX(const struct map_fX *c, const real *given, real *out)
{
    switch (c->taps) {
    case 1:
        along_fX(c, 1, given, out);
        break;
    case 2:
        along_fX(c, 2, given, out);
        break;
    case 4:
        along_fX(c, 4, given, out);
        break;
    default:
        along_fX(c, c->taps, given, out);
    }
}

/* Row p of the result: of `width` elements. */
static void row_fX(const struct map_fX *c, const real *x, int64_t p, int64_t width, real *restrict out)
{
    const real *restrict a = NULL;
    int started = 0;
    real wa = 0;
    for (int64_t t = 0; t < c->taps; t++) {
        real w = c->weight[t * c->m + p];
        const real *restrict b = x + c->index[t * c->m + p] * width;
        if (w == 0)
            continue;
        if (!a) { /* two at a time */
            a = b;
            wa = w;
            continue;
        }
        if (started) {
#pragma omp simd
            for (int64_t j = 0; j < width; j++)
                out[j] = out[j] + wa * a[j] + w * b[j];
        } else {
#pragma omp simd
            for (int64_t j = 0; j < width; j++)
                out[j] = wa * a[j] + w * b[j];
        }
        started = 1;
        a = NULL;
    }
    if (a && started) {
#pragma omp simd
        for (int64_t j = 0; j < width; j++)
            out[j] += wa * a[j];
    } else if (a && wa == 1) {
        memcpy(out, a, width * sizeof(real));
    } else if (a) {
#pragma omp simd
        for (int64_t j = 0; j < width; j++)
            out[j] = wa * a[j];
    } else if (!started) {
        memset(out, 0, width * sizeof(real));
    }
}

static void rows_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct resampled_fX *c = context;
    int64_t width = c->columns.n;
    real row[WIDTH];
    (void)worker;
    for (int64_t k = lo; k < hi; k++) {
        const real *given = c->x + k / c->rows.m * c->rows.n * width;
        real *out = c->out + k * c->columns.m;
        if (!c->columns.taps) {
            row_fX(&c->rows, given, k % c->rows.m, width, out);
        } else if (!c->rows.taps) {
            columns_fX(&c->columns, given + k % c->rows.m * width, out);
        } else {
            row_fX(&c->rows, given, k % c->rows.m, width, row);
            columns_fX(&c->columns, row, out);
        }
    }
}

/* [outer, m, columns] of [outer, n, width]. */
AE_FUNCTION resample_fX(ae_array x, ae_array out, ae_array row_index, ae_array row_weight,
                        ae_array column_index, ae_array column_weight, int64_t outer, int64_t n,
                        int64_t m, int64_t row_taps, int64_t width, int64_t columns,
                        int64_t column_taps)
{
    struct resampled_fX c = {
        AE_DATA(const real, x),
        AE_DATA(real, out),
        {AE_DATA(const int32_t, row_index), AE_DATA(const real, row_weight), n, m, row_taps},
        {AE_DATA(const int32_t, column_index), AE_DATA(const real, column_weight), width, columns,
         column_taps}};
    ae_parallel(rows_fX, &c, outer * m, ae_grain((row_taps + 1) * width + 2 * column_taps * columns));
    ae_quiet();
}

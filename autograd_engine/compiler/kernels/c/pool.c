/* Windows of images [outer, h, w]: along each axis window p goes from ends[2 p] to ends[2 p + 1].
   The rows of a window are reduced to one, for all windows beside each other, and then its columns. */

enum { WIDTH = 4096 };

struct pooled_fX {
    real *x, *out;
    int64_t *index;
    const real *weight; /* of each window */
    const int64_t *rows, *columns;
    int64_t h, w, oh, ow;
};

static struct pooled_fX windows_fX(ae_array x, ae_array out, ae_array rows, ae_array columns, int64_t h,
                                   int64_t w, int64_t oh, int64_t ow)
{
    return (struct pooled_fX){.x = AE_DATA(real, x),
                              .out = AE_DATA(real, out),
                              .rows = AE_DATA(const int64_t, rows),
                              .columns = AE_DATA(const int64_t, columns),
                              .h = h,
                              .w = w,
                              .oh = oh,
                              .ow = ow};
}

static void maxima_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct pooled_fX *c = context;
    real largest[WIDTH];
    int32_t row[WIDTH];
    (void)worker;
    for (int64_t k = lo; k < hi; k++) {
        const real *x = c->x + k * c->h * c->w;
        int64_t at = k * c->oh * c->ow;
        for (int64_t p = 0; p < c->oh; p++) {
            int64_t first = c->rows[2 * p];
            for (int64_t j = 0; j < c->w; j++) {
                largest[j] = x[first * c->w + j];
                row[j] = (int32_t)first;
            }
            for (int64_t i = first + 1; i < c->rows[2 * p + 1]; i++) {
                const real *given = x + i * c->w;
#pragma omp simd
                for (int64_t j = 0; j < c->w; j++) {
                    real v = given[j], m = largest[j];
                    int better = (v > m) | ((v != v) & (m == m));
                    largest[j] = better ? v : m;
                    row[j] = better ? (int32_t)i : row[j];
                }
            }
            for (int64_t q = 0; q < c->ow; q++, at++) {
                int64_t where = c->columns[2 * q];
                real best = largest[where];
                for (int64_t j = where + 1; j < c->columns[2 * q + 1]; j++) {
                    real v = largest[j];
                    int nan = v != v, before = row[j] < row[where];
                    int equal = (v == best) | (nan & (best != best));
                    int better = (v > best) | (nan & (best == best)) | (equal & before);
                    best = better ? v : best;
                    where = better ? j : where;
                }
                c->out[at] = best;
                c->index[at] = row[where] * c->w + where;
            }
        }
    }
}

/* The largest element of each window, and the place in its image of the first that is, or is NaN. */
AE_FUNCTION max_pool_fX(ae_array x, ae_array out, ae_array index, ae_array rows, ae_array columns,
                        int64_t outer, int64_t h, int64_t w, int64_t oh, int64_t ow)
{
    struct pooled_fX c = windows_fX(x, out, rows, columns, h, w, oh, ow);
    c.index = AE_DATA(int64_t, index);
    ae_parallel(maxima_fX, &c, outer, ae_grain(3 * h * w));
    ae_quiet();
}

static void means_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct pooled_fX *c = context;
    real sums[WIDTH];
    (void)worker;
    for (int64_t k = lo; k < hi; k++) {
        const real *x = c->x + k * c->h * c->w;
        real *out = c->out + k * c->oh * c->ow;
        for (int64_t p = 0; p < c->oh; p++) {
            memcpy(sums, x + c->rows[2 * p] * c->w, c->w * sizeof(real));
            for (int64_t i = c->rows[2 * p] + 1; i < c->rows[2 * p + 1]; i++) {
                const real *given = x + i * c->w;
#pragma omp simd
                for (int64_t j = 0; j < c->w; j++)
                    sums[j] += given[j];
            }
            for (int64_t q = 0; q < c->ow; q++) {
                real total = sums[c->columns[2 * q]];
                for (int64_t j = c->columns[2 * q] + 1; j < c->columns[2 * q + 1]; j++)
                    total += sums[j];
                out[p * c->ow + q] = total / c->weight[p * c->ow + q];
            }
        }
    }
}

/* The sum of each window, divided by its weight. */
AE_FUNCTION avg_pool_fX(ae_array x, ae_array weight, ae_array out, ae_array rows, ae_array columns,
                        int64_t outer, int64_t h, int64_t w, int64_t oh, int64_t ow)
{
    struct pooled_fX c = windows_fX(x, out, rows, columns, h, w, oh, ow);
    c.weight = AE_DATA(const real, weight);
    ae_parallel(means_fX, &c, outer, ae_grain(2 * h * w));
    ae_quiet();
}

static void shares_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct pooled_fX *c = context;
    real sums[WIDTH];
    (void)worker;
    for (int64_t k = lo; k < hi; k++) {
        real *x = c->x + k * c->h * c->w;
        const real *g = c->out + k * c->oh * c->ow;
        int64_t written = 0; /* rows */
        for (int64_t p = 0; p < c->oh; p++) {
            memset(sums, 0, c->w * sizeof(real));
            for (int64_t q = 0; q < c->ow; q++) {
                real share = g[p * c->ow + q] / c->weight[p * c->ow + q];
                for (int64_t j = c->columns[2 * q]; j < c->columns[2 * q + 1]; j++)
                    sums[j] += share;
            }
            for (; written < c->rows[2 * p]; written++)
                memset(x + written * c->w, 0, c->w * sizeof(real));
            for (int64_t i = c->rows[2 * p]; i < c->rows[2 * p + 1]; i++) {
                real *out = x + i * c->w;
                if (i >= written) {
                    memcpy(out, sums, c->w * sizeof(real));
                    written = i + 1;
                    continue;
                }
#pragma omp simd
                for (int64_t j = 0; j < c->w; j++)
                    out[j] += sums[j];
            }
        }
        memset(x + written * c->w, 0, (c->h - written) * c->w * sizeof(real));
    }
}

/* The adjoint: each window gives its elements equal shares. */
AE_FUNCTION avg_pool_input_fX(ae_array g, ae_array weight, ae_array x, ae_array rows,
                              ae_array columns, int64_t outer, int64_t h, int64_t w, int64_t oh,
                              int64_t ow)
{
    struct pooled_fX c = windows_fX(x, g, rows, columns, h, w, oh, ow);
    c.weight = AE_DATA(const real, weight);
    ae_parallel(shares_fX, &c, outer, ae_grain(2 * h * w));
    ae_quiet();
}

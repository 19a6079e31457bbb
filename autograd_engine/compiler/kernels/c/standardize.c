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

/* Sums go by vectors, four of which are added to at a time: each waits for its last addition. */
typedef real lanes_fX __attribute__((vector_size(32), aligned(sizeof(real)), may_alias));
enum { LANES_fX = 32 / sizeof(real) };

static real added_fX(lanes_fX v)
{
    for (int half = LANES_fX / 2; half; half /= 2)
        for (int l = 0; l < half; l++)
            v[l] += v[l + half];
    return v[0];
}

/* Add term(x + j, y + j) over all j to `total`, `term` being a macro for vectors and for numbers. */
#define ADD_UP_fX(total, term, x, y, n)                                                            \
    for (int64_t start_ = 0; start_ < (n); start_ += AE_PART) {                                    \
        int64_t end_ = start_ + AE_PART < (n) ? start_ + AE_PART : (n), j_ = start_;               \
        lanes_fX s0_ = {0}, s1_ = {0}, s2_ = {0}, s3_ = {0};                                       \
        for (; j_ + 4 * LANES_fX <= end_; j_ += 4 * LANES_fX) {                                    \
            s0_ += term(lanes_fX, x + j_, y + j_);                                                 \
            s1_ += term(lanes_fX, x + j_ + LANES_fX, y + j_ + LANES_fX);                           \
            s2_ += term(lanes_fX, x + j_ + 2 * LANES_fX, y + j_ + 2 * LANES_fX);                   \
            s3_ += term(lanes_fX, x + j_ + 3 * LANES_fX, y + j_ + 3 * LANES_fX);                   \
        }                                                                                          \
        for (; j_ + LANES_fX <= end_; j_ += LANES_fX)                                              \
            s0_ += term(lanes_fX, x + j_, y + j_);                                                 \
        real rest_ = 0;                                                                            \
        for (; j_ < end_; j_++)                                                                    \
            rest_ += term(real, x + j_, y + j_);                                                   \
        total += added_fX((s0_ + s1_) + (s2_ + s3_)) + rest_;                                      \
    }
#define ELEMENT(type, x, y) (*(const type *)(x))
#define PRODUCT(type, x, y) ((*(const type *)(x) - m) * (*(const type *)(y) - m))

static double sum_fX(const real *x, int64_t n)
{
    double total = 0;
    ADD_UP_fX(total, ELEMENT, x, x, n)
    return total;
}

/* Sum of (x - m) (y - m). */
static double products_fX(const real *x, const real *y, real m, int64_t n)
{
    double total = 0;
    ADD_UP_fX(total, PRODUCT, x, y, n)
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

/* The same with a factor and a term for each channel. Element j of row i is of the channel
   (i % groups) (width / pixels) + j / pixels: of layers each element of a row is a channel, of
   images each row is one, or several that follow each other. */
struct affine_fX {
    const real *g, *x, *weight, *bias;
    real *result, *mean, *variance, *sums;
    int64_t parts, rows, width, groups, pixels, channels, block;
    double epsilon;
};

/* `sizes`: the parts, rows, width, groups, pixels and rows of a block. */
static struct affine_fX affine_call_fX(ae_array x, ae_array weight, ae_array result, ae_array sizes,
                                       double epsilon)
{
    const int64_t *n = AE_DATA(const int64_t, sizes);
    struct affine_fX c = {.x = AE_DATA(const real, x),
                          .weight = AE_DATA(const real, weight),
                          .result = AE_DATA(real, result),
                          .parts = n[0],
                          .rows = n[1],
                          .width = n[2],
                          .groups = n[3],
                          .pixels = n[4],
                          .channels = n[3] * (n[2] / n[4]),
                          .block = n[5],
                          .epsilon = epsilon};
    return c;
}

struct moments_fX {
    real mean, variance, scale;
};

/* Short rows are taken some at a time, step by step: so no row waits for the last step of its own. */
enum { TOGETHER = 16, TOGETHER_ELEMENTS = 4096 };

static int64_t together_fX(const struct affine_fX *c, int64_t rows)
{
    int64_t most = TOGETHER_ELEMENTS / (c->parts * c->width);
    most = most < 1 ? 1 : most > TOGETHER ? TOGETHER : most;
    return rows < most ? rows : most;
}

/* Of `rows` rows from `first` on. */
static void moments_fX(const struct affine_fX *c, int64_t first, int64_t rows, struct moments_fX *s)
{
    int64_t n = c->width, step = c->rows * n;
    double part = 1 / ((double)c->parts * (double)n);
    for (int64_t i = 0; i < rows; i++) {
        double sum = 0;
        for (int64_t p = 0; p < c->parts; p++)
            sum += sum_fX(c->x + p * step + (first + i) * n, n);
        s[i].mean = (real)(sum * part);
    }
    for (int64_t i = 0; i < rows; i++) {
        double squares = 0;
        for (int64_t p = 0; p < c->parts; p++) {
            const real *x = c->x + p * step + (first + i) * n;
            squares += products_fX(x, x, s[i].mean, n);
        }
        s[i].variance = (real)(squares * part);
    }
    for (int64_t i = 0; i < rows; i++)
        s[i].scale = (real)(1.0 / sqrt((double)s[i].variance + c->epsilon));
}

static int64_t first_channel_fX(const struct affine_fX *c, int64_t i)
{
    return i % c->groups * (c->width / c->pixels);
}

static void affine_row_fX(const struct affine_fX *c, int64_t i, struct moments_fX s)
{
    int64_t n = c->width, pixels = c->pixels;
    const real *weight = c->weight + first_channel_fX(c, i);
    const real *bias = c->bias + first_channel_fX(c, i);
    for (int64_t p = 0; p < c->parts; p++) {
        int64_t at = (p * c->rows + i) * n;
        const real *x = c->x + at;
        real *out = c->result + at;
        if (pixels == 1) {
#pragma omp simd
            for (int64_t j = 0; j < n; j++)
                out[j] = (x[j] - s.mean) * s.scale * weight[j] + bias[j];
            continue;
        }
        for (int64_t k = 0; k * pixels < n; k++) {
            real w = weight[k], b = bias[k];
#pragma omp simd
            for (int64_t j = k * pixels; j < (k + 1) * pixels; j++)
                out[j] = (x[j] - s.mean) * s.scale * w + b;
        }
    }
    c->mean[i] = s.mean;
    c->variance[i] = s.variance;
}

static void affine_rows_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct affine_fX *c = context;
    struct moments_fX s[TOGETHER];
    (void)worker;
    for (int64_t first = lo, rows; first < hi; first += rows) {
        rows = together_fX(c, hi - first);
        moments_fX(c, first, rows, s);
        for (int64_t i = 0; i < rows; i++)
            affine_row_fX(c, first + i, s[i]);
    }
}

AE_FUNCTION affine_fX(ae_array x, ae_array weight, ae_array bias, ae_array out, ae_array mean,
                      ae_array variance, ae_array sizes, double epsilon)
{
    struct affine_fX c = affine_call_fX(x, weight, out, sizes, epsilon);
    c.bias = AE_DATA(const real, bias);
    c.mean = AE_DATA(real, mean);
    c.variance = AE_DATA(real, variance);
    ae_parallel(affine_rows_fX, &c, c.rows, ae_grain(2 * c.parts * c.width));
    ae_quiet();
}

/* Sums along a row: of y and y h, with y = g weight and h what x is standardized to. For each
   channel g h and g are added to `dweight` and `dbias`. */
struct along_fX {
    double y, dots;
};

enum { ALONG = 4 };

/* Of `rows` rows, from `at` on, in which each element is a channel. Several take turns, for each
   waits for its last addition. */
AE_INLINE __attribute__((always_inline)) void
along_elements_fX(const int rows, const struct affine_fX *c, const struct moments_fX *s, int64_t at,
                  const real *weight, real *dweight, real *dbias, struct along_fX *sums)
{
    const real *g = c->g + at, *x = c->x + at;
    int64_t n = c->width;
    for (int64_t start = 0; start < n; start += AE_PART) {
        int64_t end = start + AE_PART < n ? start + AE_PART : n, j = start;
        lanes_fX sum[ALONG], dots[ALONG];
        real rest[ALONG], dots_rest[ALONG];
        for (int i = 0; i < rows; i++) {
            sum[i] = dots[i] = (lanes_fX){0};
            rest[i] = dots_rest[i] = 0;
        }
        for (; j + LANES_fX <= end; j += LANES_fX) {
            lanes_fX w = *(const lanes_fX *)(weight + j);
            lanes_fX dw = *(lanes_fX *)(dweight + j), db = *(lanes_fX *)(dbias + j);
#pragma GCC unroll 4
            for (int i = 0; i < rows; i++) {
                lanes_fX v = *(const lanes_fX *)(g + i * n + j), y = v * w;
                lanes_fX h = (*(const lanes_fX *)(x + i * n + j) - s[i].mean) * s[i].scale;
                sum[i] += y;
                dots[i] += y * h;
                dw += v * h;
                db += v;
            }
            *(lanes_fX *)(dweight + j) = dw;
            *(lanes_fX *)(dbias + j) = db;
        }
        for (; j < end; j++)
            for (int i = 0; i < rows; i++) {
                real v = g[i * n + j], y = v * weight[j], h = (x[i * n + j] - s[i].mean) * s[i].scale;
                rest[i] += y;
                dots_rest[i] += y * h;
                dweight[j] += v * h;
                dbias[j] += v;
            }
        for (int i = 0; i < rows; i++) {
            sums[i].y += added_fX(sum[i]) + rest[i];
            sums[i].dots += added_fX(dots[i]) + dots_rest[i];
        }
    }
}

#define DEVIATION(type, g, x) (*(const type *)(g) * (*(const type *)(x) - m))

static void along_pixels_fX(const struct affine_fX *c, struct moments_fX s, int64_t at,
                            const real *weight, real *dweight, real *dbias, struct along_fX *sums)
{
    int64_t pixels = c->pixels;
    for (int64_t k = 0; k * pixels < c->width; k++) {
        const real *g = c->g + at + k * pixels, *x = c->x + at + k * pixels;
        double total = sum_fX(g, pixels), dot = 0;
        real m = s.mean;
        ADD_UP_fX(dot, DEVIATION, g, x, pixels)
        dot *= s.scale;
        dweight[k] += (real)dot;
        dbias[k] += (real)total;
        sums->y += weight[k] * total;
        sums->dots += weight[k] * dot;
    }
}

/* With y = g weight: (y - <y> - h <y h>) scale, < > being the mean over a row. */
static void adjoint_row_fX(const struct affine_fX *c, int64_t i, struct moments_fX s,
                           struct along_fX sums)
{
    int64_t n = c->width, pixels = c->pixels;
    double part = 1 / ((double)c->parts * (double)n);
    const real *weight = c->weight + first_channel_fX(c, i);
    real mean = (real)(sums.y * part), along = (real)(sums.dots * part);
    for (int64_t p = 0; p < c->parts; p++) {
        int64_t at = (p * c->rows + i) * n;
        const real *g = c->g + at, *x = c->x + at;
        real *dx = c->result + at;
        if (pixels == 1) {
#pragma omp simd
            for (int64_t j = 0; j < n; j++)
                dx[j] = (g[j] * weight[j] - (x[j] - s.mean) * s.scale * along - mean) * s.scale;
            continue;
        }
        for (int64_t k = 0; k * pixels < n; k++) {
            real w = weight[k];
#pragma omp simd
            for (int64_t j = k * pixels; j < (k + 1) * pixels; j++)
                dx[j] = (g[j] * w - (x[j] - s.mean) * s.scale * along - mean) * s.scale;
        }
    }
}

static void affine_adjoint_some_fX(const struct affine_fX *c, int64_t lo, int64_t hi, real *dweight,
                                   real *dbias)
{
    struct moments_fX s[TOGETHER];
    struct along_fX sums[TOGETHER];
    for (int64_t first = lo, rows; first < hi; first += rows) {
        rows = together_fX(c, hi - first);
        moments_fX(c, first, rows, s);
        memset(sums, 0, sizeof sums);
        for (int64_t i = 0, some; i < rows; i += some) {
            some = c->pixels > 1 || rows - i < ALONG || c->groups > 1 || c->parts > 1 ? 1 : ALONG;
            int64_t channel = first_channel_fX(c, first + i);
            const real *weight = c->weight + channel;
            real *dw = dweight + channel, *db = dbias + channel;
            for (int64_t p = 0; p < c->parts; p++) {
                int64_t at = (p * c->rows + first + i) * c->width;
                if (c->pixels > 1)
                    along_pixels_fX(c, s[i], at, weight, dw, db, sums + i);
                else if (some == ALONG)
                    along_elements_fX(ALONG, c, s + i, at, weight, dw, db, sums + i);
                else
                    along_elements_fX(1, c, s + i, at, weight, dw, db, sums + i);
            }
        }
        for (int64_t i = 0; i < rows; i++)
            adjoint_row_fX(c, first + i, s[i], sums[i]);
    }
}

/* `sums` holds dweight and dbias of each block of rows. */
static void affine_adjoint_blocks_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct affine_fX *c = context;
    (void)worker;
    for (int64_t k = lo; k < hi; k++) {
        real *dweight = c->sums + 2 * c->channels * k, *dbias = dweight + c->channels;
        int64_t end = (k + 1) * c->block < c->rows ? (k + 1) * c->block : c->rows;
        memset(dweight, 0, sizeof(real) * 2 * (size_t)c->channels);
        affine_adjoint_some_fX(c, k * c->block, end, dweight, dbias);
    }
}

/* Rows of as many channels each: nothing is added up over rows. */
static void affine_adjoint_rows_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct affine_fX *c = context;
    int64_t each = c->width / c->pixels;
    size_t size = sizeof(real) * (size_t)((hi - lo) * each);
    (void)worker;
    memset(c->sums + lo * each, 0, size);
    memset(c->sums + c->channels + lo * each, 0, size);
    affine_adjoint_some_fX(c, lo, hi, c->sums, c->sums + c->channels);
}

/* `sums` has room for [blocks, 2, channels]; a row of groups has a block, whatever their number. */
AE_FUNCTION affine_adjoint_fX(ae_array g, ae_array x, ae_array weight, ae_array dx,
                              ae_array dweight, ae_array dbias, ae_array sums, ae_array sizes,
                              double epsilon)
{
    struct affine_fX c = affine_call_fX(x, weight, dx, sizes, epsilon);
    int64_t blocks = (c.rows + c.block - 1) / c.block, each = sizeof(real) * c.channels;
    real *to_weight = AE_DATA(real, dweight), *to_bias = AE_DATA(real, dbias);
    c.g = AE_DATA(const real, g);
    c.sums = AE_DATA(real, sums);
    if (c.groups == c.rows)
        ae_parallel(affine_adjoint_rows_fX, &c, c.rows, ae_grain(4 * c.parts * c.width));
    else
        ae_parallel_blocks(affine_adjoint_blocks_fX, &c, blocks);
    if (c.groups == c.rows || blocks == 1) {
        memcpy(to_weight, c.sums, (size_t)each);
        memcpy(to_bias, c.sums + c.channels, (size_t)each);
        ae_quiet();
        return;
    }
    double totals[AE_PART];
    for (int64_t j = 0; j < 2 * c.channels; j += AE_PART) {
        int64_t n = 2 * c.channels - j < AE_PART ? 2 * c.channels - j : AE_PART;
        memset(totals, 0, sizeof totals);
        for (int64_t k = 0; k < blocks; k++)
            for (int64_t l = 0; l < n; l++)
                totals[l] += c.sums[2 * c.channels * k + j + l];
        for (int64_t l = j; l < j + n; l++)
            *(l < c.channels ? to_weight + l : to_bias + l - c.channels) = (real)totals[l - j];
    }
    ae_quiet();
}

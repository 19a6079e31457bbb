/* Recurrent layers over all steps, and the linear recurrences of their gradients: what they compute
   is told in ops/nn/recurrent.py, and where arrays lie in ops/kernels/recurrent.py.

   The sequences of a batch know nothing of each other: a thread takes some of them through all
   steps. Each step multiplies by the same matrix, which is packed once, into panels some vectors
   wide; a tile of a few rows and one panel of the product stays in registers while it is summed up.
   An element is one sum in one order, in whatever tile it falls. */

#if defined(__AVX512F__)
enum { WIDE_fX = 256 / sizeof(real) }; /* 24 of 32 registers */
#else
enum { WIDE_fX = 64 / sizeof(real) }; /* 12 of 16 */
#endif
/* Rows of a tile, and of a panel that stay in the first cache. */
enum { TILE_fX = 6, DEEP_fX = (1 << 15) / sizeof(real) / WIDE_fX };

/* --- products with a packed matrix */

struct panels_fX {
    const real *matrix;
    int64_t lda; /* from one row of the matrix to the next, as it is given */
    int transposed;
    int64_t n, k;
    real *packed;
};

static int64_t wide_fX(int64_t n) { return (n + WIDE_fX - 1) / WIDE_fX * WIDE_fX; }

/* Panel p holds columns p WIDE to (p + 1) WIDE of the k x n matrix, row after row; what is beyond
   the last column is 0. */
static void pack_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct panels_fX *c = context;
    (void)worker;
    for (int64_t p = lo; p < hi; p++) {
        real *out = c->packed + p * WIDE_fX * c->k;
        int64_t first = p * WIDE_fX, there = c->n - first < WIDE_fX ? c->n - first : WIDE_fX;
        if (there < WIDE_fX)
            memset(out, 0, sizeof(real) * WIDE_fX * c->k);
        if (c->transposed) {
            for (int64_t j = 0; j < there; j++)
                for (int64_t q = 0; q < c->k; q++)
                    out[q * WIDE_fX + j] = c->matrix[(first + j) * c->lda + q];
        } else {
            for (int64_t q = 0; q < c->k; q++)
                memcpy(out + q * WIDE_fX, c->matrix + q * c->lda + first, sizeof(real) * there);
        }
    }
}

/* The weight [rows, size], packed for h -> h W' or, transposed, for a -> a W. */
static void pack_weight_fX(const real *weight, int64_t rows, int64_t size, int adjoint, real *packed)
{
    struct panels_fX c = {weight, size, !adjoint, adjoint ? size : rows, adjoint ? rows : size,
                          packed};
    ae_parallel(pack_fX, &c, wide_fX(c.n) / WIDE_fX, ae_grain(c.k * WIDE_fX));
}

/* `rows` rows of a, times a panel; on top of what is in c if `add`. */
AE_INLINE __attribute__((always_inline)) void tile_fX(const int rows, int64_t k, const real *a,
                                                      int64_t lda, const real *restrict b,
                                                      real *restrict c, int64_t ldc, int add)
{
    real s[TILE_fX][WIDE_fX];
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < WIDE_fX; j++)
            s[i][j] = add ? c[i * ldc + j] : 0;
    for (int64_t q = 0; q < k; q++, b += WIDE_fX) {
#pragma GCC unroll 6
        for (int i = 0; i < rows; i++) {
            real x = a[i * lda + q];
#pragma omp simd
            for (int j = 0; j < WIDE_fX; j++)
                s[i][j] = aei_fma_fX(x, b[j], s[i][j]);
        }
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < WIDE_fX; j++)
            c[i * ldc + j] = s[i][j];
}

/* All rows of a, times a panel. */
static void rows_fX(int64_t m, int64_t k, const real *a, int64_t lda, const real *b, real *c,
                    int64_t ldc, int add)
{
    for (; m >= TILE_fX; m -= TILE_fX, a += TILE_fX * lda, c += TILE_fX * ldc)
        tile_fX(TILE_fX, k, a, lda, b, c, ldc, add);
    switch (m) {
    case 1: tile_fX(1, k, a, lda, b, c, ldc, add); break;
    case 2: tile_fX(2, k, a, lda, b, c, ldc, add); break;
    case 3: tile_fX(3, k, a, lda, b, c, ldc, add); break;
    case 4: tile_fX(4, k, a, lda, b, c, ldc, add); break;
    case 5: tile_fX(5, k, a, lda, b, c, ldc, add); break;
    }
}

/* c = a B, or c += a B, with the rows first .. first + k of a packed matrix of n columns and
   `height` rows; a has m rows, and c is as wide as the panels. */
static void product_fX(int64_t m, int64_t n, int64_t k, const real *a, int64_t lda,
                       const real *packed, int64_t height, int64_t first, real *c, int add)
{
    int64_t ldc = wide_fX(n);
    for (int64_t j = 0; j < ldc; j += WIDE_fX)
        for (int64_t q = 0; q < k; q += DEEP_fX)
            rows_fX(m, k - q < DEEP_fX ? k - q : DEEP_fX, a + q, lda,
                    packed + j * height + (first + q) * WIDE_fX, c + j, ldc, add || q);
}

/* How many sequences a thread takes at a time: whole tiles, for what a step reads of the matrix is
   read once for them all. A few tiles hide that, and leave something to share out. */
static int64_t sequences_fX(int64_t batch, int64_t work)
{
    int64_t threads = ae_threads(), share = (batch + threads - 1) / threads;
    int64_t rows = (share + TILE_fX - 1) / TILE_fX * TILE_fX, grain = ae_grain(work);
    rows = rows < 4 * TILE_fX ? rows : 4 * TILE_fX;
    return grain > rows ? grain : rows;
}

/* --- layers */

enum { PLAIN_fX, GRU_fX, LSTM_fX, RELU_fX };

struct layer_fX {
    const real *inflow, *bias, *packed;
    real *kept, *states, *product;
    int64_t steps, batch, size;
    int kind;
};

/* One sequence in one step: the units of a layer, from the products of their gates `z` and what
   flows in, to which a bias is added if there is one. What is kept of a unit lies `plane` apart. */
static void lstm_units_fX(int64_t n, int64_t plane, real *restrict z, const real *restrict flow,
                          const real *restrict bias, const real *restrict c, real *restrict kept,
                          real *restrict h_next, real *restrict c_next)
{
    for (int64_t j = 0; j < 4 * n; j++)
        z[j] += bias ? flow[j] + bias[j] : flow[j];
#pragma omp simd
    for (int64_t j = 0; j < n; j++) {
        real i = ae_sigmoid_fX(z[j]), f = ae_sigmoid_fX(z[n + j]);
        real g = ae_tanh_fX(z[2 * n + j]), o = ae_sigmoid_fX(z[3 * n + j]);
        real cell = f * c[j] + i * g, y = ae_tanh_fX(cell);
        kept[j] = i;
        kept[plane + j] = f;
        kept[2 * plane + j] = g;
        kept[3 * plane + j] = o;
        kept[4 * plane + j] = y;
        c_next[j] = cell;
        h_next[j] = o * y;
    }
}

static void gru_units_fX(int64_t n, int64_t plane, const real *restrict product,
                         const real *restrict flow, const real *restrict bias,
                         const real *restrict h, real *restrict kept, real *restrict h_next)
{
#pragma omp simd
    for (int64_t j = 0; j < n; j++) {
        real r = ae_sigmoid_fX(product[j] + flow[j]);
        real z = ae_sigmoid_fX(product[n + j] + flow[n + j]);
        real m = product[2 * n + j] + bias[j], c = ae_tanh_fX(r * m + flow[2 * n + j]);
        kept[j] = r;
        kept[plane + j] = z;
        kept[2 * plane + j] = c;
        kept[3 * plane + j] = m;
        h_next[j] = (h[j] - c) * z + c;
    }
}

static void plain_units_fX(int64_t n, const real *restrict z, const real *restrict flow,
                           real *restrict h_next, int relu)
{
    if (relu) {
        for (int64_t j = 0; j < n; j++) {
            real a = z[j] + flow[j];
            h_next[j] = a > 0 || a != a ? a : 0;
        }
    } else {
#pragma omp simd
        for (int64_t j = 0; j < n; j++)
            h_next[j] = ae_tanh_fX(z[j] + flow[j]);
    }
}

static void layer_rows_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct layer_fX *s = context;
    int64_t n = s->size, plane = s->batch * n;
    int64_t gates = s->kind == LSTM_fX ? 4 : s->kind == GRU_fX ? 3 : 1;
    int64_t count = s->kind == LSTM_fX ? 5 : s->kind == GRU_fX ? 4 : 0, pitch = wide_fX(gates * n);
    (void)worker;
    for (int64_t t = 0; t < s->steps; t++) {
        real *h = s->states + t * plane, *h_next = h + plane;
        real *c = h + (s->steps + 1) * plane, *c_next = c + plane;
        product_fX(hi - lo, gates * n, n, h + lo * n, n, s->packed, n, 0, s->product + lo * pitch,
                   0);
        for (int64_t b = lo; b < hi; b++) {
            real *z = s->product + b * pitch;
            const real *flow = s->inflow + (t * s->batch + b) * gates * n;
            real *kept = s->kept + t * count * plane + b * n;
            int64_t at = b * n;
            if (s->kind == LSTM_fX)
                lstm_units_fX(n, plane, z, flow, s->bias, c + at, kept, h_next + at, c_next + at);
            else if (s->kind == GRU_fX)
                gru_units_fX(n, plane, z, flow, s->bias, h + at, kept, h_next + at);
            else
                plain_units_fX(n, z, flow, h_next + at, s->kind == RELU_fX);
        }
    }
}

/* `states` hold those at time 0. `packed` and `product` are scratch: wide(gates size) x size and
   batch x wide(gates size). */
AE_FUNCTION layer_fX(ae_array inflow, ae_array weight, ae_array bias, ae_array kept,
                     ae_array states, ae_array packed, ae_array product, int64_t steps,
                     int64_t batch, int64_t size, int64_t gates, int kind, int biased)
{
    real *panels = AE_DATA(real, packed);
    struct layer_fX s = {AE_DATA(const real, inflow), biased ? AE_DATA(const real, bias) : NULL,
                         panels,
                         AE_DATA(real, kept),         AE_DATA(real, states),
                         AE_DATA(real, product),      steps,
                         batch,                       size,
                         kind};
    pack_weight_fX(AE_DATA(const real, weight), gates * size, size, 0, panels);
    ae_parallel(layer_rows_fX, &s, batch,
                sequences_fX(batch, steps * gates * size * (size / 16 + 8)));
    ae_quiet();
}

/* --- slopes, with the formulas and the roundings of ops/kernels/recurrent.py */

struct slopes_fX {
    const real *kept, *states;
    real *slopes;
    int64_t steps, plane;
    int kind;
};

/* Of so many units; values and slopes of one kind lie `plane` apart. */
static void unit_slopes_fX(int kind, int64_t n, int64_t plane, const real *restrict v,
                           const real *restrict before, real *restrict out)
{
    const real *v1 = v + plane, *v2 = v1 + plane, *v3 = v2 + plane, *v4 = v3 + plane;
    real *s1 = out + plane, *s2 = s1 + plane, *s3 = s2 + plane, *s4 = s3 + plane, *s5 = s4 + plane;
    if (kind == LSTM_fX)
        for (int64_t j = 0; j < n; j++) {
            real i = v[j], f = v1[j], g = v2[j], o = v3[j], y = v4[j];
            out[j] = i * (1 - i) * g;
            s1[j] = f * (1 - f) * before[j];
            s2[j] = (1 - g * g) * i;
            s3[j] = o * (1 - o) * y;
            s4[j] = f;
            s5[j] = (1 - y * y) * o;
        }
    else
        for (int64_t j = 0; j < n; j++) {
            real r = v[j], z = v1[j], c = v2[j], m = v3[j];
            real of_c = (1 - z) * (1 - c * c), of_m = of_c * r;
            out[j] = of_m * m * (1 - r);
            s1[j] = (before[j] - c) * z * (1 - z);
            s2[j] = of_c;
            s3[j] = of_m;
            s4[j] = z;
        }
}

static void slopes_body_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct slopes_fX *s = context;
    int64_t n = s->plane, lstm = s->kind == LSTM_fX;
    (void)worker;
    for (int64_t t = lo; t < hi; t++)
        unit_slopes_fX(s->kind, n, n, s->kept + (4 + lstm) * t * n,
                       s->states + (lstm * (s->steps + 1) + t) * n,
                       s->slopes + (5 + lstm) * t * n);
}

AE_FUNCTION slopes_fX(ae_array kept, ae_array states, ae_array slopes, int64_t steps,
                      int64_t plane, int kind)
{
    struct slopes_fX s = {AE_DATA(const real, kept), AE_DATA(const real, states),
                          AE_DATA(real, slopes), steps, plane, kind};
    ae_parallel(slopes_body_fX, &s, steps, ae_grain(12 * plane));
    ae_quiet();
}

/* --- linear recurrences */

struct linear_fX {
    const real *slopes, *packed;
    real *gates, *states, *product;
    int64_t steps, batch, size;
    int kind, flows;
    const real *kept, *values; /* of a layer, whose slopes are computed step by step */
    real *now;
};

/* Of each kind: gates, slopes, and rows of the weight in units of `size`. */
static const int COUNTS_fX[3][3] = {{1, 1, 1}, {4, 5, 3}, {4, 6, 4}};

/* One sequence in one step: the gates a, and the states behind them. */
static void scan_units_fX(int kind, int64_t n, int64_t plane, const real *restrict z,
                          const real *restrict slope, real *restrict a, const real *restrict h,
                          const real *restrict c, real *restrict h_next, real *restrict c_next)
{
    const real *s1 = slope + plane, *s2 = s1 + plane, *s3 = s2 + plane, *s4 = s3 + plane;
    if (kind == LSTM_fX) {
        const real *s5 = s4 + plane;
        for (int64_t j = 0; j < 4 * n; j++)
            a[j] += z[j];
        for (int64_t j = 0; j < n; j++) {
            real cell = c_next[j] + (slope[j] * a[j] + s1[j] * a[n + j] + s2[j] * a[2 * n + j] +
                                     s4[j] * c[j]);
            c_next[j] = cell;
            h_next[j] += s3[j] * a[3 * n + j] + s5[j] * cell;
        }
    } else if (kind == GRU_fX) {
        for (int64_t j = 0; j < 2 * n; j++)
            a[j] += z[j];
        for (int64_t j = 0; j < n; j++)
            a[3 * n + j] += z[2 * n + j];
        for (int64_t j = 0; j < n; j++)
            h_next[j] += slope[j] * a[j] + s1[j] * a[n + j] + s2[j] * a[2 * n + j] +
                         s3[j] * a[3 * n + j] + s4[j] * h[j];
    } else {
        for (int64_t j = 0; j < n; j++) {
            a[j] += z[j];
            h_next[j] += slope[j] * a[j];
        }
    }
}

static void scan_rows_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct linear_fX *s = context;
    const int *counts = COUNTS_fX[s->kind];
    int64_t n = s->size, plane = s->batch * n, rows = counts[2] * n, pitch = wide_fX(rows);
    (void)worker;
    for (int64_t t = 0; t < s->steps; t++) {
        real *h = s->states + t * plane, *c = h + (s->steps + 1) * plane;
        product_fX(hi - lo, rows, n, h + lo * n, n, s->packed, n, 0, s->product + lo * pitch, 0);
        if (!s->flows)
            memset(s->gates + (t * s->batch + lo) * counts[0] * n, 0,
                   sizeof(real) * (hi - lo) * counts[0] * n);
        for (int64_t b = lo; b < hi; b++) {
            int64_t at = b * n;
            scan_units_fX(s->kind, n, plane, s->product + b * pitch,
                          s->slopes + t * counts[1] * plane + at,
                          s->gates + (t * s->batch + b) * counts[0] * n, h + at, c + at,
                          h + plane + at, c + plane + at);
        }
    }
}

/* One sequence in one step back: the gates a from the states behind them, and of these what goes
   into the states before, but for the product with the weight. */
static void adjoint_units_fX(int kind, int flows, int64_t n, int64_t plane,
                             const real *restrict slope,
                             real *restrict a, real *restrict h, real *restrict c,
                             const real *restrict h_next, real *restrict c_next)
{
    const real *s1 = slope + plane, *s2 = s1 + plane, *s3 = s2 + plane, *s4 = s3 + plane;
    if (kind == LSTM_fX) {
        const real *s5 = s4 + plane;
        for (int64_t j = 0; j < n; j++) {
            real y = h_next[j], cell = c_next[j] + s5[j] * y;
            a[j] = (flows ? a[j] : 0) + slope[j] * cell;
            a[n + j] = (flows ? a[n + j] : 0) + s1[j] * cell;
            a[2 * n + j] = (flows ? a[2 * n + j] : 0) + s2[j] * cell;
            a[3 * n + j] = (flows ? a[3 * n + j] : 0) + s3[j] * y;
            c_next[j] = cell;
            c[j] += s4[j] * cell;
        }
    } else if (kind == GRU_fX) {
        for (int64_t j = 0; j < n; j++) {
            real y = h_next[j];
            a[j] = (flows ? a[j] : 0) + slope[j] * y;
            a[n + j] = (flows ? a[n + j] : 0) + s1[j] * y;
            a[2 * n + j] = (flows ? a[2 * n + j] : 0) + s2[j] * y;
            a[3 * n + j] = (flows ? a[3 * n + j] : 0) + s3[j] * y;
            h[j] += s4[j] * y;
        }
    } else {
        for (int64_t j = 0; j < n; j++)
            a[j] = (flows ? a[j] : 0) + slope[j] * h_next[j];
    }
}

static void adjoint_rows_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct linear_fX *s = context;
    const int *counts = COUNTS_fX[s->kind];
    int64_t n = s->size, plane = s->batch * n, pitch = wide_fX(n), rows = counts[2] * n;
    int64_t width = counts[0] * n, together = s->kind == GRU_fX ? 2 * n : rows;
    (void)worker;
    for (int64_t t = s->steps - 1; t >= 0; t--) {
        real *h = s->states + t * plane, *c = h + (s->steps + 1) * plane;
        real *a = s->gates + (t * s->batch + lo) * width, *z = s->product + lo * pitch;
        for (int64_t b = lo; b < hi; b++) {
            int64_t at = b * n;
            const real *slope = s->kept ? s->now + at : s->slopes + t * counts[1] * plane + at;
            if (s->kept)
                unit_slopes_fX(s->kind, n, plane, s->kept + t * (counts[1] - 1) * plane + at,
                               s->values + t * plane + at, s->now + at);
            adjoint_units_fX(s->kind, s->flows, n, plane, slope, a + (b - lo) * width, h + at,
                             c + at, h + plane + at, c + plane + at);
        }
        product_fX(hi - lo, n, together, a, width, s->packed, rows, 0, z, 0);
        if (together < rows) /* of a GRU the third gate does not see the state, the last one does */
            product_fX(hi - lo, n, n, a + 3 * n, width, s->packed, rows, together, z, 1);
        for (int64_t b = lo; b < hi; b++)
            for (int64_t j = 0; j < n; j++)
                h[b * n + j] += z[(b - lo) * pitch + j];
    }
}

static void linear_over_fX(struct linear_fX *s, const real *weight, real *panels, int adjoint)
{
    int64_t rows = COUNTS_fX[s->kind][2] * s->size;
    s->packed = panels;
    pack_weight_fX(weight, rows, s->size, adjoint, panels);
    ae_parallel(adjoint ? adjoint_rows_fX : scan_rows_fX, s, s->batch,
                sequences_fX(s->batch, s->steps * rows * (s->size / 16 + 8)));
    ae_quiet();
}

/* In place: states hold what flows into them, and so do gates if anything does (`flows`). `packed`
   and `product` are scratch, as of a layer; for the adjoint rows x wide(size) and batch x
   wide(size). */
AE_FUNCTION linear_fX(ae_array weight, ae_array slopes, ae_array gates, ae_array states,
                      ae_array packed, ae_array product, int64_t steps, int64_t batch,
                      int64_t size, int kind, int adjoint, int flows)
{
    struct linear_fX s = {.slopes = AE_DATA(const real, slopes), .gates = AE_DATA(real, gates),
                          .states = AE_DATA(real, states), .product = AE_DATA(real, product),
                          .steps = steps, .batch = batch, .size = size, .kind = kind,
                          .flows = flows};
    linear_over_fX(&s, AE_DATA(const real, weight), AE_DATA(real, packed), adjoint);
}

/* The adjoint with the slopes of a layer, from its values; `now` holds those of one step. */
AE_FUNCTION layer_adjoint_fX(ae_array weight, ae_array kept, ae_array values, ae_array gates,
                             ae_array states, ae_array now, ae_array packed, ae_array product,
                             int64_t steps, int64_t batch, int64_t size, int kind, int flows)
{
    struct linear_fX s = {.kept = AE_DATA(const real, kept), .values = AE_DATA(const real, values),
                          .gates = AE_DATA(real, gates), .states = AE_DATA(real, states),
                          .now = AE_DATA(real, now), .product = AE_DATA(real, product),
                          .steps = steps, .batch = batch, .size = size, .kind = kind,
                          .flows = flows};
    if (kind == LSTM_fX)
        s.values += (steps + 1) * batch * size;
    linear_over_fX(&s, AE_DATA(const real, weight), AE_DATA(real, packed), 1);
}

/* Attention, head by head, and its adjoint: what they compute is told in ops/nn/attention.py.

   A thread takes a head of a batch, and of that a few queries at a time, from the scores to the
   result, while they are in the cache. Right operands of products are packed into panels of one
   vector; a tile of a few rows and one panel of the product stays in registers while it is summed
   up. Where weights are 0, as those of later keys are, nothing is multiplied. */

#if defined(__AVX512F__)
enum { WIDE_fX = 64 / sizeof(real), TALL_fX = 12 };
#else
enum { WIDE_fX = 32 / sizeof(real), TALL_fX = 6 };
#endif
enum { SPAN_fX = 64 }; /* queries whose slopes are kept at a time */

/* Of [batch, sequence, heads, width]: the elements from one to the next of the first three. */
struct steps_fX {
    int64_t batch, row, head;
};

/* One head of such an array. */
struct matrix_fX {
    real *at;
    int64_t row;
};

struct heads_fX {
    int64_t batch, heads, queries, keys, width, values; /* the width of a value */
    struct steps_fX query, key, value, y;
};

static struct matrix_fX head_fX(const real *x, struct steps_fX s, int64_t heads, int64_t i)
{
    struct matrix_fX found = {(real *)x + i / heads * s.batch + i % heads * s.head, s.row};
    return found;
}

static struct steps_fX steps_fX(ae_array x)
{
    const intptr_t *strides = AE_STRIDES(x), size = sizeof(real);
    struct steps_fX found = {strides[0] / size, strides[1] / size, strides[2] / size};
    return found;
}

/* Strides of an array in C order. */
static struct steps_fX in_order_fX(int64_t rows, int64_t heads, int64_t width)
{
    struct steps_fX found = {rows * heads * width, heads * width, width};
    return found;
}

static struct heads_fX heads_fX(ae_array query, ae_array key, ae_array value)
{
    const intptr_t *of_query = AE_SIZES(query), *of_value = AE_SIZES(value);
    struct heads_fX found = {.batch = of_query[0],
                             .heads = of_query[2],
                             .queries = of_query[1],
                             .keys = of_value[1],
                             .width = of_query[3],
                             .values = of_value[3],
                             .query = steps_fX(query),
                             .key = steps_fX(key),
                             .value = steps_fX(value)};
    return found;
}

static int64_t wide_fX(int64_t n) { return (n + WIDE_fX - 1) / WIDE_fX * WIDE_fX; }

/* The k x n matrix, or the transpose of the n x k one, panel after panel; beyond column n is 0. */
static void pack_fX(struct matrix_fX b, int transposed, int64_t k, int64_t n, real *out)
{
    for (int64_t first = 0; first < n; first += WIDE_fX, out += WIDE_fX * k) {
        int64_t there = n - first < WIDE_fX ? n - first : WIDE_fX;
        if (there < WIDE_fX)
            memset(out, 0, sizeof(real) * WIDE_fX * k);
        if (transposed) {
            for (int64_t j = 0; j < there; j++)
                for (int64_t q = 0; q < k; q++)
                    out[q * WIDE_fX + j] = b.at[(first + j) * b.row + q];
        } else if (there == WIDE_fX) { /* a size that the compiler knows: one vector */
            for (int64_t q = 0; q < k; q++)
                memcpy(out + q * WIDE_fX, b.at + q * b.row + first, sizeof(real) * WIDE_fX);
        } else {
            for (int64_t q = 0; q < k; q++)
                memcpy(out + q * WIDE_fX, b.at + q * b.row + first, sizeof(real) * there);
        }
    }
}

/* Rows of factor a B for one panel of B, or two that are `next` apart; on top of what is in c if
   `add`. Element (i, q) of a is at i across + q down. */
AE_INLINE __attribute__((always_inline)) void
tile_fX(const int rows, const int panels, int64_t k, const real *restrict a, int64_t across,
        int64_t down, const real *restrict b, int64_t next, real factor, int add, real *restrict c,
        int64_t ldc, int64_t there)
{
    real s[TALL_fX][2][WIDE_fX];
    for (int i = 0; i < rows; i++)
        for (int p = 0; p < panels; p++)
            for (int j = 0; j < WIDE_fX; j++)
                s[i][p][j] = 0;
    for (int64_t q = 0; q < k; q++, a += down, b += WIDE_fX) {
#pragma GCC unroll 12
        for (int i = 0; i < rows; i++) {
            real x = a[i * across];
#pragma GCC unroll 2
            for (int p = 0; p < panels; p++)
#pragma omp simd
                for (int j = 0; j < WIDE_fX; j++)
                    s[i][p][j] = aei_fma_fX(x, b[p * next + j], s[i][p][j]);
        }
    }
    for (int i = 0; i < rows; i++)
        for (int p = 0; p < panels; p++) {
            real *out = c + i * ldc + p * WIDE_fX;
            int64_t count = there - p * WIDE_fX;
            if (count >= WIDE_fX) {
#pragma omp simd
                for (int j = 0; j < WIDE_fX; j++)
                    out[j] = add ? out[j] + factor * s[i][p][j] : factor * s[i][p][j];
            } else {
                for (int64_t j = 0; j < count; j++)
                    out[j] = add ? out[j] + factor * s[i][p][j] : factor * s[i][p][j];
            }
        }
}

/* Up to TALL rows of a left operand, `k` elements of each. */
struct rows_fX {
    int64_t rows, k;
    const real *at;
    int64_t across, down;
};

AE_INLINE __attribute__((always_inline)) void
panels_fX(const int rows, struct rows_fX a, int64_t n, const real *b, int64_t next, real factor,
          int add, struct matrix_fX c)
{
    int64_t j = 0;
    for (; j + WIDE_fX < n; j += 2 * WIDE_fX, b += 2 * next)
        tile_fX(rows, 2, a.k, a.at, a.across, a.down, b, next, factor, add, c.at + j, c.row, n - j);
    if (j < n)
        tile_fX(rows, 1, a.k, a.at, a.across, a.down, b, next, factor, add, c.at + j, c.row, n - j);
}

/* The columns 0 .. n - 1 of factor a B, from row `first` of B on. Its panels have `height` rows.
   Not inlined, for the compiler takes long for tiles. */
static __attribute__((noinline)) void product_fX(struct rows_fX a, int64_t n, const real *packed,
                                                 int64_t height, int64_t first, real factor,
                                                 int add, struct matrix_fX c)
{
    int64_t next = height * WIDE_fX;
    const real *b = packed + first * WIDE_fX;
    while (a.rows > 0) {
        int64_t done = a.rows >= TALL_fX ? TALL_fX : a.rows >= 4 ? 4 : 1;
        if (done == TALL_fX)
            panels_fX(TALL_fX, a, n, b, next, factor, add, c);
        else if (done == 4)
            panels_fX(4, a, n, b, next, factor, add, c);
        else
            panels_fX(1, a, n, b, next, factor, add, c);
        a.rows -= done;
        a.at += done * a.across;
        c.at += done * c.row;
    }
}

/* softmax of rows of n scores that follow each other, of which row i counts those before
   `seen` + i, or all. The exponentials of several rows are computed in one loop, for rows may be
   shorter than vectors are long. */
static void weigh_fX(int64_t rows, int64_t n, int64_t seen, real *w)
{
    for (int64_t i = 0; i < rows; i++) {
        int64_t count = seen + i < n ? seen + i : n;
        real *row = w + i * n, m = ae_largest_fX(row, count);
#pragma omp simd
        for (int64_t j = 0; j < count; j++)
            row[j] -= m;
        for (int64_t j = count; j < n; j++)
            row[j] = -AE_INF_fX;
    }
#pragma omp simd
    for (int64_t j = 0; j < rows * n; j++)
        w[j] = ae_exp_down_fX(w[j]);
    for (int64_t i = 0; i < rows; i++) {
        real *row = w + i * n, part = 1 / ae_sum_fX(row, n);
#pragma omp simd
        for (int64_t j = 0; j < n; j++)
            row[j] *= part;
    }
}

/* Heads are cut into as many blocks as scratch has room for; each has its own. */
struct attention_fX {
    struct heads_fX h;
    int64_t blocks, room;
    real scale, *scratch;
    int causal;
    const real *query, *key, *value, *y;
    real *out, *weights, *dquery, *dkey, *dvalue;
    const char *seen, *bias; /* which keys a query sees, and what is added to scores, or NULL */
    intptr_t steps[4];       /* bytes from one element of either to the next */
};

static void of_scores_fX(struct attention_fX *c, ae_array x)
{
    for (int k = 0; k < 4; k++)
        c->steps[k] = AE_SIZES(x)[k] == 1 ? 0 : AE_STRIDES(x)[k];
}

/* Where a row of the array for scores begins. */
static const char *for_row_fX(const struct attention_fX *c, const char *x, int64_t head, int64_t i)
{
    return x + head / c->h.heads * c->steps[0] + head % c->h.heads * c->steps[1] + i * c->steps[2];
}

static void add_fX(const struct attention_fX *c, int64_t head, int64_t first, int64_t rows, real *w)
{
    int64_t keys = c->h.keys, step = c->steps[3];
    for (int64_t i = 0; i < rows; i++) {
        const char *from = for_row_fX(c, c->bias, head, first + i);
        real *row = w + i * keys;
        if (step == sizeof(real)) {
#pragma omp simd
            for (int64_t j = 0; j < keys; j++)
                row[j] += ((const real *)from)[j];
        } else {
            for (int64_t j = 0; j < keys; j++)
                row[j] += *(const real *)(from + j * step);
        }
    }
}

/* Scores of what is not seen to minus infinity; those of a row that sees no key before `limit` + i
   to 0, and this is noted in `none`. */
static void hide_fX(const struct attention_fX *c, int64_t head, int64_t first, int64_t rows,
                    int64_t limit, char *none, real *w)
{
    int64_t keys = c->h.keys;
    for (int64_t i = 0; i < rows; i++) {
        int64_t count = limit + i < keys ? limit + i : keys, step = c->steps[3];
        const char *seen = for_row_fX(c, c->seen, head, first + i);
        real *row = w + i * keys;
        int some = 0;
        if (step == 1) {
#pragma omp simd reduction(| : some)
            for (int64_t j = 0; j < count; j++) {
                some |= seen[j];
                row[j] = seen[j] ? row[j] : -AE_INF_fX;
            }
        } else {
            for (int64_t j = 0; j < count; j++) {
                some |= seen[j * step];
                row[j] = seen[j * step] ? row[j] : -AE_INF_fX;
            }
        }
        none[i] = !some;
        if (!some)
            memset(row, 0, sizeof(real) * keys);
    }
}

static void run_fX(ae_body body, struct attention_fX *c)
{
    int64_t pairs = c->h.queries * c->h.keys * c->h.batch * c->h.heads;
    ae_parallel(body, c, c->blocks, ae_grain(pairs / c->blocks * (c->h.width + c->h.values) / 8));
}

static void attention_heads_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct attention_fX *c = context;
    const struct heads_fX *h = &c->h;
    int64_t count = h->batch * h->heads, queries = h->queries, keys = h->keys;
    struct steps_fX order = in_order_fX(queries, h->heads, h->values);
    (void)worker;
    for (int64_t block = lo; block < hi; block++) {
        real *turned = c->scratch + block * c->room, *values = turned + wide_fX(keys) * h->width;
        for (int64_t p = block * count / c->blocks; p < (block + 1) * count / c->blocks; p++) {
            struct matrix_fX q = head_fX(c->query, h->query, h->heads, p);
            struct matrix_fX out = head_fX(c->out, order, h->heads, p);
            pack_fX(head_fX(c->key, h->key, h->heads, p), 1, h->width, keys, turned);
            pack_fX(head_fX(c->value, h->value, h->heads, p), 0, keys, h->values, values);
            for (int64_t i = 0; i < queries; i += TALL_fX) {
                int64_t rows = queries - i < TALL_fX ? queries - i : TALL_fX;
                int64_t seen = c->causal && i + rows < keys ? i + rows : keys;
                struct matrix_fX w = {c->weights + (p * queries + i) * keys, keys};
                struct matrix_fX to = {out.at + i * out.row, out.row};
                struct rows_fX given = {rows, h->width, q.at + i * q.row, q.row, 1};
                struct rows_fX found = {rows, seen, w.at, keys, 1};
                int64_t limit = c->causal ? i + 1 : keys;
                char none[TALL_fX];
                product_fX(given, seen, turned, h->width, 0, c->scale, 0, w);
                if (c->bias)
                    add_fX(c, p, i, rows, w.at);
                if (c->seen)
                    hide_fX(c, p, i, rows, limit, none, w.at);
                weigh_fX(rows, keys, limit, w.at);
                for (int64_t r = 0; c->seen && r < rows; r++)
                    if (none[r])
                        memset(w.at + r * keys, 0, sizeof(real) * keys);
                product_fX(found, h->values, values, keys, 0, 1, 0, to);
            }
        }
    }
}

static struct attention_fX call_fX(ae_array query, ae_array key, ae_array value, ae_array weights,
                                   ae_array scratch, double scale)
{
    struct attention_fX c = {.h = heads_fX(query, key, value), .scale = (real)scale};
    c.blocks = AE_SIZES(scratch)[0];
    c.room = AE_SIZES(scratch)[1];
    c.query = AE_DATA(const real, query);
    c.key = AE_DATA(const real, key);
    c.value = AE_DATA(const real, value);
    c.weights = AE_DATA(real, weights);
    c.scratch = AE_DATA(real, scratch);
    return c;
}

/* `query`, `key`, `value`: any strides but for the last axis. `scratch`: a row for each of so many
   blocks of heads. */
AE_FUNCTION attention_fX(ae_array query, ae_array key, ae_array value, ae_array out,
                         ae_array weights, ae_array scratch, double scale, int causal)
{
    struct attention_fX c = call_fX(query, key, value, weights, scratch, scale);
    c.causal = causal;
    c.out = AE_DATA(real, out);
    run_fX(attention_heads_fX, &c);
    ae_quiet();
}

/* `seen`: bools that broadcast, of four axes. */
AE_FUNCTION masked_fX(ae_array query, ae_array key, ae_array value, ae_array seen, ae_array out,
                      ae_array weights, ae_array scratch, double scale, int causal)
{
    struct attention_fX c = call_fX(query, key, value, weights, scratch, scale);
    c.causal = causal;
    c.out = AE_DATA(real, out);
    c.seen = AE_DATA(const char, seen);
    of_scores_fX(&c, seen);
    run_fX(attention_heads_fX, &c);
    ae_quiet();
}

/* `bias`: of the dtype, aligned, and as `seen` otherwise. */
AE_FUNCTION biased_fX(ae_array query, ae_array key, ae_array value, ae_array bias, ae_array out,
                      ae_array weights, ae_array scratch, double scale, int causal)
{
    struct attention_fX c = call_fX(query, key, value, weights, scratch, scale);
    c.causal = causal;
    c.out = AE_DATA(real, out);
    c.bias = AE_DATA(const char, bias);
    of_scores_fX(&c, bias);
    run_fX(attention_heads_fX, &c);
    ae_quiet();
}

/* How many of n columns there are up to the last that is not 0 in all of these rows. */
static int64_t used_fX(int64_t rows, int64_t n, const real *w)
{
    for (int64_t j = n; j > 0; j--)
        for (int64_t i = 0; i < rows; i++)
            if (w[i * n + j - 1] != 0)
                return j;
    return 0;
}

/* The first of `rows` rows in which one of these columns is not 0. */
static int64_t first_fX(int64_t rows, int64_t n, const real *w, int64_t columns)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            if (w[i * n + j] != 0)
                return i;
    return rows;
}

/* s = scale w (t - <w, t>) of a row, where t is; 0 from column `used` on. */
static void slopes_fX(int64_t n, int64_t used, const real *w, real scale, real *t)
{
    real mean = ae_dot_fX(w, t, used);
#pragma omp simd
    for (int64_t j = 0; j < used; j++)
        t[j] = w[j] * (t[j] - mean) * scale;
    for (int64_t j = used; j < n; j++)
        t[j] = 0;
}

/* The columns of `rows` rows from the first on, as rows. */
static struct rows_fX columns_fX(const real *x, int64_t pitch, int64_t first, int64_t rows,
                                 int64_t columns)
{
    struct rows_fX found = {columns, rows - first, x + first * pitch, 1, pitch};
    return found;
}

/* With T = Y V', and S = scale W (T - <W, T>), < > a sum over keys: S K, S' Q and W' Y. */
static void adjoint_heads_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct attention_fX *c = context;
    const struct heads_fX *h = &c->h;
    int64_t count = h->batch * h->heads, queries = h->queries, keys = h->keys;
    struct steps_fX of_query = in_order_fX(queries, h->heads, h->width);
    struct steps_fX of_key = in_order_fX(keys, h->heads, h->width);
    struct steps_fX of_value = in_order_fX(keys, h->heads, h->values);
    (void)worker;
    for (int64_t block = lo; block < hi; block++) {
        real *value = c->scratch + block * c->room, *key = value + wide_fX(keys) * h->values;
        real *query = key + keys * wide_fX(h->width), *y = query + queries * wide_fX(h->width);
        real *slopes = y + queries * wide_fX(h->values);
        for (int64_t p = block * count / c->blocks; p < (block + 1) * count / c->blocks; p++) {
            struct matrix_fX given = head_fX(c->y, h->y, h->heads, p);
            struct matrix_fX dq = head_fX(c->dquery, of_query, h->heads, p);
            struct matrix_fX dk = head_fX(c->dkey, of_key, h->heads, p);
            struct matrix_fX dv = head_fX(c->dvalue, of_value, h->heads, p);
            pack_fX(head_fX(c->value, h->value, h->heads, p), 1, h->values, keys, value);
            pack_fX(head_fX(c->key, h->key, h->heads, p), 0, keys, h->width, key);
            pack_fX(head_fX(c->query, h->query, h->heads, p), 0, queries, h->width, query);
            pack_fX(given, 0, queries, h->values, y);
            for (int64_t start = 0; start < queries; start += SPAN_fX) {
                int64_t span = queries - start < SPAN_fX ? queries - start : SPAN_fX;
                const real *weights = c->weights + (p * queries + start) * keys;
                for (int64_t i = 0; i < span; i += TALL_fX) {
                    int64_t rows = span - i < TALL_fX ? span - i : TALL_fX;
                    const real *w = weights + i * keys;
                    int64_t used = used_fX(rows, keys, w);
                    struct matrix_fX s = {slopes + i * keys, keys};
                    struct matrix_fX to = {dq.at + (start + i) * dq.row, dq.row};
                    struct rows_fX from = {rows, h->values, given.at + (start + i) * given.row,
                                           given.row, 1};
                    struct rows_fX found = {rows, used, s.at, keys, 1};
                    product_fX(from, used, value, h->values, 0, 1, 0, s);
                    for (int64_t r = 0; r < rows; r++)
                        slopes_fX(keys, used, w + r * keys, c->scale, s.at + r * keys);
                    product_fX(found, h->width, key, keys, 0, 1, 0, to);
                }
                for (int64_t i = 0; i < keys; i += TALL_fX) {
                    int64_t rows = keys - i < TALL_fX ? keys - i : TALL_fX;
                    int64_t first = first_fX(span, keys, weights + i, rows);
                    struct matrix_fX to_key = {dk.at + i * dk.row, dk.row};
                    struct matrix_fX to_value = {dv.at + i * dv.row, dv.row};
                    if (first == span && start > 0)
                        continue;
                    product_fX(columns_fX(slopes + i, keys, first, span, rows), h->width,
                               query, queries, start + first, 1, start > 0, to_key);
                    product_fX(columns_fX(weights + i, keys, first, span, rows), h->values,
                               y, queries, start + first, 1, start > 0, to_value);
                }
            }
        }
    }
}

/* The cotangents of query, key and value in C order. */
AE_FUNCTION adjoint_fX(ae_array y, ae_array query, ae_array key, ae_array value, ae_array weights,
                       ae_array dquery, ae_array dkey, ae_array dvalue, ae_array scratch,
                       double scale)
{
    struct attention_fX c = call_fX(query, key, value, weights, scratch, scale);
    c.h.y = steps_fX(y);
    c.y = AE_DATA(const real, y);
    c.dquery = AE_DATA(real, dquery);
    c.dkey = AE_DATA(real, dkey);
    c.dvalue = AE_DATA(real, dvalue);
    run_fX(adjoint_heads_fX, &c);
    ae_quiet();
}

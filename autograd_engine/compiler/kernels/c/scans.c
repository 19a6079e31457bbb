/* Running sums, products and extrema, and products, along the middle axis of [outer, n, inner]; with
   `reverse` from its end. Elements follow in order, as NumPy has it. */

enum { SUMS, PRODUCTS, RECURRENCE };

/* Rows whose steps wait for each other are taken some at a time, columns as they lie. */
enum { ROWS = 8, COLUMNS = 256 };

struct scan_fX {
    const real *a, *b;
    real *out;
    int64_t n, inner, step;
    int what;
};

AE_INLINE real next_fX(int what, real a, real b, real before)
{
    return what == SUMS ? before + b : what == PRODUCTS ? before * b : b + a * before;
}

/* `count` lines from `at` on, each `apart` from the next. */
AE_INLINE void lines_fX(const struct scan_fX *c, int what, int64_t at, int64_t count, int64_t apart)
{
    int64_t along = c->inner * c->step;
    if (c->step < 0)
        at += (c->n - 1) * c->inner;
    for (int64_t j = 0; j < count; j++)
        c->out[at + j * apart] = c->b[at + j * apart];
    for (int64_t i = 1; i < c->n; i++) {
        at += along;
        for (int64_t j = 0; j < count; j++) {
            int64_t k = at + j * apart;
            real a = what == RECURRENCE ? c->a[k] : 0;
            c->out[k] = next_fX(what, a, c->b[k], c->out[k - along]);
        }
    }
}

AE_INLINE void some_fX(const struct scan_fX *c, int what, int64_t lo, int64_t hi)
{
    if (c->inner == 1) {
        int64_t k = lo;
        for (; k + ROWS <= hi; k += ROWS)
            lines_fX(c, what, k * c->n, ROWS, c->n);
        for (; k < hi; k++)
            lines_fX(c, what, k * c->n, 1, c->n);
        return;
    }
    int64_t blocks = (c->inner + COLUMNS - 1) / COLUMNS;
    for (int64_t k = lo; k < hi; k++) {
        int64_t j = k % blocks * COLUMNS;
        int64_t count = c->inner - j < COLUMNS ? c->inner - j : COLUMNS;
        lines_fX(c, what, k / blocks * c->n * c->inner + j, count, 1);
    }
}

static void scan_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct scan_fX *c = context;
    (void)worker;
    if (c->what == SUMS)
        some_fX(c, SUMS, lo, hi);
    else if (c->what == PRODUCTS)
        some_fX(c, PRODUCTS, lo, hi);
    else
        some_fX(c, RECURRENCE, lo, hi);
}

static void run_fX(struct scan_fX *c, int64_t outer)
{
    int64_t blocks = c->inner == 1 ? 1 : (c->inner + COLUMNS - 1) / COLUMNS;
    int64_t width = c->inner < COLUMNS ? c->inner : COLUMNS;
    ae_parallel(scan_fX, c, outer * blocks, ae_grain(c->n * width));
    ae_quiet();
}

AE_FUNCTION cumsum_fX(ae_array x, ae_array out, int64_t outer, int64_t n, int64_t inner, int reverse)
{
    struct scan_fX c = {NULL, AE_DATA(const real, x), AE_DATA(real, out), n, inner,
                        reverse ? -1 : 1, SUMS};
    run_fX(&c, outer);
}

AE_FUNCTION cumprod_fX(ae_array x, ae_array out, int64_t outer, int64_t n, int64_t inner, int reverse)
{
    struct scan_fX c = {NULL, AE_DATA(const real, x), AE_DATA(real, out), n, inner,
                        reverse ? -1 : 1, PRODUCTS};
    run_fX(&c, outer);
}

/* s[i] = b[i] + a[i] s[i-1] */
AE_FUNCTION linear_recurrence_fX(ae_array a, ae_array b, ae_array out, int64_t outer, int64_t n,
                                 int64_t inner, int reverse)
{
    struct scan_fX c = {AE_DATA(const real, a), AE_DATA(const real, b), AE_DATA(real, out), n, inner,
                        reverse ? -1 : 1, RECURRENCE};
    run_fX(&c, outer);
}

struct extrema_fX {
    const real *x;
    real *values;
    int64_t *index;
    int64_t n, inner;
    int largest;
};

/* Of `count` lines, the extremum so far and where the latest of those that equal it is; NaN is the
   extremum where there is one. */
AE_INLINE void extrema_of_fX(const struct extrema_fX *c, int largest, int64_t at, int64_t count,
                             int64_t apart)
{
    real value[COLUMNS];
    int64_t place[COLUMNS];
    for (int64_t j = 0; j < count; j++) {
        value[j] = c->x[at + j * apart];
        place[j] = 0;
    }
    for (int64_t i = 0; i < c->n; i++, at += c->inner)
        for (int64_t j = 0; j < count; j++) {
            int64_t k = at + j * apart;
            real x = c->x[k];
            value[j] = largest ? ae_maximum_fX(value[j], x) : ae_minimum_fX(value[j], x);
            place[j] = (x == value[j]) | (x != x) ? i : place[j];
            c->values[k] = value[j];
            c->index[k] = place[j];
        }
}

AE_INLINE void some_extrema_fX(const struct extrema_fX *c, int largest, int64_t lo, int64_t hi)
{
    if (c->inner == 1) {
        int64_t k = lo;
        for (; k + ROWS <= hi; k += ROWS)
            extrema_of_fX(c, largest, k * c->n, ROWS, c->n);
        for (; k < hi; k++)
            extrema_of_fX(c, largest, k * c->n, 1, c->n);
        return;
    }
    int64_t blocks = (c->inner + COLUMNS - 1) / COLUMNS;
    for (int64_t k = lo; k < hi; k++) {
        int64_t j = k % blocks * COLUMNS;
        int64_t count = c->inner - j < COLUMNS ? c->inner - j : COLUMNS;
        extrema_of_fX(c, largest, k / blocks * c->n * c->inner + j, count, 1);
    }
}

static void extrema_part_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct extrema_fX *c = context;
    (void)worker;
    if (c->largest)
        some_extrema_fX(c, 1, lo, hi);
    else
        some_extrema_fX(c, 0, lo, hi);
}

AE_FUNCTION extrema_fX(ae_array x, ae_array values, ae_array index, int64_t outer, int64_t n,
                       int64_t inner, int largest)
{
    struct extrema_fX c = {AE_DATA(const real, x), AE_DATA(real, values), AE_DATA(int64_t, index), n,
                           inner, largest};
    int64_t blocks = inner == 1 ? 1 : (inner + COLUMNS - 1) / COLUMNS;
    int64_t width = inner < COLUMNS ? inner : COLUMNS;
    ae_parallel(extrema_part_fX, &c, outer * blocks, ae_grain(2 * n * width));
    ae_quiet();
}

/* The product of each of `count` lines of n elements, one behind the other. */
AE_INLINE void products_fX(const real *x, real *out, int64_t count, int64_t n)
{
    real total[ROWS];
    for (int64_t j = 0; j < count; j++)
        total[j] = x[j * n];
    for (int64_t i = 1; i < n; i++)
        for (int64_t j = 0; j < count; j++)
            total[j] *= x[j * n + i];
    for (int64_t j = 0; j < count; j++)
        out[j] = total[j];
}

static void prod_part_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct scan_fX *c = context;
    int64_t k = lo;
    (void)worker;
    for (; k + ROWS <= hi; k += ROWS)
        products_fX(c->b + k * c->n, c->out + k, ROWS, c->n);
    for (; k < hi; k++)
        products_fX(c->b + k * c->n, c->out + k, 1, c->n);
}

/* Of rows [outer, n] the products. */
AE_FUNCTION prod_fX(ae_array x, ae_array out, int64_t outer, int64_t n)
{
    struct scan_fX c = {.b = AE_DATA(const real, x), .out = AE_DATA(real, out), .n = n};
    ae_parallel(prod_part_fX, &c, outer, ae_grain(n));
    ae_quiet();
}

/* Of `count` lines, for each element the product of the others: what lies before, and then times
   what lies behind. Without `omp simd`: vectors of lines that lie apart would be gathered and
   scattered, in twice the time of their elements one by one. */
AE_INLINE void others_of_fX(const struct scan_fX *c, int64_t at, int64_t count, int64_t apart)
{
    real product[COLUMNS];
    const real *x = c->b + at;
    real *out = c->out + at;
    for (int64_t j = 0; j < count; j++)
        product[j] = 1;
    for (int64_t i = 0; i < c->n; i++) {
        for (int64_t j = 0; j < count; j++) {
            int64_t k = i * c->inner + j * apart;
            out[k] = product[j];
            product[j] *= x[k];
        }
    }
    for (int64_t j = 0; j < count; j++)
        product[j] = 1;
    for (int64_t i = c->n; i-- > 0;) {
        for (int64_t j = 0; j < count; j++) {
            int64_t k = i * c->inner + j * apart;
            out[k] *= product[j];
            product[j] *= x[k];
        }
    }
}

static void others_part_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct scan_fX *c = context;
    (void)worker;
    if (c->inner == 1) {
        int64_t k = lo;
        for (; k + ROWS <= hi; k += ROWS)
            others_of_fX(c, k * c->n, ROWS, c->n);
        for (; k < hi; k++)
            others_of_fX(c, k * c->n, 1, c->n);
        return;
    }
    int64_t blocks = (c->inner + COLUMNS - 1) / COLUMNS;
    for (int64_t k = lo; k < hi; k++) {
        int64_t j = k % blocks * COLUMNS;
        int64_t count = c->inner - j < COLUMNS ? c->inner - j : COLUMNS;
        others_of_fX(c, k / blocks * c->n * c->inner + j, count, 1);
    }
}

AE_FUNCTION product_of_others_fX(ae_array x, ae_array out, int64_t outer, int64_t n, int64_t inner)
{
    struct scan_fX c = {
        .b = AE_DATA(const real, x), .out = AE_DATA(real, out), .n = n, .inner = inner};
    int64_t blocks = inner == 1 ? 1 : (inner + COLUMNS - 1) / COLUMNS;
    int64_t width = inner < COLUMNS ? inner : COLUMNS;
    ae_parallel(others_part_fX, &c, outer * blocks, ae_grain(2 * n * width));
    ae_quiet();
}

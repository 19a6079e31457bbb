/* Copies: of what is broadcast, and of triangles. */

static void copied_fX(int64_t n, char *const *p) { memcpy(p[2], p[0], (size_t)n * sizeof(real)); }

static void repeated_fX(int64_t n, char *const *p)
{
    real value = *(const real *)p[0], *out = (real *)p[2];
    int64_t first = (64 - ae_past_a_line(out)) % 64 / (int64_t)sizeof(real);
    first = first < n ? first : n;
    for (int64_t j = 0; j < first; j++)
        out[j] = value;
#pragma omp simd
    for (int64_t j = first; j < n; j++)
        out[j] = value;
}

AE_FUNCTION copy_fX(ae_array x, ae_array out, int64_t n0, int64_t n1, int64_t n2, int missing)
{
    static void (*const loops[])(int64_t n, char *const *p) = {copied_fX, repeated_fX};
    ae_spread_over_fX(loops, AE_DATA(const real, x), NULL, AE_DATA(real, out), n0, n1, n2, missing,
                      1);
}

struct triangle_fX {
    const real *x;
    real *out;
    int64_t rows, n, diagonal;
    int upper;
};

static void triangle_rows_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct triangle_fX *c = context;
    int64_t n = c->n;
    (void)worker;
    for (int64_t i = lo; i < hi; i++) {
        const real *x = c->x + i * n;
        real *out = c->out + i * n;
        int64_t behind = i % c->rows + c->diagonal + (c->upper ? 0 : 1);
        int64_t cut = behind < 0 ? 0 : behind < n ? behind : n;
        int64_t from = c->upper ? cut : 0, to = c->upper ? n : cut;
        memset(out, 0, (size_t)from * sizeof(real));
        memcpy(out + from, x + from, (size_t)(to - from) * sizeof(real));
        memset(out + to, 0, (size_t)(n - to) * sizeof(real));
    }
}

/* Of matrices [count, rows, n], what lies on the diagonal of that number and below it, or above. */
AE_FUNCTION triangle_fX(ae_array x, ae_array out, int64_t count, int64_t rows, int64_t n,
                        int64_t diagonal, int upper)
{
    struct triangle_fX c = {AE_DATA(const real, x), AE_DATA(real, out), rows, n, diagonal, upper};
    ae_parallel(triangle_rows_fX, &c, count * rows, ae_grain(n));
}

/* P A = L U with partial pivoting, block by block, and systems solved with it. Row k was swapped with
   row pivots[k] in step k; behind them stands how many steps there were before a pivot of 0. */

/* Columns of a panel: what is below and right of it is one matrix product. */
enum { PANEL = 32 };

static void swap_rows_fX(real *a, real *b, int64_t n)
{
    for (int64_t j = 0; j < n; j++) {
        real x = a[j];
        a[j] = b[j];
        b[j] = x;
    }
}

/* Factors of m x width, of which column j is column[j * m ...]. Returns the steps that were taken. */
static int64_t panel_fX(real *column, int64_t m, int64_t width, int64_t *pivots)
{
    for (int64_t k = 0; k < width; k++) {
        real *restrict c = column + k * m;
        /* What the steps before do to this column. */
        for (int64_t i = 0; i < k; i++) {
            real x = c[pivots[i]];
            c[pivots[i]] = c[i];
            c[i] = x;
        }
        for (int64_t i = 0; i < k; i++) {
            const real *restrict l = column + i * m;
            real u = c[i];
#pragma omp simd
            for (int64_t r = i + 1; r < m; r++)
                c[r] -= u * l[r];
        }
        real best = 0;
#pragma omp simd reduction(max : best)
        for (int64_t r = k; r < m; r++) {
            real size = AE_LIBM(fabs)(c[r]);
            best = size > best ? size : best;
        }
        int64_t p = k;
        while (p < m && AE_LIBM(fabs)(c[p]) != best)
            p++;
        p = p < m ? p : k; /* NaN */
        pivots[k] = p;
        if (c[p] == 0)
            return k;
        for (int64_t j = 0; j <= k; j++) {
            real x = column[j * m + k];
            column[j * m + k] = column[j * m + p];
            column[j * m + p] = x;
        }
        real scale = c[k];
#pragma omp simd
        for (int64_t r = k + 1; r < m; r++)
            c[r] /= scale;
    }
    return width;
}

/* In place; `scratch` has n * 32 elements. */
AE_FUNCTION lu_fX(ae_array matrix, ae_array pivot, ae_array scratch, int64_t n)
{
    real *a = AE_DATA(real, matrix), *column = AE_DATA(real, scratch);
    int64_t *pivots = AE_DATA(int64_t, pivot);
    pivots[n] = n;
    for (int64_t start = 0; start < n; start += PANEL) {
        int64_t width = n - start < PANEL ? n - start : PANEL, m = n - start, end = start + width;
        for (int64_t r = 0; r < m; r++)
            for (int64_t j = 0; j < width; j++)
                column[j * m + r] = a[(start + r) * n + start + j];
        int64_t done = panel_fX(column, m, width, pivots + start);
        if (done < width) {
            pivots[n] = start + done;
            break;
        }
        for (int64_t r = 0; r < m; r++)
            for (int64_t j = 0; j < width; j++)
                a[(start + r) * n + start + j] = column[j * m + r];
        for (int64_t k = start; k < end; k++) {
            pivots[k] += start;
            if (pivots[k] != k) {
                swap_rows_fX(a + k * n, a + pivots[k] * n, start);
                swap_rows_fX(a + k * n + end, a + pivots[k] * n + end, n - end);
            }
        }
        for (int64_t i = start + 1; i < end; i++)
            for (int64_t k = start; k < i; k++) {
                real l = a[i * n + k], *restrict to = a + i * n;
                const real *restrict from = a + k * n;
#pragma omp simd
                for (int64_t j = end; j < n; j++)
                    to[j] -= l * from[j];
            }
        if (end < n)
            ae_gemm_fX(0, 0, n - end, n - end, width, -1, a + end * n + start, n,
                       a + start * n + end, n, 1, a + end * n + end, n);
    }
    ae_quiet();
}

/* b -= op(A) b, for rows [lo, hi) of b, [n, count], by those in [from, to). */
static void take_off_fX(const real *a, int64_t n, int transpose, int64_t lo, int64_t hi,
                        int64_t from, int64_t to, real *b, int64_t count)
{
    if (from < to)
        ae_gemm_fX(transpose, 0, hi - lo, count, to - from, -1,
                   transpose ? a + from * n + lo : a + lo * n + from, n, b + from * count, count, 1,
                   b + lo * count, count);
}

/* b := T^-1 b, row after row, T being a triangle of `a` or its transpose: down for a lower one. */
static void substitute_fX(const real *a, int64_t n, int transpose, int lower, int unit, real *b,
                          int64_t count)
{
    int down = lower != transpose;
    int64_t blocks = (n + PANEL - 1) / PANEL;
    for (int64_t s = 0; s < blocks; s++) {
        int64_t lo = (down ? s : blocks - 1 - s) * PANEL, hi = lo + PANEL < n ? lo + PANEL : n;
        take_off_fX(a, n, transpose, lo, hi, down ? 0 : hi, down ? lo : n, b, count);
        for (int64_t k = 0; k < hi - lo; k++) {
            int64_t i = down ? lo + k : hi - 1 - k;
            real *restrict to = b + i * count;
            for (int64_t j = down ? lo : i + 1; j < (down ? i : hi); j++) {
                real t = transpose ? a[j * n + i] : a[i * n + j];
                const real *restrict from = b + j * count;
#pragma omp simd
                for (int64_t c = 0; c < count; c++)
                    to[c] -= t * from[c];
            }
            if (!unit) {
                real t = a[i * n + i];
#pragma omp simd
                for (int64_t c = 0; c < count; c++)
                    to[c] /= t;
            }
        }
    }
}

/* In place of `right`, [n, count]: A^-1 times it, or that of the transpose of A. */
AE_FUNCTION solve_fX(ae_array factors, ae_array pivot, ae_array right, int64_t n, int64_t count,
                     int transpose)
{
    const real *a = AE_DATA(const real, factors);
    const int64_t *pivots = AE_DATA(const int64_t, pivot);
    real *b = AE_DATA(real, right);
    if (transpose) {
        substitute_fX(a, n, 1, 0, 0, b, count);
        substitute_fX(a, n, 1, 1, 1, b, count);
        for (int64_t k = n; k-- > 0;)
            if (pivots[k] != k)
                swap_rows_fX(b + k * count, b + pivots[k] * count, count);
    } else {
        for (int64_t k = 0; k < n; k++)
            if (pivots[k] != k)
                swap_rows_fX(b + k * count, b + pivots[k] * count, count);
        substitute_fX(a, n, 0, 1, 1, b, count);
        substitute_fX(a, n, 0, 0, 0, b, count);
    }
    ae_quiet();
}

/* right - A x, or A' x, summed in float64. */
AE_FUNCTION residual_fX(ae_array matrix, ae_array solution, ae_array right, ae_array out,
                        ae_array scratch, int64_t n, int64_t count, int transpose)
{
    const real *a = AE_DATA(const real, matrix), *x = AE_DATA(const real, solution);
    const real *b = AE_DATA(const real, right);
    real *r = AE_DATA(real, out);
    double *restrict column = AE_DATA(double, scratch);
    for (int64_t c = 0; c < count; c++) {
        if (transpose) {
            for (int64_t j = 0; j < n; j++)
                column[j] = 0;
            for (int64_t i = 0; i < n; i++) {
                double v = x[i * count + c];
                const real *restrict row = a + i * n;
#pragma omp simd
                for (int64_t j = 0; j < n; j++)
                    column[j] += v * (double)row[j];
            }
            for (int64_t j = 0; j < n; j++)
                r[j * count + c] = (real)((double)b[j * count + c] - column[j]);
            continue;
        }
        for (int64_t j = 0; j < n; j++)
            column[j] = x[j * count + c];
        for (int64_t i = 0; i < n; i++) {
            double sum = 0;
            const real *restrict row = a + i * n;
#pragma omp simd reduction(+ : sum)
            for (int64_t j = 0; j < n; j++)
                sum += (double)row[j] * column[j];
            r[i * count + c] = (real)((double)b[i * count + c] - sum);
        }
    }
    ae_quiet();
}

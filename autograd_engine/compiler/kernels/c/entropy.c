/* Cross entropy of class labels along rows that follow each other, and its adjoint, and the loss that
   is minus what stands at the label. If `some` may be left out, labels that are `ignore` are. */

struct entropy_fX {
    const real *x, *y;
    const int64_t *label;
    real *probs, *loss, *dx;
    int64_t n, step, ignore;
    int some;
};

/* How many labels count; -1 if one is no class. */
static int64_t counting_fX(const struct entropy_fX *c, int64_t rows)
{
    int64_t left_out = 0, wrong = 0;
    for (int64_t i = 0; i < rows; i++) {
        int64_t label = c->label[i], ignored = c->some && label == c->ignore;
        left_out += ignored;
        wrong |= !ignored && (label < 0 || label >= c->n);
    }
    return wrong ? -1 : rows - left_out;
}

/* Rows may be shorter than vectors are long, so the exponentials of several are one loop. */
static void entropy_rows_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct entropy_fX *c = context;
    int64_t n = c->n, most = n < 4 * AE_PART ? 4 * AE_PART / n : 1;
    (void)worker;
    for (int64_t start = lo; start < hi; start += most) {
        int64_t end = start + most < hi ? start + most : hi;
        for (int64_t i = start; i < end; i++) {
            real *probs = c->probs + i * n;
            int64_t label = c->label[i];
            const real *x = c->x + i * n;
            real m = ae_largest_fX(x, n);
#pragma omp simd
            for (int64_t j = 0; j < n; j++)
                probs[j] = x[j] - m;
            c->loss[i] = c->some && label == c->ignore ? 0 : probs[label];
        }
#pragma omp simd
        for (int64_t j = start * n; j < end * n; j++)
            c->probs[j] = ae_exp_down_fX(c->probs[j]);
        for (int64_t i = start; i < end; i++) {
            real *probs = c->probs + i * n, total = ae_sum_fX(probs, n), part = 1 / total;
            if (!c->some || c->label[i] != c->ignore)
                c->loss[i] = ae_log_fX(total) - c->loss[i];
#pragma omp simd
            for (int64_t j = 0; j < n; j++)
                probs[j] *= part;
        }
    }
}

/* -log softmax(x) at the labels, if asked for their mean, and softmax(x); how many labels count, 1 at
   least to divide by. Nothing but a count of -1 if one is no class. */
AE_FUNCTION entropy_fX(ae_array x, ae_array label, ae_array loss, ae_array probs, ae_array count,
                       ae_array mean, int64_t rows, int64_t n, int64_t ignore, int some, int asked)
{
    struct entropy_fX c = {.n = n, .ignore = ignore, .some = some};
    c.x = AE_DATA(const real, x);
    c.label = AE_DATA(const int64_t, label);
    c.loss = AE_DATA(real, loss);
    c.probs = AE_DATA(real, probs);
    int64_t counting = counting_fX(&c, rows);
    real number = *AE_DATA(real, count) = (real)(counting ? counting : 1);
    if (number < 0)
        return;
    ae_parallel(entropy_rows_fX, &c, rows, ae_grain(4 * n));
    if (asked)
        *AE_DATA(real, mean) = ae_sum_fX(c.loss, rows) / number;
    ae_quiet();
}

static void adjoint_rows_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct entropy_fX *c = context;
    int64_t n = c->n;
    (void)worker;
    for (int64_t i = lo; i < hi; i++) {
        const real *probs = c->probs + i * n;
        int64_t label = c->label[i];
        int left_out = c->some && label == c->ignore;
        real *dx = c->dx + i * n, y = left_out ? 0 : c->y[i * c->step];
#pragma omp simd
        for (int64_t j = 0; j < n; j++)
            dx[j] = y * probs[j];
        if (!left_out)
            dx[label] -= y;
    }
}

/* y (probs - q), q 1 at the label and 0 elsewhere; a count as above. `step`: from one y to the
   next. */
AE_FUNCTION adjoint_fX(ae_array y, ae_array probs, ae_array label, ae_array dx, ae_array count,
                       int64_t rows, int64_t n, int64_t step, int64_t ignore, int some)
{
    struct entropy_fX c = {.n = n, .step = step, .ignore = ignore, .some = some};
    c.y = AE_DATA(const real, y);
    c.probs = AE_DATA(real, probs);
    c.label = AE_DATA(const int64_t, label);
    c.dx = AE_DATA(real, dx);
    int64_t counting = *AE_DATA(int64_t, count) = counting_fX(&c, rows);
    if (counting >= 0)
        ae_parallel(adjoint_rows_fX, &c, rows, ae_grain(n));
    ae_quiet();
}

/* -x at the labels, or their mean, as `slope` is of them; and the classes that were read, the first for
   a label that is left out. A count as above. */
AE_FUNCTION picked_fX(ae_array x, ae_array label, ae_array loss, ae_array slope, ae_array classes,
                      ae_array count, ae_array mean, int64_t rows, int64_t n, int64_t ignore,
                      int some, int asked)
{
    struct entropy_fX c = {.n = n, .ignore = ignore, .some = some};
    const real *from = AE_DATA(const real, x);
    c.label = AE_DATA(const int64_t, label);
    c.loss = AE_DATA(real, loss);
    int64_t counting = counting_fX(&c, rows);
    real number = *AE_DATA(real, count) = (real)(counting ? counting : 1);
    if (number < 0)
        return;
    for (int64_t i = 0; i < rows; i++) {
        int left_out = some && c.label[i] == ignore;
        int64_t class = left_out ? 0 : c.label[i];
        c.loss[i] = left_out ? 0 : -from[i * n + class];
        AE_DATA(real, slope)[i] = left_out ? 0 : -1 / (asked ? number : 1);
        AE_DATA(int64_t, classes)[i] = class;
    }
    if (asked)
        *AE_DATA(real, mean) = ae_sum_fX(c.loss, rows) / number;
    ae_quiet();
}

/* Updates of parameters, in the order of operations of ops/update.py: each is rounded by itself, so
   the bits are those of NumPy's passes. Results may take the place of operands. */

struct update_fX {
    const real *param, *grad;
    const real *given[3]; /* state before */
    real *out;
    real *state[3];
    real decay, rate, beta1, rest1, beta2, rest2, epsilon;
    int variant;
};

static void run_fX(ae_body body, struct update_fX *c, int64_t n, int64_t cost)
{
    ae_parallel(body, c, n, ae_grain(cost));
    ae_quiet();
}

static void sgd_part_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct update_fX *c = context;
    const real *p = c->param, *g = c->grad;
    real *out = c->out, rate = c->rate;
    (void)worker;
#pragma omp simd
    for (int64_t j = lo; j < hi; j++)
        out[j] = p[j] - g[j] * rate;
}

AE_FUNCTION sgd_fX(ae_array param, ae_array grad, ae_array out, int64_t n, double rate)
{
    struct update_fX c = {AE_DATA(const real, param), AE_DATA(const real, grad)};
    c.out = AE_DATA(real, out);
    c.rate = (real)rate;
    run_fX(sgd_part_fX, &c, n, 2);
}

struct rows_fX {
    real *param;
    const int64_t *rows;
    const real *grad;
    int64_t width;
    real rate;
};

static void sgd_rows_part_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct rows_fX *c = context;
    real rate = c->rate;
    (void)worker;
    for (int64_t i = lo; i < hi; i++) {
        real *p = c->param + c->rows[i] * c->width;
        const real *g = c->grad + i * c->width;
#pragma omp simd
        for (int64_t j = 0; j < c->width; j++)
            p[j] = p[j] - g[j] * rate;
    }
}

/* In place, of rows that are in range, each once. */
AE_FUNCTION sgd_rows_fX(ae_array param, ae_array rows, ae_array grad, int64_t count, int64_t width,
                        double rate)
{
    struct rows_fX c = {AE_DATA(real, param), AE_DATA(const int64_t, rows),
                        AE_DATA(const real, grad), width, (real)rate};
    ae_parallel(sgd_rows_part_fX, &c, count, ae_grain(2 * width));
    ae_quiet();
}

static void momentum_part_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct update_fX *c = context;
    const real *p = c->param, *g = c->grad, *v = c->given[0];
    real *out = c->out, *v_out = c->state[0], rate = c->rate, mu = c->beta1;
    (void)worker;
    if (c->variant) {
#pragma omp simd
        for (int64_t j = lo; j < hi; j++) {
            real velocity = mu * v[j] + g[j];
            v_out[j] = velocity;
            out[j] = p[j] - (g[j] + mu * velocity) * rate;
        }
    } else {
#pragma omp simd
        for (int64_t j = lo; j < hi; j++) {
            real velocity = mu * v[j] + g[j];
            v_out[j] = velocity;
            out[j] = p[j] - velocity * rate;
        }
    }
}

AE_FUNCTION momentum_fX(ae_array param, ae_array grad, ae_array velocity, ae_array out,
                        ae_array velocity_out, int64_t n, double rate, double mu, int nesterov)
{
    struct update_fX c = {AE_DATA(const real, param), AE_DATA(const real, grad),
                          {AE_DATA(const real, velocity)}};
    c.out = AE_DATA(real, out);
    c.state[0] = AE_DATA(real, velocity_out);
    c.rate = (real)rate;
    c.beta1 = (real)mu;
    c.variant = nesterov;
    run_fX(momentum_part_fX, &c, n, 3);
}

static void adam_part_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct update_fX *c = context;
    const real *p = c->param, *g = c->grad;
    const real *m = c->given[0], *v = c->given[1], *w = c->given[2];
    real *out = c->out, *m_out = c->state[0], *v_out = c->state[1], *w_out = c->state[2];
    real decay = c->decay, rate = c->rate, epsilon = c->epsilon;
    real beta1 = c->beta1, rest1 = c->rest1, beta2 = c->beta2, rest2 = c->rest2;
    (void)worker;
    if (c->variant) {
#pragma omp simd
        for (int64_t j = lo; j < hi; j++) {
            real first = beta1 * m[j] + rest1 * g[j], second = beta2 * v[j] + g[j] * g[j] * rest2;
            real root = w[j] >= second || w[j] != w[j] ? w[j] : second; /* the larger, or nan */
            m_out[j] = first;
            v_out[j] = second;
            w_out[j] = root;
            out[j] = p[j] * decay - first / (AE_LIBM(sqrt)(root) + epsilon) * rate;
        }
    } else {
#pragma omp simd
        for (int64_t j = lo; j < hi; j++) {
            real first = beta1 * m[j] + rest1 * g[j], second = beta2 * v[j] + g[j] * g[j] * rest2;
            m_out[j] = first;
            v_out[j] = second;
            out[j] = p[j] * decay - first / (AE_LIBM(sqrt)(second) + epsilon) * rate;
        }
    }
}

/* Without amsgrad `largest` and `largest_out` are of no matter. */
AE_FUNCTION adam_fX(ae_array param, ae_array grad, ae_array moment1, ae_array moment2,
                    ae_array largest, ae_array out, ae_array moment1_out, ae_array moment2_out,
                    ae_array largest_out, int64_t n, double decay, double rate, double beta1,
                    double rest1, double beta2, double rest2, double epsilon, int amsgrad)
{
    struct update_fX c = {
        AE_DATA(const real, param),
        AE_DATA(const real, grad),
        {AE_DATA(const real, moment1), AE_DATA(const real, moment2), AE_DATA(const real, largest)},
        AE_DATA(real, out),
        {AE_DATA(real, moment1_out), AE_DATA(real, moment2_out), AE_DATA(real, largest_out)},
        (real)decay,
        (real)rate,
        (real)beta1,
        (real)rest1,
        (real)beta2,
        (real)rest2,
        (real)epsilon,
        amsgrad};
    run_fX(adam_part_fX, &c, n, 8);
}

/* Of many parameters, in place. A row of `table` has the number of elements of one, and the addresses
   of the arrays: the parameter, its gradient, its state. */

AE_INLINE real *array_fX(const int64_t *row, int k)
{
    return AE_DATA(real, (ae_array)(intptr_t)row[1 + k]);
}

static struct update_fX in_place_fX(const int64_t *row, int states)
{
    struct update_fX c = {array_fX(row, 0), array_fX(row, 1)};
    c.out = array_fX(row, 0);
    for (int k = 0; k < states; k++)
        c.given[k] = c.state[k] = array_fX(row, 2 + k);
    return c;
}

AE_FUNCTION sgd_all_fX(ae_array table, int64_t count, double rate)
{
    const int64_t *row = AE_DATA(const int64_t, table);
    for (int64_t k = 0; k < count; k++, row += 3) {
        struct update_fX c = in_place_fX(row, 0);
        c.rate = (real)rate;
        run_fX(sgd_part_fX, &c, row[0], 2);
    }
}

AE_FUNCTION momentum_all_fX(ae_array table, int64_t count, double rate, double mu, int nesterov)
{
    const int64_t *row = AE_DATA(const int64_t, table);
    for (int64_t k = 0; k < count; k++, row += 4) {
        struct update_fX c = in_place_fX(row, 1);
        c.rate = (real)rate;
        c.beta1 = (real)mu;
        c.variant = nesterov;
        run_fX(momentum_part_fX, &c, row[0], 3);
    }
}

/* The last two arrays of a row are the powers of the decay rates, of one element. */
AE_FUNCTION adam_all_fX(ae_array table, int64_t count, double rate, double decay, double beta1,
                        double rest1, double beta2, double rest2, double epsilon, int amsgrad)
{
    const int64_t *row = AE_DATA(const int64_t, table);
    int states = amsgrad ? 3 : 2;
    for (int64_t k = 0; k < count; k++, row += 5 + states) {
        struct update_fX c = in_place_fX(row, states);
        real *power1 = array_fX(row, 2 + states), *power2 = array_fX(row, 3 + states);
        real correction = AE_LIBM(sqrt)(1 - *power2);
        c.decay = (real)decay;
        c.rate = (real)rate * correction / (1 - *power1);
        c.beta1 = (real)beta1;
        c.rest1 = (real)rest1;
        c.beta2 = (real)beta2;
        c.rest2 = (real)rest2;
        c.epsilon = (real)epsilon * correction;
        c.variant = amsgrad;
        *power1 *= c.beta1;
        *power2 *= c.beta2;
        run_fX(adam_part_fX, &c, row[0], 8);
    }
}

/* Convolutions without columns.

   An image lies in a frame: padded by zeros and, for strides, cut into their phases, so that
   neighbouring windows are neighbours. What tap t meets in the window at p is then at p + offset(t):

       y[o, p] = sum over c, t of  w[o, c, t] frame[c, p + offset(t)].

   Pixels stand in lanes, and a tile of filters and vectors of pixels in registers; an element is one
   chain of fused multiplications and additions over c and t, wherever its tile begins. The adjoint
   in x is the same sum for the pixels of each phase; that in w adds up over lanes instead. Tables of
   offsets come from Python (ops/kernels/conv_direct.py), where the numbers below are named. */

#if defined(__clang__)
#pragma STDC FP_CONTRACT ON
#else
#pragma GCC optimize("fp-contract=fast")
#endif

struct conv_job {
    int64_t done; /* 0: what is not finite, or too little memory, left the job to NumPy */
    int64_t images, groups, filters, channels; /* the latter two of a group */
    int64_t group_step, filter_step, channel_step, source, result, taps, frame, rows, pitch, stride;
    int64_t vectors, direct, lines, width, step, dense; /* as named by `job` */
    int64_t tables[];
};

struct conv_tables {
    const int64_t *offset, *weight; /* of taps: in the frame, and in a channel of a filter */
    const int64_t *rows;            /* of the frame: source or -1, first, from, to */
    const int64_t *start, *place;   /* of vectors: in the frame, and in the result */
    const int64_t *lines;           /* of windows that are dense: from, to */
};

enum { CONV_TALL = 8, CONV_WIDE = 3, CONV_ROW = 4, CONV_CHUNK = 48 };
#define CONV_LANES_fX ((int64_t)(64 / sizeof(real)))
typedef real conv_lane_fX __attribute__((vector_size(64), aligned(sizeof(real)), may_alias));

static struct conv_tables conv_tables(const struct conv_job *j)
{
    struct conv_tables t;
    t.offset = j->tables;
    t.weight = t.offset + j->taps;
    t.rows = t.weight + j->taps;
    t.start = t.rows + CONV_ROW * j->rows;
    t.place = t.start + j->vectors;
    t.lines = t.place + j->vectors;
    return t;
}

static void *conv_memory(int64_t elements, size_t size)
{
    return aligned_alloc(64, ((size_t)elements * size + 1023) / 64 * 64);
}

/* One channel of an image into its frame. */
static void conv_frame_fX(const struct conv_job *j, const int64_t *row, const real *x, real *f)
{
    for (int64_t i = 0; i < j->rows; i++, row += CONV_ROW, f += j->pitch) {
        int64_t lo = row[2], hi = row[3], s = j->stride;
        if (row[0] < 0)
            lo = hi = 0;
        const real *from = x + row[0] + row[1];
        for (int64_t k = 0; k < lo; k++)
            f[k] = 0;
        if (s == 1)
            for (int64_t k = lo; k < hi; k++)
                f[k] = from[k];
        else
            for (int64_t k = lo; k < hi; k++)
                f[k] = from[s * k];
        for (int64_t k = hi; k < j->pitch; k++)
            f[k] = 0;
    }
}

/* --- images: a tile of filters by vectors of pixels */

#define CONV_TILE_fX(tall, wide)                                                                   \
    static void conv_tile_##tall##_fX(int64_t channels, int64_t taps, int64_t frame,               \
                                      const int64_t *offset, const real *x, const int64_t *start,  \
                                      const real *w, real *y, int64_t pitch, const int64_t *place) \
    {                                                                                              \
        conv_lane_fX s[tall][wide];                                                                \
        const real *p[wide];                                                                       \
        for (int v = 0; v < wide; v++)                                                             \
            p[v] = x + start[v];                                                                   \
        for (int o = 0; o < tall; o++)                                                             \
            for (int v = 0; v < wide; v++)                                                         \
                s[o][v] = (conv_lane_fX){0};                                                       \
        for (int64_t c = 0; c < channels; c++)                                                     \
            for (int64_t t = 0; t < taps; t++, w += tall) {                                        \
                int64_t at = c * frame + offset[t];                                                \
                conv_lane_fX q[wide];                                                              \
                for (int v = 0; v < wide; v++)                                                     \
                    q[v] = *(const conv_lane_fX *)(p[v] + at);                                     \
                for (int o = 0; o < tall; o++)                                                     \
                    for (int v = 0; v < wide; v++)                                                 \
                        s[o][v] += q[v] * w[o];                                                    \
            }                                                                                      \
        for (int o = 0; o < tall; o++)                                                             \
            for (int v = 0; v < wide; v++)                                                         \
                *(conv_lane_fX *)(y + o * pitch + place[v]) = s[o][v];                             \
    }

CONV_TILE_fX(1, 3) CONV_TILE_fX(2, 3) CONV_TILE_fX(3, 3) CONV_TILE_fX(4, 3)
CONV_TILE_fX(5, 3) CONV_TILE_fX(6, 3) CONV_TILE_fX(7, 3) CONV_TILE_fX(8, 3)

struct conv_run_fX {
    struct conv_job *job;
    const real *x, *w;
    real *y, *packed;
    int64_t parts;
};

/* Filters in blocks, each with the weights of one tap beside each other. */
static void conv_pack_fX(const struct conv_run_fX *r)
{
    const struct conv_job *j = r->job;
    struct conv_tables t = conv_tables(j);
    real *to = r->packed;
    for (int64_t g = 0; g < j->groups; g++)
        for (int64_t b = 0; b < j->filters; b += CONV_TALL) {
            int64_t tall = j->filters - b < CONV_TALL ? j->filters - b : CONV_TALL;
            const real *from = r->w + g * j->group_step + b * j->filter_step;
            for (int64_t c = 0; c < j->channels; c++)
                for (int64_t k = 0; k < j->taps; k++)
                    for (int64_t o = 0; o < tall; o++)
                        *to++ = from[o * j->filter_step + c * j->channel_step + t.weight[k]];
        }
}

static void conv_body_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct conv_run_fX *r = context;
    struct conv_job *j = r->job;
    struct conv_tables t = conv_tables(j);
    int64_t depth = j->channels * j->taps, blocks = (j->filters + CONV_TALL - 1) / CONV_TALL;
    real *f = conv_memory(j->channels * j->frame, sizeof(real));
    real *dense = j->direct ? NULL : conv_memory(CONV_TALL * j->dense, sizeof(real));
    (void)worker;
    if (!f || (!j->direct && !dense)) {
        j->done = 0;
        hi = lo;
    } else {
        memset(f, 0, (size_t)(j->channels * j->frame) * sizeof(real) + 512);
    }
    for (int64_t i = lo; i < hi; i++) {
        int64_t part = i % r->parts, image = i / r->parts / j->groups, g = i / r->parts % j->groups;
        const real *x = r->x + (image * j->groups + g) * j->channels * j->source;
        real *y = r->y + (image * j->groups + g) * j->filters * j->result;
        int64_t first = part * blocks / r->parts, last = (part + 1) * blocks / r->parts;
        for (int64_t c = 0; c < j->channels; c++)
            conv_frame_fX(j, t.rows, x + c * j->source, f + c * j->frame);
        /* Some vectors with all filters at a time, so that their pixels stay in the cache. */
        int64_t chunk = j->direct ? CONV_CHUNK : j->vectors;
        for (int64_t v0 = 0; v0 < j->vectors; v0 += chunk)
            for (int64_t b = first; b < last; b++) {
                int64_t done = b * CONV_TALL;
                int64_t tall = j->filters - done < CONV_TALL ? j->filters - done : CONV_TALL;
                const real *w = r->packed + (g * j->filters + done) * depth;
                real *out = j->direct ? y + done * j->result : dense;
                int64_t pitch = j->direct ? j->result : j->dense;
                for (int64_t v = v0; v < j->vectors && v < v0 + chunk; v += CONV_WIDE)
                    switch (tall) {
#define CONV_CASE_fX(n)                                                                            \
    case n:                                                                                        \
        conv_tile_##n##_fX(j->channels, j->taps, j->frame, t.offset, f, t.start + v, w, out,       \
                           pitch, t.place + v);                                                    \
        break;
                        CONV_CASE_fX(1) CONV_CASE_fX(2) CONV_CASE_fX(3) CONV_CASE_fX(4)
                        CONV_CASE_fX(5) CONV_CASE_fX(6) CONV_CASE_fX(7) CONV_CASE_fX(8)
                    }
                if (!j->direct)
                    for (int64_t o = 0; o < tall; o++)
                        for (int64_t l = 0; l < j->lines; l++) {
                            const real *from = dense + o * pitch + t.lines[2 * l];
                            real *to = y + (done + o) * j->result + t.lines[2 * l + 1];
                            for (int64_t k = 0; k < j->width; k++)
                                to[k * j->step] = from[k];
                        }
            }
    }
    free(f);
    free(dense);
}

AE_FUNCTION correlate_fX(ae_array x, ae_array w, ae_array y, ae_array job)
{
    struct conv_job *j = AE_DATA(struct conv_job, job);
    struct conv_run_fX r = {j, AE_DATA(const real, x), AE_DATA(const real, w), AE_DATA(real, y), NULL, 1};
    int64_t blocks = (j->filters + CONV_TALL - 1) / CONV_TALL, units = j->images * j->groups;
    int64_t depth = j->channels * j->taps;
    if (units < 8)
        r.parts = blocks < 8 / units ? blocks : 8 / units;
    r.packed = conv_memory(j->groups * j->filters * depth, sizeof(real));
    if (!r.packed) {
        j->done = 0;
        return;
    }
    conv_pack_fX(&r);
    ae_parallel(conv_body_fX, &r, units * r.parts,
                ae_grain(j->filters * depth * j->vectors / r.parts));
    free(r.packed);
    ae_quiet();
}

/* --- filters: a tile of filters by taps, whose lanes are added up at the end */

/* Of so many images, n windows each. */
#define CONV_SUMS_fX(tall)                                                                         \
    static void conv_sums_##tall##_fX(int64_t images, int64_t n, const real *g, int64_t pitch,     \
                                      int64_t next_g, const real *const *x, int64_t next_x,        \
                                      conv_lane_fX *total, int64_t row)                            \
    {                                                                                              \
        conv_lane_fX s[tall][CONV_WIDE];                                                           \
        const real *p[CONV_WIDE];                                                                  \
        for (int v = 0; v < CONV_WIDE; v++)                                                        \
            p[v] = x[v];                                                                           \
        for (int o = 0; o < tall; o++)                                                             \
            for (int v = 0; v < CONV_WIDE; v++)                                                    \
                s[o][v] = (conv_lane_fX){0};                                                       \
        for (int64_t m = 0; m < images; m++)                                                       \
            for (int64_t i = 0; i < n; i += CONV_LANES_fX) {                                       \
                conv_lane_fX q[CONV_WIDE];                                                         \
                for (int v = 0; v < CONV_WIDE; v++)                                                \
                    q[v] = *(const conv_lane_fX *)(p[v] + m * next_x + i);                         \
                for (int o = 0; o < tall; o++) {                                                   \
                    conv_lane_fX y = *(const conv_lane_fX *)(g + o * pitch + m * next_g + i);      \
                    for (int v = 0; v < CONV_WIDE; v++)                                            \
                        s[o][v] += q[v] * y;                                                       \
                }                                                                                  \
            }                                                                                      \
        for (int o = 0; o < tall; o++)                                                             \
            for (int v = 0; v < CONV_WIDE; v++)                                                    \
                total[o * row + v] += s[o][v];                                                     \
    }

CONV_SUMS_fX(1) CONV_SUMS_fX(2) CONV_SUMS_fX(3) CONV_SUMS_fX(4)
CONV_SUMS_fX(5) CONV_SUMS_fX(6) CONV_SUMS_fX(7) CONV_SUMS_fX(8)

/* Cotangents with the pitch of the frame, and zeros between rows. */
static void conv_spread_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct conv_run_fX *r = context;
    const struct conv_job *j = r->job;
    struct conv_tables t = conv_tables(j);
    (void)worker;
    for (int64_t i = lo; i < hi; i++) {
        real *to = r->packed + i * j->dense;
        memset(to, 0, (size_t)j->dense * sizeof(real));
        for (int64_t l = 0; l < j->lines; l++)
            for (int64_t k = 0; k < j->width; k++)
                to[t.lines[2 * l] + k] = r->w[i * j->result + t.lines[2 * l + 1] + k];
    }
}

/* Windows whose products stay in the first cache, for a tile of filters and all taps. */
enum { CONV_WINDOWS = 1024 };

/* Channels from lo to hi, of all groups: with all filters and images, in their order. */
static void conv_filter_body_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct conv_run_fX *r = context;
    struct conv_job *j = r->job;
    struct conv_tables t = conv_tables(j);
    int64_t channels = j->groups * j->channels, dense = j->dense;
    int64_t row = (j->taps + CONV_WIDE - 1) / CONV_WIDE * CONV_WIDE;
    int64_t most = dense < CONV_WINDOWS ? CONV_WINDOWS / dense : 1;
    size_t frames = (size_t)(most * j->frame) * sizeof(real) + 512;
    size_t totals = (size_t)(j->filters * row) * sizeof(conv_lane_fX);
    real *f = conv_memory((int64_t)frames, 1);
    conv_lane_fX *total = conv_memory((int64_t)totals, 1);
    (void)worker;
    if (!f || !total) {
        j->done = 0;
        hi = lo;
    } else {
        memset(f, 0, frames);
    }
    for (int64_t i = lo; i < hi; i++) {
        int64_t g = i / j->channels, c = i % j->channels;
        memset(total, 0, totals);
        for (int64_t image = 0; image < j->images; image += most) {
            int64_t m = j->images - image < most ? j->images - image : most;
            const real *y = r->packed + (image * j->groups + g) * j->filters * dense;
            int64_t next = j->groups * j->filters * dense;
            for (int64_t k = 0; k < m; k++)
                conv_frame_fX(j, t.rows, r->x + ((image + k) * channels + i) * j->source,
                              f + k * j->frame);
            for (int64_t at = 0; at < dense; at += CONV_WINDOWS)
                for (int64_t b = 0; b < j->filters; b += CONV_TALL)
                    for (int64_t k = 0; k < j->taps; k += CONV_WIDE) {
                        int64_t n = dense - at < CONV_WINDOWS ? dense - at : CONV_WINDOWS;
                        const real *x[CONV_WIDE];
                        for (int v = 0; v < CONV_WIDE; v++)
                            x[v] = f + at + t.offset[k + v < j->taps ? k + v : j->taps - 1];
                        switch (j->filters - b) {
#define CONV_SUMS_CASE_fX(n_filters, label)                                                        \
    label:                                                                                         \
        conv_sums_##n_filters##_fX(m, n, y + b * dense + at, dense, next, x, j->frame,             \
                                   total + b * row + k, row);                                      \
        break;
                            CONV_SUMS_CASE_fX(1, case 1) CONV_SUMS_CASE_fX(2, case 2)
                            CONV_SUMS_CASE_fX(3, case 3) CONV_SUMS_CASE_fX(4, case 4)
                            CONV_SUMS_CASE_fX(5, case 5) CONV_SUMS_CASE_fX(6, case 6)
                            CONV_SUMS_CASE_fX(7, case 7) CONV_SUMS_CASE_fX(8, default)
                        }
                    }
        }
        real *out = r->y + g * j->group_step + c * j->channel_step;
        for (int64_t o = 0; o < j->filters; o++)
            for (int64_t k = 0; k < j->taps; k++) {
                double sum = 0;
                for (int64_t l = 0; l < CONV_LANES_fX; l++)
                    sum += total[o * row + k][l];
                out[o * j->filter_step + t.weight[k]] = (real)sum;
            }
    }
    free(f);
    free(total);
}

/* Between rows zeros meet pixels, which is nothing only where these are finite. */
static int conv_finite_fX(const real *x, int64_t n)
{
    int bad = 0;
#pragma omp simd reduction(| : bad)
    for (int64_t i = 0; i < n; i++)
        bad |= !(x[i] - x[i] == 0);
    return !bad;
}

AE_FUNCTION filter_fX(ae_array g, ae_array x, ae_array dw, ae_array job)
{
    struct conv_job *j = AE_DATA(struct conv_job, job);
    struct conv_run_fX r = {j, AE_DATA(const real, x), AE_DATA(const real, g), AE_DATA(real, dw), NULL, 1};
    int64_t rows = j->images * j->groups * j->filters, channels = j->groups * j->channels;
    r.packed = conv_memory(rows * j->dense, sizeof(real));
    if (!r.packed || !conv_finite_fX(r.x, j->images * channels * j->source)) {
        j->done = 0;
    } else {
        ae_parallel(conv_spread_fX, &r, rows, ae_grain(j->dense));
        ae_parallel(conv_filter_body_fX, &r, channels,
                    ae_grain(j->images * j->filters * j->taps * j->dense / 16));
    }
    free(r.packed);
    ae_quiet();
}

/* Convolutions without columns.

   An image lies in a frame: padded by zeros and, for strides, cut into their phases, so that
   neighbouring windows are neighbours. What tap t meets in the window at p is then at p + offset(t):

       y[o, p] = sum over c, t of  w[o, c, t] frame[c, p + offset(t)].

   Pixels stand in lanes, and a tile of filters and vectors of pixels in registers; an element is one
   chain of fused multiplications and additions over c and t, wherever its tile begins. The adjoint
   in x is the same sum for the pixels of each phase; that in w adds up over lanes instead. Tables of
   offsets come from Python (ops/kernels/conv_direct.py), where the numbers below are named. */

#include "conv_tiles.h"

struct conv_job {
    int64_t done; /* 0: what is not finite, or too little memory, left the job to NumPy */
    int64_t images, groups, filters, channels; /* the latter two of a group */
    int64_t group_step, filter_step, channel_step, source, result, taps, frame, rows, pitch, stride;
    int64_t vectors, direct, lines, width, step, dense, by_filters, plain; /* as named by `job` */
    int64_t tables[];
};

struct conv_tables {
    const int64_t *offset, *weight; /* of taps: in the frame, and in a channel of a filter */
    const int64_t *rows;            /* of the frame: source or -1, first, from, to */
    const int64_t *start, *place;   /* of vectors: in the frame, and in the result */
    const int64_t *lines;           /* of windows that are dense: from, to */
};

enum { CONV_ROW = 4, CONV_CHUNK = 48 };

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

/* The frames of some channels that follow each other; what is `plain` is read where it lies. */
static const real *conv_frames_fX(const struct conv_job *j, const int64_t *rows, const real *x,
                                  int64_t channels, real *f)
{
    if (j->plain)
        return x;
    for (int64_t c = 0; c < channels; c++)
        conv_frame_fX(j, rows, x + c * j->source, f + c * j->frame);
    return f;
}

/* --- images: a tile of filters by vectors of pixels */

#define CONV_TILE_fX(tall)                                                                         \
    static void conv_tile_##tall##_fX(int64_t channels, int64_t taps, int64_t frame,               \
                                      const int64_t *offset, const real *x, const int64_t *start,  \
                                      const real *w, real *y, int64_t pitch, const int64_t *place) \
    {                                                                                              \
        conv_lane_fX s[tall][CONV_ACROSS];                                                         \
        const real *p[CONV_WIDE];                                                                  \
        for (int v = 0; v < CONV_WIDE; v++)                                                        \
            p[v] = x + start[v];                                                                   \
        for (int o = 0; o < tall; o++)                                                             \
            for (int v = 0; v < CONV_ACROSS; v++)                                                  \
                s[o][v] = (conv_lane_fX){0};                                                       \
        for (int64_t c = 0; c < channels; c++)                                                     \
            for (int64_t t = 0; t < taps; t++, w += tall) {                                        \
                int64_t at = c * frame + offset[t];                                                \
                conv_lane_fX q[CONV_ACROSS];                                                       \
                for (int v = 0; v < CONV_ACROSS; v++)                                              \
                    q[v] = *(const conv_lane_fX *)(p[v / CONV_HALVES] + at +                       \
                                                   v % CONV_HALVES * CONV_LANES_fX);               \
                for (int o = 0; o < tall; o++)                                                     \
                    for (int v = 0; v < CONV_ACROSS; v++)                                          \
                        s[o][v] += q[v] * w[o];                                                    \
            }                                                                                      \
        for (int o = 0; o < tall; o++)                                                             \
            for (int v = 0; v < CONV_ACROSS; v++)                                                  \
                *(conv_lane_fX *)(y + o * pitch + place[v / CONV_HALVES] +                         \
                                  v % CONV_HALVES * CONV_LANES_fX) = s[o][v];                      \
    }

CONV_TILE_fX(1) CONV_TILE_fX(2) CONV_TILE_fX(3) CONV_TILE_fX(4) CONV_TILE_fX(5) CONV_TILE_fX(6)
#if defined(__AVX512F__)
CONV_TILE_fX(7) CONV_TILE_fX(8)
#endif

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
        const real *seen = conv_frames_fX(j, t.rows, x, j->channels, f);
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
        conv_tile_##n##_fX(j->channels, j->taps, j->frame, t.offset, seen, t.start + v, w, out,    \
                           pitch, t.place + v);                                                    \
        break;
                        CONV_CASE_fX(1) CONV_CASE_fX(2) CONV_CASE_fX(3) CONV_CASE_fX(4)
                        CONV_CASE_fX(5) CONV_CASE_fX(6)
#if defined(__AVX512F__)
                        CONV_CASE_fX(7) CONV_CASE_fX(8)
#endif
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

/* --- filters: a tile of filters by taps, whose lanes are added up at the end */

/* Of so many images, n windows each. */
#define CONV_SUMS_fX(tall)                                                                         \
    static void conv_sums_##tall##_fX(int64_t images, int64_t n, const real *g, int64_t pitch,     \
                                      int64_t next_g, const real *const *x, int64_t next_x,        \
                                      conv_lane_fX *total, int64_t row)                            \
    {                                                                                              \
        conv_lane_fX s[tall][CONV_TAPS];                                                           \
        const real *p[CONV_TAPS];                                                                  \
        for (int v = 0; v < CONV_TAPS; v++)                                                        \
            p[v] = x[v];                                                                           \
        for (int o = 0; o < tall; o++)                                                             \
            for (int v = 0; v < CONV_TAPS; v++)                                                    \
                s[o][v] = (conv_lane_fX){0};                                                       \
        for (int64_t m = 0; m < images; m++)                                                       \
            for (int64_t i = 0; i < n; i += CONV_LANES_fX) {                                       \
                conv_lane_fX q[CONV_TAPS];                                                         \
                for (int v = 0; v < CONV_TAPS; v++)                                                \
                    q[v] = *(const conv_lane_fX *)(p[v] + m * next_x + i);                         \
                for (int o = 0; o < tall; o++) {                                                   \
                    conv_lane_fX y = *(const conv_lane_fX *)(g + o * pitch + m * next_g + i);      \
                    for (int v = 0; v < CONV_TAPS; v++)                                            \
                        s[o][v] += q[v] * y;                                                       \
                }                                                                                  \
            }                                                                                      \
        for (int o = 0; o < tall; o++)                                                             \
            for (int v = 0; v < CONV_TAPS; v++)                                                    \
                total[o * row + v] += s[o][v];                                                     \
    }

CONV_SUMS_fX(1) CONV_SUMS_fX(2) CONV_SUMS_fX(3) CONV_SUMS_fX(4)
CONV_SUMS_fX(5) CONV_SUMS_fX(6)
#if defined(__AVX512F__)
CONV_SUMS_fX(7) CONV_SUMS_fX(8)
#endif

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
    int64_t row = (j->taps + CONV_TAPS - 1) / CONV_TAPS * CONV_TAPS;
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
                    for (int64_t k = 0; k < j->taps; k += CONV_TAPS) {
                        int64_t n = dense - at < CONV_WINDOWS ? dense - at : CONV_WINDOWS;
                        const real *x[CONV_TAPS];
                        for (int v = 0; v < CONV_TAPS; v++)
                            x[v] = f + at + t.offset[k + v < j->taps ? k + v : j->taps - 1];
                        switch (j->filters - b) {
#define CONV_SUMS_CASE_fX(n_filters, label)                                                        \
    label:                                                                                         \
        conv_sums_##n_filters##_fX(m, n, y + b * dense + at, dense, next, x, j->frame,             \
                                   total + b * row + k, row);                                      \
        break;
                            CONV_SUMS_CASE_fX(1, case 1) CONV_SUMS_CASE_fX(2, case 2)
                            CONV_SUMS_CASE_fX(3, case 3) CONV_SUMS_CASE_fX(4, case 4)
#if defined(__AVX512F__)
                            CONV_SUMS_CASE_fX(5, case 5) CONV_SUMS_CASE_fX(6, case 6)
                            CONV_SUMS_CASE_fX(7, case 7) CONV_SUMS_CASE_fX(8, default)
#else
                            CONV_SUMS_CASE_fX(5, case 5) CONV_SUMS_CASE_fX(6, default)
#endif
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

/* --- filters: lanes of filters, a row for each channel and tap */

/* Elements of the sums of a part. */
enum { CONV_SUMMED = 1 << 17 };

struct conv_sums_fX {
    struct conv_job *job;
    const real *g, *x;
    real *dw, *sums;
    const int64_t *at; /* of windows, in the frames of `together` images */
    int64_t windows, wide, together, parts, blocks;
    int64_t apart; /* how far the frames of one image are from those of the next */
};

/* Cotangents of windows from `first` on, of some images: for each CONV_FILTERS vectors of filters
   window after window. */
static void conv_panel_fX(const struct conv_sums_fX *r, const real *g, int64_t images,
                          int64_t first, int64_t n, real *panel)
{
    const struct conv_job *j = r->job;
    int64_t step = CONV_FILTERS * CONV_LANES_fX;
    for (int64_t o = 0; o < r->wide; o += step) {
        int64_t across = r->wide - o < step ? r->wide - o : step;
        for (int64_t l = o; l < o + across; l += CONV_LANES_fX) {
            int64_t rows = j->filters - l < CONV_LANES_fX ? j->filters - l : CONV_LANES_fX;
            for (int64_t m = 0; m < images; m++)
                conv_turn_fX(g + (m * j->groups * j->filters + l) * j->result + first, j->result,
                             rows, n, panel + m * n * across + l - o, across);
        }
        panel += across * images * n;
    }
}

/* The sums of some channels over some images: blocks by groups by parts of the channels. */
static void conv_sums_body_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct conv_sums_fX *r = context;
    struct conv_job *j = r->job;
    struct conv_tables t = conv_tables(j);
    int64_t most = (j->channels + r->parts - 1) / r->parts;
    int64_t deep = r->together * r->windows < CONV_DEEP ? r->together * r->windows : CONV_DEEP;
    size_t frames = (size_t)(r->together * most * j->frame) * sizeof(real) + 512;
    real *f = conv_memory((int64_t)frames, 1);
    real *panel = conv_memory(deep * r->wide, sizeof(real));
    const real **x = conv_memory(most * j->taps + CONV_SPARE, sizeof *x);
    (void)worker;
    if (!f || !panel || !x) {
        j->done = 0;
        hi = lo;
    } else {
        memset(f, 0, frames);
    }
    for (int64_t i = lo; i < hi; i++) {
        int64_t part = i % r->parts, g = i / r->parts % j->groups, block = i / r->parts / j->groups;
        int64_t c0 = part * j->channels / r->parts, c1 = (part + 1) * j->channels / r->parts;
        int64_t first = block * j->images / r->blocks, last = (block + 1) * j->images / r->blocks;
        int64_t rows = (c1 - c0) * j->taps;
        real *total = r->sums + ((block * j->groups + g) * j->channels + c0) * j->taps * r->wide;
        memset(total, 0, (size_t)(rows * r->wide) * sizeof(real));
        for (int64_t image = first; image < last; image += r->together) {
            int64_t images = last - image < r->together ? last - image : r->together;
            const real *seen = f;
            for (int64_t m = images - 1; m >= 0; m--) {
                int64_t channel = ((image + m) * j->groups + g) * j->channels + c0;
                seen = conv_frames_fX(j, t.rows, r->x + channel * j->source, c1 - c0,
                                      f + m * r->apart);
            }
            for (int64_t k = 0; k < rows + CONV_SPARE; k++) {
                int64_t row = k < rows ? k : rows - 1;
                x[k] = seen + row / j->taps * j->frame + t.offset[row % j->taps];
            }
            const real *y = r->g + (image * j->groups + g) * j->filters * j->result;
            for (int64_t p = 0; p < r->windows; p += CONV_DEEP) {
                int64_t n = r->windows - p < CONV_DEEP ? r->windows - p : CONV_DEEP;
                conv_panel_fX(r, y, images, p, n, panel);
                n *= images;
                const real *from = panel;
                for (int64_t o = 0; o < r->wide;) {
                    int64_t across = (r->wide - o) / CONV_LANES_fX;
                    across = across < CONV_FILTERS ? across : CONV_FILTERS;
                    conv_rows_fX(across, n, from, x, r->at + p, total + o, r->wide, rows);
                    o += across * CONV_LANES_fX;
                    from += across * CONV_LANES_fX * n;
                }
            }
        }
    }
    free(f);
    free(panel);
    free(x);
}

/* Rows of sums, a vector of them at a time: those of blocks in their order, to where they belong. */
static void conv_gather_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct conv_sums_fX *r = context;
    const struct conv_job *j = r->job;
    int64_t depth = j->channels * j->taps, each = j->groups * depth * r->wide;
    int64_t steps = (depth + CONV_LANES_fX - 1) / CONV_LANES_fX;
    (void)worker;
    for (int64_t i = lo; i < hi; i++) {
        int64_t g = i / steps, row = i % steps * CONV_LANES_fX;
        int64_t rows = depth - row < CONV_LANES_fX ? depth - row : CONV_LANES_fX;
        real *sum = r->sums + (g * depth + row) * r->wide;
        for (int64_t b = 1; b < r->blocks; b++)
            for (int64_t k = 0; k < rows * r->wide; k++)
                sum[k] += sum[b * each + k];
        for (int64_t o = 0; o < j->filters; o += CONV_LANES_fX) {
            real turned[CONV_LANES_fX * CONV_LANES_fX];
            int64_t n = j->filters - o < CONV_LANES_fX ? j->filters - o : CONV_LANES_fX;
            conv_turn_fX(sum + o, r->wide, rows, n, turned, CONV_LANES_fX);
            for (int64_t k = 0; k < n; k++)
                memcpy(r->dw + g * j->group_step + (o + k) * j->filter_step + row,
                       turned + k * CONV_LANES_fX, (size_t)rows * sizeof(real));
        }
    }
}

static void conv_by_filters_fX(struct conv_job *j, const real *g, const real *x, real *dw)
{
    struct conv_tables t = conv_tables(j);
    struct conv_sums_fX r = {j, g, x, dw, NULL, NULL, j->result, conv_lanes_fX(j->filters), 1, 1, 1, 0};
    int64_t of_channel = j->taps * r.wide, channels = j->groups * j->channels;
    if (r.windows < CONV_DEEP)
        r.together = CONV_DEEP / r.windows < j->images ? CONV_DEEP / r.windows : j->images;
    r.parts = (j->channels * of_channel + CONV_SUMMED - 1) / CONV_SUMMED;
    r.parts = r.parts < j->channels ? r.parts : j->channels;
    int64_t more = 8 / (r.parts * j->groups), steps = (j->images + r.together - 1) / r.together;
    r.blocks = more < 1 ? 1 : more < steps ? more : steps;
    if (r.blocks * r.parts * j->groups < 8 && j->channels >= 64 * r.parts)
        r.parts *= 2;
    int64_t most = (j->channels + r.parts - 1) / r.parts;
    r.apart = j->plain ? channels * j->source : most * j->frame;
    int64_t *at = conv_memory(r.together * r.windows, sizeof *at);
    r.sums = conv_memory(r.blocks * channels * of_channel, sizeof(real));
    r.at = at;
    if (!at || !r.sums) {
        j->done = 0;
    } else {
        for (int64_t m = 0, i = 0; m < r.together; m++)
            for (int64_t l = 0; l < j->lines; l++)
                for (int64_t k = 0; k < j->width; k++)
                    at[i++] = m * r.apart + t.lines[2 * l] + k;
        ae_parallel(conv_sums_body_fX, &r, r.blocks * j->groups * r.parts, 1);
        int64_t depth = j->channels * j->taps;
        ae_parallel(conv_gather_fX, &r, j->groups * ((depth + CONV_LANES_fX - 1) / CONV_LANES_fX),
                    ae_grain(CONV_LANES_fX * r.wide * r.blocks));
    }
    free(at);
    free(r.sums);
}

AE_FUNCTION filter_fX(ae_array g, ae_array x, ae_array dw, ae_array job)
{
    struct conv_job *j = AE_DATA(struct conv_job, job);
    struct conv_run_fX r = {j, AE_DATA(const real, x), AE_DATA(const real, g), AE_DATA(real, dw), NULL, 1};
    int64_t rows = j->images * j->groups * j->filters, channels = j->groups * j->channels;
    if (j->by_filters) {
        conv_by_filters_fX(j, r.w, r.x, r.y);
        ae_quiet();
        return;
    }
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

/* --- images: lanes of filters, a row for each window */

enum { CONV_WINDOWS_AT_ONCE = 512 };

struct conv_images_fX {
    struct conv_job *job;
    const real *x, *w; /* w: for each CONV_FILTERS vectors of filters, channel after channel */
    real *y;
    const int64_t *at; /* of channels and taps, in the frame */
    int64_t wide, together, parts, lines;
};

/* Units: some images by groups by parts of the filters. */
static void conv_images_body_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct conv_images_fX *r = context;
    struct conv_job *j = r->job;
    struct conv_tables t = conv_tables(j);
    int64_t depth = j->channels * j->taps, step = CONV_FILTERS * CONV_LANES_fX;
    int64_t tiles = (r->wide + step - 1) / step, most = r->together * r->lines * j->width;
    int64_t pitch = conv_lanes_fX(most);
    size_t frames = (size_t)(r->together * j->channels * j->frame) * sizeof(real) + 512;
    real *f = conv_memory((int64_t)frames, 1);
    real *sums = conv_memory(pitch * step, sizeof(real));
    real *turned = conv_memory(pitch * step, sizeof(real));
    const real **x = conv_memory(most + CONV_SPARE, sizeof *x);
    (void)worker;
    if (!f || !sums || !turned || !x) {
        j->done = 0;
        hi = lo;
    } else {
        memset(f, 0, frames);
    }
    for (int64_t i = lo; i < hi; i++) {
        int64_t part = i % r->parts, g = i / r->parts % j->groups;
        int64_t image = i / r->parts / j->groups * r->together;
        int64_t images = j->images - image < r->together ? j->images - image : r->together;
        int64_t apart = j->channels * j->frame * (j->plain ? j->groups : 1);
        const real *seen = f;
        for (int64_t m = images - 1; m >= 0; m--)
            seen = conv_frames_fX(
                j, t.rows, r->x + ((image + m) * j->groups + g) * j->channels * j->source,
                j->channels, f + m * apart);
        for (int64_t l0 = 0; l0 < j->lines; l0 += r->lines) {
            int64_t lines = j->lines - l0 < r->lines ? j->lines - l0 : r->lines;
            int64_t n = images * lines * j->width;
            for (int64_t m = 0, k = 0; m < images; m++)
                for (int64_t l = l0; l < l0 + lines; l++)
                    for (int64_t q = 0; q < j->width; q++)
                        x[k++] = seen + m * apart + t.lines[2 * l] + q;
            for (int64_t k = n; k < n + CONV_SPARE; k++)
                x[k] = x[n - 1];
            for (int64_t tile = part * tiles / r->parts; tile < (part + 1) * tiles / r->parts;
                 tile++) {
                int64_t o = tile * step, width = r->wide - o < step ? r->wide - o : step;
                int64_t across = width / CONV_LANES_fX;
                const real *w = r->w + (g * r->wide + o) * depth;
                memset(sums, 0, (size_t)(n * width) * sizeof(real));
                for (int64_t k = 0; k < depth; k += CONV_DEEP)
                    conv_rows_fX(across, depth - k < CONV_DEEP ? depth - k : CONV_DEEP,
                                 w + k * width, x, r->at + k, sums, width, n);
                for (int64_t k = 0; k < n; k += CONV_LANES_fX)
                    conv_turn_fX(sums + k * width, width,
                                 n - k < CONV_LANES_fX ? n - k : CONV_LANES_fX, width, turned + k,
                                 pitch);
                width = j->filters - o < width ? j->filters - o : width;
                for (int64_t q = 0; q < width; q++)
                    for (int64_t m = 0; m < images; m++) {
                        const real *from = turned + q * pitch + m * lines * j->width;
                        real *y = r->y + (((image + m) * j->groups + g) * j->filters + o + q) *
                                             j->result;
                        for (int64_t l = l0; l < l0 + lines; l++, from += j->width)
                            for (int64_t k = 0; k < j->width; k++)
                                y[t.lines[2 * l + 1] + k * j->step] = from[k];
                    }
            }
        }
    }
    free(f);
    free(sums);
    free(turned);
    free(x);
}

struct conv_packing_fX {
    const struct conv_job *job;
    const real *w;
    real *packed;
    int64_t wide;
};

/* Vectors of filters, of all groups: CONV_FILTERS of them beside each other. */
static void conv_packed_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct conv_packing_fX *r = context;
    const struct conv_job *j = r->job;
    struct conv_tables t = conv_tables(j);
    int64_t vectors = r->wide / CONV_LANES_fX, depth = j->channels * j->taps;
    int in_order = j->channel_step == j->taps;
    for (int64_t k = 0; k < j->taps; k++)
        in_order &= t.weight[k] == k;
    (void)worker;
    for (int64_t i = lo; i < hi; i++) {
        int64_t g = i / vectors, v = i % vectors, first = v / CONV_FILTERS * CONV_FILTERS;
        int64_t o = v * CONV_LANES_fX, step = vectors - first;
        step = (step < CONV_FILTERS ? step : CONV_FILTERS) * CONV_LANES_fX;
        int64_t there = j->filters - o < CONV_LANES_fX ? j->filters - o : CONV_LANES_fX;
        const real *w = r->w + g * j->group_step + o * j->filter_step;
        real *to = r->packed + (g * r->wide + first * CONV_LANES_fX) * depth +
                   (v - first) * CONV_LANES_fX;
        if (in_order) {
            conv_turn_fX(w, j->filter_step, there, depth, to, step);
            continue;
        }
        for (int64_t c = 0; c < j->channels; c++)
            for (int64_t k = 0; k < j->taps; k++, to += step)
                for (int64_t q = 0; q < CONV_LANES_fX; q++)
                    to[q] = q < there ? w[q * j->filter_step + c * j->channel_step + t.weight[k]]
                                      : 0;
    }
}

static void conv_images_by_filters_fX(struct conv_job *j, const real *x, const real *w, real *y)
{
    struct conv_tables t = conv_tables(j);
    struct conv_images_fX r = {j, x, NULL, y, NULL, conv_lanes_fX(j->filters), 1, 1, j->lines};
    int64_t depth = j->channels * j->taps, step = CONV_FILTERS * CONV_LANES_fX;
    int64_t windows = j->lines * j->width, tiles = (r.wide + step - 1) / step;
    if (windows < CONV_DEEP)
        r.together = CONV_DEEP / windows < j->images ? CONV_DEEP / windows : j->images;
    if (windows > CONV_WINDOWS_AT_ONCE)
        r.lines = j->width < CONV_WINDOWS_AT_ONCE ? CONV_WINDOWS_AT_ONCE / j->width : 1;
    int64_t units = (j->images + r.together - 1) / r.together * j->groups;
    if (units < 8)
        r.parts = tiles < 8 / units ? tiles : 8 / units;
    int64_t *at = conv_memory(depth, sizeof *at);
    real *packed = conv_memory(j->groups * r.wide * depth, sizeof(real));
    r.at = at;
    r.w = packed;
    if (!at || !packed) {
        j->done = 0;
    } else {
        for (int64_t k = 0; k < depth; k++)
            at[k] = k / j->taps * j->frame + t.offset[k % j->taps];
        struct conv_packing_fX p = {j, w, packed, r.wide};
        ae_parallel(conv_packed_fX, &p, j->groups * r.wide / CONV_LANES_fX,
                    ae_grain(depth * CONV_LANES_fX));
        ae_parallel(conv_images_body_fX, &r, units * r.parts, 1);
    }
    free(at);
    free(packed);
}

AE_FUNCTION correlate_fX(ae_array x, ae_array w, ae_array y, ae_array job)
{
    struct conv_job *j = AE_DATA(struct conv_job, job);
    struct conv_run_fX r = {j, AE_DATA(const real, x), AE_DATA(const real, w), AE_DATA(real, y), NULL, 1};
    int64_t blocks = (j->filters + CONV_TALL - 1) / CONV_TALL, units = j->images * j->groups;
    int64_t depth = j->channels * j->taps;
    if (j->by_filters) {
        conv_images_by_filters_fX(j, r.x, r.w, r.y);
        ae_quiet();
        return;
    }
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

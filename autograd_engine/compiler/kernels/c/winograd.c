/* Correlations of 3 x 3 taps by the minimal algorithm for 2 x 2 results.

   With B, G and A of the Toom-Cook interpolation at 0, 1, -1 and infinity, a tile of 2 x 2 results is

       y = A' [ sum over c of (G w[c] G') * (B' x[c] B) ] A,      * element by element,

   where the tile x[c] has 4 x 4 elements: 16 products instead of 36. For each of the 16 the sum over
   channels is a product of matrices, with tiles in lanes. The map is linear in w, and its adjoint is

       dw[c] = G' [ sum over tiles of (A dy A') * (B' x[c] B) ] G.

   These sums mix elements that a single result does not depend on, so that one infinite pixel would
   turn finite neighbours into NaN: what is not finite, or so large that sums could overflow, is left
   to others (`done`). A strip is a row of tiles of one image; a block of strips lies tile after tile,
   each strip as whole vectors of which the next overwrites the rest. */

#include "conv_tiles.h"

/* Tiles of a block, about; and elements of the sums of all parts, at most. */
enum { WINO_TILES = 96, WINO_SUMS = 1 << 20 };
#define WINO_LIMIT_fX (sizeof(real) == 4 ? (real)0x1p50 : (real)0x1p400)

struct wino_job {
    int64_t done, images, filters, channels, height, width, rows, columns, top, left;
    int64_t filter_step, channel_step, flipped; /* of w, whose taps may come in reverse */
};

struct wino_fX {
    struct wino_job *job;
    const real *x, *w;
    real *y, *u, *sums;
    int64_t down, across, padded, strips, block, pitch, high; /* high: filters, as whole tiles */
    int64_t wide, parts, blocks;                              /* of the adjoint */
    int64_t of_u, of_sums;                                    /* one of the 16 matrices */
    int64_t row;                                              /* of a frame */
};

/* An odd number of cache lines: rows and planes so far apart do not share the sets of a cache. */
static int64_t wino_spread_fX(int64_t size)
{
    int64_t line = 64 / sizeof(real);
    return ((size + line - 1) / line | 1) * line;
}

static struct wino_fX wino_of_fX(struct wino_job *j)
{
    struct wino_fX r = {.job = j, .parts = 1, .blocks = 1};
    int64_t vectors = CONV_ACROSS * CONV_LANES_fX;
    r.down = (j->rows + 1) / 2;
    r.across = (j->columns + 1) / 2;
    r.padded = conv_lanes_fX(r.across);
    r.strips = j->images * r.down;
    int64_t most = r.strips * r.across < 8 * WINO_TILES ? WINO_TILES / 2 : WINO_TILES, tiles = 0;
    for (int64_t n = 1; n == 1 || (n <= r.strips && 3 * n * r.across <= 5 * most); n++) {
        int64_t whole = (n * r.across + vectors - 1) / vectors * vectors;
        if (n == 1 || whole * r.block <= tiles * n) { /* the fewest lanes that stay empty */
            r.block = n;
            tiles = whole;
        }
    }
    int64_t written = (r.block - 1) * r.across + r.padded;
    r.pitch = wino_spread_fX(tiles > written ? tiles : written);
    r.high = (j->filters + CONV_TALL - 1) / CONV_TALL * CONV_TALL;
    r.of_u = wino_spread_fX(r.high * j->channels);
    r.wide = conv_lanes_fX(j->filters);
    r.of_sums = wino_spread_fX(r.wide * j->channels);
    r.row = 2 * r.padded + 2 * CONV_LANES_fX;
    return r;
}

/* --- transforms */

/* U = G w G' as [16][block of filters][channel][filter]; a block of filters at a time. */
static void wino_weights_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct wino_fX *r = context;
    const struct wino_job *j = r->job;
    (void)worker;
    for (int64_t b = lo; b < hi; b++)
        for (int64_t c = 0; c < j->channels; c++) {
            real g[9][CONV_TALL], s[4][3][CONV_TALL];
            real *u = r->u + b * CONV_TALL * j->channels + c * CONV_TALL;
            for (int64_t o = 0; o < CONV_TALL; o++) {
                const real *w = r->w + (b * CONV_TALL + o) * j->filter_step + c * j->channel_step;
                int there = b * CONV_TALL + o < j->filters;
                for (int k = 0; k < 9; k++)
                    g[k][o] = there ? w[j->flipped ? 8 - k : k] : 0;
            }
            for (int k = 0; k < 3; k++)
                for (int o = 0; o < CONV_TALL; o++) {
                    real half = (real)0.5 * (g[k][o] + g[6 + k][o]), middle = (real)0.5 * g[3 + k][o];
                    s[0][k][o] = g[k][o];
                    s[1][k][o] = half + middle;
                    s[2][k][o] = half - middle;
                    s[3][k][o] = g[6 + k][o];
                }
            int64_t next = r->of_u;
            for (int i = 0; i < 4; i++, u += 4 * next)
                for (int o = 0; o < CONV_TALL; o++) {
                    real half = (real)0.5 * (s[i][0][o] + s[i][2][o]), middle = (real)0.5 * s[i][1][o];
                    u[o] = s[i][0][o];
                    u[next + o] = half + middle;
                    u[2 * next + o] = half - middle;
                    u[3 * next + o] = s[i][2][o];
                }
        }
}

/* Elements 0, 2, 4, .. or 1, 3, 5, .. of two vectors. */
AE_INLINE conv_lane_fX wino_half_fX(conv_lane_fX a, conv_lane_fX b, int odd)
{
#if defined(__clang__)
    conv_lane_fX out;
    for (int64_t k = 0; k < CONV_LANES_fX; k++)
        out[k] = 2 * k < CONV_LANES_fX ? a[2 * k + odd] : b[2 * k + odd - CONV_LANES_fX];
    return out;
#else
    __typeof__(a < a) places;
    for (int64_t k = 0; k < CONV_LANES_fX; k++)
        places[k] = 2 * k + odd;
    return __builtin_shuffle(a, b, places);
#endif
}

/* a0, b0, a1, b1, .. */
AE_INLINE void wino_zip_fX(conv_lane_fX a, conv_lane_fX b, real *out)
{
#if defined(__clang__)
    for (int64_t k = 0; k < CONV_LANES_fX; k++) {
        out[2 * k] = a[k];
        out[2 * k + 1] = b[k];
    }
#else
    __typeof__(a < a) low, high;
    for (int64_t k = 0; k < CONV_LANES_fX; k++) {
        low[k] = k / 2 + k % 2 * CONV_LANES_fX;
        high[k] = low[k] + CONV_LANES_fX / 2;
    }
    *(conv_lane_fX *)out = __builtin_shuffle(a, b, low);
    *(conv_lane_fX *)(out + CONV_LANES_fX) = __builtin_shuffle(a, b, high);
#endif
}

/* B' x B of some strips of a channel, from one on: to v + e * next for the 16 elements e. `frame` is
   memory for their rows, and zero where pixels never are. Whether all were moderate. */
static int wino_source_fX(const struct wino_fX *r, const real *x, int64_t strip, int64_t strips,
                          real *frame, real *v, int64_t next)
{
    const struct wino_job *j = r->job;
    int64_t end = 2 * r->across + 2, lo = j->left > 0 ? j->left : 0, hi = j->width + j->left;
    int wild = 0;
    hi = hi < end ? hi : end;
    for (int64_t i = 0; i < 2 * strips + 2; i++) {
        int64_t row = 2 * strip + i - j->top;
        int there = row >= 0 && row < j->height;
        const real *from = x + row * j->width - j->left;
        real *to = frame + i * r->row;
#pragma omp simd reduction(| : wild)
        for (int64_t k = lo; k < hi; k++) {
            real value = there ? from[k] : 0;
            wild |= !((value < 0 ? -value : value) <= WINO_LIMIT_fX);
            to[k] = value;
        }
    }
    for (int64_t n = 0; n < strips; n++, frame += 2 * r->row, v += r->across)
        for (int64_t k = 0; k < r->across; k += CONV_LANES_fX) {
            conv_lane_fX s[4][4]; /* rows, and elements 2k, 2k + 1, .. of the first four tiles' */
            for (int l = 0; l < 4; l++) {
                conv_lane_fX d[4];
                int64_t at = 2 * k + (l & 1) * CONV_LANES_fX + (l & 2);
                for (int i = 0; i < 4; i++)
                    d[i] = *(const conv_lane_fX *)(frame + i * r->row + at);
                s[0][l] = d[0] - d[2];
                s[1][l] = d[1] + d[2];
                s[2][l] = d[2] - d[1];
                s[3][l] = d[1] - d[3];
            }
            for (int i = 0; i < 4; i++) {
                conv_lane_fX d0 = wino_half_fX(s[i][0], s[i][1], 0);
                conv_lane_fX d1 = wino_half_fX(s[i][0], s[i][1], 1);
                conv_lane_fX d2 = wino_half_fX(s[i][2], s[i][3], 0);
                conv_lane_fX d3 = wino_half_fX(s[i][2], s[i][3], 1);
                real *to = v + 4 * i * next + k;
                *(conv_lane_fX *)to = d0 - d2;
                *(conv_lane_fX *)(to + next) = d1 + d2;
                *(conv_lane_fX *)(to + 2 * next) = d2 - d1;
                *(conv_lane_fX *)(to + 3 * next) = d1 - d3;
            }
        }
    return !wild;
}

/* The strips of a block, of all channels from c0 to c1. */
static int wino_sources_fX(const struct wino_fX *r, int64_t first, int64_t n, int64_t c0, int64_t c1,
                           real *frame, real *v, int64_t next)
{
    const struct wino_job *j = r->job;
    int moderate = 1;
    for (int64_t k = 0, run; k < n; k += run) {
        int64_t image = (first + k) / r->down, strip = (first + k) % r->down;
        run = r->down - strip < n - k ? r->down - strip : n - k;
        for (int64_t c = c0; c < c1; c++)
            moderate &= wino_source_fX(r, r->x + (image * j->channels + c) * j->height * j->width,
                                       strip, run, frame,
                                       v + (c - c0) * r->pitch + k * r->across, next);
    }
    return moderate;
}

/* A' m A of one strip of a filter, as two rows of results. */
static void wino_result_fX(const struct wino_fX *r, const real *m, int64_t next, int64_t strip,
                           real *line, real *y)
{
    const struct wino_job *j = r->job;
    for (int64_t k = 0; k < r->across; k += CONV_LANES_fX) {
        conv_lane_fX s[2][4];
        for (int i = 0; i < 4; i++) {
            const real *from = m + i * next + k;
            conv_lane_fX a = *(const conv_lane_fX *)from, b = *(const conv_lane_fX *)(from + 4 * next);
            conv_lane_fX c = *(const conv_lane_fX *)(from + 8 * next);
            conv_lane_fX d = *(const conv_lane_fX *)(from + 12 * next);
            s[0][i] = a + (b + c);
            s[1][i] = (b - c) - d;
        }
        for (int i = 0; i < 2; i++)
            wino_zip_fX(s[i][0] + (s[i][1] + s[i][2]), (s[i][1] - s[i][2]) - s[i][3],
                        line + i * r->row + 2 * k);
    }
    for (int64_t i = 0; i < 2 && 2 * strip + i < j->rows; i++) {
        real *to = y + (2 * strip + i) * j->columns;
        for (int64_t k = 0; k < j->columns; k++)
            to[k] = line[i * r->row + k];
    }
}

/* A dy A' of one strip, for a vector of filters: to g + e * next, tiles `step` apart. */
static void wino_cotangent_fX(const struct wino_fX *r, const real *dy, int64_t filters,
                              int64_t strip, real *line, real *g, int64_t next, int64_t step)
{
    const struct wino_job *j = r->job;
    int64_t pitch = 2 * r->across * CONV_LANES_fX;
    memset(line, 0, (size_t)(2 * pitch) * sizeof(real));
    for (int64_t i = 0; i < 2 && 2 * strip + i < j->rows; i++)
        conv_turn_fX(dy + (2 * strip + i) * j->columns, j->rows * j->columns, filters, j->columns,
                     line + i * pitch, CONV_LANES_fX);
    for (int64_t k = 0; k < r->across; k++) {
        const conv_lane_fX *p = (const conv_lane_fX *)line + 2 * k;
        const conv_lane_fX *q = (const conv_lane_fX *)(line + pitch) + 2 * k;
        conv_lane_fX a[4] = {p[0], p[0] + q[0], p[0] - q[0], -q[0]};
        conv_lane_fX b[4] = {p[1], p[1] + q[1], p[1] - q[1], -q[1]};
        for (int i = 0; i < 4; i++) {
            real *to = g + 4 * i * next + k * step;
            *(conv_lane_fX *)to = a[i];
            *(conv_lane_fX *)(to + next) = a[i] + b[i];
            *(conv_lane_fX *)(to + 2 * next) = a[i] - b[i];
            *(conv_lane_fX *)(to + 3 * next) = -b[i];
        }
    }
}

/* --- results */

/* A tile of filters by tiles: sums over channels. */
static void wino_product_fX(int64_t channels, const real *u, const real *v, int64_t pitch, real *m)
{
    conv_lane_fX s[CONV_TALL][CONV_ACROSS];
    for (int o = 0; o < CONV_TALL; o++)
        for (int k = 0; k < CONV_ACROSS; k++)
            s[o][k] = (conv_lane_fX){0};
    for (int64_t c = 0; c < channels; c++, u += CONV_TALL, v += pitch) {
        conv_lane_fX q[CONV_ACROSS];
        for (int k = 0; k < CONV_ACROSS; k++)
            q[k] = *(const conv_lane_fX *)(v + k * CONV_LANES_fX);
        for (int o = 0; o < CONV_TALL; o++)
            for (int k = 0; k < CONV_ACROSS; k++)
                s[o][k] += q[k] * u[o];
    }
    for (int o = 0; o < CONV_TALL; o++)
        for (int k = 0; k < CONV_ACROSS; k++)
            *(conv_lane_fX *)(m + o * pitch + k * CONV_LANES_fX) = s[o][k];
}

/* Blocks of strips. */
static void wino_body_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct wino_fX *r = context;
    struct wino_job *j = r->job;
    int64_t of_v = wino_spread_fX(j->channels * r->pitch), of_m = wino_spread_fX(r->high * r->pitch);
    int64_t of_frame = (2 * r->block + 2) * r->row;
    real *v = conv_memory(16 * (of_v + of_m) + of_frame + 2 * r->row, sizeof(real));
    real *m = v + 16 * of_v, *frame = m + 16 * of_m, *line = frame + of_frame;
    int moderate = v != NULL;
    (void)worker;
    if (v) { /* tiles that are not there, and padding */
        memset(v, 0, (size_t)(16 * of_v) * sizeof(real));
        memset(frame, 0, (size_t)of_frame * sizeof(real));
    }
    for (int64_t i = lo; i < hi && moderate; i++) {
        int64_t first = i * r->block;
        int64_t n = r->strips - first < r->block ? r->strips - first : r->block;
        moderate &= wino_sources_fX(r, first, n, 0, j->channels, frame, v, of_v);
        for (int64_t e = 0; e < 16; e++)
            for (int64_t t = 0; t < n * r->across; t += CONV_ACROSS * CONV_LANES_fX)
                for (int64_t o = 0; o < r->high; o += CONV_TALL)
                    wino_product_fX(j->channels, r->u + e * r->of_u + o * j->channels,
                                    v + e * of_v + t, r->pitch, m + e * of_m + o * r->pitch + t);
        for (int64_t o = 0; o < j->filters; o++)
            for (int64_t k = 0; k < n; k++) {
                int64_t image = (first + k) / r->down, strip = (first + k) % r->down;
                wino_result_fX(r, m + o * r->pitch + k * r->across, of_m, strip, line,
                               r->y + (image * j->filters + o) * j->rows * j->columns);
            }
    }
    if (!moderate)
        __atomic_store_n(&j->done, 0, __ATOMIC_RELAXED);
    free(v);
}

AE_FUNCTION images_fX(ae_array x, ae_array w, ae_array y, ae_array job)
{
    struct wino_job *j = AE_DATA(struct wino_job, job);
    struct wino_fX r = wino_of_fX(j);
    r.x = AE_DATA(const real, x);
    r.w = AE_DATA(const real, w);
    r.y = AE_DATA(real, y);
    r.u = conv_memory(16 * r.of_u, sizeof(real));
    int wild = !r.u;
#pragma omp simd reduction(| : wild)
    for (int64_t i = 0; i < 9 * j->filters * j->channels; i++)
        wild |= !((r.w[i] < 0 ? -r.w[i] : r.w[i]) <= WINO_LIMIT_fX);
    if (wild) {
        j->done = 0;
    } else {
        ae_parallel(wino_weights_fX, &r, r.high / CONV_TALL, ae_grain(16 * CONV_TALL * j->channels));
        ae_parallel(wino_body_fX, &r, (r.strips + r.block - 1) / r.block, 1);
    }
    free(r.u);
    ae_quiet();
}

/* --- filters */

/* Sums of some channels over some strips: blocks by parts of the channels. */
static void wino_sums_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct wino_fX *r = context;
    struct wino_job *j = r->job;
    int64_t most = (j->channels + r->parts - 1) / r->parts;
    int64_t of_v = wino_spread_fX(most * r->pitch);
    int64_t of_g = wino_spread_fX(r->block * r->across * r->wide);
    int64_t of_frame = (2 * r->block + 2) * r->row, of_line = 2 * r->row * CONV_LANES_fX;
    int64_t step = CONV_FILTERS * CONV_LANES_fX;
    real *v = conv_memory(16 * (of_v + of_g) + of_frame + of_line, sizeof(real));
    real *g = v + 16 * of_v, *frame = g + 16 * of_g, *line = frame + of_frame;
    const real **x = conv_memory(most + CONV_SPARE, sizeof *x);
    int64_t *at = conv_memory(r->block * r->across, sizeof *at);
    int moderate = v && x && at;
    (void)worker;
    for (int64_t k = 0; moderate && k < r->block * r->across; k++)
        at[k] = k;
    if (moderate)
        memset(frame, 0, (size_t)of_frame * sizeof(real));
    for (int64_t i = lo; i < hi && moderate; i++) {
        int64_t part = i % r->parts, block = i / r->parts;
        int64_t c0 = part * j->channels / r->parts, c1 = (part + 1) * j->channels / r->parts;
        int64_t steps = (r->strips + r->block - 1) / r->block;
        int64_t first = block * steps / r->blocks, last = (block + 1) * steps / r->blocks;
        real *total = r->sums + block * 16 * r->of_sums;
        for (int64_t e = 0; e < 16; e++)
            memset(total + e * r->of_sums + c0 * r->wide, 0,
                   (size_t)((c1 - c0) * r->wide) * sizeof(real));
        for (int64_t s = first * r->block; s < last * r->block && s < r->strips; s += r->block) {
            int64_t n = r->strips - s < r->block ? r->strips - s : r->block, tiles = n * r->across;
            moderate &= wino_sources_fX(r, s, n, c0, c1, frame, v, of_v);
            for (int64_t o = 0; o < r->wide; o += CONV_LANES_fX) {
                int64_t tile = o / step * step;
                int64_t across = r->wide - tile < step ? r->wide - tile : step;
                int64_t there = j->filters - o < CONV_LANES_fX ? j->filters - o : CONV_LANES_fX;
                for (int64_t k = 0; k < n; k++) {
                    int64_t image = (s + k) / r->down, strip = (s + k) % r->down;
                    wino_cotangent_fX(r, r->w + (image * j->filters + o) * j->rows * j->columns,
                                      there, strip, line,
                                      g + tile * tiles + k * r->across * across + o - tile, of_g,
                                      across);
                }
            }
            for (int64_t e = 0; e < 16; e++) {
                for (int64_t c = 0; c < c1 - c0 + CONV_SPARE; c++)
                    x[c] = v + e * of_v + (c < c1 - c0 ? c : c1 - c0 - 1) * r->pitch;
                for (int64_t o = 0; o < r->wide; o += step) {
                    int64_t across = r->wide - o < step ? r->wide - o : step;
                    conv_rows_fX(across / CONV_LANES_fX, tiles, g + e * of_g + o * tiles, x, at,
                                 total + e * r->of_sums + c0 * r->wide + o, r->wide, c1 - c0);
                }
            }
        }
    }
    if (!moderate)
        __atomic_store_n(&j->done, 0, __ATOMIC_RELAXED);
    free(v);
    free(x);
    free(at);
}

/* G' of the sums of all blocks, times G: to nine rows of filters. */
static void wino_nine_fX(const struct wino_fX *r, const real *sums, conv_lane_fX *out)
{
    conv_lane_fX m[4][4], s[3][4];
    for (int e = 0; e < 16; e++) {
        const real *from = sums + e * r->of_sums;
        m[e / 4][e % 4] = *(const conv_lane_fX *)from;
        for (int64_t b = 1; b < r->blocks; b++)
            m[e / 4][e % 4] += *(const conv_lane_fX *)(from + b * 16 * r->of_sums);
    }
    for (int k = 0; k < 4; k++) {
        conv_lane_fX half = (real)0.5 * (m[1][k] + m[2][k]);
        s[0][k] = m[0][k] + half;
        s[1][k] = (real)0.5 * (m[1][k] - m[2][k]);
        s[2][k] = half + m[3][k];
    }
    for (int i = 0; i < 3; i++) {
        conv_lane_fX half = (real)0.5 * (s[i][1] + s[i][2]);
        out[3 * i] = s[i][0] + half;
        out[3 * i + 1] = (real)0.5 * (s[i][1] - s[i][2]);
        out[3 * i + 2] = half + s[i][3];
    }
}

/* Filters from those sums, so many channels at a time. */
enum { WINO_CHANNELS = 16 };

static void wino_gather_fX(void *context, int64_t lo, int64_t hi, int worker)
{
    const struct wino_fX *r = context;
    const struct wino_job *j = r->job;
    (void)worker;
    for (int64_t i = lo; i < hi; i++) {
        int64_t c0 = i * WINO_CHANNELS, rows = 9 * WINO_CHANNELS;
        rows = 9 * (j->channels - c0) < rows ? 9 * (j->channels - c0) : rows;
        for (int64_t o = 0; o < j->filters; o += CONV_LANES_fX) {
            conv_lane_fX out[9 * WINO_CHANNELS], turned[CONV_LANES_fX];
            int64_t n = j->filters - o < CONV_LANES_fX ? j->filters - o : CONV_LANES_fX;
            for (int64_t k = 0; k < rows; k += 9)
                wino_nine_fX(r, r->sums + (c0 + k / 9) * r->wide + o, out + k);
            for (int64_t k = 0; k < rows; k += CONV_LANES_fX) {
                int64_t there = rows - k < CONV_LANES_fX ? rows - k : CONV_LANES_fX;
                conv_turn_fX((const real *)(out + k), CONV_LANES_fX, there, n, (real *)turned,
                             CONV_LANES_fX);
                for (int64_t l = 0; l < n; l++)
                    memcpy(r->y + ((o + l) * j->channels + c0) * 9 + k, turned + l,
                           (size_t)there * sizeof(real));
            }
        }
    }
}

AE_FUNCTION filters_fX(ae_array g, ae_array x, ae_array dw, ae_array job)
{
    struct wino_job *j = AE_DATA(struct wino_job, job);
    struct wino_fX r = wino_of_fX(j);
    int64_t size = 16 * r.of_sums, steps = (r.strips + r.block - 1) / r.block;
    r.w = AE_DATA(const real, g);
    r.x = AE_DATA(const real, x);
    r.y = AE_DATA(real, dw);
    r.blocks = WINO_SUMS / size < 8 ? WINO_SUMS / size : 8;
    r.blocks = r.blocks < 1 ? 1 : r.blocks < steps ? r.blocks : steps;
    while (r.parts * r.blocks < 8 && j->channels >= 64 * r.parts)
        r.parts *= 2;
    r.sums = conv_memory(r.blocks * size, sizeof(real));
    if (!r.sums) {
        j->done = 0;
    } else {
        ae_parallel(wino_sums_fX, &r, r.blocks * r.parts, 1);
        if (j->done)
            ae_parallel(wino_gather_fX, &r, (j->channels + WINO_CHANNELS - 1) / WINO_CHANNELS,
                        ae_grain(WINO_CHANNELS * 16 * r.blocks * r.wide));
    }
    free(r.sums);
    ae_quiet();
}

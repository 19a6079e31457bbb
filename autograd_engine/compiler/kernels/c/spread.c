/* Copies of what is broadcast. */

static void copied_fX(int64_t n, char *const *p) { memcpy(p[2], p[0], (size_t)n * sizeof(real)); }

AE_FUNCTION copy_fX(ae_array x, ae_array out, int64_t n0, int64_t n1, int64_t n2, int missing)
{
    ae_spread_over_fX(copied_fX, AE_DATA(const real, x), NULL, AE_DATA(real, out), n0, n1, n2,
                      missing, 1);
}

/* In this file `real` and `_fX` stand for float and _f32, then for double and _f64; AE_LIBM(name)
   for namef and name. */

/* As libm has it, element by element. */
AE_LANES real ae_asin_fX(real x) { return AE_LIBM(asin)(x); }
AE_LANES real ae_acos_fX(real x) { return AE_LIBM(acos)(x); }
AE_LANES real ae_atan_fX(real x) { return AE_LIBM(atan)(x); }
AE_LANES real ae_sinh_fX(real x) { return AE_LIBM(sinh)(x); }
AE_LANES real ae_cosh_fX(real x) { return AE_LIBM(cosh)(x); }
AE_LANES real ae_asinh_fX(real x) { return AE_LIBM(asinh)(x); }
AE_LANES real ae_acosh_fX(real x) { return AE_LIBM(acosh)(x); }
AE_LANES real ae_atanh_fX(real x) { return AE_LIBM(atanh)(x); }
AE_LANES real ae_cbrt_fX(real x) { return AE_LIBM(cbrt)(x); }
AE_LANES real ae_erfc_fX(real x) { return AE_LIBM(erfc)(x); }
AE_LANES real ae_lgamma_fX(real x) { return AE_LIBM(lgamma)(x); }
AE_LANES real ae_tgamma_fX(real x) { return AE_LIBM(tgamma)(x); }
AE_LANES real ae_atan2_fX(real x, real y) { return AE_LIBM(atan2)(x, y); }
AE_LANES real ae_hypot_fX(real x, real y) { return AE_LIBM(hypot)(x, y); }
AE_LANES real ae_nextafter_fX(real x, real y) { return AE_LIBM(nextafter)(x, y); }

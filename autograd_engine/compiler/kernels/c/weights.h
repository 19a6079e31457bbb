/* exp(x - out), the weight of x in a sum of exponentials. Of equal infinities: 1 for the positive, 0
   for the negative ones. */
AE_INLINE real weight_fX(real x, real out)
{
    real equal = x == -AE_INF_fX ? x : 0;
    return ae_exp_fX(x == out ? equal : x - out);
}

/* What kernels for large arrays start from. `real` and `_fX` stand for the dtype. */

#include <fenv.h>

#define AE_VISIBLE __attribute__((visibility("default")))

/* The loop of a ufunc, or of one over core dimensions: see NumPy on PyUFuncGenericFunction. `dims`
   holds the number of calls and then the core dimensions; `steps`, in bytes, how far the operands of
   one call are from those of the next, and then those of core dimensions. The signature is for
   Python to read. */
#define AE_UFUNC(name, signature)                                                                  \
    AE_VISIBLE void name(char **args, const intptr_t *dims, const intptr_t *steps, void *data);    \
    AE_VISIBLE void name(char **args, const intptr_t *dims, const intptr_t *steps, void *data)

/* A function that Python calls with arrays and numbers. The address of the elements of an array
   stands behind the head that all objects of Python have. */
#define AE_FUNCTION AE_VISIBLE void
typedef const char *ae_array;
#define AE_DATA(type, array) (*(type *const *)((array) + AE_HEAD))

/* Work, counted in elements of a cheap function, from which on a thread is worth waking. */
#define AE_WORTH 32768

/* How many items of so much work each make it worth that. */
AE_INLINE int64_t ae_grain(int64_t each)
{
    return each < AE_WORTH ? AE_WORTH / (each > 0 ? each : 1) : 1;
}

/* NumPy looks at the flags of the processor behind a loop, and warns. Vectors compute what is then
   not chosen, and other threads have flags of their own: so none are left. */
AE_INLINE void ae_quiet(void) { feclearexcept(FE_ALL_EXCEPT); }

/* How many elements are added up in one go; what is longer is added up in float64 from parts, so that
   sums of long rows keep their digits. */
enum { AE_PART = 1024 };

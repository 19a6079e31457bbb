"""NumPy's functions of tensors that are ours as well give our gradients, at ties and kinks too."""

import re
import warnings
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.interop.numpy_protocol.array_ufunc import UFUNCS
from tests.interop.numpy_calls import CALLS
from tests.over import initial, over

PLACES = {
    "equal": [2.0, 2.0, 2.0],
    "zeros": [0.0, 0.0, 0.0],
    "ties": [1.0, 3.0, 3.0, 1.0, -1.0],
    "kinks": [-1.0, -0.5, 0.0, 0.5, 1.0],
    "minus zero": [-0.0, 0.0, 1.0],
    "nan": [1.0, np.nan, 1.0],
    "inf": [np.inf, 1.0, -np.inf],
    "one": [2.0],
    "matrix of zeros": [[0.0, 0.0], [0.0, 0.0]],
    "equal matrix": [[2.0, 2.0], [2.0, 2.0]],
    "identity": [[1.0, 0.0], [0.0, 1.0]],
    "rows": [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]],
}

# One operand, of one name: ``np.exp(x)`` and ``paddle.exp(x)``; NumPy's name and ours.
SAME = """
abs absolute:abs fabs:abs negative positive sin cos tan sinh cosh tanh exp expm1 log log10 log1p
log2 sqrt square reciprocal floor ceil trunc sign deg2rad rad2deg arccos:acos arccosh:acosh
arcsin:asin arcsinh:asinh arctan:atan arctanh:atanh rint:round conjugate:conj degrees:rad2deg
radians:deg2rad sum prod max min amax amin mean median nanmean nansum nanmedian cumsum sort diff
round fix:trunc sinc i0 angle nan_to_num vander trapezoid average:mean
linalg.norm linalg.matrix_norm linalg.vector_norm linalg.cond linalg.det linalg.svdvals
linalg.eigvalsh linalg.pinv linalg.slogdet linalg.qr linalg.inv linalg.cholesky
linalg.eigh cov:linalg.cov corrcoef:linalg.corrcoef
"""
OF_TWO = """
add subtract multiply divide floor_divide remainder logaddexp heaviside hypot copysign nextafter
maximum minimum fmax fmin arctan2:atan2 power:pow
"""
OPERANDS = ("x, x", "x, x * 1.0", "x, 1.0", "1.0, x", "x, 0.0", "0.0, x", "x, -x", "x, np.zeros(1)")
TWINS = {
    "np.amax(x, axis=0)": "paddle.max(x, axis=0)",
    "np.std(x)": "paddle.std(x, unbiased=False)",
    "np.std(x, ddof=1)": "paddle.std(x)",
    "np.std(x, axis=0)": "paddle.std(x, axis=0, unbiased=False)",
    "np.std(x, where=x > 0)": "paddle.std(paddle.masked_select(x, x > 0), unbiased=False)",
    "np.nanstd(x)": "paddle.std(x, unbiased=False)",
    "np.var(x)": "paddle.var(x, unbiased=False)",
    "np.var(x, ddof=1)": "paddle.var(x)",
    "np.nanvar(x)": "paddle.var(x, unbiased=False)",
    "np.nanprod(x)": "paddle.prod(x)",
    "np.nanmax(x)": "paddle.max(x)",
    "np.nanmin(x)": "paddle.min(x)",
    "np.nancumsum(x)": "paddle.cumsum(x)",
    "np.quantile(x, 0.5)": "paddle.quantile(x, 0.5)",
    "np.percentile(x, 30)": "paddle.quantile(x, 0.3)",
    "np.nanquantile(x, 0.3)": "paddle.nanquantile(x, 0.3)",
    "np.cumprod(x)": "paddle.cumprod(paddle.flatten(x), 0)",
    "np.nancumprod(x)": "paddle.cumprod(paddle.flatten(x), 0)",
    "np.maximum.accumulate(x)": "paddle.cummax(x, axis=0)[0]",
    "np.minimum.accumulate(x)": "paddle.cummin(x, axis=0)[0]",
    "np.logaddexp.accumulate(x)": "paddle.logcumsumexp(x, axis=0)",
    "np.multiply.reduce(x)": "paddle.prod(x, axis=0)",
    "np.maximum.reduce(x)": "paddle.max(x, axis=0)",
    "np.minimum.reduce(x)": "paddle.min(x, axis=0)",
    "np.logaddexp.reduce(x)": "paddle.logsumexp(x, axis=0)",
    **{
        f"np.linalg.norm(x, {degree}, axis=0)": f"paddle.linalg.norm(x, {degree}, axis=0)"
        for degree in ("1", "2", "3", "np.inf", "-np.inf")
    },
    "np.linalg.norm(x, 'nuc')": "paddle.linalg.norm(x, 'nuc')",
    "np.linalg.svd(x, compute_uv=False)": "paddle.linalg.svdvals(x)",
    "np.linalg.matrix_power(x, 2)": "paddle.linalg.matrix_power(x, 2)",
    "np.clip(x, -0.5, 0.5)": "paddle.clip(x, -0.5, 0.5)",
    "np.clip(x, 1, 3)": "paddle.clip(x, 1, 3)",
    "np.clip(x, np.full(x.shape, -0.5), 0.5)": "paddle.clip(x, -0.5, 0.5)",
    "np.clip(x, max=np.array(3.0))": "paddle.clip(x, max=3.0)",
    "np.where(x > 0, x, 0.0)": "paddle.nn.functional.relu(x)",
    "np.dot(x, x)": "paddle.dot(x, x)",
    "np.outer(x, x)": "paddle.outer(x, x)",
    "np.inner(x, x)": "paddle.inner(x, x)",
    "np.kron(x, x)": "paddle.kron(x, x)",
    "np.vdot(x, x)": "paddle.dot(x, x)",
    "np.cross(x, x)": "paddle.cross(x, x, axis=-1)",
    "np.matmul(x, x)": "paddle.matmul(x, x)",
    "np.take(x, [0, 0])": "paddle.take(x, paddle.to_tensor([0, 0]))",
    "np.tile(x, 2)": "paddle.tile(x, 2)",
    "np.repeat(x, 2)": "paddle.repeat_interleave(x, 2)",
    "np.partition(x, 0)": "paddle.sort(x)",
    "np.exp2(x)": "paddle.pow(paddle.to_tensor(2.0, dtype='float64'), x)",
    "np.float_power(x, 0.5)": "paddle.pow(x, paddle.to_tensor(0.5, dtype='float64'))",
    "np.logaddexp2(x, x) * np.log(2.0)": "paddle.logaddexp(x * np.log(2.0), x * np.log(2.0))",
    "np.ptp(x)": "paddle.max(x) - paddle.min(x)",
    "np.modf(x)[0]": "paddle.frac(x)",
    "np.frexp(x)[0]": "paddle.frexp(x)[0]",
    "np.divmod(x, 0.5)": "(paddle.floor_divide(x, 0.5), paddle.remainder(x, 0.5))",
}


def pairs() -> list[Any]:
    found = dict(TWINS)
    for text, operands in ((SAME, ("x",)), (OF_TWO, OPERANDS)):
        for word in text.split():
            numpys, _, ours = word.partition(":")
            for given in operands:
                found[f"np.{numpys}({given})"] = f"paddle.{ours or numpys}({given})"
    return [pytest.param(*pair, id=pair[0]) for pair in found.items()]


def differentiated(call: str, x: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    """The values, one after the other, and the gradient of a weighted sum of them."""
    leaf = paddle.to_tensor(np.array(x), stop_gradient=False)
    made = eval(call, {"np": np, "paddle": paddle}, {"x": leaf})
    parts = [made] if isinstance(made, paddle.Tensor) else list(made)
    parts = [paddle.reshape(p, [-1]) for p in parts if p.dtype.kind == "f"]
    flat = paddle.concat(parts)
    if flat.stop_gradient:
        return flat.numpy(), np.zeros_like(x)
    (flat * paddle.to_tensor(np.linspace(1.0, 2.0, flat.size))).sum().backward()
    return flat.numpy(), leaf.grad.numpy()


@over(("numpys", "ours"), pairs(), by=initial)
def test_gradients_at_ties_and_kinks_are_those_of_the_twin(numpys: str, ours: str) -> None:
    compared = 0
    for place, x in PLACES.items():
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", RuntimeWarning)
            try:
                values, grad = differentiated(ours, x)
            except (ValueError, RuntimeError, TypeError, np.linalg.LinAlgError):
                continue  # it takes no such array
            try:
                got_values, got = differentiated(numpys, x)
            except (ValueError, RuntimeError, TypeError, np.linalg.LinAlgError):
                continue
        if values.shape != got_values.shape or not np.allclose(
            got_values, values, rtol=1e-12, equal_nan=True
        ):
            continue  # of matrices, of NaN or of infinity it is another function
        np.testing.assert_allclose(got, grad, rtol=1e-11, atol=1e-14, err_msg=place)
        compared += 1
    assert compared


# What moves elements, is smooth, or has no gradient: nothing can differ at a tie.
WITHOUT_KINKS = """
all any argmax argmin argsort atleast_1d atleast_2d atleast_3d bincount bitwise_and bitwise_or
bitwise_xor broadcast_to column_stack concat concatenate count_nonzero diag diagflat diagonal dsplit
dstack
einsum empty_like equal flip full_like gcd greater greater_equal hsplit hstack imag isclose
isfinite isin isinf isnan isneginf isposinf isreal lcm ldexp less less_equal linspace logical_and
logical_not logical_or logical_xor logspace matrix_transpose meshgrid moveaxis nonzero not_equal
ones_like ravel real reshape roll rot90 searchsorted shape signbit split squeeze stack swapaxes
take_along_axis tensordot trace transpose tril triu unstack vecdot vsplit vstack zeros_like
linalg.cross linalg.diagonal linalg.eig linalg.eigvals linalg.lstsq linalg.matmul
linalg.matrix_transpose linalg.multi_dot linalg.outer linalg.solve linalg.tensordot linalg.trace
linalg.vecdot
"""
# Ours has no gradient, as the reference's; NumPy's gives that of the elements it chooses.
RICHER = {"unique"}


def test_every_twin_is_compared() -> None:
    twins = {
        name
        for name in [*CALLS, *UFUNCS]
        if not name.startswith("fft.")
        and any(hasattr(p, name.rpartition(".")[2]) for p in (paddle, paddle.linalg))
    }
    compared = {re.match(r"np\.([\w.]+?)\(", pair.id)[1] for pair in pairs()}
    assert twins - compared - RICHER == set(WITHOUT_KINKS.split()) & twins
    assert not compared & set(WITHOUT_KINKS.split())

"""In-place functions and methods, made from those that are not in place.

``x.add_(y)`` computes ``add(x, y)``, makes `x` the result, and returns it. Memory is not written
(docs/design/eager.md, "Values"), so what was recorded before keeps the values it saw; gradients are
those of ``x = x.add(y)``:

>>> import autograd_engine as paddle
>>> x = paddle.to_tensor([3.0], stop_gradient=False)
>>> y = x * 2.0
>>> z = y * y
>>> y.add_(paddle.ones([1])).tolist()
[7.0]
>>> z.backward()
>>> x.grad.tolist()
[24.0]

A variable of a program has no values to replace: there the functions return the result, and the
variable stays what it was.

``x.uniform_()`` and its like become draws in the shape and dtype of `x`.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar, cast

import numpy as np

from autograd_engine.core.checks import require_bools, require_type
from autograd_engine.core.dims import Dim
from autograd_engine.core.dtypes import COMPLEX, FLOATS, INT64, finfo, iinfo
from autograd_engine.eager.grad_mode import grad_mode
from autograd_engine.eager.inplace import check_writable, rebind
from autograd_engine.eager.tensor import Tensor
from autograd_engine.eager.views import cut_off
from autograd_engine.errors import (
    ArgumentError,
    DTypeError,
    NotATensorError,
    ShapeError,
)
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.conversion import (
    count,
    deviation,
    held,
    number,
    probability,
    real,
    shape_of,
    span,
)
from autograd_engine.program.ir.program import Variable
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.attribute import apply
from autograd_engine.tensor.diagonal import fill_diagonal, fill_diagonal_tensor

__all__ = ["functions", "in_place", "methods"]


def _floats(function: str, x: Any) -> Any:
    x = as_operand(function, x)
    dtype = spec_of(x).dtype
    if dtype not in FLOATS:
        of_parts = "paddle.complex(paddle.rand_like(x.real()), paddle.rand_like(x.imag()))"
        others = of_parts if dtype in COMPLEX else "x.astype('float32'), or randint_like"
        raise DTypeError(f"{function}: draws floats, and x is {dtype.name}; use {others}")
    return x


def _positive(function: str, argument: str, value: Any) -> float:
    given = real(function, argument, value)
    if given <= 0:
        raise ArgumentError(f"{function}: {argument} must be above 0, got {given}")
    return given


def _uniform(x: Any, min: float = 0.0, max: float = 1.0, seed: int = 0) -> Tensor:
    low, high = span("uniform_", min, max)
    seed = count("uniform_", "seed", seed)
    x = _floats("uniform_", x)
    return ops.random_like(x, distribution="uniform", a=low, b=high, seed=seed)


def _normal(x: Any, mean: float = 0.0, std: float = 1.0, name: str | None = None) -> Tensor:
    mean, std = real("normal_", "mean", mean), deviation("normal_", std)
    return ops.random_like(_floats("normal_", x), distribution="gaussian", a=mean, b=std)


def _log_normal(x: Any, mean: float = 1.0, std: float = 2.0, name: str | None = None) -> Tensor:
    mean, std = real("log_normal_", "mean", mean), deviation("log_normal_", std)
    return ops.random_like(_floats("log_normal_", x), distribution="log_normal", a=mean, b=std)


def _exponential(x: Any, lam: float = 1.0, name: str | None = None) -> Tensor:
    rate = _positive("exponential_", "lam", lam)
    return ops.random_like(_floats("exponential_", x), distribution="exponential", a=rate)


def _cauchy(x: Any, loc: float = 0, scale: float = 1, name: str | None = None) -> Tensor:
    loc, scale = real("cauchy_", "loc", loc), _positive("cauchy_", "scale", scale)
    return ops.random_like(_floats("cauchy_", x), distribution="cauchy", a=loc, b=scale)


def _geometric(x: Any, probs: float, name: str | None = None) -> Tensor:
    p = probability("geometric_", "probs", probs)
    if p == 0:
        raise ArgumentError("geometric_: probs must be above 0: no trial would ever succeed")
    return ops.random_like(x, distribution="geometric", a=p)


def _bernoulli(x: Any, p: Any = 0.5, name: str | None = None) -> Tensor:
    x = as_operand("bernoulli_", x)
    if isinstance(p, (int, float, complex, np.generic)):
        p = probability("bernoulli_", "p", p)
        return ops.random_like(x, distribution="bernoulli", a=p)
    return ops.cast_like(ops.bernoulli(ops.expand_like(p, x)), x)


def _random(x: Any, from_: int = 0, to: int | None = None) -> Tensor:
    x = as_operand("random_", x)
    dtype = spec_of(x).dtype
    low = number("random_", "from_", from_)
    if to is None:  # all whole numbers that the dtype holds without a gap
        to = 2 ** (finfo(dtype).nmant + 1) if dtype in FLOATS else int(iinfo(dtype).max)
    high = number("random_", "to", to)
    if not low < high:
        raise ArgumentError(f"random_: to ({high}) must be above from_ ({low})")
    low, high = held("random_", "from_", int(low), INT64), held("random_", "to", int(high), INT64)
    return ops.random_like(x, distribution="integers", a=int(low), b=int(high))


DRAWS: Final[dict[str, Callable[..., Any]]] = {
    "bernoulli": _bernoulli,
    "cauchy": _cauchy,
    "exponential": _exponential,
    "geometric": _geometric,
    "log_normal": _log_normal,
    "normal": _normal,
    "random": _random,
    "uniform": _uniform,
}


F = TypeVar("F", bound=Callable[..., Any])


def _names(text: str) -> list[str]:
    return text.split()


# Where the reference has both a function and a method of this name (with an underscore).
_BOTH: Final = _names("""
abs acos acosh addmm asin asinh atan atanh baddbmm bitwise_and bitwise_invert bitwise_left_shift
bitwise_not bitwise_or bitwise_right_shift bitwise_xor cast copysign cos cosh cumprod cumsum digamma
div divide equal flatten floor_divide floor_mod frac gammainc gammaincc gammaln gcd greater_equal
greater_than hypot i0 index_add index_fill index_put lcm ldexp less less_equal less_than lgamma log
log10 log1p log2 logical_and logical_not logical_or logical_xor logit masked_fill masked_scatter mod
multigammaln multiply nan_to_num neg not_equal polygamma pow remainder renorm reshape scatter
scatter_add sin sinc sinh square squeeze sub subtract t tan tanh transpose tril triu trunc unsqueeze
where bernoulli cauchy geometric log_normal normal
""")
_METHODS: Final = _names("""
add apply ceil clamp clip copy erfinv exp exponential fill fill_diagonal fill_diagonal_tensor floor
lerp mul put_along_axis random reciprocal resize round rsqrt scale sigmoid sqrt uniform zero
""")
_FUNCTIONS: Final = _names("erf expm1")

# The same under another name, where the function that is not in place has only this one.
_ALIASES: Final = {
    "div": "divide",
    "mul": "multiply",
    "sub": "subtract",
    "clamp": "clip",
    "mod": "remainder",
    "floor_mod": "remainder",
    "gammaln": "lgamma",
}
_RESHAPING: Final = frozenset(_names("flatten reshape squeeze t transpose unsqueeze"))
_RESIZING: Final = frozenset(_names("apply cumprod cumsum resize"))
_RETYPING: Final = frozenset(
    _names("""
    apply cast equal greater_equal greater_than less less_equal less_than logical_and logical_not
    logical_or logical_xor not_equal divide div
    """)
)


def in_place(
    name: str,
    function: F,
    *,
    instead: str = "",
    position: int = 0,
    reshapes: bool = False,
    resizes: bool = False,
    retypes: bool = False,
) -> F:
    """The in-place form of `function`.

    Parameters
    ----------
    name : str
        Without the underscore.
    function : callable
    instead : str
        What to write where it is refused.
    position : int
        The place of the argument that takes the result.
    reshapes, resizes, retypes : bool
        Whether that may be the same values in another shape, others in another shape, and of
        another dtype. Floats always may become wider ones.
    """
    call = f"{name}_"
    instead = instead or f"x = paddle.{name}(x, ...)"
    target = inspect.unwrap(function).__code__.co_varnames[position]

    def write(*args: Any, **kwargs: Any) -> Any:
        x = args[position] if len(args) > position else kwargs.get(target)
        if isinstance(x, Tensor):
            check_writable(x, call, instead)
        result = function(*args, **kwargs)
        if isinstance(x, Variable) or isinstance(result, Variable):
            trace = grad_mode.trace
            return result if trace is None else trace.write(x, result, call, instead)
        if not isinstance(x, Tensor):
            raise NotATensorError(
                f"{call}: {target} must be a Tensor to take the result, got {type(x).__name__}"
            )
        wider = x._data.dtype in FLOATS and result._data.dtype in FLOATS
        return rebind(
            x,
            result,
            call,
            instead,
            reshapes=reshapes,
            resizes=resizes,
            retypes=retypes or wider,
        )

    write.__name__ = write.__qualname__ = call
    write.__code__ = write.__code__.replace(co_name=call, co_qualname=call)
    write.__doc__ = f"`{name}`, whose result `{target}` becomes; it is returned."
    write.__wrapped__ = function  # type: ignore[attr-defined]  # what `inspect.signature` shows
    return cast(F, write)


def _fill(x: Any, value: float) -> Tensor:
    value = held("fill_", "value", number("fill_", "value", value), spec_of(x).dtype)
    return ops.full_like(x, value=value)


def _zero(x: Any) -> Tensor:
    return ops.zeros_like(x)


def _sigmoid(x: Any) -> Tensor:
    return ops.sigmoid(x)


def _copy(x: Any, other: Any, blocking: bool = True) -> Tensor:
    return ops.assign(ops.cast_like(other, x))


@atomic
def resize(
    x: Any, shape: Sequence[int], fill_zero: bool = False, name: str | None = None
) -> Tensor:
    x = as_operand("resize_", x)
    require_bools("resize_", fill_zero=fill_zero)
    require_type(shape, (list, tuple, Tensor), "resize_: shape must be a list of sizes")
    sizes = shape_of(shape, "resize_")
    have, wanted = spec_of(x).size, math.prod(sizes)
    if isinstance(have, Dim):
        raise ShapeError("resize_: a program must know all sizes of x: use paddle.reshape")
    flat = ops.reshape(x, shape=(-1,)) if have else ops.reshape(x, shape=(0,))
    if wanted > have:
        flat = ops.pad(flat, pads=((0, wanted - have),))
    elif wanted < have:
        flat = ops.getitem(flat, key=(slice(0, wanted),))
    return ops.assign(ops.reshape(flat, shape=sizes))


_OWN: Final[dict[str, Callable[..., Any]]] = {
    "apply": apply,
    "copy": _copy,
    "fill": _fill,
    "fill_diagonal": fill_diagonal,
    "fill_diagonal_tensor": fill_diagonal_tensor,
    "resize": resize,
    "sigmoid": _sigmoid,
    "zero": _zero,
    **DRAWS,
}
_INSTEAD: Final = {
    "apply": "x = x.apply(func)",
    "copy": "x = paddle.assign(other)",
    "fill": "x = paddle.full_like(x, value)",
    "fill_diagonal_tensor": "x = x.fill_diagonal_tensor(y)",
    "resize": "x = paddle.reshape(x, shape)",
    "zero": "x = paddle.zeros_like(x)",
    "normal": "x = paddle.randn_like(x)",
    "uniform": "x = paddle.rand_like(x)",
}


def _made(names: list[str], found: Mapping[str, Any]) -> dict[str, Callable[..., Any]]:
    made = {}
    for name in names:
        own = _OWN.get(name)
        function = own or found.get(name) or found.get(_ALIASES.get(name, ""))
        if function is not None:
            made[f"{name}_"] = in_place(
                name,
                function,
                instead=_INSTEAD.get(name, "paddle.assign, and a new tensor" if own else ""),
                position=1 if name == "where" else 0,
                reshapes=name in _RESHAPING,
                resizes=name in _RESIZING,
                retypes=name in _RETYPING,
            )
    return made


def functions(found: Mapping[str, Any]) -> dict[str, Callable[..., Any]]:
    """The in-place functions that the package exports, for the functions in `found`."""
    return _made([*_BOTH, *_FUNCTIONS], found)


def methods(found: Mapping[str, Any]) -> dict[str, Callable[..., Any]]:
    """The in-place methods of Tensor and Variable, for the functions in `found`."""
    both = {f"{name}_": found[f"{name}_"] for name in _BOTH if f"{name}_" in found}
    return {**both, **_made(_METHODS, found), "detach_": detach_}


def detach_(x: Any) -> Tensor:
    """Cut `x` off from the graph it came from, and return it; a leaf asks for no gradient then."""
    trace = grad_mode.trace
    if isinstance(x, Variable) or trace is not None:
        detached = ops.assign(x)
        detached.stop_gradient = True
        return detached if trace is None else trace.write(x, detached, "detach_", "x.detach()")
    x._node, x._stop = None, True
    cut_off(x)
    return x

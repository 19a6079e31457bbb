"""Windows: what the frames of a signal are multiplied by.

F. J. Harris, "On the use of windows for harmonic analysis with the discrete Fourier transform"
(1978). A periodic window is the symmetric one that is longer by one element, without its last.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from autograd_engine.core.checks import require_bools
from autograd_engine.core.dtypes import FLOATS, DTypeLike, to_numpy
from autograd_engine.core.spec import Array
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, DTypeError
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.conversion import count, plain
from autograd_engine.program.operands import constant
from autograd_engine.tensor.spelling.wrapper import spelled_functions

__all__ = [
    "bartlett_window",
    "blackman_window",
    "floating",
    "get_window",
    "hamming_window",
    "hann_window",
    "kaiser_window",
    "named_window",
]


def _cosines(n: int, *weights: float) -> Array:
    """weights[0] - weights[1] cos(t) + weights[2] cos(2 t) - ..., for one turn of t."""
    turn = 2.0 * np.pi * np.arange(n) / (n - 1)
    return np.asarray(sum((-1) ** k * w * np.cos(k * turn) for k, w in enumerate(weights)))


def _hamming(n: int, alpha: float = 0.54, beta: float = 0.46) -> Array:
    return _cosines(n, alpha, beta)


def _from_middle(n: int) -> Array:
    return np.arange(n) - (n - 1) / 2.0


def _gaussian(n: int, std: float) -> Array:
    return _general_gaussian(n, 1.0, std)


def _general_gaussian(n: int, p: float, sig: float) -> Array:
    return np.asarray(np.exp(-0.5 * np.abs(_from_middle(n) / sig) ** (2.0 * p)))


def _exponential(n: int, center: float | None = None, tau: float = 1.0) -> Array:
    middle = (n - 1) / 2.0 if center is None else center
    return np.asarray(np.exp(-np.abs(np.arange(n) - middle) / tau))


def _triang(n: int) -> Array:
    return np.asarray(1.0 - np.abs(2.0 * _from_middle(n)) / (n + n % 2))


def _bohman(n: int) -> Array:
    part = np.abs(_from_middle(n)) / ((n - 1) / 2.0)
    found = (1.0 - part) * np.cos(np.pi * part) + np.sin(np.pi * part) / np.pi
    found[[0, -1]] = 0.0
    return np.asarray(found)


def _cosine(n: int) -> Array:
    return np.asarray(np.sin(np.pi / n * (np.arange(n) + 0.5)))


def _tukey(n: int, alpha: float = 0.5) -> Array:
    edge = min(alpha, 1.0) * (n - 1) / 2.0
    if edge <= 0:
        return np.ones(n)
    part = np.minimum(np.arange(n), n - 1 - np.arange(n)) / edge
    return np.asarray(0.5 * (1.0 - np.cos(np.pi * np.minimum(part, 1.0))))


def _taylor(n: int, nbar: float = 4, sll: float = 30.0, norm: bool = True) -> Array:
    """T. T. Taylor's window, of `nbar` side lobes that are `sll` dB below the main one."""
    order = np.arange(1, int(nbar))
    a2 = (math.acosh(10.0 ** (sll / 20.0)) / np.pi) ** 2
    s2 = nbar**2 / (a2 + (nbar - 0.5) ** 2)
    weights = []
    for m in order:
        over = np.prod(1.0 - m**2 / (s2 * (a2 + (order - 0.5) ** 2)))
        under = np.prod(1.0 - m**2 / order[order != m] ** 2.0)
        weights.append((-1.0) ** (m + 1) * over / (2.0 * under))

    def at(place: Any) -> Any:
        turns = 2.0 * np.pi * np.multiply.outer(order, place) / n
        return 1.0 + 2.0 * np.tensordot(weights, np.cos(turns), 1)

    found = at(_from_middle(n))
    return np.asarray(found / at(0.0) if norm else found)


_WINDOWS: Final[dict[str, tuple[Callable[..., Array], int, int]]] = {
    # the symmetric window of so many elements; how many parameters it must and may have
    "hann": (np.hanning, 0, 0),
    "hamming": (_hamming, 0, 0),
    "gaussian": (_gaussian, 1, 1),
    "general_gaussian": (_general_gaussian, 2, 2),
    "exponential": (_exponential, 1, 2),
    "triang": (_triang, 0, 0),
    "bohman": (_bohman, 0, 0),
    "blackman": (np.blackman, 0, 0),
    "cosine": (_cosine, 0, 0),
    "tukey": (_tukey, 0, 1),
    "taylor": (_taylor, 0, 3),
    "bartlett": (np.bartlett, 0, 0),
    "kaiser": (np.kaiser, 1, 1),
    "nuttall": (lambda n: _cosines(n, 0.3635819, 0.4891775, 0.1365995, 0.0106411), 0, 0),
}


def floating(op: str, dtype: DTypeLike) -> np.dtype[Any]:
    """`dtype`, which is one of floats."""
    chosen = to_numpy(dtype)
    if chosen not in FLOATS:
        raise DTypeError(f"{op}: dtype must be one of floats, got {chosen.name}")
    return chosen


def _values(op: str, make: Callable[[int], Array], n: int, periodic: bool) -> Array:
    require_bools(op, periodic=periodic)
    if n < 2:
        return np.ones(n)
    with np.errstate(all="ignore"):
        found = make(n + 1)[:-1] if periodic else make(n)
    if not np.isfinite(found).all():
        raise ArgumentError(f"{op}: with these parameters the window is not finite")
    return found


def named_window(op: str, window: Any, n: int, periodic: bool) -> Array:
    """The values of a window by its name, or by a tuple of that and of parameters."""
    name, *parameters = window if isinstance(window, (tuple, list)) and window else (window,)
    if not isinstance(name, str) or name not in _WINDOWS:
        raise ArgumentError(f"{op}: window must be one of {', '.join(_WINDOWS)}; got {name!r}")
    make, least, most = _WINDOWS[name]
    if not least <= len(parameters) <= most:
        wanted = f"{most}" if least == most else f"{least} to {most}"
        raise ArgumentError(
            f"{op}: the {name} window has {wanted} parameters, given as ({name!r}, ...); "
            f"got {len(parameters)}"
        )
    if name == "exponential" and parameters[0] is not None and not periodic:
        raise ArgumentError(f"{op}: the center of a symmetric exponential window must be None")
    given = [None if v is None else plain(op, f"the {name} window's", v) for v in parameters]
    return _values(op, lambda size: make(size, *given), n, periodic)


def _made(op: str, make: Callable[[int], Array], n: int, periodic: bool, dtype: DTypeLike) -> Any:
    chosen = floating(op, dtype)
    return constant(_values(op, make, n, periodic).astype(chosen))


@atomic
def get_window(
    window: str | tuple[Any, ...],
    win_length: int,
    fftbins: bool = True,
    dtype: DTypeLike = "float64",
) -> Tensor:
    """A window by its name.

    Parameters
    ----------
    window : str or tuple
        ``hann``, ``hamming``, ``triang``, ``bohman``, ``blackman``, ``cosine``, ``bartlett``,
        ``nuttall``, ``tukey`` or ``taylor``; or a tuple of the name and parameters, as
        ``("gaussian", std)``, ``("general_gaussian", p, sig)``, ``("exponential", center, tau)``
        (the center None for the middle), ``("kaiser", beta)``, ``("tukey", alpha)``,
        ``("taylor", nbar, sll, norm)``.
    win_length : int
    fftbins : bool
        The periodic window, for spectra; with False the symmetric one.
    dtype : dtype

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.audio.functional.get_window("bartlett", 4).tolist()
    [0.0, 0.5, 1.0, 0.5]
    """
    op = "get_window"
    require_bools(op, fftbins=fftbins)
    chosen = floating(op, dtype)
    return constant(
        named_window(op, window, count(op, "win_length", win_length), fftbins).astype(chosen)
    )


@atomic
def hann_window(
    window_length: int, periodic: bool = True, *, dtype: DTypeLike = "float32"
) -> Tensor:
    """A half of a cosine, from 0 to 1 and back.

    Parameters
    ----------
    window_length : int
    periodic : bool
        Leave out the last element of the symmetric window that is longer by one.
    dtype : dtype

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.hann_window(5, periodic=False).tolist()
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """
    n = count("hann_window", "window_length", window_length)
    return _made("hann_window", np.hanning, n, periodic, dtype)


@atomic
def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: DTypeLike = "float32",
) -> Tensor:
    """``alpha - beta * cos``; see `hann_window`."""
    op = "hamming_window"
    weights = plain(op, "alpha", alpha), plain(op, "beta", beta)
    size = count(op, "window_length", window_length)
    return _made(op, lambda n: _hamming(n, *weights), size, periodic, dtype)


@atomic
def blackman_window(
    window_length: int, periodic: bool = True, *, dtype: DTypeLike = "float32"
) -> Tensor:
    """Blackman's sum of two cosines; see `hann_window`."""
    n = count("blackman_window", "window_length", window_length)
    return _made("blackman_window", np.blackman, n, periodic, dtype)


@atomic
def bartlett_window(
    window_length: int, periodic: bool = True, *, dtype: DTypeLike = "float32"
) -> Tensor:
    """A triangle from 0 to 1 and back; see `hann_window`."""
    n = count("bartlett_window", "window_length", window_length)
    return _made("bartlett_window", np.bartlett, n, periodic, dtype)


@atomic
def kaiser_window(
    window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype: DTypeLike = "float32"
) -> Tensor:
    """Kaiser's window of Bessel functions, the narrower the larger `beta`; see `hann_window`."""
    op = "kaiser_window"
    shape, size = plain(op, "beta", beta), count(op, "window_length", window_length)
    return _made(op, lambda n: np.kaiser(n, shape), size, periodic, dtype)


_PUBLIC: Final = [name for name in __all__ if name.endswith("_window") and name != "named_window"]
globals().update(spelled_functions({name: globals()[name] for name in _PUBLIC}))

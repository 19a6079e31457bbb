"""Flags, under the names that users of the reference know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from autograd_engine.compiler.backend import BACKENDS
from autograd_engine.eager.grad_mode import grad_mode, keep_stacks
from autograd_engine.errors import ArgumentError, ArgumentTypeError, MissingLibraryError
from autograd_engine.ops.kernels.compiled import compiled_kernels, use_compiled_kernels

__all__ = ["disable_signal_handler", "get_flags", "set_flags"]


class _Flags:
    call_stack_level: int = 1
    runs_before_compiling: int | None = None
    backend: str | None = None

    @property
    def compiled_kernels(self) -> int:
        return int(compiled_kernels())

    @compiled_kernels.setter
    def compiled_kernels(self, value: int) -> None:
        use_compiled_kernels(bool(value))

    @property
    def check_nan_inf(self) -> int:
        return int(grad_mode.anomaly is not None)

    @check_nan_inf.setter
    def check_nan_inf(self, value: int) -> None:
        from autograd_engine.autograd.explain.anomaly import set_detect_anomaly

        set_detect_anomaly(bool(value))


flags: Final = _Flags()
_NAMES: Final = {
    "FLAGS_backend": "backend",
    "FLAGS_call_stack_level": "call_stack_level",
    "FLAGS_check_nan_inf": "check_nan_inf",
    "FLAGS_compiled_kernels": "compiled_kernels",
    "FLAGS_runs_before_compiling": "runs_before_compiling",
}
_SWITCHES: Final = ("check_nan_inf", "compiled_kernels")
_OPEN: Final = ("backend", "runs_before_compiling")


def _attribute(name: str) -> str:
    try:
        return _NAMES[name]
    except KeyError:
        raise ArgumentError(f"no flag {name!r}; there are {', '.join(_NAMES)}") from None


def set_flags(flags_: Mapping[str, Any]) -> None:
    """Set flags by name.

    ``FLAGS_backend``: what runs programs, and functions of `jit.to_static`, that name no backend,
    from then on: "native", "numpy" or "jax". None, the default, is what the environment variable
    ``AUTOGRAD_ENGINE_BACKEND`` says, and else the best that there is.
    ``FLAGS_call_stack_level``: at 3 or more, every recorded operation remembers the whole stack of
    the user's lines, for `dump_backward_graph_path`; below, the innermost line only.
    ``FLAGS_check_nan_inf``: look for NaN and infinity in this thread, as
    `autograd.set_detect_anomaly` does.
    ``FLAGS_compiled_kernels``: whether large arrays are computed with by kernels in C, where there
    is a compiler. Results differ in the last bits, so choose before a training begins.
    ``FLAGS_runs_before_compiling``: how often a program, or a function of `jit.to_static`, is run
    by Python with the same sizes before it is compiled for them. None, the default, is 2; and 0 for
    the sizes that come first to what trains.

    Examples
    --------
    >>> set_flags({"FLAGS_call_stack_level": 1})
    """
    if not isinstance(flags_, Mapping):
        raise ArgumentTypeError(f"set_flags takes a dict, got {type(flags_).__name__}")
    for name, value in flags_.items():
        attribute = _attribute(name)
        if value is None and attribute in _OPEN:
            setattr(flags, attribute, None)
            continue
        if attribute == "backend":
            flags.backend = _backend(value)
            continue
        switch = isinstance(value, bool) and attribute in _SWITCHES
        if not switch and (not isinstance(value, int) or isinstance(value, bool)):
            raise ArgumentTypeError(f"{name} must be an int, got {value!r}")
        if value < 0:
            raise ArgumentError(f"{name} must not be negative, got {value}")
        setattr(flags, attribute, value)
    keep_stacks(flags.call_stack_level >= 3)


def _backend(value: Any) -> str:
    if not isinstance(value, str):
        raise ArgumentTypeError(f"FLAGS_backend must be a str or None, got {value!r}")
    if value not in BACKENDS:
        names = ", ".join(map(repr, BACKENDS))
        raise ArgumentError(f"FLAGS_backend: there is no backend {value!r}; take one of {names}")
    missing = BACKENDS[value].missing
    if missing:
        raise MissingLibraryError(f"FLAGS_backend: {value!r} needs a library: {missing}")
    return value


def get_flags(names: str | list[str]) -> dict[str, Any]:
    """Values of flags by name.

    Examples
    --------
    >>> get_flags("FLAGS_call_stack_level")
    {'FLAGS_call_stack_level': 1}
    """
    wanted = [names] if isinstance(names, str) else names
    return {name: getattr(flags, _attribute(name)) for name in wanted}


def disable_signal_handler() -> None:
    """Nothing: this engine installs no handler of signals that others could miss."""

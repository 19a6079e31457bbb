"""What is installed, and whether it works."""

from __future__ import annotations

import importlib
import re
from types import ModuleType

import numpy as np

from autograd_engine import static
from autograd_engine.core.checks import require_type
from autograd_engine.errors import ArgumentError
from autograd_engine.program.mode import disable_static, enable_static, in_dynamic_mode
from autograd_engine.tensor.creation import to_tensor
from autograd_engine.version import full_version

__all__ = ["require_version", "run_check", "try_import"]


def try_import(module_name: str, err_msg: str | None = None) -> ModuleType:
    """The module of that name.

    Raises
    ------
    ImportError
        With `err_msg`, or advice to install it.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.utils.try_import("json").dumps([1])
    '[1]'
    """
    try:
        return importlib.import_module(module_name)
    except ImportError as error:
        advice = f"{module_name} cannot be imported: install it, usually with pip"
        raise ImportError(err_msg or advice) from error


def _numbers(argument: str, version: str) -> list[int]:
    require_type(version, str, f"require_version: {argument} must be a str")
    if not re.fullmatch(r"\d+(\.\d+){0,3}", version):
        raise ArgumentError(
            f"require_version: {argument} must be up to four numbers, as '3.3.1'; got {version!r}"
        )
    found = [int(part) for part in version.split(".")]
    return found + [0] * (4 - len(found))


def require_version(min_version: str, max_version: str | None = None) -> None:
    """Refuse to go on where these are the names of a version that is older, or newer.

    Raises
    ------
    RuntimeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.utils.require_version("2.0")
    """
    here, least = _numbers("the version", full_version), _numbers("min_version", min_version)
    most = here if max_version is None else _numbers("max_version", max_version)
    if not least <= here <= most:
        wanted = f"{min_version} or newer" + (f", up to {max_version}" if max_version else "")
        raise RuntimeError(
            f"require_version: asked for is {wanted}; the names here are those of {full_version}"
        )


def run_check() -> None:
    """Differentiate a function eagerly and as a program, and say that both work.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.utils.run_check()
    Eager mode and programs work on the CPU.
    """
    eager = in_dynamic_mode()
    disable_static()
    try:
        x = to_tensor([[1.0, 2.0]], stop_gradient=False)
        program = static.Program()
        with static.program_guard(program):
            v = static.data("x", [None, 2])
            v.stop_gradient = False
            gradients = static.gradients((v @ v.T).sum(), v)
            (in_program,) = static.Executor().run(program, {"x": x.numpy()}, gradients)
        (x @ x.T).sum().backward()
        for found in (x.gradient(), in_program):
            np.testing.assert_array_equal(found, [[2.0, 4.0]])
    finally:
        if not eager:
            enable_static()
    print("Eager mode and programs work on the CPU.")

"""``with`` blocks that mark the operators which are made inside: of a part, for a device."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from autograd_engine.core.place import CPUPlace
from autograd_engine.errors import ArgumentError
from autograd_engine.program.ir import op_role
from autograd_engine.program.ir.op_role import namescope, scope_name
from autograd_engine.program.ir.program import default_main_program

__all__ = ["device_guard", "name_scope"]


@contextlib.contextmanager
def name_scope(prefix: str | None = None) -> Iterator[None]:
    """Mark the operators that are made inside the ``with`` block as one part of the program.

    It shows as ``op_namescope`` where the program is printed, and changes nothing else. Scopes may
    be nested; one that is opened again in the same program gets a number.

    Parameters
    ----------
    prefix : str

    Raises
    ------
    ArgumentError
        When `prefix` is empty, or no str.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> with paddle.static.program_guard(paddle.static.Program()):
    ...     with paddle.static.name_scope("encoder"):
    ...         x = paddle.ones([2])
    ...         with paddle.static.name_scope("head"):
    ...             y = paddle.tanh(x)
    ...     ops = paddle.static.default_main_program().global_block().ops
    >>> [op.op_namescope for op in ops]
    ['/encoder/', '/encoder/head/']
    """
    if not isinstance(prefix, str) or not prefix:
        raise ArgumentError(
            f"name_scope: prefix must be a name, got {prefix!r}; write name_scope('encoder')"
        )
    with namescope.replaced(scope_name(default_main_program(), namescope.get(), prefix)):
        yield


@contextlib.contextmanager
def device_guard(device: str | CPUPlace | None = None) -> Iterator[None]:
    """Mark the operators that are made inside the ``with`` block as run on `device`.

    Parameters
    ----------
    device : {"cpu", "", None} or CPUPlace
        Programs run on the CPU in any case.

    Raises
    ------
    ArgumentError
        For any other device.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> with paddle.static.program_guard(paddle.static.Program()):
    ...     with paddle.static.device_guard("cpu"):
    ...         x = paddle.ones([2])
    ...     paddle.static.default_main_program().global_block().ops[0].op_device
    'cpu'
    """
    name = "cpu" if isinstance(device, CPUPlace) else "" if device is None else device
    if name not in ("", "cpu"):
        raise ArgumentError(
            f"device_guard: there is no device {device!r}: programs run on the CPU; write "
            "device_guard('cpu'), or leave it out"
        )
    with op_role.device.replaced(name):
        yield

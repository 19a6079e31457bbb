"""Memory in common with other libraries: ``to_dlpack`` and ``from_dlpack``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autograd_engine.core.lazy import listed
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import NotATensorError

__all__ = ["from_dlpack", "to_dlpack"]


if not TYPE_CHECKING:
    __getattr__, __dir__ = listed(__name__)


def to_dlpack(x: Any) -> Any:
    """A DLPack capsule of a tensor, for another library to import once.

    The memory is handed out as it is where only `x` holds it; what others hold as well (a graph, a
    view, the tensor that ``detach`` was called on) is copied.

    Parameters
    ----------
    x : Tensor
        One that requires no gradient.

    Returns
    -------
    PyCapsule

    Raises
    ------
    ExportError
        For a tensor that requires a gradient: use ``x.detach()``.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> capsule = paddle.utils.dlpack.to_dlpack(paddle.to_tensor([1.0, 2.0]))
    >>> paddle.utils.dlpack.from_dlpack(capsule).tolist()
    [1.0, 2.0]
    """
    if not isinstance(x, Tensor):
        raise NotATensorError(f"to_dlpack takes a Tensor, got {type(x).__name__}: use to_tensor")
    return x.__dlpack__()


def from_dlpack(dlpack: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor of an array of another library, without a copy where that is possible.

    What the other library writes is seen by `numpy` and by later operations. An operation that has
    been recorded is differentiated at the values it was computed from, whatever is written later.

    Parameters
    ----------
    dlpack : array of another library, or PyCapsule
    device : optional
        ``"cpu"``.
    copy : bool, optional
        True for memory of its own; False to refuse what cannot be shared.

    Returns
    -------
    Tensor

    Raises
    ------
    ExportError
        When the other library refuses, or its memory is not the CPU's.
    NotATensorError
        For an object that does not support DLPack.

    Examples
    --------
    >>> import numpy as np
    >>> array = np.array([1.0, 2.0])
    >>> x = from_dlpack(array)
    >>> array[0] = 5.0
    >>> x.tolist()
    [5.0, 2.0]
    """
    from autograd_engine.interop.numpy_protocol.dlpack import imported

    return imported("from_dlpack", dlpack, device, copy)

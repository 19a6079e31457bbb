"""The eager tensor: an array, and where it came from."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from autograd_engine.core.above import above
from autograd_engine.core.checks import require_bools
from autograd_engine.core.dtypes import (
    EXACT,
    INEXACT,
    DType,
    DTypeLike,
    as_dtype,
    can_cast,
)
from autograd_engine.core.locations import Location, caller
from autograd_engine.core.names.constructors import respelled
from autograd_engine.core.names.missing_names import present_names
from autograd_engine.core.operand import no_gradients_of
from autograd_engine.core.size import Size
from autograd_engine.core.spec import Array
from autograd_engine.eager.array_methods import Values
from autograd_engine.eager.grad_mode import recording
from autograd_engine.eager.graph_cuts import follow_cut, note_cut
from autograd_engine.eager.printing import format_tensor
from autograd_engine.eager.sequence import newer
from autograd_engine.eager.training_options import Trained, TrainingOptions
from autograd_engine.eager.views import cut_off, link_detached, overwrite, storage_of, write_values
from autograd_engine.errors import DTypeError, NotATensorError, ShapeError

if TYPE_CHECKING:
    from autograd_engine.eager.grad_node import GradNode
    from autograd_engine.eager.hooks import LeafHooks
    from autograd_engine.eager.tape import Node
    from autograd_engine.eager.views import Group, Path

__all__ = ["Parameter", "Tensor"]

_names = itertools.count()


class Tensor(Values):
    """An n-dimensional array on which operations are recorded.

    Made by `to_tensor`, by the creation functions, and by operations on tensors. The value of a
    tensor may be replaced (`set_value`), but memory that a graph or a NumPy view can see is never
    written, so a recorded operation always differentiates the values it was computed from.

    Attributes
    ----------
    stop_gradient : bool
        True where no gradient flows: the default of tensors a user makes.
    grad : Tensor or None
        What backward passes have accumulated, on leaves.
    name : str

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> (x * x).sum().backward()
    >>> x.grad.tolist()
    [2.0, 4.0]
    """

    __slots__ = (
        "__weakref__",
        "_born",
        "_cleared",
        "_data",
        "_grad",
        "_group",
        "_hooks",
        "_name",
        "_node",
        "_open",
        "_path",
        "_persistable",
        "_retains",
        "_stop",
        "_version",
    )

    _data: Array
    _grad: Tensor | None
    _name: str
    _node: Node | None
    _stop: bool
    _open: bool  # set of integers and bools whose stop_gradient was set to False
    _version: int
    _persistable: bool
    _hooks: LeafHooks | None  # of a leaf; those of the result of an operation are its node's
    _retains: bool
    _group: Group | None  # of a tensor with views, or that is one: what it shares with the others
    _path: Path | None  # and how it is taken from the whole
    __weakref__: Any  # the weak references to it, None where there are none
    _born: int  # of a leaf: the number that the next operation had when it became one
    _cleared: Location  # the line that cleared the gradient; of a gradient: that made it zeros

    def __init__(
        self, data: Any, dtype: DTypeLike | None = None, stop_gradient: bool = True
    ) -> None:
        from autograd_engine.core.array_conversion import to_array

        self._data = to_array(data, dtype)
        if data.__class__ is np.ndarray:
            follow_cut(data, self._data)
        elif isinstance(data, Tensor) and not data._stop:
            note_cut("to_tensor()", data, self._data)
        self._grad = self._hooks = self._group = None
        self._node = None
        self._stop = True
        self.stop_gradient = stop_gradient

    @staticmethod
    def _wrap(data: Array, node: Node | None = None) -> Tensor:
        """A tensor around `data` itself, made by `node` (no gradient without one)."""
        self = object.__new__(Tensor)
        self._data = data
        self._node = node
        self._stop = node is None
        return self

    def __dir__(self) -> list[str]:
        return present_names(self)

    def _alias(self) -> Tensor:
        """What this tensor is now, for the graph too, whatever is done to the tensor later."""
        if self._node is None and not self._stop:
            return self  # gradients go to the leaf itself
        other = Tensor._wrap(self._data, self._node)
        other._stop = self._stop
        return other

    # --- what it is

    @property
    def stop_gradient(self) -> bool:
        """Whether gradients stop here: True for tensors that a user makes, unless said otherwise.

        Set it to False before the tensor is used: operations look at it when they run. Integers and
        bools may have False, too, as in the reference; no gradient ever comes to them.
        """
        return self._stop and not (self._data.dtype in EXACT and hasattr(self, "_open"))

    @stop_gradient.setter
    def stop_gradient(self, value: bool) -> None:
        if value.__class__ is not bool:
            require_bools("stop_gradient = ...", value=value)
        if self._data.dtype in EXACT and self._stop:
            if not value:
                self._open = True
            elif hasattr(self, "_open"):
                del self._open
            return
        if not value and self._data.dtype not in INEXACT:
            raise no_gradients_of("stop_gradient=False", self._data.dtype)
        if value and not self._stop:
            note_cut("stop_gradient = True", self, self._data)
        if not value and self._stop and not hasattr(self, "_born"):
            self._born = newer()
        changes = value is not self._stop
        self._stop = bool(value)
        if changes:
            cut_off(self)

    @property
    def trainable(self) -> bool:
        """The opposite of `stop_gradient`; it may be set."""
        return not self._stop

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self.stop_gradient = not value

    def _keep_storage(self, storage: object) -> None:
        """Nothing: a tensor has memory of its own, or holds what it shares."""

    # The safetensors library keeps its file open by this attribute of a tensor that it reads.
    _safetensors_storage = property(None, _keep_storage)

    @property
    def shape(self) -> Size:
        return Size(self._data.shape)

    @property
    def dtype(self) -> DType:
        return as_dtype(self._data.dtype)

    @property
    def ndim(self) -> int:
        return self._data.ndim

    @property
    def name(self) -> str:
        try:
            return self._name
        except AttributeError:
            kind = "generated_tensor" if self._node is None else "eager_tmp"
            self._name = f"{kind}_{next(_names)}"
            return self._name

    @name.setter
    def name(self, value: str) -> None:
        self._name = str(value)

    @property
    def persistable(self) -> bool:
        """A mark of parameters, and of what is said to be kept; eager mode does not ask for it."""
        return getattr(self, "_persistable", False)

    @persistable.setter
    def persistable(self, value: bool) -> None:
        require_bools("persistable = ...", value=value)
        self._persistable = value

    @property
    def is_leaf(self) -> bool:
        """True where no recorded operation made this tensor."""
        return self._node is None

    @property
    def grad_fn(self) -> GradNode | None:
        """The recorded operation that made this tensor, None where no gradient flows.

        Of a leaf it is the node that accumulates in its ``.grad``. See `GradNode`.
        """
        found: GradNode | None = above.grad_fn(self)
        return found

    @property
    def inplace_version(self) -> int:
        """How many in-place methods and index assignments have been called on this tensor.

        Those on its views, and on what it is a view of, count as well.
        """
        storage = storage_of(self)
        return getattr(self, "_version", 0) if storage is None else storage.version

    @property
    def T(self) -> Tensor:  # noqa: N802 - the public name
        """The axes in reverse order."""
        reverse: Tensor = self.transpose(list(range(self.ndim))[::-1])
        return reverse

    # --- gradient

    @property
    def grad(self) -> Tensor | None:
        """What backward passes have added up, or None; `paddle.explain` tells why it is None.

        Leaves have it, and results of operations for which `retain_grads` was called. It may be
        set, to None or to a Tensor of this shape and dtype.
        """
        return getattr(self, "_grad", None)

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            if not isinstance(value, Tensor):
                raise NotATensorError(
                    f"grad takes a Tensor or None, got {type(value).__name__}: use to_tensor"
                )
            if value._data.shape != self._data.shape:
                raise ShapeError(
                    f"grad must have the shape of the tensor, {list(self._data.shape)}; "
                    f"got {list(value._data.shape)}"
                )
            if value._data.dtype != self._data.dtype:
                raise DTypeError(
                    f"grad must have the dtype of the tensor, {self._data.dtype.name}; got "
                    f"{value._data.dtype.name}: use grad.astype({self._data.dtype.name!r})"
                )
        elif self.grad is not None:
            self._cleared = caller()
        self._grad = value

    def gradient(self) -> Array | None:
        """The accumulated gradient as an ndarray, or None."""
        return None if self.grad is None else self.grad.numpy()

    def clear_gradient(self, set_to_zero: bool = True) -> None:
        """Set an existing gradient to zeros, or to None with ``set_to_zero=False``.

        Parameters
        ----------
        set_to_zero : bool
        """
        if set_to_zero.__class__ is not bool:
            require_bools("clear_gradient", set_to_zero=set_to_zero)
        if self.grad is not None:
            self._clear(set_to_zero, caller())

    def _clear(self, set_to_zero: bool, at: Location) -> None:
        grad = getattr(self, "_grad", None)
        if grad is not None:
            if set_to_zero:
                grad = grad._zeroed()
                grad._cleared = at
                self._grad = grad
            else:
                self._grad = None
            self._cleared = at

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """`clear_gradient` under the name that notebooks use."""
        self.clear_gradient(set_to_zero)

    def _zeroed(self) -> Tensor:
        data = self._data
        return Tensor._leaf(np.zeros(data.shape, data.dtype))

    def is_selected_rows(self) -> bool:
        """Whether this is a gradient of which only some rows are kept."""
        return False

    @staticmethod
    def _leaf(data: Array) -> Tensor:
        """A leaf that requires a gradient, around `data` itself."""
        self = Tensor._wrap(data)
        self._stop = False
        return self

    # --- values

    def detach(self) -> Tensor:
        """The same values, outside the graph.

        They stay the same: a change in place of the one is one of the other, whose history it
        leaves as it is. `clone` gives values of its own.

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> w.detach()[0] = 5.0
        >>> w.tolist(), w.stop_gradient
        ([5.0, 2.0], False)
        """
        if not self._stop:
            note_cut("detach()", self, self._data)
        detached = Tensor._wrap(self._data)
        link_detached(detached, self)
        return detached

    def set_value(self, value: Any) -> None:
        """Replace the values. Operations recorded before keep the old ones.

        A leaf stays a leaf. The result of an operation is one no longer: nothing flows from these
        values into the graph that the old ones came from. Views of this tensor show the new values,
        and so does what it is a view of.

        Parameters
        ----------
        value : Tensor or array_like
            Of this tensor's shape; its dtype is that of the tensor, or one that casts to it.

        Raises
        ------
        ShapeError, DTypeError
            Unless `value` has this tensor's shape and dtype.

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> loss = (w * w).sum()
        >>> w.set_value([5.0, 5.0])
        >>> loss.backward()
        >>> w.grad.tolist()
        [2.0, 4.0]
        """
        from autograd_engine.core.array_conversion import to_array

        given = value._data if isinstance(value, Tensor) else to_array(value, None, "set_value")
        if given.shape != self._data.shape:
            raise ShapeError(
                f"set_value: {self.name} has shape {list(self._data.shape)}, the value "
                f"{list(given.shape)}"
            )
        if not can_cast(given.dtype, self._data.dtype, "same_kind"):
            raise DTypeError(
                f"set_value: {self.name} is {self._data.dtype.name}, the value {given.dtype.name}; "
                f"use value.astype({self._data.dtype.name!r})"
            )
        array = to_array(given, self._data.dtype)
        group = getattr(self, "_group", None)
        if group is not None and group.node is not None:
            note_cut("set_value()", self, array)
            with recording():  # what was there has a history, of which these values end a part
                overwrite(self, Tensor._wrap(array), "set_value", counts=False)
        elif group is not None or self._node is None:
            write_values(self, array)
        else:
            note_cut("set_value()", self, array)
            # All or nothing, whatever interrupts: values and history belong together.
            self._data, self._node, self._stop = array, None, True

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return format_tensor(
            self._data,
            dtype_name=self._data.dtype.name,
            stop_gradient=self.stop_gradient,
        )

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        found: str = above.tensor_html(self, type(self).__name__)
        return found


@respelled
class Parameter(Trained, Tensor):
    """A tensor that an optimizer trains: `stop_gradient` is False, or follows `trainable`."""

    __slots__ = ("_options",)

    _options: TrainingOptions | None

    def __init__(
        self,
        data: Any,
        dtype: DTypeLike | None = None,
        *,
        name: str | None = None,
        trainable: bool = True,
        options: TrainingOptions | None = None,
    ) -> None:
        super().__init__(data, dtype, stop_gradient=not trainable)
        self._persistable = True
        self._options = options
        if name is not None:
            self.name = name

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()

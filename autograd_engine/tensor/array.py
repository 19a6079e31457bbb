"""Arrays of tensors, which grow: in programs a variable of its own kind, eagerly a list."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from autograd_engine import unique_name
from autograd_engine.core.dims import fresh_dim
from autograd_engine.core.dtypes import INEXACT, INTEGERS, as_dtype, to_numpy
from autograd_engine.core.spec import Spec, format_shape
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import (
    ArgumentError,
    ArgumentTypeError,
    BuildError,
    DTypeError,
    IndexRangeError,
    NotATensorError,
    ShapeError,
)
from autograd_engine.program import mode
from autograd_engine.program.atomic_call import checked
from autograd_engine.program.builder import append_operator, new_result
from autograd_engine.program.control_flow.block_function import as_variable
from autograd_engine.program.ir.control_flow_op import BlockOp
from autograd_engine.program.ir.program import Block, Ref, Variable, default_main_program
from autograd_engine.tensor.creation import zeros
from autograd_engine.tensor.joining import concat, stack

__all__ = [
    "array_length",
    "array_read",
    "array_write",
    "create_array",
    "create_tensor",
    "tensor_array_to_tensor",
]

# The reference has `tensor_array_to_tensor` in a module of this name.
manipulation = sys.modules[__name__]


@checked
def create_array(dtype: Any, initialized_list: Sequence[Any] | None = None) -> Any:
    """An array of tensors of one dtype, empty or with first elements.

    Parameters
    ----------
    dtype : str or dtype
    initialized_list : list or tuple of Tensor or Variable, optional

    Returns
    -------
    list or Variable
        Eagerly a list. In a program a variable that `array_write` writes and `array_read` reads,
        inside of loops and branches too; gradients of any order flow through it.

    Raises
    ------
    TypeError, DTypeError, ShapeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> array = paddle.tensor.create_array("float32", [paddle.ones([2])])
    >>> i = paddle.full([1], 1, "int64")
    >>> array = paddle.tensor.array_write(paddle.zeros([2]), i, array)
    >>> paddle.tensor.array_length(array).item(), paddle.tensor.array_read(array, i).tolist()
    (2, [0.0, 0.0])
    """
    wanted = to_numpy(dtype)
    if initialized_list is not None and not isinstance(initialized_list, (list, tuple)):
        raise ArgumentTypeError(
            "create_array: initialized_list must be a list of tensors, got "
            f"{type(initialized_list).__name__}"
        )
    first = list(initialized_list or ())
    for k, value in enumerate(first):
        if not isinstance(value, (Tensor, Variable)):
            raise NotATensorError(
                f"create_array: initialized_list[{k}] must be a Tensor or a Variable, got "
                f"{type(value).__name__}"
            )
    if not _in_program(*first):
        for k, value in enumerate(first):
            _check_dtype("create_array", f"initialized_list[{k}]", value._data.dtype, wanted)
        return first
    program = next((v.block.program for v in first if isinstance(v, Variable)), None)
    block = (program or default_main_program()).current_block()
    with block.restored_on_error():
        # No size is that of an array which nothing was written to.
        stops = wanted not in INEXACT
        made = new_result(block, "array", Spec((), wanted), stop_gradient=stops)
        made.var.is_stack = True
        append_operator(block, BlockOp.of("array_new"), (), (made,), {})
        for k, value in enumerate(first):
            _write("create_array", value, np.array([k]), made.var)
    return made.var


@checked
def array_write(x: Any, i: Any, array: Any = None) -> Any:
    """Let `x` be the element `i` of an array, and return the array.

    Parameters
    ----------
    x : Tensor or Variable
        Of the dtype of the array. Elements may differ in their sizes, not in how many there are.
    i : Tensor or Variable
        An integer of one element, not negative. Eagerly at most the length of the array; in a
        program the places that this leaves out cannot be read.
    array : list or Variable, optional
        What `create_array` returned; without it a new one.

    Returns
    -------
    list or Variable
        `array`, which has the element from here on.

    Raises
    ------
    TypeError, DTypeError, ShapeError
    IndexError
        For a place that is not there.
    BuildError
        For an array of another program, or of a branch or loop that is over; and when a loop
        writes an element of another size to an array that it reads.

    Examples
    --------
    >>> import numpy as np
    >>> import autograd_engine as paddle
    >>> main = paddle.static.Program()
    >>> with paddle.static.program_guard(main):
    ...     x = paddle.static.data("x", [2], "float32")
    ...     powers = paddle.tensor.create_array("float32", [x])
    ...     i = paddle.zeros([1], "int64")
    ...     more = i < 3
    ...     with paddle.static.nn.control_flow.While(more).block():
    ...         power = paddle.tensor.array_read(powers, i) * x
    ...         _ = paddle.increment(i)
    ...         _ = paddle.tensor.array_write(power, i, powers)
    ...         _ = paddle.assign(i < 3, output=more)
    ...     y, _ = paddle.tensor.tensor_array_to_tensor(powers, axis=0, use_stack=True)
    >>> print(paddle.static.Executor().run(main, {"x": np.float32([2, 3])}, [y])[0])
    [[ 2.  3.]
     [ 4.  9.]
     [ 8. 27.]
     [16. 81.]]
    """
    if not _in_program(x, i, array):
        return _write_eagerly(x, i, array)
    if array is None:
        if not isinstance(x, Variable):
            raise NotATensorError(
                f"array_write: x must be a Variable, got {type(x).__name__}"
                + mode.chosen_elsewhere()
            )
        array = create_array(x.dtype)
    _write("array_write", x, i, array)
    return array


@checked
def array_read(array: Any, i: Any) -> Tensor:
    """The element `i` of an array.

    Parameters
    ----------
    array : list or Variable
        What `create_array` and `array_write` return.
    i : Tensor or Variable
        An integer of one element, not negative.

    Raises
    ------
    TypeError
    IndexError
        For a place that is not there, when the program runs or at once.
    BuildError
        For a variable to which nothing was written before.
    """
    if not _in_program(array, i):
        elements = _list("array_read", "array", array)
        index = _place("array_read", i)
        if index >= len(elements):
            raise IndexRangeError(
                f"array_read: i is {index}, and the array has {len(elements)} elements"
            )
        return cast(Tensor, elements[index])
    held, block = _held("array_read", array)
    if not held.spec.shape:
        raise BuildError(
            f"array_read: nothing was written to {held.name} before, so nothing says what its "
            "elements are; call array_write first, before a loop that reads it"
        )
    operands = held, _index("array_read", i, block)
    spec = Spec(held.spec.shape[1:], held.spec.dtype)
    return cast(Tensor, _append(block, "array_read", operands, spec))


@checked
def array_length(array: Any) -> Tensor:
    """How many elements an array has, of shape [1] and dtype int64.

    Parameters
    ----------
    array : list or Variable
        What `create_array` and `array_write` return.

    Raises
    ------
    TypeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.tensor.array_length(paddle.tensor.create_array("float32")).tolist()
    [0]
    """
    if not _in_program(array):
        length = np.array([len(_list("array_length", "array", array))], np.int64)
        return Tensor._wrap(length)
    held, block = _held("array_length", array)
    return cast(Tensor, _append(block, "array_length", (held,), Spec((1,), np.dtype(np.int64))))


@checked
def tensor_array_to_tensor(
    input: Any, axis: int = 1, use_stack: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """All elements of an array, concatenated or stacked, and their sizes along the axis.

    Parameters
    ----------
    input : list or Variable
        What `create_array` and `array_write` return.
    axis : int
    use_stack : bool
        Stack them, along a new axis.
    name : str, optional
        Accepted for the reference's sake.

    Returns
    -------
    (Tensor, Tensor)
        The second of dtype int32, with the size of each element along the axis; 1 where they are
        stacked along an axis that they do not have.

    Raises
    ------
    TypeError, ShapeError
    ArgumentError
        For an axis that is not there.
    BuildError
        For a variable to which nothing was written before.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> array = [paddle.ones([2, 1]), paddle.zeros([2, 2])]
    >>> joined, sizes = paddle.tensor.tensor_array_to_tensor(array, axis=1)
    >>> joined.tolist(), sizes.tolist()
    ([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]], [1, 2])
    """
    where = "tensor_array_to_tensor"
    if isinstance(axis, bool) or not isinstance(axis, (int, np.integer)):
        raise ArgumentTypeError(f"{where}: axis must be an int, got {type(axis).__name__}")
    if not _in_program(input):
        elements = _list(where, "input", input)
        if not elements:
            raise ArgumentError(f"{where}: the array is empty; write to it first")
        at = _axis(where, axis, elements[0].ndim, use_stack)
        sizes = [e.shape[at] if at < e.ndim else 1 for e in elements]
        joined = stack(elements, at) if use_stack else concat(elements, at)
        return joined, Tensor._wrap(np.array(sizes, np.int32))
    if isinstance(input, list):  # of variables, which is as good
        if not input:
            raise ArgumentError(f"{where}: the list is empty")
        input = create_array(input[0].dtype, input)
    held, block = _held(where, input)
    if not held.spec.shape:
        raise BuildError(
            f"{where}: nothing was written to {held.name} before, so nothing says what its "
            "elements are; call array_write first"
        )
    count, *shape = held.spec.shape
    at = _axis(where, axis, len(shape), use_stack)
    if use_stack:
        shape.insert(at, count)
    else:
        shape[at] = fresh_dim()
    attrs = {"axis": at, "stack": use_stack}
    made = _append(block, "array_join", (held,), Spec(tuple(shape), held.spec.dtype), attrs)
    spec = Spec((count,), np.dtype(np.int32))
    found: Any = made, _append(block, "array_sizes", (held,), spec, {"axis": at})
    return cast(tuple[Tensor, Tensor], found)


@checked
def create_tensor(dtype: Any, name: str | None = None, persistable: bool = False) -> Tensor:
    """A tensor without a value, for `assign` or another function to give it one.

    Parameters
    ----------
    dtype : str or dtype
    name : str, optional
    persistable : bool
        In a program: kept in the scope between runs.

    Returns
    -------
    Tensor or Variable
        In a program a variable that takes any shape when it is written first; eagerly a tensor of
        no elements.

    Raises
    ------
    TypeError

    Examples
    --------
    >>> import numpy as np
    >>> import autograd_engine as paddle
    >>> main = paddle.static.Program()
    >>> with paddle.static.program_guard(main):
    ...     total = paddle.tensor.create_tensor("float32")
    ...     _ = paddle.assign(paddle.static.data("x", [], "float32") * 2.0, output=total)
    >>> paddle.static.Executor().run(main, {"x": np.float32(1.5)}, [total])
    [array(3., dtype=float32)]
    """
    wanted = as_dtype(dtype)
    if not mode.building():
        made = zeros([0], wanted)
        if name is not None:
            made.name = name
        made.persistable = persistable
        return made
    block = default_main_program().current_block()
    found = block.create_var(
        name or unique_name.generate("create_tensor"), dtype=wanted, persistable=persistable
    )
    found.declared = True
    return cast(Tensor, found)


def _in_program(*values: Any) -> bool:
    if any(isinstance(v, Variable) for v in values):
        return True
    if any(isinstance(v, list) and any(isinstance(e, Variable) for e in v) for v in values):
        return True
    return mode.building() and not any(isinstance(v, (Tensor, list)) for v in values)


# --- in programs


def _held(where: str, array: Any) -> tuple[Variable, Block]:
    """The array in the block that is built."""
    if not isinstance(array, Variable) or not array.is_stack:
        what = f"the variable {array.name}" if isinstance(array, Variable) else type(array).__name__
        raise ArgumentTypeError(
            f"{where}: array must be what create_array returned in this program, got {what}"
            + mode.chosen_elsewhere()
        )
    block = array.block.program.current_block()
    return array.seen_from(block), block


def _index(where: str, i: Any, block: Block) -> Variable:
    if isinstance(i, bool) or not isinstance(i, (Variable, int, np.integer, np.ndarray)):
        raise ArgumentTypeError(
            f"{where}: i must be an integer Variable, got {type(i).__name__}"
            + mode.chosen_elsewhere()
        )
    index = as_variable(i, block).seen_from(block)
    _check_index(where, index.spec.dtype, index.spec.shape)
    return index


def _check_index(where: str, dtype: np.dtype[Any], shape: Sequence[Any]) -> None:
    if dtype not in INTEGERS:
        raise DTypeError(f"{where}: i must be an integer, it is {dtype.name}; cast it")
    if any(isinstance(d, int) and d != 1 for d in shape):
        raise ShapeError(f"{where}: i must have one element, it has shape {format_shape(shape)}")


def _check_dtype(where: str, what: str, dtype: np.dtype[Any], wanted: np.dtype[Any]) -> None:
    if dtype != wanted:
        raise DTypeError(
            f"{where}: {what} is {dtype.name}, and the array is one of {wanted.name}; cast it: "
            f"x.astype({wanted.name!r})"
        )


def _append(
    block: Block, kind: str, operands: Sequence[Variable], spec: Spec, attrs: Any = None
) -> Variable:
    stops = spec.dtype not in INEXACT
    made = new_result(block, f"{unique_name.generate(kind)}.tmp", spec, stop_gradient=stops)
    refs = tuple(Ref(v, v.version) for v in operands)
    append_operator(block, BlockOp.of(kind), refs, (made,), attrs or {})
    return made.var


def _write(where: str, x: Any, i: Any, array: Any) -> None:
    held, block = _held(where, array)
    if isinstance(x, Tensor) or not isinstance(x, (Variable, np.ndarray)):
        raise NotATensorError(
            f"{where}: x must be a Variable, got {type(x).__name__}{mode.chosen_elsewhere()}"
        )
    value = as_variable(x, block).seen_from(block)
    if value.is_stack:
        raise NotATensorError(f"{where}: x is {value.name}, an array; arrays hold tensors only")
    _check_dtype(where, f"x ({value.name})", value.spec.dtype, held.spec.dtype)
    index = _index(where, i, block)
    with block.restored_on_error():
        _let_hold(where, held, value.spec)
        operands = tuple(Ref(v, v.version) for v in (held, value, index))
        append_operator(block, BlockOp.of("array_write"), operands, (held.write(),), {})


def _let_hold(where: str, array: Variable, element: Spec) -> None:
    """Let the variable, and what it stands for in the blocks around, have such an element."""
    old = array.spec
    if old.shape and len(old.shape) != len(element.shape) + 1:
        raise ShapeError(
            f"{where}: the elements of {array.name} have {len(old.shape) - 1} axes, and x has "
            f"shape {format_shape(element.shape)}; it must have as many"
        )
    shape = element.shape
    if old.shape:
        pairs = zip(old.shape[1:], shape, strict=True)
        shape = tuple(a if a == b else fresh_dim() for a, b in pairs)
        if any(a != b for a, b in zip(old.shape[1:], shape, strict=True)):
            _check_unread(where, array, element)
        else:
            return
    new = Spec((fresh_dim(), *shape), old.dtype)
    around: Variable | None = array
    while around is not None:
        around.take_spec(new)
        around = _stands_for(around)


def _check_unread(where: str, array: Variable, element: Spec) -> None:
    """In a loop, what was read before is built for elements of the sizes that there were."""
    around: Variable | None = array
    while around is not None:
        if around.block.repeated:
            raise BuildError(
                f"{where}: x has shape {format_shape(element.shape)}, and the elements of "
                f"{array.name} before the loop {format_shape(array.spec.shape[1:])}: inside a loop "
                "all of them must have one shape, or sizes that are not known"
            )
        around = _stands_for(around)


def _stands_for(argument: Variable) -> Variable | None:
    """The variable of the block around that it is an argument for."""
    block = argument.block
    for (name, _), captured in block.captured.items():
        if captured is argument:
            return block.program.blocks[block.parent_idx].vars[name]
    return None


# --- eagerly


def _list(where: str, what: str, array: Any) -> list[Any]:
    if not isinstance(array, list):
        raise ArgumentTypeError(
            f"{where}: {what} must be a list, what create_array returns, got "
            f"{type(array).__name__}{mode.chosen_elsewhere()}"
        )
    return array


def _place(where: str, i: Any) -> int:
    if isinstance(i, Tensor):
        _check_index(where, i._data.dtype, i._data.shape)
        i = i._data.item()
    if isinstance(i, bool) or not isinstance(i, (int, np.integer)):
        raise ArgumentTypeError(f"{where}: i must be an integer Tensor, got {type(i).__name__}")
    if i < 0:
        raise IndexRangeError(f"{where}: i must not be negative, it is {i}")
    return int(i)


def _write_eagerly(x: Any, i: Any, array: Any) -> list[Any]:
    if not isinstance(x, Tensor):
        raise NotATensorError(
            f"array_write: x must be a Tensor, got {type(x).__name__}{mode.chosen_elsewhere()}"
        )
    elements = [] if array is None else _list("array_write", "array", array)
    index = _place("array_write", i)
    if index > len(elements):
        raise IndexRangeError(
            f"array_write: i is {index}, and the array has {len(elements)} elements: write them in "
            "their order"
        )
    if elements:
        _check_dtype("array_write", "x", x._data.dtype, elements[0]._data.dtype)
    if index == len(elements):
        elements.append(x)
    else:
        elements[index] = x
    return elements


def _axis(where: str, axis: int, ndim: int, new: bool) -> int:
    """The axis as one that is not negative."""
    count = ndim + new
    if not -count <= axis < count:
        raise ArgumentError(
            f"{where}: axis must be from {-count} to {count - 1} for elements of {ndim} axes, got "
            f"{axis}"
        )
    return int(axis) % count

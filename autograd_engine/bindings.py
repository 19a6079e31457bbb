"""The one place that attaches to Tensor, Variable and Program what lives above them.

It fills the namespace `ops` and binds operators, both from the table: what an operation does is
decided by its operands, a Variable among them appends an operator to its program, else it runs on
Tensors and is recorded. Public functions become methods. And what methods of the classes ask for
from further up is named in `ORIGINS`, and loaded when it is first used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from autograd_engine import signal
from autograd_engine.autograd import hooks
from autograd_engine.autograd.backward_pass import tensor_backward
from autograd_engine.core.above import ORIGINS
from autograd_engine.core.dtypes import INTEGERS
from autograd_engine.core.names.missing_names import bind_absent
from autograd_engine.core.operand import OPERATORS, REFLECTED, Operand
from autograd_engine.eager.generated_calls import generate_call, generates
from autograd_engine.eager.record import apply, record_scatter
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentTypeError, NotATensorError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef
from autograd_engine.program import mode
from autograd_engine.program.builder import emit
from autograd_engine.program.ir.program import Program, Variable
from autograd_engine.program.operands import NUMBERS, shape_of, with_numbers
from autograd_engine.tensor import (
    attribute,
    broadcasting,
    complex,
    counting,
    creation,
    diagonal,
    elementwise,
    getitem,
    indexing,
    joining,
    logic,
    movement,
    order,
    public,
    random,
    reduction,
    rounding,
    scan,
    scatter,
    setitem,
    shape,
    sorting,
    special,
)
from autograd_engine.tensor.linalg import (
    decomposition,
    determinant,
    inverse,
    low_rank,
    lu,
    norms,
    products,
)
from autograd_engine.tensor.spelling import inplace, names
from autograd_engine.tensor.spelling.wrapper import spelled

__all__ = ["METHODS", "bind_methods"]


# --- operators, and the functions of `ops`


def _general(op: OpDef) -> Callable[..., Any]:
    """Any operands, any attributes."""
    defaults = op.attrs
    nullary = not op.inputs
    # Behind other inputs a variadic one may be empty: a key without arrays.
    fewest = max(len(op.inputs) - op.variadic, min(len(op.inputs), 1))

    def call(*operands: Any, **attrs: Any) -> Any:
        full = attrs if attrs.keys() == defaults.keys() else op.complete_attrs(attrs)
        if nullary:
            return emit(op, operands, full) if mode.building() else apply(op, operands, full)
        if len(operands) < fewest or (len(operands) > len(op.inputs) and not op.variadic):
            raise ArgumentTypeError(
                f"{op.name} takes {len(op.inputs)} operands ({', '.join(op.inputs)}); "
                f"got {len(operands)}"
            )
        for operand in operands:
            if isinstance(operand, Variable):
                return emit(op, operands, full)
        if (
            operands[0].__class__ is not Tensor
            and mode.building()
            and all(isinstance(v, NUMBERS) for v in operands)
        ):
            return emit(op, operands, full)
        return apply(op, operands, full)

    return call


def _bind(op: OpDef) -> Callable[..., Any]:
    """The function that `ops` holds for `op`."""
    general = _general(op)
    general.__name__ = general.__qualname__ = op.name
    return generate_call(op, general) if op.complete and generates(op) else general


def _project(g: Any, like: Any) -> Any:
    if g is None or shape_of(g) == shape_of(like):
        return g
    return ops.sum_like(g, like)


def _scatter(name: str, *operands: Any, **attrs: Any) -> Any:
    """In a program an operator; what becomes of its result is known when the program runs."""
    if any(isinstance(v, Variable) for v in operands):
        return getattr(ops, name)(*operands, **attrs)
    return record_scatter(name, operands, attrs)


def _reflected(call: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda self, other: call(other, self)


def _or_not(
    call: Callable[..., Any], *, repeats: bool = False, lists: bool = True
) -> Callable[..., Any]:
    """`call` as an operator: what it cannot take is left to the other operand, Python's way.

    With `lists` a list of numbers counts as an array of them. With `repeats` a string, a list or a
    tuple that is none is left to nobody: Python would go on to repeat it, and ask how often. A
    tensor that can say that may.
    """

    def attempt(*operands: Any, **attrs: Any) -> Any:
        try:
            return call(*operands, **attrs)
        except NotATensorError:
            if all(isinstance(v, Operand) for v in operands):
                raise  # a Tensor beside a Variable: ours to explain
            found = with_numbers(*operands) if lists else None
            if found is not None:
                return call(*found, **attrs)
            if repeats and _repeated_wrongly(operands):
                raise
            return NotImplemented

    return attempt


def _repeated_wrongly(operands: tuple[Any, ...]) -> bool:
    sequences = [v for v in operands if isinstance(v, (str, bytes, list, tuple))]
    counts = [v for v in operands if isinstance(v, Tensor) and v._data.dtype in INTEGERS]
    return bool(sequences) and not any(x._data.size == 1 for x in counts)


def _operator(dunder: str, name: str) -> Callable[..., Any]:
    """The method behind one of Python's operators, generated when it is first used.

    Generating all of them would take a quarter of the time that the engine takes to import.
    """

    def first(*operands: Any) -> Any:
        op = REGISTRY[name]
        lists = dunder not in ("__eq__", "__ne__")
        general = _or_not(_general(op), repeats=name == "multiply", lists=lists)
        method = generate_call(op, general, reflected=dunder in REFLECTED)
        for cls in (Tensor, Variable):
            setattr(cls, dunder, method)
        return method(*operands)

    first.__name__ = first.__qualname__ = dunder
    return first


ops.project = _project
ops.scatter = _scatter
ops.bind = _bind
for _dunder, _name in (*OPERATORS.items(), *REFLECTED.items()):
    _method = _operator(_dunder, _name)
    setattr(Tensor, _dunder, _method)
    setattr(Variable, _dunder, _method)


# --- methods

_NO_METHODS: Final = ("positive",)
_DECOMPOSITIONS: Final = (
    "cholesky",
    "eig",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "ormqr",
    "qr",
)
_LINEAR_SYSTEMS: Final = ("cholesky_inverse", "cholesky_solve", "inverse", "matrix_power", "solve")
_LEAST_SQUARES: Final = ("lstsq", "pinv")
_REPEATS: Final = (
    "broadcast_shape",
    "broadcast_shapes",
    "broadcast_tensors",
    "broadcast_to",
    "combinations",
    "expand",
    "expand_as",
    "reduce_as",
    "repeat_interleave",
    "tile",
    "vander",
)
_PARTS: Final = (
    "block_diag",
    "chunk",
    "concat",
    "dsplit",
    "hsplit",
    "split",
    "split_with_sizes",
    "stack",
    "tensor_split",
    "unbind",
    "unstack",
    "vsplit",
)


def _matmul(x: Any, y: Any) -> Any:
    """``x @ y``: generated when first used, for matrices; what else there is goes to `matmul`."""
    general = _or_not(products.matmul)
    call = generate_call(REGISTRY["matmul"], general, "_a0.ndim != 2 or _a1.ndim != 2")
    for cls in (Tensor, Variable):
        setattr(cls, "__matmul__", call)  # noqa: B010 - no attribute that a class declares
    return call(x, y)


def _pow(x: Any, y: Any) -> Any:
    """``x ** y``: generated when first used, for arrays; of numbers `pow` knows more."""
    op, square = REGISTRY["pow"], ops.square
    call = generate_call(op, _or_not(_general(op)))

    def power(x: Any, y: Any) -> Any:
        if y.__class__ is int and y == 2:
            return square(x)
        return elementwise.pow(x, y) if isinstance(y, (int, float)) else call(x, y)

    for cls in (Tensor, Variable):
        setattr(cls, "__pow__", power)  # noqa: B010 - as above
    return power(x, y)


_DEFINED: Final[dict[str, Any]] = {
    **{name: getattr(elementwise, name) for name in elementwise.__all__ if name not in _NO_METHODS},
    **{name: getattr(rounding, name) for name in rounding.__all__},
    **{name: getattr(special, name) for name in special.__all__},
    **{name: getattr(logic, name) for name in logic.__all__},
    **{name: getattr(complex, name) for name in complex.__all__ if name != "complex"},
    **{name: getattr(reduction, name) for name in (*reduction.__all__, "cov", "corrcoef")},
    **{name: getattr(scan, name) for name in scan.__all__},
    **{name: getattr(order, name) for name in order.__all__},
    **{name: getattr(sorting, name) for name in sorting.__all__ if name != "searchsorted"},
    **{name: getattr(counting, name) for name in counting.__all__},
    **{name: getattr(shape, name) for name in shape.__all__},
    **{name: getattr(diagonal, name) for name in diagonal.__all__},
    **{name: getattr(joining, name) for name in _PARTS},
    **{name: getattr(movement, name) for name in movement.__all__ if name != "crop"},
    **{name: getattr(broadcasting, name) for name in _REPEATS},
    **{name: getattr(indexing, name) for name in indexing.__all__},
    **{name: getattr(scatter, name) for name in scatter.__all__},
    **{name: getattr(products, name) for name in products.__all__ if name != "vecdot"},
    "multi_dot": products.multi_dot,
    **{name: getattr(norms, name) for name in norms.__all__ if name != "pdist"},
    **{name: getattr(decomposition, name) for name in _DECOMPOSITIONS},
    **{name: getattr(inverse, name) for name in (*_LINEAR_SYSTEMS, *_LEAST_SQUARES)},
    **{name: getattr(low_rank, name) for name in low_rank.__all__},
    **{name: getattr(lu, name) for name in ("lu", "lu_unpack")},
    **{name: getattr(attribute, name) for name in ("is_empty", "is_tensor", "numel", "rank")},
    **attribute.ATTRIBUTES,
    **{name: getattr(signal, name) for name in ("istft", "stft")},
    **names.METHODS,
    **inplace.methods(vars(public)["_defined"]),
    "cond": norms.cond,
    "slogdet": determinant.slogdet,
    "multinomial": random.multinomial,
    "fill_diagonal_tensor": diagonal.fill_diagonal_tensor,
    "astype": elementwise.cast,
    "clone": creation.clone,
    "__matmul__": _matmul,
    "__rmatmul__": _reflected(_or_not(products.matmul)),
    "__pos__": elementwise.positive,
    "__pow__": _pow,
    "__rpow__": _reflected(_or_not(elementwise.pow)),
    "__getitem__": getitem.getitem,
    "__setitem__": setitem.assign_item,
}
METHODS: Final[dict[str, Any]] = {
    name: function if name.startswith("__") else spelled(function)
    for name, function in _DEFINED.items()
}


def bind_methods() -> None:
    """Give both classes the functions of `METHODS`."""
    for cls in (Tensor, Variable):
        for name, function in METHODS.items():
            setattr(cls, name, function)
    eager = {"backward": tensor_backward, **{name: getattr(hooks, name) for name in hooks.__all__}}
    for name, function in eager.items():
        setattr(Tensor, name, function)
    bind_absent(Tensor, "paddle.Tensor")
    bind_absent(Program, "paddle.static.Program")


# --- what methods find further up

ORIGINS.update(
    {
        "EFFECTS": "static.print_assert",
        "append_op": "static.operator_types.append",
        "array_function": "interop.numpy_protocol.array_function",
        "array_ufunc": "interop.numpy_protocol.array_ufunc",
        "at_each_axis": "program.control_flow.axis_choice",
        "array_wanted": "interop.numpy_protocol.implicit_values",
        "backend_report": "static.analysis.backend_report",
        "block_text": "program.printing",
        "clone": "program.passes.clone",
        "compiled_function": "compiler.kernels.library",
        "create_block_parameter": "static.persistable",
        "create_var": "static.persistable",
        "deep": "interop.numpy_protocol.python_protocol",
        "draw": "autograd.explain.program_graph",
        "export": "interop.numpy_protocol.dlpack",
        "flat_state": "io.files.save_load",
        "forward_grad": "static.forward_mode",
        "functional": "nn",
        "grad_fn": "eager.grad_node",
        "imported": "interop.numpy_protocol.dlpack",
        "listed": "interop.numpy_protocol.implicit_values",
        "number_wanted": "interop.numpy_protocol.implicit_values",
        "of_version": "interop.array_api",
        "operator_attributes": "program.printing",
        "operator_text": "program.printing",
        "profiled": "static.analysis.profiler",
        "program_from_string": "program.files.text",
        "program_html": "autograd.explain.program_graph",
        "program_text": "program.printing",
        "number_of": "program.symbolic_number",
        "program_to_string": "program.files.text",
        "prune": "program.passes.clone",
        "remove_op": "static.operator_types.rewriting",
        "remove_var": "static.operator_types.rewriting",
        "rename_input": "static.operator_types.rewriting",
        "rename_output": "static.operator_types.rewriting",
        "rename_var": "static.operator_types.rewriting",
        "recompute_report": "static.analysis.checkpoint_report",
        "reduced": "interop.numpy_protocol.python_protocol",
        "register_variable_hook": "program.backward.gradient_hooks",
        "round": "tensor.rounding",
        "rows": "interop.numpy_protocol.python_protocol",
        "run_eagerly": "static.executor.interpreter",
        "set_attr": "static.operator_types.rewriting",
        "set_state": "static.save_load",
        "shallow": "interop.numpy_protocol.python_protocol",
        "state_of": "static.save_load",
        "tensor_html": "eager.html",
        "threads": "compiler.native.runtime",
        "to_python": "static.analysis.to_python",
        "variable_text": "program.printing",
    }
)

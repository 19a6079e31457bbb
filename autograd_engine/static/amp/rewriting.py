"""A program in float32, rewritten into one in mixed precision: the casts, before its gradients.

What `auto_cast` does while a program is built is done here to one that is there, by the same
decision for each row. Variables stay what they are to who holds them; those that an operation makes
in another dtype now are of that.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

import numpy as np

from autograd_engine.amp.casting import half_dtype
from autograd_engine.core.checks import require_bools
from autograd_engine.core.dtypes import FLOAT32, HALVES, INEXACT, DTypeLike, common_dtype
from autograd_engine.core.spec import Spec
from autograd_engine.eager.autocast import Autocast
from autograd_engine.errors import ArgumentError, ArgumentTypeError, BuildError
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef
from autograd_engine.program.builder import new_result
from autograd_engine.program.ir.block import Block
from autograd_engine.program.ir.control_flow_op import body_of, kind_of
from autograd_engine.program.ir.operator import Operator
from autograd_engine.program.ir.program import Program
from autograd_engine.program.ir.variable import Key, Literal, OperandRef, Parameter, Ref, Variable
from autograd_engine.program.marking import name_scope
from autograd_engine.program.scope import Scope, global_scope
from autograd_engine.static.amp.lists import AutoMixedPrecisionLists, given_lists

__all__ = ["cast_model_to_fp16", "cast_parameters_to_fp16", "fp16_guard", "rewritten"]

_GUARD: Final = "__use_fp16__"
_ADD: Final = REGISTRY["add"]
_CAST: Final = REGISTRY["cast"]
_REWRITTEN: Final = frozenset(["cond", "while"])  # operators whose blocks are, too


@contextlib.contextmanager
def fp16_guard() -> Iterator[None]:
    """Operators of this ``with`` block are what `cast_model_to_fp16` may cast, and no others.

    Where it is told to look at that: `use_fp16_guard`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> main = paddle.static.Program()
    >>> with paddle.static.program_guard(main, paddle.static.Program()):
    ...     x = paddle.static.data("x", [2, 2])
    ...     y = x @ x
    ...     with paddle.static.amp.fp16_guard():
    ...         z = y @ y
    >>> _ = paddle.static.amp.cast_model_to_fp16(main)
    >>> y.dtype, z.dtype
    (paddle.float32, paddle.float16)
    """
    with name_scope(_GUARD):
        yield


def cast_model_to_fp16(
    program: Program,
    amp_lists: AutoMixedPrecisionLists | None = None,
    use_fp16_guard: bool = True,
    dest_type: DTypeLike = "float16",
    level: str = "O2",
    use_promote: bool = False,
) -> set[str]:
    """Insert casts into a program that was built in float32, before gradients are appended.

    What is fed stays float32, and so does what a loop carries from one iteration to the next.

    Parameters
    ----------
    program : Program
    amp_lists : AutoMixedPrecisionLists, optional
    use_fp16_guard : bool
        Cast what was built inside of `fp16_guard` only.
    dest_type : {"float16", "bfloat16"}
    level : {"O1", "O2", "OD"}
        As of `paddle.amp.auto_cast`. At "O2" parameters whose every reader would cast them are of
        the low dtype themselves; those of normalisations, tables that are only read from, and
        those that a branch or a loop reads, which casts them where it uses them, are none of these.
    use_promote : bool
        See `paddle.amp.auto_cast`.

    Returns
    -------
    set of str
        Names of the parameters that are of the low dtype now: for `cast_parameters_to_fp16`.

    Raises
    ------
    BuildError
        When the program has gradients, or an optimizer, already.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> main = paddle.static.Program()
    >>> with paddle.static.program_guard(main, paddle.static.Program()):
    ...     x = paddle.static.data("x", [2, 2])
    ...     y = paddle.exp(x @ x)
    >>> paddle.static.amp.cast_model_to_fp16(main, use_fp16_guard=False, level="O1")
    set()
    >>> [op.type for op in main.global_block().ops]
    ['cast', 'cast', 'matmul', 'cast', 'exp']
    """
    return rewritten(program, amp_lists, use_fp16_guard, dest_type, level, use_promote)


def rewritten(
    program: Program,
    amp_lists: Any,
    use_fp16_guard: bool,
    dest_type: DTypeLike,
    level: str,
    use_promote: bool,
    parameters: set[str] | None = None,
) -> set[str]:
    """`cast_model_to_fp16`; of the low dtype may be these parameters, by default any."""
    owner = "cast_model_to_fp16"
    if not isinstance(program, Program):
        raise ArgumentTypeError(f"{owner} takes a Program, got {type(program).__name__}")
    require_bools(owner, use_fp16_guard=use_fp16_guard, use_promote=use_promote)
    lists = given_lists(owner, amp_lists, half_dtype(owner, "dest_type", dest_type).name)
    for op in program.global_block().ops:
        if op.role != "forward":
            raise BuildError(
                f"{owner}: the program has its {op.role} half already ({op.type} at "
                f"{op.location}), whose dtypes were chosen with it; call it, or minimize of "
                "paddle.static.amp.decorate(optimizer), before append_backward and minimize"
            )
    autocast = lists.autocast(level, use_promote)
    rewriting = _Rewriting(program.global_block(), autocast, lists.black_varnames, use_fp16_guard)
    with contextlib.ExitStack() as undone:
        rewriting.plan_all(undone)
    low = rewriting.low_parameters(parameters) if autocast.level == "O2" else {}
    rewriting.apply(low)
    program.changed()
    return {var.name for var in low.values()}


class _Rewriting:
    """What becomes of one block; nothing of it is changed before all is known."""

    def __init__(
        self, block: Block, autocast: Autocast, black: frozenset[str], guarded: bool
    ) -> None:
        self.block = block
        self.autocast = autocast
        self.black = black
        self.guarded = guarded
        self.dtypes: dict[Key, np.dtype[Any]] = {}  # of values that have another one now
        self.products: set[Key] = set()
        self.moved: set[Key] = set()  # parameters in another shape, or under another name
        self.to_low: list[tuple[Ref, Ref]] = []  # what is cast, and what that makes
        self.planned: list[tuple[Operator, list[OperandRef]]] = []
        self.inner: list[_Rewriting] = []
        self.results = list(block.results)
        self.renamed: dict[Key, Ref] = {}  # what arguments stand for, if it is cast outside now

    def plan_all(self, undone: contextlib.ExitStack) -> None:
        """Plan each operator; `undone` takes back what that adds to blocks."""
        undone.enter_context(self.block.restored_on_error())
        for operator in list(self.block.ops):
            if kind_of(operator) in _REWRITTEN and self._may_change(operator):
                self._plan_blocks(operator, undone)
            else:
                self.plan(operator)

    def plan_nothing(self) -> None:
        """Leave the block as it is."""
        self.planned = [(operator, list(operator.operands)) for operator in self.block.ops]

    def apply(self, low: dict[Key, Variable]) -> None:
        block = self.block
        before = {name: var.spec for name, var in block.vars.items()}
        ops = []
        for operator, operands in self.planned:
            if operator.op is _CAST and operator.results[0].key in low:
                continue
            operator.operands = tuple(
                Ref(low[o.key], 0) if isinstance(o, Ref) and o.key in low else o for o in operands
            )
            ops.append(operator)
        for (name, _), dtype in self.dtypes.items():
            block.vars[name].spec = Spec(before[name].shape, dtype)
        for var in low.values():
            var.spec = Spec(var.spec.shape, self.autocast.dtype)
        block.ops = ops
        block.results[:] = self.results
        block.captured = {
            self.renamed[key].key if key in self.renamed else key: argument
            for key, argument in block.captured.items()
        }
        for name, ref in block.entering.items():
            block.entering[name] = self.renamed.get(ref.key, ref)
        for inner in self.inner:
            inner.apply({})

    def _plan_blocks(self, operator: Operator, undone: contextlib.ExitStack) -> None:
        """A branch or a loop: its blocks, each of which is a function, and what it makes.

        What they capture is handed to them in the dtype that it has now. What is carried, or
        written, keeps its own: it is cast before the operator, and at the end of the block.
        """
        inner = self._inner(operator)
        first = kind_of(operator) == "cond"
        carried = operator.attrs.get("carried", 0)
        operands = list(operator.operands)
        for k, operand in enumerate(operands[first:]):
            arguments = [each.block.arguments[k] for each in inner]
            was, now = self._first(operand), self._spec(operand).dtype
            if k < carried or any(a.version for a in arguments):
                operands[first + k] = self._as_before(operator, operand, inner)
            elif now != was:
                for each, argument in zip(inner, arguments, strict=True):
                    each.dtypes[argument.name, 0] = now
            if self._is_parameter(operand):
                for each, argument in zip(inner, arguments, strict=True):
                    each.moved.add((argument.name, 0))
        for each in inner:
            each.plan_all(undone)
        self._plan_results(operator, inner)
        self.planned.append((operator, operands))

    def _inner(self, operator: Operator) -> list[_Rewriting]:
        blocks = [v for v in operator.attrs.values() if isinstance(v, Block)]
        found = [_Rewriting(b, self.autocast, self.black, self.guarded) for b in blocks]
        self.inner += found
        return found

    def _as_before(
        self, operator: Operator, operand: OperandRef, inner: Iterable[_Rewriting] = ()
    ) -> OperandRef:
        """The operand in the dtype that it had; `inner` are of the blocks that take it."""
        cast = self.cast(operator, operand, self._first(operand))
        if isinstance(operand, Ref) and isinstance(cast, Ref) and cast is not operand:
            for each in inner:
                each.renamed[operand.key] = cast
        return cast

    def _plan_results(self, operator: Operator, inner: list[_Rewriting]) -> None:
        if kind_of(operator) == "while":
            (body,) = (each for each in inner if each.block is body_of(operator))
            for k, ref in enumerate(body.results):
                body.returns(operator, k, ref.spec.dtype)
            return
        for k, ref in enumerate(operator.results):
            dtype = ref.spec.dtype
            if not (ref.version or ref.var.persistable or ref.var.is_stack):
                made = [each._spec(each.results[k]).dtype for each in inner]
                dtype = common_dtype(made, floating=False)
            for each in inner:
                each.returns(operator, k, dtype)
            if dtype != ref.spec.dtype:
                self.dtypes[ref.key] = dtype

    def returns(self, operator: Operator, k: int, dtype: np.dtype[Any]) -> None:
        """Let the k-th result of the block have this dtype."""
        cast: Any = self.cast(operator, self.results[k], dtype)
        self.results[k] = cast

    def plan(self, operator: Operator) -> None:
        operands, made = self._operands(operator)
        if made is None:
            inner = self._inner(operator)
            operands = [self._as_before(operator, o, inner) for o in operator.operands]
            for each in inner:
                each.plan_nothing()
        else:
            for ref, spec in zip(operator.results, made, strict=True):
                if spec.dtype != ref.spec.dtype:
                    self.dtypes[ref.key] = spec.dtype
            op: Any = operator.op
            if op.amp == "low" and made[0].dtype == self.autocast.dtype:
                self.products.add(operator.results[0].key)
            if op.amp is None and all(map(self._is_parameter, operands)):
                self.moved.update(ref.key for ref in operator.results)
        self.planned.append((operator, operands))

    def _operands(self, operator: Operator) -> tuple[list[OperandRef], list[Spec] | None]:
        """The operands, cast, and what is made of them; None where all is to stay as it was."""
        op, operands = operator.op, list(operator.operands)
        if not isinstance(op, OpDef):
            return operands, None
        known = [self._counted(op, k, o) for k, o in enumerate(operands)]
        if self._is_chosen(operator):
            wanted = self._wanted(op, operands, [d for d in known if d is not None])
        elif self.dtypes:
            return operands, None
        else:
            wanted = None
        if wanted is None and len({d for d in known if d is not None}) > 1:
            return operands, None  # of a row that casts nothing: as before
        meet = wanted or next((d for d in known if d is not None), None)
        found = [
            self._met(operator, k, o, d, meet)
            for k, (o, d) in enumerate(zip(operands, known, strict=True))
        ]
        specs = [self._spec(o) for o in found if o is not None]
        made = op.infer_tuple(specs, operator.attrs)
        for ref, spec in zip(operator.results, made, strict=True):
            kept = ref.version or ref.var.persistable  # what was there before keeps its dtype
            if kept and spec.dtype != ref.spec.dtype:
                return operands, None
        return found, list(made)

    def _met(
        self,
        operator: Operator,
        position: int,
        operand: OperandRef,
        dtype: np.dtype[Any] | None,
        meet: np.dtype[Any] | None,
    ) -> OperandRef:
        """An operand in the dtype in which those of inexact numbers meet."""
        if meet is None or operand is None:
            return operand
        if isinstance(operand, Literal):  # numbers are weak
            op: Any = operator.op
            weak = operand.dtype in INEXACT and op.input_at(position) not in op.untyped
            return Literal(operand.value, meet) if weak else operand
        return operand if dtype is None else self.cast(operator, operand, meet)

    def _wanted(
        self, op: OpDef, operands: list[OperandRef], dtypes: list[np.dtype[Any]]
    ) -> np.dtype[Any] | None:
        low = self.autocast.dtype
        if op is _ADD and self.autocast.fixed(op) is None and len(operands) == 2:
            # The bias of a product, which is one operation with it to `auto_cast`.
            for product, bias in (operands, operands[::-1]):
                if (
                    isinstance(product, Ref)
                    and product.key in self.products
                    and self._is_parameter(bias)
                ):
                    return low
        return self.autocast.wanted(op, dtypes)

    def _is_parameter(self, operand: OperandRef) -> bool:
        return isinstance(operand, Ref) and (
            isinstance(operand.var, Parameter) or operand.key in self.moved
        )

    def _is_chosen(self, operator: Operator) -> bool:
        if self.guarded and _GUARD not in operator.op_namescope:
            return False
        return self._may_change(operator)

    def _may_change(self, operator: Operator) -> bool:
        if not self.black:
            return True
        names = {*operator.input_arg_names, *operator.output_arg_names}
        return self.black.isdisjoint(names)

    def _counted(self, op: OpDef, position: int, operand: OperandRef) -> np.dtype[Any] | None:
        if operand is None or op.input_at(position) in op.untyped or not op.reads_value(position):
            return None
        dtype = self._spec(operand).dtype
        return dtype if dtype in INEXACT and isinstance(operand, Ref) else None

    def _spec(self, operand: Any) -> Spec:
        spec: Spec = operand.spec
        dtype = self.dtypes.get(operand.key) if isinstance(operand, Ref) else None
        return spec if dtype is None else Spec(spec.shape, dtype)

    @staticmethod
    def _first(operand: OperandRef) -> Any:
        """The dtype that it had."""
        return None if operand is None else operand.spec.dtype

    def cast(self, operator: Operator, operand: OperandRef, dtype: np.dtype[Any]) -> OperandRef:
        """`operand` in a dtype: a cast for each that reads it, as `auto_cast` has them.

        So cotangents meet in the dtype of `operand`. A backend computes what is equal once.
        """
        if not isinstance(operand, Ref) or self._spec(operand).dtype == dtype:
            return operand
        var, attrs = operand.var, {"dtype": dtype.name}
        stem, spec = f"{var.name}.cast_{dtype.name}", Spec(var.spec.shape, dtype)
        made = new_result(self.block, stem, spec, stop_gradient=var.stop_gradient)
        cast = Operator(
            self.block, _CAST, (operand,), (made,), attrs, operator.location, "forward"
        )
        reader: Any = operator.op
        if dtype == self.autocast.dtype and reader.amp in ("low", "widest"):
            self.to_low.append((operand, made))
        self.planned.append((cast, [operand]))
        return made

    def low_parameters(self, among: set[str] | None) -> dict[Key, Variable]:
        """Parameters that nothing reads but casts to the low dtype: by what these make.

        For rows that level "O1" computes in float32, those of normalisations, they stay that.
        """
        reads = Counter(
            o.key for _, operands in self.planned for o in operands if isinstance(o, Ref)
        )
        written = {ref.var.name for op, _ in self.planned for ref in op.results}
        casts = Counter(given.key for given, _ in self.to_low)
        found: dict[Key, Variable] = {}
        for given, made in self.to_low:
            var = given.var
            if (
                isinstance(var, Parameter)
                and reads[given.key] == casts[given.key]
                and (among is None or var.name in among)
                and var.name not in written
                and var.name not in self.black
            ):
                found[made.key] = var
                del self.block.vars[made.var.name]
        return found


def cast_parameters_to_fp16(
    place: Any,
    program: Program,
    scope: Scope | None = None,
    to_fp16_var_names: Iterable[str] | None = None,
    dest_type: DTypeLike = "float16",
    rewrite_master_weight: bool = False,
    master_weights: Any = None,
) -> None:
    """Cast the values of parameters that a program takes in a low dtype, once they are there.

    Parameters
    ----------
    place : object
        Accepted for the reference's sake.
    program : Program
    scope : Scope, optional
        Where the values are; by default the global one.
    to_fp16_var_names : iterable of str, optional
        What `cast_model_to_fp16` returned; by default all parameters that the program declares in
        `dest_type`.
    dest_type : {"float16", "bfloat16"}
    rewrite_master_weight : bool
        Round the float32 copies, too, that the optimizer keeps.
    master_weights : dict of str to Variable, optional
        These copies, by the names of the parameters.

    Raises
    ------
    ArgumentError
        For a parameter that the startup program has not made yet.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> static = paddle.static
    >>> main, startup, scope = static.Program(), static.Program(), static.Scope()
    >>> with static.scope_guard(scope), static.program_guard(main, startup):
    ...     y = static.nn.fc(static.data("x", [2, 2]), 1, name="f")
    ...     names = static.amp.cast_model_to_fp16(main, use_fp16_guard=False)
    ...     _ = static.Executor().run(startup)
    ...     static.amp.cast_parameters_to_fp16(paddle.CPUPlace(), main, None, names)
    >>> sorted(names), scope.find_var("f.w_0").value.dtype
    (['f.b_0', 'f.w_0'], dtype('float16'))
    """
    owner = "cast_parameters_to_fp16"
    if not isinstance(program, Program):
        raise ArgumentTypeError(f"{owner} takes a Program, got {type(program).__name__}")
    dtype = half_dtype(owner, "dest_type", dest_type)
    held = global_scope() if scope is None else scope
    names = None if to_fp16_var_names is None else set(to_fp16_var_names)
    for parameter in program.global_block().all_parameters():
        declared = parameter.spec.dtype in HALVES and parameter.spec.dtype == dtype
        if not (declared if names is None else parameter.name in names):
            continue
        found = held.find_var(parameter.name)
        if found is None or found.value is None:
            raise ArgumentError(
                f"{owner}: {parameter.name} has no value in the scope; run the startup program "
                "before: exe.run(paddle.static.default_startup_program())"
            )
        low = np.asarray(found.value).astype(dtype)
        found.value = low
        if rewrite_master_weight and master_weights and parameter.name in master_weights:
            held.var(master_weights[parameter.name].name).value = low.astype(FLOAT32)

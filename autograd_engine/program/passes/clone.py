"""Copies of programs: whole, for inference, and only as much as some results need."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from autograd_engine.core.checks import require_type
from autograd_engine.core.locations import Location
from autograd_engine.core.random_generator import snapshot
from autograd_engine.errors import ArgumentTypeError, BuildError, NotATensorError
from autograd_engine.ops.registry.opdef import OpDef
from autograd_engine.program.ir.block import inner_blocks
from autograd_engine.program.ir.control_flow_op import body_of, branches_of, kind_of
from autograd_engine.program.ir.program import (
    Block,
    Key,
    Operator,
    Program,
    Ref,
    Variable,
)
from autograd_engine.program.passes.inference_form import (
    Statistics,
    running_statistics,
    write_inference_form,
)

__all__ = ["clone", "normalize_program", "prune", "without"]


_LEAVES: Final = frozenset({bool, int, float, str, type(None), OpDef, Location})

# What a copy makes anew; all other attributes of a program, also those of extensions, are copied.
_OWN: Final = frozenset(
    {
        "blocks",
        "compiled",
        "drawing",
        "guards",
        "lock",
        "undoing",
        "version",
        "_generator",
        "_open",
    }
)


def clone(program: Program, for_test: bool = False) -> Program:
    """`Program.clone`."""
    if not isinstance(for_test, bool):
        raise ArgumentTypeError(f"clone: for_test must be True or False, got {for_test!r}")
    with program.lock:
        if not for_test:
            return _Copy(program).made
        dropped: set[int] = set()
        for block in program.blocks:
            dropped |= _without_training(block)
        return _for_inference(program, dropped)


def without(program: Program, dropped: set[int]) -> Program:
    """A copy that lacks operators, by `id`, and the variables that nothing else touches."""
    with program.lock:
        return _Copy(program, dropped).made


def _for_inference(program: Program, dropped: set[int], keep: Iterable[Variable] = ()) -> Program:
    statistics, writers = running_statistics(program.blocks)
    read = {id(ref.var) for found in statistics for ref in (found.mean, found.variance)}
    read.update(map(id, keep))
    dropped = dropped | writers
    copy = _Copy(program, dropped, read=read, unread=_handed_to_nobody(program, dropped))
    kept = [
        Statistics(copy.operators[id(op)], copy.ref(mean), copy.ref(variance))
        for op, mean, variance in statistics
        if id(op) in copy.operators
    ]
    write_inference_form(copy.made, kept)
    return copy.made


def prune(
    program: Program, targets: Any, feeds: Collection[str] = (), function: str = "prune"
) -> Program:
    """A copy with only the operators that the targets depend on, up to what is fed.

    Parameters
    ----------
    targets : Variable, str, Operator, or list of them
    feeds : collection of str
        Names of variables whose values are given, so that what computes them is not needed.
    function : str
        What the user called, for messages.
    """
    block = program.global_block()
    listed = list(targets) if isinstance(targets, (list, tuple, set, frozenset)) else [targets]
    wanted: set[Key] = set()
    for k, target in enumerate(listed):
        if isinstance(target, Operator):
            wanted.update(ref.key for ref in target.results)
        else:
            wanted.add(_target(block, target, f"{function}: targets[{k}]").key)
    return _needed(program, wanted, feeds)


def _target(block: Block, target: Any, where: str) -> Ref:
    if not isinstance(target, (Variable, str)):
        raise NotATensorError(
            f"{where} must be a Variable or the name of one, got {type(target).__name__}"
        )
    name = target if isinstance(target, str) else target.name
    program = block.program
    var = block.vars.get(target) if isinstance(target, str) else program.counterpart(target)
    if var is None:
        raise BuildError(
            f"{where}: this program has no variable {name!r}; it was built in another one, or the "
            "name is misspelt"
        )
    return Ref(var, var.version)


def _needed(program: Program, wanted: set[Key], feeds: Collection[str]) -> Program:
    dropped, reached = _unneeded(program.global_block(), wanted, feeds)
    return _Copy(program, dropped, {name for name, _ in reached} | set(feeds)).made


def _unneeded(block: Block, wanted: set[Key], feeds: Collection[str]) -> tuple[set[int], set[Key]]:
    """Operators that what is wanted does not depend on, by `id`; all values that it depends on."""
    dropped: set[int] = set()
    reached = set(wanted)
    for operator in reversed(block.ops):
        if any(r.key in reached and r.var.name not in feeds for r in operator.results):
            reached.update(o.key for o in operator.operands if isinstance(o, Ref))
        else:
            dropped.add(id(operator))
    return dropped, reached


def normalize_program(
    program: Program,
    feed_vars: Variable | Sequence[Variable],
    fetch_vars: Variable | Sequence[Variable],
    **kwargs: Any,
) -> Program:
    """A copy of `program` for inference that computes `fetch_vars` from `feed_vars`.

    Parameters
    ----------
    program : Program
    feed_vars, fetch_vars : Variable or list of Variable
        What is fed, which may also be something that the program computes; what is wanted.

    Returns
    -------
    Program
        Without backward half, updates, and whatever else the fetches do not need; dropout does
        nothing in it, and batch normalisation reads its running statistics.

    Raises
    ------
    TypeError, NotATensorError
        When an argument is of the wrong kind.
    BuildError
        For variables of another program, and when a fetch needs something that is not fed.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> main = paddle.static.Program()
    >>> with paddle.static.program_guard(main, paddle.static.Program()):
    ...     x = paddle.static.data("x", [None, 3], "float32")
    ...     y = paddle.tanh(x)
    ...     loss = paddle.mean(paddle.square(y))
    >>> small = paddle.static.normalize_program(main, [x], [y])
    >>> [op.type for op in small.global_block().ops]
    ['tanh']
    """
    require_type(program, Program, "normalize_program: program must be a Program")
    if kwargs:
        unknown = ", ".join(sorted(kwargs))
        raise ArgumentTypeError(f"normalize_program: unknown arguments {unknown}; leave them out")
    block = program.global_block()
    feeds, goals = (
        [_target(block, v, f"normalize_program: {where}") for where, v in _named(argument, value)]
        for argument, value in (("feed_vars", feed_vars), ("fetch_vars", fetch_vars))
    )
    if not goals:
        raise BuildError("normalize_program: fetch_vars is empty; give one Variable at least")
    names = {ref.var.name for ref in feeds}
    with program.lock:
        dropped, _ = _unneeded(block, {ref.key for ref in goals}, names)
        copy = _for_inference(program, dropped, [ref.var for ref in feeds])
    copy = _needed(copy, {_latest(copy, ref) for ref in goals}, names)
    for name in names:
        copy.global_block().vars[name].is_data = True
    _check_fed(copy, names, [ref.var.name for ref in goals])
    return copy


def _named(argument: str, value: Any) -> Iterator[tuple[str, Any]]:
    values = value if isinstance(value, (list, tuple)) else [value]
    return ((f"{argument}[{k}]", v) for k, v in enumerate(values))


def _latest(program: Program, ref: Ref) -> Key:
    var = program.global_block().vars[ref.var.name]
    return var.name, var.version


def _check_fed(program: Program, feeds: Collection[str], fetches: Sequence[str]) -> None:
    block = program.global_block()
    made = {r.key for operator in block.ops for r in operator.results}
    read = [o for operator in block.ops for o in operator.operands if isinstance(o, Ref)]
    for ref in [*read, *(Ref(block.vars[name], block.vars[name].version) for name in fetches)]:
        var = ref.var
        if ref.key not in made and not var.persistable and var.name not in feeds:
            raise BuildError(
                f"normalize_program: {', '.join(fetches)} cannot be computed without {var.name!r}, "
                "which is not fed: add it to feed_vars"
            )


# --- what inference leaves out


def _without_training(block: Block) -> set[int]:
    """Operators that are not of the forward half, by `id`; gradients that it reads belong to it."""
    dropped: set[int] = set()
    read: set[Key] = {r.key for r in block.results}
    for operator in reversed(block.ops):
        asked = operator.role == "backward" and any(r.key in read for r in operator.results)
        if operator.role == "forward" or asked:
            read.update(o.key for o in operator.operands if isinstance(o, Ref))
        else:
            dropped.add(id(operator))
    return dropped


def _handed_to_nobody(program: Program, dropped: set[int]) -> dict[int, set[int]]:
    """Results that a branch or loop hands out for gradients, where nothing that stays reads them.

    Positions, by the `id` of the operator and of its blocks; what made them is added to `dropped`.
    """
    unread: dict[int, set[int]] = {}
    for block in program.blocks:  # those inside come after those around them
        gone = unread.get(id(block), set())
        read = {r.key for k, r in enumerate(block.results) if k not in gone}
        for operator in reversed(block.ops):
            if gone and operator.role == "backward" and read.isdisjoint(_keys(operator.results)):
                dropped.add(id(operator))
            if id(operator) in dropped:
                continue
            inner = _handing_out(operator)
            found = {k for b in inner for k in b.handed_out.values()}
            found = {k for k in found if operator.results[k].key not in read}
            if found:
                unread[id(operator)] = found
                for b in inner:
                    shift = len(b.results) - len(operator.results)
                    unread[id(b)] = {k + shift for k in found}
            read |= _keys(operator.operands)
    return unread


def _keys(refs: Iterable[Any]) -> set[Key]:
    return {r.key for r in refs if isinstance(r, Ref)}


def _handing_out(operator: Operator) -> Sequence[Block]:
    """The blocks whose last results are those of the operator."""
    if kind_of(operator) == "cond":
        return branches_of(operator)[0]
    return [body_of(operator)] if "body_block" in operator.attrs else []


class _Copy:
    """Copies a program without some of its operators.

    A variable that loses one of its writes is renumbered: who read what that wrote reads what was
    there before it.

    Parameters
    ----------
    program : Program
    dropped : set of int, optional
        Operators to leave out, by `id`.
    names : set of str, optional
        Variables of the first block to keep; by default all that no operator left out has touched,
        and those of the operators that stay.
    read : set of int
        Variables to keep in any case, by `id`.
    unread : dict of int to set of int, optional
        Of a copy for inference: positions of results to leave out, by the `id` of operators and
        blocks.

    Attributes
    ----------
    made : Program
    operators : dict of int to Operator
        What stands for the operator of that `id`.
    """

    def __init__(
        self,
        program: Program,
        dropped: set[int] | None = None,
        names: set[str] | None = None,
        read: Collection[int] = (),
        unread: dict[int, set[int]] | None = None,
    ) -> None:
        self.made = made = Program()
        self.dropped = dropped or set()
        self.unread = unread or {}
        self.whole = unread is None
        self.operators: dict[int, Operator] = {}
        self.blocks: dict[int, Block] = {}
        self.vars: dict[int, Variable] = {}
        self.versions: dict[int, dict[int, int]] = {}
        first = program.global_block()
        blocks = program.blocks if dropped is None else _reachable(first, self._kept(first))
        index = {block.idx: n for n, block in enumerate(blocks)}
        made.blocks = []
        for block in blocks:
            parent, forward = index.get(block.parent_idx, -1), index.get(block.forward_idx, -1)
            self.blocks[id(block)] = Block(made, len(made.blocks), parent, forward)
            made.blocks.append(self.blocks[id(block)])
            self._variables(block, names, read)
        for block in blocks:
            self._fill(block, whole=dropped is None)
        for name, value in program.__dict__.items():
            if name not in _OWN:
                setattr(made, name, self.value(value))
        if program.generator is not None:  # it goes on where the original stands
            made._generator = snapshot(program.generator)()

    def _kept(self, block: Block) -> list[Operator]:
        return [op for op in block.ops if id(op) not in self.dropped]

    def _variables(self, block: Block, names: set[str] | None, read: Collection[int]) -> None:
        new, ops, kept = self.blocks[id(block)], self._kept(block), block.vars
        if not self.whole or len(ops) < len(block.ops) or (names is not None and not block.idx):
            touched = {ref.var.name for op in ops for ref in self._refs(op)}
            touched.update(v.name for v in block.arguments)
            if names is not None and not block.idx:
                touched |= names
            else:
                touched |= kept.keys() - {
                    r.var.name
                    for op in block.ops
                    for r in (*op.operands, *op.results)
                    if isinstance(r, Ref)
                }
            kept = {name: var for name, var in kept.items() if name in touched or id(var) in read}
        for name, var in kept.items():
            self.vars[id(var)] = new.vars[name] = _same_slots(var, block=new)
        for operator in ops:
            for ref in operator.results:
                if ref.version:
                    numbers = self.versions.setdefault(id(ref.var), {})
                    numbers[ref.version] = len(numbers) + 1
        for var in kept.values():
            self.vars[id(var)].version = len(self.versions.get(id(var), ()))

    def _refs(self, operator: Operator) -> Iterator[Ref]:
        """What it reads and hands over, as far as that stays."""
        yield from (o for o in operator.operands if isinstance(o, Ref))
        yield from self._read(operator)

    def _read(self, made: Operator | Block) -> list[Ref]:
        unread = self.unread.get(id(made), ())
        return [r for k, r in enumerate(made.results) if k not in unread]

    def _fill(self, block: Block, whole: bool) -> None:
        new = self.blocks[id(block)]
        for operator in self._kept(block):
            self.operators[id(operator)] = copied = self._operator(operator, new)
            new.ops.append(copied)
        new.arguments = [self.vars[id(v)] for v in block.arguments]
        new.results = [self.ref(r) for r in self._read(block)]
        new.captured = {key: self.vars[id(v)] for key, v in block.captured.items()}
        seen: dict[int, int] = {}
        for var in block.written:
            seen[id(var)] = version = seen.get(id(var), 0) + 1
            if version in self.versions.get(id(var), ()):
                new.written.append(self.vars[id(var)])
        if whole:  # else what is remembered names versions that are no more
            new.emitted = {self.value(k): self.value(v) for k, v in block.emitted.items()}
        for var in block.vars.values():
            if var.hooks is not None:
                self.vars[id(var)].hooks = self._hooks(var.hooks) if whole else None

    def _hooks(self, hooks: dict[int, Any]) -> dict[int, Any]:
        """What is done to a gradient, with values of the copy."""
        found = {}
        for version, registered in hooks.items():
            found[version] = copied = registered.__class__()
            for key, recorded in registered.items():
                around = {k: self.ref(r) for k, r in recorded.around.items()}
                copied[key] = recorded._replace(around=around)
        return found

    def _operator(self, operator: Operator, block: Block) -> Operator:
        Operator.made += 1
        gone = self.unread.get(id(operator), set())
        for inner in _handing_out(operator):
            self.blocks[id(inner)].handed_out = {
                (self.ref(Ref(inner.vars[name], n)).key, value): k - sum(j < k for j in gone)
                for ((name, n), value), k in inner.handed_out.items()
                if k not in gone
            }
        copied: Operator = _same_slots(
            operator,
            block=block,
            attrs=self.value(operator.attrs),
            operands=tuple(self.ref(o) if isinstance(o, Ref) else o for o in operator.operands),
            results=tuple(self.ref(r) for r in self._read(operator)),
            number=Operator.made,
        )
        return copied

    def ref(self, ref: Ref) -> Ref:
        """What stands for a value: where its write is gone, for what was there before."""
        var = ref.var
        if id(var) not in self.vars:  # one that only names a past version
            var = var.block.vars[var.name]
        version = ref.version
        if version:
            kept = self.versions.get(id(var), {})
            while version and version not in kept:
                version -= 1
            version = kept.get(version, 0)
        return Ref(self.vars[id(var)], version)

    def value(self, value: Any) -> Any:
        """An attribute: what could be changed is copied, parts of the program are replaced."""
        kind = value.__class__
        if kind in _LEAVES:
            return value
        if kind is tuple or kind is list:
            return kind([self.value(v) for v in value])
        if kind is dict:
            return {self.value(k): self.value(v) for k, v in value.items()}
        if kind is set:
            return set(value)
        if isinstance(value, Ref):
            return self.ref(value)
        if isinstance(value, Variable):
            return self.vars.get(id(value), value)
        if isinstance(value, Block):
            return self.blocks.get(id(value), value)
        if isinstance(value, np.ndarray) and value.flags.writeable:
            return value.copy()
        return value


def _reachable(first: Block, ops: Iterable[Operator]) -> list[Block]:
    """`first`, and the blocks inside its operators that stay, in the order of their numbers."""
    found = {first.idx: first}
    pending = list(ops)
    while pending:
        for block in inner_blocks(pending.pop()):
            found[block.idx] = block
            pending += block.ops
    return [found[k] for k in sorted(found)]


def _same_slots(source: Any, **changed: Any) -> Any:
    """An object of the class of `source` with its attributes, some of them changed."""
    made = object.__new__(source.__class__)
    for slot in _slots(source.__class__):
        setattr(made, slot, changed[slot] if slot in changed else getattr(source, slot))
    return made


@functools.cache
def _slots(kind: type) -> tuple[str, ...]:
    slots = (slot for c in kind.__mro__ for slot in getattr(c, "__slots__", ()))
    return tuple(slot for slot in slots if not slot.startswith("__"))

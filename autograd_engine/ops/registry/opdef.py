"""The table: every primitive operation with its kernel, its inference and its gradient rules.

An operation is declared once::

    multiply = defop("multiply", kernel=np.multiply, inputs="x y", infer=broadcast,
                     broadcasts=0, dtypes="common")
    multiply.vjp(x=lambda xp, g, y: g * y,
                 y=lambda xp, g, x: g * x)

A rule maps the cotangent ``g`` of the output to the cotangent of one input. Its parameters
after ``xp, g`` name inputs or outputs of the operation, and that list is what the tape saves:
``<name>_like`` asks for shape and dtype only. Keyword-only parameters are attributes, and
``**attrs`` asks for all of them.

``xp`` is the namespace in which the rule computes, and decides what the rule does: on ndarrays it
computes, on Tensors it records (so that it can be differentiated again), on Variables it appends
operators to a program. A rule therefore uses operators, ``xp.<operation>`` and Python scalars
only, and never looks at a shape: `pullback` projects its result onto the input's.

An operation with several outputs has one cotangent parameter for each differentiable one,
``g_<output>``. A cotangent that never arrived is filled with zeros first, unless the operation
says ``lazy_cotangents``: then its rules get None for it.

Where the cotangents of several inputs come from one computation, `OpDef.vjp_together` takes one
rule that returns them all, and it is run once for those of the requested inputs.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Sequence, Set
from types import BuiltinFunctionType
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from autograd_engine.core.dims import Dim
from autograd_engine.core.dtypes import (
    APART,
    BOOLS,
    COMPLEX,
    HALVES,
    INEXACT,
    INT64,
    INTEGERS,
    NUMBERS_AND_BOOLS,
    common_dtype,
    family,
)
from autograd_engine.core.spec import Shape, Spec, ValueSpec, known_value, without_value
from autograd_engine.errors import DTypeError, RegistryError
from autograd_engine.ops.kernels.compiled import LARGE
from autograd_engine.ops.registry.compiled_rows import left_to_c
from autograd_engine.ops.registry.halves import computes_in_float32, half_names, rounded_once
from autograd_engine.ops.registry.pullback import Pullback
from autograd_engine.ops.registry.work import WorkRule, each_element, each_result, nothing

__all__ = [
    "NONDIFF",
    "REGISTRY",
    "OpDef",
    "Rule",
    "check_registry",
    "defop",
    "scattering",
    "words_for",
]

Kernel: TypeAlias = Callable[..., Any]
Infer: TypeAlias = Callable[..., Spec | tuple[Spec, ...]]
DTypeRule: TypeAlias = Literal["any", "common", "numeric", "floating"]
Tangent: TypeAlias = Literal["linear", "multilinear", "elementwise"]
Result: TypeAlias = Literal["fresh", "contiguous", "view"]
Elements: TypeAlias = Literal["ordered", "picked", "padded", "fill"]
Stacks: TypeAlias = Literal["leading", "axis", "reshaped", "images", "each"]
Amp: TypeAlias = Literal["low", "widest", "high", "always high"]
Halves: TypeAlias = Literal["in float32", "as they are"]
ZeroGradient: TypeAlias = Literal[
    "inactive", "other_branch", "not_chosen", "saturated", "multiplied_by_zero"
]


class _NonDifferentiable:
    """Stands where a rule would: this input has no gradient, and that is on purpose."""

    def __repr__(self) -> str:
        return "NONDIFF"


NONDIFF: Final = _NonDifferentiable()

REGISTRY: Final[dict[str, OpDef]] = {}
_EACH_ELEMENT: Final = each_element()


class Rule:
    """A gradient rule for one input, with what its signature declares.

    `group` names the inputs that it is for, if it returns a tuple for several of them.
    """

    __slots__ = ("attrs", "cotangents", "fn", "group", "saves", "scatters")

    def __init__(
        self, op: OpDef, input_name: str, fn: Callable[..., Any], group: tuple[str, ...] = ()
    ) -> None:
        self.group = group
        where = f"rule of {op.name} for {input_name}"
        positional, keywords, takes_all = _parameters(fn)
        self.fn = fn
        self.scatters = input_name in getattr(fn, "scatters", ())
        self.attrs = tuple(op.attrs if takes_all else keywords)
        self.cotangents = op.cotangent_names()
        head = ["xp", *self.cotangents]
        if list(positional[: len(head)]) != head:
            raise RegistryError(f"{where}: the first parameters must be {', '.join(head)}")
        self.saves = positional[len(head) :]
        known = {*op.inputs, *op.outputs}
        for name in self.saves:
            if name.removesuffix("_like") not in known and name not in known:
                raise RegistryError(f"{where}: {name!r} is no input or output of {op.name}")
        for name in self.attrs:
            if name not in op.attrs:
                raise RegistryError(f"{where}: {name!r} is no attribute of {op.name}")


class OpDef:
    """One primitive operation: a row of the table.

    Attributes
    ----------
    name : str
    kernel : callable
        ``kernel(*arrays, **attrs)`` on ndarrays; returns an array, or a tuple for several outputs.
    direct : callable
        The same for those that are known to be of no floats of 16 bits.
    halves : {"in float32", "as they are"}
        How floats of 16 bits are computed: in float32, the kernel and the rules, and rounded once;
        or by the kernel and the rules as they are. Inferred: what moves elements only takes them as
        they are.
    inputs, outputs : tuple of str
        ``*xs`` takes any number of arrays: only as the last input, or as the only output.
    infer : callable
        ``infer(*specs, **attrs)`` gives the Spec of the output (a tuple for several); raises
        ShapeError or DTypeError, with the fix, where the kernel could not run.
    attrs : dict
        Attribute names with their defaults (`inspect.Parameter.empty` where there is none).
    broadcasts : int or None
        How many axes at the end of each input do not broadcast (0 for elementwise operations, 2 for
        matrices); those before them do, and cotangents are then projected back. None: no axis does.
    dtypes : {"any", "common", "numeric", "floating"}
        "common": inputs are cast to the dtype in which they meet; "numeric": and bools to int64;
        "floating": and integers, too, to the default float.
    multiple : bool
        The kernel returns a tuple.
    untyped : frozenset of str
        Inputs that take no part in that: conditions, indices.
    casts : bool
        The dtype of the output may be another than the inputs', an integer one say.
    random : bool
        Draws from the generator, so it runs even where nothing asks for its result.
    effect : bool
        Does something besides computing its result, such as printing, so it does too.
    takes : str
        Of which kinds operands are that are not `untyped`, once they are cast: "b" bools, "i"
        integers, "f" floats, "c" complex numbers. Arrays of others are refused.
    tangent : {"linear", "multilinear", "elementwise"} or None
        How the table gives the forward mode. "linear": linear in all its differentiable inputs
        together, so the tangent is the operation applied to tangents. "multilinear": linear in each
        of two, whose rules save the other, so it is applied with a tangent in the place of one of
        them, and the results are added up. "elementwise": each element
        of the output depends on one element of each input, so the rules applied to tangents and
        added up are the tangent. None: the transpose of the transpose that the rules are.
    result : {"fresh", "contiguous", "view"}
        Whether results may share memory with an operand: "view" where one may, whatever else
        happens. "fresh": never. "contiguous": nor have they gaps or another order than C's, if the
        axes of the operands lie in that order.
    elements : {"ordered", "picked", "padded", "fill"} or None
        Where the elements of the result come from, if they are not computed. "ordered": they are
        those of the first operand in their order, in another shape. "picked": each is one of them,
        moved, repeated or left out as the other operands and the attributes say. "padded": or it is
        zero. "fill": all are one number, the attribute `value`, or zero.
    elementwise : bool
        Whether each element of the result is computed of the elements at its place. Inferred from
        `broadcasts` and `tangent`, and said where these do not tell.
    stacks : {"leading", "axis", "reshaped", "images", "each"}
        How it takes a stack of operands, an axis more in front. "leading": as it is, for it works
        on elements or on the last axes. "axis": with one added to the attributes `axis`, `axis1`,
        `axis2`. "reshaped": in the shape of a result, the axis in front. "images": as more images
        [N, ...]. "each": one by one. Inferred: elementwise operations are "leading", those that
        leave elements "ordered" are "reshaped", of the rest those with an attribute `axis` or
        `axis1` "axis", others "each".
    work : callable
        ``work(operands, results, attrs)`` gives the `Work` of one call, from Specs; `registry.work`
        has the usual ones. Inferred: nothing where `elements` says that none is computed, else one
        for each element of the result, or of the operand where fewer come out.
    checks_values : bool
        Looks at values of operands, and refuses some, also where the result has no elements.
    c_from : int
        How many elements an operand has from which on an elementwise kernel asks for C.
    hint, nan_hint : str or None
        What to write where its derivative, or its result, is not finite; and where another advice
        is better for the result, that.
    zero_gradient : str or None
        Why a gradient that arrives is zero when it leaves: the operand is "inactive" (or
        "saturated") there, the operation has "not_chosen" it (or the "other_branch"), or it was
        "multiplied_by_zero".
    takes_scattered : frozenset of str
        Inputs that may be `Scattered` cotangents, in programs.
    symbolic : bool
        Its kernel computes with sizes that are not known, too, as objects (`Dim`) in arrays, so a
        result is known as a formula where the operands are. Inferred of what moves elements only.
    amp : {"low", "widest", "high", "always high"} or None
        What floating operands, of at most 32 bits, are cast to inside of `amp.auto_cast`. "low":
        its low dtype; the time is spent on products, whose sums are added up in float32. "high":
        float32 at level O1, for it leaves the range of float16, or loses digits. "always high": at
        O2 as well. "widest": the widest of theirs. None: they stay as they are. Inferred: None
        where elements are moved or shown, or dtypes changed, and nothing is computed, and where
        several inputs may be of different dtypes, else "widest".
    types : tuple of str
        Other names that Paddle has for what it computes: lists of `amp.auto_cast` may use them.
    write : callable or None
        Of an operation whose result is a view of its operand: what that becomes when the result is
        written to; see `writes`.
    place, record_places : callable or None
        Of an operation that `Scattered` can stand for; see `scatters`.
    reads_result : bool
        Whether a rule reads the value of an output.
    module : str
        Name of the module that declares it.
    nondiff_outputs : frozenset of str
        Outputs that carry no gradient (indices, masks).
    bound : dict
        Of an operation that is not in the table, its function in each namespace.
    """

    # What results of rules are put through; and that for all operands of a variadic input.
    check_gradient: Callable[..., Any] | None = None
    check_several: Callable[..., Any] | None = None

    def __init__(
        self,
        name: str,
        kernel: Kernel,
        *,
        inputs: str,
        infer: Infer,
        outputs: str = "out",
        broadcasts: int | None = None,
        dtypes: DTypeRule = "any",
        nondiff_outputs: str = "",
        lazy_cotangents: bool = False,
        untyped: str = "",
        casts: bool = False,
        random: bool = False,
        effect: bool = False,
        takes: str = "bifc",
        tangent: Tangent | None = None,
        result: Result = "fresh",
        elements: Elements | None = None,
        elementwise: bool | None = None,
        stacks: Stacks | None = None,
        work: WorkRule | None = None,
        checks_values: bool = False,
        c_from: int = LARGE,
        hint: str | None = None,
        nan_hint: str | None = None,
        zero_gradient: ZeroGradient | None = None,
        takes_scattered: str = "",
        symbolic: bool = False,
        amp: Amp | None = None,
        types: str = "",
        halves: Halves | None = None,
    ) -> None:
        self.name = name
        self.kernel = self.direct = kernel
        self.variadic = "*" in inputs
        self.variadic_output = "*" in outputs
        self.inputs = tuple(inputs.replace("*", "").split())
        self.outputs = tuple(outputs.replace("*", "").split())
        self.infer = infer
        self.broadcasts = broadcasts
        self.dtypes = dtypes
        self.nondiff_outputs = frozenset(nondiff_outputs.split())
        self.lazy_cotangents = lazy_cotangents
        self.untyped = frozenset(untyped.split())
        self.casts = casts
        self.random = random
        self.effect = effect
        self.takes = takes
        self.taken = family(takes)
        self.narrow = takes != "bifc"
        self.tangent = tangent
        self.result = result
        self.elements = elements
        self.halves: Halves = halves or ("in float32" if elements is None else "as they are")
        self.checks_values = checks_values
        self.c_from = c_from
        self.hint = hint
        self.nan_hint = nan_hint
        self.zero_gradient = zero_gradient
        self.takes_scattered = frozenset(takes_scattered.split())
        self.write: Callable[..., Any] | None = None
        self.place: Callable[..., None] | None = None
        self.record_places: Callable[..., Any] | None = None
        self.symbolic = symbolic or elements in ("ordered", "picked")
        self.multiple = self.variadic_output or len(self.outputs) > 1
        self.attrs = _parameters(kernel)[1]
        self.elementwise: bool = self._is_elementwise() if elementwise is None else elementwise
        self.stacks: Stacks = stacks or self._how_stacked()
        self.work: WorkRule = work or self._usual_work()
        self.amp: Amp | None = amp or self._usual_amp()
        self.types = tuple(types.split())
        self.rules: dict[str, Rule | _NonDifferentiable] = {}
        self.reads_result = False
        self.in_c = False
        self.module = ""
        self.bound: dict[Any, Callable[..., Any]] = {}
        self._pullbacks: dict[tuple[Any, ...], Pullback] = {}
        if self.variadic and not inputs.split()[-1].startswith("*"):
            raise RegistryError(f"{name}: only the last input can be variadic")
        if self.variadic_output and len(self.outputs) != 1:
            raise RegistryError(f"{name}: a variadic output must be the only one")
        if unknown := self.nondiff_outputs - set(self.outputs):
            raise RegistryError(f"{name}: nondiff_outputs names no output: {sorted(unknown)}")

    def __repr__(self) -> str:
        return f"<op {self.name}({', '.join(self.inputs)}) -> {', '.join(self.outputs)}>"

    def _is_elementwise(self) -> bool:
        return self.broadcasts == 0 or (self.tangent == "elementwise" and len(self.inputs) == 1)

    def _how_stacked(self) -> Stacks:
        if self.elementwise:
            return "leading"
        if self.elements == "ordered":
            return "reshaped"
        return "axis" if "axis" in self.attrs or "axis1" in self.attrs else "each"

    def _usual_work(self) -> WorkRule:
        if self.elements is not None:
            return nothing
        return each_result if "like" in self.inputs else _EACH_ELEMENT

    def _usual_amp(self) -> Amp | None:
        if self.elements is not None or self.casts or self.result == "view":
            return None
        values = [name for name in self.inputs if name not in ("like", "likes")]
        meet = self.dtypes != "any" or len(values) == 1
        return "widest" if values and meet else None

    def cotangent_names(self) -> tuple[str, ...]:
        if not self.multiple:
            return ("g",)
        return tuple(f"g_{o}" for o in self.outputs if o not in self.nondiff_outputs)

    def vjp(self, **rules: Callable[..., Any] | _NonDifferentiable) -> OpDef:
        """Declare the rule (or NONDIFF) of each named input; returns the operation itself."""
        for name, fn in rules.items():
            if name not in self.inputs:
                raise RegistryError(f"{self.name} has no input {name!r}; it has {self.inputs}")
            if name in self.rules:
                raise RegistryError(f"{self.name} has a rule for {name!r} already")
            if isinstance(fn, _NonDifferentiable):
                self.rules[name] = fn
                continue
            rule = self.rules[name] = Rule(self, name, fn)
            self.reads_result |= not set(self.outputs).isdisjoint(rule.saves)
        return self

    def writes(self, fn: Callable[..., Any]) -> OpDef:
        """Declare the result a view of the operand, and how that is written through it.

        ``fn(xp, value, x, **attrs)`` is `x` with the elements of `value` where those of the result
        come from. To the user a change of the one is a change of the other then, so an operation
        that the reference has as a copy has none, whatever `result` says of memory.
        """
        if len(self.inputs) != 1 or self.multiple:
            raise RegistryError(f"{self.name}: a view has one operand and one result")
        self.write, self.amp = fn, None  # what shares its elements is of their dtype
        return self

    def vjp_together(self, names: str, fn: Callable[..., Any]) -> OpDef:
        """Declare one rule for several inputs, which returns a tuple with a cotangent for each."""
        group = tuple(names.split())
        self.vjp(**dict.fromkeys(group, fn))
        for name in group:
            self.rules[name] = Rule(self, name, fn, group)
        return self

    @property
    def runs_always(self) -> bool:
        """Whether it runs in its place even where nothing asks for its result, in every run."""
        return self.random or self.effect

    @property
    def complete(self) -> bool:
        """Whether every input has a rule, or says that it has none."""
        return all(name in self.rules for name in self.inputs)

    def nondiff(self) -> OpDef:
        """Declare that no input has a gradient."""
        return self.vjp(**dict.fromkeys(self.inputs, NONDIFF))

    def scatters(self, place: Callable[..., None], record: Callable[..., Any]) -> OpDef:
        """Let `Scattered` stand for results of this operation, ``op(values, *places, like)``.

        ``place(out, values, *places, **attrs)`` adds the values to an ndarray in place, one after
        the other; ``record(xp, base, like, parts)`` does it with operations, from `base` (or None).
        """
        self.place, self.record_places = place, record
        return self

    def input_at(self, position: int) -> str:
        """Name of the input that the operand at `position` belongs to."""
        return self.inputs[position] if position < len(self.inputs) else self.inputs[-1]

    def output_at(self, position: int) -> str:
        """Name of the output that the result at `position` belongs to."""
        return self.outputs[position] if position < len(self.outputs) else self.outputs[-1]

    def reads_value(self, position: int) -> bool:
        """False where the operand is asked only for its shape and dtype."""
        return self.input_at(position) not in ("like", "likes")

    def rule_at(self, position: int) -> Rule | None:
        """The rule for the operand at `position`, None when it is not differentiable."""
        rule = self.rules[self.input_at(position)]
        return None if isinstance(rule, _NonDifferentiable) else rule

    def group(self, operands: Sequence[Any]) -> tuple[Any, ...]:
        """`operands`, those of a variadic input gathered in one tuple: one entry per input."""
        if not self.variadic:
            return tuple(operands)
        fixed = len(self.inputs) - 1
        return (*operands[:fixed], tuple(operands[fixed:]))

    def pullback(
        self, mask: int, project: int = 0, dtypes: Sequence[np.dtype[Any]] = ()
    ) -> Pullback:
        """The compiled rules for the inputs whose bits are set in `mask`.

        The cotangents of those whose bits are set in `project` are projected onto their shapes. Of
        operands with these `dtypes`, unless none is a float of 16 bits or complex.
        """
        halves: tuple[str | None, ...] = ()
        zero_d = False
        if self.halves == "in float32" and not APART.isdisjoint(dtypes):
            zero_d = not COMPLEX.isdisjoint(dtypes)
            if not HALVES.isdisjoint(dtypes):
                halves = half_names([dtypes[k] for k in self._wanted(mask)])
        key = (mask, project, halves, zero_d)
        found = self._pullbacks.get(key)
        if found is None:
            found = self._pullbacks[key] = Pullback(
                self, self._wanted(mask), project=project, halves=halves, zero_d=zero_d
            )
        return found

    def _wanted(self, mask: int) -> tuple[int, ...]:
        return tuple(
            [k for k in range(mask.bit_length()) if mask >> k & 1 and self.rule_at(k) is not None]
        )

    def kernel_for(self, dtypes: Iterable[np.dtype[Any]]) -> Kernel:
        """The kernel for operands and results of these dtypes."""
        dtypes = frozenset(dtypes)
        if isinstance(self.kernel, BuiltinFunctionType) and not COMPLEX.isdisjoint(dtypes):
            # An operator on two complex scalars of NumPy's rounds otherwise than on arrays.
            ufunc: Kernel = getattr(np, self.name)
            return ufunc
        return self.direct if HALVES.isdisjoint(dtypes) else self.kernel

    def meets(self, dtype: np.dtype[Any]) -> bool:
        """Whether inputs that all have this dtype are taken as they are."""
        if self.dtypes == "floating":
            return dtype in INEXACT
        return self.dtypes != "numeric" or dtype not in BOOLS

    def common_dtype(self, dtypes: list[np.dtype[Any]]) -> np.dtype[Any]:
        """The dtype that inputs of these dtypes are cast to."""
        common = common_dtype(dtypes, floating=self.dtypes == "floating")
        return common if self.meets(common) else INT64

    def complete_attrs(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """`attrs` with defaults filled in; a TypeError for unknown or missing ones."""
        for name in attrs:
            if name not in self.attrs:
                raise TypeError(f"{self.name} has no attribute {name!r}; it has {list(self.attrs)}")
        full = {**self.attrs, **attrs}
        for name, value in full.items():
            if value is inspect.Parameter.empty:
                raise TypeError(f"{self.name} needs the attribute {name!r}")
        return full

    def projected(self, shapes: Iterable[Shape], out_shape: Shape) -> int:
        """Bits of the inputs that broadcasting may have stretched."""
        core = self.broadcasts
        if core is None:
            return 0
        lead = out_shape[: len(out_shape) - core]
        return sum(1 << k for k, s in enumerate(shapes) if s[: len(s) - core] != lead)

    def refuse_others(self, specs: Sequence[Spec], *, among: Set[Any] = NUMBERS_AND_BOOLS) -> None:
        """Raise DTypeError if an operand is of a kind that it does not take."""
        for k, spec in enumerate(specs):
            dtype, name = spec.dtype, self.input_at(k)
            if (
                dtype in self.taken
                or dtype not in among
                or (name in self.untyped and dtype not in COMPLEX)
            ):
                continue
            what = "use paddle.real, paddle.imag or paddle.abs"
            if dtype not in COMPLEX or "f" not in self.takes:
                what = f"use {name}.astype({'int64' if 'i' in self.takes else 'float32'!r})"
            raise DTypeError(
                f"{self.name}: {name} is {dtype.name}, and {self.name} takes "
                f"{words_for(self.takes)}; {what}"
            )

    def infer_tuple(self, specs: Sequence[Spec], attrs: dict[str, Any]) -> tuple[Spec, ...]:
        """Specs of all outputs, always a tuple."""
        if self.narrow and "f" in self.takes:
            self.refuse_others(specs, among=COMPLEX)
        out = self.infer(*specs, **attrs)
        if self.narrow:  # where the inference had nothing better to say
            self.refuse_others(specs)
        inferred = out if isinstance(out, tuple) else (out,)
        if self.symbolic and inferred and inferred[0].dtype in INTEGERS:
            return self._with_values(specs, attrs, inferred)
        return inferred

    def _with_values(
        self, specs: Sequence[Spec], attrs: dict[str, Any], inferred: tuple[Spec, ...]
    ) -> tuple[Spec, ...]:
        """Specs with what the results are, where that of all operands is known."""
        values = [
            _array_of(s) if self.reads_value(k) else without_value(s) for k, s in enumerate(specs)
        ]
        if any(v is None for v in values):
            return inferred
        try:
            made = self.kernel(*values, **attrs)
        except Exception:  # whatever NumPy says to objects
            return inferred
        found = made if self.multiple else (made,)
        if not all(isinstance(v, (int, np.integer, Dim)) for m in found for v in np.ravel(m)):
            return inferred
        return tuple(map(ValueSpec.of, inferred, found))


def _array_of(spec: Spec) -> Any:
    """The values of an array, as objects where some are not known yet; None where none are."""
    value = known_value(spec)
    if value is None or any(isinstance(v, Dim) for v in value.flat):
        return value
    return value.astype(spec.dtype)


def scattering(name: str, rule: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a rule whose cotangent of the input `name` comes from ``xp.scatter``."""
    rule.scatters = (name,)  # type: ignore[attr-defined]
    return rule


def _parameters(fn: Callable[..., Any]) -> tuple[tuple[str, ...], dict[str, Any], bool]:
    """(positional names, keyword-only names with defaults, whether there is a ``**``).

    Read off the code: `inspect.signature` takes twenty times as long, and the whole table is read
    at import. What is not written in Python (an operator, a ufunc) has no attributes.
    """
    fn = inspect.unwrap(fn)
    code = getattr(fn, "__code__", None)
    if code is None:
        return (), {}, False
    end = code.co_argcount + code.co_kwonlyargcount
    defaults = getattr(fn, "__kwdefaults__", None) or {}
    keywords = code.co_varnames[code.co_argcount : end]
    first = inspect.ismethod(fn)  # whose code takes the object too
    return (
        code.co_varnames[first : code.co_argcount],
        {name: defaults.get(name, inspect.Parameter.empty) for name in keywords},
        bool(code.co_flags & inspect.CO_VARKEYWORDS),
    )


def defop(name: str, kernel: Kernel, *, inputs: str, infer: Infer, **options: Any) -> OpDef:
    """Add an operation to the table; see `OpDef` for the arguments.

    Raises
    ------
    RegistryError
        When the name is taken or the declaration contradicts itself.
    """
    if name in REGISTRY:
        raise RegistryError(f"an operation named {name!r} exists already")
    op = REGISTRY[name] = OpDef(name, kernel, inputs=inputs, infer=infer, **options)
    with_c = left_to_c(op)
    if with_c is not None:
        op.kernel = op.direct = with_c
        op.in_c = True
    if computes_in_float32(op):
        op.kernel = rounded_once(op, op.direct)
    op.module = sys._getframe(1).f_globals.get("__name__", "").rpartition(".")[2]
    return op


_KINDS: Final = {"b": "bools", "i": "integers", "f": "floats", "c": "complex numbers"}


def words_for(takes: str) -> str:
    """Kinds of numbers in words: "floats and complex numbers"."""
    if takes == "bif":
        return "real numbers"
    *others, last = [_KINDS[k] for k in takes]
    return f"{', '.join(others)} and {last}" if others else last


def check_registry() -> None:
    """Raise RegistryError unless every input of every operation has a rule or says NONDIFF."""
    for op in REGISTRY.values():
        for name in op.inputs:
            if name not in op.rules:
                raise RegistryError(
                    f"{op.name}: input {name!r} has no rule; declare one with .vjp({name}=...), "
                    f"or say .vjp({name}=NONDIFF)"
                )

"""Pullbacks: the rules that one call of an operation needs, as one compiled function.

Which inputs want a gradient is known when an operation is recorded. For each such set a function
is generated once: it unpacks what was saved, runs just the wanted rules, and projects the results
where broadcasting asks for it. The tape, the static program and ``create_graph`` all call this
same function, with another ``xp``; nothing else in the engine evaluates a rule.

For ``multiply`` with both inputs wanted, of which y was broadcast::

    def multiply_pullback(xp, g, saved, attrs):
        y, x, y_like = saved
        grad_x = rule_x(xp, g, y)
        grad_y = rule_y(xp, g, x)
        return (grad_x, xp.project(grad_y, y_like))

Strengthened (see `strong_zeros`), results are masked by the cotangent before they are projected;
what is masked is written out, as it is where masks are operations of a program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from autograd_engine.core.dtypes import HALVES
from autograd_engine.core.locations import run_generated
from autograd_engine.core.spec import Spec
from autograd_engine.ops.kernels.compiled import LARGE, MANY
from autograd_engine.ops.registry.halves import in_float32, in_half
from autograd_engine.ops.registry.scattered_cotangent import dense
from autograd_engine.ops.registry.zero_d import kept, plain

if TYPE_CHECKING:
    from autograd_engine.ops.registry.opdef import OpDef, Rule

__all__ = ["LARGE", "Pullback", "handed_on", "saved_names", "saving"]


def handed_on(xp: Any, g: Any) -> Any:
    """The rule of an input whose cotangent is that of the result: pullbacks do without the call."""
    return g


class Pullback:
    """Compiled gradient of one operation for the inputs in `wanted`.

    Attributes
    ----------
    wanted : tuple of int
        Positions of the inputs that get a cotangent, in the order in which they are returned.
    saved : tuple of str
        Names of what must be saved: inputs, outputs, or ``<name>_like`` for shape and dtype.
    origins : tuple of (str, int)
        What each of these is: "shape"; "edge", an input that gets a cotangent, and which of these;
        "constant", one that gets none; "inputs", the variadic one, or "output", and its position.
    strong : bool or "whole"
        True: zeros stay zeros; "whole": what is hollow stays hollow.
    halves : tuple of (str or None)
        The names of the dtypes of these inputs that are floats of 16 bits: the rules are run in
        float32, and their results are rounded. () where no operand is one.
    zero_d : bool
        Operands are complex: the rules are given those without axes as `ZeroD`.
    checked : bool
        Results are put through `OpDef.check_gradient`.
    save : callable
        ``save(*inputs, *outputs)`` picks that from ndarrays (a variadic input or output is one
        tuple).
    pull : callable
        ``pull(xp, g, saved, attrs)`` returns one cotangent for each wanted input. For an
        operation with several outputs, ``g[i]`` is that of output i, None where nothing arrived.
    lift : callable or None
        For the tape: what it has made of `origins`, to lift what was saved.
    """

    __slots__ = (
        "_forms",
        "checked",
        "halves",
        "lift",
        "op",
        "origins",
        "project",
        "pull",
        "save",
        "saved",
        "strong",
        "wanted",
        "zero_d",
    )

    # The forms of a rule for large arrays and for small ones, if it has them: see `inplace_rules`.
    on_arrays: ClassVar[
        Callable[
            [OpDef, str, Rule], tuple[Callable[..., Any] | None, Callable[..., Any] | None]
        ]
    ]
    one_step: ClassVar[
        Callable[[OpDef, Rule], tuple[str, tuple[str, ...], Callable[..., Any] | None] | None]
    ]

    def __init__(
        self,
        op: OpDef,
        wanted: tuple[int, ...],
        *,
        project: int,
        saved: tuple[str, ...] | None = None,
        strong: bool | Literal["whole"] = False,
        checked: bool = True,
        halves: tuple[str | None, ...] = (),
        zero_d: bool = False,
    ) -> None:
        self.op = op
        self.halves = halves
        self.zero_d = zero_d
        self.checked = checked and op.check_gradient is not None
        self.strong = strong
        self.wanted = wanted
        self.project = project
        self.saved = saved if saved is not None else saved_names(op, wanted, project, checked)
        self.origins = tuple([self._origin(name) for name in self.saved])
        self.save = self._compile_save()
        self.pull = self._compile_pull()
        self._forms: dict[tuple[Any, ...], Pullback] = {}
        self.lift: Callable[..., tuple[Any, ...]] | None = None

    def _origin(self, name: str) -> tuple[str, int]:
        op = self.op
        if name.endswith("_like"):
            return "shape", 0
        if name in op.outputs:
            return "output", op.outputs.index(name)
        if op.variadic and name == op.inputs[-1]:
            return "inputs", len(op.inputs) - 1
        position = op.inputs.index(name)
        if position in self.wanted:
            return "edge", self.wanted.index(position)
        return "constant", position

    def _form(
        self,
        wanted: tuple[int, ...],
        *,
        project: int,
        strong: bool | Literal["whole"],
        checked: bool = True,
    ) -> Pullback:
        """Another pullback that reads the same saved values."""
        key = (wanted, project, strong, checked)
        found = self._forms.get(key)
        if found is None:
            halves = self.halves and tuple([self.halves[self.wanted.index(k)] for k in wanted])
            found = self._forms[key] = Pullback(
                self.op,
                wanted,
                project=project,
                saved=self.saved,
                strong=strong,
                checked=checked,
                halves=halves,
                zero_d=self.zero_d,
            )
        return found

    def restrict(self, wanted: tuple[int, ...]) -> Pullback:
        """The pullback for fewer inputs."""
        if wanted == self.wanted:
            return self
        return self._form(wanted, project=self.project, strong=self.strong)

    def strengthened(self) -> Pullback:
        """The same, with zeros that stay zeros; see `strong_zeros`."""
        if self.strong or self.op.tangent == "linear":
            return self
        return self._form(self.wanted, project=self.project, strong=True)

    def guarded(self) -> Pullback:
        """The same, but of cotangents that are all `hollow` it makes hollow ones."""
        if self.strong:
            return self
        return self._form(self.wanted, project=self.project, strong="whole")

    def bare(self, position: int) -> Pullback:
        """The rule of one input alone, not projected.

        Of an elementwise operation, applied to a tangent it gives the tangent of the output.
        """
        return self._form((position,), project=0, strong=False, checked=False)

    def rules(self) -> list[tuple[int, str, Rule]]:
        """(position, input name, rule) of each wanted input."""
        out = []
        for k in self.wanted:
            rule = self.op.rule_at(k)
            assert rule is not None
            out.append((k, self.op.input_at(k), rule))
        return out

    def scatters(self, rule: Rule) -> bool:
        """Whether the cotangent by this rule may be `Scattered`."""
        return rule.scatters and self.strong is not True

    def _compile_save(self) -> Callable[..., tuple[Any, ...]]:
        op = self.op
        names = (*op.inputs, *op.outputs)
        lines, values = saving(op, self.saved, dict(zip(names, names, strict=True)))
        lines = [f"def {op.name}_save({', '.join(names)}):", *lines, f"return {values}"]
        source = "\n    ".join(lines) + "\n"
        return _define(source, f"{op.name}_save", {"_Spec": Spec, "_new": object.__new__})

    def _compile_pull(self) -> Callable[..., tuple[Any, ...]]:
        op = self.op
        lines = [f"def {op.name}_pullback(xp, g, saved, attrs):"]
        if self.saved:
            lines.append(f"{', '.join(self.saved)}, = saved")
        if op.multiple:
            lines += self._unpack_cotangents()
        scope: dict[str, Any] = {"errstate": np.errstate}
        if self.halves:
            lines += [f"{name} = in_float32(xp, {name})" for name in self._read()]
            scope |= {"in_float32": in_float32, "in_half": in_half}
        elif op.halves == "as they are":  # but what its rule calls may add them up
            first = "g[0]" if op.multiple else "g"
            is_half = f"{first}.__class__ is ndarray and {first}.dtype in HALVES"
            lines.append(f"if {is_half}: xp = getattr(xp, 'with_halves', xp)")
            scope |= {"HALVES": HALVES, "ndarray": np.ndarray}
        if self.zero_d:
            lines.append("xp = getattr(xp, 'with_zero_d', xp)")
            lines += [f"{name} = kept({name})" for name in self._read()]
            scope |= {"kept": kept, "plain": plain}
        start = len(lines)
        results = []
        steps: list[tuple[str, str, tuple[str, ...]]] = []
        negated: int | None = None
        for at, (k, name, rule) in enumerate(self.rules()):
            made = next((n for n in rule.group if f"rule_{n}" in scope), name)
            if f"rule_{made}" not in scope:
                scope[f"rule_{name}"] = rule.fn
                arguments = [
                    "xp",
                    *rule.cotangents,
                    *rule.saves,
                    *(f"{a}=attrs[{a!r}]" for a in rule.attrs),
                ]
                call = f"rule_{name}({', '.join(arguments)})"
                large, small = (
                    (None, None) if self.strong else Pullback.on_arrays(op, name, rule)
                )
                if rule.fn is handed_on:
                    (call,) = rule.cotangents
                elif large is not None or small is not None:
                    form = f"small_{name}({', '.join(arguments)})" if small is not None else call
                    if large is not None:
                        as_large = f"large_{name}({', '.join(arguments[1:])})"
                        form = f"({as_large} if g.size >= {LARGE} else {form})"
                    scope |= {f"large_{name}": large, f"small_{name}": small}
                    scope["ndarray"] = np.ndarray
                    call = f"{form} if g.__class__ is ndarray else {call}"
                elif not self.strong and (step := Pullback.one_step(op, rule)) is not None:
                    form, operands, many = step
                    if form == "-{}" and self._sums_first(k):
                        # Of fewer elements: a sum of negatives is the negative of the sum.
                        form, many, negated = "{}", None, k
                    call = form.format(*operands)  # without the call of a function
                    if many is not None:
                        scope |= {f"many_{name}": many, "ndarray": np.ndarray}
                        is_many = f"is_many = g.__class__ is ndarray and g.size >= {MANY}"
                        if is_many not in lines:
                            lines.append(is_many)
                        call = f"many_{name}({', '.join(operands)}) if is_many else {call}"
                    same = _same_where(steps, form, operands)
                    if same:
                        scope["ndarray"] = np.ndarray
                        call = f"{same} and g.__class__ is ndarray else ({call})"
                    steps.append((f"grad_{name}", form, operands))
                lines.append(f"grad_{name} = {call}")
                if self.checked and op.variadic and name == op.inputs[-1]:
                    lines.append(f"several(grad_{name}, len({name}_like), {name!r})")
                    scope["several"] = op.check_several
            result = f"grad_{made}"
            if rule.group:
                result += f"[{rule.group.index(name)}]"
            if self.strong is True and self.op.tangent == "elementwise":
                result = f"xp.where(xp.equal(g, 0.0), 0.0, {result})"
            if op.variadic and name == op.inputs[-1]:
                result += f"[{k - len(op.inputs) + 1}]"
            if self.strong is True and self.op.tangent != "elementwise":
                if rule.scatters:
                    result, scope["dense"] = f"dense({result})", dense
                result = f"xp.unless_zero({result}, {self._arrived(rule)})"
            if self.strong == "whole":
                given = "*[c for c in g if c is not None]" if op.multiple else "g"
                result = f"xp.unless_hollow({result}, {given})"
            half = f", {self.halves[at]!r})" if self.halves else ""
            if self.checked:
                result = self._checked(f"in_half(xp, {result}{half}" if half else result, k, name)
                scope["check"] = op.check_gradient
            if self.project >> k & 1:
                result = f"{'-' if negated == k else ''}xp.project({result}, {name}_like)"
            if half:
                result = f"in_half(xp, {result}{half}"
            if self.zero_d:
                result = f"plain({result})"
            results.append(f"{result}, ")
        lines.append(f"return ({''.join(results)})")
        if self.strong:  # what is masked may be 0 / 0, and is no cause for a warning
            lines[start:] = [
                "with errstate(divide='ignore', invalid='ignore'):",
                *("    " + line for line in lines[start:]),
            ]
        source = "\n    ".join(lines) + "\n"
        return _define(source, f"{op.name}_pullback", scope)

    def _sums_first(self, position: int) -> bool:
        """What a rule returns is projected as it is, by which it may have fewer elements."""
        return bool(self.project >> position & 1) and not (self.halves or self.checked)

    def _read(self) -> list[str]:
        """What rules read; also what is asked for shape and dtype, but not to check a result."""
        cotangents = self.op.cotangent_names()
        return [
            *cotangents,
            *[n for n in self.saved if not (self.checked and n.endswith("_like"))],
        ]

    def _checked(self, result: str, position: int, name: str) -> str:
        """An operation of the user's looks at what its rules return."""
        like = f"{name}_like"
        if self.op.variadic and name == self.op.inputs[-1]:
            like += f"[{position - len(self.op.inputs) + 1}]"
        return f"check(xp, {result}, {like}, {name!r}, {bool(self.project >> position & 1)})"

    def _arrived(self, rule: Rule) -> str:
        """The cotangents of all outputs, as arguments."""
        if self.op.variadic_output:
            return f"*{rule.cotangents[0]}"
        if self.op.lazy_cotangents:
            return f"*[c for c in ({', '.join(rule.cotangents)},) if c is not None]"
        return ", ".join(rule.cotangents)

    def _unpack_cotangents(self) -> list[str]:
        op = self.op
        if op.variadic_output:
            name = f"g_{op.outputs[0]}"
            likes = f"{op.outputs[0]}_like"
            return [
                f"{name} = [xp.zeros_like(like) if g[i] is None else g[i] "
                f"for i, like in enumerate({likes})]"
            ]
        lines = []
        for i, output in enumerate(op.outputs):
            if output in op.nondiff_outputs:
                continue
            lines.append(f"g_{output} = g[{i}]")
            if _fills_zeros(op):
                lines.append(f"if g_{output} is None: g_{output} = xp.zeros_like({output}_like)")
        return lines


def saved_names(
    op: OpDef, wanted: tuple[int, ...], project: int, checked: bool = True
) -> tuple[str, ...]:
    """Everything the wanted rules, the zero filling and the projection read, once each."""
    names: dict[str, None] = {}
    for k in wanted:
        rule, name = op.rule_at(k), op.input_at(k)
        assert rule is not None
        names.update(dict.fromkeys(rule.saves))
        if project >> k & 1 or (checked and op.check_gradient is not None):
            names[f"{name}_like"] = None
    if wanted and _fills_zeros(op):
        names.update((f"{o}_like", None) for o in op.outputs if o not in op.nondiff_outputs)
    return tuple(names)


def _fills_zeros(op: OpDef) -> bool:
    """A cotangent can be missing, and the rules are not to see that."""
    several = op.variadic_output or len(op.cotangent_names()) > 1
    return op.multiple and several and not op.lazy_cotangents


def saving(op: OpDef, names: Iterable[str], held: Mapping[str, str]) -> tuple[list[str], str]:
    """Statements, and then the text of a tuple of what these names stand for.

    `held` has the variable that holds each input and output.
    """
    variadic = {op.inputs[-1]} if op.variadic else set()
    variadic |= {op.outputs[0]} if op.variadic_output else set()
    lines, values = [], []
    for name in names:
        if name in held:
            value = held[name]
        else:
            base = name.removesuffix("_like")
            array, value = held[base], f"{held[base]}_like"
            if base in variadic:
                lines.append(f"{value} = tuple([_Spec(a.shape, a.dtype) for a in {array}])")
            else:  # a Spec without the call of its class, which takes longer than the rest
                lines.append(f"{value} = _new(_Spec)")
                lines.append(f"{value}.shape = {array}.shape; {value}.dtype = {array}.dtype")
        values.append(f"{value}, ")
    return lines, f"({''.join(values)})"


def _same_where(
    known: Iterable[tuple[str, str, tuple[str, ...]]], form: str, operands: tuple[str, ...]
) -> str:
    """What has been computed already where two operands are one array, as those of ``x * x``."""
    for result, other, names in known:
        if other == form:
            alike = [f"{a} is {b}" for a, b in zip(names, operands, strict=True) if a != b]
            return f"{result} if {' and '.join(alike)}"
    return ""


def _define(source: str, name: str, scope: dict[str, Any]) -> Callable[..., tuple[Any, ...]]:
    """The function `name` of generated source."""
    run_generated(source, name, scope)
    function: Callable[..., tuple[Any, ...]] = scope[name]
    return function

"""``autograd.defop``: operations of the user's own, in every mode at once.

Such an operation is a row like those of the table, read by the same readers, but in no table: it is
the object that `defop` returns, and whoever needs it holds it. So nothing can be overwritten. A
definition that is run again makes another operation, and graphs and programs keep the one that they
were made with, along with what was generated for it.

What the table takes on trust is checked here: what a kernel returns, what a rule returns, and that
a kernel writes to no operand.
"""

from __future__ import annotations

import functools
import keyword
import sys
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, Final, Literal, TypeVar, overload

import numpy as np

from autograd_engine.autograd.custom_op.kernel import (
    attribute,
    guarded,
    inference,
    kind,
    not_inference,
    own,
    shielded,
    spread,
)
from autograd_engine.core.locations import user_frame_from
from autograd_engine.core.locks import renewed_lock
from autograd_engine.core.operand import Operand
from autograd_engine.core.spec import Spec, format_shape, may_equal
from autograd_engine.eager.function_node import refuse_cuts
from autograd_engine.eager.graph_cuts import in_user_code
from autograd_engine.errors import (
    ArgumentError,
    DTypeError,
    NotATensorError,
    NotDifferentiableError,
    RegistryError,
    ShapeError,
)
from autograd_engine.ops.registry.halves import rounded_once
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.ops.registry.opdef import (
    NONDIFF,
    REGISTRY,
    OpDef,
    Rule,
)
from autograd_engine.ops.registry.pullback import Pullback
from autograd_engine.ops.registry.scattered_cotangent import Lazy
from autograd_engine.program.operands import spec_of

__all__ = ["Operation", "defop"]

F = TypeVar("F", bound=Callable[..., Any])
_NONDIFF: Final = type(NONDIFF)
_RESERVED: Final = frozenset({"xp", "g", "saved", "attrs", "check"})


class Operation(OpDef):
    """An operation that `defop` has made; call it on Tensors, ndarrays, numbers or Variables.

    Positional arguments are operands, keyword arguments are attributes. See `OpDef`.
    """

    def __init__(
        self, name: str, kernel: Callable[..., Any], *, infer: Any, **options: Any
    ) -> None:
        # Of a user's kernel nothing more is known than what `defop` asks for.
        super().__init__(name, kernel, infer=infer, result="view", **options)
        if not self.elementwise:
            self.stacks = "each"
        self.direct = guarded(self, kernel)
        single = self.halves == "in float32"
        self.kernel = rounded_once(self, self.direct) if single else self.direct
        self._lock = renewed_lock(self._forget_bound)
        self.__name__ = name
        self.__doc__ = getattr(kernel, "__doc__", None)
        for group in (self.inputs, self.outputs, tuple(self.attrs)):
            for word in group:
                if not word.isidentifier() or keyword.iskeyword(word) or word[0] == "_":
                    raise RegistryError(f"{name}: {word!r} cannot name an input or an attribute")
                if word in _RESERVED:
                    raise RegistryError(f"{name}: {word!r} is what rules are given; rename it")
        names = (*self.inputs, *self.outputs, *self.attrs)
        if len(set(names)) != len(names):
            raise RegistryError(
                f"{name}: inputs, outputs and attributes need different names, got "
                f"{', '.join(names)}; outputs are named by outputs='...'"
            )
        if not self.inputs:
            raise RegistryError(f"{name}: an operation needs an input; name them: inputs='x y'")

    def __call__(self, *operands: Any, **attrs: Any) -> Any:
        fixed = {name: attribute(self.name, name, value) for name, value in attrs.items()}
        return ops[self](*operands, **self.complete_attrs(fixed))

    @overload
    def vjp(self, *names: str) -> Callable[[F], F]: ...
    @overload
    def vjp(self, **rules: Any) -> Operation: ...
    def vjp(self, *names: str, **rules: Any) -> Any:
        """Give rules: ``op.vjp(x=rule, index=NONDIFF)``, or ``@op.vjp("x")`` above a function.

        A rule given again replaces the first. Graphs recorded before keep the rule they have.

        Returns
        -------
        Operation
            Itself; as a decorator, the function.

        Raises
        ------
        RegistryError
            For an input that there is not, or a rule with other parameters than
            ``xp, g, *saved, **attrs``.
        """
        if names:
            return functools.partial(self._decorate, names)
        made: dict[str, Any] = {}
        for name, rule in rules.items():
            if name not in self.inputs:
                raise RegistryError(
                    f"{self.name} has no input {name!r}; it has {', '.join(self.inputs)}"
                )
            if isinstance(rule, _NONDIFF):
                made[name] = rule
            elif callable(rule):
                made[name] = self._rule(name, rule)
            else:
                raise RegistryError(
                    f"{self.name}: the rule for {name!r} must be a function or NONDIFF, got "
                    f"{type(rule).__name__}"
                )
        with self._lock:
            self.rules.update(made)
            self._forget_bound()
        return self

    def _forget_bound(self) -> None:
        """What was made of the rules is out of date."""
        self.bound = {}
        self._pullbacks = {}

    def _decorate(self, names: Sequence[str], rule: Any) -> Any:
        self.vjp(**dict.fromkeys(names, rule))
        return rule

    def _rule(self, name: str, function: Callable[..., Any]) -> Rule:
        rule = Rule(self, name, function)
        note = f"in the rule of {self.name} for {name}; a rule computes with xp.<operation>"

        @functools.wraps(function)
        def noted(xp: Any, *args: Any, **attrs: Any) -> Any:
            given = shielded(args)
            before = in_user_code.watch
            try:
                in_user_code.watch = refuse_cuts
                box = [function(xp, *given, **attrs)]
            except Exception as error:
                if isinstance(error, ValueError) and "read-only" in str(error):
                    raise ArgumentError(
                        f"{self.name}: the rule for {name} writes to a cotangent or a saved value, "
                        "which others use too; write g = g * 2.0 for g *= 2.0"
                    ) from error
                error.add_note(note)
                raise
            finally:
                in_user_code.watch = before
            if isinstance(box[0], (list, tuple)):  # one for each array of a variadic input
                box = list(box.pop())
                return [own(box, k, given) for k in range(len(box))]
            return own(box, 0, given)

        rule.fn = noted
        return rule

    def pullback(
        self, mask: int, project: int = 0, dtypes: Sequence[np.dtype[Any]] = ()
    ) -> Pullback:
        with self._lock:
            return super().pullback(mask, project, dtypes)

    def rule_at(self, position: int) -> Rule | None:
        name = self.input_at(position)
        if name not in self.rules:
            raise NotDifferentiableError(
                f"{self.name} has no rule for its input {name!r}, which a gradient is asked of: "
                f"declare one with {self.name}.vjp({name}=lambda xp, g, ...: ...), or say "
                f"{self.name}.vjp({name}=NONDIFF)"
            )
        return super().rule_at(position)

    def check_several(self, values: Any, count: int, name: str) -> None:
        """What a rule returned for a variadic input has to have an entry for each operand."""
        if isinstance(values, (list, tuple)):
            found: Any = len(values)
        else:  # stacked along a first axis
            shape = _spec(values).shape if hasattr(values, "dtype") else ()
            if shape and may_equal(shape[:1], (count,)):
                return
            found = kind(values)
        if found != count:
            raise ArgumentError(
                f"{self.name}: the rule for {name} returned {found} for {count} operands; return "
                "a list with one gradient for each"
            )

    def check_gradient(self, xp: Any, value: Any, like: Any, name: str, stretched: bool) -> Any:
        """What a rule returned, if it can be the gradient of that input."""
        where = f"{self.name}: the rule for {name} returned"
        if isinstance(value, Lazy):
            return value
        arrays = getattr(xp, "base", xp).of_arrays
        if not hasattr(value, "dtype") or (
            not arrays and isinstance(value, (np.ndarray, np.generic))
        ):
            instead = (
                "say NONDIFF where there is no gradient, or return xp.zeros_like(...)"
                if value is None
                else "compute it with operators and xp.<operation>, for what NumPy computes has no "
                "history to differentiate"
            )
            raise NotATensorError(f"{where} {kind(value)}; {instead}")
        have, want = _spec(value), _spec(like)
        fits = may_equal(have.shape, want.shape)
        if not fits and stretched:
            fits = len(have.shape) >= len(want.shape) and all(
                b == 1 or may_equal((a,), (b,))
                for a, b in zip(have.shape[::-1], want.shape[::-1], strict=False)
            )
        if not fits:
            raise ShapeError(
                f"{where} shape {format_shape(have.shape)} for an input of shape "
                f"{format_shape(want.shape)}; use xp.expand_like or xp.sum_like to fit it, or "
                "defop(..., broadcasts=0) if the operation broadcasts"
            )
        if have.dtype != want.dtype:
            raise DTypeError(
                f"{where} {have.dtype.name} for an input of {want.dtype.name}; use Python numbers, "
                "which take the dtype of what they stand beside, or xp.cast(..., dtype=...)"
            )
        return value

    def __repr__(self) -> str:
        return super().__repr__()[:-1] + f" of {self.module}>"

    def __copy__(self) -> Operation:
        return self

    def __deepcopy__(self, _: Any) -> Operation:
        return self


def _spec(value: Any) -> Spec:
    if isinstance(value, (Operand, Spec)):
        return spec_of(value)
    return Spec(value.shape, value.dtype)


# --- defop


def defop(
    name: str,
    kernel: Callable[..., Any] | None = None,
    *,
    inputs: str | None = None,
    outputs: str = "out",
    infer: Any = None,
    broadcasts: int | None = None,
    dtypes: Literal["any", "common", "floating"] = "common",
    tangent: Literal["linear", "multilinear", "elementwise"] | None = None,
    nondiff_outputs: str = "",
    untyped: str = "",
    random: bool = False,
    real: bool = False,
) -> Any:
    """Make an operation of your own: a kernel on ndarrays, and a gradient rule for each input.

    It then works on Tensors, is differentiable to any order, in reverse and in forward mode, and
    works on Variables, in programs that differentiate it.

    Parameters
    ----------
    name : str
        A Python identifier that no built-in operation has. It is what programs and errors say; two
        operations of one name are two operations, and do not disturb each other.
    kernel : callable, optional
        ``kernel(*arrays, **attrs)`` returns a new array (or a view of an operand, or a tuple of
        arrays for several outputs) and writes to no operand. Its keyword-only parameters are the
        attributes of the operation. Without it, ``defop(...)`` decorates the kernel.
    inputs : str, optional
        Names of the inputs, ``"x y"``, of which the last may be ``*xs``; by default those of the
        positional parameters of the kernel.
    outputs : str
        Names of the outputs; ``*outs`` for a number that depends on the call.
    infer : {"same", "broadcast"}, callable, or tuple of these, optional
        The Spec (shape and dtype) of the output: that of the first input, that of all of them
        broadcast, or ``infer(*specs, **attrs)``. A tuple has one for each output. By default
        "same" for one input and "broadcast" for several. Each call is held to it.
    broadcasts : int, optional
        How many axes at the end of each input do not broadcast; the gradient of an input is then
        summed over those axes before them that were. 0 with ``infer="broadcast"``, else none.
    dtypes : {"common", "floating", "any"}
        Whether inputs are cast to a common dtype, also to a floating one, or not at all.
    tangent : {"elementwise", "linear", "multilinear"}, optional
        What makes forward mode cheap where it applies: each element of the output depends on one
        of each input; the operation is linear in all differentiable inputs together; it is linear
        in each of two.
    nondiff_outputs : str
        Outputs that carry no gradient.
    untyped : str
        Inputs that take no part in `dtypes`: indices, conditions.
    random : bool
        The kernel draws random numbers, so that programs run it once for each run.
    real : bool
        Complex operands are refused.

    Returns
    -------
    Operation
        Callable; ``.vjp(...)`` gives it rules. A rule is ``lambda xp, g, *saved, *, **attrs``: it
        maps the cotangent `g` of the output to that of an input, computing with operators, Python
        numbers and ``xp.<operation>``, or ``xp[op]`` for one of your own. `saved` names the inputs
        and outputs that it reads (``x_like`` for the shape of one), and those are what a graph
        keeps. An input without gradient says ``NONDIFF``. Cotangents of complex values are
        ``dL/dRe - i dL/dIm``: a holomorphic operation multiplies them by its derivative, and
        nothing is conjugated but in others.

    Raises
    ------
    RegistryError
        When the declaration contradicts itself.

    Examples
    --------
    >>> import numpy as np
    >>> import autograd_engine as paddle
    >>> from autograd_engine.autograd import defop
    >>> def _cube(x, *, scale=1.0):
    ...     return (scale * x**3).astype(x.dtype)
    >>> cube = defop("cube", _cube, tangent="elementwise")
    >>> @cube.vjp("x")
    ... def _(xp, g, x, *, scale):
    ...     return g * (3.0 * scale * x * x)

    On Tensors, to any order:

    >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> (first,) = paddle.grad(cube(x), x, create_graph=True)
    >>> (second,) = paddle.grad(first, x)
    >>> first.tolist(), second.tolist()
    ([3.0, 12.0], [6.0, 12.0])

    In forward mode:

    >>> value, tangent = paddle.autograd.jvp(lambda x: cube(x, scale=2.0), x)
    >>> tangent.tolist()
    [6.0, 24.0]

    In programs, and their backward:

    >>> main = paddle.static.Program()
    >>> with paddle.static.program_guard(main):
    ...     v = paddle.static.data("v", [-1], "float32")
    ...     v.stop_gradient = False
    ...     y = cube(v)
    ...     (g,) = paddle.static.gradients([y], [v])
    >>> run = paddle.static.Executor().run
    >>> [a.tolist() for a in run(main, feed={"v": np.float32([1, 2])}, fetch_list=[y, g])]
    [[1.0, 8.0], [3.0, 12.0]]
    """
    module = user_frame_from(sys._getframe(1)).f_globals.get("__name__", "")
    _check_name(name)
    if kernel is None:
        options = {
            "inputs": inputs,
            "outputs": outputs,
            "infer": infer,
            "broadcasts": broadcasts,
            "dtypes": dtypes,
            "tangent": tangent,
            "nondiff_outputs": nondiff_outputs,
            "untyped": untyped,
            "random": random,
            "real": real,
        }
        return lambda function: defop(name, function, **options)
    _check_options(name, inputs, outputs, nondiff_outputs, untyped, dtypes, infer)
    if not callable(kernel):
        raise RegistryError(f"{name}: the kernel must be a function, got {kind(kernel)}")
    known = inputs if inputs is not None else _positional(name, kernel)
    _check_arity(name, kernel, known)
    if infer is None:
        infer = "same" if len(known.split()) == 1 and "*" not in known else "broadcast"
    if infer == "broadcast" and broadcasts is None and "*" not in known:
        broadcasts = 0
    count = len(outputs.split())
    found = inference(name, infer)
    op = Operation(
        name,
        kernel,
        inputs=known,
        infer=spread(found, count) if count > 1 else found,
        outputs=outputs,
        broadcasts=broadcasts,
        dtypes=dtypes,
        nondiff_outputs=nondiff_outputs,
        untyped=untyped,
        random=random,
        takes="bif" if real else "bifc",
        tangent=tangent,
        casts=infer not in ("same", "broadcast"),
    )
    op.module = module
    return op


def _check_name(name: Any) -> None:
    if not isinstance(name, str):
        raise RegistryError(f"defop takes a name first, got {kind(name)}: defop('cube', kernel)")
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        raise RegistryError(
            f"{name!r} cannot name an operation: it has to be a Python identifier that does not "
            "begin with an underscore, as 'cube' or 'mylib_cube'"
        )
    if name in REGISTRY:
        raise RegistryError(
            f"{name!r} is a built-in operation; give yours another name, as 'my_{name}'"
        )


def _check_options(
    name: str, inputs: Any, outputs: Any, nondiff: Any, untyped: Any, dtypes: Any, infer: Any
) -> None:
    given = {"inputs": inputs, "outputs": outputs, "nondiff_outputs": nondiff, "untyped": untyped}
    for option, value in given.items():
        if not isinstance(value, str) and not (option == "inputs" and value is None):
            raise RegistryError(
                f"{name}: {option} must be a str of names, as {option}='x y'; got {kind(value)}"
            )
    if not isinstance(dtypes, str) or dtypes not in ("common", "floating", "any"):
        raise RegistryError(
            f"{name}: dtypes must be 'common', 'floating' or 'any', got "
            f"{repr(dtypes) if isinstance(dtypes, str) else kind(dtypes)}"
        )
    if infer is not None and not isinstance(infer, (str, tuple, list)) and not callable(infer):
        raise not_inference(name, kind(infer))


def _check_arity(name: str, kernel: Callable[..., Any], inputs: str) -> None:
    code = getattr(kernel, "__code__", None)
    if not isinstance(kernel, FunctionType) or code is None or code.co_flags & 0x04:  # *args
        return
    names = inputs.split()
    least = code.co_argcount - len(kernel.__defaults__ or ())
    if "*" in inputs or not least <= len(names) <= code.co_argcount:
        takes = ", ".join(code.co_varnames[: code.co_argcount]) or "nothing"
        raise RegistryError(
            f"{name}: the kernel takes {takes}, and the inputs are {inputs!r}; name as many (with "
            "*xs in both for a number that depends on the call)"
        )


def _positional(name: str, kernel: Callable[..., Any]) -> str:
    """The positional parameters of a kernel, as `inputs`."""
    code = getattr(kernel, "__code__", None)
    if code is None:
        raise RegistryError(
            f"{name}: the parameters of {getattr(kernel, '__name__', kernel)!r} cannot be read; "
            "name its inputs: inputs='x y'"
        )
    names = list(code.co_varnames[: code.co_argcount])
    if code.co_flags & 0x04:  # *args
        names.append("*" + code.co_varnames[code.co_argcount + code.co_kwonlyargcount])
    return " ".join(names)

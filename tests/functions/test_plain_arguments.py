"""Arguments that are no tensors: bools, numbers, names, and sizes that nothing can hold.

Each function, and each layer's constructor, is called with one such argument of another kind: it
says so, in its own name and with the name of the argument. What may stand for a bool gives what
the bool gives. Sizes far too large are refused at once, never by what Python or NumPy say of them.
"""

import contextlib
import inspect
import warnings

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import errors
from tests.fresh import fresh_state
from tests.nn.layer_cases import CASES as LAYERS
from tests.over import over

from .cases import CASES, family
from .harness import flat
from .test_bad_operands import (
    FUNCTIONS,
    Slow,
    at_once,
    bound,
    call_with,
    resolve,
    tensors,
    variables,
)

static = paddle.static

WRONG = {
    bool: ["no", 3.5, 2, [True], object()],
    str: [3, 2.5, True, ["x"], object()],
    int: ["x", object(), {}],
    float: ["x", [1.0, 2.0], object(), {}],
}
TAKEN = {  # of several kinds
    ("audio.functional.compute_fbank_matrix", "norm"),  # a name or a number
}
OTHER_WORDS = {  # how the message calls the argument
    ("arange", "start"): "end",  # of one number alone
    ("range", "start"): "end",
}
OURS = tuple(getattr(errors, name) for name in errors.__all__)
HUGE = (10**30, -(10**30), 2**63 - 1, 2**62, 10**15)


def given_to(name, of_program=False):
    case = CASES[name][0]
    given = bound(name, case, variables(case) if of_program else tensors(case))
    return given and {p: given.get(p) for p in inspect.signature(resolve(name)).parameters}


def own(given, **other):
    """The arguments of a call, which may write to them."""
    copies = {n: v.clone() if isinstance(v, paddle.Tensor) else v for n, v in given.items()}
    return copies | other


def kind_of(parameter, value):
    declared = {"bool": bool, "int": int, "str": str, "float": float}
    return declared.get(str(parameter.annotation), type(value))


def failure(call):
    """The exception that `call` ends with, None for none."""
    try:
        with at_once(), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            call()
    except Exception as error:
        return error
    except Slow:
        return TimeoutError("does not come back")
    return None


def complaint(error, names, argument):
    if error is None:
        return "is taken"
    text = str(error)
    said = any(name in text for name in names) and argument in text
    return "" if said and isinstance(error, OURS) else f"{type(error).__name__}: {text}"


@over("name", FUNCTIONS, by=family)
def test_functions_refuse_what_is_of_another_kind(name):
    given = given_to(name)
    found = {}
    for p in inspect.signature(resolve(name)).parameters.values():
        if given is None or p.name == "name" or (name, p.name) in TAKEN:
            continue
        names = (name.rpartition(".")[2], inspect.unwrap(resolve(name)).__name__)
        for wrong in WRONG.get(kind_of(p, given[p.name]), ()):
            with fresh_state():
                changed = own(given, **{p.name: wrong})
                error = failure(lambda changed=changed: call_with(name, changed))
            said = OTHER_WORDS.get((name, p.name), p.name)
            found[p.name, repr(wrong)] = complaint(error, names, said)
    assert {k: v for k, v in found.items() if v} == {}


@over("name", FUNCTIONS, by=family)
def test_what_counts_as_a_bool(name):
    given = given_to(name)
    for p in inspect.signature(resolve(name)).parameters.values():
        if given is None or p.annotation != "bool":
            continue
        for meant in (True, False):
            results = []
            for same in (meant, np.bool_(meant), int(meant), paddle.to_tensor(meant)):
                with fresh_state():
                    paddle.seed(3)
                    try:
                        made = call_with(name, own(given, **{p.name: same}))
                        results.append([repr(v) for v in flat(made)])
                    except Exception as error:  # a bool that the function does not take here
                        results.append(type(error))
            assert all(r == results[0] for r in results), (p.name, results)


def of_layer(case):
    """The class, and the arguments of its constructor."""
    cls = getattr(paddle.nn, case.name)
    seen, init = [], cls.__init__

    def spy(self, *args, **kwargs):
        seen.append((args, kwargs))
        init(self, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cls, "__init__", spy)
        case.make()
    args, kwargs = seen[0]
    signature = inspect.signature(init)
    found = signature.bind(None, *args, **kwargs)
    found.apply_defaults()
    plain = {n: v for n, v in found.arguments.items() if n != "self"}
    kinds = {p.kind for p in signature.parameters.values()}
    open_ended = kinds & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    return cls, ({} if open_ended else plain), signature.parameters


FIRST = list({case.name: case for case in reversed(LAYERS)}.values())
TAKEN_BY_LAYERS = {
    ("SyncBatchNorm", "weight_attr"),  # False in this case, and many things else
}


def layer_failure(case, cls, given):
    with fresh_state():
        arrays = case.arrays()
        return failure(lambda: cls(**given)(*map(paddle.to_tensor, arrays)))


@over("case", FIRST, ids=[case.name for case in FIRST], by=lambda name: "all")
def test_constructors_refuse_what_is_of_another_kind(case):
    cls, given, parameters = of_layer(case)
    names = [c.__name__ for c in cls.__mro__]
    found = {}
    for name, value in given.items():
        if name == "name" or (case.name, name) in TAKEN_BY_LAYERS:
            continue
        for wrong in WRONG.get(kind_of(parameters[name], value), ()):
            error = layer_failure(case, cls, {**given, name: wrong})
            found[name, repr(wrong)] = complaint(error, names, name)
    assert {k: v for k, v in found.items() if v} == {}


# --- sizes that nothing can hold


def places(value):
    """What stands for `value` where one of its ints is another."""
    if value.__class__ is int:
        yield lambda huge: huge
    elif isinstance(value, (list, tuple)) and value and all(v.__class__ is int for v in value):
        yield lambda huge: type(value)([*value[:-1], huge])


def unclear(error, names):
    """Some take such numbers; of those that fail nothing else is asked than a clear error."""
    if error is None or (isinstance(error, OURS) and any(n in str(error) for n in names)):
        return ""
    return f"{type(error).__name__}: {error}"


@over("name", FUNCTIONS, by=family)
def test_functions_say_which_size_is_too_large(name):
    found = {}
    names = ("index", name.rpartition(".")[2], inspect.unwrap(resolve(name)).__name__)
    for of_program in (False, True):
        if of_program and not CASES[name][0].static:
            continue
        guard = static.program_guard(static.Program(), static.Program())
        with guard if of_program else contextlib.nullcontext():
            given = given_to(name, of_program)
            for argument, value in (given or {}).items():
                for put in places(value):
                    for huge in HUGE:
                        changed = {**(given if of_program else own(given)), argument: put(huge)}
                        error = failure(lambda changed=changed: call_with(name, changed))
                        found[argument, huge, of_program] = unclear(error, names)
    assert {k: v for k, v in found.items() if v} == {}


@over("case", FIRST, ids=[case.name for case in FIRST], by=lambda name: "all")
def test_constructors_say_which_size_is_too_large(case):
    cls, given, _ = of_layer(case)
    names = [c.__name__ for c in cls.__mro__]
    found = {}
    for name, value in given.items():
        for put in places(value):
            for huge in HUGE:
                error = layer_failure(case, cls, {**given, name: put(huge)})
                found[name, huge] = unclear(error, names)
    assert {k: v for k, v in found.items() if v} == {}


@over("case", FIRST, ids=[case.name for case in FIRST], by=lambda name: "all")
def test_a_layer_says_what_a_call_of_it_takes(case):
    layer, xs = case.make(), [paddle.to_tensor(a) for a in case.arrays()]
    for args, kwargs in ((xs, {"nonsense": 3}), ([*xs, *xs, *xs, 1, 2, 3], {}), ([], {})):
        error = failure(lambda args=args, kwargs=kwargs: layer(*args, **kwargs))
        assert isinstance(error, errors.ArgumentTypeError), error
        assert str(error).startswith(type(layer).__name__), error

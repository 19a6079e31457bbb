"""Complex operands of every public function, in both modes: taken, or refused with what to write.

Each floating operand of each case is made complex, alone and together with the others. A refusal
is a DTypeError that begins with the function that was called and says what to type instead; of
what is taken no imaginary part is left out.
"""

from __future__ import annotations

import operator
import re
import warnings

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import DTypeError
from tests.over import over

from .cases import CASES, family
from .test_bad_operands import HEADS, INDEXING

static = paddle.static
F = paddle.nn.functional

ADVICE = re.compile(
    r"paddle\.(real|imag|abs|complex)\b|use (isinf\(|fftn\b|x = paddle\.|dtype='int64')"
)
# With a window that is complex the spectrum has two sides, of which it says that one is missing.
SHAPES = frozenset(["signal.istft"])


def as_complex(array):
    turned = 0.25 * np.cos(np.arange(array.size)).reshape(array.shape)
    return (array + 1j * turned).astype("complex128")


def with_complex(case):
    floating = [k for k, a in enumerate(case.operands) if np.asarray(a).dtype.kind == "f"]
    for chosen in [floating, *([k] for k in floating if len(floating) > 1)]:
        if chosen:
            yield [as_complex(a) if k in chosen else a for k, a in enumerate(case.operands)]


def eagerly(case, operands):
    case.call(*map(paddle.to_tensor, operands))


def in_a_program(case, operands):
    with static.program_guard(static.Program(), static.Program()):
        case.call(*[static.data(f"x{k}", a.shape, a.dtype) for k, a in enumerate(operands)])


def complaint(name, run, case, operands):
    paddle.seed(0)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            run(case, operands)
    except DTypeError as error:
        head = re.match(r"\w*", str(error)).group().strip("_")
        if head not in HEADS | {"astype"} and not INDEXING.match(str(error)):
            return f"names no function: {error}"
        return None if ADVICE.search(str(error)) else f"does not say what to write: {error}"
    except Exception as error:
        return None if name in SHAPES else f"{type(error).__name__}: {error}"
    return None


@over("name", sorted(CASES), by=family)
def test_functions(name):
    found = {}
    for case in CASES[name]:
        for k, operands in enumerate(with_complex(case)):
            for run in (eagerly, *([in_a_program] if case.static else [])):
                found[case.label, k, run.__name__] = complaint(name, run, case, operands)
    assert {k: v for k, v in found.items() if v} == {}


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_operators_and_methods_that_order(dtype):
    methods = ("max", "min", "sort", "argsort", "argmax", "topk", "median", "cummax", "mode")
    calls = [lambda x, m=m: getattr(x, m)(*[1] * (m == "topk")) for m in methods]
    compared = (operator.lt, operator.le, operator.gt, operator.ge)
    calls += [lambda x, c=c, y=y: c(x, y) for c in compared for y in (1.0, 1j)]
    calls += [lambda x, c=c: c(x, x) for c in (*compared, operator.mod, operator.floordiv)]
    calls += [F.relu, F.gelu, F.softmax, paddle.floor]
    eager = paddle.to_tensor(np.array([1 + 2j, 3 - 1j], dtype), stop_gradient=False)
    with static.program_guard(static.Program()):
        for x in (eager, static.data("x", [2], dtype)):
            for call in calls:
                with pytest.raises(DTypeError, match=r"^\w+: .*paddle\.real"):
                    call(x)

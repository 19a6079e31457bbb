"""Gradients that end where NumPy or another library takes a tensor apart: said, or not lost."""

import gc
import inspect
import io
import math
import os
import re
import subprocess
import sys
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import GradientCutWarning, NotDifferentiableError
from tests.interop.numpy_calls import CALLS, arrays
from tests.interop.test_protocols_numpy import CONSTANT, evaluate
from tests.over import initial, over

LEAF = paddle.to_tensor([0.5, 0.25], dtype="float64", stop_gradient=False)


def said(function: Callable[[], Any]) -> list[warnings.WarningMessage]:
    """What a call warns of."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        function()
    return found


def written(a: Any, key: Any, value: Any) -> None:
    a[key] = value


t, u = LEAF * 2.0, LEAF * 3.0
BOTH = [t, u]
LOSING: dict[str, Callable[[], Any]] = {
    "np.array": lambda: np.array([t, u]),
    "np.asarray": lambda: np.asarray(list(t)),
    "np.ascontiguousarray": lambda: np.ascontiguousarray(BOTH),
    "np.sum": lambda: np.sum([t, u]),
    "np.mean": lambda: np.mean([t, u]),
    "np.max": lambda: np.max([t, u]),
    "np.sin": lambda: np.sin([t, u]),
    "np.maximum.reduce": lambda: np.maximum.reduce([t, u]),
    "np.fromiter": lambda: np.fromiter(t, float),
    "np.vectorize": lambda: np.vectorize(abs)(t),
    "np.full": lambda: np.full(2, t[0]),
    "np.linalg.norm": lambda: np.linalg.norm([t, u]),
    "math.sin": lambda: math.sin(t[0]),
    "NumPy": lambda: np.ones(2) * [t[0], t[1]],
}


@pytest.mark.parametrize("name", LOSING)
def test_a_gradient_that_ends_is_said(name: str) -> None:
    found = said(LOSING[name])
    assert found
    for message in found:
        assert message.category is GradientCutWarning
        assert message.filename == __file__
        line = inspect.getsourcelines(LOSING[name])[1]
        assert message.lineno == line
        text = str(message.message)
        assert text.startswith(f"test_implicit_values.py:{line} (")
        assert f"{name} takes the values" in text.replace("(abs)", "")
        assert re.search(r"(paddle\.stack|use paddle\.sin).* or t\.detach\(\)", text)
    with paddle.no_grad():
        assert not said(LOSING[name])


def test_assignment_to_elements_is_said() -> None:
    a, z = np.zeros(2), np.zeros(2, complex)
    for array, key, value in ((a, 0, t[0]), (a, slice(None), t), (z, 0, t[0])):
        (message, *_) = said(lambda array=array, key=key, value=value: written(array, key, value))
        assert "a[key] = value" in str(message.message)
    found = said(lambda: a.fill(t[0]))
    assert found


def test_a_line_is_said_once() -> None:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")
        for _ in range(3):
            np.sum([t, u * 2.0, LEAF])
        np.sum([t, u])
    assert len(found) == 2


def test_values_that_are_asked_for_by_name_are_not_said() -> None:
    x = t[0]
    for asks in (
        lambda: (float(x), int(x), complex(x), bool(x), x.item(), t.tolist(), t.numpy(), round(x)),
        lambda: (np.asarray(t), np.array(t), np.asarray(t * 2.0), t.__array__()),
        lambda: (np.float64(x), np.float32(x)),
        lambda: (str(t), repr(t), f"{x:.2f} {t}", print(x, t, file=io.StringIO())),
        lambda: ("%.2f" % x, "{:.2f}".format(x)),  # noqa: UP031, UP032 - other ways to print
        lambda: (math.floor(x), math.isfinite(x), max(t), sum(t), sorted(t), 0.5 in t),
        lambda: (np.testing.assert_allclose(t, t.numpy()), t.numpy() == pytest.approx(t)),
        lambda: (np.allclose([1.0], t), np.argmax(t), np.array_equal(t, u), np.shape(t)),
        lambda: (np.sum([t.detach(), u.detach()]), paddle.stack([t, u])),
    ):
        assert not said(asks)


def test_looking_at_local_variables_keeps_nothing_alive() -> None:
    made = LEAF * 5.0
    here = weakref.ref(made)
    assert np.asarray(made).shape == (2,)
    del made
    gc.collect()
    assert here() is None
    known = locals()
    made = LEAF * 5.0
    assert np.asarray(made).shape == (2,)
    assert "here" in known


def test_of_scipy() -> None:
    special = pytest.importorskip("scipy.special")
    stats = pytest.importorskip("scipy.stats")
    integrate = pytest.importorskip("scipy.integrate")
    optimize = pytest.importorskip("scipy.optimize")
    linalg = pytest.importorskip("scipy.linalg")
    signal = pytest.importorskip("scipy.signal")
    for call, text in (
        (lambda: special.logsumexp(t), r"special\.logsumexp takes .* use paddle\.logsumexp"),
        (lambda: special.softmax(t), r"use paddle\.nn\.functional\.softmax"),
        (lambda: stats.norm.pdf(t), r"stats\.norm\.pdf takes"),
        (lambda: signal.convolve(t, u), r"signal\.convolve takes"),
        (lambda: integrate.quad(lambda v: v * t[0], 0, 1), r"integrate\.quad takes"),
        (lambda: optimize.brentq(lambda v: v * t[0] - 0.5, 0, 1), r"optimize\.brentq takes"),
        (lambda: linalg.expm(np.outer(t, u)), r"linalg\.expm takes"),
    ):
        with pytest.warns(GradientCutWarning, match=text):
            call()
    for solve in (optimize.minimize, optimize.fmin_bfgs):
        options = {"disp": False} if solve is optimize.fmin_bfgs else {}
        assert not said(lambda s=solve, o=options: s(lambda v: (v[0] - t[0]) ** 2, [0.0], **o))


def test_scipy_asks_for_the_namespace_of_arrays_if_it_is_told_to() -> None:
    pytest.importorskip("scipy", minversion="1.15")
    program = """
import numpy as np, scipy.special, autograd_engine as paddle
x = paddle.to_tensor(np.array([0.3, 0.7]), stop_gradient=False)
scipy.special.logsumexp(x).backward()
np.testing.assert_allclose(x.grad.numpy(), scipy.special.softmax(x.numpy()), rtol=1e-12)
"""
    subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        check=True,
    )


JOINING: dict[str, Callable[[Any], Any]] = {
    "np.r_[x, c]": lambda x: np.r_[x, [1.5, 2.5]],
    "np.r_[c, x]": lambda x: np.r_[np.ones(2), x, 0.5, 0:2],
    "np.r_[x[0], x]": lambda x: np.r_[x[0], x * x],
    "np.c_[x, c]": lambda x: np.c_[x, [1.5, 2.5]],
    "np.c_[c, x, x]": lambda x: np.c_[np.ones(2), x, x * x],
    "np.r_['-1', ...]": lambda x: np.r_["-1", np.outer(x, x), np.ones((2, 1))],
    "np.r_['0,3,1', ...]": lambda x: np.r_["0,3,1", np.outer(x, x), np.ones((2, 2))],
    "np.r_['1,2,0', ...]": lambda x: np.r_["1,2,0", x, np.ones(2)],
}


@pytest.mark.parametrize("name", JOINING)
def test_r_and_c_are_recorded(name: str) -> None:
    join = JOINING[name]
    x = np.array([0.3, 0.7])
    leaf = paddle.to_tensor(x, stop_gradient=False)
    made = join(leaf)
    assert isinstance(made, paddle.Tensor)
    np.testing.assert_array_equal(made.numpy(), join(x))
    weights = np.random.default_rng(0).normal(size=made.shape)
    (weights * made).sum().backward()
    differences = [
        np.sum(weights * (join(x + 1e-6 * e) - join(x - 1e-6 * e))) / 2e-6 for e in np.eye(2)
    ]
    np.testing.assert_allclose(leaf.grad.numpy(), differences, rtol=1e-8)


LISTS = [
    pytest.param(call, name, id=f"{call}-{name}")
    for function, calls in CALLS.items()
    if function not in CONSTANT
    for call in calls
    for name in ("a", "b", "m", "r", "v", "w", "x3", "p")
    if re.search(rf"(?<![\w.']){name}\b(?!\s*[=(])", call)
]


def floating_without_a_gradient(made: Any) -> bool:
    if isinstance(made, (list, tuple)):
        return any(floating_without_a_gradient(m) for m in made)
    if isinstance(made, paddle.Tensor):
        return made.dtype.kind == "f" and made.stop_gradient
    return isinstance(made, (np.ndarray, np.floating)) and made.dtype.kind == "f"


@over(("call", "name"), LISTS, by=initial)
def test_no_function_of_numpys_is_silent_about_a_list_of_tensors(call: str, name: str) -> None:
    rows = [row * 1.0 for row in paddle.to_tensor(arrays()[name], stop_gradient=False)]
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            made = evaluate(call, {**arrays(), name: rows})
        except (TypeError, AttributeError, ValueError, NotDifferentiableError):
            return  # no list may stand here
    told = any(f.category is GradientCutWarning for f in found)
    assert told or not floating_without_a_gradient(made)


def test_to_tensor_of_a_list_says_that_it_cuts() -> None:
    t = paddle.to_tensor(2.0, stop_gradient=False)
    with pytest.warns(GradientCutWarning, match=r"test_implicit_values.*use\s+paddle\.stack"):
        paddle.to_tensor([[t, 1.0], [0.0, t * 2]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        paddle.to_tensor([t.detach(), 1.0])
        paddle.to_tensor(t)  # a copy, and asked for by name
        with paddle.no_grad():
            paddle.to_tensor([t, t])

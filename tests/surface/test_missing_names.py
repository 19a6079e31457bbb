"""Names of Paddle, PyTorch, JAX and HIPS autograd: each is here, or an error answers it."""

from __future__ import annotations

import ast
import inspect
import math
import re
import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.core.names.missing_names import Absent
from tests.peer_names import ROOT, peers, told

# --- every name


def test_every_name_of_the_others_exists_or_is_answered() -> None:
    open_ = [(t.name, t.place) for t in told() if not (t.exists or t.answered)]
    assert not open_


def test_every_error_says_the_answer() -> None:
    """As typed, from the first module on, and as imported."""
    wrong, objects, seen = [], peers().owners(), set()
    for one in told():
        if one.exists or (one.place, one.asked) in seen:
            continue
        seen.add((one.place, one.asked))
        owner = peers().found_at(one.place, objects)[1]
        for ask in (getattr, _imported) if isinstance(owner, ModuleType) else (getattr,):
            try:
                if not isinstance(ask(owner, one.asked), ModuleType):
                    wrong.append((one.place, one.asked, ask.__name__, "no error"))
            except (AttributeError, ImportError) as error:
                kind = AttributeError if ask is getattr else ImportError
                if not isinstance(error, kind) or str(one.answer) not in str(error):
                    wrong.append((one.place, one.asked, ask.__name__, error))
    assert not wrong


def _imported(module: ModuleType, name: str) -> Any:
    space: dict[str, Any] = {}
    exec(f"from {module.__name__} import {name} as found", space)
    return space["found"]


TYPED = [
    ("paddle.cuda.is_available()", "all arrays are on the CPU: delete the line"),
    ("import autograd_engine.optim as optim", "here it is paddle.optimizer"),
    ("from autograd_engine.utils.data import DataLoader", "here it is paddle.io"),
    ("from autograd_engine import vmap", "operations take batch axes themselves"),
    ("paddle.func.vmap", "paddle.autograd: jacobian, hessian"),
    ("paddle.jit.trace", "here it is paddle.jit.to_static(function)"),
    ("paddle.optimizer.lr.StepLR", "paddle.optimizer.lr.StepDecay(learning_rate, step_size)"),
    ("paddle.optimizer.Adamw", "here it is AdamW"),
    ("paddle.nn.Linear(1, 1).cuda()", "all arrays are on the CPU"),
    ("paddle.nn.Linear(1, 1).get_submodule", "dict(layer.named_sublayers())[name]"),
    ("paddle.nn.Linear(1, 1).wieght", "it has weight, bias"),
    ("paddle.optimizer.SGD(0.1).param_groups", "get_lr() and set_lr(value)"),
    ("paddle.Tensor.record_stream", "type object 'Tensor' has no attribute"),
    ("paddle.sofmax", "did you mean 'softmax'?"),
    ("paddle.nn.functional.sofmax", "did you mean 'softmax'?"),
    ("paddle.optimizer.SGD(0.1).stepp()", "did you mean 'step'?"),
]


def test_what_hands_type_is_answered() -> None:
    wrong, answered = [], 0
    for typed, text in TYPED:
        try:
            exec(typed, {"paddle": paddle})
        except (AttributeError, ImportError) as error:
            answered += 1
            if text not in str(error):
                wrong.append((typed, error))
        except Exception:  # it is there, and refuses the call
            pass
    assert not wrong
    assert answered > len(TYPED) / 2  # the others have come to exist


def test_a_module_that_is_a_function_elsewhere_says_what_to_write() -> None:
    with pytest.raises(TypeError, match=r"write paddle\.jit\.to_static\(function\)"):
        paddle.jit(lambda x: x)  # type: ignore[operator]


def test_a_name_that_is_like_none_is_given_no_hint() -> None:
    for owner in (paddle, paddle.nn, paddle.optimizer, paddle.optimizer.lr, paddle.jit, paddle.fft):
        with pytest.raises(AttributeError, match=r"has no attribute 'qqqqqq'$"):
            owner.qqqqqq  # noqa: B018
    with pytest.raises(AttributeError, match=r"'SGD' object has no attribute 'qqqqqq'$"):
        paddle.optimizer.SGD(0.1, [paddle.create_parameter([2])]).qqqqqq  # noqa: B018


def test_absent_attributes_are_not_shown_and_subclasses_may_have_them() -> None:
    x = paddle.ones([1])
    absent = [n for n, value in vars(paddle.Tensor).items() if isinstance(value, Absent)]
    assert absent
    assert not set(absent) & set(dir(x))
    assert not any(hasattr(x, name) for name in absent)
    assert type("Own", (paddle.nn.Layer,), {"cuda": 1})().cuda == 1


def test_the_answers_are_read_when_a_name_is_missing_and_not_before() -> None:
    code = (
        "import autograd_engine as paddle\n"
        "from autograd_engine.core.names import missing_names\n"
        "net = paddle.nn.Linear(2, 2); paddle.incubate, paddle.distributed\n"
        "paddle.optimizer.SGD(0.1, net.parameters())\n"
        "print(missing_names.answers.cache_info().currsize)\n"
        "hasattr(paddle, 'sofmax'); print(missing_names.answers.cache_info().currsize)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert run.stdout.split() == ["0", "1"], run.stderr


# --- the answers are true

PATH = re.compile(r"(?<![\w.])(paddle|x|y|loss|layer|scheduler|loader|program|np|math)(\.\w+)+")


def _paths() -> Iterator[tuple[str, str, Any, str]]:
    """(name, path, what is there or None, the text from it on) of the paths in all answers."""
    objects = peers().owners()
    bases: dict[str, Any] = {
        **dict.fromkeys(("x", "y", "loss"), paddle.Tensor),
        "paddle": paddle,
        "layer": objects["paddle.nn.Layer"],
        "scheduler": objects["paddle.optimizer.lr.LRScheduler"],
        "loader": objects["paddle.io.DataLoader"],
        "program": objects["paddle.static.Program"],
        "np": np,
        "math": math,
    }
    texts = {one.answer.text: one.name for one in told() if one.answer is not None}
    for text, name in texts.items():
        for found in PATH.finditer(text):
            base, *parts = found[0].split(".")
            value = bases[base]
            for part in parts:
                value = getattr(value, part, None)
                if value is None:
                    break
            yield name, found[0], value, text[found.start() :]


def test_what_answers_name_is_there() -> None:
    assert not {(name, path) for name, path, value, _ in _paths() if value is None}


def test_what_answers_call_takes_the_arguments() -> None:
    wrong, calls = [], 0
    for name, path, value, text in _paths():
        base = path.partition(".")[0]
        if base in ("np", "math") or not text.startswith(f"{path}("):
            continue
        try:
            call = ast.parse(text[: _end_of_call(text)], mode="eval").body
            signature = inspect.signature(value)
        except (SyntaxError, ValueError) as error:
            wrong.append((name, text, error))
            continue
        assert isinstance(call, ast.Call)
        if any(isinstance(a, ast.Starred) or getattr(a, "value", 0) is ... for a in call.args):
            continue
        calls += 1
        given: list[Any] = [None] * (len(call.args) + (base in ("x", "y", "loss")))
        try:
            signature.bind(*given, **{k.arg: None for k in call.keywords if k.arg})
        except TypeError as error:
            wrong.append((name, text, error))
    assert not wrong
    assert calls > 50


def _end_of_call(text: str) -> int:
    depth = 0
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if c in ")]}" and not depth:
            return i + 1
    return len(text)

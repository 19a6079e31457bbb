"""Settings of which nothing can come are refused when an optimizer or a scheduler is made.

Each argument of each class is given what it cannot be; the error names the class and the argument.
"""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import ArgumentError
from tests.over import before, over

OPTIMIZERS, SCHEDULERS = paddle.optimizer, paddle.optimizer.lr
NEEDED: dict[str, Any] = {  # what has no default, by the name of the argument
    "learning_rate": 0.1,
    "max_learning_rate": 0.1,
    "base_learning_rate": 0.1,
    "start_lr": 0.0,
    "end_lr": 0.1,
    "gamma": 0.5,
    "total_steps": 10,
    "decay_steps": 3,
    "warmup_steps": 3,
    "step_size": 2,
    "step_size_up": 2,
    "milestones": [2, 4],
    "boundaries": [2, 4],
    "values": [0.1, 0.2, 0.3],
    "d_model": 8,
    "T_max": 4,
    "T_0": 4,
    "lr_lambda": lambda epoch: 0.5,
}
USUAL = NEEDED | {"weight_decay": 0.1, "max_eval": 10, "step_size_down": 2}
WITHOUT_EFFECT = {"name", "use_multi_tensor", "use_lowprecision_moment", "parameters"}
FRACTIONS = {"d_model", "warmup_steps"}  # need not be whole, though they are by default
ANY_SIGN = {  # as large, or as far below zero, as one likes
    ("LBFGS", "tolerance_grad"),  # below zero: never reached
    ("LBFGS", "tolerance_change"),
    ("Momentum", "rescale_grad"),
    ("ReduceOnPlateau", "threshold"),
    ("ReduceOnPlateau", "epsilon"),
}


def made(cls: Any, **given: Any) -> Any:
    for name, p in inspect.signature(cls).parameters.items():
        if name == "parameters":
            given.setdefault(name, [paddle.create_parameter([2])])
        elif p.default is inspect.Parameter.empty:
            given.setdefault(name, NEEDED[name])
    return cls(**given)


def arguments() -> list[Any]:
    """Each argument of each class, with what it is in a usual call."""
    found = []
    for module in (OPTIMIZERS, SCHEDULERS):
        for cls in map(module.__dict__.get, module.__all__):
            if not inspect.isclass(cls) or cls in (OPTIMIZERS.Optimizer, SCHEDULERS.LRScheduler):
                continue
            for name, p in inspect.signature(cls).parameters.items():
                if name not in WITHOUT_EFFECT:
                    usual = USUAL.get(name) if p.default in (p.empty, None) else p.default
                    found.append(pytest.param(cls, name, usual, id=f"{cls.__name__}.{name}"))
    return found


def refused(cls: Any, name: str, usual: Any) -> list[Any]:
    """What that argument cannot be."""
    found = ["nonsense", object(), 1 + 0j, paddle.to_tensor([0.1, 0.2, 0.3, 0.4])]
    if isinstance(usual, bool):
        return [*found, 1, 0.0, None, math.nan]
    if isinstance(usual, (int, float)):
        found += [math.nan, math.inf, -math.inf, paddle.to_tensor(math.nan), True, [0.1]]
        if not (cls.__name__ == "LBFGS" and name == "max_eval") and name != "step_size_down":
            found += [None] if not (name == "weight_decay" and cls.__name__ != "AdamW") else []
        if (cls.__name__, name) not in ANY_SIGN:
            found += [-2, np.float32(-1.5)]
        if (
            isinstance(usual, int)
            and name != "eta_min"
            and "lr" not in name
            and name not in FRACTIONS
        ):
            found += [2.5]
        return found
    return [*found, 3, True] if usual is None else [*found, None, 3, ["a"]]


@over(("cls", "name", "usual"), arguments(), by=before("."))
def test_what_no_setting_can_be_is_refused(cls: Any, name: str, usual: Any) -> None:
    made(cls)
    for value in refused(cls, name, usual):
        text = "accepted"
        try:
            made(cls, **{name: value})
        except (TypeError, ValueError) as error:
            text = str(error)
        assert text.startswith(cls.__name__), (value, text)
        assert name in text, (value, text)


@over(("cls", "name", "usual"), arguments(), by=before("."))
def test_a_number_may_be_a_tensor(cls: Any, name: str, usual: Any) -> None:
    if isinstance(usual, bool) or not isinstance(usual, (int, float)):
        return
    values = [usual, np.asarray(usual), paddle.to_tensor(usual), paddle.to_tensor([usual])]
    settings = [vars(made(cls, **{name: v})) for v in values]
    for other in settings[1:]:
        for key, value in settings[0].items():
            if isinstance(value, (bool, int, str, float)):
                assert type(other[key]) is type(value), key
                assert other[key] == pytest.approx(value, abs=1e-6), key


def test_a_rate_set_later_is_held_to_the_same() -> None:
    sgd = made(OPTIMIZERS.SGD)
    for rate in (math.nan, math.inf, -0.1):
        with pytest.raises(ArgumentError, match="SGD: learning_rate"):
            sgd.set_lr(rate)
    assert sgd.get_lr() == 0.001


def test_a_penalty_that_lets_weights_grow_is_written_out() -> None:
    with pytest.raises(ArgumentError, match=r"L2Decay\(-0\.1\)"):
        made(OPTIMIZERS.SGD, weight_decay=-0.1)
    made(OPTIMIZERS.SGD, weight_decay=paddle.regularizer.L2Decay(-0.1))


def test_in_eager_mode_there_is_something_to_train() -> None:
    with pytest.raises(ArgumentError, match=r"Adam has nothing to train: pass parameters="):
        paddle.optimizer.Adam(0.1)
    with paddle.static.program_guard(paddle.static.Program()):
        paddle.optimizer.Adam(0.1)

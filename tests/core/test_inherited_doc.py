"""Docstrings of classes take over what their bases say of arguments and of what is raised."""

from __future__ import annotations

import inspect
import re

import autograd_engine as paddle

DESCRIBED = re.compile(r"^(?:Parameters|Raises)\n-+\n((?:.+\n)+)", re.MULTILINE)


def test_arguments_stand_in_the_order_of_the_constructor() -> None:
    parameters, raised = DESCRIBED.findall(inspect.getdoc(paddle.nn.LSTM) or "")
    named = re.findall(r"^(\w.*?)(?: :|$)", parameters, re.MULTILINE)
    arguments = list(inspect.signature(paddle.nn.LSTM).parameters)
    assert ", ".join(named).split(", ") == [name for name in arguments if name != "name"]
    assert raised == "ArgumentError\n"


def test_what_a_class_says_itself_stays() -> None:
    own, base = (inspect.getdoc(cls) or "" for cls in (paddle.optimizer.AdamW, paddle.nn.Layer))
    assert "weight_decay : float\n" in own
    assert own.count("weight_decay : ") == own.count("grad_clip : ") == 1
    assert "Divide by the largest second moment" not in own  # as of Adam, which it refers to
    assert base.startswith("A function with parameters of its own")


def test_classes_of_the_user_keep_what_they_say() -> None:
    class Halving(paddle.optimizer.lr.LRScheduler):
        """Half of it each time."""

    assert Halving.__doc__ == "Half of it each time."

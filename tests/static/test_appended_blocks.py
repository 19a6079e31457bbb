"""Blocks that are made by hand, and the operators `while` and `conditional_block` that run them."""

from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import ArgumentError, BuildError, DTypeError

static = paddle.static


def constant(block: Any, name: str, dtype: str, value: float) -> Any:
    made = block.create_var(name=name)
    attrs = {"shape": [1], "dtype": dtype, "value": value}
    block.append_op("fill_constant", {}, {"Out": made}, attrs)
    return made


@pytest.fixture
def program() -> Any:
    """s = x; 4 times: s = s * x; where s > 10: s = s * 10"""
    main = static.Program()
    with static.program_guard(main, static.Program()), paddle.unique_name.guard():
        block = main.global_block()
        x = static.data("x", [1], "float32")
        x.stop_gradient = False
        s, c, big = (block.create_var(name=n) for n in ("s", "c", "big"))
        block.append_op("assign", {"X": x}, {"Out": s})
        i, n = constant(block, "i", "int64", 0), constant(block, "n", "int64", 4)
        block.append_op("less_than", {"X": i, "Y": n}, {"Out": c})
        body = main.create_block()
        t = body.create_var("t")
        body.append_op("elementwise_mul", {"X": s, "Y": x}, {"Out": t})
        body.append_op("assign", {"X": t}, {"Out": s})
        body.append_op("increment", {"X": i}, {"Out": i}, {"step": 1.0})
        body.append_op("less_than", {"X": i, "Y": n}, {"Out": c})
        main.rollback()
        block.append_op(
            type="while",
            inputs={"X": [s, x, i, n], "Condition": [c]},
            outputs={"Out": [s, i], "StepScopes": [block.create_var("scopes")]},
            attrs={"sub_block": body, "is_test": False},
        )
        limit = constant(block, "limit", "float32", 10.0)
        block.append_op("greater_than", {"X": s, "Y": limit}, {"Out": big})
        branch = main._create_block()
        branch.append_op("scale", {"X": s}, {"Out": s}, {"scale": 10.0})
        main._rollback()
        block.append_op(
            type="conditional_block",
            inputs={"Cond": [big], "Input": [s]},
            outputs={"Out": [s], "Scope": [block.create_var("scope")]},
            attrs={"sub_block": branch, "is_scalar_condition": True},
        )
    return main


def test_values_and_gradients(program: Any) -> None:
    (g,) = static.gradients(program.global_block().var("s"), program.global_block().var("x"))
    copies = [program, program.clone(), static.Program.parse_from_string(program.to_string())]
    for p in copies:
        for backend in ("numpy", "native"):
            run = static.Executor(backend=backend)
            for x, s, slope in ((2.0, 320.0, 800.0), (1.0, 1.0, 5.0)):
                found = run.run(p, {"x": np.float32([x])}, ["s", g.name, "i"])
                assert [v.item() for v in found] == [s, slope, 4]


def test_they_read_back(program: Any) -> None:
    for p in (program, program.clone(), static.Program.parse_from_string(program.to_string())):
        ops = {op.type: op for op in p.global_block().ops}
        loop, branch = ops["while"], ops["conditional_block"]
        assert loop.input("Condition") == ["c"]
        assert loop.input("X") == ["s", "x", "i", "n"]
        assert loop.output("Out") == ["s", "i"]
        assert loop.attr("sub_block") is p.block(1)
        assert branch.input("Cond") == ["big"]
        assert branch.attr("is_scalar_condition") is True
        assert [op.type for op in branch.attr("sub_block").ops] == ["scale"]


def test_refused() -> None:
    main = static.Program()
    with static.program_guard(main, static.Program()):
        block = main.global_block()
        x = static.data("x", [1], "float32")
        flag = paddle.sum(x) > 0
        made = block.create_var(name="made")
        with pytest.raises(BuildError, match="no block is open; create_block opens one"):
            main.rollback()
        inner = main.create_block()
        inner.append_op("relu", {"X": x}, {"Out": made})

        def append(type: str, cond: Any) -> None:
            slot = "Condition" if type == "while" else "Cond"
            with static.program_guard(main):
                block.append_op(type, {slot: cond}, {"Out": made}, {"sub_block": inner})

        with pytest.raises(BuildError, match="the sub_block is still open"):
            append("conditional_block", flag)
        main.rollback()
        before = str(main)
        with pytest.raises(BuildError, match="block 1 is built, and what is added"):
            inner.append_op("relu", {"X": x}, {"Out": inner.create_var("y")})
        inner._remove_var("y")
        with pytest.raises(BuildError, match="writes made, which has no value where it does not"):
            append("conditional_block", flag)
        assert str(main) == before
        with pytest.raises(ArgumentError, match="'sub_block' of while must be a block"):
            block.append_op("while", {"Condition": flag}, {"Out": made}, {"sub_block": 1})
        inner = main.create_block()
        inner.append_op("assign", {"X": x}, {"Out": inner.create_var("z")})
        main.rollback()
        before = str(main)
        with pytest.raises(BuildError, match="does not write the condition"):
            append("while", flag)
        with pytest.raises(DTypeError, match="must be a bool"):
            append("conditional_block", x)
        assert str(main) == before
        append("conditional_block", flag)
        with pytest.raises(BuildError, match=r"belongs to conditional_block at .*appended_blocks"):
            append("conditional_block", flag)

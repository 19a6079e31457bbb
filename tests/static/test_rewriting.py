"""Operators inserted, taken out, renamed, given other attributes; and what is refused."""

from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import (
    ArgumentError,
    BuildError,
    DTypeError,
    NotATensorError,
    ShapeError,
)

static = paddle.static
X = np.float32([[1.0, -2.0, 3.0]])


@pytest.fixture
def program() -> Any:
    """x -> scale by 2 -> h -> relu -> r -> dropout -> d -> mean -> loss"""
    main = static.Program()
    with static.program_guard(main, static.Program()), paddle.unique_name.guard():
        block = main.global_block()
        x = static.data("x", [None, 3], "float32")
        x.stop_gradient = False
        h, r, d, loss = (block.create_var(name=n) for n in ("h", "r", "d", "loss"))
        block.append_op("scale", {"X": x}, {"Out": h}, {"scale": 2.0})
        block.append_op("relu", {"X": [h]}, {"Out": [r]})
        block.append_op("dropout", {"X": r}, {"Out": d}, {"dropout_prob": 0.5, "is_test": True})
        block.append_op("mean", {"X": d}, {"Out": loss})
    return main


def run(program: Any, *names: str) -> list[Any]:
    return static.Executor().run(program, {"x": X}, list(names))


def again(program: Any) -> Any:
    """A copy by way of its text, which has to print the same."""
    copy = static.Program.parse_from_string(program.to_string())
    assert str(copy) == str(program)
    return copy


class TestRewriting:
    def test_a_dropout_is_taken_out(self, program: Any) -> None:
        block = program.global_block()
        for k, op in reversed(list(enumerate(block.ops))):
            if op.type == "dropout":
                (source,), (target,) = op.input("X"), op.output("Out")
                block._remove_op(k)
                for other in block.ops[k:]:
                    if target in other.input_arg_names:
                        other._rename_input(target, source)
        assert [op.type for op in block.ops] == ["scale", "relu", "mean"]
        assert len(program.blocks) == 1  # that of the dropout is gone with it
        for p in (program, again(program), program.clone()):
            assert run(p, "loss")[0] == np.float32(8.0 / 3.0)
        (g,) = static.gradients(block.var("loss"), block.var("x"))
        np.testing.assert_allclose(run(program, g.name)[0], [[2 / 3, 0.0, 2 / 3]], rtol=1e-6)

    def test_what_was_taken_out_can_be_written_by_another(self, program: Any) -> None:
        block = program.global_block()
        block._remove_op(2)
        block._insert_op(2, "assign", {"X": "r"}, {"Out": "d"})
        assert [op.type for op in block.ops] == ["scale", "relu", "assign", "mean"]
        for p in (program, again(program)):
            assert run(p, "loss")[0] == np.float32(8.0 / 3.0)

    def test_a_scale_is_inserted(self, program: Any) -> None:
        block = program.global_block()
        at = next(k for k, op in enumerate(block.ops) if op.type == "relu")
        new = block.create_var(name="scaled")
        op = block._insert_op(
            at, type="scale", inputs={"X": ["h"]}, outputs={"Out": [new]}, attrs={"scale": -1.0}
        )
        block.ops[at + 1]._rename_input("h", "scaled")
        assert op.idx == at
        assert block.ops[at + 1].input("X") == ["scaled"]
        for p in (program, again(program)):
            np.testing.assert_array_equal(run(p, "r")[0], [[0.0, 4.0, 0.0]])

    def test_what_is_inserted_may_write_what_follows_reads(self, program: Any) -> None:
        block = program.global_block()
        block._insert_op(1, "scale", {"X": "h"}, {"Out": "h"}, {"scale": -1.0})
        for p in (program, again(program), program.clone()):
            np.testing.assert_array_equal(run(p, "r")[0], [[0.0, 4.0, 0.0]])
        block._remove_op(1)
        np.testing.assert_array_equal(run(program, "r")[0], [[2.0, 0.0, 6.0]])
        again(program)

    def test_prepended(self, program: Any) -> None:
        block = program.global_block()
        ones = block.create_var(name="ones")
        block.prepend_op(
            type="fill_constant", outputs={"Out": ones}, attrs={"shape": [3], "value": 1.0}
        )
        assert block.ops[0].type == "fill_constant"
        y = block.create_var(name="y")
        block._insert_op(
            2, type="elementwise_add", inputs={"X": "h", "Y": ones}, outputs={"Out": y}
        )
        np.testing.assert_array_equal(run(again(program), "y")[0], X * 2 + 1)

    def test_a_program_from_a_file_is_gone_on_with(self, program: Any) -> None:
        """Names of its temporaries are those that another process would give."""
        block = program.global_block()
        with static.program_guard(program), paddle.unique_name.guard():
            paddle.tanh(block.var("h"))
            block.append_op("layer_norm", {"X": "h"}, {"Y": block.create_var(name="y")})
        copy = again(program)
        with static.program_guard(copy), paddle.unique_name.guard():
            block = copy.global_block()
            t = paddle.tanh(block.var("r"))
            block.append_op("layer_norm", {"X": t}, {"Y": block.create_var(name="z")})
        mean = np.tanh(X * 2 * (X > 0)).mean()
        value = np.tanh(X * 2 * (X > 0)) - mean
        np.testing.assert_allclose(run(copy, "z")[0], value / np.sqrt((value**2).mean() + 1e-5))

    def test_attributes(self, program: Any) -> None:
        scale, _, dropout, _ = program.global_block().ops
        assert scale.attr("scale") == 2.0
        assert scale.has_attr("bias")
        scale.set_attr("scale", 3.0)
        scale._set_attr("bias", 1.0)  # two operations where there was one
        assert (scale.type, scale.attr("scale"), scale.attr("bias")) == ("scale", 3.0, 1.0)
        for p in (program, again(program), program.clone()):
            np.testing.assert_array_equal(run(p, "h")[0], X * 3 + 1)
        scale.set_attr("bias", 0.0)
        dropout.set_attr("dropout_implementation", "upscale_in_train")
        for p in (program, again(program)):
            np.testing.assert_array_equal(run(p, "d")[0], np.maximum(X * 3, 0))
        with pytest.raises(KeyError, match="scale has no attribute 'scales'"):
            scale.set_attr("scales", 1.0)
        with pytest.raises(ArgumentError, match="'scale' of scale must be a number"):
            scale.set_attr("scale", "two")

    def test_outputs_are_renamed(self, program: Any) -> None:
        block = program.global_block()
        block.create_var(name="other")
        block.ops[1]._rename_output("r", "other")
        block.ops[2]._rename_input("r", "other")
        assert block.ops[1].output("Out") == ["other"]
        np.testing.assert_array_equal(run(again(program), "other")[0], [[2.0, 0.0, 6.0]])

    def test_variables_are_renamed(self, program: Any) -> None:
        block = program.global_block()
        block._rename_var("r", "rectified")
        assert block.ops[1].output("Out") == ["rectified"] == block.ops[2].input("X")
        for p in (program, again(program), program.clone()):
            np.testing.assert_array_equal(run(p, "rectified")[0], [[2.0, 0.0, 6.0]])

    def test_a_variable_that_nobody_reads_is_removed(self, program: Any) -> None:
        block = program.global_block()
        with pytest.raises(BuildError, match=r"relu of .* reads or writes r; remove it first"):
            block._remove_var("r")
        block.create_var(name="spare")
        block._remove_var("spare")
        assert not block.has_var("spare")

    def test_operators_of_functions_are_rewritten_as_well(self) -> None:
        main = static.Program()
        with static.program_guard(main):
            x = static.data("x", [1, 3], "float32")
            h = paddle.tanh(x)
            y = paddle.nn.functional.softmax(h, axis=1)
        tanh, softmax = main.global_block().ops
        softmax._rename_input(h.name, "x")
        softmax.set_attr("axis", 0)
        assert tanh.type == "tanh"
        np.testing.assert_array_equal(run(main, y.name)[0], np.ones((1, 3)))

    def test_gradients_are_made_of_what_is_there(self, program: Any) -> None:
        block = program.global_block()
        static.append_backward(block.var("loss"))
        with pytest.raises(BuildError, match=r"scale of .* has a gradient already"):
            block.ops[0].set_attr("scale", 3.0)
        block.ops[0].set_attr("op_device", "cpu")  # says nothing of what it computes
        copy = program.clone(for_test=True)
        copy.global_block().ops[0].set_attr("scale", 3.0)
        np.testing.assert_array_equal(run(copy, "h")[0], X * 3)


class TestVariables:
    def test_one_that_is_only_declared_is_fed(self) -> None:
        main = static.Program()
        block = main.global_block()
        x = block.create_var(name="x", shape=[1, 3], dtype="float32")
        y = block.create_var(name="y")
        block.append_op("relu", {"X": x}, {"Out": y})
        np.testing.assert_array_equal(run(main, "y")[0], np.maximum(X, 0))
        np.testing.assert_array_equal(run(again(main), "y")[0], np.maximum(X, 0))

    def test_shape_and_dtype_are_those_that_the_operator_makes(self) -> None:
        main = static.Program()
        with static.program_guard(main):
            x = static.data("x", [None, 3], "float32")
        block = main.global_block()
        place = block.create_var(name="place", dtype="float32")
        block.append_op("arg_max", {"X": x}, {"Out": place}, {"axis": 1})
        assert place.shape == (-1,)
        assert place.dtype == "int64"
        assert place.lod_level == 0
        assert place.to_string(True) == repr(place)
        assert block.ops[0].to_string() == repr(block.ops[0])
        assert block.to_string() == repr(block)
        size = x.size
        assert run(main, size.name)[0] == 3

    def test_blocks_have_parameters(self) -> None:
        main, startup = static.Program(), static.Program()
        with static.program_guard(main, startup):
            block = main.global_block()
            w = block.create_parameter(
                [3],
                "float32",
                name="w",
                initializer=paddle.nn.initializer.Constant(2.0),
                trainable=False,
            )
        assert list(block.iter_parameters()) == [w]
        assert w.stop_gradient
        assert block._var_recursive("w") is w
        assert block._find_var_recursive("v") is None

    def test_a_startup_program_by_types(self) -> None:
        main, startup = static.Program(), static.Program()
        start = startup.global_block()
        w = start.create_var(name="w", shape=[2], dtype="float32", persistable=True)
        start.append_op("fill_constant", {}, {"Out": w}, {"shape": [2], "value": 3.0, "dtype": 5})
        block = main.global_block()
        v = block.create_var(name="w", shape=[2], dtype="float32", persistable=True)
        block.append_op("increment", {"X": v}, {"Out": v}, {"step": 0.5})
        executor = static.Executor()
        with static.scope_guard(static.Scope()):
            executor.run(startup)
            executor.run(main)
            assert executor.run(main, fetch_list=["w"])[0].tolist() == [4.0, 4.0]


def refused(program: Any, error: Any, match: str, *args: Any, **kwargs: Any) -> None:
    """The call fails with that error, and the program is what it was."""
    before = str(program), program.num_blocks
    with pytest.raises(error, match=match):
        program.global_block().append_op(*args, **kwargs)
    assert (str(program), program.num_blocks) == before


class TestRefused:
    def test_what_there_is_not(self, program: Any) -> None:
        block = program.global_block()
        out = block.create_var(name="out")
        x = {"X": "x"}
        cases: list[tuple[Any, str, Any]] = [
            (ArgumentError, "no operator type 'sofmax'; did you mean 'softmax'", ("sofmax", x)),
            (ArgumentError, r"no operator type '\?\?'; there are \d+: abs,", ("??", x)),
            (TypeError, "type must be the name of an operator type", (None, x)),
            (ArgumentError, "has no input 'Input'; .*It has X", ("relu", {"Input": "x"})),
            (ArgumentError, "softmax needs the input 'X'", ("softmax", {})),
            (
                ArgumentError,
                "has no attribute 'axes'; did you mean 'axis'",
                ("softmax", x, {"Out": out}, {"axes": 1}),
            ),
            (
                TypeError,
                "'axis' of softmax must be an int, got 'one'",
                ("softmax", x, {"Out": out}, {"axis": "one"}),
            ),
            (ArgumentError, "pool2d needs the attribute 'ksize'", ("pool2d", x, {"Out": out})),
            (ArgumentError, "has no output 'Y'; .*It has Out", ("relu", x, {"Y": out})),
            (ArgumentError, "relu writes nothing", ("relu", x)),
            (ArgumentError, "'X' of relu is one variable, got 2", ("relu", {"X": ["x", "h"]})),
            (BuildError, "there is no variable 'xx'", ("relu", {"X": "xx"}, {"Out": out})),
            (NotATensorError, "must be a Variable.*got int", ("relu", {"X": 3}, {"Out": out})),
            (TypeError, "inputs must be a dict, got list", ("relu", ["x"], {"Out": out})),
            (
                ArgumentError,
                "split makes 3 variables for 'Out', and 1 are given",
                ("split", x, {"Out": out}, {"num": 3, "axis": 1}),
            ),
            (
                ArgumentError,
                "must be one of 'downgrade_in_infer', 'upscale_in_train', got 'none'",
                ("dropout", x, {"Out": out}, {"dropout_implementation": "none"}),
            ),
            (
                ArgumentError,
                "fill_constant cannot take these .*'abc'",
                ("fill_constant", {}, {"Out": out}, {"shape": [1], "str_value": "abc"}),
            ),
            (
                ArgumentError,
                "x_num_col_dims must be 1 to 1",
                ("mul", {"X": "x", "Y": "x"}, {"Out": out}, {"x_num_col_dims": 5}),
            ),
            (
                ArgumentError,
                "axis must be -1, or one of the 2 axes",
                ("elementwise_add", {"X": "x", "Y": "loss"}, {"Out": out}, {"axis": 7}),
            ),
            (
                ArgumentError,
                "begin_norm_axis must be 1 to 1, got 7",
                ("layer_norm", x, {"Y": out}, {"begin_norm_axis": 7}),
            ),
            (
                ArgumentError,
                "no dtype here",
                ("cast", x, {"Out": out}, {"out_dtype": 99}),
            ),
        ]
        for error, match, args in cases:
            refused(program, error, match, *args)
        refused(program, TypeError, "unknown argument 'input'", "relu", input=x)

    def test_values_that_do_not_fit(self, program: Any) -> None:
        block = program.global_block()
        out = block.create_var(name="out")
        kept = block.create_var(name="kept", shape=[5], dtype="float32", persistable=True)
        refused(program, ShapeError, "would write .*to kept", "relu", {"X": "x"}, {"Out": kept})
        whole = block.create_var(name="n", shape=[1, 3], dtype="int64", persistable=True)
        refused(
            program, DTypeError, "float32 to n, which is int64", "relu", {"X": "x"}, {"Out": whole}
        )
        refused(
            program,
            ShapeError,
            r"append_op: (concat|axis)",
            "concat",
            {"X": ["x", "loss"]},
            {"Out": out},
        )
        block.create_var(name="wide", shape=[5, 4], dtype="float32", persistable=True)
        refused(
            program,
            (ShapeError, ArgumentError),
            "matmul",
            "fc",
            {"Input": "x", "W": "wide"},
            {"Out": out},
        )

    def test_variables_of_other_programs(self, program: Any) -> None:
        other = static.Program()
        with static.program_guard(other):
            v = static.data("x", [1, 3], "float32")
            z = static.data("z", [1, 3], "float32")
        out = program.global_block().create_var(name="out")
        for x, hint in ((v, r"block.var\('x'\)"), (z, "feed it")):
            refused(
                program, BuildError, f"another program; .*{hint}", "relu", {"X": x}, {"Out": out}
            )

    def test_blocks_that_are_built(self) -> None:
        main = static.Program()
        with static.program_guard(main):
            x = static.data("x", [1, 3], "float32")
            static.nn.cond(paddle.sum(x) > 0, lambda: x + 1, lambda: x)
        inner = main.block(1)
        y = inner.create_var(name="y")
        before = str(main)
        with pytest.raises(BuildError, match=r"block 1, of cond at .*test_rewriting.py.* is built"):
            inner.append_op("relu", {"X": "x"}, {"Out": y})
        assert str(main) == before

    def test_what_a_block_that_is_built_needs_stays_in_it(self) -> None:
        main = static.Program()
        with static.program_guard(main):
            x = static.data("x", [1, 3], "float32")
            static.nn.cond(paddle.sum(x) > 0, lambda: paddle.tanh(x) * 2.0, lambda: x)
        inner, before = main.block(1), str(main)
        hints = r"which multiply of test_rewriting.py:\d+ .*: rename", "which the block returns"
        for index, hint in enumerate(hints):
            with pytest.raises(BuildError, match=hint):
                inner._remove_op(index)
        assert str(main) == before

    def test_places(self, program: Any) -> None:
        block = program.global_block()
        out = block.create_var(name="out")
        before = str(program)
        with pytest.raises(BuildError, match="index must be an int from -4 to 4"):
            block._insert_op(7, "relu", {"X": "x"}, {"Out": out})
        with pytest.raises(BuildError, match="would read r, which an operator further on makes"):
            block._insert_op(0, "relu", {"X": "r"}, {"Out": out})
        with pytest.raises(BuildError, match="there is no operator 9"):
            block._remove_op(9)
        with pytest.raises(BuildError, match="has no input 'z'; it has h"):
            block.ops[1]._rename_input("z", "x")
        with pytest.raises(BuildError, match="further on makes"):
            block.ops[0]._rename_input("x", "d")
        with pytest.raises(BuildError, match="append another operator in its place"):
            block.ops[1]._rename_input("h", block.create_var("v", [2, 2, 2]).name)
        block._remove_var("v")
        assert str(program) == before


def test_random_rewriting_runs_as_if_in_order() -> None:
    """Writes of three variables, inserted and taken out, against a list of steps on names."""
    names = ("a", "b", "c")
    for seed in range(30):
        rng = np.random.default_rng(seed)
        main = static.Program()
        with static.program_guard(main):
            for name in names:
                static.data(name, [2], "float32")
        block, steps = main.global_block(), []
        for _ in range(14):
            if steps and rng.random() < 0.3:
                at = int(rng.integers(len(steps)))
                block._remove_op(at)
                del steps[at]
                continue
            source, target = (names[k] for k in rng.integers(3, size=2))
            factor, at = float(rng.choice([0.5, 2.0, 3.0])), int(rng.integers(len(steps) + 1))
            block._insert_op(at, "scale", {"X": source}, {"Out": target}, {"scale": factor})
            steps.insert(at, (source, target, factor))
        feed = {name: np.float32([k + 1, -k]) for k, name in enumerate(names)}
        want = dict(feed)
        for source, target, factor in steps:
            want[target] = want[source] * np.float32(factor)
        for p in (main, again(main), main.clone()):
            found = static.Executor().run(p, feed, list(names))
            for name, value in zip(names, found, strict=True):
                assert value.tolist() == want[name].tolist(), (seed, name, steps)

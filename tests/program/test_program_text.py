"""What ``print`` shows of programs and their parts."""

from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.program.printing import attribute_text
from tests.golden.programs import PROGRAMS, build

static = paddle.static
F = paddle.nn.functional

pytestmark = pytest.mark.usefixtures("static_mode")


def main() -> Any:
    return static.default_main_program()


def lines(program: Any) -> list[str]:
    return [line.strip() for line in repr(program).splitlines()]


def test_variables_print_as_declarations() -> None:
    frozen = paddle.ParamAttr(name="frozen", trainable=False)
    texts = [
        static.data("x", [-1, 4]),
        static.data("v", [3], "int64"),
        paddle.mean(static.data("x", [-1, 4])),
        static.create_parameter([4, 2], "float32", name="w"),
        static.create_parameter([2], "float32", attr=frozen),
        static.create_global_var([1], 0.0, "float32", persistable=True, name="steps"),
    ]
    assert [repr(v) for v in texts] == [
        "var x : LOD_TENSOR.shape(-1, 4).dtype(float32).stop_gradient(True)",
        "var v : LOD_TENSOR.shape(3,).dtype(int64).stop_gradient(True)",
        "var mean_0.tmp_0 : LOD_TENSOR.shape().dtype(float32).stop_gradient(True)",
        "persist trainable param w : LOD_TENSOR.shape(4, 2).dtype(float32).stop_gradient(False)",
        "persist param frozen : LOD_TENSOR.shape(2,).dtype(float32).stop_gradient(True)",
        "persist var steps : LOD_TENSOR.shape(1,).dtype(float32).stop_gradient(True)",
    ]
    assert [str(v) for v in texts] == [repr(v) for v in texts]


def test_a_program_prints_its_blocks() -> None:
    x = static.data("x", [None, 2])
    x.stop_gradient = False
    y = paddle.sum(x * 2.0)
    static.gradients(y, x)
    text = repr(main())
    head, variables, operators = text.partition("\n")[0], *text.partition("\n")[2].split("\n\n")
    assert head == "{ // block_idx:0  parent_idx:-1  forward_idx:-1  backward_idx:-1"
    assert set(variables.splitlines()) == {
        "    var x : LOD_TENSOR.shape(-1, 2).dtype(float32).stop_gradient(False)",
        "    var multiply_0.tmp_0 : LOD_TENSOR.shape(-1, 2).dtype(float32).stop_gradient(False)",
        "    var sum_0.tmp_0 : LOD_TENSOR.shape().dtype(float32).stop_gradient(False)",
        "    var sum_0.tmp_0@GRAD : LOD_TENSOR.shape().dtype(float32).stop_gradient(False)",
        "    var multiply_0.tmp_0@GRAD : LOD_TENSOR.shape(-1, 2).dtype(float32)"
        ".stop_gradient(False)",
        "    var x@GRAD : LOD_TENSOR.shape(-1, 2).dtype(float32).stop_gradient(False)",
    }
    assert operators.endswith("}\n")
    forward = "op_device = , op_namescope = /, op_role = 0, op_role_var = []"
    assert operators.splitlines()[:2] == [
        f"    {{out=['multiply_0.tmp_0']}} = multiply(inputs={{x=['x']}}, {forward}, y = 2.0)",
        "    {out=['sum_0.tmp_0']} = sum(inputs={x=['multiply_0.tmp_0']}, axis = (0, 1), "
        f"keepdims = False, {forward})",
    ]
    assert operators.splitlines()[-2] == (
        "    {x@GRAD=['x@GRAD']} = multiply_grad(inputs={out@GRAD=['multiply_0.tmp_0@GRAD']}, "
        "op_device = , op_namescope = /, op_role = 1, op_role_var = [], y = 2.0)"
    )
    assert str(main()) == repr(main()) == repr(main().global_block())


def test_an_operator_prints_as_its_line() -> None:
    static.nn.fc(static.data("x", [None, 2]), 3)
    assert [f"{op!r}" for op in main().global_block().ops] == [
        line for line in lines(main()) if line.startswith("{") and "//" not in line
    ]


def test_slots_and_attributes_are_sorted() -> None:
    x = static.data("x", [None, 3])
    paddle.optimizer.Adam(0.1).minimize(paddle.mean(static.nn.fc(x, 2)))
    for op in main().global_block().ops:
        slots, _, rest = repr(op).removeprefix("{").partition("} = ")
        names = [part.partition("=[")[0] for part in slots.split("], ")]
        assert names == sorted(names)
        attrs = [part.partition(" = ")[0] for part in rest.split(", ") if " = " in part]
        assert attrs == sorted(attrs)
        assert {"op_device", "op_namescope", "op_role", "op_role_var"} <= set(attrs)


def test_roles_of_operators() -> None:
    x = static.data("x", [None, 3])
    loss = paddle.mean(static.nn.fc(x, 2, name="layer"))
    paddle.optimizer.SGD(0.1).minimize(loss)
    text = lines(main())
    of = {line.partition(" = ")[2].partition("(")[0]: line for line in text if "} = " in line}
    assert "op_role = 256," in of["mean"]
    assert "op_role = 1," in of["matmul_grad"]
    assert "op_role_var = ['layer.w_0', 'layer.w_0@GRAD']" in of["matmul_grad"]
    assert "op_role = 2," in of["sgd"]
    assert "op_role = 0," in of["matmul"]


def test_scopes_of_names() -> None:
    with static.name_scope("encoder"):
        paddle.tanh(static.data("x", [2]))
    assert "op_namescope = /encoder/," in repr(main().global_block().ops[0])


def test_blocks_inside_print_after_the_first_with_their_numbers() -> None:
    text = repr(build("loop").main)
    blocks = [line for line in text.splitlines() if "// block_idx" in line]
    assert blocks == [
        "{ // block_idx:0  parent_idx:-1  forward_idx:-1  backward_idx:-1",
        "{ // block_idx:1  parent_idx:0  forward_idx:-1  backward_idx:-1",
        "{ // block_idx:2  parent_idx:0  forward_idx:-1  backward_idx:3",
        "{ // block_idx:3  parent_idx:0  forward_idx:2  backward_idx:-1",
    ]
    assert "body_block = block[2]" in text
    assert "cond_block = block[1]" in text
    assert "LOD_TENSOR_ARRAY.shape(-1, 3)" in text
    assert "    // takes ['full_0.tmp_0', 'x', 'w']\n    // returns ['less_than_0.tmp_0']" in text


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_program_prints_the_same_text(name: str) -> None:
    first, second = build(name), build(name)
    assert repr(first.main) == repr(second.main)
    assert " at 0x" not in repr(first.main)


class Thing:
    def method(self) -> None: ...


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1, "0.1"),
        (1e-05, "1e-05"),
        (-0.0, "-0.0"),
        (float("inf"), "inf"),
        (np.float32(0.5), "0.5"),
        (True, "True"),
        (None, "None"),
        ("", ""),
        ("float32", "float32"),
        ("a\nb", "'a\\nb'"),
        (("a",), "('a',)"),
        ([1, 2.5], "[1, 2.5]"),
        ({"a": (1, None)}, "{'a': (1, None)}"),
        (np.dtype("int64"), "int64"),
        ((slice(None), slice(0, 3), slice(None, None, 2), None, ...), "(:, 0:3, ::2, None, ...)"),
        (np.array(2, "int64"), "int64[] 2"),
        (np.array([[1.0, 2.0]], "float32"), "float32[1, 2][[1.0, 2.0]]"),
        (np.zeros((0, 2)), "float64[0, 2][]"),
        (np.arange(100), "int64[100][0, 1, 2, ..., 99]"),
        (np.ones((10, 10), bool), "bool[10, 10][True, True, True, ..., True]"),
        (Thing(), "<Thing>"),
        (Thing.method, "<Thing.method>"),
        (len, "<len>"),
    ],
)
def test_attributes_are_readable(value: Any, text: str) -> None:
    assert attribute_text(value) == text


def test_large_constants_are_abbreviated() -> None:
    static.data("x", [1000]) + np.arange(1000, dtype="float32")
    (line,) = [line for line in lines(main()) if "= constant(" in line]
    assert "value = float32[1000][0.0, 1.0, 2.0, ..., 999.0]" in line


def test_every_number_beside_variables_is_shown() -> None:
    paddle.clip(static.data("x", [2]), 0.5, 1.5)
    assert "0.5" in repr(main())
    assert "1.5" in repr(main())

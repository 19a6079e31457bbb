"""`to_static`: what a traced function computes, writes, returns and refuses."""

import copy
import math
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest

import autograd_engine as paddle
import autograd_engine.nn.functional as F  # noqa: N812
from autograd_engine import static
from autograd_engine.errors import BuildError, ModeError, ShapeError
from autograd_engine.jit import InputSpec, enable_to_static, ignore_module, not_to_static, to_static


def types(function, *args):
    return [op.type for op in function.program(*args).global_block().ops]


def test_a_function_runs_as_one_program():
    calls = []

    @to_static
    def f(x):
        calls.append(x)
        return paddle.tanh(x) * 2.0

    x = paddle.to_tensor([0.5, -1.0])
    for _ in range(3):
        np.testing.assert_array_equal(f(x).numpy(), np.tanh(x.numpy()) * np.float32(2.0))
    assert len(calls) == 1
    assert types(f, x) == ["tanh", "multiply"]
    assert f.__name__ == "f"
    assert f.concrete_program.program is f.main_program is f.program(x)
    assert len(f.program_cache) == 1


def test_the_decorator_takes_arguments_and_the_call_form_takes_a_function():
    spec = [InputSpec([None, 2], "float32")]
    decorated = to_static(input_spec=spec)(lambda x: x + 1.0)
    called = to_static(lambda x: x + 1.0, input_spec=spec)
    for f in (decorated, called):
        assert f(paddle.zeros([3, 2])).tolist() == [[1.0, 1.0]] * 3
        assert f.input_spec == spec


def test_one_program_serves_all_sizes_that_the_spec_leaves_open():
    f = to_static(lambda x: (x * x).mean(axis=0), input_spec=[InputSpec([None, 2])])
    for n in (1, 4, 7):
        x = paddle.to_tensor(np.arange(2.0 * n, dtype="float32").reshape(n, 2))
        np.testing.assert_array_equal(f(x).numpy(), (x * x).mean(axis=0).numpy())
    assert len(f.program_cache) == 1
    assert f.concrete_program.inputs[0].shape == (-1, 2)
    with pytest.raises(ShapeError, match=r"x has shape \[3\], its InputSpec says \[-1, 2\]"):
        f(paddle.zeros([3]))
    with pytest.raises(TypeError, match=r"use \.astype\('float32'\)"):
        f(paddle.zeros([3, 2], "float64"))


def test_operations_on_captured_tensors_alone_are_part_of_the_program():
    w = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]], stop_gradient=False)
    b = paddle.to_tensor([10.0, 20.0])  # wants no gradient, and is an input all the same
    f = to_static(lambda x: x @ (w * w).T + paddle.exp(b) - b)
    x = paddle.ones([1, 2])
    for _ in range(2):
        np.testing.assert_array_equal(
            f(x).numpy(), f.dygraph_function(x).numpy(), err_msg="stale values"
        )
        w.set_value(w.numpy() + 1.0)
        b.set_value(b.numpy() * 0.5)
    assert len(f.program_cache) == 1
    assert "exp" in types(f, x)


def test_methods_of_objects_and_objects_with_a_forward():
    class Layer:
        def __init__(self, scale):
            self.w = paddle.to_tensor([scale], stop_gradient=False)

        @to_static
        def forward(self, x):
            return x * self.w

    a, b = Layer(2.0), Layer(3.0)
    x = paddle.ones([1])
    assert (a.forward(x).item(), b.forward(x).item(), a.forward(x).item()) == (2.0, 3.0, 2.0)
    assert len(a.forward.program_cache) == len(b.forward.program_cache) == 1
    twin = copy.deepcopy(a)
    twin.w.set_value([5.0])
    assert (twin.forward(x).item(), a.forward(x).item()) == (5.0, 2.0)

    class Plain:
        def forward(self, x):
            return x + 1.0

    assert to_static(Plain())(x).item() == 2.0
    bound = to_static(Plain().forward)
    assert bound(x).item() == 2.0
    with pytest.raises(TypeError, match=r"takes an object of Plain, not the class"):
        to_static(Plain)


def test_arguments_and_results_are_nested_as_one_likes():
    @to_static
    def f(pair, *, options, k=3):
        x, y = pair
        return {"sum": x + y, "none": None, "k": k, "list": [x, (options["z"] * 2.0, "text")]}

    x, y, z = (paddle.to_tensor([v]) for v in (1.0, 2.0, 3.0))
    found = f((x, y), options={"z": z, "mode": "train"})
    assert found["sum"].item() == 3.0
    assert found["none"] is None
    assert found["k"] == 3
    assert found["list"][0] is x
    assert found["list"][1][0].item() == 6.0
    assert found["list"][1][1] == "text"
    with pytest.raises(TypeError, match=r"f: .*too many positional"):
        f((x, y), z)


def test_arrays_are_inputs():
    f = to_static(lambda x: paddle.tanh(x))
    for v in (0.5, 1.5):
        assert f(np.float64([v])).item() == np.tanh(v)
    assert len(f.program_cache) == 1


@pytest.mark.parametrize(
    ("asks", "what"),
    [
        (lambda x: x if x.sum() > 0 else -x, r"the truth of a tensor \(.*\)"),
        (lambda x: x * float(x.sum()), r"float\(\)"),
        (lambda x: x * x.sum().item(), r"item\(\)"),
        (lambda x: x * x.numpy(), r"numpy\(\)"),
        (lambda x: x * x.tolist()[0], r"tolist\(\)"),
        (
            lambda x: [x for _ in range(x.sum().astype("int64"))],
            "takes a variable for a Python int",
        ),
    ],
)
def test_asking_for_a_value_names_the_line_and_what_to_write(asks, what):
    f = to_static(asks)
    with pytest.raises(ModeError, match=what) as caught:
        f(paddle.ones([2]))
    assert re.search(r"test_to_static.py:\d+ \(.*lambda x", str(caught.value))
    assert "paddle.static.nn." in str(caught.value)
    assert "while_loop" in str(caught.value)
    assert "full_graph=False" in str(caught.value)
    # Nothing is left behind.
    assert (paddle.ones([2]) * 2.0).tolist() == [2.0, 2.0]
    assert paddle.in_dynamic_mode()


def test_without_a_full_graph_it_falls_back_with_one_warning():
    @to_static(full_graph=False)
    def f(x):
        return x * 2.0 if float(x.sum()) > 0 else -x

    with pytest.warns(RuntimeWarning, match=r"f cannot be traced and runs eagerly") as caught:
        assert f(paddle.ones([2])).tolist() == [2.0, 2.0]
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert f(-paddle.ones([2])).tolist() == [1.0, 1.0]


def test_what_only_eager_mode_has_falls_back_too():
    class Double(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            return x * 2.0

        @staticmethod
        def backward(ctx, g):
            return g * 2.0

    f = to_static(lambda x: Double.apply(x), full_graph=False)
    with pytest.warns(RuntimeWarning, match="paddle.autograd.defop"):
        assert f(paddle.ones([1])).item() == 2.0


def test_sizes_that_are_open_cannot_be_computed_with():
    spec = [InputSpec([None, 2])]
    x = paddle.ones([3, 2])
    wrongs = (
        *(len, lambda x: list(x), lambda x: x * math.sqrt(x.shape[0])),
        *(lambda x: sum(x[k] for k in range(x.shape[0])), lambda x: x * len([0] * x.shape[0])),
        *(lambda x: x * float(np.prod(x.shape)), lambda x: x if x.shape[0] else 0),
        lambda x: x if x.shape == [3, 2] else 0,
    )
    for wrong in wrongs:
        with pytest.raises(ModeError, match=r"size of axis 0, which the InputSpec leaves open"):
            to_static(wrong, input_spec=spec)(x)
    assert to_static(lambda x: x.reshape([x.shape[0], 2, 1]), input_spec=spec)(x).shape == [3, 2, 1]
    assert to_static(lambda x: x if x.shape[0] < 0 else None, input_spec=spec)(x) is x
    assert to_static(lambda x: x * len(x.shape) * x.shape[1], input_spec=spec)(x).sum() == 24.0
    assert to_static(lambda x: x * 2.0 if x.shape == [3, 2] else x)(x).sum() == 12.0
    assert to_static(lambda x: isinstance(x.shape[0], int), input_spec=spec)(x) is True
    same = to_static(lambda x, y: x.shape == y.shape, input_spec=[*spec, *spec])
    with pytest.raises(ModeError, match="comparing an unknown size"):
        same(x, x + 1.0)
    assert to_static(lambda x: x * 2.0 if x.shape == (x + 1).shape else x, input_spec=spec)(x)[0, 0]
    assert to_static(lambda x: sum(row for row in x) / len(x))(x).tolist() == [1.0, 1.0]


def test_control_flow_becomes_operators():
    @to_static
    def f(x):
        y = static.nn.cond(x.sum() > 0.0, lambda: x * 2.0, lambda: x - 1.0)
        i = paddle.zeros([1])
        return static.nn.while_loop(
            lambda i, y: (i < 3.0).all(), lambda i, y: [i + 1.0, y * y], [i, y]
        )[1]

    for v in (1.5, -0.5):
        x = paddle.to_tensor([v])
        assert f(x).item() == f.dygraph_function(x).item()
    assert len(f.program_cache) == 1


def test_in_place_writes_reach_the_callers_tensors():
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    state = paddle.zeros([2])

    @to_static
    def f(y):
        y.add_(1.0)
        y[0] = y[1] * 3.0
        state.add_(y.detach())
        z = y * 1.0
        z.exp_()
        return y, z

    y = x * 2.0
    returned, z = f(y)
    assert returned is y
    assert y.tolist() == [15.0, 5.0]
    np.testing.assert_array_equal(z.numpy(), np.exp(y.numpy()))
    assert state.tolist() == [15.0, 5.0]
    f(paddle.zeros([2]))
    assert state.tolist() == [18.0, 6.0]
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 8.0]
    with pytest.raises(RuntimeError, match=r"x\[\.\.\.\] = value|add_"):
        f(paddle.to_tensor([1.0, 1.0], stop_gradient=False))


def test_what_a_constant_of_the_function_is_written_to_does_not_last():
    @to_static
    def f(x):
        total = paddle.zeros([2])
        kept = paddle.to_tensor([1.0, 1.0])
        total += x
        kept.set_value(total)
        kept[0] = 7.0
        return kept

    for _ in range(2):
        assert f(paddle.to_tensor([3.0, 4.0])).tolist() == [7.0, 4.0]


def test_running_statistics_are_written_at_every_call():
    means = [paddle.zeros([3]) for _ in range(2)]
    variances = [paddle.ones([3]) for _ in range(2)]

    def f(x, k):
        return F.batch_norm(x, means[k], variances[k], training=True)

    g = to_static(f)
    for seed in range(3):
        x = paddle.to_tensor(np.random.default_rng(seed).normal(size=(4, 3)).astype("float32"))
        np.testing.assert_array_equal(f(x, 0).numpy(), g(x, 1).numpy())
    np.testing.assert_array_equal(means[0].numpy(), means[1].numpy())
    np.testing.assert_array_equal(variances[0].numpy(), variances[1].numpy())
    assert means[0].numpy().any()
    assert len(g.program_cache) == 1


def test_random_numbers_are_those_of_eager_mode():
    def f(x):
        return F.dropout(x, 0.5) + paddle.rand([4])

    g = to_static(f)
    x = paddle.ones([4])
    results = []
    for function in (f, g):
        paddle.seed(7)
        results.append([function(x).numpy() for _ in range(3)])
    np.testing.assert_array_equal(*results)
    assert not np.array_equal(results[0][0], results[0][1])


def test_writing_a_leaf_and_using_it_is_refused():
    w = paddle.to_tensor([1.0], stop_gradient=False)

    @to_static
    def f(x):
        w.set_value(x)
        return w * 2.0

    with pytest.raises(BuildError, match=r"is a leaf that requires a gradient, and is used after"):
        f(paddle.ones([1]))
    assert w.item() == 1.0


def test_parameters_are_made_outside():
    f = to_static(lambda x: x * paddle.create_parameter([1]))
    with pytest.raises(BuildError, match=r"create parameters outside, once"):
        f(paddle.ones([1]))


def test_switches():
    f = to_static(lambda x: x if x.item() > 0 else -x)
    enable_to_static(False)
    try:
        assert f(paddle.to_tensor(-2.0)).item() == 2.0
    finally:
        enable_to_static(True)
    left = to_static(not_to_static(lambda x: x.item()))
    assert left(paddle.to_tensor(2.0)) == 2.0
    with pytest.raises(TypeError, match="takes a list of modules"):
        ignore_module(["os"])


def test_a_call_inside_a_program_or_another_trace_becomes_part_of_it():
    inner = to_static(lambda x: paddle.tanh(x))
    outer = to_static(lambda x: inner(x) * 2.0)
    assert types(outer, paddle.ones([1])) == ["tanh", "multiply"]
    main = static.Program()
    with static.program_guard(main):
        inner(static.data("x", [1]))
    assert [op.type for op in main.global_block().ops] == ["tanh"]


def test_an_operation_that_fails_names_the_users_line():
    f = to_static(lambda x: x.reshape([3, -1]), input_spec=[InputSpec([None])])
    with pytest.raises(RuntimeError, match=r"reshape of test_to_static.py:\d+ .* failed"):
        f(paddle.ones([4]))


def test_importing_the_engine_does_not_import_jit():
    code = "import sys, autograd_engine; print(any('.jit' in m for m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_input_specs():
    spec = InputSpec([None, -1, 3], "float64", name="x")
    assert spec.shape == (-1, -1, 3)
    assert spec == InputSpec((-1, None, 3), "float64", "x")
    assert hash(spec) == hash(InputSpec((-1, None, 3), "float64", "x"))
    assert InputSpec([2]).batch(4).shape == (4, 2)
    assert InputSpec([4, 2]).unbatch().shape == (2,)
    with pytest.raises(ValueError, match="has no size to drop"):
        InputSpec([]).unbatch()
    with pytest.raises(ValueError, match="None or -1 for unknown ones"):
        InputSpec([2, -3])
    with pytest.raises(TypeError, match=r"write InputSpec\(\[3\]\)"):
        InputSpec(3)
    assert InputSpec.from_tensor(paddle.ones([2], "int64")).dtype == paddle.int64
    assert static.InputSpec is InputSpec


def test_writes_before_and_inside_of_branches_and_loops():
    """A branch returns, and is chosen by, what a variable is now, whatever wrote it."""
    w = paddle.to_tensor([10.0, 20.0], stop_gradient=False)
    flag, steps = paddle.to_tensor(True), paddle.to_tensor(2)
    cond, while_loop = paddle.static.nn.cond, paddle.static.nn.while_loop

    def written(x):
        y = x.clone()
        y[0] = 7.0
        return y.exp_()

    def body(i, h):
        h = h * 2.0
        h[1] = h[0] + 1.0
        return [i + 1, h.add_(x)]

    def chosen(x):
        pred = (x > 0.0).any()
        pred[...] = (x > 100.0).any()
        return cond(pred, lambda: x * 2.0, lambda: x * 3.0)

    def before(x):
        y = written(x)
        return cond(x.sum() > 0.0, lambda: y, lambda: y * 2.0)

    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    functions = [
        *(chosen, before, lambda x: cond(x.sum() > 0.0, lambda: written(x), lambda: x)),
        lambda x: while_loop(lambda i, h: i < 3, body, [paddle.to_tensor(0), x * 1.0])[1],
        lambda x: cond(x.sum() > 0.0, lambda: w, lambda: x),  # what was not given
        lambda x: cond(flag, lambda: x * 2.0, lambda: x * 3.0),
        lambda x: x * while_loop(lambda i: i < 5, lambda i: [i + 1], [steps])[0],
        lambda x: x * while_loop(lambda i, n: i < n, lambda i, n: [i + 1, n], [0, steps])[0],
    ]
    for function in functions:
        traced = to_static(function)
        for value in (True, False):
            flag.set_value(value)
            steps.set_value(4 + value)
            want, got = function(x), traced(x)
            assert got.tolist() == want.tolist()
            both = [paddle.grad(y.sum(), x, allow_unused=True)[0] for y in (want, got)]
            assert len({str(0 if g is None or not g.any() else g.tolist()) for g in both}) == 1
        assert len(traced.program_cache) == 1

    def outside(x):
        y = x.clone()
        return cond(x.sum() > 0.0, lambda: y.exp_(), lambda: x)

    with pytest.raises(BuildError, match=r"made outside of it; use x = paddle\.exp"):
        to_static(outside)(x)

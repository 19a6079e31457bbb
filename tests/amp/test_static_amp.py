"""`static.amp`: programs that were built in float32, rewritten into mixed precision."""

import contextlib
import functools

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import (
    ArgumentError,
    ArgumentTypeError,
    BuildError,
    ModeError,
    NotATensorError,
)

pytest.importorskip("ml_dtypes")
static, F, nn = paddle.static, paddle.nn.functional, paddle.nn
RNG = np.random.default_rng(0)
X = RNG.standard_normal((32, 1, 6, 6)).astype("float32")
LABELS = (X[:, 0, :3, :3].sum((1, 2)) > 0).astype("int64")
LEVELS = ["O1", "OD", "O2"]
DTYPES = ["float16", "bfloat16"]


@pytest.fixture(autouse=True)
def static_mode():
    paddle.enable_static()
    yield
    paddle.disable_static()


def network(x, normalized=True):
    layers = [nn.Conv2D(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 8), nn.GELU()]
    if normalized:
        layers.insert(1, nn.BatchNorm2D(4))
    net = nn.Sequential(*layers)
    h = net(x) * 0.5 + 1.0
    h = F.layer_norm(paddle.concat([h, h * h], axis=1), [16])
    return nn.Linear(16, 2)(h)


class Built:
    """A program, what starts it, and its loss; `block` is around what is built."""

    def __init__(self, block=None, model=network):
        paddle.seed(0)
        self.main, self.startup, self.scope = static.Program(), static.Program(), static.Scope()
        with paddle.utils.unique_name.guard(), static.program_guard(self.main, self.startup):
            x, y = static.data("x", [32, 1, 6, 6]), static.data("y", [32], "int64")
            with paddle.amp.auto_cast(enable=block is not None, **(block or {})):
                self.logits = model(x)
                self.loss = F.cross_entropy(self.logits, y)

    def trained(self, minimize, steps, after_startup=lambda: None):
        with static.scope_guard(self.scope), paddle.utils.unique_name.guard("o_"):
            with static.program_guard(self.main, self.startup):
                minimize(self.loss)
            exe = static.Executor(backend="numpy")
            exe.run(self.startup)
            values = np.random.default_rng(1)
            for p in self.main.all_parameters():
                if p.name.startswith(("conv", "linear")):
                    drawn = values.uniform(-0.5, 0.5, p.shape).astype("float32")
                    for name in self.scope.local_var_names():
                        if p.name in name and "velocity" not in name:
                            self.scope.var(name).value = drawn
            after_startup()
            run = lambda: exe.run(self.main, {"x": X, "y": LABELS}, [self.loss])[0]  # noqa: E731
            return [np.float32(run()) for _ in range(steps)]


def sgd():
    return paddle.optimizer.Momentum(0.05)


def signature(block):
    """What each operator computes, of which dtypes, to which."""
    return [
        (op.type, *(str(v.spec.dtype) for v in (*op.operands, *op.results) if v is not None))
        for op in block.ops
    ]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("level", ["O1", "OD"])
def test_a_program_is_what_auto_cast_would_have_built(level, dtype):
    plain = functools.partial(network, normalized=False)  # which has other rows for halves
    there, built = Built(None, plain), Built({"level": level, "dtype": dtype}, plain)
    names = static.amp.cast_model_to_fp16(there.main, None, False, dtype, level)
    assert names == set()
    assert sorted(signature(there.main.global_block())) == sorted(
        signature(built.main.global_block())
    )
    losses = [b.trained(lambda loss: sgd().minimize(loss), 3) for b in (there, built)]
    np.testing.assert_array_equal(*losses)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("level", LEVELS)
def test_a_decorated_optimizer_trains_as_one_in_single_precision(level, dtype):
    single = Built().trained(lambda loss: sgd().minimize(loss), 25)
    built = Built()
    optimizer = static.amp.decorate(sgd(), level=level, dtype=dtype, init_loss_scaling=1024.0)
    low = built.trained(
        optimizer.minimize, 25, lambda: optimizer.amp_init(paddle.CPUPlace(), static.global_scope())
    )
    assert single[-1] < 0.3 * single[0]
    np.testing.assert_allclose(low, single, rtol=0.1, atol=0.03)
    assert any(a != b for a, b in zip(low, single, strict=True))
    dtypes = {p.name: str(p.spec.dtype) for p in built.main.all_parameters()}
    halves = {name for name, found in dtypes.items() if found == dtype}
    weights = {"conv2d_0.w_0", "linear_0.w_0", "linear_0.b_0", "linear_1.w_0", "linear_1.b_0"}
    assert halves == (weights if level == "O2" else set())
    held = built.scope.find_var("linear_0.w_0").value
    assert held.dtype.name == (dtype if level == "O2" else "float32")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_scale_that_overflows_is_lowered_when_the_program_runs():
    built = Built()
    optimizer = static.amp.decorate(
        sgd(), init_loss_scaling=2.0**30, decr_every_n_nan_or_inf=1, decr_ratio=0.25
    )
    losses = built.trained(optimizer.minimize, 20)
    assert losses[0] == losses[1] != losses[-1]
    scale = built.scope.find_var(optimizer.get_loss_scaling().name).value
    assert scale < 2.0**30
    assert optimizer.get_scaled_loss().dtype == "float32"


def test_halves_of_a_step_one_by_one():
    built = Built()
    optimizer = static.amp.decorate(sgd(), dtype="bfloat16", use_dynamic_loss_scaling=False)

    def minimize(loss):
        pairs = optimizer.backward(loss)
        assert len(optimizer.apply_optimize(loss, None, pairs)) == len(pairs) == 8

    whole = static.amp.bf16.decorate_bf16(sgd())
    first, second = built.trained(minimize, 3), Built().trained(whole.minimize, 3)
    np.testing.assert_array_equal(first, second)
    assert optimizer.get_loss_scaling() == 1.0
    assert optimizer.get_lr() == 0.05


def test_the_older_spelling():
    with static.program_guard(static.Program(), static.Program()):
        x = static.data("x", [4, 4])
        h = static.nn.fc(x, 4, bias_attr=False)
        with static.amp.fp16_guard():
            h = static.nn.fc(h, 4, bias_attr=False)
        loss = paddle.mean(h)
        optimizer = static.amp.decorate(sgd(), use_pure_fp16=True, use_dynamic_loss_scaling=True)
        optimizer.minimize(loss)
        products = [op for op in loss.block.ops if op.type == "matmul"]
    assert [str(op.results[0].spec.dtype) for op in products] == ["float32", "float16"]
    assert [str(op.operands[1].spec.dtype) for op in products] == ["float32", "float16"]
    assert optimizer._optimizer._multi_precision
    state = optimizer._scaler.state_dict()
    assert (state["scale"], state["decr_ratio"]) == (32768.0, 0.8)


def test_names_of_variables_and_lists_keep_operations_in_single_precision():
    def dtypes(**lists):
        with static.program_guard(static.Program(), static.Program()):
            x = static.data("x", [4, 4])
            y = x @ x
            z = F.softmax(y @ x)
            static.amp.cast_model_to_fp16(
                x.block.program, static.amp.CustomOpLists(**lists), False, level="O1"
            )
            return y.dtype, z.block.ops[-1].operands[0].spec.dtype, lists and y.name

    assert dtypes()[:2] == ("float16", "float32")
    assert dtypes(custom_black_list={"matmul_v2"})[0] == "float32"
    assert dtypes(custom_white_list={"softmax"})[1] == "float16"
    assert dtypes(custom_black_varnames=["x"])[0] == "float32"
    lists = static.amp.AutoMixedPrecisionLists({"softmax"}, {"conv2d"}, dtype="bfloat16")
    assert {"softmax", "matmul_v2"} <= lists.white_list
    assert {"conv2d", "exp"} <= lists.black_list
    assert "relu" in lists.gray_list
    assert not lists.white_list & lists.black_list


def branching(x):
    y = x @ x
    below = paddle.sum(y) < -9.0
    other = functools.partial(static.nn.cond, below, lambda: y * 2.0, lambda: y @ y)
    return static.nn.cond(paddle.sum(y) > 0.0, lambda: F.relu(y @ x), other) @ y


def looping(x):
    """A product is carried, another value captured, and a third written by the body."""
    y, total = x @ x, paddle.zeros([4, 4])

    def body(i, h):
        paddle.assign(total + F.tanh(h @ y), total)
        return i + 1, h @ x * 0.1

    start = [paddle.full([], 0, "int64"), y * 1.0]
    return static.nn.while_loop(lambda i, h: i < 3, body, start)[1] @ total


def with_blocks(model, rewrite, **block):
    """The loss and gradient, as programs run them, of a model with branches or loops."""
    with static.program_guard(static.Program()), paddle.utils.unique_name.guard():
        x = static.data("x", [4, 4])
        x.stop_gradient = False
        with paddle.amp.auto_cast(enable=bool(block), **block):
            out = model(x)
        rewrite(x.block.program)
        (g,) = static.gradients(paddle.sum(paddle.cast(out, "float32")), x)
        feed = {"x": np.linspace(-0.5, 1.0, 16, dtype="float32").reshape(4, 4)}
        program, kinds = x.block.program, ("numpy", "native")
        dtypes = [signature(program.block(k)) for k in range(len(program.blocks))]
        runs = [static.Executor(backend=b).run(program, feed, [out, g]) for b in kinds]
    return dtypes, runs


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("model", [branching, looping])
def test_branches_and_loops_are_rewritten(model, dtype):
    """Branches to what auto_cast would have built; a loop carries what it carried before."""
    found, runs = with_blocks(
        model, lambda p: static.amp.cast_model_to_fp16(p, None, False, dtype, "O1")
    )
    expected, others = with_blocks(model, lambda p: None, level="O1", dtype=dtype)
    inner = [entry for block in found[1:] for entry in block]
    assert ("matmul", dtype, dtype, dtype) in inner
    if model is branching:
        in_any_order = [[sorted(map(sorted, block)) for block in p] for p in (found, expected)]
        assert in_any_order[0] == in_any_order[1]
        for a, b in zip(runs, others, strict=True):
            for one, other in zip(a, b, strict=True):
                np.testing.assert_array_equal(one, other)
    _, single = with_blocks(model, lambda p: None)
    for run in (*runs, *others):
        for low, high in zip(run, single[0], strict=True):
            np.testing.assert_allclose(low.astype("float32"), high, rtol=0.05, atol=0.05)


def test_what_is_not_to_be_cast_stays_so_in_branches():
    def dtypes(guarded, **lists):
        with static.program_guard(static.Program()), paddle.utils.unique_name.guard():
            x = static.data("x", [4, 4])
            with static.amp.fp16_guard() if guarded else contextlib.nullcontext():
                y = x @ x
            z = static.nn.cond(paddle.sum(y) > 0.0, lambda: y @ y, lambda: y * 2.0)
            lists = static.amp.AutoMixedPrecisionLists(**lists) if lists else None
            static.amp.cast_model_to_fp16(x.block.program, lists, guarded, level="O1")
            assert y.dtype == "float16"
            return z.dtype, x.block.program.block(1).ops[-1].operands[0].spec.dtype

    assert dtypes(False) == ("float16", "float16")
    assert dtypes(True) == ("float32", "float32")
    assert dtypes(False, custom_black_varnames=["cond_0.tmp_0"]) == ("float32", "float32")


def test_values_that_a_program_takes_in_another_dtype_are_refused_until_they_are_cast():
    built = Built()
    optimizer = static.amp.decorate(sgd(), level="O2")
    with pytest.raises(Exception, match=r"in the scope is float32.*float16"):
        built.trained(optimizer.minimize, 1)


@pytest.mark.parametrize("rounded", [False, True])
def test_masters_may_be_rounded_too(rounded):
    built = Built()
    optimizer = static.amp.decorate(sgd(), level="O2", dtype="bfloat16")
    built.trained(
        optimizer.minimize, 0, lambda: optimizer.amp_init(None, rewrite_master_weight=rounded)
    )
    names = built.scope.local_var_names()
    (master,) = [n for n in names if "linear_0.w_0_fp32_master" in n]
    low = built.scope.find_var("linear_0.w_0").value.astype("float32")
    assert (built.scope.find_var(master).value == low).all() == rounded


def test_a_program_for_tests_is_cast_alike():
    built = Built()
    test = built.main.clone(for_test=True)
    optimizer = static.amp.decorate(sgd(), level="O2", dtype="bfloat16")
    built.trained(optimizer.minimize, 1, lambda: optimizer.amp_init(None, test_program=test))
    dtypes = {p.name: str(p.spec.dtype) for p in test.all_parameters()}
    assert dtypes == {p.name: str(p.spec.dtype) for p in built.main.all_parameters()}
    with static.scope_guard(built.scope):
        logits = static.Executor().run(test, {"x": X, "y": LABELS}, [built.logits.name])[0]
    assert np.isfinite(logits.astype("float32")).all()


def test_operators_are_counted(capsys):
    built = Built({"dtype": "bfloat16"})
    static.amp.debugging.collect_operator_stats(built.main, print_subblocks=True)
    out = capsys.readouterr().out
    assert out.startswith("block 0\n")
    (line,) = {line for line in out.splitlines() if line.startswith("  conv ")}
    assert line.split() == ["conv", "|", "0", "|", "1", "|", "0", "|", "0"]


def test_what_is_given_wrongly():
    built = Built()
    bad = static.amp.CustomOpLists()
    for call, error, text in (
        (lambda: static.amp.decorate("sgd"), ArgumentTypeError, "takes an optimizer, got str"),
        (lambda: static.amp.decorate(sgd(), level="O0"), ArgumentError, "without it use the opt"),
        (lambda: static.amp.decorate(sgd(), level="O4"), ArgumentError, "O0, OD, O1 or O2"),
        (lambda: static.amp.decorate(sgd(), dtype="float64"), ArgumentError, "or 'bfloat16', got"),
        (lambda: static.amp.decorate(sgd(), pure=True), ArgumentTypeError, "use_pure_fp16"),
        (lambda: static.amp.decorate(sgd(), {"a"}), ArgumentTypeError, "AutoMixedPrecisionLists"),
        (lambda: static.amp.decorate(sgd(), bad, dtype="bfloat16"), ArgumentError, "make them"),
        (lambda: static.amp.decorate(sgd()).amp_init(None), ModeError, "call minimize first"),
        (lambda: static.amp.decorate(sgd()).get_scaled_loss(), ModeError, "call minimize"),
        (lambda: static.amp.decorate(sgd()).minimize(3), NotATensorError, "Variable, got int"),
        (lambda: static.amp.CustomOpLists({"conv2"}), ArgumentError, r"Did you mean 'conv2d'\?"),
        (lambda: static.amp.CustomOpLists(None, None, "x"), ArgumentTypeError, r"\['x'\]"),
        (lambda: static.amp.cast_model_to_fp16(built.loss), ArgumentTypeError, "takes a Program"),
        (
            lambda: static.amp.cast_parameters_to_fp16(
                None, built.main, static.Scope(), ["linear_0.w_0"]
            ),
            ArgumentError,
            "run the startup program before",
        ),
    ):
        with pytest.raises(error, match=text):
            call()
    with pytest.warns(UserWarning, match="its loss is not scaled"):
        static.amp.decorate(sgd(), dtype="bfloat16", use_dynamic_loss_scaling=True)
    before = signature(built.main.global_block())
    with static.program_guard(built.main, built.startup):
        sgd().minimize(built.loss)
    after = signature(built.main.global_block())
    assert after != before
    with pytest.raises(BuildError, match=r"has its backward half already.*before append_backward"):
        static.amp.cast_model_to_fp16(built.main)
    assert signature(built.main.global_block()) == after

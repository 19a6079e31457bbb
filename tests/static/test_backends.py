"""The choice of a backend, and programs that both run."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.compiler.native.toolchain.compiler import find_toolchain
from autograd_engine.errors import ArgumentError, ExecutionError
from autograd_engine.static.executor import backend_choice as backends
from autograd_engine.static.flags import flags

pytestmark = pytest.mark.usefixtures("static_mode")

static = paddle.static
needs_compiler = pytest.mark.skipif(find_toolchain() is None, reason="there is no C compiler")
RNG = np.random.default_rng(0)
X = RNG.standard_normal((16, 8)).astype("float32")
LABELS = RNG.integers(0, 4, (16, 1))


def classifier(optimizer: Any = None, dtype: str = "float32") -> tuple[Any, Any, Any]:
    main, startup = static.Program(), static.Program()
    rng = np.random.default_rng(1)
    with static.program_guard(main, startup), paddle.unique_name.guard():
        h: Any = static.data("x", [None, 8], dtype)
        y = static.data("y", [None, 1], "int64")
        for k, (rows, columns) in enumerate([(8, 32), (32, 4)]):
            value = rng.standard_normal((rows, columns)).astype(dtype) * 0.3
            attr = paddle.ParamAttr(f"w{k}", paddle.nn.initializer.Assign(value))
            w = static.create_parameter([rows, columns], dtype, attr=attr)
            b = static.create_parameter([columns], dtype, name=f"b{k}", is_bias=True)
            h = h @ w + b
            h = paddle.nn.functional.gelu(h) if k == 0 else h
        loss = paddle.mean(paddle.nn.functional.cross_entropy(h, y))
        (optimizer or paddle.optimizer.Adam(0.01)).minimize(loss)
    scope = static.Scope()
    static.Executor().run(startup, scope=scope)
    return main, loss, scope


def trained(exe: Any, steps: int = 20, prepared: bool = False, dtype: str = "float32") -> Any:
    main, loss, scope = classifier(dtype=dtype)
    x = X.astype(dtype)
    step = exe.prepare(main, ["x", "y"], [loss], scope=scope) if prepared else None
    losses = []
    for _ in range(steps):
        if step is not None:
            losses.append(step(x, LABELS)[0])
        else:
            losses.append(exe.run(main, {"x": x, "y": LABELS}, [loss], scope=scope)[0])
    return np.array(losses), {
        n: np.asarray(scope.find_var(n).value) for n in scope.local_var_names()
    }


# --- the choice


def is_missing(name: str) -> bool:
    return name in backends.BACKENDS and bool(backends.BACKENDS[name].missing)


def test_a_backend_that_is_none() -> None:
    with pytest.raises(ArgumentError, match=r"no backend 'cuda'; take one of 'auto', 'native'"):
        static.Executor(backend="cuda")


@pytest.mark.parametrize("name", [n for n in backends.names() if not is_missing(n)])
def test_the_environment_chooses_where_the_user_does_not(name: str, monkeypatch: Any) -> None:
    monkeypatch.setenv(backends.VARIABLE, name)
    assert static.Executor().backend == name
    assert static.Executor(backend="auto").backend == name
    assert static.Executor(backend="numpy").backend == "numpy"


def test_what_the_environment_says_is_checked(monkeypatch: Any) -> None:
    monkeypatch.setenv(backends.VARIABLE, "fast")
    with pytest.raises(ArgumentError, match=r"AUTOGRAD_ENGINE_BACKEND names no backend: 'fast'"):
        static.Executor()
    monkeypatch.delenv(backends.VARIABLE)
    assert static.Executor().backend == "auto"


def test_a_flag_chooses_before_the_environment_does(monkeypatch: Any) -> None:
    monkeypatch.setenv(backends.VARIABLE, "native")
    paddle.set_flags({"FLAGS_backend": "numpy"})
    try:
        assert paddle.get_flags("FLAGS_backend") == {"FLAGS_backend": "numpy"}
        assert static.Executor().backend == static.Executor(backend="auto").backend == "numpy"
        assert static.Executor(backend="native").backend == "native"
        with pytest.raises(ArgumentError, match=r"FLAGS_backend: there is no backend 'cuda'; take"):
            paddle.set_flags({"FLAGS_backend": "cuda"})
        with pytest.raises(TypeError, match="FLAGS_backend must be a str or None, got 1"):
            paddle.set_flags({"FLAGS_backend": 1})
    finally:
        paddle.set_flags({"FLAGS_backend": None})
    assert static.Executor().backend == "native"


def test_a_step_may_be_prepared_for_another_backend() -> None:
    main, loss, scope = classifier()
    executor = static.Executor(backend="native")
    step = executor.prepare(main, ["x", "y"], [loss], scope=scope, backend="numpy")
    first = step(X, LABELS)[0]
    assert "run by numpy" in repr(step)
    later = executor.run(main, {"x": X, "y": LABELS}, [loss], scope=scope)[0]
    assert later < first  # on the same parameters
    with pytest.raises(ArgumentError, match=r"prepare: there is no backend 'cuda'"):
        executor.prepare(main, ["x", "y"], [loss], scope=scope, backend="cuda")
    executor.close()
    with pytest.raises(ExecutionError, match="closed"):
        step(X, LABELS)


def test_no_backend_is_imported_before_a_program_is_compiled() -> None:
    code = (
        "import sys, autograd_engine as paddle; paddle.static.Executor();"
        "assert not [m for m in sys.modules if '.native' in m or '.planned' in m]"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


# --- what runs


@pytest.mark.parametrize("prepared", [True, False])
def test_planned_runs_have_the_bits_of_straight_line_python(prepared: bool) -> None:
    losses, values = trained(static.Executor(backend="numpy"), prepared=prepared)
    main, loss, scope = classifier()
    for k in range(20):  # an executor that sees it for the first time takes straight-line Python
        feed = {"x": X, "y": LABELS}
        (found,) = static.Executor().run(main, feed, [loss], scope=scope)
        assert found.tobytes() == losses[k].tobytes()
    for name, value in values.items():
        assert scope.find_var(name).value.tobytes() == value.tobytes(), name


@needs_compiler
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-5), ("float64", 1e-12)])
@pytest.mark.parametrize("prepared", [True, False])
def test_native_runs_are_close_to_it(dtype: str, tolerance: float, prepared: bool) -> None:
    exe = static.Executor(backend="native")
    losses, values = trained(exe, prepared=prepared, dtype=dtype)
    expected, others = trained(static.Executor(backend="numpy"), dtype=dtype)
    np.testing.assert_allclose(losses, expected, rtol=tolerance)
    for name, value in values.items():
        scale = np.abs(others[name]).max()
        np.testing.assert_allclose(
            value, others[name], rtol=0, atol=20 * tolerance * scale, err_msg=name
        )


@needs_compiler
def test_native_code_says_what_is_wrong_as_python_does() -> None:
    main, loss, scope = classifier()
    exe = static.Executor(backend="native")
    step = exe.prepare(main, ["x", "y"], [loss], scope=scope)
    step(X, LABELS)
    assert exe.explain(main, {"x": X, "y": LABELS}, [loss]).backend == "native"
    before = scope.find_var("w0").value.tobytes()
    bad = LABELS + 7
    with pytest.raises(ExecutionError) as plain:
        static.Executor().run(main, {"x": X, "y": bad}, [loss], scope=scope)
    with pytest.raises(ExecutionError) as error:
        step(X, bad)
    assert str(error.value) == str(plain.value)
    assert scope.find_var("w0").value.tobytes() == before
    step(X, LABELS)
    assert exe.explain(main, {"x": X, "y": LABELS}, [loss]).backend == "native"


def test_without_a_compiler_numpy_runs_it(monkeypatch: Any) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    main, loss, _ = classifier()
    report = static.Executor(backend="native").explain(main, {"x": X, "y": LABELS}, [loss])
    assert report.backend == "numpy"
    assert "compiler" in report.reasons[0]
    assert report.reasons[0].startswith("native: ")


# --- how much is compiled


def counting(monkeypatch: Any) -> list[Any]:
    made: list[Any] = []
    real = backends.Backend.load

    def compiler(self: backends.Backend) -> Any:
        function = real(self)

        def compiled(graph: Any, name: str) -> Any:
            made.append([v.shape for v in graph.inputs])
            return function(graph, name)

        return compiled

    monkeypatch.setattr(backends.Backend, "load", compiler)
    return made


def test_sizes_that_change_all_the_time_are_not_compiled_for(monkeypatch: Any) -> None:
    made = counting(monkeypatch)
    with static.program_guard(static.Program()):
        x = static.data("x", [None])
        y = x * 2.0 + 1.0
    exe = static.Executor()
    for k in range(40):
        for _ in range(2):
            a = np.full(k + 1, 3.0, "float32")
            assert exe.run(y.block.program, {"x": a}, [y])[0].tolist() == [7.0] * (k + 1)
    assert made == []


def test_few_sizes_are_kept_and_not_many_are_compiled(monkeypatch: Any) -> None:
    made = counting(monkeypatch)
    with static.program_guard(static.Program()):
        x = static.data("x", [None])
        y = x * 2.0 + 1.0
    program, exe = y.block.program, static.Executor()
    for k in range(40):
        for _ in range(4):
            a = np.full(k + 1, 3.0, "float32")
            assert exe.run(program, {"x": a}, [y])[0].tolist() == [7.0] * (k + 1)
    assert len(made) == 32
    (plan,) = program.compiled[exe].values()
    assert len(plan.specializations) <= 8
    report = exe.explain(program, {"x": a}, [y])
    assert report.backend == "python"
    assert "keeps changing its shape" in report.reasons[0]


def test_two_sizes_that_take_turns(monkeypatch: Any) -> None:
    made = counting(monkeypatch)
    main, loss, scope = classifier()
    other, other_loss, other_scope = classifier()
    exe = static.Executor()
    monkeypatch.setattr(flags, "runs_before_compiling", 2)
    for k in range(20):
        n = 16 if k % 2 else 5
        feed = {"x": X[:n], "y": LABELS[:n]}
        (found,) = exe.run(main, feed, [loss], scope=scope)
        (expected,) = static.Executor().run(other, feed, [other_loss], scope=other_scope)
        assert found.tobytes() == expected.tobytes()
    assert len(made) == 2

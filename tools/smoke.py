"""Does an installed engine work? Needs the engine alone: ``python -I tools/smoke.py``.

Run from outside of a checkout, in an environment where the wheel is installed. Prints a line for
each check, and exits with 1 where one fails.
"""

from __future__ import annotations

import importlib
import platform
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np

import autograd_engine as paddle

warnings.simplefilter("error")
CHECKS: list[Callable[[Path], str]] = []


def check(function: Callable[[Path], str]) -> Callable[[Path], str]:
    CHECKS.append(function)
    return function


@check
def installed(scratch: Path) -> str:
    """It is the installed one, with what belongs to it, and without what does not."""
    where = Path(paddle.__file__).resolve().parent
    assert Path(sys.prefix).resolve() in where.parents, f"{where} is not in {sys.prefix}"
    assert (where / "py.typed").is_file()
    assert not (where.parent / "tests").exists()
    return f"{paddle.__version__} in {where}"


@check
def imports(scratch: Path) -> str:
    """Everything public can be had, from the modules that are loaded late as well."""
    waiting, count = [paddle], 0
    seen: set[str] = set()
    for module in waiting:
        if module.__name__ in seen:
            continue
        seen.add(module.__name__)
        for name in dir(module) if hasattr(module, "__dir__") else module.__all__:
            value = getattr(module, name)
            count += 1
            if isinstance(value, ModuleType) and value.__name__.startswith(paddle.__name__):
                waiting.append(value)
    for name in ("autograd", "jit", "nn", "optimizer", "static", "testing"):
        importlib.import_module(f"{paddle.__name__}.{name}")
    return f"{count} names in {len(seen)} modules"


@check
def eager(scratch: Path) -> str:
    """A gradient, and one of the gradient."""
    x = paddle.to_tensor([0.5, -1.0, 2.0], dtype="float64", stop_gradient=False)
    (first,) = paddle.grad(paddle.tanh(x).sum(), x, create_graph=True)
    first.sum().backward()
    t = np.tanh(x.numpy())
    np.testing.assert_allclose(first.numpy(), 1 - t * t, rtol=1e-12)
    np.testing.assert_allclose(x.grad.numpy(), -2 * t * (1 - t * t), rtol=1e-12)
    return "first and second derivative of tanh"


def perceptron() -> tuple[paddle.static.Program, paddle.static.Program, list[object]]:
    main, startup = paddle.static.Program(), paddle.static.Program()
    startup.random_seed = 7
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [None, 13])
        hidden = paddle.nn.functional.relu(paddle.static.nn.fc(x, 8))
        loss = paddle.mean(paddle.static.nn.fc(hidden, 1) ** 2)
        fetches = [loss, *(g for _, g in paddle.static.append_backward(loss))]
    return main, startup, fetches


FEED = {"x": np.random.default_rng(0).standard_normal((5, 13)).astype("float32")}


@check
def program(scratch: Path) -> str:
    """A program is built, differentiated, run, saved, and read again."""
    main, startup, fetches = perceptron()
    exe = paddle.static.Executor(backend="numpy")
    exe.run(startup)
    before = exe.run(main, FEED, fetches)
    paddle.static.save(main, str(scratch / "model"))
    for parameter in main.all_parameters():
        paddle.static.global_scope().find_var(parameter.name).get_tensor().set(
            np.zeros(parameter.shape, "float32"), paddle.CPUPlace()
        )
    paddle.static.load(main, str(scratch / "model"), exe)
    after = exe.run(main, FEED, fetches)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(before, after, strict=True))
    return f"{len(main.global_block().ops)} operators, the same bits after save and load"


@check
def native(scratch: Path) -> str:
    """Where there is a C compiler a program is compiled to C, from the sources in the wheel."""
    main, startup, fetches = perceptron()
    numpy, chosen = paddle.static.Executor(backend="numpy"), paddle.static.Executor()
    numpy.run(startup)
    report = chosen.explain(main, FEED, fetches)
    prepared = chosen.prepare(main, ["x"], fetches)
    for a, b in zip(numpy.run(main, FEED, fetches), prepared(FEED), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler and sys.platform != "win32":
        assert report.backend == "native", f"{compiler} is there: {report.reasons}"
    return f"backend {report.backend}"


@check
def layers(scratch: Path) -> str:
    """A layer is trained for a few steps, saved, and goes on from there with the same bits."""
    paddle.seed(0)

    def make() -> tuple[paddle.nn.Layer, paddle.optimizer.Optimizer]:
        net = paddle.nn.Sequential(
            paddle.nn.Linear(13, 16), paddle.nn.ReLU(), paddle.nn.Linear(16, 1)
        )
        return net, paddle.optimizer.Adam(0.01, parameters=net.parameters())

    def train(
        net: paddle.nn.Layer, optimizer: paddle.optimizer.Optimizer, steps: int
    ) -> list[float]:
        losses = []
        for _ in range(steps):
            loss = paddle.nn.functional.mse_loss(net(x), y)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            losses.append(loss.item())
        return losses

    x = paddle.to_tensor(FEED["x"])
    y = x.sum(axis=1, keepdim=True)
    net, adam = make()
    losses = train(net, adam, 5)
    paddle.save({"net": net.state_dict(), "adam": adam.state_dict()}, str(scratch / "checkpoint"))
    expected = train(net, adam, 3)
    again, other = make()
    state = paddle.load(str(scratch / "checkpoint"))
    again.set_state_dict(state["net"])
    # States of an optimizer are named for the parameters.
    names = dict(zip([p.name for p in net.parameters()], again.parameters(), strict=True))
    for name, parameter in names.items():
        parameter.name = name
    other.set_state_dict(state["adam"])
    assert train(again, other, 3) == expected
    assert expected[-1] < losses[0]
    return f"loss {losses[0]:.3f} to {expected[-1]:.3f}, the same bits from a checkpoint"


@check
def traced(scratch: Path) -> str:
    """A function becomes a program."""

    @paddle.jit.to_static
    def energy(x: paddle.Tensor) -> paddle.Tensor:
        return (paddle.exp(x) * x).sum()

    x = paddle.to_tensor(FEED["x"][0], stop_gradient=False)
    for _ in range(4):
        x.clear_grad()
        energy(x).backward()
    np.testing.assert_allclose(x.grad.numpy(), np.exp(FEED["x"][0]) * (1 + FEED["x"][0]), rtol=1e-5)
    return "jit.to_static with its gradient"


def main() -> int:
    failed = 0
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {sys.platform}")
    for run in CHECKS:
        with tempfile.TemporaryDirectory(prefix="smoke-") as scratch:
            try:
                print(f"  {run.__name__}: {run(Path(scratch))}", flush=True)
            except Exception as error:
                failed += 1
                print(f"  {run.__name__}: FAILED, {type(error).__name__}: {error}", flush=True)
                if "--traceback" in sys.argv:
                    raise
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

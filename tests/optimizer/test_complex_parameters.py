"""Complex parameters: the bits of training their parts, in both modes, with files, beside torch."""

from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from tests.functions.peers import torch
from tests.optimizer.test_both_modes import BESIDES
from tests.optimizer.training import OPTIMIZERS, P, same, static

# Apart from the limits of length, which are of the whole gradient, each part is trained alone.
RNG = np.random.default_rng(7)
SHAPES = {"w": (2, 3), "b": (1,)}
VALUES = {n: RNG.normal(size=s) + 1j * RNG.normal(size=s) for n, s in SHAPES.items()}
GRADIENTS = [
    {n: RNG.normal(size=s) + 1j * RNG.normal(size=s) for n, s in SHAPES.items()} for _ in range(4)
]
EVERY = {**OPTIMIZERS, **BESIDES}
EVERY.pop("groups")  # is of two parameters


def both_parts(z: Any) -> Any:
    return np.stack([z.real, z.imag], -1)


def made(dtype: str, values: Any) -> list[Any]:
    assign = paddle.nn.initializer.Assign
    return [
        paddle.create_parameter(
            value.shape,
            dtype,
            attr=paddle.ParamAttr(name=name, initializer=assign(value.astype(dtype))),
        )
        for name, value in values.items()
    ]


def eagerly(make: Any, dtype: str, steps: Any, *, parts: bool = False, state: Any = None) -> Any:
    """Values after the steps, of the parts as tensors of their own if asked; the optimizer."""
    change = both_parts if parts else (lambda z: z)
    values = {n: change(v) for n, v in (state or {"values": VALUES})["values"].items()}
    params = made(dtype, values)
    optimizer = make(params)
    if state is not None:
        optimizer.set_state_dict(state["optimizer"])
    for k in steps:
        for p in params:
            p.grad = paddle.to_tensor(change(GRADIENTS[k % 4][p.name]).astype(dtype))
        optimizer.step()
    return [p.numpy() for p in params], optimizer


def in_a_program(make: Any, dtype: str, steps: Any, backend: str) -> list[Any]:
    main, startup, scope = static.Program(), static.Program(), static.Scope()
    with paddle.unique_name.guard(), static.program_guard(main, startup):
        params = made(dtype, VALUES)
        fed = [static.data(f"g{p.name}", p.shape, dtype) for p in params]
        make(params).apply_gradients(list(zip(params, fed, strict=True)))
    exe = static.Executor(backend=backend)
    exe.run(startup, scope=scope)
    for k in steps:
        feed = {f"g{n}": g.astype(dtype) for n, g in GRADIENTS[k % 4].items()}
        exe.run(main, feed=feed, scope=scope)
    return [np.asarray(scope.find_var(n).get_tensor()) for n in SHAPES]


def test_the_bits_of_the_parts_in_every_mode() -> None:
    for make in EVERY.values():
        for dtype, real in (("complex64", "float32"), ("complex128", "float64")):
            found, _ = eagerly(make, dtype, range(6))
            want, _ = eagerly(make, real, range(6), parts=True)
            same([both_parts(z) for z in found], want)
            for backend in ("numpy", "native"):
                same(in_a_program(make, dtype, range(6), backend), found)


def test_training_goes_on_from_a_file(tmp_path: Any) -> None:
    for make in EVERY.values():
        whole, _ = eagerly(make, "complex64", range(7))
        values, optimizer = eagerly(make, "complex64", range(3))
        kept = {
            "values": dict(zip(SHAPES, map(paddle.to_tensor, values), strict=True)),
            "optimizer": optimizer.state_dict(),
        }
        paddle.save(kept, str(tmp_path / "training"))
        read = paddle.load(str(tmp_path / "training"))
        read["values"] = {n: v.numpy() for n, v in read["values"].items()}
        same(eagerly(make, "complex64", range(3, 7), state=read)[0], whole)


TARGET = np.array([1 - 2j, 3j])


def least(parameters: Any) -> Any:
    """Where LBFGS goes, of a loss with its least at 1 - 2i and 3i."""
    lbfgs = P.LBFGS(
        1.0, max_iter=30, line_search_fn="strong_wolfe", parameters=parameters, weight_decay=1e-3
    )

    def closure() -> Any:
        lbfgs.clear_grad()
        z = parameters[0] if len(parameters) == 1 else paddle.complex(*parameters)
        loss = ((z - paddle.to_tensor(TARGET)).abs() ** 2).sum() + (z.real() * z.imag()).sum() * 0.5
        loss.backward()
        return loss

    lbfgs.step(closure)
    return parameters


def test_lbfgs_goes_where_it_goes_by_the_parts() -> None:
    starts = np.array([0.5j, 1.0]), np.array([0.0, 1.0]), np.array([0.5, 0.0])
    z, x, y = (paddle.to_tensor(start, stop_gradient=False) for start in starts)
    least([z])
    least([x, y])
    np.testing.assert_allclose(z.numpy(), x.numpy() + 1j * y.numpy(), rtol=1e-6)


def test_rows_of_a_complex_table() -> None:
    """Where a gradient is of some rows, lazily updated or not, as a dense one is."""
    table, ids = RNG.normal(size=(5, 2)) + 1j * RNG.normal(size=(5, 2)), [1, 3, 1]
    for make in (
        lambda ps: P.SGD(0.1, parameters=ps),
        lambda ps: P.Adam(0.1, parameters=ps),
        lambda ps: P.Adam(0.1, parameters=ps, lazy_mode=True),
    ):
        trained = []
        for sparse in (False, True):
            w = paddle.to_tensor(table, stop_gradient=False)
            optimizer = make([w])
            for _ in range(3):
                rows = paddle.nn.functional.embedding(paddle.to_tensor(ids), w, sparse=sparse)
                (rows.abs() ** 2).sum().backward()
                optimizer.step()
                optimizer.clear_grad()
            trained.append(w.numpy()[[1, 3]])
        same(trained[1:], trained[:1])


# Where torch adds epsilon elsewhere, it is nothing here.
SMALL: dict[str, Any] = {
    "Adamax, small": lambda ps: P.Adamax(0.1, 0.8, 0.9, 1e-14, parameters=ps),
    "RMSProp, small": lambda ps: P.RMSProp(0.1, 0.8, 1e-14, parameters=ps),
    "RMSProp centered, small": lambda ps: P.RMSProp(0.1, 0.8, 1e-14, 0.7, True, parameters=ps),
}
IN_TORCH: dict[str, Any] = {
    "SGD": lambda t, ps: t.SGD(ps, 0.1),
    "Momentum": lambda t, ps: t.SGD(ps, 0.1, momentum=0.8),
    "Momentum nesterov": lambda t, ps: t.SGD(ps, 0.1, momentum=0.8, nesterov=True),
    "Adam": lambda t, ps: t.Adam(ps, 0.1, (0.8, 0.9), 1e-3),
    "Adam amsgrad": lambda t, ps: t.Adam(ps, 0.1, (0.8, 0.9), 1e-3, amsgrad=True),
    "AdamW": lambda t, ps: t.AdamW(ps, 0.1, (0.8, 0.9), 1e-3, weight_decay=0.1),
    "AdamW amsgrad": lambda t, ps: t.AdamW(
        ps, 0.1, (0.8, 0.9), 1e-3, weight_decay=0.1, amsgrad=True
    ),
    "Adagrad": lambda t, ps: t.Adagrad(ps, 0.1, eps=1e-3, initial_accumulator_value=0.1),
    "Adadelta": lambda t, ps: t.Adadelta(ps, 0.1, 0.8, 1e-3),
    "Adamax, small": lambda t, ps: t.Adamax(ps, 0.1, (0.8, 0.9), 1e-14),
    "RMSProp, small": lambda t, ps: t.RMSprop(ps, 0.1, 0.8, 1e-14),
    "RMSProp centered, small": lambda t, ps: t.RMSprop(
        ps, 0.1, 0.8, 1e-14, momentum=0.7, centered=True
    ),
    "NAdam": lambda t, ps: t.NAdam(ps, 0.1, (0.8, 0.9), 1e-3, momentum_decay=0.05),
    "RAdam": lambda t, ps: t.RAdam(ps, 0.1, (0.8, 0.9), 1e-3),
    "Rprop": lambda t, ps: t.Rprop(ps, 0.1, (0.4, 1.3), (0.01, 0.15)),
    "decay": lambda t, ps: t.Adam(ps, 0.1, weight_decay=0.1),
}


@pytest.mark.skipif(torch is None, reason="PyTorch is not installed")
def test_beside_torch() -> None:
    wrong = []
    for name, peer in IN_TORCH.items():
        for dtype, tolerance in (("complex64", 1e-4), ("complex128", 1e-8)):
            found, _ = eagerly({**EVERY, **SMALL}[name], dtype, range(4))
            ps = [torch.nn.Parameter(torch.tensor(v.astype(dtype))) for v in VALUES.values()]
            optimizer = peer(torch.optim, ps)
            for gradients in GRADIENTS:
                for p, g in zip(ps, gradients.values(), strict=True):
                    p.grad = torch.tensor(g.astype(dtype))
                optimizer.step()
            for a, b in zip(found, ps, strict=True):
                b = b.detach().numpy()
                if not np.allclose(a, b, rtol=tolerance, atol=tolerance):
                    wrong.append((name, dtype, np.abs(a - b).max()))
    assert not wrong


@pytest.mark.skipif(torch is None, reason="PyTorch is not installed")
def test_lbfgs_beside_torch() -> None:
    start = np.array([0.5j, 1.0])
    z = torch.nn.Parameter(torch.tensor(start))
    lbfgs = torch.optim.LBFGS([z], 1.0, max_iter=30, line_search_fn="strong_wolfe")

    def closure() -> Any:
        lbfgs.zero_grad()
        loss = ((z - torch.tensor(TARGET)).abs() ** 2).sum() + (z.real * z.imag).sum() * 0.5
        (loss + 0.5e-3 * (z.abs() ** 2).sum()).backward()
        return loss + 0.5e-3 * (z.abs() ** 2).sum()

    lbfgs.step(closure)
    (found,) = least([paddle.to_tensor(start, stop_gradient=False)])
    np.testing.assert_allclose(found.numpy(), z.detach().numpy(), rtol=1e-4)

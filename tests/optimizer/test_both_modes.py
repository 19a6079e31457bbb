"""Programs update to the bits of eager steps, whatever is asked for besides the rule."""

from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from tests.optimizer.training import (
    GRADIENTS,
    OPTIMIZERS,
    P,
    Training,
    eagerly,
    parameters,
    same,
    static,
)

C = paddle.nn
R = paddle.regularizer

BESIDES: dict[str, Any] = {
    "decay": lambda ps: P.Adam(0.1, parameters=ps, weight_decay=0.1),
    "l1": lambda ps: P.RMSProp(0.1, parameters=ps, weight_decay=R.L1Decay(0.1)),
    "by value": lambda ps: P.SGD(0.1, parameters=ps, grad_clip=C.ClipGradByValue(0.3)),
    "by norm": lambda ps: P.Momentum(0.1, parameters=ps, grad_clip=C.ClipGradByNorm(0.6)),
    "by global norm": lambda ps: P.SGD(0.1, parameters=ps, grad_clip=C.ClipGradByGlobalNorm(1.1)),
    "clip and decay": lambda ps: P.Adamax(
        0.1, parameters=ps, grad_clip=C.ClipGradByGlobalNorm(1.1), weight_decay=0.1
    ),
    "groups": lambda ps: P.Adam(
        0.1,
        parameters=[
            {"params": [ps[0]], "learning_rate": 0.3, "weight_decay": 0.1, "beta1": 0.5},
            {"params": [ps[1]], "grad_clip": C.ClipGradByNorm(0.6)},
        ],
    ),
    "some decay": lambda ps: P.AdamW(
        0.1, parameters=ps, apply_decay_param_fun=lambda n: n == "w", lr_ratio=lambda p: 0.3
    ),
    "excluded": lambda ps: P.Lamb(
        0.1, parameters=ps, exclude_from_weight_decay_fn=lambda p: p.name == "b"
    ),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("which", [*OPTIMIZERS, *BESIDES])
def test_twenty_steps_have_the_same_bits(which: str, dtype: str) -> None:
    make = {**OPTIMIZERS, **BESIDES}[which]
    values, _ = eagerly(make, 20, dtype=dtype)
    trained = Training(make, dtype=dtype).run(range(20))
    same(values, trained)
    assert all(np.isfinite(v).all() for v in values)


ATTRS = (
    {"learning_rate": 0.3, "regularizer": R.L1Decay(0.2)},
    {"need_clip": False},
)


@pytest.mark.parametrize("which", ["decay", "by global norm", "clip and decay"])
def test_attributes_of_parameters(which: str) -> None:
    values, _ = eagerly(BESIDES[which], 20, attrs=ATTRS)
    same(values, Training(BESIDES[which], attrs=ATTRS).run(range(20)))
    plain, _ = eagerly(BESIDES[which], 20)
    assert not np.array_equal(values[0], plain[0])


@pytest.mark.parametrize("which", ["SGD", "Momentum", "Adam", "AdamW", "Lamb", "ASGD", "Rprop"])
def test_float16_with_a_float32_copy(which: str) -> None:
    """Steps too small for float16 add up."""
    kinds = {"SGD": {}, "Momentum": {}, "ASGD": {}, "Rprop": {"learning_rate_range": (1e-6, 1e-5)}}
    rate = 1e-5 if which == "Rprop" else 1e-4

    def make(ps: Any) -> Any:
        options = kinds.get(which, {"epsilon": 1e-6})
        return getattr(P, which)(rate, parameters=ps, multi_precision=True, **options)

    values, optimizer = eagerly(make, 40, dtype="float16")
    same(values, Training(make, dtype="float16").run(range(40)))
    assert values[0].dtype == np.float16
    wide, _ = eagerly(
        lambda ps: getattr(P, which)(rate, parameters=ps, **kinds.get(which, {"epsilon": 1e-6})), 40
    )
    master = optimizer.state_dict()["master_weights"]["w"].numpy()
    assert master.dtype == np.float32
    np.testing.assert_allclose(master, wide[0], rtol=2e-3, atol=2e-5)
    np.testing.assert_array_equal(values[0], master.astype("float16"))


def test_a_scheduler_says_the_rate_in_both_modes() -> None:
    def schedule() -> Any:
        return P.lr.StepDecay(0.5, step_size=2, gamma=0.1)

    w, b = parameters()
    eager_rate, program_rate = schedule(), schedule()
    sgd = P.SGD(eager_rate, parameters=[w, b])
    training = Training(lambda ps: P.SGD(program_rate, parameters=ps))
    for k in range(6):
        for p, g in zip((w, b), GRADIENTS[k % 4], strict=True):
            p.grad = paddle.to_tensor(g)
        sgd.step()
        values = training.run([k])
        same([w.numpy(), b.numpy()], values)
        assert sgd.get_lr() == training.optimizer.get_lr() == pytest.approx(0.5 * 0.1 ** (k // 2))
        eager_rate.step()
        program_rate.step()


def test_set_lr_is_refused_beside_a_scheduler() -> None:
    sgd = P.SGD(P.lr.StepDecay(0.5, step_size=2), parameters=[paddle.ones([1])])
    with pytest.raises(RuntimeError, match="StepDecay says what the learning rate is"):
        sgd.set_lr(0.1)
    with pytest.raises(TypeError, match="use set_lr for a number"):
        sgd.set_lr_scheduler(0.1)
    with pytest.raises(TypeError, match="use set_lr_scheduler"):
        sgd.set_lr(P.lr.StepDecay(0.5, step_size=2))


def test_a_scheduler_that_comes_later_reaches_a_program() -> None:
    training = Training(lambda ps: P.SGD(0.0, parameters=ps))
    before = training.run([0])
    training.optimizer.set_lr_scheduler(P.lr.StepDecay(1.0, step_size=5))
    after = training.run([0])
    np.testing.assert_array_equal(after[1], before[1] - GRADIENTS[0][1])


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("besides", ["", "decay", "clip", "factor"])
@pytest.mark.parametrize("which", ["SGD", "Adam", "Adam amsgrad", "AdamW"])
def test_rows_of_a_table(which: str, besides: str, lazy: bool) -> None:
    """Gradients of rows alone: by rows, or dense where clipping or decay makes them so."""
    name, _, amsgrad = which.partition(" ")
    options: dict[str, Any] = {"weight_decay": 0.1} if besides == "decay" else {}
    if besides == "clip":
        options["grad_clip"] = C.ClipGradByGlobalNorm(0.5)
    if name != "SGD":
        options |= {"lazy_mode": lazy, "amsgrad": bool(amsgrad)}
    attr = paddle.ParamAttr(
        name="table",
        learning_rate=0.3 if besides == "factor" else 1.0,
        initializer=paddle.nn.initializer.Assign(np.arange(12, dtype="float32").reshape(6, 2) / 7),
    )
    batches = [np.array(ids, "int64") for ids in ([0, 2, 0], [2, 5, 5], [1, 0, 2])] * 4

    def loss(ids: Any, table: Any, sparse: bool) -> Any:
        rows = paddle.nn.functional.embedding(ids, table, sparse=sparse)
        return (rows * rows).sum()

    def trained(sparse: bool) -> Any:
        table = paddle.create_parameter([6, 2], attr=attr)
        optimizer = getattr(P, name)(0.1, parameters=[table], **options)
        for ids in batches:
            loss(paddle.to_tensor(ids), table, sparse).backward()
            assert table.grad.is_selected_rows() is sparse
            optimizer.step()
            optimizer.clear_grad(set_to_zero=False)
        return table.numpy()

    with static.program_guard(static.Program(), static.Program()):
        table = paddle.create_parameter([6, 2], attr=attr)
        ids = static.data("ids", [None], "int64")
        getattr(P, name)(0.1, parameters=[table], **options).minimize(loss(ids, table, True))
        exe = static.Executor()
        exe.run(static.default_startup_program())
        for batch in batches:
            (have,) = exe.run(feed={"ids": batch}, fetch_list=[table])
    by_rows = trained(sparse=True)
    same([by_rows], [have])
    if not lazy or (besides in ("decay", "clip") and name != "AdamW"):
        np.testing.assert_allclose(by_rows, trained(sparse=False), rtol=1e-6, atol=1e-6)

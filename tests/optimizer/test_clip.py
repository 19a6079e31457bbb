"""Limits on gradients, called by themselves and given to optimizers."""

from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from tests.optimizer.training import GRADIENTS, P, Training, eagerly, parameters, same, static

C = paddle.nn

CLIPS: dict[str, Any] = {
    "ClipValue": lambda: C.ClipGradByValue(0.3),
    "ClipValue2": lambda: C.ClipGradByValue(0.3, -0.1),
    "ClipNorm": lambda: C.ClipGradByNorm(0.6),
    "ClipGlobal": lambda: C.ClipGradByGlobalNorm(1.1),
    "ClipGlobal l2": lambda: C.ClipGradByGlobalNorm(1.1),
}
# w and b after four steps of SGD, as PaddlePaddle 3.3.1 computes them in float32.
OBSERVED = {
    "ClipValue": (
        [0.488999993, -1.23199999, 1.98300004, -0.0260000005],
        [0.25, -0.724999905],
    ),
    "ClipValue2": (
        [0.469000012, -1.26199996, 1.96300006, -0.0260000005],
        [0.230000004, -0.744999945],
    ),
    "ClipNorm": (
        [0.4829804, -1.24805582, 1.93667161, -0.00750791421],
        [0.263133883, -0.693333209],
    ),
    "ClipGlobal": (
        [0.476797014, -1.24479151, 1.93646371, -0.00826646574],
        [0.276484758, -0.666480839],
    ),
    "ClipGlobal l2": (
        [0.457001269, -1.19547212, 1.85972214, -0.00809430145],
        [0.26599583, -0.640789986],
    ),
}


@pytest.mark.parametrize("which", OBSERVED)
def test_steps_are_those_of_the_reference(which: str) -> None:
    """Clipping comes before decay."""
    decay = 0.1 if which.endswith("l2") else None
    values, _ = eagerly(
        lambda ps: P.SGD(0.1, parameters=ps, grad_clip=CLIPS[which](), weight_decay=decay)
    )
    for have, want in zip(values, OBSERVED[which], strict=True):
        np.testing.assert_allclose(have.ravel(), want, rtol=1e-6, atol=1e-7)


def length(arrays: Any) -> float:
    return float(np.sqrt(sum((a.astype("float64") ** 2).sum() for a in arrays)))


@pytest.mark.parametrize("which", ["ClipValue", "ClipValue2", "ClipNorm", "ClipGlobal"])
def test_pairs_in_both_modes(which: str) -> None:
    clip, grads = CLIPS[which](), GRADIENTS[2]
    eager = clip([(p, paddle.to_tensor(g)) for p, g in zip(parameters(), grads, strict=True)])
    with static.program_guard(static.Program(), static.Program()):
        pairs = [(p, static.data(f"g{p.name}", p.shape)) for p in parameters()]
        new = clip(pairs)
        assert [p is q for (p, _), (q, _) in zip(pairs, new, strict=True)] == [True, True]
        fetched = static.Executor().run(
            feed=dict(zip(("gw", "gb"), grads, strict=True)), fetch_list=[g for _, g in new]
        )
    have = [g.numpy() for _, g in eager]
    same(have, fetched)
    if which == "ClipGlobal":
        assert length(have) == pytest.approx(1.1, rel=1e-6)
        ratios = np.concatenate([(h / g).ravel() for h, g in zip(have, grads, strict=True)])
        np.testing.assert_allclose(ratios, 1.1 / length(grads), rtol=1e-6)
    elif which == "ClipNorm":
        assert [length([h]) for h in have] == pytest.approx([0.6, 0.6], rel=1e-6)
    else:
        low = -0.1 if which.endswith("2") else -0.3
        same(have, [np.clip(g, np.float32(low), np.float32(0.3)) for g in grads])


def test_within_the_limit_nothing_changes() -> None:
    for clip in (C.ClipGradByValue(9.0), C.ClipGradByNorm(9.0), C.ClipGradByGlobalNorm(9.0)):
        pairs = clip(
            [(p, paddle.to_tensor(g)) for p, g in zip(parameters(), GRADIENTS[2], strict=True)]
        )
        same([g.numpy() for _, g in pairs], GRADIENTS[2])


def test_operators_of_a_global_norm() -> None:
    training = Training(lambda ps: P.SGD(0.1, parameters=ps, grad_clip=C.ClipGradByGlobalNorm(1.0)))
    operators = training.main.global_block().ops
    squares = ["square", "sum", "square", "sum"]
    expected = [*squares, "add_n", "sqrt", "maximum", "divide", "multiply", "multiply"]
    assert [op.type for op in operators] == [*expected, "sgd", "sgd"]
    assert {op.role for op in operators} == {"optimize"}


def test_parameters_that_need_no_clip() -> None:
    """They are left alone, and their gradients do not count in the norm."""
    w, b = parameters(attrs=({}, {"need_clip": False}))
    gw, gb = GRADIENTS[2]
    pairs = C.ClipGradByGlobalNorm(0.5)([(w, paddle.to_tensor(gw)), (b, paddle.to_tensor(gb))])
    same([pairs[1][1].numpy()], [gb])
    np.testing.assert_allclose(pairs[0][1].numpy(), gw * 0.5 / length([gw]), rtol=1e-6)


def test_missing_gradients_stay_missing() -> None:
    w, b = parameters()
    pairs = C.ClipGradByNorm(1.0)([(w, None), (b, paddle.to_tensor(GRADIENTS[0][1]))])
    assert pairs[0] == (w, None)
    assert pairs[1][1] is not None
    assert C.ClipGradByNorm(1.0)([]) == []


def test_squares_of_float16_do_not_overflow() -> None:
    grads = [paddle.to_tensor(np.full(4, v, "float16")) for v in (3e4, 4e4)]
    pairs = C.ClipGradByGlobalNorm(1.0)([(g, g) for g in grads])
    assert [g.dtype.name for _, g in pairs] == ["float16", "float16"]
    assert length([g.numpy() for _, g in pairs]) == pytest.approx(1.0, rel=3e-3)


def test_dtypes_may_be_mixed() -> None:
    grads = [paddle.to_tensor(np.full(2, 3.0, "float32")), paddle.to_tensor(np.full(2, 4.0))]
    pairs = C.ClipGradByGlobalNorm(1.0)([(g, g) for g in grads])
    assert [g.dtype.name for _, g in pairs] == ["float32", "float64"]
    assert length([g.numpy() for _, g in pairs]) == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize(
    ("make", "kind", "hint"),
    [
        (lambda: C.ClipGradByNorm(0.0), ValueError, "clip_norm must be above 0"),
        (lambda: C.ClipGradByGlobalNorm(-1.0), ValueError, "clip_norm must be above 0"),
        (lambda: C.ClipGradByGlobalNorm("x"), TypeError, "clip_norm must be a number"),
        (lambda: C.ClipGradByValue(1.0, 2.0), ValueError, "min 2.0 is above max 1.0"),
        (lambda: C.ClipGradByValue(-1.0), ValueError, "max must be above 0 without a min"),
        (lambda: C.ClipGradByValue(float("nan")), ValueError, "max is nan"),
        (lambda: P.SGD(0.1, grad_clip=1.0), TypeError, "must be paddle.nn.ClipGradByGlobalNorm"),
        (lambda: C.ClipGradByNorm(1.0)(3), TypeError, r"a list of \(parameter, gradient\) pairs"),
        (lambda: C.ClipGradByNorm(1.0)([3]), TypeError, "entry 0 must be"),
        (
            lambda: C.ClipGradByNorm(1.0)([(3, 4)]),
            TypeError,
            "gradient of entry 0 must be a Tensor",
        ),
    ],
)
def test_wrong_arguments(make: Any, kind: Any, hint: str) -> None:
    with pytest.raises(kind, match=hint):
        make()


def test_texts() -> None:
    assert str(C.ClipGradByValue(1.0)) == "Clip Gradient By Value, min = -1.000000, max=1.000000"
    assert str(C.ClipGradByNorm(1.0)) == "Gradient Clip By Norm, clip_norm=1.000000"
    text = "Gradient Clip By GlobalNorm, global_norm=1.000000"
    assert str(C.ClipGradByGlobalNorm(1.0)) == text

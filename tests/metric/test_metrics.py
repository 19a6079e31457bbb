"""Metrics beside NumPy, scikit-learn and what PaddlePaddle 3.3.1 gives."""

from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import ArgumentError, DTypeError, NotATensorError, ShapeError
from autograd_engine.metric import Accuracy, Auc, Metric, Precision, Recall, accuracy

SCORES = np.array(
    [[0.1, 0.2, 0.3, 0.4], [0.1, 0.4, 0.3, 0.2], [0.1, 0.2, 0.4, 0.3], [0.1, 0.2, 0.3, 0.4]],
    "float32",
)
LABELS = np.array([[0], [1], [2], [3]])


def test_a_metric_defines_four_methods() -> None:
    with pytest.raises(TypeError, match="abstract"):
        Metric()  # type: ignore[abstract]

    class Counted(Metric):
        def __init__(self) -> None:
            self.reset()

        def reset(self) -> None:
            self.rows = 0

        def update(self, x: Any, y: Any) -> None:
            self.rows += len(x)

        def accumulate(self) -> int:
            return self.rows

        def name(self) -> str:
            return "rows"

    metric = Counted()
    assert metric.compute(1, 2) == (1, 2), "outputs and labels themselves"
    metric.update(*metric.compute([1, 2], [3, 4]))
    assert metric.accumulate() == 2


# --- accuracy


def test_accuracy_of_batches() -> None:
    metric = Accuracy()
    assert (metric.name(), metric.accumulate()) == (["acc"], 0.0)
    correct = metric.compute(paddle.to_tensor(SCORES), paddle.to_tensor(LABELS))
    assert (correct.shape, correct.dtype) == ([4, 1], "float32")
    assert correct.tolist() == [[0.0], [1.0], [1.0], [1.0]]
    assert metric.update(correct) == 0.75
    assert metric.update(np.zeros((2, 1))) == 0.0, "of the batch"
    assert metric.accumulate() == 0.5, "of all"
    metric.reset()
    assert metric.accumulate() == 0.0
    assert metric.update(np.ones((0, 1))) == 0.0


@pytest.mark.parametrize("shape", [(60,), (60, 1), (6, 10), (6, 10, 1), "one-hot"], ids=str)
def test_several_top_scores(shape: Any) -> None:
    top_k = pytest.importorskip("sklearn.metrics").top_k_accuracy_score
    rng = np.random.default_rng(0)
    scores, labels = rng.random((60, 7)), rng.integers(0, 7, 60)
    metric = Accuracy(topk=(1, 3, 5), name="share")
    assert metric.name() == ["share_top1", "share_top3", "share_top5"]
    if shape == "one-hot":
        given, truth = scores, np.eye(7)[labels]
    else:
        given = scores.reshape(*(shape if shape[-1] != 1 else shape[:-1]), 7)
        truth = labels.reshape(shape)
    correct = metric.compute(paddle.to_tensor(given), paddle.to_tensor(truth))
    assert correct.shape == [*given.shape[:-1], 5]
    shares = metric.update(correct)
    expected = [top_k(labels, scores, k=k, labels=range(7)) for k in (1, 3, 5)]
    np.testing.assert_allclose(shares, expected, rtol=1e-12)
    np.testing.assert_allclose(metric.accumulate(), expected, rtol=1e-12)
    assert all(type(share) is float for share in shares)


def test_accuracy_takes_arrays() -> None:
    assert Accuracy().compute(SCORES, LABELS).tolist() == [[0.0], [1.0], [1.0], [1.0]]


def test_accuracy_in_a_program(exe: Any) -> None:
    metric = Accuracy(topk=(1, 2))
    main = paddle.static.Program()
    paddle.enable_static()
    with paddle.static.program_guard(main):
        scores = paddle.static.data("scores", [None, 4])
        correct = metric.compute(scores, paddle.static.data("label", [None, 1], "int64"))
    (values,) = exe.run(main, {"scores": SCORES, "label": LABELS}, [correct])
    assert metric.update(values) == [0.75, 0.75]


@pytest.mark.parametrize(
    ("call", "error", "hint"),
    [
        (lambda: Accuracy(topk=2), ArgumentError, r"got 2: topk=\(2,\)"),
        (lambda: Accuracy(topk=()), ArgumentError, "a list or a tuple of ints"),
        (lambda: Accuracy(topk=(0,)), ArgumentError, "1 at least; got 0"),
        (lambda: Accuracy(topk=(True,)), ArgumentError, "got True"),
        (lambda: Accuracy(name=3), ArgumentError, "name must be a str"),
        (lambda: Accuracy(topk=(5,)).compute(SCORES, LABELS), ArgumentError, "has 4 classes; topk"),
        (lambda: Accuracy().compute(SCORES, LABELS * 1.0), DTypeError, "must hold integers"),
        (lambda: Accuracy().compute(SCORES, np.ones((4, 2))), ShapeError, r"one-hot \[4, 4\]"),
        (lambda: Accuracy().compute(SCORES, np.array(1)), ShapeError, r"label must be \[4\]"),
        (lambda: Accuracy().compute(SCORES, LABELS[:1]), ShapeError, r"label must be \[4\]"),
        (lambda: Accuracy().compute(SCORES, np.eye(4)[:1]), ShapeError, r"one-hot \[4, 4\]"),
        (lambda: Accuracy().compute(SCORES[:1], LABELS), ShapeError, r"label must be \[1\]"),
        (lambda: Accuracy().compute(np.float32(1), LABELS), ShapeError, "got a scalar"),
        (lambda: Accuracy().compute("a", LABELS), NotATensorError, "'pred'"),
        (lambda: Accuracy().update([1.0]), NotATensorError, "correct must be a Tensor"),
        (lambda: Accuracy((1, 2)).update(np.ones((4, 1))), ShapeError, r"must be \[..., 2\]"),
    ],
)
def test_accuracy_refuses(call: Any, error: Any, hint: str) -> None:
    with pytest.raises(error, match=hint):
        call()


def test_accuracy_of_one_batch() -> None:
    x, y = paddle.to_tensor(SCORES), paddle.to_tensor(LABELS)
    assert accuracy(x, y).item() == accuracy(x, y.flatten()).item() == 0.75
    assert accuracy(x, y, k=4, name="all").item() == 1.0
    correct, total = paddle.zeros([1], "int32"), paddle.zeros([], "int64")
    assert accuracy(x, y, 1, correct, total).item() == 0.75
    assert (correct.tolist(), total.item()) == ([3], 4)
    assert (correct.dtype, total.dtype) == ("int32", "int64")
    with pytest.raises(NotATensorError, match="total must be a Tensor that is given the count"):
        accuracy(x, y, total=3)
    with pytest.raises(ShapeError, match=r"label must be \[4\] or \[4, 1\]"):
        accuracy(x, y[:2])


# --- precision and recall


@pytest.mark.parametrize(
    ("metric", "name", "reference"),
    [(Precision, "precision", "precision_score"), (Recall, "recall", "recall_score")],
)
def test_precision_and_recall(metric: Any, name: str, reference: str) -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(1)
    scores, labels = rng.random((3, 40)), rng.integers(0, 2, (3, 40))
    counted = metric()
    assert (counted.name(), metric("mine").name(), counted.accumulate()) == (name, "mine", 0.0)
    for batch, truth in zip(scores, labels, strict=True):
        counted.update(paddle.to_tensor(batch[:, None]), paddle.to_tensor(truth[:, None]))
    expected = getattr(sklearn, reference)(labels.ravel(), scores.ravel() >= 0.5)
    assert counted.accumulate() == pytest.approx(expected, rel=1e-12)
    counted.reset()
    assert counted.accumulate() == 0.0


def test_a_half_counts_as_positive() -> None:
    precision, recall = Precision(), Recall()
    for metric in (precision, recall):
        metric.update(np.array([0.1, 0.5, 0.6, 0.7]), np.array([0, 1, 1, 0]))
    assert (precision.tp, precision.fp, recall.tp, recall.fn) == (2, 1, 2, 0)


@pytest.mark.parametrize("metric", [Precision, Recall])
@pytest.mark.parametrize(
    ("preds", "labels", "error", "hint"),
    [
        ([0.1], np.array([0]), NotATensorError, "preds must be a Tensor or an ndarray, got list"),
        (np.array([0.1]), [0], NotATensorError, "labels must be a Tensor"),
        (np.ones(2), np.ones(3), ShapeError, r"as many elements, got shapes \[2\] and \[3\]"),
        (np.ones(2), np.array([1, 2]), ArgumentError, "labels must be 0 or 1, got 2"),
        (np.array([np.nan]), np.array([1]), ArgumentError, "has a NaN"),
        (np.array(["a"]), np.array([1]), DTypeError, "must hold numbers"),
    ],
)
def test_precision_and_recall_refuse(
    metric: Any, preds: Any, labels: Any, error: Any, hint: str
) -> None:
    with pytest.raises(error, match=hint):
        metric().update(preds, labels)


# --- auc


def test_the_area_is_scikit_learns() -> None:
    roc = pytest.importorskip("sklearn.metrics").roc_auc_score
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 2, (4, 50))
    # Scores on the edges of bins, some of them alike, so that nothing is lost by counting.
    scores = (rng.integers(0, 64, (4, 50)) + 8 * labels) / 127
    forms = [
        lambda s: s,
        lambda s: s[:, None],
        lambda s: np.stack([1 - s, s], axis=1),
        lambda s: paddle.to_tensor(np.stack([1 - s, s], axis=1)),
    ]
    area = Auc(num_thresholds=127)
    assert (area.name(), area.accumulate()) == ("auc", 0.0)
    for batch, truth, form in zip(scores, labels, forms, strict=True):
        area.update(form(batch + 1e-9), truth[:, None])
    expected = roc(labels.ravel(), scores.ravel())
    assert area.accumulate() == pytest.approx(expected, rel=1e-12)
    area.reset()
    assert area.accumulate() == 0.0


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "float16", "float32"])
def test_the_area_of_narrow_scores(dtype: str) -> None:
    area = Auc(num_thresholds=10**6)
    area.update(np.array([1, 0, 1], dtype), np.array([1, 0, 0]))
    assert area.accumulate() == 0.75


def test_areas_of_the_reference() -> None:
    area = Auc(num_thresholds=10)
    area.update(np.array([[0.5, 0.5], [0.4, 0.6], [0.3, 0.7]]), np.array([1, 0, 1]))
    assert area.accumulate() == 0.5
    area = Auc()
    preds = np.array([[0.9, 0.1], [0.4, 0.6], [0.3, 0.7], [0.8, 0.2]])
    area.update(preds, np.array([[0], [1], [1], [1]]))
    assert area.accumulate() == 1.0
    area.update(np.array([0.0, 1.0]), np.array([1, 0]))  # both ends have a bin
    assert 0 < area.accumulate() < 1


def test_the_area_is_that_of_a_program(exe: Any) -> None:
    rng = np.random.default_rng(3)
    scores, labels = rng.random((30, 2)).astype("float32"), rng.integers(0, 2, (30, 1))
    area = Auc()
    area.update(scores, labels)
    main, startup = paddle.static.Program(), paddle.static.Program()
    paddle.enable_static()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [None, 2])
        y = paddle.static.data("y", [None, 1], "int64")
        whole, _, _ = paddle.static.auc(x, y)
    exe.run(startup)
    (computed,) = exe.run(main, {"x": scores, "y": labels}, [whole])
    assert area.accumulate() == pytest.approx(float(computed), rel=1e-12)


@pytest.mark.parametrize(
    ("call", "error", "hint"),
    [
        (lambda: Auc("PR"), ArgumentError, "curve must be 'ROC', got 'PR'"),
        (lambda: Auc(num_thresholds=0), ArgumentError, "1 at least; got 0"),
        (lambda: Auc(num_thresholds=True), ArgumentError, "got True"),
        (lambda: Auc(name=1), ArgumentError, "name must be a str"),
        (lambda: Auc().update(np.ones((2, 3)), np.ones(2)), ShapeError, r"got \[2, 3\]"),
        (lambda: Auc().update(np.ones((2, 2)), np.ones(3)), ShapeError, r"\[2\] and \[3\]"),
        (lambda: Auc().update(np.ones(2) * 1.5, np.ones(2)), ArgumentError, "got 1.5: apply soft"),
        (lambda: Auc().update(-np.ones(2), np.ones(2)), ArgumentError, "from 0 to 1, got -1"),
        (lambda: Auc().update(np.ones(2), np.array([1, 3])), ArgumentError, "0 or 1, got 3"),
        (lambda: Auc().update([0.5], np.ones(1)), NotATensorError, "preds must be a Tensor"),
    ],
)
def test_auc_refuses(call: Any, error: Any, hint: str) -> None:
    with pytest.raises(error, match=hint):
        call()

"""Losses and their neighbours: far out, in float16, with infinite logits, with wrong arguments."""

import math

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import (
    ArgumentError,
    DTypeError,
    ExecutionError,
    ModeError,
    ShapeError,
)

from .peers import torch

F = paddle.nn.functional
static = paddle.static
INF = math.inf
DTYPES = ["float16", "float32", "float64"]


def leaf(values, dtype="float64"):
    return paddle.to_tensor(np.asarray(values, dtype), stop_gradient=False)


def with_gradient(function, values, dtype="float64"):
    x = leaf(values, dtype)
    y = function(x)
    (g,) = paddle.grad(y, x, paddle.ones_like(y))
    assert y.numpy().dtype == g.numpy().dtype == dtype
    return y.numpy(), g.numpy()


# --- far out


@pytest.mark.parametrize("dtype", DTYPES)
def test_logits_far_out(dtype):
    x = [[-1e4], [1e4], [-1e4], [1e4]]
    label = np.asarray([[1.0], [1.0], [0.0], [0.0]], dtype)

    def loss(x):
        return F.binary_cross_entropy_with_logits(x, paddle.to_tensor(label), reduction="none")

    y, g = with_gradient(loss, x, dtype)
    np.testing.assert_array_equal(y[:, 0], np.asarray([1e4, 0.0, 0.0, 1e4], dtype))
    np.testing.assert_array_equal(g[:, 0], [-1.0, 0.0, 0.0, 1.0])
    y, g = with_gradient(
        lambda x: F.sigmoid_focal_loss(x, paddle.to_tensor(label), reduction="none"), x, dtype
    )
    expected = np.asarray([0.25 * 1e4, 0.0, 0.0, 0.75 * 1e4], dtype)
    np.testing.assert_allclose(y[:, 0], expected, rtol=1e-3)
    assert np.isfinite(g).all()
    signs = paddle.to_tensor(2.0 * label - 1.0)
    y, g = with_gradient(lambda x: F.soft_margin_loss(x, signs, "none"), x, dtype)
    np.testing.assert_array_equal(y[:, 0], np.asarray([1e4, 0.0, 0.0, 1e4], dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_cross_entropy_far_out(dtype):
    x = [[1e4, -1e4, 0.0], [-1e4, -1e4, 1e4]]
    y, g = with_gradient(
        lambda x: F.cross_entropy(x, paddle.to_tensor([1, 2]), reduction="none"), x, dtype
    )
    np.testing.assert_array_equal(y, np.asarray([2e4, 0.0], dtype))
    np.testing.assert_array_equal(g, [[1.0, -1.0, 0.0], [0.0, 0.0, 0.0]])


def test_small_losses_keep_their_digits():
    """softplus(x) - x has none left at 20."""
    x = paddle.to_tensor([20.0, -20.0])
    y = F.binary_cross_entropy_with_logits(x, paddle.to_tensor([1.0, 0.0]), reduction="none")
    np.testing.assert_allclose(y.numpy(), [math.exp(-20.0)] * 2, rtol=1e-6)


def test_a_mean_whose_sum_leaves_float16():
    x = np.zeros((70_000, 2), np.float16)
    x[:, 0] = 30.0
    label = paddle.ones([70_000], "int64")
    y, g = with_gradient(lambda x: F.cross_entropy(x, label), x, "float16")
    assert y == 30.0
    np.testing.assert_array_equal(g[:, 0], np.full(70_000, np.float16(1 / 70_000)))
    weight = paddle.to_tensor(np.asarray([1.0, 2.0], np.float16))
    assert F.cross_entropy(paddle.to_tensor(x), label, weight).item() == 30.0
    assert F.nll_loss(paddle.to_tensor(-x), 1 - label).item() == 30.0


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_infinite_logit_under_a_label_of_0(dtype):
    x = [[-INF, 1.0, 2.0]]
    label = paddle.to_tensor(np.asarray([[0.0, 1.0, 0.0]], dtype))
    y, g = with_gradient(lambda x: F.cross_entropy(x, label, soft_label=True), x, dtype)
    p = 1.0 / (1.0 + math.e)
    np.testing.assert_allclose(y, -math.log(p), rtol=2e-3)
    np.testing.assert_allclose(g, [[0.0, p - 1.0, 1.0 - p]], atol=2e-3)
    weight = paddle.to_tensor(np.asarray([0.0, 1.0, 1.0], dtype))
    hard = paddle.to_tensor([0])
    y, g = with_gradient(lambda x: F.cross_entropy(x, hard, weight, reduction="sum"), x, dtype)
    assert y == 0.0
    assert not g.any()


def test_probabilities_at_both_ends():
    p = [1.0, 0.0, 1.0, 0.0]
    label = np.asarray([0.0, 1.0, 1.0, 0.0])
    for dtype, bound in (("float64", 1e12), ("float32", 1e12), ("float16", 2.0**14)):
        y, g = with_gradient(
            lambda x, dtype=dtype: F.binary_cross_entropy(
                x, paddle.to_tensor(label.astype(dtype)), reduction="none"
            ),
            p,
            dtype,
        )
        np.testing.assert_array_equal(y, [100.0, 100.0, 0.0, 0.0])
        np.testing.assert_array_equal(g, np.asarray([bound, -bound, -1.0, 1.0], dtype))


# --- labels


@pytest.mark.parametrize("label", [3, -1])
def test_a_label_out_of_range_is_named_with_the_classes(label):
    x = paddle.zeros([1, 3])
    wrong = paddle.to_tensor([label])
    for call in (F.cross_entropy, F.nll_loss, F.softmax_with_cross_entropy, F.multi_margin_loss):
        with pytest.raises(IndexError, match=rf"label {label} is out of range; .* 3 classes"):
            call(x, wrong)
    with pytest.raises(IndexError, match=rf"dice_loss: label {label} .* 3 classes"):
        F.dice_loss(x, wrong.reshape([1, 1]))
    with pytest.raises(IndexError, match=rf"hsigmoid_loss: label {label} .* 3 classes"):
        F.hsigmoid_loss(x, wrong, 3, paddle.zeros([2, 3]))


def test_a_label_out_of_range_in_a_program():
    with static.program_guard(static.Program()):
        x = static.data("x", [None, 3], "float32")
        loss = F.cross_entropy(x, static.data("y", [None], "int64"), ignore_index=7)
        exe = static.Executor()
        feed = {"x": np.zeros((2, 3), "f"), "y": np.asarray([7, 0])}
        (value,) = exe.run(feed=feed, fetch_list=[loss])
        assert value == pytest.approx(math.log(3.0))
        with pytest.raises(ExecutionError, match=r"label 5 .* 3 classes.*or 7 to be ignored"):
            exe.run(feed={**feed, "y": np.asarray([7, 5])}, fetch_list=[loss])


def test_no_label_counts():
    x = [[1.0, 2.0]]
    y, g = with_gradient(lambda x: F.cross_entropy(x, paddle.to_tensor([-100])), x)
    assert y == 0.0
    assert not g.any()
    y, g = with_gradient(lambda x: F.nll_loss(x, paddle.to_tensor([-100])), x)
    assert y == 0.0
    assert not g.any()


# --- connectionist temporal classification


def ctc(x, labels, times, lengths, **options):
    data = [paddle.to_tensor(v) for v in (labels, times, lengths)]
    return F.ctc_loss(x, *data, **options)


def test_no_alignment():
    """Two equal labels need three frames."""
    logits = np.random.default_rng(0).normal(size=(2, 2, 3))
    arguments = ([[2, 2], [1, 2]], [2, 2], [2, 2])
    y, g = with_gradient(lambda x: ctc(x, *arguments, reduction="none"), logits)
    assert y[0] == INF
    assert np.isfinite(y[1])
    assert not g[:, 0].any()
    assert g[:, 1].any()
    y, g = with_gradient(lambda x: ctc(x, *arguments, reduction="none", zero_infinity=True), logits)
    assert y[0] == 0.0
    assert not g[:, 0].any()


def test_impossible_classes_of_alignments():
    """-inf for a class that alignments can do without."""
    logits = np.asarray([[[0.0, 0.0, -INF]], [[0.0, 0.0, 0.0]]])
    y, g = with_gradient(lambda x: ctc(x, [[1]], [2], [1], reduction="none"), logits)
    p = [0.5, 1.0 / 3.0]
    expected = p[0] * p[1] * 3.0
    np.testing.assert_allclose(y, [-math.log(expected)], rtol=1e-12)
    assert np.isfinite(g).all()


def test_long_sequences_keep_their_digits():
    """The logarithm of a probability of exp(-3000): float32 has 4 digits behind the point."""
    rng = np.random.default_rng(1)
    logits = rng.normal(size=(400, 1, 20)) * 6.0
    labels, lengths = rng.integers(1, 20, (1, 60)), [60]
    arguments = (labels, [400], lengths)
    wide, expected = with_gradient(lambda x: ctc(x, *arguments), logits)
    y, g = with_gradient(lambda x: ctc(x, *arguments), logits.astype("float32"), "float32")
    np.testing.assert_allclose(y, wide, rtol=1e-6)
    np.testing.assert_allclose(g, expected, atol=2e-6)
    half = F.ctc_loss(
        paddle.to_tensor((logits / 8.0).astype("float16")),
        *[paddle.to_tensor(v) for v in arguments],
    )
    assert half.dtype.name == "float16"


def test_the_gradient_by_times():
    logits = np.random.default_rng(2).normal(size=(4, 2, 3))
    arguments = ([[1, 2], [2, 1]], [4, 3], [2, 1])
    y, g = with_gradient(lambda x: ctc(x, *arguments, reduction="none"), logits)
    same, scaled = with_gradient(
        lambda x: ctc(x, *arguments, reduction="none", norm_by_times=True), logits
    )
    np.testing.assert_allclose(same, y, rtol=1e-12)
    np.testing.assert_allclose(scaled, g / np.asarray([4.0, 3.0])[:, None], rtol=1e-12)


@pytest.mark.skipif(torch is None, reason="PyTorch is not installed")
def test_alignments_as_pytorch_has_them():
    rng = np.random.default_rng(3)
    logits = rng.normal(size=(12, 3, 5)) * 2.0
    labels = rng.integers(1, 5, (3, 4))
    times, lengths = [12, 9, 7], [4, 3, 1]
    for reduction in ("none", "mean", "sum"):
        y, g = with_gradient(
            lambda x, r=reduction: ctc(x, labels, times, lengths, reduction=r), logits
        )
        x = torch.tensor(logits, requires_grad=True)
        theirs = torch.nn.functional.ctc_loss(
            x.log_softmax(2),
            torch.tensor(labels),
            torch.tensor(times),
            torch.tensor(lengths),
            reduction=reduction,
        )
        theirs.sum().backward()
        np.testing.assert_allclose(y, theirs.detach().numpy(), rtol=1e-10)
        np.testing.assert_allclose(g, x.grad.numpy(), atol=1e-10)


# --- transducers


def rnnt(x, labels, times, lengths, **options):
    data = [paddle.to_tensor(v) for v in (labels, times, lengths)]
    return F.rnnt_loss(x, *data, **{"reduction": "none", "fastemit_lambda": 0.0} | options)


def test_what_emits_a_label_has_more_of_the_gradient():
    """The loss is the same, and so is the gradient of blanks."""
    scores = np.random.default_rng(4).normal(size=(2, 3, 3, 4))
    arguments = ([[1, 2], [3, 1]], [3, 2], [2, 1])
    y, g = with_gradient(lambda x: rnnt(x, *arguments), scores)
    same, more = with_gradient(lambda x: rnnt(x, *arguments, fastemit_lambda=0.1), scores)
    np.testing.assert_array_equal(same, y)
    np.testing.assert_allclose(more, g * np.asarray([1.0, 1.1, 1.1, 1.1]), rtol=1e-12)


def test_long_transducers_keep_their_digits():
    rng = np.random.default_rng(5)
    scores = rng.normal(size=(1, 200, 41, 8)) * 6.0
    arguments = (rng.integers(1, 8, (1, 40)), [200], [40])
    wide, expected = with_gradient(lambda x: rnnt(x, *arguments), scores)
    y, g = with_gradient(lambda x: rnnt(x, *arguments), scores.astype("float32"), "float32")
    np.testing.assert_allclose(y, wide, rtol=1e-6)
    np.testing.assert_allclose(g, expected, atol=2e-5)


def test_transducers_of_impossible_and_unknown_scores():
    """-inf for a move that there are others beside, for one that there are none, and NaN."""
    scores = np.zeros((3, 2, 2, 2))
    scores[0, 0, 0, 1] = scores[1, 1, 1, 0] = -INF
    scores[2, 0, 0, 0] = np.nan
    y, g = with_gradient(lambda x: rnnt(x, [[1]] * 3, [2] * 3, [1] * 3), scores)
    np.testing.assert_array_equal(y, [0.0, INF, np.nan])
    assert np.isfinite(g).all()
    assert g[0].any()
    assert not g[1:].any()


def test_what_transducers_do_not_take():
    x, one = paddle.zeros([1, 2, 2, 3]), paddle.to_tensor([1])
    cases = (
        (lambda: F.rnnt_loss(x, one, one, one), ShapeError, r"label \[batch, longest\]"),
        (lambda: rnnt(x, [[1, 2]], [2], [1]), ShapeError, r"longest \+ 1, classes"),
        (lambda: rnnt(x, [[3]], [2], [1]), IndexError, "label 3 is out of range; with 3"),
        (lambda: rnnt(x, [[1]], [0], [1]), ArgumentError, "input_lengths has 0; .* 1 to 2"),
        (lambda: rnnt(x, [[1]], [2], [2]), ArgumentError, "label_lengths has 2; .* 0 to 1"),
        (lambda: rnnt(x, [[1]], [2], [1], blank=3), ArgumentError, "blank must be a class"),
        (
            lambda: rnnt(x, [[1]], [2], [1], fastemit_lambda=-1.0),
            ArgumentError,
            "fastemit_lambda must not be negative",
        ),
    )
    for call, kind, hint in cases:
        with pytest.raises(kind, match=f"rnnt_loss: .*{hint}"):
            call()


# --- others


def test_attention_of_a_query_that_sees_nothing():
    q = np.random.default_rng(4).normal(size=(1, 2, 1, 3))
    sees = paddle.to_tensor(np.asarray([[True, True], [False, False]]))
    y, g = with_gradient(lambda x: F.scaled_dot_product_attention(x, x, x, sees), q)
    assert not y[0, 1].any()
    assert np.isfinite(g).all()
    # With the causal mask the second key is hidden from the first query.
    both = F.scaled_dot_product_attention(*[paddle.to_tensor(q)] * 3, sees, is_causal=True)
    np.testing.assert_allclose(both.numpy()[0, 0], q[0, 0], rtol=1e-12)


def test_attention_without_a_batch():
    q = np.random.default_rng(5).normal(size=(3, 2, 4))
    x = paddle.to_tensor(q)
    whole = paddle.to_tensor(q[None])
    y = F.scaled_dot_product_attention(x, x, x, is_causal=True).numpy()
    expected = F.scaled_dot_product_attention(whole, whole, whole, is_causal=True).numpy()
    np.testing.assert_array_equal(y, expected[0], strict=True)


def test_dropout_is_shared_along_the_other_axes():
    paddle.seed(0)
    for call, shape, axes in (
        (lambda x: F.dropout2d(x, 0.5), (8, 8, 3, 3), (2, 3)),
        (lambda x: F.dropout3d(x, 0.5), (8, 8, 2, 2, 2), (2, 3, 4)),
        (lambda x: F.dropout(x, 0.5, axis=[0]), (64, 5), (1,)),
        (lambda x: F.feature_alpha_dropout(x, 0.5), (8, 8, 4), (2,)),
    ):
        y = call(paddle.ones(shape)).numpy()
        np.testing.assert_array_equal(y.max(axes), y.min(axes))
        assert len(np.unique(y)) == 2


def test_alpha_dropout_keeps_the_moments():
    paddle.seed(1)
    y = F.alpha_dropout(paddle.randn([40_000]), 0.3).numpy()
    assert abs(y.mean()) < 0.03
    assert abs(y.var() - 1.0) < 0.05
    assert not F.alpha_dropout(paddle.ones([3]), 1.0).numpy().any()


def test_dropout_in_place():
    x = paddle.ones([100])
    assert F.dropout(x, 0.5, inplace=True) is x
    assert set(x.numpy().tolist()) == {0.0, 2.0}


def test_an_embedding_shortens_the_rows_that_it_uses():
    table = paddle.to_tensor([[3.0, 4.0], [6.0, 8.0], [0.3, 0.4]])
    out = F.embedding(paddle.to_tensor([0, 2]), table, max_norm=1.0).numpy()
    np.testing.assert_allclose(out, [[0.6, 0.8], [0.3, 0.4]], rtol=1e-6)
    np.testing.assert_allclose(table.numpy()[1], [6.0, 8.0])


def test_the_length_of_a_mask_is_known_when_it_runs():
    with static.program_guard(static.Program()):
        mask = F.sequence_mask(static.data("n", [None], "int64"), dtype="float32")
        (value,) = static.Executor().run(feed={"n": np.asarray([2, 0])}, fetch_list=[mask])
    assert value.tolist() == [[1.0, 1.0], [0.0, 0.0]]


def test_half_precision_norms():
    x = np.asarray([[300.0, 400.0]], np.float16)
    y, g = with_gradient(F.normalize, x, "float16")
    np.testing.assert_allclose(y, [[0.6, 0.8]], rtol=1e-3)
    zero = paddle.zeros([1, 2], "float16")
    y, _ = with_gradient(lambda x: F.pairwise_distance(x, zero), x, "float16")
    assert y[0] == 500.0
    y, g = with_gradient(lambda x: F.cosine_similarity(x, zero + 1.0), x, "float16")
    np.testing.assert_allclose(y, [700.0 / (500.0 * math.sqrt(2.0))], rtol=1e-3)
    assert np.isfinite(g).all()


X = np.ones((2, 3), np.float32)


def tensor(*shape, dtype="float32"):
    return paddle.ones(shape, dtype)


REFUSED = {
    "reduction": (lambda x: F.l1_loss(x, x, "max"), ArgumentError, "l1_loss: reduction must be"),
    "batchmean": (lambda x: F.kl_div(x, x, "x"), ArgumentError, "'batchmean' or 'none'"),
    "delta": (lambda x: F.smooth_l1_loss(x, x, delta=0.0), ArgumentError, "delta must be above 0"),
    "bce": (lambda x: F.binary_cross_entropy(x, x[0]), ShapeError, "must have one shape"),
    "logits": (
        lambda x: F.binary_cross_entropy_with_logits(x, x[0]),
        ShapeError,
        "logit and label must have one shape",
    ),
    "normalizer": (
        lambda x: F.sigmoid_focal_loss(x, x, x),
        ShapeError,
        "normalizer must have one dimension at most",
    ),
    "dice": (lambda x: F.dice_loss(x, x), DTypeError, "label must hold integers"),
    "dice shape": (
        lambda x: F.dice_loss(x, tensor(2, dtype="int64")),
        ShapeError,
        r"label \[N, ..., 1\]",
    ),
    "variance": (lambda x: F.gaussian_nll_loss(x, x, -x), ArgumentError, "must not be negative"),
    "variance shape": (
        lambda x: F.gaussian_nll_loss(x, x, tensor(3)),
        ShapeError,
        "variance must have the shape of input",
    ),
    "poisson": (lambda x: F.poisson_nll_loss(x, x, epsilon=0), ArgumentError, "above 0"),
    "margin": (lambda x: F.triplet_margin_loss(x, x, x, -1.0), ArgumentError, "not be negative"),
    "triplet": (lambda x: F.triplet_margin_loss(x, x, x[0]), ShapeError, "must have one shape"),
    "function": (
        lambda x: F.triplet_margin_with_distance_loss(x, x, x, 3),
        ArgumentError,
        "distance_function must be callable",
    ),
    "cosine": (
        lambda x: F.cosine_embedding_loss(x, x, tensor(2, 1)),
        ShapeError,
        r"label \[N\]",
    ),
    "multi margin": (lambda x: F.multi_margin_loss(x, x), DTypeError, "must hold integers"),
    "power": (
        lambda x: F.multi_margin_loss(x, tensor(2, dtype="int64"), p=0),
        ArgumentError,
        "p must be at least 1",
    ),
    "npair": (lambda x: F.npair_loss(x, x, x), ShapeError, r"labels \[N\]"),
    "group": (
        lambda x: F.margin_cross_entropy(x, tensor(2, dtype="int64"), group=1),
        ArgumentError,
        "no process groups",
    ),
    "classes": (
        lambda x: F.hsigmoid_loss(x, tensor(2, dtype="int64"), 1, x),
        ArgumentError,
        "2 at least",
    ),
    "paths": (
        lambda x: F.hsigmoid_loss(x, tensor(2, dtype="int64"), 3, x, path_table=x),
        ArgumentError,
        "give both or neither",
    ),
    "cutoffs": (
        lambda x: F.adaptive_log_softmax_with_loss(x, tensor(2, dtype="int64"), x, [], [3, 2]),
        ArgumentError,
        "rising order",
    ),
    "ctc": (
        lambda x: F.ctc_loss(x, *[tensor(2, dtype="int64")] * 3),
        ShapeError,
        r"log_probs must be \[time, batch, classes\]",
    ),
    "ctc length": (
        lambda x: ctc(paddle.zeros([2, 1, 3]), [[1]], [3], [1]),
        ArgumentError,
        "input_lengths has 3; lengths must be in 0 to 2",
    ),
    "ctc label": (
        lambda x: ctc(paddle.zeros([2, 1, 3]), [[3]], [2], [1]),
        IndexError,
        "label 3 is out of range; with 3 classes",
    ),
    "ctc blank": (
        lambda x: ctc(paddle.zeros([2, 1, 3]), [[1]], [2], [1], blank=3),
        ArgumentError,
        "blank must be a class",
    ),
    "attention": (
        lambda x: F.scaled_dot_product_attention(x, x, x),
        ShapeError,
        "batch, sequence, heads, width",
    ),
    "attention mask": (
        lambda x: F.scaled_dot_product_attention(
            *[tensor(1, 2, 1, 2)] * 3, tensor(2, 2, dtype="int64")
        ),
        DTypeError,
        "attn_mask must hold bools or floats",
    ),
    "heads": (
        lambda x: F.scaled_dot_product_attention(
            tensor(1, 2, 3, 2), tensor(1, 2, 2, 2), tensor(1, 2, 2, 2)
        ),
        ShapeError,
        "query has 3 heads, key 2",
    ),
    "dropout2d": (lambda x: F.dropout2d(x), ShapeError, "x must be NCHW"),
    "dropout2d format": (
        lambda x: F.dropout2d(x, data_format="CHW"),
        ArgumentError,
        "'NCHW' or 'NHWC'",
    ),
    "dropout axis": (lambda x: F.dropout(x, axis=2), ShapeError, "axis 2 is out of range"),
    "label_smooth": (lambda x: F.label_smooth(x, epsilon=2.0), ArgumentError, r"in \[0, 1\]"),
    "maxlen": (
        lambda x: F.sequence_mask(tensor(2, dtype="int64"), -1),
        ArgumentError,
        "maxlen must be an int, 0 at least",
    ),
    "mask of bools": (lambda x: F.sequence_mask(x > 0, 2), DTypeError, "x must hold lengths"),
    "mask up to nan": (
        lambda x: F.sequence_mask(tensor(2) * float("nan")),
        ValueError,
        "the longest of x is nan",
    ),
    "beams": (
        lambda x: F.gather_tree(tensor(1, 1, 2, dtype="int64"), 2 * tensor(1, 1, 2, dtype="int64")),
        IndexError,
        "parent 2 is no beam",
    ),
    "bilinear": (lambda x: F.bilinear(x, x, x), ShapeError, r"weight \[out, in1, in2\]"),
    "frequencies": (
        lambda x: F.embedding(tensor(2, dtype="int64"), x, scale_grad_by_freq=True),
        ArgumentError,
        "not supported",
    ),
    "distance": (lambda x: F.pairwise_distance(x, x, "2"), ArgumentError, "p must be a number"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_wrong_arguments(case):
    call, kind, hint = REFUSED[case]
    with pytest.raises(kind, match=hint):
        call(paddle.to_tensor(X))


def test_what_a_program_cannot_know():
    with static.program_guard(static.Program()):
        i = static.data("i", [2], "int64")
        w = static.data("w", [3, 2], "float32")
        with pytest.raises(ModeError, match="give num_classes"):
            F.one_hot(i)
        with pytest.raises(ModeError, match="max_norm writes weight"):
            F.embedding(i, w, max_norm=1.0)

"""What functions that move elements do with sizes nobody knows, wrong arguments, odd dtypes."""

from types import SimpleNamespace

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.eager.tensor import Tensor
from autograd_engine.ops.registry.namespace import raw
from tests.over import before, over

F = paddle.nn.functional
static = paddle.static

SHAPES = {"a": (2, 3), "v": (3,), "s": (), "b": (2, 2, 3), "z": (0, 3), "im": (1, 6, 4, 4)}


def eager():
    return SimpleNamespace(
        **{name: paddle.zeros(list(shape)) for name, shape in SHAPES.items()},
        n=paddle.to_tensor([1, 2]),
    )


def variables():
    return SimpleNamespace(
        **{name: static.data(name, list(shape), "float32") for name, shape in SHAPES.items()},
        n=static.data("n", [2], "int64"),
    )


VALUE, SHAPE, TYPE, INDEX = ValueError, ValueError, TypeError, IndexError
WRONG = {
    "unflatten product": (lambda t: paddle.unflatten(t.a, 1, [2, 2]), SHAPE, "size 3, which canno"),
    "unflatten rest": (lambda t: paddle.unflatten(t.a, 1, [2, -1]), SHAPE, "whose product it is"),
    "unflatten two": (lambda t: paddle.unflatten(t.a, 1, [-1, -1]), VALUE, "one of them may be -1"),
    "unflatten none": (lambda t: paddle.unflatten(t.a, 1, []), VALUE, "must hold sizes"),
    "unflatten beside 0": (lambda t: paddle.unflatten(t.z, 0, [0, -1]), SHAPE, "cannot become"),
    "unflatten axis": (lambda t: paddle.unflatten(t.a, 2, [3]), SHAPE, "axis 2 is out of range"),
    "moveaxis lengths": (lambda t: paddle.moveaxis(t.a, [0, 1], [0]), VALUE, "as many axes"),
    "moveaxis twice": (lambda t: paddle.moveaxis(t.a, [0, 0], [0, 1]), VALUE, "each once"),
    "moveaxis axis": (lambda t: paddle.moveaxis(t.a, 2, 0), SHAPE, "axis 2 is out of range"),
    "swapaxes": (lambda t: paddle.swapaxes(t.a, 0, 2), SHAPE, "axis 2 is out of range"),
    "view size": (lambda t: paddle.view(t.a, [4]), SHAPE, "cannot become"),
    "view bytes": (lambda t: paddle.view(t.a, "float64"), SHAPE, "whole elements of float64"),
    "view 0-d": (lambda t: paddle.view(t.s, "int16"), SHAPE, "a dtype of 4 bytes"),
    "view_as": (lambda t: paddle.view_as(t.a, t.v), SHAPE, "6 elements and cannot become"),
    "atleast none": (lambda t: paddle.atleast_1d(), VALUE, "one array at least"),
    "hstack empty": (lambda t: paddle.hstack([]), VALUE, "x is empty"),
    "hstack one": (lambda t: paddle.hstack(t.a), TYPE, "must be a list or tuple of arrays"),
    "vstack": (lambda t: paddle.vstack([t.a, t.s]), SHAPE, "differ in an axis"),
    "block_diag": (lambda t: paddle.block_diag([t.b]), VALUE, "two dimensions at most, got 3"),
    "split sizes": (lambda t: paddle.split(t.a, [1, 1], 1), VALUE, r"\[1, 1\] must .* up to 3"),
    "split two -1": (lambda t: paddle.split(t.a, [-1, -1], 1), VALUE, "must be sizes"),
    "split str": (lambda t: paddle.split(t.a, "2"), TYPE, "num_or_sections must hold ints"),
    "chunk": (lambda t: paddle.chunk(t.a, 2, 1), VALUE, "size 3, .* not divide into 2 equal parts"),
    "tensor_split": (lambda t: paddle.tensor_split(t.a, 0), VALUE, "1 or more parts, got 0"),
    "tensor_split float": (
        lambda t: paddle.tensor_split(t.a, 1.5),
        TYPE,
        "must be an int, got 1.5",
    ),
    "hsplit 0-d": (lambda t: paddle.hsplit(t.s, 1), SHAPE, "takes 1 dimensions or more"),
    "vsplit": (lambda t: paddle.vsplit(t.v, 1), SHAPE, "takes 2 dimensions or more, got 1"),
    "dsplit": (lambda t: paddle.dsplit(t.a, 1), SHAPE, "takes 3 dimensions or more, got 2"),
    "unstack num": (lambda t: paddle.unstack(t.a, 0, 3), VALUE, "num must be 2, .* got 3"),
    "expand_as": (lambda t: paddle.expand_as(t.a, t.v), SHAPE, r"\[2, 3\] cannot become \[3\]"),
    "expand_as sizes": (lambda t: paddle.expand_as(t.n, t.a), SHAPE, "do not broadcast"),
    "broadcast_tensors": (lambda t: paddle.broadcast_tensors([t.a, t.n]), SHAPE, "do not broadcas"),
    "tile": (lambda t: paddle.tile(t.a, [-1, 1]), VALUE, r"not be negative, got \[-1, 1\]"),
    "tile float": (lambda t: paddle.tile(t.a, 1.5), TYPE, "repeat_times must hold ints"),
    "repeats": (lambda t: paddle.repeat_interleave(t.a, -1, 1), VALUE, "0 at least; got -1"),
    "repeats float": (lambda t: paddle.repeat_interleave(t.a, 1.5), TYPE, "repeats must be an int"),
    "repeats sizes": (lambda t: paddle.repeat_interleave(t.a, t.n, 1), SHAPE, r"have shape \[3\]"),
    "repeats dtype": (lambda t: paddle.repeat_interleave(t.a, t.v, 1), TYPE, "must hold integers"),
    "repeats axis": (
        lambda t: paddle.repeat_interleave(t.a, 2, 2),
        SHAPE,
        "axis 2 is out of range",
    ),
    "flip axis": (lambda t: paddle.flip(t.a, 2), SHAPE, "axis 2 is out of range"),
    "flip twice": (lambda t: paddle.flip(t.a, [0, 0]), SHAPE, "names an axis twice"),
    "flip None": (lambda t: paddle.flip(t.a, None), TYPE, "axis must hold ints, got None"),
    "roll lengths": (lambda t: paddle.roll(t.a, [1, 2], [0]), VALUE, "must have one length"),
    "roll flat": (lambda t: paddle.roll(t.a, [1, 2]), VALUE, "2 shifts need as many axes"),
    "roll 0-d": (lambda t: paddle.roll(t.s, 1, 0), VALUE, "a 0-d array has no axes"),
    "rot90 axes": (lambda t: paddle.rot90(t.a, 1, [0, 0]), VALUE, "two different axes"),
    "rot90 vector": (lambda t: paddle.rot90(t.v), SHAPE, "axis 1 is out of range"),
    "meshgrid rank": (lambda t: paddle.meshgrid(t.v, t.a), SHAPE, r"args\[1\] must have one dim"),
    "meshgrid mode": (lambda t: paddle.meshgrid(t.v, indexing="ji"), VALUE, "must be 'ij' or 'xy'"),
    "cartesian_prod": (lambda t: paddle.cartesian_prod([t.a]), SHAPE, r"x\[0\] must have one dim"),
    "combinations": (
        lambda t: paddle.combinations(t.a),
        SHAPE,
        "one dimension, got 2; use flatten",
    ),
    "combinations r": (lambda t: paddle.combinations(t.v, -1), VALUE, "r must not be negative"),
    "vander": (lambda t: paddle.vander(t.a), SHAPE, "must have one dimension, got 2"),
    "vander n": (lambda t: paddle.vander(t.v, -1), VALUE, "n must not be negative, got -1"),
    "slice lengths": (lambda t: paddle.slice(t.a, [0], [0], [1, 2]), VALUE, "must have one length"),
    "slice axis": (lambda t: paddle.slice(t.a, [2], [0], [1]), SHAPE, "axis 2 is out of range"),
    "stride 0": (lambda t: paddle.strided_slice(t.a, [0], [0], [1], [0]), VALUE, "cannot be 0"),
    "crop size": (lambda t: paddle.crop(t.a, [2, 3], [1, 0]), SHAPE, "2 elements from 1 on do not"),
    "crop offset": (lambda t: paddle.crop(t.a, [1, 1], [-1, 0]), SHAPE, "do not lie in axis 0"),
    "crop lengths": (lambda t: paddle.crop(t.a, [1]), VALUE, "a number for each of the 2 axes"),
    "unfold": (lambda t: paddle.unfold(t.a, 1, 4, 1), SHAPE, "window of 4 does not fit axis 1"),
    "unfold step": (
        lambda t: paddle.unfold(t.a, 1, 2, 0),
        VALUE,
        "step must be a positive int",
    ),
    "as_strided": (
        lambda t: paddle.as_strided(t.a, [2, 4], [3, 1]),
        VALUE,
        "position 6, and x has 6",
    ),
    "as_strided stride": (lambda t: paddle.as_strided(t.a, [2], [-1], 1), VALUE, "negative"),
    "select_scatter": (
        lambda t: paddle.select_scatter(t.a, t.n, 0, 0),
        SHAPE,
        r"shape \[3\], value",
    ),
    "select index": (
        lambda t: paddle.select_scatter(t.a, t.v, 0, 2),
        INDEX,
        "index 2 is out of ran",
    ),
    "slice_scatter": (
        lambda t: paddle.slice_scatter(t.a, t.v, [1], [0], [2], [1]),
        SHAPE,
        "not broadcast to the",
    ),
    "diag": (lambda t: paddle.diag(t.b), SHAPE, "at most two dimensions, got 3; use diagonal"),
    "diagonal vector": (lambda t: paddle.diagonal(t.v), SHAPE, "two dimensions or more, got 1"),
    "diagonal axes": (lambda t: paddle.diagonal(t.a, 0, 1, -1), VALUE, "the two axes must differ"),
    "diagonal offset": (lambda t: paddle.diagonal(t.a, 0.5), TYPE, "offset must be an int"),
    "diag_embed": (lambda t: paddle.diag_embed(t.v, 0, 1, -1), VALUE, "dim1 and dim2 must differ"),
    "diag_embed 0-d": (lambda t: paddle.diag_embed(t.s), SHAPE, "one dimension or more"),
    "trace": (lambda t: paddle.trace(t.v), SHAPE, "trace: takes two dimensions or more"),
    "diagonal_scatter": (
        lambda t: paddle.diagonal_scatter(t.a, t.v),
        SHAPE,
        r"shape \[2\], and what",
    ),
    "pad odd": (lambda t: F.pad(t.a, [1, 1, 1]), VALUE, r"pairs \(before, after\)"),
    "pad negative": (lambda t: F.pad(t.a, [-1, 1]), VALUE, "not be negative, .* use paddle.slice"),
    "pad many": (lambda t: F.pad(t.v, [1, 1, 1, 1]), VALUE, "too many for the 1 axes"),
    "pad mode": (lambda t: F.pad(t.a, [1, 1], "mirror"), VALUE, "mode must be one of constant"),
    "pad rank": (lambda t: F.pad(t.a, [1, 1], "reflect"), VALUE, "takes 3, 4 or 5 dimensions"),
    "pad numbers": (lambda t: F.pad(t.im, [1, 1], "circular"), VALUE, "4 numbers for the axes"),
    "pad far": (
        lambda t: F.pad(t.b, [3, 0], "reflect"),
        SHAPE,
        r"less than .* got \[3, 0\] for axi",
    ),
    "pad layout": (lambda t: F.pad(t.b, [1, 0], data_format="NCHW"), VALUE, "must be NCL or NLC"),
    "pad value": (lambda t: F.pad(t.a, [1, 1], value="0"), VALUE, "value must be a number"),
    "zeropad2d": (lambda t: F.zeropad2d(t.b, [1, 1, 1, 1]), VALUE, "images of 4 dimensions and 4"),
    "pixel_shuffle": (lambda t: F.pixel_shuffle(t.im, 2), SHAPE, "the 6 channels .* divide by 4"),
    "pixel_shuffle 0": (lambda t: F.pixel_shuffle(t.im, 0), VALUE, "must be positive, got 0"),
    "pixel_unshuffle": (lambda t: F.pixel_unshuffle(t.im, 3), SHAPE, "the 4 rows .* divide by 3"),
    "channel_shuffle": (
        lambda t: F.channel_shuffle(t.im, 4),
        SHAPE,
        "6 channels .* number of groups",
    ),
    "channel_shuffle rank": (lambda t: F.channel_shuffle(t.a, 1), SHAPE, "images of 4 dimensions"),
    "channel_shuffle layout": (
        lambda t: F.channel_shuffle(t.im, 2, "NCL"),
        VALUE,
        "'NCHW' or 'NHWC'",
    ),
    "temporal_shift": (lambda t: F.temporal_shift(t.im, 2), SHAPE, "the 1 images .* seg_num"),
    "temporal_shift ratio": (lambda t: F.temporal_shift(t.im, 1, 0.5), VALUE, "between 0 and 0.5"),
}


@over("mode", ["eager", "program"])
@over("name", WRONG, by=before(" "))
def test_wrong_arguments(name, mode):
    call, kind, hint = WRONG[name]
    if mode == "eager":
        with pytest.raises(kind, match=hint):
            call(eager())
        return
    program = static.Program()
    with static.program_guard(program):
        operands = variables()
        before = len(program.global_block().ops)
        with pytest.raises(kind, match=hint):
            call(operands)
    assert len(program.global_block().ops) - before <= 2  # nothing but casts and constants


def test_broadcast_shapes():
    assert paddle.broadcast_shape([2, 1, 3], [4, 1]) == [2, 4, 3]
    assert paddle.broadcast_shapes([2, -1], [1], [3]) == [2, 3]
    assert paddle.broadcast_shapes([-1], [1, 1]) == [1, -1]
    assert paddle.broadcast_shapes([-1], [-1]) == [-1]
    assert paddle.broadcast_shapes() == []
    with pytest.raises(ValueError, match=r"\[2\] and \[3\] do not broadcast: axis -1 has sizes 2"):
        paddle.broadcast_shape([2], [3])


def test_values_of_a_tensor_as_numbers():
    assert paddle.tolist(paddle.to_tensor([[1, 2]])) == [[1, 2]]
    assert paddle.split(paddle.arange(3), [paddle.to_tensor(1), -1])[1].tolist() == [1, 2]
    assert paddle.tile(paddle.arange(2), paddle.to_tensor([2])).tolist() == [0, 1, 0, 1]
    assert paddle.concat([paddle.arange(1)] * 2, axis=paddle.to_tensor(0)).tolist() == [0, 0]


# --- sizes of which a program knows none

UNKNOWN = {
    "flatten": (lambda x: paddle.flatten(x, 1, 2), (2, 3, 2, 2)),
    "flatten all": (lambda x: paddle.flatten(x), (2, 3)),
    "unflatten": (lambda x: paddle.unflatten(x, 1, [2, -1]), (2, 4, 3)),
    "transpose": (lambda x: paddle.rot90(x), (2, 3)),
    "tile": (lambda x: paddle.tile(x, [2, 3, 1, 2]), (2, 1, 3)),
    "repeat_interleave": (lambda x: paddle.repeat_interleave(x, 2, axis=1), (2, 3, 2)),
    "roll": (lambda x: paddle.roll(x, 2), (2, 3)),
    "diagonal": (lambda x: paddle.diagonal(x, 1), (3, 4, 2)),
    "trace": (lambda x: paddle.trace(x), (3, 3)),
    "diag": (lambda x: paddle.diag(x, -1, 2.0), (3,)),
    "diag_embed": (lambda x: paddle.diag_embed(x, 1), (2, 3)),
    "diagonal_scatter": (lambda x: paddle.diagonal_scatter(x, paddle.diagonal(x) * 2.0), (2, 3)),
    "unfold": (lambda x: paddle.unfold(x, 1, 2, 2), (2, 5)),
    "split": (lambda x: paddle.split(x, 2, axis=1)[1], (2, 4)),
    "split sizes": (lambda x: paddle.split(x, [1, 3], axis=1)[1], (2, 4)),
    "unstack": (lambda x: paddle.unstack(x, 1, 2)[1], (3, 2)),
    "tensor_split": (lambda x: paddle.tensor_split(x, [1, -1], axis=1)[1], (2, 4)),
    "crop": (lambda x: paddle.crop(x, [1, -1], [1, 0]), (3, 2)),
    "meshgrid": (lambda x: paddle.meshgrid(x, x * 2.0)[1], (3,)),
    "cartesian_prod": (lambda x: paddle.cartesian_prod([x, x * x]), (3,)),
    "vander": (lambda x: paddle.vander(x, 3), (3,)),
    "hstack": (lambda x: paddle.hstack([x, x]), (2, 3)),
    "pad": (lambda x: F.pad(x, [1, 2]), (2, 3, 2)),
    "reflect": (lambda x: F.pad(x, [1, 2], "reflect"), (2, 3, 4)),
    "circular": (lambda x: F.pad(x, [1, 5], "circular"), (2, 3, 2)),
    "pixel_shuffle": (lambda x: F.pixel_shuffle(x, 2), (1, 4, 2, 3)),
    "pixel_unshuffle": (lambda x: F.pixel_unshuffle(x, 2, "NHWC"), (1, 4, 2, 3)),
    "channel_shuffle": (lambda x: F.channel_shuffle(x, 2), (1, 4, 2, 3)),
}


def gradient_in_a_program(call, value):
    program = static.Program()
    with static.program_guard(program):
        x = static.data("x", [None] * value.ndim, value.dtype)
        x.stop_gradient = False
        y = call(x)
        (g,) = static.gradients([paddle.sum(y * y)], [x])
    return y, *static.Executor().run(program, {"x": value}, [y.name, g.name])


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_program_that_knows_no_size(name):
    call, shape = UNKNOWN[name]
    value = np.random.default_rng(1).uniform(-1.0, 1.0, shape).astype(np.float32)
    variable, result, gradient = gradient_in_a_program(call, value)
    x = Tensor._leaf(value)
    y = call(x)
    (expected,) = paddle.grad([paddle.sum(y * y)], [x])
    np.testing.assert_array_equal(result, y.numpy())
    np.testing.assert_array_equal(gradient, expected.numpy())
    assert len(variable.shape) == y.ndim
    assert all(n in (-1, m) for n, m in zip(variable.shape, y.shape, strict=True))


MISMATCHES = {
    "unflatten": (lambda x: paddle.unflatten(x, 0, [2, -1]), 3, "size 3, which cannot become"),
    "split": (lambda x: paddle.split(x, [1, 1])[0], 3, r"\[1, 1\] must .* add up to 3"),
    "split parts": (lambda x: paddle.split(x, 2)[0], 3, "cannot become"),
    "unstack": (lambda x: paddle.unstack(x, 0, 2)[0], 3, "add up to 3"),
    "unfold": (lambda x: paddle.unfold(x, 0, 3, 1), 2, "window of 3 does not fit"),
    "crop": (lambda x: paddle.crop(x, [2], [1]), 2, "reshape"),
    "as_strided": (lambda x: paddle.as_strided(x, [2], [3]), 3, "index 3 is out of range"),
    "reflect": (
        lambda x: F.pad(paddle.reshape(x, [1, 1, -1]), [2, 0], "reflect"),
        2,
        "less than the size",
    ),
}


@pytest.mark.parametrize("name", MISMATCHES)
def test_what_a_program_could_not_know_is_checked_when_it_runs(name):
    call, size, hint = MISMATCHES[name]
    program = static.Program()
    with static.program_guard(program):
        y = call(static.data("x", [None], "float32"))
    with pytest.raises(Exception, match=hint):
        static.Executor().run(program, {"x": np.zeros(size, np.float32)}, [y.name])


def test_sizes_that_a_program_must_know():
    with static.program_guard(static.Program()):
        x = static.data("x", [None], "float32")
        m = static.data("m", [2, None], "float32")
        for call, hint in (
            (lambda: paddle.tensor_split(x, 2), "no known size to make 2 parts of"),
            (lambda: paddle.unstack(x), "declare it"),
            (lambda: paddle.combinations(x), "declare it"),
            (lambda: paddle.vander(x), "n must say how many columns"),
            (lambda: paddle.block_diag([m]), "declare it"),
        ):
            with pytest.raises(ValueError, match=hint):
                call()


def test_sizes_of_a_running_program():
    program = static.Program()
    with static.program_guard(program):
        x = static.data("x", [None, 3], "float32")
        asked = [paddle.shape(x), paddle.numel(x), paddle.rank(x), paddle.is_empty(x)]
    feed = {"x": np.zeros((2, 3), np.float32)}
    found = static.Executor().run(program, feed, [v.name for v in asked])
    assert [v.tolist() for v in found] == [[2, 3], 6, 2, False]
    assert [v.dtype.name for v in found] == ["int64", "int64", "int32", "bool"]


def test_repeats_that_a_program_computes():
    program = static.Program()
    with static.program_guard(program):
        x = static.data("x", [2], "float32")
        y = paddle.repeat_interleave(x, static.data("n", [2], "int64"), axis=0)
        assert y.shape == (-1,)
    feed = {"x": np.asarray([1.0, 2.0], np.float32), "n": np.asarray([0, 3])}
    (found,) = static.Executor().run(program, feed, [y.name])
    assert found.tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize(
    ("counts", "total", "hint"), [([2, -1], None, "got -1"), ([2, 1], 4, "add up to 3, and")]
)
def test_repeats_with_wrong_values(counts, total, hint):
    x, n = paddle.zeros([2]), paddle.to_tensor(counts)
    with pytest.raises(ValueError, match=hint):
        paddle.repeat_interleave(x, n, 0, output_size=total)


# --- dtypes and memory


def test_sums_of_many_half_precision_cotangents():
    """2048 + 1 is 2048 in float16; what is repeated 4096 times has the gradient 4096."""
    x = Tensor._leaf(np.ones(1, np.float16))
    for y in (paddle.tile(x, [4096]), paddle.repeat_interleave(x, 4096)):
        (g,) = paddle.grad([y], [x])
        assert g.tolist() == [4096.0]
    image = Tensor._leaf(np.ones((1, 1, 1), np.float16))
    (g,) = paddle.grad([F.pad(image, [2048, 2047], "replicate")], [image])
    assert g.tolist() == [[[4096.0]]]


def test_dtypes():
    ints = paddle.to_tensor(np.asarray([[1, 2], [3, 4]], np.int32))
    assert paddle.trace(ints).dtype == "int32"
    assert paddle.diag(ints[0], padding_value=2.7).tolist() == [[1, 2], [2, 2]]
    assert F.pad(ints, [1, 0, 0, 0], value=2.7).tolist() == [[2, 2], [1, 2], [3, 4]]
    scattered = paddle.select_scatter(ints, paddle.to_tensor([0.5, 7.5]), 0, 0)
    assert (scattered.dtype, scattered.tolist()) == ("int32", [[0, 7], [3, 4]])
    assert paddle.flip(paddle.to_tensor([True, False]), 0).tolist() == [False, True]
    assert paddle.vander(ints[0], 3).dtype == "int32"


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_bits_come_back(dtype):
    x = paddle.to_tensor(np.asarray([[1, 2], [3, 4]], dtype))
    assert paddle.view(paddle.view(x, "uint8"), dtype).tolist() == x.tolist()


def test_gradients_that_are_views():
    """A padded, flipped or windowed array costs no memory where a view will do."""
    g = np.zeros((4, 6), np.float32)
    for view in (
        raw.unpad(g, pads=((1, 0), (2, 3))),
        raw.flip(g, axis=(0, 1)),
        raw.diagonal(g),
        raw.windows(g, axis=1, size=3, step=2),
        raw.broadcast_like(g, np.zeros((2, 1, 1))),
    ):
        assert np.shares_memory(view, g)


def test_infinities_stay_in_their_places():
    """No product with a mask, which would make NaN of them."""
    x = Tensor._leaf(np.asarray([np.inf, 1.0], np.float32))
    assert paddle.diag(x).tolist() == [[np.inf, 0.0], [0.0, 1.0]]
    replaced = paddle.diagonal_scatter(paddle.diag(x), paddle.ones([2]))
    assert replaced.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    (g,) = paddle.grad([replaced], [x])
    assert g.tolist() == [0.0, 0.0]


def test_nothing_to_move():
    empty = paddle.zeros([0, 3])
    assert paddle.roll(empty, 1).shape == [0, 3]
    assert paddle.flip(empty, [0, 1]).shape == [0, 3]
    assert paddle.tile(empty, [2, 2]).shape == [0, 6]
    assert paddle.repeat_interleave(empty, 2, axis=1).shape == [0, 6]
    assert F.pad(empty, [1, 0, 0, 0]).tolist() == [[0.0, 0.0, 0.0]]
    assert F.pad(paddle.zeros([1, 0, 2]), [1, 1], "reflect").shape == [1, 0, 4]
    assert paddle.diag(paddle.zeros([0])).shape == [0, 0]
    assert paddle.combinations(paddle.zeros([2]), 3).shape == [0, 3]
    assert [p.shape[0] for p in paddle.tensor_split(paddle.zeros([2]), 3)] == [1, 1, 0]

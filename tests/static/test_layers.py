"""`static.nn`: parameters, their names and starts, shapes, and wrong arguments."""

from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import ArgumentError

pytestmark = pytest.mark.usefixtures("static_mode")

static = paddle.static
nn = static.nn


def image(channels: int = 3) -> Any:
    return static.data("image", [None, channels, 8, 8])


def parameters() -> dict[str, tuple[int, ...]]:
    return {p.name: p.shape for p in static.default_main_program().all_parameters()}


def start() -> Any:
    exe = static.Executor()
    exe.run(static.default_startup_program())
    return exe


def values(*names: str) -> list[Any]:
    start()
    scope = static.global_scope()
    return [np.array(scope.find_var(n).get_tensor()) for n in names]


# --- fc


def test_fc_without_a_name() -> None:
    out = nn.fc(static.data("x", [None, 4]), 3, activation="relu")
    assert parameters() == {"fc_0.w_0": (4, 3), "fc_0.b_0": (3,)}
    assert (out.name, out.shape) == ("fc_0.tmp_2", (-1, 3))


def test_a_name_used_twice_counts_on() -> None:
    x = static.data("x", [None, 4])
    for _ in range(2):
        nn.fc(x, 3, name="my_fc")
    assert list(parameters()) == ["my_fc.w_0", "my_fc.b_0", "my_fc.w_1", "my_fc.b_1"]


def test_fc_flattens() -> None:
    x = static.data("x", [None, 5, 4])
    assert nn.fc(x, 3).shape == (-1, 3)
    assert nn.fc(x, 3, num_flatten_dims=2).shape == (-1, 5, 3)
    assert list(parameters().values()) == [(20, 3), (3,), (4, 3), (3,)]


def test_fc_of_several_inputs_sums_their_products() -> None:
    x, y = static.data("x", [None, 4]), static.data("y", [None, 2])
    attr = paddle.nn.initializer.Constant(1.0)
    out = nn.fc([x, y], 3, weight_attr=attr)
    assert list(parameters()) == ["fc_0.w_0", "fc_0.w_1", "fc_0.b_0"]
    feed = {"x": np.ones((1, 4), "float32"), "y": np.ones((1, 2), "float32")}
    assert start().run(feed=feed, fetch_list=[out])[0].tolist() == [[6.0, 6.0, 6.0]]


def test_no_bias() -> None:
    nn.fc(static.data("x", [None, 4]), 3, bias_attr=False)
    assert parameters() == {"fc_0.w_0": (4, 3)}


def test_a_shared_name_is_one_parameter() -> None:
    x = static.data("x", [None, 4])
    attr = paddle.ParamAttr(name="W")
    nn.fc(nn.fc(x, 4, weight_attr=attr, bias_attr=False), 4, weight_attr="W", bias_attr=False)
    assert parameters() == {"W": (4, 4)}
    assert len(static.default_startup_program().global_block().ops) == 1


def test_a_shared_name_of_another_shape() -> None:
    x = static.data("x", [None, 4])
    nn.fc(x, 4, weight_attr="W")
    with pytest.raises(ArgumentError, match=r"'W' has been created before, with shape \[4, 4\]"):
        nn.fc(x, 5, weight_attr="W")


def test_how_parameters_start() -> None:
    nn.fc(static.data("x", [None, 300]), 100)
    nn.conv2d(image(), 64, 5)
    nn.embedding(static.data("ids", [None], "int64"), [100, 60])
    weight, bias, kernel, _, table = values(*parameters())
    limit = np.sqrt(6.0 / 400)
    assert np.abs(weight).max() <= limit
    np.testing.assert_allclose(weight.std(), limit / np.sqrt(3), rtol=0.03)
    assert not bias.any()
    np.testing.assert_allclose(kernel.std(), np.sqrt(2.0 / (5 * 5 * 3)), rtol=0.05)
    assert np.abs(table).max() <= np.sqrt(6.0 / 160)


def test_a_seed_repeats_the_start() -> None:
    nn.fc(static.data("x", [None, 3]), 2)
    drawn = []
    for _ in range(2):
        paddle.seed(7)
        drawn.append(values("fc_0.w_0")[0].tolist())
    assert drawn[0] == drawn[1]


def test_an_initializer_may_stand_for_the_attribute() -> None:
    nn.fc(static.data("x", [None, 2]), 1, weight_attr=paddle.nn.initializer.Assign([[1.0], [2.0]]))
    assert values("fc_0.w_0")[0].tolist() == [[1.0], [2.0]]


@pytest.mark.parametrize(
    ("arguments", "kind", "hint"),
    [
        ({"size": 0}, ValueError, "size must be a positive int, got 0"),
        ({"size": "3"}, ValueError, "size must be a positive int"),
        ({"size": 3, "activation": "nope"}, ValueError, "activation must be one of relu,"),
        ({"size": 3, "num_flatten_dims": 2}, ValueError, r"num_flatten_dims=2 must be 1 to 1"),
        ({"size": 3, "num_flatten_dims": 0}, ValueError, "num_flatten_dims=0 must be 1 to 1"),
        ({"size": 3, "weight_attr": 3}, ValueError, "must be a ParamAttr, a name, an initializer"),
        ({"size": 3, "x": np.ones((2, 3))}, TypeError, "x must be a Variable.*got ndarray"),
        ({"size": 3, "x": None}, TypeError, "x must be a Variable.*got NoneType"),
        ({"size": 3, "x": []}, ValueError, "fc: x"),
    ],
)
def test_wrong_arguments_of_fc(arguments: Any, kind: Any, hint: str) -> None:
    x = static.data("x", [None, 4])
    with pytest.raises(kind, match=hint):
        nn.fc(**{"x": x, **arguments})


def test_fc_needs_floats_and_a_known_width() -> None:
    with pytest.raises(TypeError, match="x must be floating, got int64: cast it first"):
        nn.fc(static.data("ids", [None, 4], "int64"), 3)
    with pytest.raises(ValueError, match="from axis 1 on must be known"):
        nn.fc(static.data("open", [4, None]), 3)


def test_a_refused_layer_leaves_nothing_behind() -> None:
    x = static.data("x", [None, 4])
    text = repr(static.default_main_program())
    with pytest.raises(ValueError, match="activation must be one of"):
        nn.fc(x, 3, activation="nope")
    assert repr(static.default_main_program()) == text
    assert not static.default_startup_program().global_block().ops


# --- embedding


def test_embedding() -> None:
    ids = static.data("ids", [None, 13], "int64")
    out = nn.embedding(ids, size=[100, 256])
    assert (out.name, out.shape) == ("embedding_0.tmp_0", (-1, 13, 256))
    assert parameters() == {"embedding_0.w_0": (100, 256)}


def test_the_padding_row_reads_as_zeros_and_learns_nothing() -> None:
    ids = static.data("ids", [3], "int64")
    attr = paddle.nn.initializer.Constant(1.0)
    out = nn.embedding(ids, [4, 2], padding_idx=1, param_attr=attr)
    ((_, grad),) = static.append_backward(paddle.sum(out))
    rows, by_table = start().run(feed={"ids": [0, 1, 3]}, fetch_list=[out, grad])
    assert rows.tolist() == [[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]]
    assert by_table.tolist() == [[1.0, 1.0], [0.0, 0.0], [0.0, 0.0], [1.0, 1.0]]


@pytest.mark.parametrize(
    ("arguments", "kind", "hint"),
    [
        ({"size": [4]}, ValueError, "size must be an int or two ints of at least 1"),
        ({"size": [4, 0]}, ValueError, "size must be"),
        ({"padding_idx": 4}, ValueError, "padding_idx 4 is no row of 4"),
        ({"is_distributed": True}, ValueError, "is_distributed=True is not supported; leave it"),
        ({"input": np.zeros(3, "int64")}, TypeError, "input must be a Variable"),
    ],
)
def test_wrong_arguments_of_embedding(arguments: Any, kind: Any, hint: str) -> None:
    ids = static.data("ids", [None], "int64")
    with pytest.raises(kind, match=hint):
        nn.embedding(**{"input": ids, "size": [4, 2], **arguments})


def test_embedding_needs_integers() -> None:
    with pytest.raises(TypeError, match="got float32: declare it with dtype='int64'"):
        nn.embedding(static.data("x", [None]), [4, 2])


def test_an_index_out_of_range_is_named() -> None:
    out = nn.embedding(static.data("ids", [1], "int64"), [4, 2])
    exe = start()
    for bad in (4, -1):
        with pytest.raises(RuntimeError, match=f"{bad} is out of range; it must be in 0 to 3"):
            exe.run(feed={"ids": [bad]}, fetch_list=[out])


# --- convolution and normalisation


def test_conv2d() -> None:
    out = nn.conv2d(image(), 4, 3, stride=2, padding=1, act="relu")
    assert parameters() == {"conv2d_0.w_0": (4, 3, 3, 3), "conv2d_0.b_0": (4,)}
    assert out.shape == (-1, 4, 4, 4)


def test_conv2d_with_the_channels_last() -> None:
    x = static.data("x", [None, 8, 8, 3])
    out = nn.conv2d(x, 4, (3, 1), data_format="NHWC")
    assert parameters() == {"conv2d_0.w_0": (4, 3, 3, 1), "conv2d_0.b_0": (4,)}
    assert out.shape == (-1, 6, 8, 4)


def test_conv2d_groups() -> None:
    nn.conv2d(image(4), 6, (1, 3), groups=2, bias_attr=False)
    assert parameters() == {"conv2d_0.w_0": (6, 2, 1, 3)}


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ({"num_filters": 0}, "num_filters must be a positive int"),
        ({"filter_size": 0}, "filter_size must be an int or two ints of at least 1"),
        ({"stride": (1, 2, 3)}, "stride must be an int or two ints"),
        ({"groups": 2}, "3 channels and 4 filters must divide into 2 groups"),
        ({"groups": 0}, "groups must be a positive int"),
        ({"padding": "same-ish"}, "padding must be 'SAME', 'VALID' or numbers"),
        ({"padding": -1}, "padding must hold non-negative ints"),
        ({"data_format": "CHWN"}, "data_format must be 'NCHW' or 'NHWC'"),
        ({"filter_size": 99}, "conv2d"),
        ({"act": "nope"}, "act must be one of"),
    ],
)
def test_wrong_arguments_of_conv2d(arguments: Any, hint: str) -> None:
    x = image()
    text = repr(static.default_main_program())
    with pytest.raises(ValueError, match=hint):
        nn.conv2d(**{"input": x, "num_filters": 4, "filter_size": 3, **arguments})
    assert repr(static.default_main_program()) == text


def test_conv2d_needs_four_axes() -> None:
    with pytest.raises(ValueError, match=r"input must be \[N, C, H, W\] with a known C"):
        nn.conv2d(static.data("x", [None, 3]), 4, 3)


@pytest.mark.parametrize("function", [nn.fc, paddle.nn.functional.linear])
def test_unknown_leading_sizes_stay(function: Any) -> None:
    x = static.data("x", [None, None, 4])
    if function is nn.fc:
        out = nn.fc(x, 3, num_flatten_dims=2)
    else:
        out = function(x, static.create_parameter([4, 3], "float32"))
    assert out.shape == (-1, -1, 3)
    assert out.spec.shape[:2] == x.spec.shape[:2]
    (value,) = start().run(feed={"x": np.ones((2, 5, 4), "float32")}, fetch_list=[out])
    assert value.shape == (2, 5, 3)


@pytest.mark.parametrize("keep", [1, 2, 3])
def test_fc_keeps_as_many_unknown_axes_as_it_is_told(keep: int) -> None:
    declared = [None] * keep + [2, 3, 4][keep - 1 :]
    x = static.data("x", declared)
    out = nn.fc(x, 5, num_flatten_dims=keep, bias_attr=False, weight_attr="w")
    value = np.random.default_rng(1).standard_normal((6, 2, 3, 4)[-len(declared) :])
    feed = {"x": value.astype("float32")}
    result, w = start().run(feed=feed, fetch_list=[out, "w"])
    expected = feed["x"].reshape(-1, w.shape[0]) @ w
    np.testing.assert_array_equal(result, expected.reshape(*value.shape[:keep], 5))


def test_a_padding_row_of_a_table_with_unknown_rows() -> None:
    ids, table = static.data("ids", [None], "int64"), static.data("table", [None, 2])
    out = paddle.nn.functional.embedding(ids, table, padding_idx=1)
    feed = {"ids": np.array([0, 1, 2]), "table": np.ones((3, 2), "float32")}
    (value,) = start().run(feed=feed, fetch_list=[out])
    assert value.tolist() == [[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]]
    with pytest.raises(ValueError, match=r"padding_idx -1 counts from the end.*declare it"):
        paddle.nn.functional.embedding(ids, table, padding_idx=-1)


def test_batch_norm_follows_the_batch_and_then_uses_what_it_saw() -> None:
    x = static.data("x", [None, 2])
    attr = {"param_attr": "scale", "bias_attr": "shift"}
    trained = nn.batch_norm(x, momentum=0.5, name="bn", **attr)
    assert list(parameters()) == ["scale", "shift", "bn.w_0", "bn.w_1"]
    trainable = [p.name for p in static.default_main_program().all_parameters() if p.trainable]
    assert trainable == ["scale", "shift"]
    batch = np.array([[1.0, 10.0], [3.0, 30.0]], "float32")
    exe = start()
    (out,) = exe.run(feed={"x": batch}, fetch_list=[trained])
    np.testing.assert_allclose(out, [[-1, -1], [1, 1]], rtol=1e-4)
    scope = static.global_scope()
    mean, variance = (np.array(scope.find_var(f"bn.w_{k}").get_tensor()) for k in (0, 1))
    assert mean.tolist() == [1.0, 10.0]
    assert variance.tolist() == [1.0, 50.5]


def test_batch_norm_in_test_mode_writes_nothing() -> None:
    x = static.data("x", [None, 2])
    out = nn.batch_norm(x, is_test=True, epsilon=0.0, name="bn")
    exe = start()
    (value,) = exe.run(feed={"x": np.full((1, 2), 4.0, "float32")}, fetch_list=[out])
    assert value.tolist() == [[4.0, 4.0]]
    names = static.global_scope().local_var_names()
    kept = [np.array(static.global_scope().find_var(n).get_tensor()).tolist() for n in names]
    assert sorted(kept) == [[0.0, 0.0], [0.0, 0.0], [1.0, 1.0], [1.0, 1.0]]


def test_layer_norm() -> None:
    x = static.data("x", [None, 2, 3])
    out = nn.layer_norm(x)
    assert parameters() == {"layer_norm_0.w_0": (6,), "layer_norm_0.b_0": (6,)}
    assert out.shape == (-1, 2, 3)
    nn.layer_norm(x, scale=False, shift=False, begin_norm_axis=2)
    assert len(parameters()) == 2


def test_layer_norm_needs_known_sizes() -> None:
    x = static.data("x", [None, 2])
    for axis, said in (0, "needs known sizes from axis 0 on"), (2, "2 is out of range"):
        with pytest.raises(ValueError, match=said):
            nn.layer_norm(x, begin_norm_axis=axis)


@pytest.mark.parametrize("layer", ["fc", "embedding", "conv2d", "batch_norm", "layer_norm"])
def test_layers_refuse_eager_tensors(layer: str) -> None:
    paddle.disable_static()
    arguments = {"fc": (3,), "embedding": ([4, 2],), "conv2d": (4, 3)}.get(layer, ())
    with pytest.raises(TypeError, match=r"must be a Variable of a program \(paddle.static.data"):
        getattr(nn, layer)(paddle.ones([2, 2]), *arguments)


def test_create_parameter_and_its_errors() -> None:
    w = static.create_parameter([2, 3], "float32", is_bias=True)
    assert w.name.startswith("create_parameter_")
    assert w.name.endswith(".b_0")
    assert values(w.name)[0].tolist() == [[0.0] * 3] * 2
    with pytest.raises(ValueError, match="must be positive ints; size 1"):
        static.create_parameter([2, 0], "float32")
    with pytest.raises(TypeError, match="dtype must be floating or complex, got int64"):
        static.create_parameter([2], "int64")
    with pytest.raises(ValueError, match=r"the parameter has shape \[2\], the value \[3\]"):
        static.create_parameter(
            [2], "float32", default_initializer=paddle.nn.initializer.Assign([1.0, 2.0, 3.0])
        )
    paddle.disable_static()
    with pytest.raises(AssertionError, match=r"call paddle\.enable_static\(\) first"):
        static.create_parameter([2], "float32")


def test_accuracy() -> None:
    scores, label = static.data("scores", [None, 3]), static.data("label", [None, 1], "int64")
    best, two = static.accuracy(scores, label), static.accuracy(scores, label, k=2)
    feed = {
        "scores": np.array([[3.0, 2.0, 1.0], [1.0, 2.0, 3.0]], "float32"),
        "label": np.array([[1], [2]]),
    }
    assert [v.item() for v in start().run(feed=feed, fetch_list=[best, two])] == [0.5, 1.0]

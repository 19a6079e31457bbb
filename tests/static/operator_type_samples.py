"""Samples of the operator types of Paddle 2.6: inputs and outputs by slot, attributes.

They are drawn by type and number, so that a new one leaves the numbers of others alone. Nothing but
NumPy is needed here: Paddle itself reads this file (`operator_type_reference`).
"""

import zlib

import numpy as np

SAMPLES = {}


def f(*shape, lo=-1.5, hi=1.5):
    return lambda rng: rng.uniform(lo, hi, shape).astype("float32")


def pos(*shape):
    return f(*shape, lo=0.3, hi=1.8)


def i(*shape, lo=0, hi=3, dt="int64"):
    return lambda rng: rng.integers(lo, hi, shape).astype(dt)


def flags(*shape):
    return i(*shape, hi=2, dt="bool")


def probs(*shape):
    """Rows that add up to 1."""

    def make(rng):
        x = np.exp(rng.uniform(-1.5, 1.5, shape))
        return (x / x.sum(-1, keepdims=True)).astype("float32")

    return make


def logs(*shape):
    return lambda rng: np.log(probs(*shape)(rng))


def matrix(n, symmetric=False):
    """One that can be inverted."""

    def make(rng):
        x = np.eye(n) * 2 + 0.3 * rng.uniform(size=(n, n))
        return (x @ x.T if symmetric else x).astype("float32")

    return make


def fixed(values, dtype=None):
    return lambda rng: np.array(values, dtype)


def case(type, inputs, outputs, **attrs):
    found = SAMPLES.setdefault(type, [])
    rng = np.random.default_rng(zlib.crc32(f"{type}{len(found)}".encode()))
    made = {
        slot: [v(rng) for v in value] if isinstance(value, list) else [value(rng)]
        for slot, value in inputs.items()
    }
    listed = outputs.split() if isinstance(outputs, str) else outputs
    found.append((made, listed, attrs))


A = f(2, 3, 4)
for t in ["add", "sub", "mul", "div", "max", "min", "pow", "mod", "fmax", "fmin"]:
    x, y = (pos, pos) if t in ("pow", "mod", "div") else (f, f)
    case("elementwise_" + t, {"X": x(2, 3, 4), "Y": y(2, 3, 4)}, "Out")
    case("elementwise_" + t, {"X": x(2, 3, 4), "Y": y(3)}, "Out", axis=1)
    case("elementwise_" + t, {"X": x(2, 3, 4), "Y": y(4)}, "Out", axis=-1)
    case("elementwise_" + t, {"X": x(2, 3, 4), "Y": y(2, 3)}, "Out", axis=0)
case("elementwise_floordiv", {"X": i(2, 3, lo=1, hi=20), "Y": i(2, 3, lo=1, hi=5)}, "Out")
case("elementwise_add", {"X": f(2, 3, 4), "Y": f(3, 1)}, "Out", axis=1)
for t in ["equal", "not_equal", "less_than", "less_equal", "greater_than", "greater_equal"]:
    case(t, {"X": i(2, 3), "Y": i(2, 3)}, "Out")
for t in ["logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor"]:
    case(t, {"X": flags(2, 3), "Y": flags(2, 3)}, "Out")
case("logical_not", {"X": flags(2, 3)}, "Out")
case("bitwise_not", {"X": i(2, 3)}, "Out")
case("equal_all", {"X": i(2, 3), "Y": i(2, 3)}, "Out")
case("minus", {"X": A, "Y": A}, "Out")
case("atan2", {"X1": A, "X2": pos(2, 3, 4)}, "Out")
case("allclose", {"Input": A, "Other": A}, "Out")
for t in [
    "abs",
    "asin",
    "acos",
    "atan",
    "atanh",
    "asinh",
    "ceil",
    "cos",
    "cosh",
    "erf",
    "exp",
    "expm1",
    "floor",
    "round",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "square",
    "tan",
    "tanh",
    "relu",
    "relu6",
    "silu",
    "softsign",
    "logsigmoid",
    "tanh_shrink",
    "isfinite_v2",
    "isnan_v2",
    "isinf_v2",
    "leaky_relu",
    "elu",
    "celu",
    "selu",
    "gelu",
    "hard_shrink",
    "softshrink",
    "thresholded_relu",
    "softplus",
    "stanh",
    "brelu",
    "hard_sigmoid",
    "softmax",
    "log_softmax",
    "mish",
    "hard_swish",
    "swish",
    "trunc",
]:
    x = (
        f(2, 5, lo=-0.9, hi=0.9)
        if t in ("asin", "acos", "atanh", "erfinv")
        else f(2, 5, lo=-2.2, hi=2.2)
    )
    case(t, {"X": x}, "Out")
case("erfinv", {"X": f(2, 5, lo=-0.9, hi=0.9)}, "Out")
case("acosh", {"X": f(2, 5, lo=1.3, hi=2.8)}, "Out")
for t in ["digamma", "lgamma", "log", "log10", "log1p", "log2", "reciprocal", "rsqrt", "sqrt"]:
    case(t, {"X": pos(2, 5)}, "Out")
case("logit", {"X": f(2, 5, lo=0.1, hi=0.9)}, "Out", eps=1e-6)
case("leaky_relu", {"X": A}, "Out", alpha=0.3)
case("elu", {"X": A}, "Out", alpha=0.7)
case("gelu", {"X": A}, "Out", approximate=True)
case("softshrink", {"X": A}, "Out", **{"lambda": 0.2})
case("softplus", {"X": A}, "Out", beta=2.0, threshold=3.0)
case("brelu", {"X": A}, "Out", t_min=-0.5, t_max=0.5)
case("hard_sigmoid", {"X": A}, "Out", slope=0.3, offset=0.4)
case("hard_swish", {"X": A}, "Out", threshold=5.0, scale=7.0, offset=2.0)
case("softmax", {"X": A}, "Out", axis=1)
case("maxout", {"X": f(2, 4, 3, 3)}, "Out", groups=2, axis=1)
case("prelu", {"X": f(2, 3, 2, 2), "Alpha": pos(1)}, "Out", mode="all")
case("prelu", {"X": f(2, 3, 2, 2), "Alpha": pos(3)}, "Out", mode="channel")
case("prelu", {"X": f(2, 3, 2, 2), "Alpha": pos(1, 3, 2, 2)}, "Out", mode="element")
case("scale", {"X": A}, "Out", scale=2.0, bias=1.0)
case("scale", {"X": A}, "Out", scale=2.0, bias=1.0, bias_after_scale=False)
case("scale", {"X": A}, "Out", scale=3.0)
case("pow", {"X": pos(2, 3)}, "Out", factor=2.5)
case("pow", {"X": pos(2, 3)}, "Out", factor=2.0)
case("clip", {"X": A}, "Out", min=-0.5, max=0.7)
case("clip_by_norm", {"X": A}, "Out", max_norm=1.5)
case("increment", {"X": f(1)}, "Out", step=2.0)
case("dropout", {"X": A}, "Out Mask", dropout_prob=0.3, is_test=True)
case(
    "dropout",
    {"X": A},
    "Out",
    dropout_prob=0.3,
    is_test=True,
    dropout_implementation="upscale_in_train",
)
case("mul", {"X": f(2, 3, 4), "Y": f(12, 5)}, "Out")
case("mul", {"X": f(2, 3, 4), "Y": f(4, 5)}, "Out", x_num_col_dims=2)
case("mul", {"X": f(2, 12), "Y": f(3, 4, 5)}, "Out", y_num_col_dims=2)
case("mul", {"X": f(2, 3), "Y": f(3, 4, 5)}, "Out")
case("matmul", {"X": f(2, 3), "Y": f(4, 3)}, "Out", transpose_Y=True, alpha=2.0)
case("matmul_v2", {"X": f(2, 3, 4), "Y": f(4, 5)}, "Out")
case("matmul_v2", {"X": f(3, 2), "Y": f(3, 4)}, "Out", trans_x=True)
case("bmm", {"X": f(2, 3, 4), "Y": f(2, 4, 2)}, "Out")
case("dot", {"X": f(4), "Y": f(4)}, "Out")
case("mv", {"X": f(3, 4), "Vec": f(4)}, "Out")
case("kron", {"X": f(2, 2), "Y": f(2, 3)}, "Out")
case("addmm", {"Input": f(2, 3), "X": f(2, 4), "Y": f(4, 3)}, "Out", Alpha=2.0, Beta=0.5)
case("cross", {"X": f(2, 3), "Y": f(2, 3)}, "Out")
case(
    "bilinear_tensor_product",
    {"X": f(2, 3), "Y": f(2, 4), "Weight": f(5, 3, 4), "Bias": f(1, 5)},
    "Out",
)
case("p_norm", {"X": A}, "Out", porder=3.0, axis=1)
case("p_norm", {"X": A}, "Out", asvector=True)
case("norm", {"X": A}, "Out Norm", axis=1)
case("frobenius_norm", {"X": A}, "Out", dim=[1, 2])
case("squared_l2_norm", {"X": A}, "Out")
case("l1_norm", {"X": A}, "Out")
case("dist", {"X": f(2, 3), "Y": f(2, 3)}, "Out", p=2.0)
case("inverse", {"Input": matrix(3)}, "Output")
case("determinant", {"Input": matrix(3)}, "Out")
case("cholesky", {"X": matrix(3, symmetric=True)}, "Out", upper=False)
case("trace", {"Input": f(3, 4)}, "Out", offset=1)
case("tril_triu", {"X": f(3, 4)}, "Out", lower=True)
case("diag_v2", {"X": f(3)}, "Out", offset=1, padding_value=2.0)
case("diag_embed", {"Input": f(2, 3)}, "Out")
case("cross_entropy", {"X": probs(4, 3), "Label": i(4, 1)}, "Y")
case("cross_entropy", {"X": probs(4, 3), "Label": probs(4, 3)}, "Y", soft_label=True)
case("cross_entropy", {"X": probs(4, 3), "Label": fixed([[0], [2], [1], [2]])}, "Y", ignore_index=2)
case("cross_entropy2", {"X": probs(4, 3), "Label": i(4, 1)}, "Y XShape MatchX")
case("softmax_with_cross_entropy", {"Logits": f(4, 3), "Label": i(4, 1)}, "Loss Softmax")
case(
    "softmax_with_cross_entropy",
    {"Logits": f(4, 3), "Label": probs(4, 3)},
    "Loss Softmax",
    soft_label=True,
)
case(
    "softmax_with_cross_entropy",
    {"Logits": f(2, 3, 4), "Label": i(2, 1, 4)},
    "Loss Softmax",
    axis=1,
)
case(
    "softmax_with_cross_entropy",
    {"Logits": f(4, 3), "Label": fixed([[0], [2], [1], [2]])},
    "Loss Softmax",
    ignore_index=2,
)
case(
    "sigmoid_cross_entropy_with_logits", {"X": f(3, 4), "Label": i(3, 4, hi=2, dt="float32")}, "Out"
)
case(
    "sigmoid_cross_entropy_with_logits",
    {"X": f(3, 4), "Label": i(3, 4, hi=3, dt="float32")},
    "Out",
    ignore_index=2,
    normalize=True,
)
case("huber_loss", {"X": f(4, 1), "Y": f(4, 1)}, "Out Residual", delta=0.6)
case(
    "log_loss",
    {"Predicted": f(4, 1, lo=0.1, hi=0.9), "Labels": i(4, 1, hi=2, dt="float32")},
    "Loss",
    epsilon=1e-4,
)
case("bce_loss", {"X": f(4, 2, lo=0.1, hi=0.9), "Label": i(4, 2, hi=2, dt="float32")}, "Out")
for r in ("mean", "none", "sum", "batchmean"):
    case("kldiv_loss", {"X": f(3, 4), "Target": probs(3, 4)}, "Loss", reduction=r)
case("nll_loss", {"X": logs(4, 3), "Label": i(4)}, "Out Total_weight")
case("hinge_loss", {"Logits": f(4, 1), "Labels": i(4, 1, hi=2, dt="float32")}, "Loss")
case("rank_loss", {"Label": i(4, 1, hi=2, dt="float32"), "Left": f(4, 1), "Right": f(4, 1)}, "Out")
case("label_smooth", {"X": probs(3, 4)}, "Out", epsilon=0.1)
case("fill_constant", {}, "Out", shape=[2, 3], value=1.5, dtype=5)
case("fill_constant", {}, "Out", shape=[2], str_value="7", dtype=3)
case("fill_any_like", {"X": A}, "Out", value=2.0)
case("fill_any_like", {"X": A}, "Out", value=2.0, dtype=3)
case("fill_zeros_like", {"X": A}, "Out")
case("fill_constant_batch_size_like", {"Input": f(2, 3)}, "Out", shape=[-1, 4], value=3.0, dtype=5)
case("assign_value", {}, "Out", shape=[2, 2], dtype=5, fp32_values=[1.0, 2.0, 3.0, 4.0])
case("assign_value", {}, "Out", shape=[2], dtype=3, int64_values=[5, 6])
case("eye", {}, "Out", num_rows=3, num_columns=2, dtype=5)
case("shape", {"Input": A}, "Out")
case("size", {"Input": A}, "Out")
case("is_empty", {"X": A}, "Out")
case(
    "range",
    {"Start": fixed([1], "int64"), "End": fixed([7], "int64"), "Step": fixed([2], "int64")},
    "Out",
)
case(
    "linspace",
    {"Start": fixed([1], "float32"), "Stop": fixed([7], "float32"), "Num": fixed([4], "int32")},
    "Out",
    dtype=5,
)
case("cast", {"X": A}, "Out", in_dtype=5, out_dtype=6)
case("cast", {"X": A}, "Out", in_dtype=5, out_dtype=3)
case("assign", {"X": A}, "Out")
case("reshape", {"X": A}, "Out", shape=[0, -1])
case("reshape2", {"X": A}, "Out XShape", shape=[4, -1])
case("transpose", {"X": A}, "Out", axis=[2, 0, 1])
case("transpose2", {"X": A}, "Out XShape", axis=[1, 0, 2])
case("squeeze2", {"X": f(2, 1, 3, 1)}, "Out XShape", axes=[1])
case("squeeze2", {"X": f(2, 1, 3, 1)}, "Out XShape", axes=[])
case("unsqueeze2", {"X": f(2, 3)}, "Out XShape", axes=[0, 2])
case("flatten2", {"X": A}, "Out XShape", axis=2)
case("flatten2", {"X": A}, "Out XShape", axis=0)
case("flatten_contiguous_range", {"X": A}, "Out XShape", start_axis=0, stop_axis=1)
case("tile", {"X": f(2, 3)}, "Out", repeat_times=[2, 1])
case("expand", {"X": f(2, 3)}, "Out", expand_times=[1, 2])
case("expand_v2", {"X": f(2, 1)}, "Out", shape=[2, 3])
case("expand_v2", {"X": f(2, 1)}, "Out", shape=[3, -1, 4])
case("expand_as_v2", {"X": f(2, 1)}, "Out", target_shape=[2, 3])
case("flip", {"X": A}, "Out", axis=[1])
case("reverse", {"X": A}, "Out", axis=[0])
case("roll", {"X": A}, "Out", shifts=[1], axis=[1])
case("roll", {"X": A}, "Out", shifts=[2])
case("sum", {"X": [A, A, A]}, "Out")
case("sum", {"X": [A]}, "Out")
case("concat", {"X": [f(2, 3), f(2, 2)]}, "Out", axis=1)
case("stack", {"X": [f(2, 3), f(2, 3)]}, "Y", axis=1)
case("split", {"X": f(2, 6)}, ["Out", "Out"], num=2, axis=1)
case("split", {"X": f(2, 6)}, ["Out", "Out", "Out"], sections=[1, 2, 3], axis=1)
case("unstack", {"X": f(2, 3)}, ["Y", "Y"], axis=0, num=2)
case("unbind", {"X": f(2, 3)}, ["Out", "Out", "Out"], axis=1)
case("meshgrid", {"X": [f(2), f(3)]}, ["Out", "Out"])
case("multiplex", {"X": [f(3, 2), f(3, 2)], "Ids": fixed([[0], [1], [0]], "int32")}, "Out")
case("select_input", {"X": [f(3, 2), f(3, 2)], "Mask": fixed([1], "int32")}, "Out")
case("slice", {"Input": A}, "Out", axes=[1, 2], starts=[1, 0], ends=[3, -1])
case("slice", {"Input": A}, "Out", axes=[1], starts=[1], ends=[2], decrease_axis=[1])
case(
    "strided_slice",
    {"Input": f(5, 4)},
    "Out",
    axes=[0, 1],
    starts=[4, 0],
    ends=[0, 3],
    strides=[-2, 2],
)
case("crop", {"X": f(3, 4)}, "Out", shape=[2, 2], offsets=[1, 1])
case("crop_tensor", {"X": f(3, 4)}, "Out", shape=[2, 2], offsets=[0, 1])
case("gather", {"X": f(4, 3), "Index": fixed([2, 0, 2])}, "Out")
case("gather", {"X": f(4, 3), "Index": fixed([2, 0])}, "Out", axis=1)
case("gather_nd", {"X": f(3, 4), "Index": fixed([[0, 1], [2, 3]])}, "Out")
case("index_select", {"X": f(3, 4), "Index": fixed([1, 3])}, "Out", dim=1)
case("index_sample", {"X": f(2, 4), "Index": fixed([[0, 3], [1, 1]])}, "Out")
case(
    "masked_select", {"X": f(2, 3), "Mask": fixed([[True, False, True], [False, True, True]])}, "Y"
)
case("take_along_axis", {"Input": f(3, 4), "Index": fixed([[0, 1, 2, 0]])}, "Result", Axis=0)
case(
    "put_along_axis",
    {"Input": f(3, 4), "Index": fixed([[0, 1, 2, 0]]), "Value": f(1, 4)},
    "Result",
    Axis=0,
    Reduce="assign",
)
case("scatter", {"X": f(4, 2), "Ids": fixed([1, 3]), "Updates": f(2, 2)}, "Out", overwrite=True)
case("scatter", {"X": f(4, 2), "Ids": fixed([1, 1]), "Updates": f(2, 2)}, "Out", overwrite=False)
case("scatter_nd_add", {"X": f(4, 2), "Index": fixed([[1], [3]]), "Updates": f(2, 2)}, "Out")
case(
    "where", {"Condition": fixed([[True, False], [False, True]]), "X": f(2, 2), "Y": f(2, 2)}, "Out"
)
case("where_index", {"Condition": fixed([[True, False], [False, True]])}, "Out")
case("lookup_table_v2", {"Ids": fixed([[0, 2], [1, 1]]), "W": f(4, 3)}, "Out")
case("lookup_table_v2", {"Ids": fixed([[0, 2], [1, 1]]), "W": f(4, 3)}, "Out", padding_idx=1)
case("lookup_table", {"Ids": fixed([[0], [2]]), "W": f(4, 3)}, "Out")
case("one_hot_v2", {"X": fixed([0, 2])}, "Out", depth=4, dtype=5)
case("sequence_mask", {"X": fixed([1, 3])}, "Y", maxlen=4, out_dtype=3)
case("shard_index", {"X": fixed([[1], [5]])}, "Out", index_num=8, nshards=2, shard_id=0)
for t in ["sum", "mean", "max", "min", "prod", "amax", "amin"]:
    case("reduce_" + t, {"X": A}, "Out", dim=[1])
    case("reduce_" + t, {"X": A}, "Out", dim=[0, 2], keep_dim=True)
    case("reduce_" + t, {"X": A}, "Out", reduce_all=True)
for t in ["all", "any"]:
    case("reduce_" + t, {"X": flags(2, 3)}, "Out", dim=[1])
case("mean", {"X": A}, "Out")
case("logsumexp", {"X": A}, "Out", axis=[1], keepdim=True)
case("arg_max", {"X": A}, "Out", axis=1)
case("arg_min", {"X": A}, "Out", axis=-1, keepdims=True)
case("argsort", {"X": f(2, 5)}, "Out Indices", axis=1, descending=True)
case("top_k", {"X": f(2, 5)}, "Out Indices", k=2)
case("top_k_v2", {"X": f(4, 3)}, "Out Indices", k=2, axis=0, largest=False)
case("cumsum", {"X": A}, "Out", axis=1)
case("cumsum", {"X": A}, "Out", axis=1, exclusive=True, reverse=True)
case("cumsum", {"X": A}, "Out", flatten=True)
case("cumsum", {"X": A}, "Out", axis=2, reverse=True)
case("accuracy", {"Out": f(4, 1), "Indices": i(4, 1), "Label": i(4, 1)}, "Accuracy Correct Total")
case(
    "conv2d",
    {"Input": f(1, 2, 5, 5), "Filter": f(3, 2, 3, 3)},
    "Output",
    strides=[2, 1],
    paddings=[1, 0],
)
case(
    "conv2d", {"Input": f(1, 2, 5, 5), "Filter": f(3, 2, 3, 3)}, "Output", padding_algorithm="SAME"
)
case(
    "conv2d",
    {"Input": f(1, 4, 5, 5), "Filter": f(4, 2, 2, 2)},
    "Output",
    groups=2,
    dilations=[2, 2],
    paddings=[1, 0, 2, 1],
)
case(
    "depthwise_conv2d",
    {"Input": f(1, 3, 4, 4), "Filter": f(3, 1, 3, 3)},
    "Output",
    groups=3,
    paddings=[1, 1],
)
case("conv2d", {"Input": f(1, 5, 5, 2), "Filter": f(3, 2, 3, 3)}, "Output", data_format="NHWC")
case(
    "conv2d_transpose",
    {"Input": f(1, 2, 3, 3), "Filter": f(2, 3, 3, 3)},
    "Output",
    strides=[2, 2],
    paddings=[1, 1],
    output_padding=[1, 1],
)
case(
    "conv2d_transpose",
    {"Input": f(1, 2, 3, 3), "Filter": f(2, 3, 3, 3)},
    "Output",
    strides=[2, 2],
    output_size=[8, 8],
)
case("conv3d", {"Input": f(1, 2, 3, 3, 3), "Filter": f(2, 2, 2, 2, 2)}, "Output")
for pt in ("max", "avg"):
    case(
        "pool2d",
        {"X": f(1, 2, 5, 5)},
        "Out",
        ksize=[2, 3],
        strides=[2, 2],
        paddings=[1, 1],
        pooling_type=pt,
    )
    case("pool2d", {"X": f(1, 2, 5, 5)}, "Out", ksize=[2, 2], pooling_type=pt, global_pooling=True)
    case("pool2d", {"X": f(1, 2, 5, 5)}, "Out", ksize=[2, 2], pooling_type=pt, adaptive=True)
    case(
        "pool2d",
        {"X": f(1, 2, 5, 5)},
        "Out",
        ksize=[2, 2],
        strides=[2, 2],
        pooling_type=pt,
        ceil_mode=True,
    )
    case(
        "pool3d",
        {"X": f(1, 1, 4, 4, 4)},
        "Out",
        ksize=[2, 2, 2],
        strides=[2, 2, 2],
        pooling_type=pt,
    )
    case("pool2d", {"X": f(1, 2, 5, 5)}, "Out", ksize=[1, 1], pooling_type=pt, adaptive=True)
case(
    "pool2d",
    {"X": f(1, 2, 5, 5)},
    "Out",
    ksize=[3, 3],
    strides=[2, 2],
    paddings=[1, 1],
    pooling_type="avg",
    exclusive=False,
)
case("max_pool2d_with_index", {"X": f(1, 2, 4, 4)}, "Out Mask", ksize=[2, 2], strides=[2, 2])
case("pad", {"X": f(2, 3)}, "Out", paddings=[0, 1, 2, 0], pad_value=1.5)
for m in ("constant", "reflect", "edge"):
    case("pad2d", {"X": f(1, 2, 3, 3)}, "Out", paddings=[1, 0, 2, 1], mode=m)
for m in ("constant", "reflect", "replicate", "circular"):
    case("pad3d", {"X": f(1, 1, 3, 3, 3)}, "Out", paddings=[1, 0, 2, 1, 0, 1], mode=m)
for t, m in (("bilinear", "bilinear"), ("nearest", "nearest"), ("bicubic", "bicubic")):
    case(t + "_interp_v2", {"X": f(1, 1, 3, 4)}, "Out", out_h=5, out_w=6, interp_method=m)
    case(
        t + "_interp_v2",
        {"X": f(1, 1, 3, 4)},
        "Out",
        out_h=5,
        out_w=6,
        interp_method=m,
        align_corners=False,
    )
    case(
        t + "_interp_v2",
        {"X": f(1, 1, 3, 4)},
        "Out",
        scale=[2.0, 2.0],
        interp_method=m,
        align_corners=False,
        align_mode=0,
    )
case(
    "nearest_interp_v2",
    {"X": f(1, 1, 3, 4)},
    "Out",
    scale=[2.0, 3.0],
    interp_method="nearest",
    align_corners=True,
)
case("bilinear_interp", {"X": f(1, 1, 3, 4)}, "Out", out_h=5, out_w=6, interp_method="bilinear")
case(
    "nearest_interp",
    {"X": f(1, 1, 3, 4)},
    "Out",
    out_h=5,
    out_w=6,
    interp_method="nearest",
    align_corners=False,
)
case("pixel_shuffle", {"X": f(1, 4, 2, 2)}, "Out", upscale_factor=2)
case("shuffle_channel", {"X": f(1, 4, 2, 2)}, "Out", group=2)
case("temporal_shift", {"X": f(4, 4, 2, 2)}, "Out", seg_num=2, shift_ratio=0.25)
case(
    "unfold",
    {"X": f(1, 2, 4, 4)},
    "Y",
    kernel_sizes=[2, 2],
    strides=[1, 1],
    paddings=[0, 0, 0, 0],
    dilations=[1, 1],
)
case(
    "grid_sampler",
    {"X": f(1, 1, 4, 4), "Grid": f(1, 3, 3, 2, lo=-0.9, hi=0.9)},
    "Output",
    mode="bilinear",
    padding_mode="zeros",
    align_corners=True,
)
case("affine_grid", {"Theta": f(1, 2, 3)}, "Output", output_shape=[1, 1, 2, 3], align_corners=True)
BN = {"X": f(2, 3, 2, 2), "Scale": pos(3), "Bias": f(3), "Mean": f(3), "Variance": pos(3)}
BO = "Y MeanOut VarianceOut SavedMean SavedVariance"
case("batch_norm", BN, BO, momentum=0.8, epsilon=1e-3)
case("batch_norm", BN, BO, is_test=True)
case("batch_norm", BN, BO, use_global_stats=True)
case(
    "layer_norm",
    {"X": f(2, 3, 4), "Scale": pos(12), "Bias": f(12)},
    "Y Mean Variance",
    begin_norm_axis=1,
)
case(
    "layer_norm",
    {"X": f(2, 3, 4), "Scale": pos(4), "Bias": f(4)},
    "Y Mean Variance",
    begin_norm_axis=2,
)
case("layer_norm", {"X": f(2, 3)}, "Y Mean Variance")
case("group_norm", {"X": f(2, 4, 2, 2), "Scale": pos(4), "Bias": f(4)}, "Y Mean Variance", groups=2)
case(
    "instance_norm",
    {"X": f(2, 3, 2, 2), "Scale": pos(3), "Bias": f(3)},
    "Y SavedMean SavedVariance",
)
case("lrn", {"X": f(1, 6, 2, 2)}, "Out MidOut", n=5)
case(
    "affine_channel", {"X": f(2, 3, 2, 2), "Scale": pos(3), "Bias": f(3)}, "Out", data_layout="NCHW"
)


# optimizers
def opt(extra):
    return {"Param": f(2, 3), "Grad": f(2, 3), "LearningRate": fixed([0.1], "float32"), **extra}


case("sgd", opt({}), "ParamOut")
case("momentum", opt({"Velocity": f(2, 3)}), "ParamOut VelocityOut", mu=0.9)
case(
    "momentum",
    opt({"Velocity": f(2, 3)}),
    "ParamOut VelocityOut",
    mu=0.9,
    use_nesterov=True,
    regularization_method="l2_decay",
    regularization_coeff=0.1,
)
AD = opt(
    {
        "Moment1": f(2, 3),
        "Moment2": pos(2, 3),
        "Beta1Pow": fixed([0.9], "float32"),
        "Beta2Pow": fixed([0.999], "float32"),
    }
)
AO = "ParamOut Moment1Out Moment2Out Beta1PowOut Beta2PowOut"
case("adam", AD, AO)
case("adam", AD, AO, beta1=0.8, beta2=0.99, epsilon=1e-4)
case("adamw", AD, AO, with_decay=True, coeff=0.05, lr_ratio=0.5)
case("adamw", AD, AO)
case("lamb", AD, AO, weight_decay=0.01)
case(
    "adamax",
    opt({"Moment": f(2, 3), "InfNorm": pos(2, 3), "Beta1Pow": fixed([0.9], "float32")}),
    "ParamOut MomentOut InfNormOut",
)
case("adagrad", opt({"Moment": pos(2, 3)}), "ParamOut MomentOut")
case(
    "adadelta",
    opt({"AvgSquaredGrad": pos(2, 3), "AvgSquaredUpdate": pos(2, 3)}),
    "ParamOut AvgSquaredGradOut AvgSquaredUpdateOut",
)
case(
    "rmsprop",
    opt({"MeanSquare": f(2, 3, lo=2.3, hi=3.8), "Moment": f(2, 3), "MeanGrad": f(2, 3)}),
    "ParamOut MomentOut MeanSquareOut MeanGradOut",
    decay=0.8,
    momentum=0.5,
)
case(
    "rmsprop",
    opt({"MeanSquare": f(2, 3, lo=2.3, hi=3.8), "Moment": f(2, 3), "MeanGrad": f(2, 3)}),
    "ParamOut MomentOut MeanSquareOut MeanGradOut",
    centered=True,
)

# what Paddle 2.6 has no kernel for on a processor, or had under that name before
case("conv3d_transpose", {"Input": f(1, 2, 2, 2, 2), "Filter": f(2, 2, 2, 2, 2)}, "Output")
case(
    "depthwise_conv2d_transpose",
    {"Input": f(1, 2, 3, 3), "Filter": f(2, 1, 2, 2)},
    "Output",
    groups=2,
)
case("fc", {"Input": f(2, 3, 4), "W": f(12, 5), "Bias": f(5)}, "Out", activation_type="relu")
case("flatten", {"X": A}, "Out", axis=2)
case("memcpy", {"X": A}, "Out", dst_place_type=0)
case("share_data", {"X": A}, "Out")
case("squeeze", {"X": f(2, 1, 3)}, "Out", axes=[1])
case("unsqueeze", {"X": f(2, 3)}, "Out", axes=[1])
case("sync_batch_norm", BN, BO)


def complex_numbers(*shape):
    return lambda rng: (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype("complex64")


case("real", {"X": complex_numbers(2, 3)}, "Out")
case("imag", {"X": complex_numbers(2, 3)}, "Out")

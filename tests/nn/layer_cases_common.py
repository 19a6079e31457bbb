"""Layers of the table: activations, linear maps, embeddings, distances, dropout.

The reprs are those that Paddle 3.3 prints.
"""

from __future__ import annotations

import autograd_engine as paddle
from tests.nn.layer_case import case, classes, floats

F = paddle.nn.functional

# --- activations

X = floats(3, 4)
IMAGES = floats(2, 4, 3, 3)

for name, function in {
    "Hardsigmoid": F.hardsigmoid,
    "Hardswish": F.hardswish,
    "LogSigmoid": F.log_sigmoid,
    "Mish": F.mish,
    "ReLU": F.relu,
    "ReLU6": F.relu6,
    "Sigmoid": F.sigmoid,
    "Softsign": F.softsign,
    "Swish": F.swish,
    "Tanh": F.tanh,
    "Tanhshrink": F.tanhshrink,
}.items():
    case(f"{name}()", f"{name}()", lambda layer, x, f=function: f(x), X)
    case(f"{name}(name='n')", f"{name}(name=n)", lambda layer, x, f=function: f(x), X)

case("ELU()", "ELU(alpha=1.0)", lambda _, x: F.elu(x), X)
case("ELU(0.5)", "ELU(alpha=0.5)", lambda _, x: F.elu(x, 0.5), X)
case("CELU(0.5, 'nm')", "CELU(alpha=0.5, name=nm)", lambda _, x: F.celu(x, 0.5), X)
case("GELU()", "GELU(approximate=False)", lambda _, x: F.gelu(x), X)
case("GELU(True)", "GELU(approximate=True)", lambda _, x: F.gelu(x, True), X)
case("GLU()", "GLU(axis=-1)", lambda _, x: F.glu(x), X)
case("GLU(1)", "GLU(axis=1)", lambda _, x: F.glu(x, 1), X)
case("Hardshrink(0.25)", "Hardshrink(threshold=0.25)", lambda _, x: F.hardshrink(x, 0.25), X)
case("Hardtanh()", "Hardtanh(min=-1.0, max=1.0)", lambda _, x: F.hardtanh(x), X)
case("Hardtanh(-2.0, 0.5)", "Hardtanh(min=-2.0, max=0.5)", lambda _, x: F.hardtanh(x, -2, 0.5), X)
case("LeakyReLU()", "LeakyReLU(negative_slope=0.01)", lambda _, x: F.leaky_relu(x), X)
case("LeakyReLU(0.2)", "LeakyReLU(negative_slope=0.2)", lambda _, x: F.leaky_relu(x, 0.2), X)
case("LogSoftmax()", "LogSoftmax(axis=-1)", lambda _, x: F.log_softmax(x), X)
case("LogSoftmax(0)", "LogSoftmax(axis=0)", lambda _, x: F.log_softmax(x, 0), X)
case("Maxout(2)", "Maxout(groups=2, axis=1)", lambda _, x: F.maxout(x, 2), IMAGES)
case("Maxout(3, -1)", "Maxout(groups=3, axis=-1)", lambda _, x: F.maxout(x, 3, -1), IMAGES)
case(
    "PReLU()",
    "PReLU(num_parameters=1, data_format=NCHW, init=0.25, dtype=float32)",
    lambda layer, x: F.prelu(x, layer._weight),
    X,
)
case(
    "PReLU(4, 0.1)",
    "PReLU(num_parameters=4, data_format=NCHW, init=0.1, dtype=float32)",
    lambda layer, x: F.prelu(x, layer._weight),
    IMAGES,
)
case(
    "PReLU(3, 0.1, data_format='NHWC')",
    "PReLU(num_parameters=3, data_format=NHWC, init=0.1, dtype=float32)",
    lambda layer, x: F.prelu(x, layer._weight, "NHWC"),
    IMAGES,
)
case(
    "RReLU(0.1, 0.2)",
    "RReLU(lower=0.1, upper=0.2, training=True, dtype=float32)",
    lambda layer, x: F.rrelu(x, 0.1, 0.2, layer.training),
    X,
    depends=True,
)
case(
    "SELU()",
    "SELU(scale=1.0507009873554805, alpha=1.6732632423543772)",
    lambda _, x: F.selu(x),
    X,
)
case(
    "SELU(1.5, 0.5)",
    "SELU(scale=1.5000000000000000, alpha=0.5000000000000000)",
    lambda _, x: F.selu(x, 1.5, 0.5),
    X,
)
case("Silu()", "Silu(inplace=False)", lambda _, x: F.silu(x), X)
case("SiLU()", "Silu(inplace=False)", lambda _, x: F.silu(x), X)
case("Softmax()", "Softmax(axis=-1)", lambda _, x: F.softmax(x), X)
case("Softmax(0)", "Softmax(axis=0)", lambda _, x: F.softmax(x, 0), X)
case("Softmax2D()", "Softmax2D()", lambda _, x: F.softmax(x, 1), IMAGES)
case("Softmax2D(name='s')", "Softmax2D(name=s)", lambda _, x: F.softmax(x, 0), floats(2, 3, 3))
case("Softplus()", "Softplus(beta=1, threshold=20)", lambda _, x: F.softplus(x), X)
case("Softplus(2, 1)", "Softplus(beta=2, threshold=1)", lambda _, x: F.softplus(x, 2, 1), X)
case("Softshrink(0.25)", "Softshrink(threshold=0.25)", lambda _, x: F.softshrink(x, 0.25), X)
case(
    "ThresholdedReLU(0.5, 2.0)",
    "ThresholdedReLU(threshold=0.5, value=2.0)",
    lambda _, x: F.thresholded_relu(x, 0.5, 2.0),
    X,
)

# --- common

case("Identity()", "Identity()", lambda _, x: x, X)
case("Identity(3, unused=True)", "Identity()", lambda _, x: x, X)
case("Flatten()", "Flatten()", lambda _, x: paddle.flatten(x, 1), IMAGES)
case("Flatten(0, 2)", "Flatten()", lambda _, x: paddle.flatten(x, 0, 2), IMAGES)
case(
    "Unflatten(1, [2, -1])",
    "Unflatten(axis=1, shape=[2, -1])",
    lambda _, x: paddle.unflatten(x, 1, [2, -1]),
    X,
)
case(
    "Linear(4, 3)",
    "Linear(in_features=4, out_features=3, dtype=float32)",
    lambda layer, x: F.linear(x, layer.weight, layer.bias),
    X,
)
case(
    "Linear(4, 3, bias_attr=False, name='lin')",
    "Linear(in_features=4, out_features=3, dtype=float32, name=lin)",
    lambda layer, x: F.linear(x, layer.weight),
    floats(2, 3, 4),
)
case(
    "Bilinear(4, 3, 2)",
    "Bilinear(in1_features=4, in2_features=3, out_features=2, dtype=float32)",
    lambda layer, x, y: F.bilinear(x, y, layer.weight, layer.bias),
    X,
    floats(3, 3),
)
case(
    "Bilinear(4, 3, 2, bias_attr=False, name='bl')",
    "Bilinear(in1_features=4, in2_features=3, out_features=2, dtype=float32, name=bl)",
    lambda layer, x, y: F.bilinear(x, y, layer.weight),
    X,
    floats(3, 3),
)
case(
    "Embedding(5, 3)",
    "Embedding(5, 3, sparse=False, scale_grad_by_freq=False)",
    lambda layer, x: F.embedding(x, layer.weight),
    classes(5, 4, 2),
)
case(
    "Embedding(5, 3, padding_idx=-1)",
    "Embedding(5, 3, padding_idx=-1, sparse=False, scale_grad_by_freq=False)",
    lambda layer, x: F.embedding(x, layer.weight, -1),
    classes(5, 4, 2),
)
case(
    "Embedding(5, 3, 2, sparse=True, name='emb')",
    "Embedding(5, 3, padding_idx=2, sparse=True, scale_grad_by_freq=False, name=emb)",
    lambda layer, x: F.embedding(x, layer.weight, 2, sparse=True),
    classes(5, 6),
    paddle="values",  # its gradient as an array is that of the rows that were read
)
case(
    "CosineSimilarity()",
    "CosineSimilarity(axis=1, eps=1e-08)",
    lambda _, x, y: F.cosine_similarity(x, y),
    X,
    X,
)
case(
    "CosineSimilarity(axis=-1, eps=1e-6)",
    "CosineSimilarity(axis=-1, eps=1e-06)",
    lambda _, x, y: F.cosine_similarity(x, y, -1, 1e-6),
    floats(2, 3, 4),
    floats(2, 3, 4),
)
case(
    "PairwiseDistance()",
    "PairwiseDistance(p=2.0)",
    lambda _, x, y: F.pairwise_distance(x, y),
    X,
    X,
)
case(
    "PairwiseDistance(1.0, 0.5, True)",
    "PairwiseDistance(p=1.0, epsilon=0.5, keepdim=True)",
    lambda _, x, y: F.pairwise_distance(x, y, 1.0, 0.5, True),
    X,
    X,
)

# --- dropout

case(
    "Dropout(0.4)",
    "Dropout(p=0.4, axis=None, mode=upscale_in_train, inplace=False)",
    lambda layer, x: F.dropout(x, 0.4, training=layer.training),
    X,
    depends=True,
)
case(
    "Dropout(0.25, axis=0, mode='downscale_in_infer', name='dr')",
    "Dropout(p=0.25, axis=0, mode=downscale_in_infer, name=dr, inplace=False)",
    lambda layer, x: F.dropout(x, 0.25, 0, layer.training, mode="downscale_in_infer"),
    X,
    depends=True,
)
case(
    "Dropout2D()",
    "Dropout2D(p=0.5, data_format=NCHW)",
    lambda layer, x: F.dropout2d(x, 0.5, layer.training),
    IMAGES,
    depends=True,
)
case(
    "Dropout2D(0.1, 'NHWC')",
    "Dropout2D(p=0.1, data_format=NHWC)",
    lambda layer, x: F.dropout2d(x, 0.1, layer.training, "NHWC"),
    IMAGES,
    depends=True,
)
case(
    "Dropout3D(0.4, 'NDHWC')",
    "Dropout3D(p=0.4, data_format=NDHWC)",
    lambda layer, x: F.dropout3d(x, 0.4, layer.training, "NDHWC"),
    floats(2, 3, 2, 2, 2),
    depends=True,
)
case(
    "AlphaDropout(0.3)",
    "AlphaDropout(p=0.3)",
    lambda layer, x: F.alpha_dropout(x, 0.3, layer.training),
    X,
    depends=True,
)
case(
    "FeatureAlphaDropout(0.3)",
    "FeatureAlphaDropout(p=0.3)",
    lambda layer, x: F.feature_alpha_dropout(x, 0.3, layer.training),
    IMAGES,
    depends=True,
)

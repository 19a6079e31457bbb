"""The documents' own examples, run as written, and what their comments say of them.

Only the import changes its name. Where a page lost some text (``x ='x'``) the text of the other
pages stands.
"""

import re
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle

APPEND_BACKWARD = """
import paddle
import paddle.nn.functional as F

paddle.enable_static()

x = paddle.static.data(name='x', shape=[None, 13], dtype='int64')
y = paddle.static.data(name='y', shape=[None, 1], dtype='float32')
x_emb = paddle.static.nn.embedding(x, size=[100, 256])
y_predict = paddle.static.nn.fc(x=x_emb, size=1, activation=None, name='my_fc')
loss = F.square_error_cost(input=y_predict, label=y)
avg_loss = paddle.mean(loss)

# Get all weights in main_program, not include bias.
all_weights = [param for param in paddle.static.default_main_program().block(0).all_parameters() \
if 'w_' in param.name]
all_weights_name = [w.name for w in all_weights]

# return all param_grads needed to be updated if parameter_list set default None.
p_g_list1 = paddle.static.append_backward(loss=avg_loss)
# output: [(embedding_0.w_0, embedding_0.w_0@GRAD), (my_fc.w_0, my_fc.w_0@GRAD), \
(my_fc.b_0, my_fc.b_0@GRAD)]
count1 = count()

# return the param_grads corresponding to parameter_list that can be list of param (Tensor).
p_g_list2 = paddle.static.append_backward(loss=avg_loss, parameter_list=all_weights)
# output: [(embedding_0.w_0, embedding_0.w_0@GRAD), (my_fc.w_0, my_fc.w_0@GRAD)]

# parameter_list can be list of param.name (str).
p_g_list3 = paddle.static.append_backward(loss=avg_loss, parameter_list=all_weights_name)
# output: [(embedding_0.w_0, embedding_0.w_0@GRAD), (my_fc.w_0, my_fc.w_0@GRAD)]

# no_grad_set can be set of Tensors that means grad will be cut off from these Tensors.
p_g_list4 = paddle.static.append_backward(loss=avg_loss, no_grad_set=set([x_emb]))
# output: [(my_fc.w_0, my_fc.w_0@GRAD), (my_fc.b_0, my_fc.b_0@GRAD)]

# no_grad_set can be set of Tensor.name when the Tensors is created inside layers.
p_g_list5 = paddle.static.append_backward(loss=avg_loss, no_grad_set=set(['my_fc.b_0']))
# output: [(embedding_0.w_0, embedding_0.w_0@GRAD), (my_fc.w_0, my_fc.w_0@GRAD)]

# return [] because all param_grads are filtered by no_grad_set.
p_g_list6 = paddle.static.append_backward(loss=avg_loss, parameter_list=all_weights, \
no_grad_set=set(all_weights))
count6 = count()
"""

FLUID_APPEND_BACKWARD = """
x = fluid.layers.data(name='x', shape=[13], dtype='float32')
y = fluid.layers.data(name='y', shape=[1], dtype='float32')

y_predict = fluid.layers.fc(input=x, size=1, act=None)
loss = fluid.layers.square_error_cost(input=y_predict, label=y)

avg_loss = fluid.layers.mean(loss)
param_grad_list = fluid.backward.append_backward(loss=avg_loss)
"""

FLUID_GRADIENTS = """
import paddle.fluid as fluid

x = fluid.layers.data(name='x', shape=[2,8,8], dtype='float32')
x.stop_gradient=False
y = fluid.layers.conv2d(x, 4, 1, bias_attr=False)
y = fluid.layers.relu(y)
y = fluid.layers.conv2d(y, 4, 1, bias_attr=False)
y = fluid.layers.relu(y)
z = fluid.gradients([y], x)
print(z)
"""

BACKWARD = """
import paddle
x = paddle.to_tensor([[1, 2], [3, 4]], dtype='float32', stop_gradient=False)
y = paddle.to_tensor([[3, 2], [3, 4]], dtype='float32')

grad_tensor1 = paddle.to_tensor([[1,2], [2, 3]], dtype='float32')
grad_tensor2 = paddle.to_tensor([[1,1], [1, 1]], dtype='float32')

z1 = paddle.matmul(x, y)
z2 = paddle.matmul(x, y)

paddle.autograd.backward([z1, z2], [grad_tensor1, grad_tensor2], True)
print(x.grad)

x.clear_grad()

paddle.autograd.backward([z1, z2], [grad_tensor1, None], True)
print(x.grad)

x.clear_grad()

paddle.autograd.backward([z1, z2])
print(x.grad)
"""


def run(text: str, **names: Any) -> dict[str, Any]:
    text = re.sub(r"import paddle$", "import autograd_engine as paddle", text, flags=re.M)
    text = re.sub(r"import paddle\.", "import autograd_engine.", text)
    scope: dict[str, Any] = dict(names)
    exec(text, scope)
    return scope


def op_count() -> int:
    return len(paddle.static.default_main_program().global_block().ops)


def names(pairs: list[tuple[Any, Any]]) -> list[tuple[str, str]]:
    return [(p.name, g.name) for p, g in pairs]


EMBEDDING = ("embedding_0.w_0", "embedding_0.w_0@GRAD")
WEIGHT = ("my_fc.w_0", "my_fc.w_0@GRAD")
BIAS = ("my_fc.b_0", "my_fc.b_0@GRAD")


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        ("p_g_list1", [EMBEDDING, WEIGHT, BIAS]),
        ("p_g_list2", [EMBEDDING, WEIGHT]),
        ("p_g_list3", [EMBEDDING, WEIGHT]),
        ("p_g_list4", [WEIGHT, BIAS]),
        ("p_g_list5", [EMBEDDING, WEIGHT]),
        ("p_g_list6", []),
    ],
)
def test_append_backward_returns_what_the_comment_says(
    which: str, expected: list[tuple[str, str]]
) -> None:
    assert names(run(APPEND_BACKWARD, count=op_count)[which]) == expected


def test_append_backward_appends_nothing_when_it_is_asked_again() -> None:
    seed = run(APPEND_BACKWARD, count=op_count)
    assert seed["count1"] == seed["count6"]
    first = {p.name: g for p, g in seed["p_g_list1"]}
    for k in range(2, 7):
        for p, g in seed[f"p_g_list{k}"]:
            assert g is first[p.name]


def test_append_backward_declares_what_the_page_declares() -> None:
    seed = run(APPEND_BACKWARD, count=op_count)
    assert seed["x_emb"].shape == (-1, 13, 256)
    assert seed["y_predict"].shape == (-1, 1)
    assert seed["avg_loss"].shape == ()
    assert seed["all_weights_name"] == ["embedding_0.w_0", "my_fc.w_0"]
    assert [p.shape for p, _ in seed["p_g_list1"]] == [(100, 256), (3328, 1), (1,)]
    assert isinstance(seed["p_g_list1"], list)
    assert all(isinstance(pair, tuple) for pair in seed["p_g_list1"])


def test_append_backward_computes_the_gradients() -> None:
    """Against the gradient of mean((E w + b - y)^2), worked out by hand."""
    seed = run(APPEND_BACKWARD, count=op_count)
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    rng = np.random.default_rng(1)
    ids = rng.integers(0, 100, (5, 13))
    label = rng.standard_normal((5, 1)).astype("float32")
    pairs = seed["p_g_list1"]
    fetched = exe.run(
        feed={"x": ids, "y": label}, fetch_list=[*(p for p, _ in pairs), *(g for _, g in pairs)]
    )
    table, weight, bias = (v.astype("float64") for v in fetched[:3])
    flat = table[ids].reshape(5, -1)
    residual = 2 * (flat @ weight + bias - label) / 5
    rows = (residual @ weight.T).reshape(5, 13, 256)
    by_table = np.zeros_like(table)
    np.add.at(by_table, ids, rows)
    for have, want in zip(
        fetched[3:], (by_table, flat.T @ residual, residual.sum(axis=0)), strict=True
    ):
        np.testing.assert_allclose(have, want, rtol=1e-4, atol=1e-5)


def test_fluid_append_backward() -> None:
    import autograd_engine.fluid as fluid

    seed = run(FLUID_APPEND_BACKWARD, fluid=fluid)
    assert seed["x"].shape == (-1, 13)
    assert names(seed["param_grad_list"]) == [
        ("fc_0.w_0", "fc_0.w_0@GRAD"),
        ("fc_0.b_0", "fc_0.b_0@GRAD"),
    ]


def test_fluid_gradients(capsys: pytest.CaptureFixture[str]) -> None:
    seed = run(FLUID_GRADIENTS)
    assert capsys.readouterr().out == (
        "[var x@GRAD : LOD_TENSOR.shape(-1, 2, 8, 8).dtype(float32).stop_gradient(False)]\n"
    )
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    feed = {"x": np.ones((3, 2, 8, 8), "float32")}
    (value,) = exe.run(feed=feed, fetch_list=seed["z"])
    assert value.shape == (3, 2, 8, 8)


def test_backward_prints_what_the_page_prints(capsys: pytest.CaptureFixture[str]) -> None:
    run(BACKWARD)
    head = "Tensor(shape=[2, 2], dtype=float32, place=Place(cpu), stop_gradient=False,\n"
    first = head + "       [[12., 18.],\n        [17., 25.]])\n"
    last = head + "       [[10., 14.],\n        [10., 14.]])\n"
    assert capsys.readouterr().out == first + first + last


@pytest.mark.parametrize("loss", [None, "loss", 3, 1.5, np.ones(1), [1]])
def test_a_loss_that_is_no_tensor_is_an_assertion_error(loss: Any) -> None:
    """As the pages say; the reference raises TypeError, and code written for it expects that."""
    paddle.enable_static()
    for kind in (AssertionError, TypeError):
        with pytest.raises(kind, match="append_backward: loss must be a Variable"):
            paddle.static.append_backward(loss)


def test_fluid_works_in_static_mode_too() -> None:
    paddle.enable_static()
    run(FLUID_GRADIENTS)
    assert op_count() > 0

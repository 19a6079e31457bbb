"""Traced functions in files."""

import json

import numpy as np
import pytest

import autograd_engine as paddle
import autograd_engine.nn.functional as F  # noqa: N812
from autograd_engine import jit, static
from autograd_engine.errors import FileFormatError

SPEC = [static.InputSpec([None, 2], "float64", "x")]


@pytest.fixture
def net():
    r = np.random.default_rng(0)

    class Net:
        def __init__(self):
            self.w = paddle.to_tensor(r.normal(size=(2, 3)), stop_gradient=False)
            self.mean = paddle.zeros([3], "float64")
            self.variance = paddle.ones([3], "float64")

        def forward(self, x, training=True):
            h = F.batch_norm(x @ self.w, self.mean, self.variance, training=training)
            return {"y": F.dropout(h, 0.5, training=training), "extra": (self.w, None, 3)}

    return Net()


def test_training_and_inference(net, tmp_path):
    path = str(tmp_path / "deep" / "model")
    jit.save(net.forward, path, SPEC)
    layer = jit.load(path)
    x = paddle.to_tensor(np.random.default_rng(1).normal(size=(5, 2)), stop_gradient=False)
    np.testing.assert_array_equal(layer(x)["y"].numpy(), net.forward(x, False)["y"].numpy())
    results = []
    for f in (net.forward, layer.train()):
        paddle.seed(4)
        found = f(x)
        found["y"].sum().backward()
        results.append([found["y"].numpy(), x.grad.numpy()])
        x.clear_grad(False)
        assert found["extra"][1:] == (None, 3)
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    (w,) = layer.parameters()
    np.testing.assert_array_equal(w.grad.numpy(), net.w.grad.numpy())
    for ours, theirs in zip(layer.buffers(), (net.mean, net.variance), strict=True):
        np.testing.assert_array_equal(ours.numpy(), theirs.numpy())
    assert not layer.eval().training
    np.testing.assert_array_equal(layer(x)["y"].numpy(), net.forward(x, False)["y"].numpy())
    assert "dropout" in repr(layer.train().program())


def test_second_order_through_a_loaded_function(tmp_path):
    w = paddle.to_tensor([[0.3, -0.7]], stop_gradient=False)
    f = jit.to_static(lambda x: paddle.tanh(x * w), input_spec=[static.InputSpec([None, 2])])
    jit.save(f, str(tmp_path / "m"))
    layer = jit.load(str(tmp_path / "m"))
    results = []
    for g in (f, layer):
        x = paddle.to_tensor([[1.0, 2.0], [0.5, 0.1]], stop_gradient=False)
        (first,) = paddle.grad(g(x).sum(), [x], create_graph=True)
        (first * first).sum().backward()
        results.append([first.numpy(), x.grad.numpy()])
    np.testing.assert_array_equal(*results)


def test_the_inference_model_reads_the_same_files(net, tmp_path):
    path = str(tmp_path / "model")
    jit.save(net.forward, path, SPEC)
    x = np.random.default_rng(1).normal(size=(5, 2))
    exe = static.Executor()
    with static.scope_guard(static.Scope()):
        program, feeds, fetches = static.load_inference_model(path, exe)
        assert feeds == ["x"]
        (y, w) = exe.run(program, feed={"x": x}, fetch_list=fetches)
    np.testing.assert_array_equal(y, net.forward(paddle.to_tensor(x), False)["y"].numpy())
    np.testing.assert_array_equal(w, net.w.numpy())


def test_a_function_that_was_called_needs_no_spec(tmp_path):
    f = jit.to_static(lambda x: x * 2.0)
    with pytest.raises(ValueError, match=r"give input_spec=\[\.\.\.\], or call the function first"):
        jit.save(f, str(tmp_path / "m"))
    f(paddle.ones([3]))
    jit.save(f, str(tmp_path / "m"))
    layer = jit.load(str(tmp_path / "m"))
    assert layer(paddle.ones([3])).tolist() == [2.0, 2.0, 2.0]
    assert layer(x=paddle.ones([3])).tolist() == [2.0, 2.0, 2.0]
    with pytest.raises(ValueError, match="its InputSpec says"):
        layer(paddle.ones([4]))
    with pytest.raises(TypeError, match="takes the Tensors x"):
        layer()


def test_damaged_files_say_so(net, tmp_path):
    path = str(tmp_path / "model")
    jit.save(net.forward, path, SPEC)
    about = tmp_path / "model.pdjit"
    whole = about.read_text()
    for text in ("", "{", "[]", '{"format": "autograd_engine jit"}', "[" * 100_000):
        about.write_text(text)
        with pytest.raises(FileFormatError, match=r"save it again|no file that paddle"):
            jit.load(path)
    for change in ({"returns": {"result": 9}}, {"returns": {"list": 3}}, {"version": 9}):
        about.write_text(json.dumps(json.loads(whole) | change))
        with pytest.raises(FileFormatError):
            jit.load(path)
    about.write_text(whole)
    other = tmp_path / "other"
    net.w.set_value(net.w.numpy() + 1.0)
    jit.save(net.forward, str(other), SPEC)
    (tmp_path / "other.pdiparams").replace(tmp_path / "model.pdiparams")
    with pytest.raises(FileFormatError, match="different saves"):
        jit.load(path)
    with pytest.raises(FileNotFoundError, match="give the path that"):
        jit.load(str(tmp_path / "nothing"))


def test_what_a_file_cannot_hold(tmp_path):
    with pytest.raises(ValueError, match="returns a object, which a file cannot hold"):
        jit.save(lambda x: (x * 1.0, object()), str(tmp_path / "m"), SPEC)
    with pytest.raises(ValueError, match="returns no Tensor"):
        jit.save(lambda x: 3, str(tmp_path / "m"), SPEC)
    assert not list(tmp_path.iterdir())


def test_statistics_of_a_batch_are_not_those_of_inference(tmp_path):
    """Also where a program is made ready by `normalize_program` alone."""
    mean, variance = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([4.0, 9.0])
    f = jit.to_static(lambda x: F.batch_norm(x, mean, variance, training=True, epsilon=0.0))
    x = np.random.default_rng(0).normal(size=(5, 2)).astype("float32")
    spec = [static.InputSpec([None, 2], "float32", "x")]
    want = (x - [1.0, 2.0]) / [2.0, 3.0]
    jit.save(f, str(tmp_path / "m"), spec)
    np.testing.assert_allclose(jit.load(str(tmp_path / "m"))(paddle.to_tensor(x)), want, rtol=1e-5)
    traced = jit.to_static(f.dygraph_function, input_spec=spec).concrete_program
    program = static.normalize_program(traced.program, traced.inputs, traced.outputs)
    scope = static.Scope()
    for name, tensor in ((c.var.name, c.tensor) for c in traced._captured):
        scope.var(name).value = tensor.numpy()
    (got,) = static.Executor().run(program, {"x": x}, [v.name for v in traced.outputs], scope=scope)
    np.testing.assert_allclose(got, want, rtol=1e-5)
    assert mean.tolist() == [1.0, 2.0]

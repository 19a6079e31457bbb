"""`explain`: the reason for a gradient that is None, zero or not finite, with the user's lines."""

import gc
import re
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import BuildError, NotATensorError

F = paddle.nn.functional


def leaf(*values: float, dtype: str = "float32") -> Any:
    return paddle.to_tensor(list(values), dtype=dtype, stop_gradient=False)


def line_of(marker: str) -> int:
    """The line of this file that ends in the comment ``# <marker>``."""
    with open(__file__, encoding="utf-8") as file:
        found = [n for n, text in enumerate(file, 1) if text.rstrip().endswith(f"# {marker}")]
    assert len(found) == 1, marker
    return found[0]


def at(marker: str) -> str:
    return f"test_explain.py:{line_of(marker)}"


@pytest.fixture(autouse=True)
def no_leftovers() -> None:
    """Graphs of other tests are not candidates here."""
    gc.collect()


# --- None: the tensor itself


def test_stop_gradient_is_the_default_of_tensors_that_are_made_from_values() -> None:
    found = paddle.explain(paddle.to_tensor([1.0]))
    assert found.state == "none"
    assert found.kinds == ("stop_gradient",)
    assert "stop_gradient=False" in str(found)


def test_stop_gradient_that_was_set_names_the_line() -> None:
    x = leaf(1.0)
    x.stop_gradient = True  # stopped here
    found = paddle.explain(x)
    assert found.reason == "stop_gradient"
    assert found.reasons[0].location == at("stopped here")


def test_stop_gradient_set_on_a_result() -> None:
    y = leaf(1.0) * 2.0
    y.stop_gradient = True  # result stopped here
    found = paddle.explain(y)
    assert found.reason == "stop_gradient"
    assert at("result stopped here") in str(found)


def test_integers() -> None:
    found = paddle.explain(paddle.to_tensor([1, 2]))
    assert found.reason == "not_floating"
    assert "dtype='float32'" in str(found)


def test_a_result_is_not_retained() -> None:
    x = leaf(1.0, 2.0)
    y = x * x  # made here
    y.sum().backward()
    found = paddle.explain(y)
    assert found.reason == "not_retained"
    assert found.reasons[0].location == at("made here")
    assert "made by multiply at" in str(found)
    assert "x.retain_grads()" in str(found)


def test_a_retained_result_has_nothing_to_explain() -> None:
    x = leaf(1.0, 2.0)
    y = x * 3.0
    y.retain_grads()
    (y * y).sum().backward()
    assert paddle.explain(y).state == "fine"
    assert paddle.explain(y).reasons == ()


def test_results_that_were_not_recorded() -> None:
    x = leaf(1.0)
    with paddle.no_grad():  # switched off
        y = x * 2.0
    found = paddle.explain(y)
    assert found.reason == "not_recorded"
    assert at("switched off") in str(found)
    assert paddle.explain(x > 0.0).reason == "not_floating"


# --- None: no pass, or a pass that is over


def test_no_backward_pass_yet() -> None:
    x = leaf(1.0, 2.0)
    loss = paddle.exp(x).sum()
    found = paddle.explain(x, loss)
    assert found.kinds == ("no_backward",)
    assert "loss.backward()" in str(found)
    assert [step.split()[0] for step in found.path] == ["sum", "exp", "leaf"]
    assert paddle.explain(x).reason == "no_backward"  # the reader is found without the loss
    assert "exp at" in str(paddle.explain(x))


def test_a_leaf_that_nothing_reads() -> None:
    assert paddle.explain(leaf(1.0)).reason == "unused"


@pytest.mark.parametrize("how", ["clear_grad", "clear_gradient", "optimizer", "assigned"])
def test_cleared_to_none(how: str) -> None:
    w = paddle.create_parameter([2])
    (w * w).sum().backward()
    if how == "optimizer":
        paddle.optimizer.SGD(0.1, parameters=[w]).clear_grad(set_to_zero=False)
    elif how == "assigned":
        w.grad = None
    else:
        getattr(w, how)(set_to_zero=False)
    found = paddle.explain(w)
    assert w.grad is None
    assert found.reason == "cleared"
    assert "test_explain.py" in str(found.reasons[0].location)


@pytest.mark.parametrize("by_optimizer", [True, False])
def test_cleared_to_zeros(by_optimizer: bool) -> None:
    w = paddle.create_parameter([2])
    (w * 3.0).sum().backward()
    if by_optimizer:
        paddle.optimizer.SGD(0.1, parameters=[w]).clear_grad()
    else:
        w.clear_grad()
    found = paddle.explain(w)
    assert (found.state, found.reason) == ("zero", "cleared")
    (w * 3.0).sum().backward()
    assert paddle.explain(w).state == "fine"


def test_a_freed_graph_says_who_freed_it_and_that_it_did_not_get_here() -> None:
    x, w = leaf(1.0), leaf(2.0)
    loss = (w * w).sum()
    loss.backward()  # freed here
    found = paddle.explain(x, loss)
    assert found.reason == "not_reached"
    assert found.reasons[0].location == at("freed here")
    assert "retain_graph=True" in str(found)


def test_zero_in_a_freed_graph_says_how_to_find_out() -> None:
    x = leaf(-1.0)
    loss = F.relu(x).sum()
    loss.backward()
    found = paddle.explain(x, loss)
    assert (found.state, found.reasons) == ("zero", ())
    assert "retain_graph=True" in str(found)
    assert "retain_graph=True" in str(paddle.explain(x))


# --- None: cut on the way


def cut_by(how: str, x: Any) -> Any:
    h = paddle.tanh(x)
    if how == "detach":
        return h.detach()
    if how == "numpy":
        return paddle.to_tensor(h.numpy())
    if how == "to_tensor":
        return paddle.to_tensor(h)
    if how == "set_value":
        h.set_value(h.numpy() * 2.0)
        return h
    if how == "stop":
        h.stop_gradient = True
        return h
    if how == "int":
        return h.astype("int64").astype("float32")
    raise AssertionError(how)


CUTS = [
    ("detach", "detached"),
    ("numpy", "left_graph"),
    ("to_tensor", "left_graph"),
    ("set_value", "set_value"),
    ("stop", "stop_gradient"),
]


@pytest.mark.parametrize(("how", "kind"), CUTS)
def test_a_cut_that_the_loss_reads(how: str, kind: str) -> None:
    x, w = leaf(1.0, 2.0), leaf(1.0, 1.0)
    loss = (cut_by(how, x) * w).sum()  # everything between is gone by now
    found = paddle.explain(x, loss)
    assert found.reason == kind
    first = found.reasons[0]
    assert not first.certain  # that it was x, nobody can tell any more
    assert "multiply" in first.text
    assert "tanh" in first.text
    assert [step.split()[0] for step in found.path] == ["sum", "multiply"]


def test_a_cut_is_certain_where_both_ends_are_alive() -> None:
    x, w = leaf(1.0, 2.0), leaf(1.0, 1.0)
    h = paddle.tanh(x)
    d = h.detach()  # cut here
    loss = (d * w).sum()
    found = paddle.explain(x, loss)
    assert found.kinds == ("detached",)
    assert found.reasons[0].certain
    assert found.reasons[0].location == at("cut here")
    assert h is not None


def test_a_cut_that_no_rule_reads_is_found_from_the_tensor() -> None:
    x, w = leaf(1.0, 2.0), leaf(1.0, 1.0)
    loss = (x.detach() + w).sum()
    found = paddle.explain(x, loss)
    assert found.reason == "detached"
    assert "not_connected" in found.kinds


def test_a_cut_into_integers() -> None:
    x, table = leaf(0.0, 1.0), leaf(1.0, 2.0, 3.0)
    rows = x.astype("int64")  # integers here
    loss = paddle.gather(table, rows).sum()
    found = paddle.explain(x, loss)
    assert found.reason == "integer_cast"
    assert found.reasons[0].location == at("integers here")
    assert "no gradient flows through integers" in str(found)


def test_an_input_that_has_no_gradient_is_named() -> None:
    x, table = leaf(0.0, 1.0), leaf(1.0, 2.0, 3.0)
    loss = paddle.gather(table, paddle.argmax(x).reshape([1])).sum()
    found = paddle.explain(x, loss)
    assert "not_differentiable" in found.kinds
    assert "int64 input 'index' of gather at" in str(found)


def test_what_ran_without_recording() -> None:
    x, w = leaf(1.0, 2.0), leaf(1.0, 1.0)
    with paddle.no_grad():  # nothing is recorded
        h = x * 2.0
    loss = (h * w).sum()
    found = paddle.explain(x, loss)
    assert found.reason == "no_grad"
    assert found.reasons[0].location == at("nothing is recorded")
    assert "not_connected" in found.kinds


def test_a_loss_that_was_not_recorded_itself() -> None:
    x = leaf(1.0)
    with paddle.no_grad():
        loss = (x * 2.0).sum()
    assert paddle.explain(x, loss).reason == "not_recorded"
    assert paddle.explain(x, (x.detach() * 2.0).sum()).reason == "detached"


def test_not_connected_names_both_ends() -> None:
    x, w = leaf(1.0), leaf(2.0)
    aside = paddle.exp(x)  # leads elsewhere
    constant = paddle.to_tensor([3.0])
    loss = (w * constant).sum()
    found = paddle.explain(x, loss)
    assert found.reason == "not_connected"
    assert f"exp at {at('leads elsewhere')}" in str(found)
    assert "y of multiply" in str(found)
    assert aside is not None


def test_several_paths_one_of_which_is_open() -> None:
    x = leaf(1.0, 2.0)
    loss = (x.detach() * x).sum()
    assert paddle.explain(x, loss).kinds == ("no_backward",)
    loss.backward()
    assert paddle.explain(x, loss).state == "fine"


def test_a_loss_that_is_no_scalar_mentions_the_seed() -> None:
    x = leaf(*range(6)).reshape([3, 2])
    loss = x * 2.0
    assert any("ones of shape (3, 2)" in note for note in paddle.explain(x, loss).notes)
    total = loss.sum()
    assert not any("ones of shape" in note for note in paddle.explain(x, total).notes)


def test_operations_without_a_gradient() -> None:
    x = leaf(5.5, 6.5)
    assert paddle.explain(x, paddle.floor(x).sum()).reason == "not_recorded"
    assert "floor" in str(paddle.explain(x, paddle.floor(x).sum()))


# --- zero


def explained(x: Any, loss: Any) -> Any:
    loss.backward(retain_graph=True)
    return paddle.explain(x, loss)


ZEROS = [
    ("inactive", (-1.0, -2.0), lambda x: F.relu(x)),
    ("not_chosen", (5.0, 6.0), lambda x: paddle.clip(x, 0.0, 1.0)),
    ("not_chosen", (5.0, 6.0), lambda x: paddle.where(x < 0.0, x, paddle.ones([2]))),
    ("not_chosen", (5.0, 6.0), lambda x: paddle.maximum(x, paddle.full([2], 9.0))),
    ("multiplied_by_zero", (5.0, 6.0), lambda x: x * paddle.zeros([2])),
    ("saturated", (50.0, 60.0), lambda x: paddle.tanh(x)),
    ("cancelled", (5.0, 6.0), lambda x: x - x),
    ("zero_derivative", (0.0, 0.0), lambda x: paddle.square(x)),
]


@pytest.mark.parametrize(("kind", "values", "function"), ZEROS)
def test_what_made_it_zero(kind: str, values: Any, function: Any) -> None:
    x = leaf(*values)
    y = function(x * 1.0)
    loss = (y * 3.0).sum()
    found = explained(x, loss)
    assert x.grad.tolist() == [0.0, 0.0]
    assert (found.state, found.reason) == ("zero", kind)
    assert re.search(r"test_explain\.py:\d+", str(found.reasons[0].location))
    assert x.grad.tolist() == [0.0, 0.0]  # as it was


def test_what_made_it_zero_on_each_path() -> None:
    x = leaf(-1.0, -2.0)
    found = explained(x, (F.relu(x) + x * 0.0).sum())
    assert set(found.kinds) == {"inactive", "multiplied_by_zero"}


def test_underflow() -> None:
    x = leaf(1.0)
    y = x
    for _ in range(8):
        y = y * 1e-6
    found = explained(x, y.sum())
    assert (found.state, found.reason) == ("zero", "underflow")
    assert "float64" in str(found)


def test_zero_in_places() -> None:
    x = leaf(-1.0, 2.0)
    found = explained(x, F.relu(x).sum())
    assert found.state == "partly zero"
    assert "1 of 2 elements are zero" in str(found)


def test_another_pass_made_it_zero() -> None:
    x = leaf(1.0)
    (-2.0 * x).sum().backward()
    found = explained(x, (2.0 * x).sum())
    assert (found.state, found.reason) == ("zero", "other_pass")


def test_a_hook_made_it_zero() -> None:
    x = leaf(1.0)
    y = x * 2.0
    calls = []
    y.register_hook(lambda g: calls.append(1) or g * 0.0)
    loss = (y * y).sum()
    found = explained(x, loss)
    assert (found.state, found.reason) == ("zero", "hook")
    assert "multiply at" in str(found)
    assert len(calls) == 1  # the diagnosis calls none


# --- not finite


def test_the_branch_that_where_did_not_take() -> None:
    x = leaf(0.0, 1.0)
    with np.errstate(all="ignore"):
        loss = paddle.where(x > 0.0, paddle.log(x + 0.0), x).sum()  # masked log
        found = explained(x, loss)
    assert (found.state, found.reason) == ("not finite", "zero_times_infinity")
    assert found.reasons[0].location == at("masked log")
    assert "strong_zeros()" in str(found)
    assert "where(ok" in str(found)
    assert "x = 0" in str(found)


@pytest.mark.parametrize(
    ("function", "hint"),
    [(paddle.sqrt, "1e-12"), (lambda x: x**0.5, "base"), (lambda x: 1.0 / x, "divisor")],
)
def test_an_infinite_derivative(function: Any, hint: str) -> None:
    x = leaf(0.0, 1.0)
    with np.errstate(all="ignore"):
        found = explained(x, function(x).sum())
    assert found.state == "not finite"
    assert {"infinite_derivative", "forward_not_finite"} & set(found.kinds)
    assert hint in str(found)


def test_not_finite_since_the_forward_pass_names_the_operation() -> None:
    x = leaf(0.0, 1.0)
    with np.errstate(all="ignore"):
        y = paddle.log(x)  # infinite here
        found = explained(x, paddle.mean(y * y))
    assert found.reason == "forward_not_finite"
    assert found.reasons[0].location == at("infinite here")


def test_a_leaf_that_is_not_finite_itself() -> None:
    x = leaf(float("nan"), 1.0)
    found = explained(x, (x * x).sum())
    assert found.reason == "forward_not_finite"
    assert "itself" in str(found)


def test_overflow_of_the_gradient() -> None:
    x = leaf(1e-37)
    loss = (x * 1e20 * 1e20).sum()
    with np.errstate(all="ignore"):
        found = explained(x, loss)
    assert loss.item() == pytest.approx(1e3)
    assert (found.state, found.reason) == ("not finite", "overflow")
    assert "float64" in str(found)


# --- the pass that looks leaves no trace


def test_nothing_is_touched() -> None:
    x = leaf(-1.0, -2.0)
    y = x * 2.0
    y.retain_grads()
    calls: list[int] = []
    x.register_hook(lambda g: calls.append(1))
    loss = F.relu(y).sum()
    paddle.explain(x, loss)
    assert (x.grad, y.grad, calls) == (None, None, [])
    loss.backward()
    assert (x.grad.tolist(), len(calls)) == ([0.0, 0.0], 1)


def test_a_chain_of_a_hundred_thousand_operations() -> None:
    x = leaf(1.0)
    y = x
    for _ in range(100_000):
        y = y + 0.0
    found = paddle.explain(x, (y * 0.0).sum())
    assert found.reason == "no_backward"
    assert "multiplied_by_zero" in found.kinds
    assert len(found.path) < 40


def test_one_of_several_outputs() -> None:
    x = leaf(1.0, 2.0, 3.0, 4.0)
    a, b = paddle.split(x * 1.0, 2)
    loss = a.sum()
    assert paddle.explain(a, loss).kinds == ("not_retained",)
    assert "not_connected" in paddle.explain(b, loss).kinds
    found = explained(x, (a * 0.0 + b * 0.0).sum())
    assert found.reason == "multiplied_by_zero"


def test_what_it_does_not_take() -> None:
    with pytest.raises(NotATensorError, match=r"give it the tensor whose \.grad"):
        paddle.explain(1.0)
    with pytest.raises(NotATensorError, match="loss must be a Tensor"):
        paddle.explain(leaf(1.0), 3)


def test_in_a_notebook_it_is_escaped() -> None:
    x = leaf(1.0)
    x.name = "<script>alert(1)</script>"
    page = paddle.explain(x)._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


# --- programs


@pytest.fixture
def data(static_mode: None) -> Any:
    x = paddle.static.data("x", [2])
    x.stop_gradient = False
    return x


@pytest.mark.usefixtures("static_mode")
def test_program_data_stop_gradients() -> None:
    x = paddle.static.data("x", [2])
    found = paddle.explain(x)
    assert found.reason == "stop_gradient"
    assert "x.stop_gradient = False" in str(found)
    assert paddle.explain("x").reason == "stop_gradient"


def test_program_without_a_backward_half(data: Any) -> None:
    loss = paddle.sum(data * data)
    assert paddle.explain(data).reason == "no_backward"
    assert "append_backward" in str(paddle.explain(data, loss))


def test_program_gradient_that_is_there(data: Any) -> None:
    paddle.static.gradients(paddle.sum(data * data), data)
    found = paddle.explain("x", program=paddle.static.default_main_program())
    assert found.state == "fine"
    assert "x@GRAD" in str(found)


def test_program_cut_by_stop_gradient(data: Any) -> None:
    h = paddle.tanh(data)  # stopped in the program
    h.stop_gradient = True
    w = paddle.static.create_parameter([2], "float32")
    loss = paddle.sum(h * w)
    paddle.static.append_backward(loss)
    found = paddle.explain(data, loss)
    assert found.reason == "stop_gradient"
    assert found.reasons[0].location == at("stopped in the program")
    assert paddle.explain("x").reason == "stop_gradient"  # the loss is known from the program
    assert paddle.explain(h).reason == "stop_gradient"


def test_program_integers_and_indices(data: Any) -> None:
    w = paddle.static.create_parameter([2], "float32")
    loss = paddle.sum(paddle.gather(w, paddle.cast(data, "int64")))
    paddle.static.append_backward(loss)
    assert paddle.explain(data, loss).reason == "integer_cast"


def test_program_asked_for_other_gradients(data: Any) -> None:
    w = paddle.static.create_parameter([2], "float32")
    loss = paddle.sum(data * w)
    paddle.static.append_backward(loss, parameter_list=[w], no_grad_set={"x"})
    found = paddle.explain(data, loss)
    assert found.reason == "no_gradient_asked"
    assert "gradients(loss, x)" in str(found)
    assert [step.split()[0] for step in found.path] == ["sum", "multiply"]


def test_program_not_connected(data: Any) -> None:
    w = paddle.static.create_parameter([2], "float32")
    loss = paddle.sum(w * w)
    paddle.static.append_backward(loss)
    assert paddle.explain(data, loss).reason == "unused"
    paddle.exp(data)
    found = paddle.explain(data, loss)
    assert found.reason == "not_connected"
    assert "exp at" in str(found)


def test_program_unknown_names(data: Any) -> None:
    with pytest.raises(BuildError, match="var nope not in this block"):
        paddle.explain("nope")
    with pytest.raises(NotATensorError, match="Variable or its name"):
        paddle.explain(3, program=paddle.static.default_main_program())


def test_what_was_cut_before_the_leaf_was_made_is_no_candidate() -> None:
    earlier, w = leaf(1.0, 2.0), leaf(1.0, 1.0)
    kept = paddle.exp(earlier).detach()  # another's cut
    with paddle.no_grad():  # another's block
        kept = kept * 2.0
    x = leaf(1.0, 2.0)
    loss = (w * 3.0).sum()
    found = paddle.explain(x, loss)
    assert found.kinds == ("not_connected",)
    assert at("another's cut") not in str(found)
    assert at("another's block") not in str(found)
    assert kept is not None
    paddle.exp(x).detach()  # a cut of its own
    found = paddle.explain(x, (w * 3.0).sum())
    assert at("a cut of its own") in str(found)


@pytest.mark.parametrize("keep", [True, False])
def test_a_leaf_that_a_freed_graph_did_not_reach(keep: bool) -> None:
    """The graph is gone, and with it what was cut off: the line of the cut is still named."""
    w, b = leaf(1.0, 4.0), leaf(0.5, 0.5)
    scale = (w * 2.0).detach()
    loss = (scale * b).sum()
    loss.backward()
    del scale
    report = paddle.explain(w, loss) if keep else paddle.explain(w)
    assert [r.kind for r in report.reasons] == ["not_reached" if keep else "unused", "detached"]
    assert not report.reasons[1].certain
    assert "scale = (w * 2.0).detach()" in str(report)


# --- derivatives that were taken as values


@pytest.mark.parametrize(
    "take",
    [
        lambda f, x: paddle.grad(f(x), x)[0],
        lambda f, x: paddle.autograd.vjp(f, x)[1],
        lambda f, x: paddle.autograd.vjp(f, x)[0],
        lambda f, x: paddle.autograd.jvp(f, x)[0],
        lambda f, x: paddle.autograd.hvp(f, x)[0],
        lambda f, x: paddle.autograd.value_and_grad(f)(x)[0],
        lambda f, x: paddle.autograd.value_and_grad(f)(x)[1],
    ],
)
def test_a_penalty_on_a_derivative_that_has_no_history(take: Any) -> None:
    w, x = leaf(1.0, 2.0), leaf(1.0, 3.0)
    value = take(lambda x: (x**3 * w).sum(), x)
    loss = (x * value).sum()
    loss.backward()
    assert w.grad is None
    found = paddle.explain(w, loss)
    assert "no_create_graph" in found.kinds
    reason = found.reasons[found.kinds.index("no_create_graph")]
    assert "pass create_graph=True" in reason.text
    assert "take(lambda x:" in reason.text or "lambda f, x: paddle" in reason.text


def test_a_penalty_that_is_connected_is_not_blamed() -> None:
    w, x = leaf(1.0, 2.0), leaf(1.0, 3.0)
    paddle.grad((x * x).sum(), x)
    (g,) = paddle.grad((x**3 * w).sum(), x, create_graph=True)
    loss = (g * g).sum()
    loss.backward()
    assert paddle.explain(w, loss).state == "fine"


def test_no_line_is_noted_where_nothing_is_recorded() -> None:
    w, x = leaf(1.0, 2.0), leaf(1.0, 3.0)
    y = (x * w).sum()
    with paddle.no_grad():
        (g,) = paddle.grad(y, x)
    loss = (g * x).sum()
    loss.backward()
    assert "no_create_graph" not in paddle.explain(w, loss).kinds

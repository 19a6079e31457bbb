"""Saving the state of an optimizer and going on from it, in both modes."""

from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from tests.optimizer.training import (
    OPTIMIZERS,
    P,
    Training,
    eagerly,
    parameters,
    same,
    static,
    step_eagerly,
)


def restart(make: Any, values: Any, state: Any, steps: Any, **options: Any) -> list[Any]:
    """What a process that knows values and state alone makes of further steps."""
    w, b = parameters(**options)
    w.set_value(values[0])
    b.set_value(values[1])
    optimizer = make([w, b])
    optimizer.set_state_dict(state)
    step_eagerly(optimizer, [w, b], steps)
    return [w.numpy(), b.numpy()]


@pytest.mark.parametrize("done", [0, 1, 3])
@pytest.mark.parametrize("which", OPTIMIZERS)
def test_training_goes_on_bit_for_bit(which: str, done: int) -> None:
    make = OPTIMIZERS[which]
    whole, _ = eagerly(make, 8)
    values, optimizer = eagerly(make, done)
    same(restart(make, values, optimizer.state_dict(), range(done, 8)), whole)


@pytest.mark.parametrize("which", OPTIMIZERS)
def test_programs_go_on_bit_for_bit(which: str) -> None:
    make = OPTIMIZERS[which]
    whole, half, rest = Training(make), Training(make), Training(make)
    expected = whole.run(range(8))
    half.run(range(3))
    with static.scope_guard(half.scope):
        state = half.optimizer.state_dict()
    for name in "wb":
        value = np.asarray(half.scope.find_var(name).get_tensor())
        rest.scope.find_var(name).get_tensor().set(value)
    with static.scope_guard(rest.scope):
        rest.optimizer.set_state_dict(state)
    same(rest.run(range(3, 8)), expected)


@pytest.mark.parametrize("which", OPTIMIZERS)
def test_a_program_goes_on_from_eager_state(which: str) -> None:
    """The names are the same in both modes."""
    make = OPTIMIZERS[which]
    whole, _ = eagerly(make, 8)
    values, optimizer = eagerly(make, 3)
    training = Training(make)
    for name, value in zip("wb", values, strict=True):
        training.scope.find_var(name).get_tensor().set(value)
    with static.scope_guard(training.scope):
        training.optimizer.set_state_dict(optimizer.state_dict())
    same(training.run(range(3, 8)), whole)


def test_names() -> None:
    def names(which: str) -> list[str]:
        return sorted(eagerly(OPTIMIZERS[which])[1].state_dict())

    assert names("SGD") == []
    assert names("Momentum") == ["b_velocity_0", "w_velocity_0"]
    adam = ["beta1_pow_acc", "beta2_pow_acc", "moment1", "moment2"]
    assert names("Adam") == [f"{p}_{n}_0" for p in "bw" for n in adam]
    assert "w_moment2_max_0" in names("Adam amsgrad")
    assert [n for n in names("Adadelta") if n[0] == "w"] == [
        "w__avg_squared_grad_0",
        "w__avg_squared_update_0",
    ]
    assert [n for n in names("RMSProp") if n[0] == "w"] == [
        "w_mean_grad_0",
        "w_mean_square_0",
        "w_momentum_0",
    ]
    assert [n for n in names("ASGD") if n[0] == "w"] == ["w_d_0", "w_m_0", "w_y_0"]


def test_what_was_saved_does_not_change() -> None:
    table = paddle.create_parameter([4, 2], name="table")
    adam = P.Adam(0.1, parameters=[table], lazy_mode=True)

    def step() -> None:
        ids = paddle.to_tensor([0, 2])
        paddle.nn.functional.embedding(ids, table, sparse=True).sum().backward()
        adam.step()
        adam.clear_grad(set_to_zero=False)

    step()
    saved = adam.state_dict()
    before = {name: t.numpy().copy() for name, t in saved.items()}
    step()
    assert all(np.array_equal(before[name], t.numpy()) for name, t in saved.items())
    adam.set_state_dict(saved)
    step()
    assert all(np.array_equal(before[name], t.numpy()) for name, t in saved.items())


def test_a_scheduler_is_saved_with_it() -> None:
    def make(ps: Any) -> Any:
        return P.Momentum(P.lr.StepDecay(0.5, step_size=2, gamma=0.1), parameters=ps)

    _, optimizer = eagerly(make, 1)
    for _ in range(3):
        optimizer._learning_rate.step()
    state = optimizer.state_dict()
    assert "LR_Scheduler" in state
    w, b = parameters()
    other = make([w, b])
    other.set_state_dict(state)
    assert other.get_lr() == optimizer.get_lr() == pytest.approx(0.05)
    del state["LR_Scheduler"]
    with pytest.raises(ValueError, match="LR_Scheduler is missing: the learning rate is that of a"):
        other.set_state_dict(state)
    with pytest.raises(ValueError, match="LR_Scheduler is there: the learning rate is a number"):
        P.Momentum(0.1, parameters=[w]).set_state_dict(optimizer.state_dict())


def test_float32_copies_are_saved_with_it() -> None:
    def make(ps: Any) -> Any:
        return P.Adam(1e-4, epsilon=1e-3, parameters=ps, multi_precision=True)

    whole, _ = eagerly(make, 8, dtype="float16")
    values, optimizer = eagerly(make, 3, dtype="float16")
    state = optimizer.state_dict()
    assert sorted(state["master_weights"]) == ["b", "w"]
    same(restart(make, values, state, range(3, 8), dtype="float16"), whole)
    del state["master_weights"]["b"]
    with pytest.raises(ValueError, match=r"master_weights\['b'\] is missing"):
        restart(make, values, state, range(3, 8), dtype="float16")


def test_all_that_does_not_fit_is_listed_and_nothing_changed() -> None:
    _, optimizer = eagerly(OPTIMIZERS["Adam"], 2)
    good = optimizer.state_dict()
    bad: dict[str, Any] = dict(good)
    del bad["w_moment1_0"]
    bad["b_moment1_0"] = np.zeros(3, "float32")
    bad["b_moment2_0"] = np.zeros(2, "float64")
    bad["other_moment1_0"] = np.zeros(2, "float32")
    with pytest.raises(ValueError, match="nothing was changed") as caught:
        optimizer.set_state_dict(bad)
    text = str(caught.value)
    for problem in (
        "w_moment1_0 is missing",
        "b_moment1_0 has shape [3], not [2]",
        "b_moment2_0 is float64, not float32",
        "other_moment1_0 is nothing that this optimizer keeps",
        "under the same names",
    ):
        assert problem in text
    for name, value in optimizer.state_dict().items():
        np.testing.assert_array_equal(value.numpy(), good[name].numpy())
    with pytest.raises(TypeError, match="set_state_dict takes what state_dict returned"):
        optimizer.set_state_dict([1])


def test_of_much_that_does_not_fit_the_first_is_listed() -> None:
    """The state of another network: what is kept instead is said once."""
    _, optimizer = eagerly(OPTIMIZERS["Adam"], 1)
    state = {f"other_{n}_moment1_0": np.zeros(2, "float32") for n in range(25)}
    with pytest.raises(ValueError, match="nothing was changed") as caught:
        optimizer.set_state_dict(state)
    text = str(caught.value)
    assert text.count("is nothing that this optimizer keeps") == 10
    assert text.count("it keeps") == 1
    assert "w_moment1_0" in text
    assert "... and 15 more" in text


def test_names_that_do_not_fit_in_a_program() -> None:
    training = Training(OPTIMIZERS["Momentum"])
    training.run()
    with static.scope_guard(training.scope):
        state = training.optimizer.state_dict()
        before = {name: value.copy() for name, value in state.items()}
        state["v_velocity_0"] = state.pop("w_velocity_0")
        with pytest.raises(ValueError, match="w_velocity_0 is missing") as caught:
            training.optimizer.set_state_dict(state)
        assert "v_velocity_0 is nothing that this optimizer keeps" in str(caught.value)
        same(
            [training.optimizer.state_dict()[n] for n in sorted(before)],
            [before[n] for n in sorted(before)],
        )


def test_powers_of_the_references_shape_are_taken() -> None:
    """There they have one axis."""
    _, optimizer = eagerly(OPTIMIZERS["Adam"], 2)
    state = {
        name: value.numpy().reshape(1) if "pow" in name else value.numpy()
        for name, value in optimizer.state_dict().items()
    }
    values, _ = eagerly(OPTIMIZERS["Adam"], 2)
    whole, _ = eagerly(OPTIMIZERS["Adam"], 6)
    same(restart(OPTIMIZERS["Adam"], values, state, range(2, 6)), whole)

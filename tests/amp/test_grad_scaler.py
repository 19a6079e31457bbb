"""`GradScaler`, and what `decorate` makes of optimizers and layers."""

import copy
import pickle

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import ArgumentError, DuplicateError, ModeError, NotATensorError

F = paddle.nn.functional
nn = paddle.nn
RNG = np.random.default_rng(1)
X = RNG.standard_normal((32, 6)).astype("float32")
LABELS = X[:, :3].argmax(1).astype("int64")

OPTIMIZERS = {
    "SGD": {},
    "Momentum": {},
    "Adam": {},
    "AdamW": {},
    "Adamax": {},
    "Adagrad": {},
    "Adadelta": {},
    "RMSProp": {},
    "Lamb": {},
    "NAdam": {},
    "RAdam": {},
    "Rprop": {},
    "ASGD": {},
}


def optimizer_of(name, parameters, **options):
    return getattr(paddle.optimizer, name)(0.01, parameters=parameters, **options)


def model(seed=0):
    paddle.seed(seed)
    with paddle.utils.unique_name.guard():
        return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.LayerNorm(8), nn.Linear(8, 3))


def training(level, optimizer, scaler, steps=8, traced=False, clip=False):
    net = model()
    options = {"grad_clip": nn.ClipGradByGlobalNorm(0.5)} if clip else {}
    trained = optimizer_of(optimizer, net.parameters(), **options)
    net, trained = paddle.amp.decorate(net, trained, level=level)

    def step(x, y):
        with paddle.amp.auto_cast(level=level):
            loss = F.cross_entropy(net(x), y)
        scaler.scale(loss).backward()
        scaler.step(trained)
        scaler.update()
        trained.clear_grad()
        return loss

    if traced:
        step = paddle.jit.to_static(step, backend="numpy")
    with np.errstate(all="ignore"):
        losses = [step(*map(paddle.to_tensor, (X, LABELS))).item() for _ in range(steps)]
    return losses, net, trained


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_traced_steps_have_the_bits_of_eager_ones():
    """The first scale overflows, so the first steps are left out; later ones raise the scale."""
    for level in ("O0", "O1", "O2"):
        for clip in (False, True):
            found = []
            for traced in (False, True):
                scaler = paddle.amp.GradScaler(init_loss_scaling=2.0**33, incr_every_n_steps=3)
                losses, net, trained = training(level, "Adam", scaler, 24, traced, clip)
                state = trained.state_dict()
                masters = state.pop("master_weights", {})
                values = {**net.state_dict(), **state, **masters}
                found.append((losses, scaler.state_dict(), values))
            (a, states_a, values_a), (b, states_b, values_b) = found
            assert a == b, (level, clip)
            assert states_a == states_b
            assert values_a.keys() == values_b.keys()
            for name, value in values_a.items():
                np.testing.assert_array_equal(value.numpy(), values_b[name].numpy(), name)
            if level != "O0":
                assert a[0] == a[1]
                assert states_a["scale"] < 2.0**33
            assert a[-1] < a[0]


def test_without_overflow_a_scale_of_a_power_of_two_changes_nothing():
    plain = training("O0", "Adam", paddle.amp.GradScaler(enable=False))[0]
    assert plain == training("O0", "Adam", paddle.amp.GradScaler(init_loss_scaling=256.0))[0]


def test_every_optimizer_trains_parameters_of_16_bits_by_their_masters():
    for name in OPTIMIZERS:
        scaler = paddle.amp.GradScaler(init_loss_scaling=64.0)
        losses, net, trained = training("O2", name, scaler, 6)
        state = trained.state_dict()
        masters = state["master_weights"]
        halves = {p.name: p for p in net.parameters() if p.dtype == "float16"}
        assert masters.keys() == halves.keys(), name
        assert len(halves) == 4
        for key, p in halves.items():
            assert masters[key].dtype == "float32"
            np.testing.assert_array_equal(masters[key].numpy().astype("float16"), p.numpy())
        assert all(v.dtype == "float32" for n, v in state.items() if "moment" in n)
        assert losses[-1] <= losses[0] + 1e-3, name
        again = optimizer_of(name, net.parameters())
        paddle.amp.decorate(net, again, level="O2")
        again.set_state_dict(state)
        for key, value in again.state_dict()["master_weights"].items():
            np.testing.assert_array_equal(value.numpy(), masters[key].numpy())


def test_masters_keep_what_a_half_loses():
    """Steps of 1e-4 from 1.0 are lost in float16, whose neighbours there are 1e-3 apart."""

    def after(master_weight):
        layer = nn.Linear(1, 1, weight_attr=nn.initializer.Constant(1.0), bias_attr=False)
        sgd = paddle.optimizer.SGD(1e-4, parameters=layer.parameters())
        paddle.amp.decorate(layer, sgd, level="O2", master_weight=master_weight)
        for _ in range(100):
            layer(paddle.ones([1, 1], "float16")).sum().backward()
            sgd.step()
            sgd.clear_grad()
        return layer.weight.item()

    assert after(False) == 1.0
    assert after(None) == pytest.approx(0.99, abs=1e-3)


def test_decorating_a_trained_optimizer_keeps_its_state():
    net = model()
    adam = paddle.optimizer.Adam(parameters=net.parameters())
    net(paddle.to_tensor(X)).sum().backward()
    adam.step()
    adam.clear_grad()
    paddle.amp.decorate(net, adam, level="O2", master_grad=True)
    net(paddle.to_tensor(X).astype("float16")).astype("float32").sum().backward()
    adam.step()
    assert len(adam.state_dict()["master_weights"]) == 4


def test_what_decorate_casts_and_leaves():
    net = nn.Sequential(nn.Conv2D(1, 2, 3), nn.BatchNorm2D(2), nn.Linear(4, 4), nn.Linear(4, 2))
    assert paddle.amp.decorate(net) is net
    assert net[0].weight.dtype == "float32"
    adam = paddle.optimizer.Adam(parameters=net.parameters())
    given = paddle.amp.decorate(
        [net], [adam], "O2", save_dtype="float32", excluded_layers=[net[3], nn.LSTM]
    )
    assert given == ([net], [adam])
    kinds = [p.dtype.name for p in net.parameters()]
    assert kinds == ["float16"] * 2 + ["float32"] * 2 + ["float16"] * 2 + ["float32"] * 2
    assert {v.dtype.name for v in net.state_dict().values()} == {"float32"}
    assert net[0].weight.dtype == "float16"
    for wrong in (
        {"models": 3},
        {"models": net, "optimizers": 3},
        {"models": net, "level": "O7"},
        {"models": net, "dtype": "float64"},
        {"models": net, "save_dtype": "int32"},
        {"models": net, "excluded_layers": 3},
    ):
        with pytest.raises(ArgumentError):
            paddle.amp.decorate(**wrong)


def step_of(scaler):
    w = paddle.create_parameter([2])
    sgd = paddle.optimizer.SGD(0.5, parameters=[w])
    scaler.scale(w.sum()).backward()
    return w, sgd


def test_gradients_are_unscaled_before_they_are_clipped_and_once():
    scaler = paddle.amp.GradScaler(init_loss_scaling=1024.0)
    w, sgd = step_of(scaler)
    assert w.grad.tolist() == [1024.0, 1024.0]
    scaler.unscale_(sgd)
    assert w.grad.tolist() == [1.0, 1.0]
    nn.utils.clip_grad_norm_([w], 0.5)
    before = w.numpy()
    scaler.step(sgd)
    np.testing.assert_allclose(before - w.numpy(), 0.5 * 0.5 / np.sqrt(2.0), rtol=1e-5)


def test_calls_out_of_order_say_so():
    scaler = paddle.amp.GradScaler()
    _, sgd = step_of(scaler)
    scaler.unscale_(sgd)
    with pytest.raises(DuplicateError, match=r"call scaler.update\(\) once"):
        scaler.unscale_(sgd)
    scaler.step(sgd)
    for call in (scaler.step, scaler.unscale_):
        with pytest.raises(DuplicateError, match=r"step.*since the last update"):
            call(sgd)
    scaler.update()
    scaler.step(sgd)
    with pytest.raises(NotATensorError, match="takes a Tensor or a Variable, got float"):
        scaler.scale(1.0)
    with pytest.raises(ArgumentError, match="takes an optimizer, got Linear"):
        scaler.step(nn.Linear(2, 2))
    for wrong in ({"incr_ratio": 1.0}, {"decr_ratio": 1.0}, {"incr_every_n_steps": 0}):
        with pytest.raises(ArgumentError, match=next(iter(wrong))):
            paddle.amp.GradScaler(**wrong)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_step_that_overflowed_is_left_out_and_lowers_the_scale():
    scaler = paddle.amp.GradScaler(
        init_loss_scaling=8.0, decr_every_n_nan_or_inf=2, incr_every_n_steps=2
    )
    w = paddle.create_parameter([2])
    adam = paddle.optimizer.Adam(0.5, parameters=[w])
    scales = []
    for factor in (np.inf, np.nan, 1.0, 1.0, np.inf, 1.0):
        before = w.numpy().copy()
        scaler.scale((w * factor).sum()).backward()
        scaler.step(adam)
        scaler.update()
        adam.clear_grad()
        assert (w.numpy() == before).all() == (not np.isfinite(factor))
        scales.append(scaler.state_dict()["scale"].item())
    assert scales == [8.0, 4.0, 4.0, 8.0, 8.0, 8.0]


def test_state_round_trip():
    scaler = paddle.amp.GradScaler(init_loss_scaling=32.0, incr_ratio=4.0, incr_every_n_steps=7)
    _, sgd = step_of(scaler)
    scaler.minimize(sgd, paddle.ones([]))
    state = scaler.state_dict()
    assert state["incr_count"] == 1
    other = paddle.amp.GradScaler()
    other.load_state_dict(state)
    assert other.state_dict() == state
    assert other.get_incr_ratio() == 4.0
    with pytest.raises(ArgumentError, match="scale is missing"):
        other.load_state_dict({k: v for k, v in state.items() if k != "scale"})
    off = paddle.amp.GradScaler(enable=False)
    assert off.state_dict() == {}
    off.load_state_dict(state)
    with pytest.raises(ArgumentError, match="enable=False"):
        other.load_state_dict({})
    loss = paddle.ones([])
    assert off.scale(loss) is loss


def test_copies_go_on_from_the_same_scale():
    scaler = paddle.amp.GradScaler(init_loss_scaling=8.0, incr_every_n_steps=1)
    _, sgd = step_of(scaler)
    copies = [copy.copy(scaler), copy.deepcopy(scaler), pickle.loads(pickle.dumps(scaler))]
    scaler.step(sgd)
    scaler.update()
    assert scaler.state_dict()["scale"] == 16.0
    assert [c.state_dict()["scale"] for c in copies] == [8.0] * 3


def test_gradients_that_are_left_go_on_in_traced_steps_and_settings_are_guarded():
    def trained(traced):
        layer = nn.Linear(2, 1, weight_attr=nn.initializer.Constant(1.0))
        sgd = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
        paddle.amp.decorate(layer, sgd, level="O2")
        scaler = paddle.amp.GradScaler(init_loss_scaling=4.0)

        def step(x):
            with paddle.amp.auto_cast(level="O2"):
                loss = layer(x).sum()
            scaler.scale(loss).backward()
            scaler.step(sgd)
            scaler.update()

        run = paddle.jit.to_static(step, backend="numpy") if traced else step
        for _ in range(3):
            run(paddle.ones([1, 2]))
        scaler.set_incr_every_n_steps(1)
        run(paddle.ones([1, 2]))
        assert layer.weight.grad.dtype == "float32"
        assert scaler.state_dict()["scale"] == 8.0
        return layer.weight.tolist(), layer.weight.grad.tolist()

    assert trained(False) == trained(True)


def test_settings():
    scaler = paddle.amp.GradScaler("cuda", init_scale=4.0, growth_factor=3.0, enabled=True)
    assert scaler.is_enable()
    assert scaler.is_use_dynamic_loss_scaling()
    assert (scaler.get_init_loss_scaling(), scaler.get_incr_ratio()) == (4.0, 3.0)
    for name, value in {
        "init_loss_scaling": 16.0,
        "incr_ratio": 5.0,
        "decr_ratio": 0.25,
        "incr_every_n_steps": 10,
        "decr_every_n_nan_or_inf": 3,
    }.items():
        getattr(scaler, f"set_{name}")(value)
        assert getattr(scaler, f"get_{name}")() == value
    assert scaler.state_dict()["scale"] == 16.0


def test_rows_of_a_table_stay_rows():
    table = paddle.create_parameter([10, 2])
    adam = paddle.optimizer.Adam(parameters=[table], lazy_mode=True)
    scaler = paddle.amp.GradScaler(init_loss_scaling=4.0)
    scaler.scale(F.embedding(paddle.to_tensor([3, 7, 3]), table, sparse=True).sum()).backward()
    scaler.unscale_(adam)
    assert table.grad.rows.tolist() == [3, 7]
    assert table.grad.values.tolist() == [[2.0, 2.0], [1.0, 1.0]]
    before = table.numpy().copy()
    scaler.step(adam)
    assert ((table.numpy() != before).any(1)).nonzero()[0].tolist() == [3, 7]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_program_leaves_out_the_steps_that_eager_training_does():
    scaler = paddle.amp.GradScaler(init_loss_scaling=2.0**30, incr_every_n_steps=5)
    net = model()
    adam = paddle.optimizer.Adam(0.01, parameters=net.parameters())
    eager = []
    for _ in range(25):
        with paddle.amp.auto_cast():
            loss = F.cross_entropy(net(paddle.to_tensor(X)), paddle.to_tensor(LABELS))
        scaler.scale(loss).backward()
        scaler.minimize(adam, loss)
        adam.clear_grad()
        eager.append(loss.item())
    main, startup = paddle.static.Program(), paddle.static.Program()
    first = [p.numpy() for p in model().parameters()]
    with (
        paddle.static.scope_guard(paddle.static.Scope()),
        paddle.static.program_guard(main, startup),
    ):
        x = paddle.static.data("x", [32, 6])
        y = paddle.static.data("y", [32], "int64")
        built = model()
        with paddle.amp.auto_cast():
            loss = F.cross_entropy(built(x), y)
        in_program = paddle.amp.GradScaler(init_loss_scaling=2.0**30, incr_every_n_steps=5)
        operators, pairs = in_program.minimize(paddle.optimizer.Adam(0.01), in_program.scale(loss))
        assert len(operators) == len(pairs) == 6
        executor = paddle.static.Executor(backend="numpy")
        executor.run(startup)
        for p, value in zip(built.parameters(), first, strict=True):
            paddle.static.global_scope().var(p.name).value = value
        found = [float(executor.run(main, {"x": X, "y": LABELS}, [loss])[0]) for _ in range(25)]
        state = in_program.state_dict()
        in_program.load_state_dict({**state, "scale": np.float32([2.0])})
        assert in_program.state_dict()["scale"] == 2.0
    assert found == eager
    assert state == scaler.state_dict()
    assert found[0] == found[5] != found[-1]


def test_a_program_of_16_bits_says_what_decorate_needs():
    with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        layer = nn.Linear(2, 2)
        with pytest.raises(ModeError, match="set_default_dtype"):
            paddle.amp.decorate(layer, level="O2")


def test_an_update_without_a_step_says_what_is_missing():
    net = model()
    sgd = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    scaler = paddle.amp.GradScaler()
    for _ in range(2):
        with pytest.raises(ArgumentError, match=r"call scaler.step\(optimizer\) before it"):
            scaler.update()
        loss = scaler.scale(net(paddle.to_tensor(X)).mean())
        loss.backward()
        scaler.minimize(sgd, loss)  # updates by itself
    paddle.amp.GradScaler(use_dynamic_loss_scaling=False).update()
    paddle.amp.GradScaler(enable=False).update()

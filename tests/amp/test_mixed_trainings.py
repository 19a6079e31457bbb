"""Trainings in mixed precision: as good as those in float32, and those that need a scaled loss."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import autograd_engine as paddle

F = paddle.nn.functional
nn = paddle.nn
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module")
def digits():
    datasets = pytest.importorskip("sklearn.datasets", reason="the digits come with scikit-learn")
    bunch = datasets.load_digits()
    images = (bunch.images / 16.0).astype("float32")[:, None]
    order = np.random.default_rng(0).permutation(len(images))
    images, labels = images[order], bunch.target[order].astype("int64")
    return (images[:1400], labels[:1400]), (images[1400:], labels[1400:])


def accuracy(digits, level, traced, dtype="float16"):
    (images, labels), (test_images, test_labels) = digits
    paddle.seed(0)
    net = nn.Sequential(
        nn.Conv2D(1, 8, 3, padding=1),
        nn.BatchNorm2D(8),
        nn.ReLU(),
        nn.MaxPool2D(2),
        nn.Flatten(),
        nn.Linear(128, 64),
        nn.ReLU(),
        nn.Linear(64, 10),
    )
    adam = paddle.optimizer.AdamW(3e-3, parameters=net.parameters())
    net, adam = paddle.amp.decorate(net, adam, level=level, dtype=dtype)
    scaler = paddle.amp.GradScaler(enable=level != "O0" and dtype == "float16")

    def step(x, y):
        with paddle.amp.auto_cast(level=level, dtype=dtype):
            loss = F.cross_entropy(net(x), y)
        scaler.scale(loss).backward()
        scaler.step(adam)
        scaler.update()
        adam.clear_grad()

    if traced:
        step = paddle.jit.to_static(step)
    order = np.random.default_rng(1)
    for _ in range(12):
        for rows in order.permutation(len(images)).reshape(-1, 50):
            step(paddle.to_tensor(images[rows]), paddle.to_tensor(labels[rows]))
    net.eval()
    with paddle.no_grad(), paddle.amp.auto_cast(level=level, dtype=dtype):
        predicted = net(paddle.to_tensor(test_images)).argmax(1).numpy()
    return float((predicted == test_labels).mean())


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("traced", [pytest.param(False, marks=pytest.mark.thorough), True])
def test_digits_are_read_as_well_as_in_single_precision(digits, traced):
    single = accuracy(digits, "O0", traced)
    assert single > 0.96
    for level in ("O1", "O2"):
        for dtype in ("float16", "bfloat16"):
            assert accuracy(digits, level, traced, dtype) >= single - 0.005, (level, dtype)


def characters(program, batches, level, steps):
    """How often the character transformer knows the next one, after a short training."""
    paddle.seed(0)
    model = program.build_model()
    rates = paddle.optimizer.lr
    schedule = rates.LinearWarmup(rates.CosineAnnealingDecay(4e-3, steps), 20, 0.0, 4e-3)
    adam = paddle.optimizer.AdamW(
        schedule, parameters=model.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0)
    )
    model, adam = paddle.amp.decorate(model, adam, level=level, dtype="bfloat16")
    block = paddle.amp.auto_cast(level=level, dtype="bfloat16")
    for codes, following in batches[:steps]:
        with block:
            loss = F.cross_entropy(model(codes), following)
        loss.backward()
        adam.step()
        adam.clear_grad()
        schedule.step()
    with paddle.no_grad(), block:
        known = [
            (model(codes).argmax(-1) == following).astype("float32").mean().item()
            for codes, following in batches[steps:]
        ]
    return float(np.mean(known))


@pytest.mark.thorough
def test_a_transformer_learns_as_well_as_in_single_precision():
    for name in ("rich", "matplotlib"):  # the example draws, and shows how far it is
        pytest.importorskip(name)
    spec = importlib.util.spec_from_file_location("characters", EXAMPLES / "char_transformer.py")
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    batches = [
        tuple(paddle.to_tensor(a[half : half + 16]) for a in batch)
        for batch in program.sample_batches(46)
        for half in (0, 16)
    ]
    with pytest.importorskip("threadpoolctl").threadpool_limits(1):
        single = characters(program, batches, "O0", 60)
        assert single > 0.2
        for level in ("O1", "O2"):
            assert characters(program, batches, level, 60) >= single - 0.005, level


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_gradients_that_vanish_in_half_precision_are_kept_by_a_scaled_loss():
    """The loss is a mean over much more than 1 / 6e-8 terms: each has less than float16 holds."""
    x = np.random.default_rng(0).standard_normal((64, 8)).astype("float32")
    y = x @ np.linspace(-1.0, 1.0, 8, dtype="float32")[:, None]

    def trained(level, **scaling):
        paddle.seed(0)
        net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
        sgd = paddle.optimizer.Adam(0.02, parameters=net.parameters(), epsilon=1e-14)
        scaler = paddle.amp.GradScaler(**scaling)
        for _ in range(60):
            with paddle.amp.auto_cast(level=level):
                out = net(paddle.to_tensor(x))
            loss = ((out.astype("float32") - paddle.to_tensor(y)) ** 2.0).mean() * 1e-7
            scaler.scale(loss).backward()
            scaler.step(sgd)
            scaler.update()
            sgd.clear_grad()
        return loss.item() * 1e7

    single = trained("O0", enable=False)
    start = float((y**2).mean())
    assert single < 0.1 * start
    assert trained("O1", enable=False) > 0.5 * start
    assert trained("O1", init_loss_scaling=2.0**24) < 1.5 * single

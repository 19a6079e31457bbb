"""Operators appended by the types of Paddle 2.6: against functions, Paddle, and their copies."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.static.operator_types.table import TYPES
from tests.static.operator_type_reference import (
    TARGET,
    build,
    digest,
    fetched,
    has_loss,
    loss_of,
)
from tests.static.operator_type_samples import SAMPLES

static = paddle.static

# Compared by shape and dtype alone: what they draw is the engine's own.
RANDOM = {
    "bernoulli": ({"X": [np.full((2, 3), 0.5, "float32")]}, {}),
    "multinomial": ({"X": [np.ones((2, 3), "float32")]}, {"num_samples": 2}),
    "gaussian_random": ({}, {"shape": [2, 3], "std": 2.0, "dtype": "float64"}),
    "uniform_random": ({}, {"shape": [2, 3], "seed": 3}),
    "uniform_random_batch_size_like": (
        {"Input": [np.ones((4, 2), "float32")]},
        {"shape": [-1, 3]},
    ),
    "randint": ({}, {"shape": [2, 3], "low": 0, "high": 5}),
    "randperm": ({}, {"n": 4}),
}
EFFECTS = {"print", "while", "conditional_block"}  # see `test_appended_blocks`

# What Paddle 2.6.2 has otherwise: the attributes of hard_swish, and lr_ratio on a processor, are
# not looked at; the largest of adaptive windows is that of other ones; gradients of gather with an
# axis are those of its first row; reduce_all of reduce_amax is not looked at.
OTHERWISE = {
    "hard_swish/1",
    "adamw/0",
    "pool2d/2",
    "pool2d/4",
    "gather/1",
    "reduce_amax/2",
    "reduce_amin/2",
}

CASES = [(type, n) for type, samples in SAMPLES.items() for n in range(len(samples))]


def chosen(request: pytest.FixtureRequest) -> list[tuple[str, int]]:
    """All samples with --thorough, else the first of each type."""
    if request.config.getoption("--thorough"):
        return CASES
    return [(type, n) for type, n in CASES if n == 0]


def report(failures: list[str]) -> None:
    assert not failures, f"{len(failures)} samples:\n" + "\n".join(failures[:20])


def program_of(type: str, n: int) -> tuple[Any, Any, Any]:
    """A program of one operator and its gradients, what it is fed, what is fetched by name."""
    main = static.Program()
    with static.program_guard(main, static.Program()), paddle.unique_name.guard():
        feed, read, written, _ = build(paddle, type, *SAMPLES[type][n])
        named = [(f"{s}_{k}", v) for k, (s, v) in enumerate(fetched(type, written))]
        xs = [v for variables in read.values() for v in variables if not v.stop_gradient]
        first = written[SAMPLES[type][n][1][0]]
        if xs and has_loss(type, first[0]) and not first[0].stop_gradient:
            made = static.gradients(loss_of(paddle, first), xs)
            named += [(f"{x.name}@GRAD", g) for x, g in zip(xs, made, strict=True)]
    return main, feed, [(name, v) for name, v in named if v is not None]


def outcome(main: Any, feed: Any, named: Any, backend: str = "numpy") -> dict[str, Any]:
    values = static.Executor(backend=backend).run(main, feed, [v.name for _, v in named])
    return {name: np.asarray(value) for (name, _), value in zip(named, values, strict=True)}


def eagerly(type: str, n: int) -> dict[str, Any]:
    """The same with the functions of the table on tensors."""
    inputs, outputs, attrs = SAMPLES[type][n]
    kind = TYPES[type]
    arguments: list[Any] = []
    xs = []
    for slot in kind.inputs:
        found = []
        for k, array in enumerate(inputs.get(slot.name, ())):
            x = paddle.to_tensor(array, stop_gradient=array.dtype.kind != "f")
            x.name = f"{slot.name}_{k}"
            found.append(x)
        xs += [x for x in found if not x.stop_gradient]
        arguments.append(found if slot.many else found[0] if found else None)
    made = kind.function(*arguments, **kind.complete(attrs))
    slots = [slot for slot in kind.outputs if slot.computed]
    made = made if len(slots) > 1 else (made,)
    by_slot = {slot.name: v if slot.many else [v] for slot, v in zip(slots, made, strict=True)}
    listed = {slot: by_slot.get(slot, []) for slot in dict.fromkeys(outputs)}
    named = [(f"{s}_{k}", v) for k, (s, v) in enumerate(fetched(type, listed))]
    first = listed[outputs[0]]
    if xs and has_loss(type, first[0]) and not first[0].stop_gradient:
        grads = paddle.grad(loss_of(paddle, first), xs, allow_unused=True)
        named += [(f"{x.name}@GRAD", g) for x, g in zip(xs, grads, strict=True) if g is not None]
    return {name: v.numpy() for name, v in named}


def same(a: dict[str, Any], b: dict[str, Any]) -> str:
    """Empty where both hold the same bits."""
    for name in a.keys() | b.keys():
        if name not in a or name not in b:
            return f"{name} is on one side only"
        x, y = a[name], b[name]
        if x.dtype != y.dtype or x.shape != y.shape or x.tobytes() != y.tobytes():
            return f"{name}: {x.dtype} {x.shape} {x} and {y.dtype} {y.shape} {y}"
    return ""


def test_each_type_has_a_sample() -> None:
    assert set(TYPES) == set(SAMPLES) | set(RANDOM) | EFFECTS


def test_programs_have_the_bits_of_functions() -> None:
    failures = []
    for type, n in CASES:
        found = same(outcome(*program_of(type, n)), eagerly(type, n))
        if found:
            failures.append(f"{type}/{n}: {found}")
    report(failures)


def test_what_the_reference_makes_of_them() -> None:
    golden = json.loads(Path(TARGET).read_text())
    failures = []
    for type, n in CASES:
        key = f"{type}/{n}"
        if key not in golden or key in OTHERWISE:
            continue
        found = {name: digest(value) for name, value in outcome(*program_of(type, n)).items()}
        for name in golden[key].keys() & found.keys():
            # A number that is a sum of both signs is known to the size of what was added up.
            *spec, number = golden[key][name].rsplit(" ", 1)
            *own, close = found[name].rsplit(" ", 1)
            if spec != own or not np.isclose(float(number), float(close), rtol=2e-3, atol=2e-4):
                failures.append(f"{key}: {name} is {found[name]}, and {golden[key][name]} there")
        missing = {k for k in golden[key].keys() - found.keys() if not k.endswith("@GRAD")}
        if missing:
            failures.append(f"{key}: {missing} are missing")
    report(failures)


def test_files_and_copies(request: pytest.FixtureRequest) -> None:
    failures = []
    for type, n in chosen(request):
        main, feed, named = program_of(type, n)
        again = static.Program.parse_from_string(main.to_string())
        if str(again) != str(main) or str(main.clone()) != str(main):
            failures.append(f"{type}/{n}: a copy prints something else")
        found = same(outcome(again, feed, named), outcome(main, feed, named))
        if found:
            failures.append(f"{type}/{n}: {found}")
    report(failures)


@pytest.mark.thorough
def test_native_code() -> None:
    failures = []
    for type, n in CASES:
        main, feed, named = program_of(type, n)
        a, b = outcome(main, feed, named), outcome(main, feed, named, "native")
        for name in a:
            if not np.allclose(a[name], b[name], rtol=1e-5, atol=1e-6, equal_nan=True):
                failures.append(f"{type}/{n}: {name}: {a[name]} and {b[name]}")
    report(failures)


def test_operators_read_back_as_they_were_appended() -> None:
    failures = []
    for type, samples in SAMPLES.items():
        for n, (inputs, outputs, attrs) in enumerate(samples):
            main = static.Program()
            with static.program_guard(main, static.Program()):
                _, read, written, op = build(paddle, type, inputs, outputs, attrs)
            copies = [main, main.clone(), static.Program.parse_from_string(main.to_string())]
            for program in copies:
                (op,) = program.global_block().ops
                right = (
                    op.type == type
                    and all(op.input(s) == [v.name for v in vs] for s, vs in read.items())
                    and all(op.output(s) == [v.name for v in vs] for s, vs in written.items())
                    and op.input_names == sorted(slot.name for slot in TYPES[type].inputs)
                    and op.output_names == sorted(written)
                    and {v.name for vs in read.values() for v in vs} == set(op.input_arg_names)
                    and all(op.attr(k) == TYPES[type].complete(attrs)[k] for k in attrs)
                )
                if not right:
                    failures.append(f"{type}/{n}: {op}")
    report(failures)


def test_random_draws_and_prints(capsys: pytest.CaptureFixture[str]) -> None:
    for type, (inputs, attrs) in RANDOM.items():
        main = static.Program()
        with static.program_guard(main, static.Program()):
            feed, _, written, _ = build(paddle, type, inputs, ["Out"], attrs)
        out = written["Out"][0]
        (found,) = static.Executor().run(main, feed, [out])
        assert found.dtype == np.dtype(out.dtype.name), type
        assert found.ndim == len(out.shape), type
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = [np.float32([1.0, 2.0])]
        feed, _, written, _ = build(paddle, "print", {"In": x}, ["Out"], {"message": "here"})
    static.Executor().run(main, feed, [])
    assert "here" in capsys.readouterr().out


# --- whole programs


def network(appended: bool) -> tuple[Any, Any, Any]:
    """A convolution, a batch normalisation, a classifier, trained by momentum."""
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup), paddle.unique_name.guard():
        block = main.global_block()
        x = static.data("x", [None, 1, 4, 4], "float32")
        label = static.data("label", [None, 1], "int64")
        constant = paddle.nn.initializer.Constant

        def parameter(name: str, shape: list[int], value: float = 0.0, **kwargs: Any) -> Any:
            values = np.linspace(-1, 1, int(np.prod(shape))).reshape(shape) if not value else None
            start = constant(value) if value else paddle.nn.initializer.Assign(values)
            return block.create_parameter(shape, "float32", name, initializer=start, **kwargs)

        w, fc = parameter("w", [2, 1, 3, 3]), parameter("fc", [32, 3])
        scale, bias = parameter("scale", [2], 1.0), parameter("bias", [2])
        mean = static.create_global_var([2], 0.0, "float32", persistable=True, name="mean")
        variance = static.create_global_var([2], 1.0, "float32", persistable=True, name="var")
        functional = paddle.nn.functional
        if appended:
            names = ("conv", "y", "relu", "flat", "logits", "softmax", "rows", "loss")
            conv, y, relu, flat, logits, softmax, rows, loss = map(block.create_var, names)
            saved = {k: block.create_var(name=k) for k in ("SavedMean", "SavedVariance")}
            block.append_op(
                "conv2d", {"Input": x, "Filter": w}, {"Output": conv}, {"paddings": [1, 1]}
            )
            block.append_op(
                "batch_norm",
                {"X": conv, "Scale": scale, "Bias": bias, "Mean": mean, "Variance": variance},
                {"Y": y, "MeanOut": mean, "VarianceOut": variance, **saved},
                {"momentum": 0.8},
            )
            block.append_op("relu", {"X": y}, {"Out": relu})
            shape = block.create_var(name="xshape")
            block.append_op(
                "reshape2", {"X": relu}, {"Out": flat, "XShape": shape}, {"shape": [-1, 32]}
            )
            block.append_op("mul", {"X": flat, "Y": fc}, {"Out": logits})
            block.append_op(
                "softmax_with_cross_entropy",
                {"Logits": logits, "Label": label},
                {"Softmax": softmax, "Loss": rows},
            )
            block.append_op("mean", {"X": rows}, {"Out": loss})
            rate = static.create_global_var([1], 0.1, "float32", persistable=True, name="rate")
            for p, g in static.append_backward(loss):
                velocity = static.create_global_var(
                    p.shape, 0.0, "float32", persistable=True, name=f"{p.name}_velocity"
                )
                block.append_op(
                    "momentum",
                    {"Param": p, "Grad": g, "Velocity": velocity, "LearningRate": rate},
                    {"ParamOut": p, "VelocityOut": velocity},
                    {"mu": 0.9},
                )
        else:
            conv = functional.conv2d(x, w, padding=1)
            y = functional.batch_norm(conv, mean, variance, scale, bias, True, 0.8)
            logits = paddle.matmul(paddle.reshape(functional.relu(y), [-1, 32]), fc)
            loss = paddle.mean(functional.softmax_with_cross_entropy(logits, label))
            paddle.optimizer.Momentum(0.1, 0.9).minimize(loss)
    return main, startup, loss


BATCH = {
    "x": np.random.default_rng(0).normal(size=(5, 1, 4, 4)).astype("float32"),
    "label": np.array([[0], [1], [2], [1], [0]]),
}


def trained(appended: bool, backend: str = "numpy") -> dict[str, Any]:
    main, startup, loss = network(appended)
    executor = static.Executor(backend=backend)
    with static.scope_guard(static.Scope()):
        executor.run(startup)
        for _ in range(3):
            (value,) = executor.run(main, BATCH, [loss])
        kept = {k: np.array(main.state_dict()[k]) for k in ("w", "fc", "scale", "mean", "var")}
        test = main.clone(for_test=True)
        (kept["tested"],) = executor.run(test, BATCH, [loss.name])
        (kept["tested again"],) = executor.run(test, BATCH, [loss.name])
    return {"loss": value, **kept}


def test_a_training_appended_has_the_bits_of_one_by_functions() -> None:
    by_type = trained(appended=True)
    assert same(by_type, trained(appended=False)) == ""
    assert by_type["tested"] == by_type["tested again"] != by_type["loss"]


def test_a_normalisation_appended_has_the_bits_of_the_function() -> None:
    image, weight, bias = (
        np.random.default_rng(k).standard_normal(size).astype("float32")
        for k, size in enumerate([(5, 6, 7, 3), 6, 6])
    )
    rows, flat = image.reshape(5, 7, 18), np.arange(126, dtype="float32")
    F = paddle.nn.functional  # noqa: N806 - the usual name
    functions = {
        "layer_norm": lambda x, w, b: F.layer_norm(
            x, [7, 18], paddle.reshape(w, [7, 18]), paddle.reshape(b, [7, 18])
        ),
        "batch_norm": lambda x, w, b: F.batch_norm(
            x, paddle.zeros([6]), paddle.ones([6]), w, b, training=True
        ),
        "group_norm": lambda x, w, b: F.group_norm(x, 2, 1e-5, w, b),
        "instance_norm": lambda x, w, b: F.instance_norm(x, weight=w, bias=b),
    }
    failures = []
    for type, function in functions.items():
        given = (rows, flat, flat) if type == "layer_norm" else (image, weight, bias)
        kind, results = TYPES[type], []
        for appended in (True, False):
            xs = [paddle.to_tensor(v, stop_gradient=False) for v in given]
            if appended:
                more = [paddle.zeros([6]), paddle.ones([6]), None] if type == "batch_norm" else []
                attrs = kind.complete({"groups": 2} if type == "group_norm" else {})
                made = kind.function(*xs, *more, **attrs)
                y = made[0] if isinstance(made, tuple) else made
            else:
                y = function(*xs)
            results.append([y, *paddle.grad(paddle.sum(y * y * y), xs)])
        if any(a.numpy().tobytes() != b.numpy().tobytes() for a, b in zip(*results, strict=True)):
            failures.append(type)
    report(failures)


def test_copies_for_inference_are_of_the_types_that_were_appended() -> None:
    main, _, _ = network(appended=True)
    roles = {op.type: op.op_role for op in main.global_block().ops}
    assert roles["momentum"] == 2
    assert ["scale", "scale@GRAD"] in [
        op.op_role_var for op in main.global_block().ops if op.type == "momentum"
    ]
    test = main.clone(for_test=True).global_block()
    assert [op.type for op in test.ops] == [
        "conv2d",
        "batch_norm",
        "relu",
        "reshape2",
        "mul",
        "softmax_with_cross_entropy",
        "mean",
    ]
    assert test.ops[1].attr("is_test") is True


def test_blocks_that_run_once_are_compiled_with_what_is_around_them() -> None:
    main, startup, loss = network(appended=True)
    executor = static.Executor(backend="numpy")
    with static.scope_guard(static.Scope()):
        executor.run(startup)
        text = str(executor.explain(main, BATCH, [loss]))
    assert "one update of all parameters" in text
    assert "control flow runs as Python" not in text


@pytest.mark.thorough
def test_a_training_appended_in_native_code() -> None:
    found = trained(appended=True, backend="native")
    for name, value in trained(appended=True).items():
        np.testing.assert_allclose(found[name], value, rtol=1e-4, atol=1e-5)

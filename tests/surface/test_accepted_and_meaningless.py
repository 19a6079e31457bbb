"""Arguments that were taken without a word, and of which nothing could come.

Optimizers and schedulers have their own sweep in `tests/optimizer/test_settings.py`.
"""

from __future__ import annotations

import functools
import itertools
import re
import time
from pathlib import Path
from typing import Any

import pytest

import autograd_engine as paddle
from autograd_engine.errors import ArgumentError, FileFormatError, ShapeError
from autograd_engine.io import default_collate_fn
from tests.over import over

static, F = paddle.static, paddle.nn.functional


@pytest.mark.parametrize("backend", ["nonsense", "C", "", 3, True, ["native"]])
def test_backends_that_there_are_none_of(backend: Any) -> None:
    with pytest.raises(ArgumentError, match="to_static: backend must be one of 'auto', 'native'"):
        paddle.jit.to_static(lambda x: x, backend=backend)
    with pytest.raises(ArgumentError, match="backend"):
        static.Executor(backend=backend)


def test_a_backend_of_the_reference_leaves_the_choice_open() -> None:
    for name in ("CINN", "cinn", None):
        f = paddle.jit.to_static(lambda x: x * 2.0, backend=name)
        assert f(paddle.ones([2])).tolist() == [2.0, 2.0]


@pytest.mark.parametrize("place", ["a", "gpu", 3, object(), True])
def test_places_that_there_are_none_of(place: Any) -> None:
    with pytest.raises(ArgumentError, match="Executor: place must be 'cpu' or"):
        static.Executor(place)
    for known in (None, "cpu", paddle.CPUPlace()):
        static.Executor(known)


BROADCAST = {  # losses that compare what is broadcast; the others refuse it
    "mse_loss": lambda x, y: F.mse_loss(x, y),
    "MSELoss": lambda x, y: paddle.nn.MSELoss()(x, y),
    "l1_loss": lambda x, y: F.l1_loss(x, y),
    "smooth_l1_loss": lambda x, y: F.smooth_l1_loss(x, y),
    "kl_div": lambda x, y: F.kl_div(x, y),
    "gaussian_nll_loss": lambda x, y: F.gaussian_nll_loss(x, y, x),
    "margin_ranking_loss": lambda x, y: F.margin_ranking_loss(x, y, (x - y) * 2.0),
}
REFUSED = (
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "hinge_embedding_loss",
    "multi_label_soft_margin_loss",
    "poisson_nll_loss",
    "sigmoid_focal_loss",
    "soft_margin_loss",
)


@over("name", [*BROADCAST, *REFUSED])
def test_a_column_beside_a_vector_is_no_pair_of_predictions_and_labels(name: str) -> None:
    column, vector = paddle.full([4, 1], 0.5), paddle.full([4], 0.5)
    if name in REFUSED:
        with pytest.raises(ShapeError, match=r"\[4, 1\] and \[4\]"):
            getattr(F, name)(column, vector)
        return
    call: Any = BROADCAST[name]
    for x, y in ((column, vector), (vector, column)):
        with pytest.warns(UserWarning, match="are broadcast, which compares each with") as told:
            call(x, y)
        assert {warning.filename for warning in told} == {__file__}
    with static.program_guard(static.Program()):
        x, y = static.data("x", [4, 1]), static.data("y", [4])
        with pytest.warns(UserWarning, match="are broadcast"):
            call(x, y)
    call(column, column)
    if name in ("mse_loss", "l1_loss", "smooth_l1_loss"):
        call(column, paddle.ones([]))  # one target that all share
        call(column, paddle.ones([1]))
        call(column, 1.0)


LINEAR = paddle.nn.Linear(2, 2)
PARAMETERS = LINEAR.parameters()
LR = paddle.optimizer.lr
CALLBACKS: dict[str, tuple[Any, str]] = {  # what takes a function, and what the message names
    "register_hook": (lambda f: leaf().register_hook(f), "hook(grad)"),
    "register_post_accumulate_grad_hook": (
        lambda f: leaf().register_post_accumulate_grad_hook(f),
        "hook(tensor)",
    ),
    "register_forward_pre_hook": (LINEAR.register_forward_pre_hook, "hook(layer, inputs)"),
    "register_forward_post_hook": (
        LINEAR.register_forward_post_hook,
        "hook(layer, inputs, outputs)",
    ),
    "apply": (LINEAR.apply, "fn(layer)"),
    "pack_hook": (
        lambda f: paddle.autograd.saved_tensors_hooks(f, lambda x: x),
        "pack_hook(tensor)",
    ),
    "unpack_hook": (
        lambda f: paddle.autograd.saved_tensors_hooks(lambda x: x, f),
        "unpack_hook(packed)",
    ),
    "LambdaDecay": (lambda f: LR.LambdaDecay(0.1, f), "lr_lambda(epoch)"),
    "MultiplicativeDecay": (lambda f: LR.MultiplicativeDecay(0.1, f), "lr_lambda(epoch)"),
    "CyclicLR": (lambda f: LR.CyclicLR(0.1, 0.2, 2, scale_fn=f), "scale_fn(cycle)"),
    "AdamW lr_ratio": (
        lambda f: paddle.optimizer.AdamW(0.1, parameters=PARAMETERS, lr_ratio=f),
        "lr_ratio(parameter)",
    ),
    "AdamW decay": (
        lambda f: paddle.optimizer.AdamW(0.1, parameters=PARAMETERS, apply_decay_param_fun=f),
        "apply_decay_param_fun(parameter)",
    ),
    "Lamb": (
        lambda f: paddle.optimizer.Lamb(0.1, parameters=PARAMETERS, exclude_from_weight_decay_fn=f),
        "exclude_from_weight_decay_fn(parameter)",
    ),
    "LBFGS": (lambda f: paddle.optimizer.LBFGS(parameters=PARAMETERS).step(f), "closure()"),
    "collate_fn": (lambda f: paddle.io.DataLoader([1, 2], collate_fn=f), "collate_fn(samples)"),
    "worker_init_fn": (
        lambda f: paddle.io.DataLoader([1, 2], worker_init_fn=f),
        "worker_init_fn(worker_id)",
    ),
    "distance_function": (
        lambda f: F.triplet_margin_with_distance_loss(ONES, ONES, ONES, f),
        "distance_function(x, y)",
    ),
    "TripletMarginWithDistanceLoss": (
        paddle.nn.TripletMarginWithDistanceLoss,
        "distance_function(x, y)",
    ),
    "cond": (lambda f: static.nn.cond(paddle.ones([]) > 0, f, lambda: ONES), "true_fn()"),
    "case": (lambda f: static.nn.case([(paddle.ones([]) > 0, f)], lambda: ONES), "function()"),
    "switch_case": (
        lambda f: static.nn.switch_case(paddle.to_tensor(0), [f, lambda: ONES]),
        "function()",
    ),
    "while_loop": (
        lambda f: static.nn.while_loop(f, lambda x, y: (x, y), [ONES, ONES]),
        "cond(loop_vars[0], loop_vars[1])",
    ),
    "append_backward": (
        lambda f: static.append_backward(program_loss(), callbacks=[f]),
        "callback(block, context)",
    ),
}
ONES = paddle.ones([1, 2])


def leaf() -> Any:
    return paddle.to_tensor([1.0], stop_gradient=False)


def program_loss() -> Any:
    with static.program_guard(static.Program(), static.Program()):
        return paddle.mean(static.nn.fc(static.data("x", [2, 2]), 2))


@over("name", list(CALLBACKS))
def test_a_callback_with_a_wrong_signature_is_told_what_it_is_given(name: str) -> None:
    register, said = CALLBACKS[name]

    def of_five(a: Any, b: Any, c: Any, d: Any, e: Any) -> None: ...

    def by_name_alone(*, strange: Any) -> None: ...

    class Called:
        def __call__(self, a: Any, b: Any, c: Any, d: Any, e: Any) -> None: ...

    for wrong in (of_five, by_name_alone, Called()):
        with pytest.raises(TypeError, match=re.escape(f"is called as {said}, and ")) as raised:
            register(wrong)
        assert "takes (" in str(raised.value)


def test_a_callback_may_take_more_than_it_is_given() -> None:
    x = leaf()
    for hook in (lambda g, k=1: None, lambda *gs: None, functools.partial(lambda k, g: None, 1)):
        x.register_hook(hook)
    x.register_hook(print)  # nobody knows what some take that are compiled


HUGE = 10**30
COUNTS: dict[str, tuple[Any, type]] = {  # each took it, or went on for ever
    "static.data": (lambda: in_program(lambda: static.data("z", [HUGE])), ArgumentError),
    "static.data product": (
        lambda: in_program(lambda: static.data("z", [None, 2**40, 2**40])),
        ArgumentError,
    ),
    "InputSpec": (lambda: static.InputSpec([None, HUGE]), ArgumentError),
    "auc slide_steps": (
        lambda: in_program(lambda: static.auc(*scores(), slide_steps=HUGE)),
        ArgumentError,
    ),
    "auc num_thresholds": (
        lambda: in_program(lambda: static.auc(*scores(), num_thresholds=HUGE)),
        ArgumentError,
    ),
    "metric.Auc": (lambda: paddle.metric.Auc(num_thresholds=HUGE), ArgumentError),
    "spectral_norm": (
        lambda: paddle.nn.utils.spectral_norm(paddle.nn.Linear(2, 2), n_power_iterations=HUGE),
        ArgumentError,
    ),
    "SpectralNorm": (lambda: paddle.nn.SpectralNorm([2, 2], power_iters=HUGE), ArgumentError),
    "spectral_norm in a program": (
        lambda: in_program(
            lambda: static.nn.spectral_norm(static.data("w", [2, 2]), power_iters=HUGE)
        ),
        ArgumentError,
    ),
    "combinations": (lambda: paddle.combinations(paddle.ones([3000]), 12), ArgumentError),
    "combinations r": (lambda: paddle.combinations(paddle.ones([10**6]), 500_000), ArgumentError),
    "combinations again": (
        lambda: paddle.combinations(paddle.ones([3000]), 12, with_replacement=True),
        ArgumentError,
    ),
    "local_response_norm": (
        lambda: F.local_response_norm(paddle.ones([1, 2, 3]), 2**62),
        ArgumentError,
    ),
    "ASGD": (lambda: paddle.optimizer.ASGD(batch_num=HUGE, parameters=PARAMETERS), ArgumentError),
    "LBFGS": (
        lambda: paddle.optimizer.LBFGS(history_size=HUGE, parameters=PARAMETERS),
        ArgumentError,
    ),
}


def in_program(call: Any) -> Any:
    with static.program_guard(static.Program(), static.Program()):
        return call()


def scores() -> tuple[Any, Any]:
    return static.data("scores", [None, 2]), static.data("label", [None, 1], "int64")


@over("name", list(COUNTS))
def test_counts_that_nothing_can_hold_are_refused_at_once(name: str) -> None:
    call, kind = COUNTS[name]
    began = time.process_time()
    with pytest.raises(kind, match=name.split(" ")[0].rpartition(".")[2]):
        call()
    assert time.process_time() - began < 1.0


def test_choices_are_those_of_itertools() -> None:
    for n, r in ((4, 2), (3, 3), (2, 3), (3, 0), (0, 2), (5, 1)):
        x = paddle.arange(n)
        for again, choose in (
            (False, itertools.combinations),
            (True, itertools.combinations_with_replacement),
        ):
            expected = [list(c) for c in choose(range(n), r)] if r else []
            assert paddle.combinations(x, r, again).tolist() == expected


NONSENSE: dict[str, Any] = {  # what was not looked at, in calls that make no use of it
    "to_tensor": lambda v: paddle.to_tensor([1.0], place=v),
    "scaled_dot_product_attention": lambda v: F.scaled_dot_product_attention(
        *[paddle.ones([1, 2, 1, 2])] * 3, backend=v
    ),
    "batch_norm": lambda v: F.batch_norm(ONES, ONES[0], ONES[0], use_global_stats=v),
    "interpolate": lambda v: F.interpolate(
        paddle.ones([1, 1, 2, 2]), [3, 3], recompute_scale_factor=v
    ),
    "cross_entropy": lambda v: F.cross_entropy(ONES, ONES, soft_label=True, ignore_index=v),
    "nll_loss": lambda v: F.nll_loss(ONES, paddle.to_tensor([1]), ignore_index=v),
    "repeat_interleave": lambda v: paddle.repeat_interleave(ONES, 2, 0, output_size=v),
}


@over("name", list(NONSENSE))
def test_what_is_not_used_is_looked_at_all_the_same(name: str) -> None:
    for value in ("nonsense", 2.5, float("nan"), [3]):
        with pytest.raises((TypeError, ValueError), match=name):
            NONSENSE[name](value)


def nested(depth: int) -> Any:
    value: Any = [1.0]
    for _ in range(depth):
        value = [value]
    return value


NESTS: dict[str, Any] = {  # what goes through nests: each by name, and what it says
    "save": lambda v, path: paddle.save(v, str(path / "state.pdparams")),
    "default_collate_fn": lambda v, path: default_collate_fn([v, v]),
    "DataLoader": lambda v, path: next(iter(paddle.io.DataLoader([v, v], batch_size=2))),
    "to_static": lambda v, path: paddle.jit.to_static(lambda x: paddle.ones([1]))(v),
    "parse_from_string": lambda v, path: static.Program.parse_from_string(v.encode()),
}


@pytest.mark.parametrize("depth", [1000, 100_000])
@over("name", list(NESTS))
def test_a_thousand_nested_containers_are_refused(name: str, depth: int, tmp_path: Path) -> None:
    value = nested(depth) if name != "parse_from_string" else "[" * depth + "]" * depth
    with pytest.raises((ArgumentError, FileFormatError), match="nested"):
        NESTS[name](value, tmp_path)


def test_a_cotangent_of_one_element_for_a_result_of_no_axes() -> None:
    """Shape [1], as what the reference called scalars had."""
    for create_graph in (False, True):
        x = paddle.to_tensor(3.0, stop_gradient=False)
        seed = paddle.to_tensor([2.0], stop_gradient=False)
        (g,) = paddle.grad(x * x, [x], [seed], create_graph=create_graph)
        assert (g.shape, g.item()) == ([], 12.0)
        if create_graph:
            assert paddle.grad(g, [seed])[0].tolist() == [6.0]
    x = paddle.to_tensor(3.0, stop_gradient=False)
    (x * x).backward(paddle.to_tensor([2.0]))
    assert x.grad.item() == 12.0
    with pytest.raises(ShapeError, match="must be equal"):
        paddle.grad(x * x, [x], [paddle.ones([2])])


def test_a_tensor_named_twice() -> None:
    x = leaf()
    for ask in (lambda: paddle.grad(x * 2, [x, x]), lambda: paddle.grad([x, x], [x])):
        for kind in (RuntimeError, ValueError, AssertionError):
            with pytest.raises(kind, match="the same Tensor twice"):
                ask()

"""Keywords of PyTorch's constructors: what each of them is here.

`KEYWORDS` has for a keyword what it may be, in order: the first that fits the constructor is taken,
whose targets are arguments that it has. A `Meaning` gives the arguments for a value, or nothing
where the value says what is done anyway; what it raises is the line to write.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final, NamedTuple

from autograd_engine.errors import ArgumentError, ArgumentTypeError

__all__ = ["KEYWORDS", "Meaning", "Translated", "translated"]


class Unfit(Exception):
    """A value of a keyword that has no meaning here; the text is what to write."""


class Meaning(NamedTuple):
    """What a keyword is: the arguments `targets`, or what `note` says."""

    targets: tuple[str, ...]
    arguments: Callable[[Any], Mapping[str, Any]]
    of: tuple[str, ...] = ()  # names of classes; any if empty
    beside: tuple[str, ...] = ()  # arguments that the constructor has besides
    finish: str = ""  # the method that takes it when the object is made
    note: str = ""

    def fits(self, cls: type, known: Sequence[str]) -> bool:
        return (
            all(name in known for name in (*self.targets, *self.beside))
            and (not self.of or any(base.__name__ in self.of for base in cls.__mro__))
            and (not self.finish or hasattr(cls, self.finish))
        )


class Translated(NamedTuple):
    """The arguments of a constructor, and the methods that are called afterwards, with theirs."""

    arguments: dict[str, Any]
    finish: list[tuple[str, dict[str, Any]]]


def _renamed(target: str, of: tuple[str, ...] = ()) -> Meaning:
    return Meaning((target,), lambda value: {target: value}, of)


def _afterwards(method: str) -> Meaning:
    note = f"given to the method {method} when the object is made"
    return Meaning((), lambda value: {}, finish=method, note=note)


def _without_effect(*beside: str, of: tuple[str, ...] = ()) -> Meaning:
    """It tells PyTorch how to store or to run, and changes no result."""
    return Meaning((), lambda value: {}, of, beside, note="taken, and changes nothing")


def _alone(values: Sequence[Any], write: str, *beside: str, of: tuple[str, ...] = ()) -> Meaning:
    """The only values that mean what is done here, and what to write for others."""

    def arguments(value: Any) -> Mapping[str, Any]:
        if not any(value is v or (type(value) is type(v) and value == v) for v in values):
            raise Unfit(write)
        return {}

    taken = f"{' or '.join(map(repr, dict.fromkeys(values)))} is taken; else: " if values else ""
    return Meaning((), arguments, of, beside, note=f"{taken}{write}")


def _switch(on: Mapping[str, Any], off: Mapping[str, Any]) -> Meaning:
    """Of a bool: the arguments for True, and those for False."""

    def arguments(value: Any) -> Mapping[str, Any]:
        if not isinstance(value, bool):
            raise Unfit(f"it is True or False, got {type(value).__name__}")
        return on if value else off

    return Meaning(tuple({**on, **off}), arguments)


def _pair(first: str, second: str) -> Meaning:
    def arguments(value: Any) -> Mapping[str, Any]:
        try:
            a, b = value
        except (TypeError, ValueError):
            raise Unfit(f"write {first}=..., {second}=...") from None
        return {first: a, second: b}

    return Meaning((first, second), arguments)


_IN_PLACE: Final = (
    "AlphaDropout", "CELU", "Dropout2D", "Dropout3D", "ELU", "FeatureAlphaDropout", "Hardsigmoid",
    "Hardswish", "Hardtanh", "LeakyReLU", "Mish", "RReLU", "ReLU", "ReLU6", "SELU", "SiLU", "Silu",
    "Swish", "ThresholdedReLU",
)  # fmt: skip
_ATTENTION: Final = (
    "MultiHeadAttention",
    "Transformer",
    "TransformerDecoderLayer",
    "TransformerEncoderLayer",
)
_LOADER: Final = ("DataLoader",)
_OPTIMIZER: Final = ("learning_rate", "parameters")
_SGD: Final = "write paddle.optimizer.Momentum(learning_rate=..., momentum=..., parameters=..."
_NO_WEIGHTS: Final = {"weight_attr": False, "bias_attr": False}
_SCHEDULER: Final = (
    "a scheduler is made first, and given to the optimizer: "
    "scheduler = paddle.optimizer.lr.{cls}(0.1, ...), then "
    "paddle.optimizer.SGD(scheduler, parameters)"
)
_RNN: Final = "write paddle.nn.SimpleRNN(input_size, hidden_size, num_layers)"
_STEPS: Final = "write total_steps=epochs * steps_per_epoch"

KEYWORDS: Final[dict[str, tuple[Meaning, ...]]] = {
    # layers
    "bias": (
        _switch({}, {"bias_attr": False}),
        _switch({}, {"bias_ih_attr": False, "bias_hh_attr": False}),
    ),
    "affine": (_switch({}, _NO_WEIGHTS),),
    "elementwise_affine": (_switch({}, _NO_WEIGHTS),),
    "track_running_stats": (
        _switch({}, {"use_global_stats": False}),
        _alone((False,), "leave it out: the statistics are those of each instance", "weight_attr"),
    ),
    "eps": (_renamed("epsilon"),),
    "epsilon": (_renamed("eps"),),
    "dim": (_renamed("axis"),),
    "inplace": (_without_effect(of=_IN_PLACE),),
    "device": (_afterwards("to"),),
    "dtype": (_afterwards("to"),),
    "return_indices": (_renamed("return_mask"),),
    "count_include_pad": (_switch({"exclusive": False}, {"exclusive": True}),),
    "dilation": (
        _renamed("dilations"),
        _alone((1,), "leave it out: windows have no gaps", "return_mask"),
    ),
    "output_size": (_renamed("output_sizes"),),
    "kernel_size": (_renamed("kernel_sizes"),),
    "padding": (_renamed("paddings"),),
    "stride": (_renamed("strides"),),
    "start_dim": (_renamed("start_axis"),),
    "end_dim": (_renamed("stop_axis"),),
    "unflattened_size": (_renamed("shape"),),
    "lambd": (
        _renamed("threshold"),
        _alone((0.0001,), "leave it out: the mean is that of gradients", of=("ASGD",)),
    ),
    "min_val": (_renamed("min"),),
    "max_val": (_renamed("max"),),
    "min_value": (_renamed("min"),),
    "max_value": (_renamed("max"),),
    "modules": (_renamed("sublayers"),),
    "values": (_renamed("parameters", of=("ParameterList",)),),
    "beta": (Meaning(("delta", "is_huber"), lambda b: {"delta": b, "is_huber": False}),),
    "padding_mode": (_alone(("zeros",), "leave it out: there are zeros around", "output_padding"),),
    "size_average": (_alone((None,), 'write reduction="mean" or reduction="sum"', "reduction"),),
    "reduce": (_alone((None,), 'write reduction="mean" or reduction="none"', "reduction"),),
    "requires_grad": (_renamed("trainable", of=("Parameter",)),),
    "process_group": (_alone((None,), "leave it out: there is one process"),),
    # recurrent layers and attention
    "batch_first": (
        _switch({"time_major": False}, {"time_major": True}),
        _alone((True,), "batches come first here: x.transpose([1, 0, 2])", of=_ATTENTION),
    ),
    "bidirectional": (_switch({"direction": "bidirect"}, {"direction": "forward"}),),
    "proj_size": (_alone((0,), "leave it out: LSTM has it", of=("GRU", "SimpleRNN")),),
    "input_size": (_alone((), _RNN, of=("RNN",)),),
    "hidden_size": (_alone((), _RNN, of=("RNN",)),),
    "num_layers": (_alone((), _RNN, of=("RNN",)),),
    "nonlinearity": (_renamed("activation"),),
    "norm_first": (_renamed("normalize_before"),),
    "layer_norm_eps": (_alone((1e-5,), "leave it out: it is 1e-5", of=_ATTENTION),),
    "add_bias_kv": (_alone((False,), "leave it out: there is no such bias", of=_ATTENTION),),
    "add_zero_attn": (_alone((False,), "leave it out: no zeros are added", of=_ATTENTION),),
    "enable_nested_tensor": (_without_effect(of=("TransformerEncoder",)),),
    "mask_check": (_without_effect(of=("TransformerEncoder",)),),
    # optimizers
    "params": (_renamed("parameters"),),
    "lr": (_renamed("learning_rate"),),
    "betas": (_pair("beta1", "beta2"),),
    "alpha": (
        _renamed("rho", of=("RMSProp",)),
        _alone((0.75,), "leave it out: the mean is that of gradients", of=("ASGD",)),
    ),
    "t0": (_alone((1e6, 1000000), "leave it out: the mean is that of gradients", of=("ASGD",)),),
    "step_sizes": (_renamed("learning_rate_range"),),
    "momentum": (_alone((0, 0.0), f"{_SGD})", of=("SGD",)),),
    "nesterov": (
        _renamed("use_nesterov"),
        _alone((False,), f"{_SGD}, use_nesterov=True)", of=("SGD",)),
    ),
    "dampening": (_alone((0, 0.0), "leave it out: momentum is not dampened", *_OPTIMIZER),),
    "maximize": (_alone((False,), "minimise -loss", *_OPTIMIZER),),
    "differentiable": (_alone((False,), "leave it out: no step is recorded", *_OPTIMIZER),),
    "decoupled_weight_decay": (
        _alone((False,), "write paddle.optimizer.AdamW(weight_decay=0.01)", *_OPTIMIZER),
    ),
    "amsgrad": (_alone((False,), "write paddle.optimizer.Adam(amsgrad=True)", *_OPTIMIZER),),
    "lr_decay": (
        _alone(
            (0, 0.0),
            "write learning_rate=paddle.optimizer.lr.InverseTimeDecay(learning_rate, gamma)",
            *_OPTIMIZER,
        ),
    ),
    "foreach": (_without_effect(*_OPTIMIZER),),
    "fused": (_without_effect(*_OPTIMIZER),),
    "capturable": (_without_effect(*_OPTIMIZER),),
    # schedulers
    "optimizer": (_alone((), _SCHEDULER, "last_epoch"), _alone((), _SCHEDULER, "verbose")),
    "base_lr": (_renamed("base_learning_rate"),),
    "max_lr": (_renamed("max_learning_rate"),),
    "gamma": (_renamed("exp_gamma"),),
    "cycle_momentum": (_alone((False,), "leave it out: the rate alone is changed", "last_epoch"),),
    "base_momentum": (_without_effect("last_epoch"),),
    "max_momentum": (_without_effect("last_epoch"),),
    "pct_start": (_renamed("phase_pct"),),
    "div_factor": (_renamed("divide_factor"),),
    "final_div_factor": (
        _alone(
            (),
            "write end_learning_rate=max_learning_rate / div_factor / final_div_factor",
            "end_learning_rate",
        ),
    ),
    "epochs": (_alone((None,), _STEPS, "total_steps"),),
    "steps_per_epoch": (_alone((None,), _STEPS, "total_steps"),),
    "total_iters": (_renamed("total_steps"), _renamed("decay_steps")),
    # data
    "sampler": (
        _alone((), "write paddle.io.Subset(dataset, indices), which has an order", of=_LOADER),
    ),
    "pin_memory": (_without_effect(of=_LOADER),),
    "pin_memory_device": (_without_effect(of=_LOADER),),
    "in_order": (_alone((True,), "leave it out: batches are in order", of=_LOADER),),
    "generator": (_alone((None,), "write paddle.seed(value) before the loop", of=_LOADER),),
    "seed": (
        _alone((0,), "write paddle.seed(value) before the loop", of=("DistributedBatchSampler",)),
    ),
}


def translated(
    cls: type, known: Sequence[str], args: Sequence[Any], given: Mapping[str, Any]
) -> Translated:
    """What `given` is in the constructor of `cls`, which has the arguments `known`.

    Raises
    ------
    TypeError
        For a keyword that is none here; it says what to write.
    ArgumentError
        For one that is given twice, under two names.
    """
    title = next(
        base.__name__
        for base in cls.__mro__
        if base.__module__.startswith("autograd_engine.") and not base.__name__.startswith("_")
    )
    arguments = {name: value for name, value in given.items() if name in known}
    taken = {*known[: len(args)], *arguments}
    finish: list[tuple[str, dict[str, Any]]] = []
    for name, value in given.items():
        if name in known:
            continue
        meaning = next((m for m in KEYWORDS.get(name, ()) if m.fits(cls, known)), None)
        if meaning is None:
            here = {name: name for name in known}
            for other, of in KEYWORDS.items():
                fit = next((m for m in of if m.fits(cls, known)), None)
                if fit is not None:
                    here.setdefault(other, (*fit.targets, other)[0])
            close = get_close_matches(name, here, 1, 0.7)
            write = ""
            if close:
                said = [*map(_short, args), *(f"{n}={_short(v)}" for n, v in arguments.items())]
                write = f"; write {title}({', '.join([*said, f'{here[close[0]]}=...'])})"
            takes = ", ".join(known) or "none"
            raise ArgumentTypeError(
                f"{title}: there is no argument {name!r}{write}; it takes {takes}"
            )
        try:
            found = meaning.arguments(value)
        except Unfit as unfit:
            write = str(unfit).replace("{cls}", title)
            raise ArgumentTypeError(
                f"{title}: {name}={_short(value)} is not taken here; {write}"
            ) from None
        for target in found:
            if target in taken:
                raise ArgumentError(
                    f"{title}: {name!r} is {target!r} here, and both are given; leave one out"
                )
        arguments |= found
        taken |= found.keys()
        if meaning.finish and value is not None:
            finish.append((meaning.finish, {name: value}))
    return Translated(arguments, finish)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 40 and "\n" not in text else type(value).__name__

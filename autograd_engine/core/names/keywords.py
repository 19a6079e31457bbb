"""The table of keywords: what other libraries call an argument, and what it is here.

Programs written for PyTorch, and those for Paddle 3.3, which takes PyTorch's names, write ``dim``
for ``axis`` and ``bias=False`` for ``bias_attr=False``. `KEYWORDS` has for a keyword what it may
be, in order: the first that fits the function, or the constructor, is taken, whose targets are
arguments that it has. A `Meaning` gives the arguments for a value, or nothing where the value says
what is done anyway; what it raises is the line to write.

tests/surface/spellings.json lists what Paddle 3.3.1 takes (tools/spellings.py asks it), and a test
calls every function so. The declared names stay Paddle's: they are what signatures, type checkers
and the documentation show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from inspect import Parameter
from typing import Any, Final, NamedTuple

from autograd_engine.core.operand import Operand
from autograd_engine.errors import ArgumentError, ArgumentTypeError

__all__ = [
    "KEYWORDS",
    "Meaning",
    "Owner",
    "RENAMED",
    "Translated",
    "one_more",
    "ordered",
    "translated",
]


class Unfit(Exception):
    """A value of a keyword that has no meaning here; the text is what to write."""


class Owner(NamedTuple):
    """What is called: a function, or a class.

    Attributes
    ----------
    title : str
        How errors name it.
    names : frozenset of str
        Those by which a `Meaning` may be of it: its own, and those of its bases; of a function its
        own, and ``"function"``.
    known : sequence of str
        The arguments that it has.
    positional : sequence of str
        Those that may be given by position.
    defaults : mapping of str
        What they are when they are not given; the others are required.
    meanings : dict of str
        Those of keywords that were asked for.
    """

    title: str
    names: frozenset[str]
    known: Sequence[str]
    positional: Sequence[str]
    defaults: Mapping[str, Any]
    meanings: dict[str, Meaning | None]

    @classmethod
    def of(cls, title: str, names: Iterable[str], parameters: Iterable[Parameter]) -> Owner:
        one = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        return cls(
            title,
            frozenset(names),
            known=[p.name for p in one],
            positional=[p.name for p in one if p.kind is p.POSITIONAL_OR_KEYWORD],
            defaults={p.name: p.default for p in one if p.default is not p.empty},
            meanings={},
        )

    def shown(self, given: Mapping[str, Any], more: str = "") -> str:
        """A call with these arguments, and one whose value is not known, as a line of code."""
        parts = []
        for name in self.known:
            if name in given and name not in ("self", more):
                value = given[name]
                text = name if isinstance(value, Operand) else _short(value)
                required = name in self.positional and name not in self.defaults
                parts.append(text if required else f"{name}={text}")
        return f"{self.title}({', '.join([*parts, *([f'{more}=...'] if more else [])])})"


class Meaning(NamedTuple):
    """What a keyword is: the arguments `targets`, or what `note` says."""

    targets: tuple[str, ...]
    arguments: Callable[[Any], Mapping[str, Any]]
    of: tuple[str, ...] = ()  # names of owners; any if empty
    beside: tuple[str, ...] = ()  # arguments that the owner has besides
    finish: str = ""  # the method of what is made that takes it
    note: str = ""

    def fits(self, owner: Owner) -> bool:
        known = all(name in owner.known for name in (*self.targets, *self.beside))
        return known and (not self.of or not owner.names.isdisjoint(self.of))


class Translated(NamedTuple):
    """Arguments, and the methods of what is made that are called afterwards, with theirs."""

    arguments: dict[str, Any]
    finish: list[tuple[str, dict[str, Any]]]


def _renamed(target: str, of: tuple[str, ...] = ()) -> Meaning:
    return Meaning((target,), lambda value: {target: value}, of)


def _afterwards(method: str, *of: str) -> Meaning:
    note = f"given to the method {method} of what is made"
    return Meaning((), lambda value: {}, of, finish=method, note=note)


def _without_effect(*beside: str, of: tuple[str, ...] = ()) -> Meaning:
    """It says how to store or to run, or what is the case anyway, and changes no result."""
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


def _on_cpu(value: Any) -> Mapping[str, Any]:
    if value is not None and str(value).lower().partition(":")[0] not in ("cpu", "place(cpu)"):
        raise Unfit("this engine runs on 'cpu' only")
    return {}


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
_FUNCTION: Final = ("function",)
# The functions that make tensors of nothing, which say where and whether a gradient is wanted.
_CREATING: Final = (
    "arange", "asarray", "empty", "empty_like", "eye", "fftfreq", "full", "full_like", "linspace",
    "logspace", "new_empty", "new_full", "new_ones", "new_zeros", "normal", "ones", "ones_like",
    "rand", "rand_like", "randint", "randint_like", "randn", "randn_like", "randperm", "rfftfreq",
    "standard_normal", "tensor", "to_tensor", "tril_indices", "triu_indices", "uniform", "zeros",
    "zeros_like",
)  # fmt: skip
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

MEANINGS: Final[dict[str, tuple[Meaning, ...]]] = {
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
    "inplace": (
        _without_effect(of=_IN_PLACE),
        _alone((None, False), "leave it out", of=_FUNCTION),
    ),
    "device": (
        _afterwards("to", "Layer"),
        Meaning((), _on_cpu, _CREATING, note="'cpu' is taken"),
    ),
    "dtype": (_afterwards("to", "Layer"),),
    "count_include_pad": (_switch({"exclusive": False}, {"exclusive": True}),),
    "dilation": (_alone((1,), "leave it out: windows have no gaps", "return_mask"),),
    "lambd": (_alone((0.0001,), "leave it out: the mean is that of gradients", of=("ASGD",)),),
    "values": (_renamed("parameters", of=("ParameterList",)),),
    "beta": (Meaning(("delta", "is_huber"), lambda b: {"delta": b, "is_huber": False}),),
    "padding_mode": (_alone(("zeros",), "leave it out: there are zeros around", "output_padding"),),
    "size_average": (_alone((None,), 'write reduction="mean" or reduction="sum"', "reduction"),),
    "reduce": (_alone((None,), 'write reduction="mean" or reduction="none"', "reduction"),),
    "requires_grad": (
        _renamed("trainable", of=("Parameter",)),
        _afterwards("requires_grad_", *_CREATING),
        _alone((None, False), "write result.stop_gradient = False", of=_FUNCTION),
    ),
    "layout": (_alone((None, False), "leave it out: tensors are dense", of=_FUNCTION),),
    "memory_format": (_alone((None, False), "leave it out", of=_FUNCTION),),
    "non_blocking": (_without_effect(of=_FUNCTION),),
    "name": (_without_effect(of=_FUNCTION),),
    "out": (_alone((None,), "leave it out: the result is no tensor", of=_FUNCTION),),
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
    "layer_norm_eps": (_alone((1e-5,), "leave it out: it is 1e-5", of=_ATTENTION),),
    "add_bias_kv": (_alone((False,), "leave it out: there is no such bias", of=_ATTENTION),),
    "add_zero_attn": (_alone((False,), "leave it out: no zeros are added", of=_ATTENTION),),
    "key_padding_mask": (_alone((None,), "write attn_mask=...", "attn_mask"),),
    "src_key_padding_mask": (_alone((None,), "write src_mask=...", "src_mask"),),
    "tgt_key_padding_mask": (_alone((None,), "write tgt_mask=...", "tgt_mask"),),
    "memory_key_padding_mask": (_alone((None,), "write memory_mask=...", "memory_mask"),),
    "is_causal": (_alone((False, None), "write a mask", of=(*_ATTENTION, "TransformerEncoder")),),
    "need_weights": (_alone((False,), "give it to the constructor", of=("MultiHeadAttention",)),),
    "average_attn_weights": (
        _alone((False,), "leave it out: each head has its own", of=("MultiHeadAttention",)),
    ),
    "src_is_causal": (_alone((False, None), "write src_mask=...", "src_mask"),),
    "tgt_is_causal": (_alone((False, None), "write tgt_mask=...", "tgt_mask"),),
    "memory_is_causal": (_alone((False, None), "write memory_mask=...", "memory_mask"),),
    "enable_nested_tensor": (_without_effect(of=("TransformerEncoder",)),),
    "mask_check": (_without_effect(of=("TransformerEncoder",)),),
    # optimizers
    "betas": (_pair("beta1", "beta2"),),
    "alpha": (
        _renamed("rho", of=("RMSProp",)),
        _alone((0.75,), "leave it out: the mean is that of gradients", of=("ASGD",)),
    ),
    "t0": (_alone((1e6, 1000000), "leave it out: the mean is that of gradients", of=("ASGD",)),),
    "momentum": (_alone((0, 0.0), f"{_SGD})", of=("SGD",)),),
    "nesterov": (_alone((False,), f"{_SGD}, use_nesterov=True)", of=("SGD",)),),
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
    "cycle_momentum": (_alone((False,), "leave it out: the rate alone is changed", "last_epoch"),),
    "base_momentum": (_without_effect("last_epoch"),),
    "max_momentum": (_without_effect("last_epoch"),),
    "final_div_factor": (
        _alone(
            (),
            "write end_learning_rate=max_learning_rate / div_factor / final_div_factor",
            "end_learning_rate",
        ),
    ),
    "epochs": (_alone((None,), _STEPS, "total_steps"),),
    "steps_per_epoch": (_alone((None,), _STEPS, "total_steps"),),
    # data
    "sampler": (
        _alone((), "write paddle.io.Subset(dataset, indices), which has an order", of=_LOADER),
    ),
    "pin_memory": (_without_effect(of=(*_LOADER, *_CREATING)),),
    "pin_memory_device": (_without_effect(of=_LOADER),),
    "in_order": (_alone((True,), "leave it out: batches are in order", of=_LOADER),),
    "generator": (
        _alone((None,), "write paddle.seed(value) before the loop", of=_LOADER),
        _alone((None,), "write paddle.seed(value) before it", of=_FUNCTION),
    ),
    "seed": (
        _alone((0,), "write paddle.seed(value) before the loop", of=("DistributedBatchSampler",)),
    ),
}

# What else a keyword may be: the first of these that the owner has.
_PAIRS: Final = """
    A=x a=x anchor=input axes=perm,dims B=y backoff_factor=decr_ratio
    base_lr=base_learning_rate
    boundaries=sorted_sequence device=place dilation=dilations dim=axis,axes,dims
    dim0=axis0 dim1=axis1 dim2=axis2 dimension=axis dims=axis,axes,repeat_times,perm
    div_factor=divide_factor dtype=shape_or_dtype elements=x enabled=enable end=stop
    end_dim=stop_axis
    eps=epsilon epsilon=eps exponent=y from=min gamma=exp_gamma growth_factor=incr_ratio
    growth_interval=incr_every_n_steps hx=initial_states,states init_scale=init_loss_scaling
    index=indices indices=num_or_indices indices_or_sections=num_or_indices
    input=x,arr,values,inputs,logit input1=x1,input input2=x2,other input_=input
    keepdims=keepdim kernel_size=kernel_sizes lambd=threshold,lam log_input=input
    lr=learning_rate m=num_columns mask=src_mask mat2=y max_lr=max_learning_rate
    max_val=max max_value=max min_val=min min_value=min module=sublayer,layer
    modules=sublayers n=num_rows nesterov=use_nesterov nonlinearity=activation
    norm_first=normalize_before ord=p other=y output_size=output_sizes padding=paddings
    params=parameters pct_start=phase_pct perm=dims persistent=persistable
    recurse=include_sublayers repeats=repeat_times reps=repeat_times
    return_indices=return_mask sections=num_or_indices size=shape,shape_or_dtype
    sizes=shape source=value src=values start_dim=start_axis
    step_sizes=learning_rate_range steps=num stride=strides target=label target_=label
    target_lengths=label_lengths targets=labels tensor=y tensors=x test_elements=test_x
    to=max total_iters=total_steps,decay_steps unflattened_size=shape value=values
    values=value var=variance vec2=y x=input x1=x x2=y
"""
RENAMED: Final = {
    name: targets.split(",") for name, targets in (p.split("=") for p in _PAIRS.split())
}

KEYWORDS: Final[dict[str, tuple[Meaning, ...]]] = {
    name: (*MEANINGS.get(name, ()), *map(_renamed, RENAMED.get(name, ())))
    for name in (*RENAMED, *MEANINGS)
}

# The order of PyTorch's arguments, for constructors that tell by a bool that it is meant: it stands
# where what the constructor has at that place can be none.
_INPLACE_FIRST: Final = "Hardsigmoid Hardswish Mish ReLU ReLU6 SELU SiLU Silu"
_CONV: Final = "in_channels out_channels kernel_size stride padding"
_POOL: Final = "kernel_size stride padding dilation return_indices ceil_mode"
_LAYER: Final = "d_model nhead dim_feedforward dropout activation layer_norm_eps"
_ORDERS: Final = {
    "Linear": "in_features out_features bias",
    "Bilinear": "in1_features in2_features out_features bias",
    "Embedding": "num_embeddings embedding_dim padding_idx max_norm norm_type scale_grad_by_freq "
    "sparse",
    "Conv1D Conv2D Conv3D": f"{_CONV} dilation groups bias padding_mode",
    "Conv1DTranspose Conv2DTranspose Conv3DTranspose": f"{_CONV} output_padding groups bias "
    "dilation padding_mode",
    "LayerNorm": "normalized_shape eps elementwise_affine bias",
    "GroupNorm": "num_groups num_channels eps affine",
    "InstanceNorm1D InstanceNorm2D InstanceNorm3D": "num_features eps momentum affine "
    "track_running_stats",
    "SimpleRNNCell": "input_size hidden_size bias nonlinearity",
    "GRUCell LSTMCell": "input_size hidden_size bias",
    "GRU LSTM": "input_size hidden_size num_layers bias batch_first dropout bidirectional "
    "proj_size",
    "MaxPool1D MaxPool2D MaxPool3D": _POOL,
    "LPPool1D LPPool2D": "norm_type kernel_size stride ceil_mode",
    "AlphaDropout Dropout2D Dropout3D FeatureAlphaDropout": "p inplace",
    "CELU ELU": "alpha inplace",
    _INPLACE_FIRST: "inplace",
    "Hardtanh": "min_val max_val inplace",
    "LeakyReLU": "negative_slope inplace",
    "RReLU": "lower upper inplace",
    "ThresholdedReLU": "threshold value inplace",
    "MultiHeadAttention": "embed_dim num_heads dropout bias add_bias_kv add_zero_attn kdim vdim "
    "batch_first",
    "Transformer": "d_model nhead num_encoder_layers num_decoder_layers dim_feedforward dropout "
    "activation custom_encoder custom_decoder layer_norm_eps batch_first norm_first bias",
    "TransformerDecoderLayer TransformerEncoderLayer": f"{_LAYER} batch_first norm_first bias",
    "TransformerEncoder": "encoder_layer num_layers norm enable_nested_tensor mask_check",
}
ORDERS: Final = {name: _ORDERS[of].split() for of in _ORDERS for name in of.split()}


def ordered(owner: Owner, args: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments by name; those by position have PyTorch's order where a bool tells.

    Raises
    ------
    TypeError
        For more than there may be.
    ArgumentError
        For one that is given by position and by name.
    """
    names, order = owner.positional, ORDERS.get(owner.title, ())
    for k, value in enumerate(args if len(args) <= len(order) else ()):
        free = k >= len(names) or not isinstance(owner.defaults.get(names[k]), bool)
        if isinstance(value, bool) and free and order[k] not in names[k : k + 1]:
            names = order
            break
    if len(args) > len(names):
        raise one_more(owner, args[len(names)])
    placed = dict(zip(names, args, strict=False))
    for name in placed.keys() & named.keys():
        raise ArgumentError(f"{owner.title}: {name!r} is given by position and by name")
    return {**placed, **named}


def one_more(owner: Owner, value: Any) -> TypeError:
    """What to say of an argument by position behind the last that there may be."""
    listed = ", ".join(owner.positional)
    return ArgumentTypeError(
        f"{owner.title}: takes {len(owner.positional)} arguments by position ({listed}), and "
        f"{_short(value)} is one more"
    )


def meaning_of(name: str, owner: Owner) -> Meaning | None:
    if name not in owner.meanings:
        owner.meanings[name] = next((m for m in KEYWORDS.get(name, ()) if m.fits(owner)), None)
    return owner.meanings[name]


def translated(owner: Owner, given: Mapping[str, Any], other: Mapping[str, Any]) -> Translated:
    """What `other` is in a call of `owner`, in which `given` is given besides.

    Raises
    ------
    TypeError
        For a keyword that is none here; it says what to write.
    ArgumentError
        For one that is given twice, under two names.
    """
    made = Translated({}, [])
    for name, value in other.items():
        meaning = meaning_of(name, owner)
        if meaning is None:
            raise _unknown(owner, name, {**given, **made.arguments})
        try:
            found = meaning.arguments(value)
        except Unfit as unfit:
            write = str(unfit).replace("{cls}", owner.title)
            raise ArgumentTypeError(
                f"{owner.title}: {name}={_short(value)} is not taken here; {write}"
            ) from None
        for target in found:
            if target in given or target in made.arguments:
                raise ArgumentError(
                    f"{owner.title}: {name!r} is {target!r} here, and both are given; leave one out"
                )
        made.arguments.update(found)
        if meaning.finish and value is not None:
            made.finish.append((meaning.finish, {name: value}))
    return made


def _unknown(owner: Owner, name: str, given: Mapping[str, Any]) -> TypeError:
    """There is no argument `name`: say what there is, and which line to write."""
    listed = [known for known in owner.known if known != "self"]
    here = {known: known for known in listed}
    for other in KEYWORDS:
        meaning = meaning_of(other, owner)
        if meaning is not None:
            here.setdefault(other, (*meaning.targets, other)[0])
    close = get_close_matches(name, here, 1, 0.6)
    write = f"; write {owner.shown(given, here[close[0]])}" if close else ""
    takes = ", ".join(listed) or "none"
    return ArgumentTypeError(
        f"{owner.title}: there is no argument {name!r}{write}; it takes {takes}"
    )


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 40 and "\n" not in text else type(value).__name__

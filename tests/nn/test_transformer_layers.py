"""Attention and the transformer: values, masks, caches, modes, gradients, arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import nn, static, unique_name
from autograd_engine.errors import ArgumentError, DTypeError, ShapeError

rng = np.random.default_rng(7)
CAUSAL = np.triu(np.full((4, 4), -np.inf, "float32"), 1)


def tensor(*shape: int, dtype: str = "float32") -> Any:
    return paddle.to_tensor(rng.standard_normal(shape).astype(dtype))


def small(layer: str = "Encoder", **kwargs: Any) -> Any:
    made = getattr(nn, f"Transformer{layer}Layer")
    return made(8, 2, 16, **{"dropout": 0.0, **kwargs})


# --- what is computed, in NumPy


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def linear(layer: Any, x: Any) -> Any:
    out = x @ layer.weight.numpy().astype("float64")
    return out if layer.bias is None else out + layer.bias.numpy()


def norm(layer: Any, x: Any) -> Any:
    centred = x - x.mean(-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + layer._epsilon)
    return scaled * layer.weight.numpy() + layer.bias.numpy()


def attention(layer: Any, query: Any, key: Any, value: Any, mask: Any = 0.0) -> tuple[Any, Any]:
    def heads(x: Any) -> Any:
        return x.reshape(*x.shape[:2], layer.num_heads, -1).swapaxes(1, 2)

    q, k, v = (
        heads(linear(p, x))
        for p, x in ((layer.q_proj, query), (layer.k_proj, key), (layer.v_proj, value))
    )
    weights = softmax(q @ k.swapaxes(2, 3) / np.sqrt(layer.head_dim) + mask)
    mixed = (weights @ v).swapaxes(1, 2)
    return linear(layer.out_proj, mixed.reshape(*mixed.shape[:2], -1)), weights


def block(layer: Any, x: Any, memory: Any = None, mask: Any = 0.0, memory_mask: Any = 0.0) -> Any:
    """An encoder layer, or with `memory` one of a decoder; without dropout, with relu."""
    steps = [lambda x: attention(layer.self_attn, x, x, x, mask)[0]]
    if memory is not None:
        steps.append(lambda x: attention(layer.cross_attn, x, memory, memory, memory_mask)[0])
    steps.append(lambda x: linear(layer.linear2, np.maximum(linear(layer.linear1, x), 0)))
    for k, step in enumerate(steps, 1):
        own = getattr(layer, f"norm{k}")
        x = x + step(norm(own, x)) if layer.normalize_before else norm(own, x + step(x))
    return x


def close(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(found.numpy(), wanted, rtol=2e-5, atol=2e-6)


def test_attention_is_what_it_says() -> None:
    layer = nn.MultiHeadAttention(8, 2, kdim=6, vdim=5, need_weights=True)
    query, key, value = tensor(3, 4, 8), tensor(3, 7, 6), tensor(3, 7, 5)
    wanted = attention(layer, query.numpy(), key.numpy(), value.numpy())
    found = layer(query, key, value)
    assert isinstance(found, tuple)
    for f, w in zip(found, wanted, strict=True):
        close(f, w)


def test_key_is_query_and_value_is_key_when_not_given() -> None:
    layer = nn.MultiHeadAttention(8, 4)
    x, y = tensor(2, 4, 8), tensor(2, 3, 8)
    assert layer(x).tolist() == layer(x, x, x).tolist()
    assert layer(x, y).tolist() == layer(x, y, y).tolist()


@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize("bias", [None, False])
def test_encoder_is_what_it_says(before: bool, bias: Any) -> None:
    first = small(normalize_before=before, bias_attr=bias)
    encoder = nn.TransformerEncoder(first, 3, nn.LayerNorm(8))
    x = tensor(2, 4, 8)
    wanted = x.numpy().astype("float64")
    for layer in encoder.layers:
        wanted = block(layer, wanted, mask=CAUSAL)
    close(encoder(x, paddle.to_tensor(CAUSAL)), norm(encoder.norm, wanted))


@pytest.mark.parametrize("before", [False, True])
def test_transformer_is_what_it_says(before: bool) -> None:
    model = nn.Transformer(8, 2, 2, 2, 16, dropout=0.0, normalize_before=before)
    src, tgt = tensor(2, 5, 8), tensor(2, 4, 8)
    hidden = rng.random((2, 1, 1, 5)) < 0.3
    hidden[..., 0] = False
    memory, wanted = src.numpy().astype("float64"), tgt.numpy().astype("float64")
    unseen = np.where(hidden, -1e9, 0.0)
    for layer in model.encoder.layers:
        memory = block(layer, memory, mask=unseen)
    memory = norm(model.encoder.norm, memory)
    for layer in model.decoder.layers:
        wanted = block(layer, wanted, memory, CAUSAL, unseen)
    seen = paddle.to_tensor(~hidden)
    causal = model.generate_square_subsequent_mask(4)
    assert causal.tolist() == CAUSAL.tolist()
    close(model(src, tgt, seen, causal, seen), norm(model.decoder.norm, wanted))


def test_activation_is_any_function_by_its_name() -> None:
    layer = small(activation="gelu")
    assert layer.activation is nn.functional.gelu
    with pytest.raises(ArgumentError, match="'relu' or 'gelu'; got 'no such'"):
        small(activation="no such")
    with pytest.raises(ArgumentError, match="name of a function"):
        small(activation=nn.functional.relu)


# --- masks


@pytest.mark.parametrize("kind", ["bool", "int64", "int32", "uint8"])
def test_masks_of_bools_and_ints_say_what_is_seen(kind: str) -> None:
    layer = nn.MultiHeadAttention(8, 2, need_weights=True)
    x, seen = tensor(1, 4, 8), np.tril(np.ones((4, 4), "bool"))
    out, weights = layer(x, attn_mask=paddle.to_tensor(seen.astype(kind)))
    wanted, _ = layer(x, attn_mask=paddle.to_tensor(CAUSAL))
    np.testing.assert_allclose(out.numpy(), wanted.numpy(), rtol=1e-6)
    assert (weights.numpy()[:, :, ~seen] == 0).all()


def test_any_int_but_0_is_seen_alike() -> None:
    layer, x = nn.MultiHeadAttention(8, 2, need_weights=True), tensor(1, 4, 8)
    mask = np.asarray([[1, 2, -1, 7], [3, 0, 1, 0], [0, 0, 5, 1], [-2, 0, 0, 0]])
    _, weights = layer(x, attn_mask=paddle.to_tensor(mask))
    _, expected = layer(x, attn_mask=paddle.to_tensor(mask != 0))
    np.testing.assert_array_equal(weights.numpy(), expected.numpy())


@pytest.mark.parametrize("shape", [(4, 4), (1, 4, 4), (3, 1, 1, 4), (3, 2, 4, 4)])
def test_masks_broadcast(shape: tuple[int, ...]) -> None:
    layer = nn.MultiHeadAttention(8, 2)
    x, mask = tensor(3, 4, 8), rng.standard_normal(shape).astype("float32")
    wanted, _ = attention(layer, *[x.numpy()] * 3, mask)
    close(layer(x, attn_mask=paddle.to_tensor(mask)), wanted)


def test_a_query_that_sees_no_key_takes_the_mean() -> None:
    layer = nn.MultiHeadAttention(8, 2, need_weights=True)
    nothing = paddle.zeros([4, 4], "bool")
    assert (layer(tensor(1, 4, 8), attn_mask=nothing)[1].numpy() == 0.25).all()


def test_masks_of_half_precision_stay_in_range() -> None:
    layer = nn.MultiHeadAttention(8, 2, need_weights=True).to(dtype="float16")
    x = tensor(1, 4, 8).astype("float16")
    _, weights = layer(x, attn_mask=paddle.to_tensor(np.tril(np.ones((4, 4), "bool"))))
    assert weights.numpy()[0, 0, 0].tolist() == [1, 0, 0, 0]


def test_masks_of_other_kinds_are_refused() -> None:
    layer, x = nn.MultiHeadAttention(8, 2), tensor(1, 4, 8)
    with pytest.raises(DTypeError, match="attn_mask must hold bools, ints or floats"):
        layer(x, attn_mask=paddle.ones([4, 4], "complex64"))
    with pytest.raises(ShapeError):
        layer(x, attn_mask=paddle.ones([3, 3]))


# --- dropout


def test_dropout_is_for_training_and_comes_from_the_seed() -> None:
    layer = nn.MultiHeadAttention(8, 2, dropout=0.5, need_weights=True)
    x = tensor(2, 4, 8)
    paddle.seed(3)
    first, weights = layer(x)
    paddle.seed(3)
    assert layer(x)[0].tolist() == first.tolist()
    assert 0 < (weights.numpy() == 0).mean() < 1
    layer.eval()
    close(layer(x)[0], attention(layer, *[x.numpy()] * 3)[0])


def test_rates_of_dropout_go_where_they_belong() -> None:
    plain, own = small("Decoder", dropout=0.1), small("Decoder", attn_dropout=0.2, act_dropout=0.3)
    assert [plain.self_attn.dropout, plain.cross_attn.dropout, plain.dropout.p] == [0.1] * 3
    assert [plain.dropout1.p, plain.dropout2.p, plain.dropout3.p] == [0.1] * 3
    assert [own.self_attn.dropout, own.dropout.p, own.dropout1.p] == [0.2, 0.3, 0.0]


# --- caches


def test_decoding_with_a_cache_equals_decoding_all_at_once() -> None:
    encoder = nn.TransformerEncoder(small(), 2)
    x = tensor(3, 4, 8)
    wanted = encoder(x, paddle.to_tensor(CAUSAL)).numpy()
    cache = encoder.gen_cache(x)
    for step in range(4):
        out, cache = encoder(x[:, step : step + 1], None, cache)
        close(out, wanted[:, step : step + 1])
    assert cache[1].k.shape == [3, 2, 4, 4]


def test_a_decoder_with_caches_equals_one_without() -> None:
    decoder = nn.TransformerDecoder(small("Decoder", normalize_before=True), 2, nn.LayerNorm(8))
    x, memory = tensor(3, 4, 8), tensor(3, 5, 8)
    wanted = decoder(x, memory, paddle.to_tensor(CAUSAL)).numpy()
    cache = decoder.gen_cache(memory)
    fixed = cache[0][1]
    for step in range(4):
        out, cache = decoder(x[:, step : step + 1], memory, None, None, cache)
        close(out, wanted[:, step : step + 1])
    own, same = cache[0]
    assert isinstance(own, nn.MultiHeadAttention.Cache)
    assert isinstance(same, nn.MultiHeadAttention.StaticCache)
    assert same is fixed
    steps, memories = decoder.gen_cache(memory, do_zip=True)
    assert [c.k.shape for c in steps] == [[3, 2, 0, 4]] * 2
    assert [c.k.shape for c in memories] == [[3, 2, 5, 4]] * 2


def test_a_cache_is_what_a_call_returns_behind_the_weights() -> None:
    layer = nn.MultiHeadAttention(8, 2, need_weights=True)
    x = tensor(1, 4, 8)
    out, weights, cache = layer(x, cache=layer.gen_cache(x))
    assert (out.shape, weights.shape, cache.v.shape) == ([1, 4, 8], [1, 2, 4, 4], [1, 2, 4, 4])
    again = layer.gen_cache(cache.k, cache.v)
    assert again == cache
    fixed = layer.gen_cache(x, type=nn.MultiHeadAttention.StaticCache)
    assert layer(x, cache=fixed)[0].tolist() == out.tolist()


def test_caches_of_another_kind_are_refused() -> None:
    layer, x = nn.MultiHeadAttention(8, 2), tensor(1, 4, 8)
    with pytest.raises(ArgumentError, match="StaticCache, got <class 'int'>"):
        layer.gen_cache(x, type=int)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="cache must come from gen_cache, got tuple"):
        layer(x, cache=(x, x))  # type: ignore[arg-type]
    encoder, decoder = nn.TransformerEncoder(small(), 2), nn.TransformerDecoder(small("Decoder"), 1)
    with pytest.raises(ArgumentError, match="of 2 entries; got list of 1"):
        encoder(x, cache=encoder.gen_cache(x)[:1])
    with pytest.raises(ArgumentError, match="pair that gen_cache"):
        decoder(x, x, cache=encoder.gen_cache(x)[:1])


# --- modes and gradients

BUILDERS: dict[str, Callable[[], Any]] = {
    "attention": lambda: nn.MultiHeadAttention(8, 2, dropout=0.2),
    "encoder": lambda: nn.TransformerEncoder(small(dropout=0.2), 2),
    "decoder": lambda: nn.TransformerDecoder(small("Decoder", dropout=0.2), 1),
    "transformer": lambda: nn.Transformer(8, 2, 1, 1, 16, normalize_before=True),
}


def call(name: str, layer: Any, x: Any, y: Any, mask: Any) -> Any:
    if name == "attention":
        return layer(x, y, y)
    return layer(x, mask) if name == "encoder" else layer(y, x, None, mask)


def gradients(name: str, layer: Any, run: Any, *args: Any) -> tuple[Any, dict[str, Any]]:
    paddle.seed(5)
    out = run(name, layer, *args)
    (out * out).sum().backward()
    found = {n: p.grad.numpy().copy() for n, p in layer.named_parameters()}
    layer.clear_gradients()
    return out.numpy(), found


@pytest.mark.parametrize("name", BUILDERS)
def test_modes_agree_to_the_bit(name: str) -> None:
    values = [rng.standard_normal((2, 4, 8)).astype("float32") for _ in range(2)]
    arrays = [*values, np.tril(np.ones((4, 4), "bool"))]
    paddle.seed(1)
    layer = BUILDERS[name]()
    state = {n: v.numpy() for n, v in layer.state_dict().items()}
    out, grads = gradients(name, layer, call, *map(paddle.to_tensor, arrays))
    traced = paddle.jit.to_static(call, backend="numpy")
    again, others = gradients(name, layer, traced, *map(paddle.to_tensor, arrays))
    np.testing.assert_array_equal(again, out)
    for n, g in grads.items():
        np.testing.assert_array_equal(others[n], g, err_msg=n)

    main, startup, scope = static.Program(), static.Program(), static.Scope()
    with static.scope_guard(scope):
        with static.program_guard(main, startup):
            x = static.data("x", [None, None, 8])
            y = static.data("y", [None, None, 8])
            mask = static.data("mask", [None, None], "bool")
            with unique_name.guard():
                built = BUILDERS[name]()
            result = call(name, built, x, y, mask)
            pairs = static.append_backward((result * result).sum())
        exe = static.Executor(backend="numpy")
        exe.run(startup)
        built.set_state_dict(state)
        paddle.seed(5)
        feed = dict(zip(("x", "y", "mask"), arrays, strict=True))
        found, *made = exe.run(main, feed=feed, fetch_list=[result, *(g for _, g in pairs)])
    np.testing.assert_array_equal(found, out)
    by_name = {p.name: g for (p, _), g in zip(pairs, made, strict=True)}
    for n, p in built.named_parameters():
        np.testing.assert_array_equal(by_name[p.name], grads[n], err_msg=n)


@pytest.mark.parametrize("name", BUILDERS)
def test_gradients_are_differences(name: str) -> None:
    layer = BUILDERS[name]().to(dtype="float64").eval()
    x, y = tensor(2, 4, 8, dtype="float64"), tensor(2, 4, 8, dtype="float64")
    mask = paddle.to_tensor(np.tril(np.ones((4, 4), "bool")))
    weight = rng.standard_normal((2, 4, 8))
    x.stop_gradient = False

    def loss() -> Any:
        return (call(name, layer, x, y, mask) * weight).sum()

    loss().backward()
    for p in [x, *layer.parameters()]:
        direction, value = rng.standard_normal(p.shape), p.numpy().copy()
        sides = []
        for h in (1e-6, -1e-6):
            with paddle.no_grad():
                p.set_value(value + h * direction)
                sides.append(loss().item())
        p.set_value(value)
        wanted = (sides[0] - sides[1]) / 2e-6
        assert abs((p.grad.numpy() * direction).sum() - wanted) < 1e-5 * max(1.0, abs(wanted))


def test_a_compiled_layer_serves_every_length() -> None:
    encoder = nn.TransformerEncoder(small(), 2).eval()
    traced = paddle.jit.to_static(
        lambda x: encoder(x), input_spec=[static.InputSpec([None, None, 8], "float32", "x")]
    )
    for steps in (1, 3, 6):
        x = tensor(2, steps, 8)
        np.testing.assert_allclose(traced(x).numpy(), encoder(x).numpy(), rtol=2e-5, atol=2e-6)


# --- parameters


def test_copies_have_parameters_of_their_own_that_are_newly_made() -> None:
    first = small()
    with paddle.no_grad():
        first.linear1.bias.set_value(np.ones(16, "float32"))
    encoder = nn.TransformerEncoder(first, 3)
    assert encoder.layers[0] is first
    weights = [layer.linear1.weight for layer in encoder.layers]
    assert len({w.name for w in weights}) == 3
    assert not np.array_equal(weights[0].numpy(), weights[1].numpy())
    assert not np.array_equal(weights[1].numpy(), weights[2].numpy())
    assert encoder.layers[1].linear1.bias.tolist() == [0.0] * 16
    assert len(encoder.parameters()) == 3 * 16


def test_names_of_parameters() -> None:
    with unique_name.guard():
        model = nn.Transformer(8, 2, 1, 1, 16)
    names = {name: p.name for name, p in model.named_parameters()}
    assert names["encoder.layers.0.self_attn.q_proj.weight"] == "linear_0.w_0"
    assert names["decoder.layers.0.cross_attn.out_proj.bias"] == "linear_13.b_0"
    assert names["decoder.norm.weight"] == "layer_norm_6.w_0"
    assert len(names) == 46


def test_repr_shows_what_is_inside() -> None:
    assert repr(nn.MultiHeadAttention(8, 2, kdim=4)).splitlines() == [
        "MultiHeadAttention(",
        "  (q_proj): Linear(in_features=8, out_features=8, dtype=float32)",
        "  (k_proj): Linear(in_features=4, out_features=8, dtype=float32)",
        "  (v_proj): Linear(in_features=8, out_features=8, dtype=float32)",
        "  (out_proj): Linear(in_features=8, out_features=8, dtype=float32)",
        ")",
    ]
    shown = [line.split("):")[0].strip(" (") for line in repr(small("Decoder")).splitlines()]
    top = [n for n in shown if n in ("self_attn", "cross_attn") or not n.endswith("_proj")]
    assert [n for n in top if n.isalnum() or "_" in n] == (
        ["TransformerDecoderLayer", "self_attn", "cross_attn", "linear1", "dropout", "linear2"]
        + [f"norm{k}" for k in (1, 2, 3)]
        + [f"dropout{k}" for k in (1, 2, 3)]
    )


def test_attributes_in_lists_go_to_the_parts() -> None:
    layer = small("Decoder", bias_attr=[False, None, False])
    parts = (layer.self_attn.q_proj, layer.cross_attn.v_proj, layer.linear1, layer.linear2)
    assert [p.bias is None for p in parts] == [True, False, True, True]
    ones = nn.initializer.Constant(1.0)
    layer = small(weight_attr=[None, ones])
    assert (layer.linear2.weight.numpy() == 1).all()
    assert not (layer.self_attn.q_proj.weight.numpy() == 1).any()


@pytest.mark.parametrize(
    ("given", "encoder", "decoder"),
    [
        ([False], [True, True], [True, True, True]),
        ([False, None], [True, False], [True, True, False]),
        ([False, None, False], [True, True], [True, False, True]),
        (False, [True, True], [True, True, True]),
    ],
)
def test_attributes_of_a_transformer(given: Any, encoder: list[bool], decoder: list[bool]) -> None:
    model = nn.Transformer(8, 2, 1, 1, 16, bias_attr=given)
    first, second = model.encoder.layers[0], model.decoder.layers[0]
    assert [p.bias is None for p in (first.self_attn.k_proj, first.linear1)] == encoder
    parts = (second.self_attn.k_proj, second.cross_attn.k_proj, second.linear1)
    assert [p.bias is None for p in parts] == decoder


def test_custom_parts() -> None:
    class Same(nn.Layer):
        def forward(self, x: Any, *others: Any) -> Any:
            return x

    model = nn.Transformer(8, 2, 1, 1, 16, custom_encoder=Same(), custom_decoder=Same())
    tgt = tensor(1, 4, 8)
    assert model(tensor(1, 5, 8), tgt) is tgt
    assert (model.d_model, model.nhead, model.parameters()) == (8, 2, [])


# --- bad arguments


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((8, 3), "embed_dim 8 must be a multiple of num_heads 3; take 2 heads, or embed_dim 9"),
        ((0, 1), "embed_dim must be an int of at least 1, got 0"),
        ((8, -2), "num_heads must be an int of at least 1, got -2"),
        ((8, True), "num_heads must be an int"),
        ((8.0, 2), "embed_dim must be an int"),
        ((None, 2), "embed_dim must be an int"),
        ((8, 2, 1.5), "dropout must be a number of at least 0 and of at most 1, got 1.5"),
        ((8, 2, 0.0, 0), "kdim must be an int of at least 1"),
        ((8, 2, 0.0, None, "4"), "vdim must be an int of at least 1"),
    ],
)
def test_arguments_of_attention(arguments: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        nn.MultiHeadAttention(*arguments)


def test_one_name_for_many_parameters_is_refused() -> None:
    for attr in (paddle.ParamAttr(name="w"), "w"):
        with pytest.raises(ArgumentError, match="names one parameter, 'w', but goes to several"):
            nn.MultiHeadAttention(8, 2, weight_attr=attr)
        with pytest.raises(ArgumentError, match="bias_attr of the linear maps names one"):
            small(bias_attr=[None, attr])


def test_lists_of_another_length_are_refused() -> None:
    with pytest.raises(ArgumentError, match="must have 2 entries, for self_attn, the linear maps"):
        small(weight_attr=[None] * 3)
    with pytest.raises(ArgumentError, match="must have 1, 2 or 3 entries, got 4"):
        nn.Transformer(8, 2, 1, 1, 16, bias_attr=[None] * 4)


@pytest.mark.parametrize("argument", ["dropout", "attn_dropout", "act_dropout"])
@pytest.mark.parametrize("value", [-0.1, 1.1, True, "0.1"])
def test_rates_of_dropout_are_checked(argument: str, value: Any) -> None:
    with pytest.raises(ArgumentError, match=f"TransformerEncoderLayer: {argument} must be a num"):
        small(**{argument: value})


def test_stacks_check_what_they_are_given() -> None:
    with pytest.raises(ArgumentError, match=r"TransformerEncoderLayer, .*; got Linear"):
        nn.TransformerEncoder(nn.Linear(2, 2), 2)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="got TransformerEncoderLayer"):
        nn.TransformerEncoder(nn.TransformerEncoderLayer, 2)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="num_layers must be an int of at least 0, got -1"):
        nn.TransformerEncoder(small(), -1)
    with pytest.raises(ArgumentError, match="norm must be a layer or None, got bool"):
        nn.TransformerDecoder(small("Decoder"), 1, True)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="custom_encoder must be a layer, got str"):
        nn.Transformer(custom_encoder="x")  # type: ignore[arg-type]
    assert nn.TransformerEncoder(small(), 0)(paddle.ones([1, 2, 8])).tolist()[0][0][0] == 1.0


def test_a_layer_that_cannot_be_copied_says_so() -> None:
    class Own(nn.TransformerEncoderLayer):
        def __init__(self) -> None:
            super().__init__(8, 2, 16)

    assert len(nn.TransformerEncoder(Own(), 1).layers) == 1
    with pytest.raises(ArgumentError, match=r"Own cannot be copied: .*paddle.nn.LayerList"):
        nn.TransformerEncoder(Own(), 2)


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (([4, 8],), r"query must be \[batch, steps, 8\], got \[4, 8\]"),
        (([1, 4, 6],), r"query must be .* made with embed_dim=8"),
        (([1, 4, 8],), r"key must be \[batch, steps, 6\], got \[1, 4, 8\]; .* kdim=6"),
        (([1, 4, 8], [1, 4, 6]), r"value must be \[batch, steps, 5\].* vdim=5"),
    ],
)
def test_shapes_that_do_not_fit(shapes: Any, message: str) -> None:
    layer = nn.MultiHeadAttention(8, 2, kdim=6, vdim=5)
    with pytest.raises(ShapeError, match=message):
        layer(*[paddle.ones(s) for s in shapes])
    with pytest.raises(ShapeError):
        layer(paddle.ones([1, 4, 8]), paddle.ones([1, 4, 6]), paddle.ones([1, 3, 5]))


def test_lengths_of_masks() -> None:
    model = nn.Transformer(8, 2, 1, 1, 16)
    assert model.generate_square_subsequent_mask(paddle.to_tensor(2)).shape == [2, 2]
    assert model.generate_square_subsequent_mask(0).shape == [0, 0]
    with pytest.raises(ArgumentError, match="length must be an int of at least 0, got -1"):
        model.generate_square_subsequent_mask(-1)


# --- beside others, where they are installed


@pytest.mark.parametrize("before", [False, True])
def test_encoder_beside_torch(before: bool) -> None:
    torch = pytest.importorskip("torch")
    ours = small(normalize_before=before, activation="gelu")
    theirs = torch.nn.TransformerEncoderLayer(
        8, 2, 16, 0.0, "gelu", batch_first=True, norm_first=before
    )
    own = {n: torch.tensor(v.numpy()) for n, v in ours.state_dict().items()}
    state = {n: v.T if n.endswith("weight") and v.ndim == 2 else v for n, v in own.items()}
    for kind in ("weight", "bias"):
        parts = [state.pop(f"self_attn.{p}_proj.{kind}") for p in "qkv"]
        state[f"self_attn.in_proj_{kind}"] = torch.cat(parts)
    theirs.load_state_dict(state)
    array = rng.standard_normal((2, 4, 8)).astype("float32")
    x, y = paddle.to_tensor(array, stop_gradient=False), torch.tensor(array, requires_grad=True)
    out, other = ours(x, paddle.to_tensor(CAUSAL)), theirs(y, torch.tensor(CAUSAL))
    close(out, other.detach().numpy())
    (out * out).sum().backward()
    (other * other).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), y.grad.numpy(), rtol=1e-4, atol=1e-5)
    found = ours.linear1.weight.grad.numpy()
    np.testing.assert_allclose(found, theirs.linear1.weight.grad.numpy().T, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ["bool", "int64", "float32"])
def test_transformer_beside_paddle(kind: str) -> None:
    peer = pytest.importorskip("paddle")
    ours = nn.Transformer(8, 2, 2, 2, 16, dropout=0.0)
    theirs = peer.nn.Transformer(8, 2, 2, 2, 16, dropout=0.0)
    theirs.set_state_dict({n: peer.to_tensor(v.numpy()) for n, v in ours.state_dict().items()})
    src, tgt = rng.standard_normal((2, 2, 4, 8)).astype("float32")
    mask = CAUSAL if kind == "float32" else np.tril(np.ones((4, 4))).astype(kind)
    results = []
    for library, model in ((paddle, ours), (peer, theirs)):
        out = model(*map(library.to_tensor, (src, tgt, mask, mask)))
        (out * out).sum().backward()
        results.append([out.numpy(), *(p.grad.numpy() for p in model.parameters())])
    for found, wanted in zip(*results, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=2e-5)
    assert repr(ours) == repr(theirs)

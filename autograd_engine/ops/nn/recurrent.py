"""Recurrent layers over all time steps at once, and the linear recurrences of their gradients.

States are ``[state, time + 1, batch, hidden]``: h, and c where there is one; those at time 0 are
the initial ones. What flows into the gates from outside is ``[time, batch, gate, hidden]``.

To first order a recurrent layer is the linear recurrence `gate_scan`: at each time t, with
coefficients ``slopes[t]`` that its values give,

    a[t] = gateflow[t] + h[t] W'                      for the gates that see the state
    s[t + 1] = stateflow[t + 1] + sum_gates P[t] a[t] + keep[t] s[t]

where s is h; of an LSTM it is c, driven by the gates i, f and g, and then

    h[t + 1] = stateflow[t + 1] + P_o[t] a_o[t] + read[t] c[t + 1].

All of it is ``z = flow + N z``, with N made of slopes and W. The gradient of a layer is the
transpose, ``y = flow + N' y`` (`gate_scan_adjoint`), and the gradient of either with respect to an
entry of N is the product of what it connects: so these two are closed under differentiation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from autograd_engine.core.dims import Size
from autograd_engine.core.spec import (
    Shape,
    Spec,
    format_shape,
    may_equal,
)
from autograd_engine.errors import ShapeError
from autograd_engine.ops.kernels import recurrent
from autograd_engine.ops.registry.opdef import OpDef, defop, scattering
from autograd_engine.ops.registry.work import Specs, each_result, multiply_adds

_ALL: Final = slice(None)
_BEFORE: Final = slice(None, -1)
_AFTER: Final = slice(1, None)
# How many gates, slopes and states there are of each kind.
_COUNTS: Final = {"plain": (1, 1, 1), "gru": (4, 5, 1), "lstm": (4, 6, 2)}


def _need(name: str, what: str, shape: Shape, expected: Shape) -> None:
    if not may_equal(shape, expected):
        raise ShapeError(
            f"{name}: {what} must have the shape {format_shape(expected)}, got "
            f"{format_shape(shape)}"
        )


def _infer_scan(
    name: str, gates: int, states: int, inflow: Spec, weight: Spec, start: Spec
) -> tuple[Shape, Shape]:
    """(time, batch, hidden) and the shape of the states."""
    if inflow.ndim != 4:
        raise ShapeError(
            f"{name}: inflow must be [time, batch, gate, hidden], got {format_shape(inflow.shape)}"
        )
    steps, batch, _, size = inflow.shape
    _need(name, "inflow", inflow.shape, (steps, batch, gates, size))
    _need(name, "weight", weight.shape, (gates * size, size))
    _need(name, "start", start.shape, (states, batch, size))
    return (steps, batch, size), (states, steps + 1, batch, size)


# --- coefficients; each is one function of values at one time


def _gates_of(xp: Any, kept: Any, count: int) -> list[Any]:
    return [xp.getitem(kept, key=(_ALL, k)) for k in range(count)]


def _gate_slopes_infer(kept: Spec, states: Spec, *, kind: str) -> Spec:
    steps, _, batch, size = kept.shape
    return Spec((steps, _COUNTS[kind][1], batch, size), kept.dtype)


def _gate_slopes_rule(xp: Any, g: Any, kept: Any, states: Any, *, kind: str) -> tuple[Any, Any]:
    """Each slope is a product of a few values; see `kernels.recurrent`."""
    parts = _gates_of(xp, g, _COUNTS[kind][1])
    into: tuple[Any, ...]
    if kind == "lstm":
        i, f, g_, o, y = _gates_of(xp, kept, 5)
        c = xp.getitem(states, key=(1, _BEFORE))
        at_i, at_f, at_g, at_o, at_keep, at_read = parts
        into_state = at_f * (f * (1.0 - f))
        into = (
            at_i * (1.0 - 2.0 * i) * g_ + at_g * (1.0 - g_ * g_),
            at_f * (1.0 - 2.0 * f) * c + at_keep,
            at_i * (i * (1.0 - i)) - 2.0 * (at_g * g_ * i),
            at_o * (1.0 - 2.0 * o) * y + at_read * (1.0 - y * y),
            at_o * (o * (1.0 - o)) - 2.0 * (at_read * y * o),
        )
    else:
        r, z, c, m = _gates_of(xp, kept, 4)
        h = xp.getitem(states, key=(0, _BEFORE))
        at_r, at_z, at_c, at_m, at_keep = parts
        of_c = (1.0 - z) * (1.0 - c * c)
        into_m = at_r * m * (1.0 - r) + at_m
        into_c = at_c + into_m * r
        into_state = at_z * (z * (1.0 - z))
        into = (
            into_m * of_c - at_r * (of_c * r * m),
            at_z * (h - c) * (1.0 - 2.0 * z) + at_keep - into_c * (1.0 - c * c),
            -into_state - 2.0 * (into_c * (1.0 - z) * c),
            at_r * (of_c * r) * (1.0 - r),
        )
    key = (_COUNTS[kind][2] - 1, _BEFORE)
    return xp.stack(*into, axis=1), xp.scatter("unslice_like", into_state, states, key=key)


# What stands between a change of a gate and that of the state which it drives, for each gate; what
# stays of the state; and of an LSTM what h reads of c.
defop(
    "gate_slopes",
    recurrent.gate_slopes,
    inputs="kept states",
    infer=_gate_slopes_infer,
    dtypes="common",
    takes="f",
    work=each_result,
).vjp_together("kept states", scattering("states", _gate_slopes_rule))


# --- a linear recurrence and its transpose


def _gate_scan_infer(
    weight: Spec, slopes: Spec, stateflow: Spec, *gateflow: Spec, kind: str
) -> tuple[Spec, Spec]:
    gates, count, states = _COUNTS[kind]
    name = "gate_scan"
    if slopes.ndim != 4 or len(gateflow) > 1:
        raise ShapeError(f"{name}: slopes must be [time, slope, batch, hidden], the flows two")
    steps, _, batch, size = slopes.shape
    _need(name, "slopes", slopes.shape, (steps, count, batch, size))
    rows = sum(stop - start for start, stop in recurrent.RECURRENT[kind])
    _need(name, "weight", weight.shape, (rows * size, size))
    _need(name, "stateflow", stateflow.shape, (states, steps + 1, batch, size))
    for flow in gateflow:
        _need(name, "gateflow", flow.shape, (steps, batch, gates, size))
    return (
        Spec((steps, batch, gates, size), slopes.dtype),
        Spec((states, steps + 1, batch, size), slopes.dtype),
    )


def _weight_cotangent(xp: Any, later: Any, states: Any, kind: str) -> Any:
    """``sum_t later[t]' h[t]``, `later` of the gates that see h, each range of gates a product."""
    h = xp.merge_axes(xp.getitem(states, key=(0, _BEFORE)), counts=(2, 1))
    parts = []
    for start, stop in recurrent.RECURRENT[kind]:
        block = xp.getitem(later, key=(_ALL, _ALL, slice(start, stop)))
        rows = xp.merge_axes(block, counts=(2, 2))
        parts.append(xp.matmul(rows, h, transpose_x=True, transpose_y=False))
    return parts[0] if len(parts) == 1 else xp.concat(*parts, axis=0)


def _slope_cotangents(xp: Any, to_states: Any, gates: Any, states: Any, kind: str) -> Any:
    """Of each slope: what arrives where it leads to, times what it is the slope of."""
    count = _COUNTS[kind][0]
    arriving = [xp.getitem(to_states, key=(k, _AFTER)) for k in range(_COUNTS[kind][2])]
    driven = arriving[-1]
    parts = [driven * xp.getitem(gates, key=(_ALL, _ALL, k)) for k in range(count)]
    if kind == "lstm":
        parts[3] = arriving[0] * xp.getitem(gates, key=(_ALL, _ALL, 3))
    if kind != "plain":
        parts.append(driven * xp.getitem(states, key=(-1, _BEFORE)))
    if kind == "lstm":
        parts.append(arriving[0] * xp.getitem(states, key=(1, _AFTER)))
    return xp.stack(*parts, axis=1)


def _gate_scan_rule(transpose: str) -> Callable[..., Any]:
    """The rule of one of the two, of which `transpose` is the other."""

    def gate_scan_rule(
        xp: Any,
        g_gates: Any,
        g_states: Any,
        weight: Any,
        slopes: Any,
        gates: Any,
        states: Any,
        gateflow_like: Any,
        *,
        kind: str,
    ) -> tuple[Any, ...]:
        """The transposed recurrence of the cotangents, and for its coefficients its products with
        the values that they connect.
        """
        if g_states is None:
            g_states = xp.zeros_like(states)
        flow = () if g_gates is None else (g_gates,)
        to_gates, to_states = getattr(xp, transpose)(weight, slopes, g_states, *flow, kind=kind)
        later, earlier = (to_gates, to_states), (gates, states)
        if transpose == "gate_scan":
            later, earlier = earlier, later
        return (
            _weight_cotangent(xp, later[0], earlier[1], kind),
            _slope_cotangents(xp, later[1], *earlier, kind),
            to_states,
            [to_gates] * len(gateflow_like),
        )

    return gate_scan_rule


def _linear(name: str, kernel: Callable[..., Any], transpose: str) -> OpDef:
    return defop(
        name,
        kernel,
        takes="f",
        inputs="weight slopes stateflow *gateflow",
        outputs="gates states",
        infer=_gate_scan_infer,
        dtypes="common",
        lazy_cotangents=True,
        work=multiply_adds(lambda o, r, _: o[0].size * o[1].shape[0] * o[1].shape[2]),
    ).vjp_together("weight slopes stateflow gateflow", _gate_scan_rule(transpose))


_linear("gate_scan", recurrent.gate_scan, "gate_scan_adjoint")
_linear("gate_scan_adjoint", recurrent.gate_scan_adjoint, "gate_scan")


def _layer_adjoint_infer(
    weight: Spec, kept: Spec, values: Spec, stateflow: Spec, *gateflow: Spec, kind: str
) -> tuple[Spec, Spec]:
    slopes = _gate_slopes_infer(kept, values, kind=kind)
    return _gate_scan_infer(weight, slopes, stateflow, *gateflow, kind=kind)


def _layer_adjoint_rule(
    xp: Any,
    g_gates: Any,
    g_states: Any,
    weight: Any,
    kept: Any,
    values: Any,
    gates: Any,
    states: Any,
    gateflow_like: Any,
    *,
    kind: str,
) -> tuple[Any, ...]:
    """Those of `gate_scan_adjoint` and of `gate_slopes`, one behind the other."""
    slopes = xp.gate_slopes(kept, values, kind=kind)
    to_weight, to_slopes, *to_flows = _gate_scan_rule("gate_scan")(
        xp, g_gates, g_states, weight, slopes, gates, states, gateflow_like, kind=kind
    )
    return to_weight, *_gate_slopes_rule(xp, to_slopes, kept, values, kind=kind), *to_flows


# gate_scan_adjoint(weight, gate_slopes(kept, values), stateflow, gateflow), slopes step by step.
defop(
    "layer_adjoint",
    recurrent.layer_adjoint,
    takes="f",
    inputs="weight kept values stateflow *gateflow",
    outputs="gates states",
    infer=_layer_adjoint_infer,
    dtypes="common",
    lazy_cotangents=True,
    work=multiply_adds(lambda o, r, _: o[0].size * o[1].shape[0] * o[1].shape[2]),
).vjp_together("weight kept values stateflow gateflow", scattering("values", _layer_adjoint_rule))

# --- layers


def _infer_lstm(inflow: Spec, weight: Spec, start: Spec, *bias: Spec) -> tuple[Spec, Spec]:
    (steps, batch, size), states = _infer_scan("lstm_scan", 4, 2, inflow, weight, start)
    for each in bias:
        _need("lstm_scan", "bias", each.shape, (4 * size,))
    return Spec((steps, 5, batch, size), inflow.dtype), Spec(states, inflow.dtype)


def _lstm_rule(
    xp: Any, g_kept: Any, g_states: Any, weight: Any, kept: Any, states: Any, bias_like: Any
) -> tuple[Any, ...]:
    """Through a gate: its slope times what arrives; c and h are linear in the gates' changes."""
    if g_states is None:
        g_states = xp.zeros_like(states)
    flow: list[Any] = []
    if g_kept is not None:
        i, f, g, o, y = _gates_of(xp, kept, 5)
        g_i, g_f, g_g, g_o, g_y = _gates_of(xp, g_kept, 5)
        into = (g_i * (i * (1.0 - i)), g_f * (f * (1.0 - f)), g_g * (1.0 - g * g))
        flow = [xp.stack(*into, g_o * (o * (1.0 - o)), axis=2)]
        into_c = g_y * (1.0 - y * y)
        g_states = g_states + xp.unslice_like(into_c, states, key=(1, _AFTER))
    to_gates, to_states = xp.layer_adjoint(weight, kept, states, g_states, *flow, kind="lstm")
    return (
        to_gates,
        _weight_cotangent(xp, to_gates, states, "lstm"),
        xp.getitem(to_states, key=(_ALL, 0)),
        [xp.sum_like(xp.merge_axes(to_gates, counts=(2, 2)), each) for each in bias_like],
    )


def _each_step(operands: Specs, results: Specs, attrs: dict[str, Any]) -> Size:
    """A product with the weight at each time; what goes element by element is little beside it."""
    inflow, weight = operands[:2]
    return weight.size * inflow.shape[0] * inflow.shape[1]


_LAYER: Final[dict[str, Any]] = {
    "dtypes": "common",
    "takes": "f",
    "lazy_cotangents": True,
    "work": multiply_adds(_each_step),
}
defop(
    "lstm_scan",
    recurrent.lstm_scan,
    inputs="inflow weight start *bias",
    outputs="kept states",
    infer=_infer_lstm,
    **_LAYER,
    amp="low",
    types="lstm",
).vjp_together("inflow weight start bias", _lstm_rule)


def _infer_gru(inflow: Spec, weight: Spec, start: Spec, bias: Spec) -> tuple[Spec, Spec]:
    (steps, batch, size), states = _infer_scan("gru_scan", 3, 1, inflow, weight, start)
    _need("gru_scan", "bias", bias.shape, (size,))
    return Spec((steps, 4, batch, size), inflow.dtype), Spec(states, inflow.dtype)


def _gru_rule(
    xp: Any, g_kept: Any, g_states: Any, weight: Any, kept: Any, states: Any, bias_like: Any
) -> tuple[Any, ...]:
    """As of an LSTM; the gate c is the tanh of its inflow and of r m."""
    if g_states is None:
        g_states = xp.zeros_like(states)
    flow: list[Any] = []
    if g_kept is not None:
        r, z, c, m = _gates_of(xp, kept, 4)
        g_r, g_z, g_c, g_m = _gates_of(xp, g_kept, 4)
        into_c = g_c * (1.0 - c * c)
        into_r = (g_r + m * into_c) * (r * (1.0 - r))
        into = (into_r, g_z * (z * (1.0 - z)), into_c, g_m + r * into_c)
        flow = [xp.stack(*into, axis=2)]
    to_gates, to_states = xp.layer_adjoint(weight, kept, states, g_states, *flow, kind="gru")
    return (
        xp.getitem(to_gates, key=(_ALL, _ALL, slice(0, 3))),
        _weight_cotangent(xp, to_gates, states, "gru"),
        xp.getitem(to_states, key=(_ALL, 0)),
        xp.sum_like(xp.getitem(to_gates, key=(_ALL, _ALL, 3)), bias_like),
    )


defop(
    "gru_scan",
    recurrent.gru_scan,
    inputs="inflow weight start bias",
    outputs="kept states",
    infer=_infer_gru,
    **_LAYER,
    amp="low",
    types="gru",
).vjp_together("inflow weight start bias", _gru_rule)


def _infer_rnn(inflow: Spec, weight: Spec, start: Spec, *, activation: str) -> Spec:
    return Spec(_infer_scan("rnn_scan", 1, 1, inflow, weight, start)[1], inflow.dtype)


def _rnn_rule(xp: Any, g: Any, weight: Any, states: Any, *, activation: str) -> tuple[Any, ...]:
    """The slope of tanh is 1 - h^2; that of relu 1 where h > 0, and 0 at 0."""
    h = xp.getitem(states, key=(0, _AFTER))
    slope = 1.0 - h * h if activation == "tanh" else xp.cast_like(xp.greater_than(h, 0.0), h)
    slopes = xp.unsqueeze(slope, axis=(1,))
    to_gates, to_states = xp.gate_scan_adjoint(weight, slopes, g, kind="plain")
    return (
        to_gates,
        _weight_cotangent(xp, to_gates, states, "plain"),
        xp.getitem(to_states, key=(_ALL, 0)),
    )


defop(
    "rnn_scan",
    recurrent.rnn_scan,
    takes="f",
    inputs="inflow weight start",
    outputs="states",
    infer=_infer_rnn,
    dtypes="common",
    work=multiply_adds(_each_step),
    amp="low",
    types="rnn",
).vjp_together("inflow weight start", _rnn_rule)

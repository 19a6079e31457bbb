"""Random programs of views and changes in place, and what they compute by other means.

A program is a list of steps, each a name with numbers. It runs on tensors here; on a plain model,
NumPy memory with real views, which carries a directional derivative along in memory of its own; and
on PyTorch where that is installed. All end with the same values, and with gradients that agree
along that direction (here and the model) or altogether (here and PyTorch).

``python -m tests.eager.view_programs 10000`` runs that many.
"""

from __future__ import annotations

import math
import random
import sys
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import autograd_engine as paddle
from autograd_engine.errors import NotDifferentiableError

__all__ = ["Model", "agrees", "agrees_with_torch", "on_tensors", "program"]

Array = np.ndarray
Step = tuple[Any, ...]
VIEWS = ("getitem", "reshape", "flatten", "transpose", "squeeze", "unsqueeze", "unbind", "diagonal")
COPIES = ("sin", "product", "clone", "pick", "split", "flip", "halved")
WRITES = ("add_", "multiply_", "fill_", "copy_", "setitem", "setitem_tensor", "sin_", "set_value")
_OF_TWO = ("add_", "multiply_", "copy_", "setitem_tensor")


# --- the model


@dataclass(eq=False)
class Line:
    """Tensors that share a history.

    Whether a leaf is the first of them, whether it began under no_grad, and whether a gradient may
    flow.
    """

    leaf: bool = False
    begun: bool = False
    open: bool = False


@dataclass(eq=False)
class Entry:
    """Values and their derivative, each a view of memory that other entries may share."""

    value: Array
    slope: Array
    line: Line = field(default_factory=Line)
    whole: Array | None = None

    def __post_init__(self) -> None:
        if self.whole is None:
            self.whole = self.value

    def taken(self, value: Array, slope: Array) -> Entry:
        return Entry(value, slope, self.line, self.whole)

    def cut(self, begun: bool = False) -> Entry:
        """The same values without the derivative, in the same strides of other memory."""
        assert self.whole is not None
        flat = np.zeros(self.whole.size)
        first = (
            self.value.__array_interface__["data"][0] - self.whole.__array_interface__["data"][0]
        )
        slope = np.lib.stride_tricks.as_strided(
            flat[first // 8 :], self.value.shape, self.value.strides
        )
        return Entry(self.value, slope, Line(begun=begun), self.whole)


def _address(a: Array) -> int:
    return int(a.__array_interface__["data"][0])


def _view(a: Array, step: Step) -> Array:
    name, rest = step[0], step[1:]
    if name == "getitem":
        return a[rest[0] if ... in rest[0] else (*rest[0], ...)]  # a view, of no dimension too
    if name == "reshape":
        return a.reshape(rest[0])
    if name == "flatten":
        return a.reshape(-1)
    if name == "transpose":
        return a.transpose(rest[0])
    if name == "squeeze":
        return a.squeeze()
    if name == "unsqueeze":
        return np.expand_dims(a, rest[0])
    if name == "unbind":
        return np.moveaxis(a, rest[0], 0)[rest[1], ...]
    assert name == "diagonal"
    view = np.diagonal(a)
    view.flags.writeable = True
    return view


class Model:
    """A program on NumPy memory."""

    def __init__(self, leaves: list[Array], slopes: list[Array], constants: list[Array]) -> None:
        self.entries: list[Entry | None] = [
            Entry(v.copy(), s.copy(), Line(leaf=True, open=True))
            for v, s in zip(leaves, slopes, strict=True)
        ]
        self.entries += [Entry(c.copy(), np.zeros_like(c)) for c in constants]
        self.losses: list[tuple[float, float]] = []

    def at(self, k: int) -> Entry:
        found = self.entries[k]
        assert found is not None
        return found

    def alive(self) -> list[Entry]:
        return [e for e in self.entries if e is not None]

    def run(self, step: Step) -> None:
        name, mode, k, *rest = step
        x = self.at(k)
        recorded = mode == "on"
        if name == "del":
            self.entries[k] = None
        elif name == "detach":
            self.entries.append(x.cut())
        elif name in VIEWS:
            value, slope = _view(x.value, (name, *rest)), _view(x.slope, (name, *rest))
            if value.size and not np.may_share_memory(value, x.value):
                self._fresh(value, slope, recorded and x.line.open)
            elif recorded or not x.line.open:
                self.entries.append(Entry(value, slope, x.line, x.whole))
            else:
                self.entries.append(Entry(value, slope, x.line, x.whole).cut(begun=True))
        elif name in COPIES:
            value, slope = self._copied(x, name, rest)
            flows = x.line.open or (name == "product" and self.at(rest[0]).line.open)
            self._fresh(value, slope, recorded and flows)
        elif name == "loss":
            pairs = list(zip(rest[0], self.alive(), strict=True))
            total = sum(float((w * e.value).sum()) for w, e in pairs)
            self.losses.append((total, sum(float((w * e.slope).sum()) for w, e in pairs)))
        else:
            self._write(x, name, rest, recorded)

    def _fresh(self, value: Array, slope: Array, opened: bool) -> None:
        slope = np.array(slope, order="C") if opened else np.zeros(value.shape)
        self.entries.append(Entry(np.array(value, order="C"), slope, Line(open=opened)))

    def _copied(self, x: Entry, name: str, rest: list[Any]) -> tuple[Array, Array]:
        v, s = x.value, x.slope
        if name == "sin":
            return np.sin(v), np.cos(v) * s
        if name == "halved":
            return v * 0.5, s * 0.5
        if name == "product":
            y = self.at(rest[0])
            return v * y.value, v * y.slope + s * y.value
        if name == "clone":
            return v, s
        if name == "pick":
            return v[rest[0]], s[rest[0]]
        if name == "split":
            return v[: len(v) // 2], s[: len(v) // 2]
        assert name == "flip"
        return np.flip(v, 0), np.flip(s, 0)

    def _write(self, x: Entry, name: str, rest: list[Any], recorded: bool) -> None:
        v, s, key = x.value, x.slope, ...
        if name in ("add_", "multiply_", "copy_"):
            y = self.at(rest[0])
            value, slope = {
                "add_": lambda: (v + y.value, s + y.slope),
                "multiply_": lambda: (v * y.value, v * y.slope + s * y.value),
                "copy_": lambda: (y.value.copy(), y.slope.copy()),
            }[name]()
        elif name == "sin_":
            value, slope = np.sin(v), np.cos(v) * s
        elif name in ("fill_", "set_value"):
            value, slope = np.full(v.shape, rest[0]), np.zeros(v.shape)
        elif name == "setitem":
            key, value, slope = rest[0], rest[1], 0.0
        else:
            y = self.at(rest[1])
            key, value, slope = rest[0], y.value.copy(), y.slope.copy()
        v[key] = value
        if (recorded and name != "set_value") or (name == "set_value" and not x.line.leaf):
            s[key] = slope
            x.line.open = x.line.open or (name in _OF_TWO and self.at(rest[-1]).line.open)


# --- a random program


def _key(rng: random.Random, shape: tuple[int, ...], negative: bool) -> Any:
    entries: list[Any] = []
    for n in shape:
        kind = rng.randrange(5)
        if kind == 0:
            entries.append(rng.randrange(-n, n))
        elif kind == 1:
            entries.append(slice(None))
        elif kind == 2 and negative:
            entries.append(slice(None, None, -1))
        elif kind == 3:
            entries.append(slice(0, n, 2))
        else:
            start = rng.randrange(n)
            entries.append(slice(start, rng.randrange(start, n) + 1))
        if rng.random() < 0.1:
            entries.append(None)
        if rng.random() < 0.3:
            break
    if rng.random() < 0.1:
        entries.append(...)
    return tuple(entries)


def _factors(rng: random.Random, size: int) -> tuple[int, ...]:
    shape = []
    while size > 1 and rng.random() < 0.7:
        divisors = [d for d in range(2, size + 1) if size % d == 0]
        shape.append(rng.choice(divisors))
        size //= shape[-1]
    return (*shape, size)


def _step(rng: random.Random, model: Model, negative: bool) -> Step:
    live = [k for k, e in enumerate(model.entries) if e is not None and e.value.size]
    k = rng.choice(live)
    x = model.at(k)
    shape = x.value.shape
    mode = "off" if rng.random() < 0.15 else "on"
    same = [j for j in live if model.at(j).value.shape == shape]
    kind = rng.random()
    if kind < 0.05 and len(live) > 3:
        return ("del", "on", k)
    if kind < 0.1:
        return ("detach", "on", k)
    if kind < 0.15:
        weights = [rng_array(rng, e.value.shape) for e in model.alive()]
        return ("loss", "on", k, weights)
    if kind < 0.5:
        name = rng.choice(VIEWS)
        if x.line.open and not x.slope.any():
            mode = "on"  # a gradient may flow here or not: a view under no_grad depends on that
        if name == "getitem":
            return (name, mode, k, _key(rng, shape, negative))
        if name == "reshape":
            return (name, mode, k, _factors(rng, x.value.size))
        if name == "transpose":
            return (name, mode, k, tuple(rng.sample(range(len(shape)), len(shape))))
        if name == "unsqueeze":
            return (name, mode, k, rng.randrange(len(shape) + 1))
        if name == "unbind" and shape:
            axis = rng.randrange(len(shape))
            return (name, mode, k, axis, rng.randrange(shape[axis]))
        if name == "diagonal" and len(shape) >= 2:
            return (name, mode, k)
        return ("flatten" if rng.random() < 0.5 else "squeeze", mode, k)
    if kind < 0.65:
        name = rng.choice(COPIES)
        if name == "product":
            return (name, mode, k, rng.choice(same))
        if name == "pick" and shape:
            return (name, mode, k, [rng.randrange(shape[0]) for _ in range(2)])
        if name in ("split", "flip") and shape and shape[0] % 2 == 0:
            return (name, mode, k)
        return (rng.choice(("sin", "halved", "clone")), mode, k)
    return _write_step(rng, model, k, mode, same, live, negative)


def _write_step(
    rng: random.Random,
    model: Model,
    k: int,
    mode: str,
    same: list[int],
    live: list[int],
    negative: bool,
) -> Step:
    x = model.at(k)
    name = rng.choice(WRITES)
    if x.line.leaf and name != "set_value" and rng.random() < 0.9:
        mode = "off"  # or it is refused
    if x.line.begun and name in ("add_", "multiply_", "copy_", "setitem_tensor"):
        mode = "off"
    number = round(rng.uniform(-2.0, 2.0), 2)
    if name in ("add_", "multiply_", "copy_"):
        return (name, mode, k, rng.choice(same))
    if name in ("fill_", "set_value"):
        return (name, mode, k, number)
    if name == "sin_":
        return (name, mode, k)
    key = _key(rng, x.value.shape, negative)
    fits = [j for j in live if model.at(j).value.shape == x.value[key].shape]
    if name == "setitem_tensor" and fits:
        return (name, mode, k, key, rng.choice(fits))
    return ("setitem", mode if name == "setitem" or not x.line.begun else "off", k, key, number)


# A generator of its own for each array would take longer than what is done with it.
_NUMBERS = np.random.default_rng(0).uniform(-1.0, 1.0, 1 << 16)
_NUMBERS.flags.writeable = False


def rng_array(rng: random.Random, shape: tuple[int, ...]) -> Array:
    size = math.prod(shape)
    start = rng.randrange(_NUMBERS.size - size)
    return _NUMBERS[start : start + size].reshape(shape)


def refused(model: Model, step: Step) -> bool:
    """Whether it writes to a leaf, or to a view of one, while operations are recorded."""
    x = model.at(step[2])
    return step[0] in WRITES and step[0] != "set_value" and step[1] == "on" and x.line.leaf


def program(
    seed: int, length: int = 25, negative: bool = True
) -> tuple[tuple[list[Array], list[Array], list[Array]], list[Step], Model]:
    """The leaves, their directions and the constants; the steps; and the model that ran them."""
    rng = random.Random(seed)
    shapes = [rng.choice([(2, 3), (4,), (2, 2, 2), (3, 3), (4, 3)]) for _ in range(3)]
    given = (
        [rng_array(rng, s) for s in shapes[:2]],
        [rng_array(rng, s) for s in shapes[:2]],
        [rng_array(rng, shapes[2])],
    )
    model = Model(*given)
    steps: list[Step] = []
    # Most of what happens shall carry a gradient.
    for k in range(2):
        steps.append(("halved", "on", k))
        model.run(steps[-1])
    for _ in range(length):
        step = _step(rng, model, negative)
        steps.append(step)
        if not refused(model, step):
            model.run(step)
    steps.append(("loss", "on", 0, [rng_array(rng, e.value.shape) for e in model.alive()]))
    pairs = list(zip(steps[-1][3], model.alive(), strict=True))
    total = sum(float((w * e.value).sum()) for w, e in pairs)
    model.losses.append((total, sum(float((w * e.slope).sum()) for w, e in pairs)))
    return given, steps, model


# --- here, and with PyTorch


def _on(steps: list[Step], tensors: list[Any], call: Any, mode: Any) -> list[Any]:
    """The losses; `tensors` is what there is in the end, None for what was deleted."""
    losses = []
    for name, recorded, k, *rest in steps:
        if name == "del":
            tensors[k] = None
            continue
        if name == "loss":
            live = [t for t in tensors if t is not None]
            losses.append(call("loss", None, [rest[0], live], tensors))
            continue
        with mode(recorded == "on"):
            made = call(name, tensors[k], rest, tensors)
        if name not in WRITES:
            tensors.append(made)
    return losses


def on_tensors(given: Any, steps: list[Step]) -> tuple[list[Any], list[Any], list[Any]]:
    """(leaves, tensors in the end, losses)"""
    leaves = [paddle.to_tensor(v, stop_gradient=False) for v in given[0]]
    tensors = [*leaves, *(paddle.to_tensor(c) for c in given[2])]
    losses = _on(steps, tensors, _here, paddle.set_grad_enabled)
    return leaves, tensors, losses


def _here(name: str, x: Any, rest: list[Any], tensors: list[Any]) -> Any:
    if name == "loss":
        return sum((paddle.to_tensor(w) * t).sum() for w, t in zip(*rest, strict=True))
    if name == "set_value":
        return x.set_value(np.full(x.shape, rest[0]))
    try:
        return _CALLS[name](x, rest, tensors)
    except NotDifferentiableError as error:
        if "requires a gradient and cannot be written" not in str(error):
            raise


_CALLS: dict[str, Any] = {
    "getitem": lambda x, a, _: x[a[0]],
    "reshape": lambda x, a, _: x.reshape(a[0]),
    "flatten": lambda x, a, _: x.flatten(),
    "transpose": lambda x, a, _: x.transpose(a[0]),
    "squeeze": lambda x, a, _: x.squeeze(),
    "unsqueeze": lambda x, a, _: x.unsqueeze(a[0]),
    "unbind": lambda x, a, _: x.unbind(a[0])[a[1]],
    "diagonal": lambda x, a, _: x.diagonal(),
    "detach": lambda x, a, _: x.detach(),
    "sin": lambda x, a, _: x.sin(),
    "halved": lambda x, a, _: x * 0.5,
    "product": lambda x, a, ts: x * ts[a[0]],
    "clone": lambda x, a, _: x.clone(),
    "pick": lambda x, a, _: x[a[0]],
    "split": lambda x, a, _: x.split(2)[0],
    "flip": lambda x, a, _: x.flip(0),
    "add_": lambda x, a, ts: x.add_(ts[a[0]]),
    "multiply_": lambda x, a, ts: x.multiply_(ts[a[0]]),
    "copy_": lambda x, a, ts: x.copy_(ts[a[0]]),
    "sin_": lambda x, a, _: x.sin_(),
    "fill_": lambda x, a, _: x.fill_(a[0]),
    "setitem": lambda x, a, _: x.__setitem__(a[0], a[1]),
    "setitem_tensor": lambda x, a, ts: x.__setitem__(a[0], ts[a[1]]),
}


def agrees(seed: int, length: int = 25) -> None:
    """Run one program on tensors and on the model, and compare."""
    given, steps, model = program(seed, length)
    leaves, tensors, losses = on_tensors(given, steps)
    for k, (t, e) in enumerate(zip(tensors, model.entries, strict=True)):
        assert (t is None) == (e is None)
        if t is not None:
            found = t.numpy()
            assert found.shape == e.value.shape, f"{seed}: {k}"
            near = np.abs(found - e.value) <= 1e-9 + 1e-9 * np.abs(e.value)
            if not near.all():  # or both are no number, or infinite, which takes longer to say
                np.testing.assert_allclose(found, e.value, 1e-9, 1e-9, err_msg=f"{seed}: {k}")
    for loss, (total, slope) in zip(losses, model.losses, strict=True):
        _close(loss.item(), total, seed)
        found = 0.0
        if not loss.stop_gradient:
            grads = paddle.grad(loss, leaves, retain_graph=True, allow_unused=True)
            found = sum(
                float((g.numpy() * d).sum())
                for g, d in zip(grads, given[1], strict=True)
                if g is not None
            )
        _close(found, slope, seed)


def _close(found: float, expected: float, seed: int) -> None:
    if np.isfinite(expected):
        assert abs(found - expected) <= 1e-8 * (1.0 + abs(expected)), (seed, found, expected)


# --- with PyTorch


def agrees_with_torch(seed: int, length: int = 25) -> None:
    """Run one program on tensors and on PyTorch's, and compare: values and all gradients."""
    import torch

    given, steps, _ = program(seed, length, negative=False)
    ours, tensors, losses = on_tensors(given, steps)
    leaves = [torch.tensor(v, requires_grad=True) for v in given[0]]
    theirs: list[Any] = [*leaves, *(torch.tensor(c) for c in given[2])]

    def write(x: Any, key: Any, make: Any) -> None:
        value = make()
        _ = x.grad_fn  # a view that is older than the history of its base learns of that only so
        try:  # computed first: torch refuses operands that overlap in part
            x[key] = value
        except RuntimeError as error:
            if "leaf" not in str(error):
                raise

    calls: dict[str, Any] = {
        **_CALLS,
        "flatten": lambda x, a, _: x.reshape(-1),
        "transpose": lambda x, a, _: x.permute(a[0]),
        "unbind": lambda x, a, _: x.select(a[0], a[1]),
        "sin": lambda x, a, _: x.sin().contiguous(),
        "halved": lambda x, a, _: (x * 0.5).contiguous(),
        "product": lambda x, a, ts: (x * ts[a[0]]).contiguous(),
        "pick": lambda x, a, _: x[a[0]].contiguous(),
        "clone": lambda x, a, _: x.clone(memory_format=torch.contiguous_format),
        "split": lambda x, a, _: x[: len(x) // 2].clone(memory_format=torch.contiguous_format),
        "flip": lambda x, a, _: x.flip(0).contiguous(),
        "add_": lambda x, a, ts: write(x, ..., lambda: x + ts[a[0]]),
        "multiply_": lambda x, a, ts: write(x, ..., lambda: x * ts[a[0]]),
        "copy_": lambda x, a, ts: write(x, ..., lambda: ts[a[0]].clone()),
        "sin_": lambda x, a, _: write(x, ..., lambda: x.sin()),
        "fill_": lambda x, a, _: write(x, ..., lambda: a[0]),
        "setitem": lambda x, a, _: write(x, a[0], lambda: a[1]),
        "setitem_tensor": lambda x, a, ts: write(x, a[0], lambda: ts[a[1]].clone()),
    }

    def call(name: str, x: Any, rest: list[Any], tensors: list[Any]) -> Any:
        if name == "loss":
            return sum((torch.tensor(w) * t).sum() for w, t in zip(*rest, strict=True))
        if name == "set_value":
            with torch.enable_grad():  # a constant, whatever the mode
                write(x, ..., lambda: rest[0])
            with torch.set_grad_enabled(not x.requires_grad):  # of a leaf the values only
                x[...] = rest[0]
            return None
        if name in VIEWS:  # one that is made under no_grad torch does not let be written later
            x = x if torch.is_grad_enabled() or not x.requires_grad else x.detach()
            with torch.enable_grad():
                return calls[name](x, rest, tensors)
        return calls[name](x, rest, tensors)

    # What is saved is kept as it is, as here; by itself torch refuses graphs that saw other values.
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        found = _on(steps, theirs, call, torch.set_grad_enabled)
        for k, (t, e) in enumerate(zip(tensors, theirs, strict=True)):
            if t is not None:
                np.testing.assert_allclose(
                    t.numpy(), e.detach().numpy(), 1e-9, 1e-9, err_msg=f"{seed}: {k}"
                )
        for mine, other in zip(losses, found, strict=True):
            a: list[Any] = [None] * len(ours)
            b: list[Any] = [None] * len(ours)
            if not mine.stop_gradient:
                a = paddle.grad(mine, ours, retain_graph=True, allow_unused=True)
            if other.requires_grad:
                b = torch.autograd.grad(other, leaves, retain_graph=True, allow_unused=True)
            for v, g, h in zip(given[0], a, b, strict=True):
                g = np.zeros_like(v) if g is None else g.numpy()
                h = np.zeros_like(v) if h is None else h.numpy()
                np.testing.assert_allclose(g, h, 1e-8, 1e-8, err_msg=str(seed))


if __name__ == "__main__":
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    try:
        import torch  # noqa: F401

        peers = [agrees, agrees_with_torch]
    except ImportError:
        peers = [agrees]
    for check in peers:
        for seed in range(first, first + count):
            try:
                check(seed)
            except Exception as error:
                print(check.__name__, seed, type(error).__name__, str(error)[:300], flush=True)
        print(f"{check.__name__}: {count} programs", flush=True)

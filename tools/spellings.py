"""Ask Paddle in which spellings it takes each call, and write down what it says.

In two steps, since the two packages need not be installed side by side::

    python tools/spellings.py samples /tmp/samples
    PADDLE/bin/python tools/spellings.py ask /tmp/samples tests/surface/spellings.json
    TORCH/bin/python tools/spellings.py orders /tmp/samples tests/surface/torch_orders.json

The first writes a call of each public function that has a case in ``tests/functions``, its
arguments by name. The second calls Paddle's function of that name in every spelling it could think
of: each argument under each name that stands for it anywhere in Paddle, sizes as an argument each,
an axis before the index, ``out=`` and its like. What gives the result of the plain call is taken
for a spelling; a name that no one knows must fail there. The third writes down in which order torch
has the arguments of the functions by these names.
"""

from __future__ import annotations

import inspect
import json
import os
import pickle
import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
# Names that a hand used to torch or NumPy writes, besides those that Paddle's sources name.
MORE = """
    input other dim dims size sizes keepdims tensor tensors target p ord eps start_dim end_dim dim0
    dim1 dim2 mat1 mat2 vec vec1 vec2 batch1 batch2 src source index indices steps end min max from
    to lambd n m A B lower upper exponent value values mask repeats offset diagonal k num_classes
    sections indices_or_sections split_size_or_sections chunks boundaries weight train training
    correction unbiased shifts return_counts keepdim obj elements test_elements type fill_value
    axis axes shape x y out_dtype negative_slope num_samples generator descending q M N bias
    normalized_shape normalized running_mean running_var momentum pad pos_weight beta delta
    margin reduction alpha kernel_size output_size return_indices decimals rounding_mode base abs
    atol rtol equal_nan padding stride dilation groups ceil_mode count_include_pad inplace hidden
    memory_format accumulate reduce bins range density minlength weights step start
"""
CREATION = {"requires_grad": True, "device": "cpu", "pin_memory": False}
CREATED = """
    zeros ones full empty rand randn randint randperm eye arange linspace logspace zeros_like
    ones_like full_like empty_like rand_like randn_like randint_like to_tensor normal
    standard_normal tril_indices triu_indices
"""


# --- the first step, with this package


def samples() -> dict[str, list[dict[str, Any]]]:
    """Arguments of calls, by the public name of the function."""
    from tests.functions.cases import CASES
    from tests.functions.test_bad_operands import bound, tensors

    found: dict[str, list[dict[str, Any]]] = {}
    for name, listed in CASES.items():
        for case in listed[:6]:
            try:
                given = bound(name, case, tensors(case))
                if given is not None:
                    found.setdefault(name, []).append(
                        {k: _plain(v) for k, v in arguments(name, given).items()}
                    )
            except Exception as error:
                print(f"{name}: {type(error).__name__}: {error!s:.80}")
    return found


def arguments(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Of the locals of a call those that are its arguments."""
    from tests.functions.test_bad_operands import resolve

    return {k: given[k] for k in inspect.signature(resolve(name)).parameters if k in given}


def _plain(value: Any) -> Any:
    import numpy as np

    from autograd_engine.core.dtypes import DType
    from autograd_engine.eager.tensor import Tensor

    if isinstance(value, Tensor):
        return ("tensor", value.numpy())
    if isinstance(value, DType):
        return value.name
    if isinstance(value, np.ndarray):
        return ("array", value)
    if isinstance(value, (list, tuple)):
        return ("list", [_plain(v) for v in value])
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        return value
    raise TypeError(f"{type(value).__name__} as an argument")


# --- the second, with Paddle


def _made(value: Any) -> Any:
    import paddle

    if isinstance(value, tuple):
        kind, held = value
        if kind == "tensor":
            return paddle.to_tensor(held)
        return held if kind == "array" else [_made(v) for v in held]
    return value


def _kind(value: Any) -> str:
    return value[0] if isinstance(value, tuple) else ""


def _flat(value: Any) -> list[Any]:
    import numpy as np

    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in _flat(part)]
    return [np.asarray(value.numpy()) if hasattr(value, "numpy") else np.asarray(value)]


def _same(one: Any, other: Any, values: bool = True) -> bool:
    import numpy as np

    a, b = _flat(one), _flat(other)
    return len(a) == len(b) and all(
        x.shape == y.shape
        and x.dtype == y.dtype
        and (not values or np.array_equal(x, y, equal_nan=x.dtype.kind in "fc"))
        for x, y in zip(a, b, strict=True)
    )


def known_aliases() -> list[str]:
    """Every name that stands for another one somewhere in Paddle's sources, and `MORE`."""
    import paddle

    found = set(MORE.split())
    for path in Path(paddle.__file__).parent.rglob("*.py"):
        text = path.read_text(encoding="utf-8", errors="replace")
        for line in re.findall(r"(?:alias\w*\(|Decorator\()([^)]*)\)", text):
            found |= set(re.findall(r"[\"']([A-Za-z_]\w*)[\"']", line))
        found |= set(re.findall(r"[Aa]lias: ``(\w+)``", text))
    return sorted(found)


class Asked:
    """One function of Paddle, called with one sample."""

    def __init__(self, function: Any, sample: dict[str, Any], method: bool) -> None:
        self.function, self.sample, self.method = function, sample, method
        self.values = "empty" not in str(getattr(function, "__name__", ""))

    def call(self, given: list[Any], named: dict[str, Any]) -> Any:
        import paddle

        paddle.seed(7)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.function(*map(_made, given), **{k: _made(v) for k, v in named.items()})

    def gives(self, expected: Any, given: list[Any], named: dict[str, Any]) -> bool:
        try:
            return _same(expected, self.call(given, named), self.values)
        except Exception:
            return False

    def spellings(self, aliases: list[str], expected: Any, name: str) -> Iterator[str]:
        names = list(self.sample)
        first = [self.sample[names[0]]] if self.method else []
        rest = names[1:] if self.method else names
        named = {k: self.sample[k] for k in rest}
        for k in rest:
            if k == "name":
                continue
            without = {n: v for n, v in named.items() if n != k}
            if self.gives(expected, first, without | {"nobody_knows_this": named[k]}):
                continue
            for alias in aliases:
                if alias in names or alias in CREATION or alias in ("name", "out"):
                    continue
                if self.gives(expected, first, without | {alias: named[k]}):
                    yield f"{alias}={k}"
        yield from self.positions(expected)
        yield from self.options(expected, name)

    def positions(self, expected: Any) -> Iterator[str]:
        """Forms that tell by position what is meant."""
        names, values = list(self.sample), list(self.sample.values())
        for k, value in enumerate(values):
            sizes = isinstance(value, tuple) and value[0] == "list" and value[1]
            if sizes and all(type(v) is int for v in value[1]):
                after = {n: self.sample[n] for n in names[k + 1 :]}
                after = {n: v for n, v in after.items() if v is not None}
                several = len(value[1]) > 1
                if several and self.gives(expected, [*values[:k], *value[1]], after):
                    yield f"*{names[k]}"
        if "axis" in names and type(self.sample["axis"]) is int:
            others = [self.sample[n] for n in names if n != "axis"]
            later = len(others) > 1 and names.index("axis") > 1
            if later and self.gives(expected, [others[0], self.sample["axis"], *others[1:]], {}):
                yield "axis second"

    def options(self, expected: Any, name: str) -> Iterator[str]:
        import paddle

        values = list(self.sample.values())
        named = dict(list(self.sample.items())[1:])
        try:
            empty = [paddle.empty([0], e.dtype) for e in _tensors(expected)]
            out = empty[0] if len(empty) == 1 else tuple(empty)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                paddle.seed(7)
                made = {k: _made(v) for k, v in named.items()}
                result = self.function(_made(values[0]), **made, out=out)
            if _same(expected, out, self.values) and _same(expected, result, self.values):
                yield "out"
        except Exception:
            pass
        if name in CREATED.split():
            for option, value in CREATION.items():
                if self.gives(expected, [], self.sample | {option: value}):
                    yield option


def _tensors(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in _tensors(part)]
    return [value]


def ask(held: dict[str, list[dict[str, Any]]]) -> dict[str, list[str]]:
    import paddle

    def resolve(name: str) -> Any:
        value: Any = paddle
        for part in name.split("."):
            value = getattr(value, part)
        return value

    aliases = known_aliases()
    print(len(aliases), "names are tried")
    found: dict[str, list[str]] = {}
    absent, differs = [], []
    for name, listed in held.items():
        forms = [(name, False)]
        if "." not in name and hasattr(paddle.Tensor, name):
            forms.append((f"Tensor.{name}", True))
        if name.startswith("Tensor."):
            forms = [(name, True)]
        for shown, method in forms:
            try:
                function = resolve(shown)
            except AttributeError:
                absent.append(shown)
                continue
            spellings = _apart(_spellings, function, listed, method, aliases, name)
            if spellings is None:
                differs.append(shown)
            elif spellings:
                found[shown] = spellings
    print("not in Paddle:", *absent)
    print("no call of ours is one of Paddle's:", *differs)
    return found


def _spellings(
    function: Any, listed: list[dict[str, Any]], method: bool, aliases: list[str], name: str
) -> Iterator[str]:
    for sample in listed:
        found = reduced(function, sample, method)
        if found is not None:
            yield ""  # a call that both take
            yield from found[0].spellings(aliases, found[1], name)


def _apart(work: Any, *args: Any) -> list[str] | None:
    """What `work` yields, in a child: some wrong calls end the process."""
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        try:
            for line in work(*args):
                os.write(writes, f"{line}\n".encode())
        finally:
            os._exit(0)
    os.close(writes)
    with os.fdopen(reads) as told:
        lines = set(told.read().splitlines())
    os.waitpid(child, 0)
    return sorted(lines - {""}) if lines else None


def reduced(function: Any, sample: dict[str, Any], method: bool) -> tuple[Asked, Any] | None:
    """A call that Paddle takes, if need be without arguments that it does not have."""
    tried = [sample, {k: v for k, v in sample.items() if k != "name" and v is not None}]
    for given in tried:
        if not given or (method and _kind(next(iter(given.values()))) != "tensor"):
            continue
        asked = Asked(function, given, method)
        names = list(given)
        positional = [given[names[0]]] if method else []
        named = {k: given[k] for k in (names[1:] if method else names)}
        try:
            expected = asked.call(positional, named)
            if _same(expected, asked.call(positional, named), asked.values):
                return asked, expected
        except Exception:
            continue
    return None


# --- with torch


def orders(held: dict[str, Any]) -> dict[str, list[str]]:
    import torch

    warnings.simplefilter("ignore")
    overridden = torch.overrides.get_testing_overrides()
    found: dict[str, list[str]] = {}
    for name in sorted(name for name in held if not name.endswith("_")):
        function: Any = torch
        for part in name.split("."):
            function = getattr(function, part, None)
        if callable(function) and function in overridden:
            parameters = inspect.signature(overridden[function]).parameters.values()
            found[name] = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    return found


def main(step: str, path: str, target: str = "") -> None:
    if step == "samples":
        sys.path.insert(0, str(ROOT))
        Path(path).write_bytes(pickle.dumps(samples()))
    else:
        held = pickle.loads(Path(path).read_bytes())
        found = ask(held) if step == "ask" else orders(held)
        lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(found.items())]
        Path(target).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Random programs in the operator types of Paddle 2.6: appended, by functions, and eagerly.

A program is a list of steps, each a few operators on values of shape [-1, 4]. A builder says what
an operator is: `ByType` appends it, `ByFunction` calls the function of its type, on variables or on
tensors. Branches, loops and writes are what each of them has for it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

import autograd_engine as paddle
from autograd_engine.static.operator_types.table import TYPES

static = paddle.static
WIDTH = 4
LEAVES = ("x", "y", "z")

Steps = list[tuple[int, int, int, int]]


class ByType:
    """Operators appended to the block that is built."""

    def __init__(self) -> None:
        self.main = static.default_main_program()
        self.count = 0

    def variable(self) -> Any:
        self.count += 1
        return self.main.current_block().create_var(name=f"v{self.count}")

    def op(self, type: str, made: int = 1, out: Any = None, attrs: Any = None, **read: Any) -> Any:
        kind = TYPES[type]
        slot = next(slot for slot in kind.outputs if slot.computed)
        written = [self.variable() for _ in range(made)] if out is None else [out]
        block = self.main.current_block()
        block.append_op(type=type, inputs=read, outputs={slot.name: written}, attrs=attrs or {})
        return written if slot.many else written[0]

    def write(self, target: Any, x: Any) -> Any:
        return self.op("assign", X=x, out=target)

    def branch(self, condition: Any, x: Any, y: Any) -> Any:
        out = self.op("assign", X=y)
        block = self.main.create_block()
        self.op("elementwise_mul", X=self.op("tanh", X=x), Y=y, out=out)
        self.main.rollback()
        self._run("conditional_block", block, {"Cond": condition, "Input": [x, y, out]}, out)
        return out

    def loop(self, times: int, x: Any, y: Any) -> Any:
        s, i, n = self.op("assign", X=x), self.number(0), self.number(times)
        more = self.op("less_than", X=i, Y=n)
        block = self.main.create_block()
        new = self.op("tanh", X=self.op("elementwise_mul", X=s, Y=y))
        self.op("elementwise_add", X=new, Y=x, out=s)
        self.op("increment", X=i, out=i)
        self.op("less_than", X=i, Y=n, out=more)
        self.main.rollback()
        self._run("while", block, {"Condition": more, "X": [s, x, y, i, n]}, s)
        return s

    def number(self, value: int) -> Any:
        return self.op("fill_constant", attrs={"shape": [1], "dtype": "int64", "value": value})

    def _run(self, type: str, block: Any, read: Any, out: Any) -> None:
        attrs = {"sub_block": block}
        self.main.current_block().append_op(type, read, {"Out": out}, attrs)


class ByFunction:
    """The functions of the types, called."""

    def op(self, type: str, made: int = 1, attrs: Any = None, **read: Any) -> Any:
        kind = TYPES[type]
        given = [read.get(slot.name, [] if slot.many else None) for slot in kind.inputs]
        found = kind.function(*given, **kind.complete(attrs or {}))
        slots = [slot for slot in kind.outputs if slot.computed]
        found = found[0] if len(slots) > 1 else found
        operands = [x for xs in read.values() for x in (xs if isinstance(xs, list) else [xs])]
        own = any(found is x for x in operands)
        return paddle.assign(found) if own else found

    def write(self, target: Any, x: Any) -> Any:
        if isinstance(target, paddle.Tensor):  # another value under the same name
            return paddle.assign(x)
        return paddle.assign(x, output=target)

    def branch(self, condition: Any, x: Any, y: Any) -> Any:
        return static.nn.cond(condition, lambda: paddle.tanh(x) * y, lambda: paddle.assign(y))

    def loop(self, times: int, x: Any, y: Any) -> Any:
        return static.nn.while_loop(
            lambda i, s: i < times,
            lambda i, s: [i + 1, paddle.tanh(s * y) + x],
            [paddle.zeros([1], "int64"), paddle.assign(x)],
        )[1]

    def number(self, value: int) -> Any:
        return paddle.full([1], value, "int64")


# --- steps: of two values, and a small number


def _alike(b: Any, x: Any) -> Any:
    return b.op("scale", X=x, attrs={"scale": 0.5})


def _halves(b: Any, x: Any, y: Any, k: int) -> Any:
    left, right = b.op("split", made=2, X=x, attrs={"num": 2, "axis": 1})
    return b.op("concat", X=[right, b.op("scale", X=left, attrs={"bias": 1.0})], attrs={"axis": 1})


def _squares(b: Any, x: Any, y: Any, k: int) -> Any:
    cube = b.op("reshape2", X=x, attrs={"shape": [0, 2, 2]})
    turned = b.op("transpose2", X=cube, attrs={"axis": [0, 2, 1]})
    made = b.op("bmm", X=cube, Y=turned)
    return _alike(b, b.op("reshape2", X=made, attrs={"shape": [-1, 4]}))


def _attention(b: Any, x: Any, y: Any, k: int) -> Any:
    scores = b.op("matmul_v2", X=x, Y=y, attrs={"trans_y": True})
    return b.op("matmul_v2", X=b.op("softmax", X=scores, attrs={"axis": k % 2}), Y=y)


def _centred(b: Any, x: Any, y: Any, k: int) -> Any:
    attrs = {"dim": [k % 2], "keep_dim": True}
    middle = b.op(("reduce_mean", "reduce_max", "reduce_sum")[k % 3], X=x, attrs=attrs)
    return b.op("elementwise_sub", X=y, Y=middle, attrs={"axis": -1})


def _expanded(b: Any, x: Any, y: Any, k: int) -> Any:
    row = b.op("reduce_mean", X=x, attrs={"dim": [0], "keep_dim": True})
    wide = b.op("expand_v2", X=row, Shape=b.op("shape", Input=y))
    return b.op("elementwise_mul", X=wide, Y=y)


def _filled(b: Any, x: Any, y: Any, k: int) -> Any:
    size = b.op("shape", Input=x)
    full = b.op("fill_constant", ShapeTensor=size, attrs={"value": 0.5, "dtype": "float32"})
    return b.op("elementwise_min", X=full, Y=x)


def _chosen(b: Any, x: Any, y: Any, k: int) -> Any:
    return b.op("where", Condition=b.op("less_than", X=x, Y=y), X=b.op("sin", X=x), Y=y)


def _stacked(b: Any, x: Any, y: Any, k: int) -> Any:
    both = b.op("stack", X=[x, y, x], attrs={"axis": 0})
    return b.op("reduce_sum", X=both, attrs={"dim": [0]})


def _taken(b: Any, x: Any, y: Any, k: int) -> Any:
    first = b.op("slice", Input=x, attrs={"axes": [1], "starts": [0], "ends": [1 + k % 3]})
    rest = b.op("slice", Input=y, attrs={"axes": [1], "starts": [1 + k % 3], "ends": [9]})
    return b.op("concat", X=[first, rest], attrs={"axis": 1})


def _added_up(b: Any, x: Any, y: Any, k: int) -> Any:
    row = b.op("squeeze2", X=b.op("reduce_mean", X=y, attrs={"dim": [0], "keep_dim": True}))
    return b.op("elementwise_add", X=x, Y=row, attrs={"axis": 1})


def _branch(b: Any, x: Any, y: Any, k: int) -> Any:
    limit = b.op(
        "fill_constant", attrs={"shape": [], "value": 0.3 * (k % 3 - 1), "dtype": "float32"}
    )
    return b.branch(b.op("greater_than", X=b.op("mean", X=x), Y=limit), x, y)


def _array(b: Any, x: Any, y: Any, k: int) -> Any:
    array = paddle.tensor.create_array("float32", [x, b.op("tanh", X=y)])
    paddle.tensor.array_write(b.op("elementwise_mul", X=x, Y=y), b.number(k % 3), array)
    taken = paddle.tensor.array_read(array, b.number(k % 2))
    whole, _ = paddle.tensor.tensor_array_to_tensor(array, axis=0, use_stack=True)
    return b.op("elementwise_add", X=taken, Y=b.op("reduce_mean", X=whole, attrs={"dim": [0]}))


def _one(type: str, slot: str = "X", **attrs: Any) -> Callable[..., Any]:
    return lambda b, x, y, k: b.op(type, attrs=attrs, **{slot: x})


def _two(type: str, **attrs: Any) -> Callable[..., Any]:
    return lambda b, x, y, k: b.op(type, X=x, Y=y, attrs=attrs)


COMMON: list[Callable[..., Any]] = [
    *map(_one, ("relu", "tanh", "sigmoid", "square", "abs", "sin", "gelu", "softplus", "mish")),
    _one("softmax", axis=-1), _one("log_softmax", axis=0), _one("leaky_relu", alpha=0.1),
    _one("layer_norm", begin_norm_axis=1), _one("cumsum", axis=1, reverse=True), _one("cumsum"),
    _one("clip", min=-1.0, max=0.5), _one("scale", scale=-0.5, bias=0.25, bias_after_scale=False),
    _one("dropout", dropout_prob=0.5, is_test=True), _one("flip", axis=[1]),
    _one("roll", shifts=[1]),
    _one("norm", axis=1), _one("hard_swish"), _one("assign"), _one("fill_any_like", value=0.5),
    _one("pad", paddings=[0, 0, 0, 0]), _one("tril_triu", lower=True),
    *map(_two, ("elementwise_add", "elementwise_sub", "elementwise_mul", "elementwise_max")),
    _two("huber_loss", delta=0.5), lambda b, x, y, k: b.op("sum", X=[x, y, x][: 1 + k % 3]),
    _halves, _squares, _attention, _centred, _expanded, _filled, _chosen, _stacked, _taken,
    _added_up,
]  # fmt: skip
ARRAY = len(COMMON) + 1
RARE: list[Callable[..., Any]] = [
    _branch,
    _array,
    lambda b, x, y, k: b.loop(k % 4, x, y),
]
WRITE = len(COMMON) + len(RARE)  # a value that is there becomes another one


def steps(most: int, rare: bool = True) -> Any:
    number = st.integers(0, 99)
    kind = st.integers(0, len(COMMON) - 1)
    if rare:  # one in eight
        kind = st.integers(0, 7).flatmap(
            lambda n: st.integers(len(COMMON), WRITE) if n == 7 else st.integers(0, len(COMMON) - 1)
        )
    return st.lists(st.tuples(kind, number, number, number), min_size=1, max_size=most)


def values_of(b: Any, leaves: list[Any], given: Steps) -> list[Any]:
    values = list(leaves)
    for kind, i, j, k in given:
        x, y = values[i % len(values)], values[j % len(values)]
        if kind < WRITE:
            values.append([*COMMON, *RARE][kind](b, x, y, k))
        elif len(values) > len(leaves):
            at = len(leaves) + k % (len(values) - len(leaves))
            if not values[at].stop_gradient:  # which a variable of a program does for good
                values[at] = b.write(values[at], b.op("sin", X=x))
    return values


def loss_of(b: Any, values: list[Any]) -> Any:
    parts = [b.op("mean", X=b.op("square", X=v)) for v in values[-3:]]
    return b.op("sum", X=parts)


def feeds(rows: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {name: rng.normal(size=(rows, WIDTH)).astype("float32") for name in LEAVES}

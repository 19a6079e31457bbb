"""Writes what Paddle makes of expressions in open sizes, as `open_sizes.json`.

    python tests/jit/open_size_reference.py      # once for each version of paddlepaddle

Each expression is traced with an InputSpec of open sizes, and built in static mode on data of open
sizes; both are run at two sizes. Of a result it keeps dtype, shape, and one number that depends on
all elements and their places; of what is refused, that it is.
"""

import contextlib
import json
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent))

from tests.static.operator_type_reference import digest, in_a_process  # noqa: E402

TARGET = HERE.parent / "golden" / "open_sizes.json"
SIZES = (2, 3), (3, 5)
ROWS = np.cos(np.arange(16 * 8)).reshape(16, 8).astype("float32")
TOKEN = np.sin(np.arange(8)).reshape(1, 1, 8).astype("float32")

EXPRESSIONS = {
    "arange": "paddle.arange(x.shape[1])",
    "rows": "w[: x.shape[1]] + x",
    "embedding": "F.embedding(paddle.arange(x.shape[1]), w) + x",
    "heads": "paddle.reshape(x, [x.shape[0], x.shape[1], 2, x.shape[2] // 2])",
    "ones": "paddle.ones([x.shape[0], 8])",
    "zeros": "paddle.zeros([x.shape[0], 8]) + x[:, 0]",
    "full": "paddle.full([x.shape[0], 1], -1.0)",
    "tril": "paddle.tril(paddle.ones([x.shape[1], x.shape[1]]))",
    "power": "x * x.shape[1] ** -0.5",
    "quotient": "x / x.shape[0]",
    "token": "paddle.concat([token.expand([x.shape[0], 1, 8]), x], 1)",
    "tile": "paddle.tile(token, [x.shape[0], x.shape[1], 1]) * x",
    "broadcast": "paddle.broadcast_to(token, x.shape) + x",
    "last": "x[:, x.shape[1] - 1]",
    "worked out": "paddle.reshape(x, [paddle.shape(x)[0], -1])",
    "len": "x * len(x)",
    "loop": "sum([x[:, i] for i in range(x.shape[1])])",
}


def array_of(b, t):
    return np.cos(np.arange(b * t * 8) * 0.3).reshape(b, t, 8).astype("float32")


@contextlib.contextmanager
def function_of(paddle, name):
    """A function in a file of its own: Paddle reads the source of what it converts."""
    text = f"def function(x, w, token, paddle, F):\n    return {EXPRESSIONS[name]}\n"
    scope = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "expression.py"
        path.write_text(text)
        exec(compile(text, str(path), "exec"), scope)
        yield scope["function"]


def traced(paddle, function):
    """The results of a traced function at both sizes."""
    w, token = paddle.to_tensor(ROWS), paddle.to_tensor(TOKEN)
    spec = [paddle.static.InputSpec([None, None, 8], "float32")]
    call = paddle.jit.to_static(
        lambda x: function(x, w, token, paddle, paddle.nn.functional), input_spec=spec
    )
    return [digest(call(paddle.to_tensor(array_of(*size))).numpy()) for size in SIZES]


def built(paddle, function):
    """The results of a program at both sizes."""
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main, paddle.static.Program()):
            x = paddle.static.data("x", [None, None, 8], "float32")
            w = paddle.static.data("w", [16, 8], "float32")
            token = paddle.static.data("token", [1, 1, 8], "float32")
            out = function(x, w, token, paddle, paddle.nn.functional)
            executor = paddle.static.Executor()
            feeds = [{"x": array_of(*size), "w": ROWS, "token": TOKEN} for size in SIZES]
            return [digest(executor.run(main, feed=f, fetch_list=[out])[0]) for f in feeds]
    finally:
        paddle.disable_static()


def outcome(paddle, how, name):
    try:
        with function_of(paddle, name) as function:
            return how(paddle, function)
    except Exception:
        return "refused"


def main():
    import paddle  # before the forks

    golden = json.loads(TARGET.read_text()) if TARGET.exists() else {}
    golden[paddle.__version__] = {
        how.__name__: {
            name: in_a_process(outcome, paddle, how, name) or "refused" for name in EXPRESSIONS
        }
        for how in (traced, built)
    }
    TARGET.write_text(json.dumps(golden, indent=1, sort_keys=True) + "\n")
    taken = {
        h: sum(v != "refused" for v in f.values()) for h, f in golden[paddle.__version__].items()
    }
    print(paddle.__version__, taken, "of", len(EXPRESSIONS))


if __name__ == "__main__":
    sys.exit(main())

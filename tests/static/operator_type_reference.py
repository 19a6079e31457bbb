"""Writes what Paddle 2.6.2 makes of the samples of operator types, as `operator_types.json`.

    python tests/static/operator_type_reference.py      # with paddlepaddle==2.6.2, numpy==1.26

Of each array it keeps dtype, shape, and one number that depends on all elements and their places. A
type that has no kernel there, or that ends the process, is left out.
"""

import json
import os
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent))

from tests.static.operator_type_samples import SAMPLES  # noqa: E402

TARGET = HERE.parent / "golden" / "operator_types.json"

# Outputs that Paddle makes for its own gradients; some of them have no value even there.
INTERNAL = {
    "XShape",
    "MatchX",
    "SavedMean",
    "SavedVariance",
    "ReserveSpace",
    "Total_weight",
    "MidOut",
}
UPDATES = {
    "sgd",
    "momentum",
    "adam",
    "adamw",
    "lamb",
    "adamax",
    "adagrad",
    "adadelta",
    "rmsprop",
    "batch_norm",
    "sync_batch_norm",
}


def digest(array):
    """One number for all elements and their places."""
    flat = np.asarray(array, "float64").ravel()
    weights = np.cos(np.arange(flat.size) * 0.7 + 0.1)
    return f"{array.dtype} {list(array.shape)} {float(flat @ weights):.5g}"


def build(paddle, type, inputs, outputs, attrs):
    """A program of one operator: what is fed, its inputs and its outputs by slot."""
    block = paddle.static.default_main_program().global_block()
    feed, read, written = {}, {}, {}
    for slot, arrays in inputs.items():
        for k, array in enumerate(arrays):
            x = paddle.static.data(f"{slot}_{k}", list(array.shape), str(array.dtype))
            x.stop_gradient = array.dtype.kind != "f"
            feed[x.name] = array
            read.setdefault(slot, []).append(x)
    for k, slot in enumerate(outputs):
        source = slot[: -len("Out")] if slot.endswith("Out") else ""
        if type in UPDATES and source in read:  # written in its place
            written[slot] = read[source]
        else:
            written.setdefault(slot, []).append(block.create_var(name=f"out_{k}", dtype="float32"))
    op = block.append_op(type=type, inputs=read, outputs=written, attrs=dict(attrs))
    return feed, read, written, op


def fetched(type, written):
    hidden = INTERNAL | ({"Mean", "Variance"} if type == "group_norm" else set())
    return [(s, v) for s, variables in written.items() if s not in hidden for v in variables]


def has_loss(type, first):
    return type not in UPDATES and "float" in str(first.dtype).lower().replace("fp", "float")


def loss_of(paddle, first):
    parts = [paddle.mean(paddle.square(v + 0.3)) for v in first]
    return parts[0] if len(parts) == 1 else paddle.add_n(parts)


def run(paddle, type, inputs, outputs, attrs):
    feed, read, written, _ = build(paddle, type, inputs, outputs, attrs)
    found = fetched(type, written)
    gradients = []
    first = written[outputs[0]]
    xs = [v for variables in read.values() for v in variables if not v.stop_gradient]
    if xs and has_loss(type, first[0]):
        made = paddle.static.gradients(loss_of(paddle, first), xs)
        gradients = [(f"{x.name}@GRAD", g) for x, g in zip(xs, made, strict=True) if g is not None]
    named = [(f"{s}_{k}", v) for k, (s, v) in enumerate(found)] + gradients
    values = paddle.static.Executor(paddle.CPUPlace()).run(
        feed=feed, fetch_list=[v for _, v in named]
    )
    arrays = [(name, np.asarray(value)) for (name, _), value in zip(named, values, strict=True)]
    return {name: digest(a) for name, a in arrays if a.dtype != object}


def in_a_process(function, *arguments):
    """What `function` returns, None where it ends the process."""
    receive, send = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.write(send, json.dumps(function(*arguments)).encode())
        finally:
            os._exit(0)
    os.close(send)
    with open(receive, "rb") as pipe:
        text = pipe.read()
    os.waitpid(pid, 0)
    return json.loads(text) if text else None


def main():
    import paddle  # before the forks

    paddle.enable_static()
    golden = {}
    for type, samples in SAMPLES.items():
        for n, sample in enumerate(samples):
            found = in_a_process(run, paddle, type, *sample)
            if found is not None:
                golden[f"{type}/{n}"] = found
    TARGET.write_text(json.dumps(golden, indent=0, sort_keys=True) + "\n")
    print(f"{len(golden)} of {sum(map(len, SAMPLES.values()))} samples")


if __name__ == "__main__":
    main()

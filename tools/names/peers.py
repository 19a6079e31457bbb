"""The names that users of other libraries type, and what they are told here.

``python tools/names/peers.py paddle=PYTHON torch=PYTHON jax=PYTHON autograd=PYTHON`` asks the
libraries, each by a Python that has it, for their public names, and writes ``names.txt`` beside
this file. Without an argument it takes the names as they are written there. In both cases it drops
what ``core/names/missing_names.txt`` says of names that exist by now, or that none of them has,
prints how many names are answered how, and those that are not; then it exits with 1.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import autograd_engine as paddle
from autograd_engine.core.names import missing_names

HERE = Path(__file__).parent
LISTED = HERE / "names.txt"
ANSWERS = Path(missing_names.__file__).with_suffix(".txt")
ABSENT = Path(missing_names.__file__).with_name("absent_names.py")
ABSENT_HEAD = '''\
"""What objects of some classes do not have, and are answered; by tools/names/peers.py."""

from __future__ import annotations

from typing import Final

__all__ = ["ABSENT"]

ABSENT: Final[dict[str, str]] = {'''


class Peer(NamedTuple):
    """A library: how its objects are made, and for each of its places where it is typed here."""

    title: str
    setup: str
    places: dict[str, tuple[str, ...]]
    objects: dict[str, str]
    classes: tuple[str, ...] = ()  # the places whose classes are asked for their arguments


_PADDLE = (
    "paddle paddle.nn paddle.nn.functional paddle.nn.initializer paddle.nn.utils paddle.nn.quant "
    "paddle.static paddle.static.nn paddle.optimizer paddle.optimizer.lr paddle.autograd paddle.io "
    "paddle.metric paddle.jit paddle.amp paddle.linalg paddle.fft paddle.signal paddle.vision "
    "paddle.vision.transforms paddle.vision.datasets paddle.vision.models paddle.vision.ops "
    "paddle.text paddle.audio paddle.audio.functional paddle.distribution paddle.sparse "
    "paddle.sparse.nn paddle.distributed paddle.distributed.fleet paddle.device paddle.device.cuda "
    "paddle.incubate paddle.incubate.autograd paddle.incubate.nn paddle.utils paddle.regularizer "
    "paddle.profiler paddle.hub paddle.callbacks paddle.quantization paddle.onnx paddle.geometric "
    "paddle.version paddle.sysconfig paddle.special paddle.compat paddle.inference"
)
_OBJECTS = {
    "Tensor": "paddle.Tensor",
    "nn.Layer": "paddle.nn.Layer",
    "optimizer.Optimizer": "paddle.optimizer.Optimizer",
    "optimizer.lr.LRScheduler": "paddle.optimizer.lr.LRScheduler",
    "io.DataLoader": "paddle.io.DataLoader",
    "static.Program": "paddle.static.Program",
    "static.Variable": "paddle.static.Variable",
    "static.Executor": "paddle.static.Executor",
}
PEERS: dict[str, Peer] = {
    "paddle": Peer(
        "Paddle",
        """
import paddle
version = paddle.__version__
layer = paddle.nn.Linear(1, 1)
optimizer = paddle.optimizer.SGD(parameters=layer.parameters())
scheduler = paddle.optimizer.lr.StepDecay(0.1, 1)
tensor = paddle.zeros([1])
loader = paddle.io.DataLoader([1])
paddle.enable_static()
program = paddle.static.Program()
with paddle.static.program_guard(program):
    variable = paddle.static.data("x", [1])
executor = paddle.static.Executor()
""",
        {place: (place,) for place in _PADDLE.split()}
        | {f"paddle.{name}": (place,) for name, place in _OBJECTS.items()}
        | {"paddle.Tensor": ("paddle.Tensor", "paddle.static.Variable")},
        {
            "paddle.Tensor": "tensor",
            "paddle.nn.Layer": "layer",
            "paddle.optimizer.Optimizer": "optimizer",
            "paddle.optimizer.lr.LRScheduler": "scheduler",
            "paddle.io.DataLoader": "loader",
            "paddle.static.Program": "program",
            "paddle.static.Variable": "variable",
            "paddle.static.Executor": "executor",
        },
        (
            "paddle.nn",
            "paddle.nn.initializer",
            "paddle.optimizer",
            "paddle.optimizer.lr",
            "paddle.io",
            "paddle.metric",
            "paddle.regularizer",
            "paddle.static",
        ),
    ),
    "torch": Peer(
        "PyTorch",
        """
import torch, torch.func
version = torch.__version__.partition("+")[0]
layer = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(layer.parameters(), 0.1)
""",
        {
            "torch": ("paddle",),
            "torch.Tensor": ("paddle.Tensor", "paddle.static.Variable"),
            "torch.nn": ("paddle.nn",),
            "torch.nn.Module": ("paddle.nn.Layer",),
            "torch.nn.functional": ("paddle.nn.functional",),
            "torch.nn.init": ("paddle.nn.init", "paddle.nn.initializer"),
            "torch.nn.utils": ("paddle.nn.utils",),
            "torch.nn.utils.rnn": ("paddle.nn.utils.rnn", "paddle.nn.utils"),
            "torch.optim": ("paddle.optim", "paddle.optimizer"),
            "torch.optim.Optimizer": ("paddle.optimizer.Optimizer",),
            "torch.optim.lr_scheduler": ("paddle.optim.lr_scheduler", "paddle.optimizer.lr"),
            "torch.optim.lr_scheduler.LRScheduler": ("paddle.optimizer.lr.LRScheduler",),
            "torch.func": ("paddle.func", "paddle.autograd"),
            "torch.autograd": ("paddle.autograd",),
            "torch.autograd.functional": ("paddle.autograd.functional", "paddle.autograd"),
            "torch.linalg": ("paddle.linalg",),
            "torch.fft": ("paddle.fft",),
            "torch.special": ("paddle.special", "paddle"),
            "torch.utils.data": ("paddle.utils.data", "paddle.io"),
            "torch.utils.data.DataLoader": ("paddle.io.DataLoader",),
            "torch.distributions": ("paddle.distributions",),
            "torch.jit": ("paddle.jit",),
        },
        {
            "torch.Tensor": "torch.zeros(1)",
            "torch.nn.Module": "layer",
            "torch.optim.Optimizer": "optimizer",
            "torch.optim.lr_scheduler.LRScheduler": "torch.optim.lr_scheduler.StepLR(optimizer, 1)",
            "torch.utils.data.DataLoader": "torch.utils.data.DataLoader([1])",
        },
        ("torch.nn", "torch.optim", "torch.optim.lr_scheduler", "torch.utils.data"),
    ),
    "jax": Peer(
        "JAX",
        "import jax, jax.numpy\nversion = jax.__version__",
        {
            "jax": ("paddle",),
            "jax.numpy": ("paddle.numpy", "paddle"),
            "jax.numpy.linalg": ("paddle.linalg",),
            "jax.numpy.fft": ("paddle.fft",),
            "jax.nn": ("paddle.nn.functional",),
        },
        {},
    ),
    "autograd": Peer(
        "HIPS autograd",
        "import autograd\nfrom importlib.metadata import version as of\nversion = of('autograd')",
        {
            "autograd": ("paddle", "paddle.autograd"),
            "autograd.numpy": ("paddle.numpy", "paddle"),
            "autograd.numpy.linalg": ("paddle.linalg",),
            "autograd.numpy.fft": ("paddle.fft",),
        },
        {},
    ),
}


# --- the names


def asked(peer: str, python: str) -> dict[str, Any]:
    """The version of a library, and the names at each of its places."""
    of = PEERS[peer]
    question = {
        "setup": of.setup,
        "places": {place: of.objects.get(place) for place in of.places},
        "classes": of.classes,
    }
    run = subprocess.run(
        [python, str(HERE / "ask.py")], input=json.dumps(question), capture_output=True, text=True
    )
    if run.returncode:
        raise SystemExit(f"{peer}: {run.stderr}")
    found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return found


def listed() -> dict[str, dict[str, Any]]:
    """What `LISTED` has: for each library ``"version"``, and for each place its names."""
    found: dict[str, dict[str, Any]] = {}
    if not LISTED.exists():
        return found
    for line in LISTED.read_text(encoding="utf-8").replace("\n ", " ").splitlines():
        head, _, rest = line.partition(": ")
        if head.startswith("# "):
            library, version = head[2:].split()
            found[library] = {"version": version}
        elif rest:
            found[library][head] = rest.split()
    return found


def write(names: dict[str, dict[str, Any]]) -> None:
    lines: list[str] = []
    for library, places in names.items():
        lines.append(f"# {library} {places['version']}")
        for place, there in places.items():
            if place != "version" and there:
                lines.append(_wrapped(f"{place}: {' '.join(there)}"))
    LISTED.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _wrapped(text: str) -> str:
    return textwrap.fill(
        text, 100, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


# --- what is told of them


class Told(NamedTuple):
    """What becomes of a name of a library that is typed at one place here."""

    library: str
    name: str  # as the library has it: torch.nn.Linear
    place: str  # where it is typed: paddle.nn
    exists: bool
    answer: missing_names.Answer | None
    asked: str  # what the answer is to: the name, or the module on the way that is not here

    @property
    def answered(self) -> bool:
        """By an answer that is written down or looked up, not by a guess at a typo."""
        return self.answer is not None and self.answer.kind != "guess"


def owners() -> dict[str, Any]:
    """Instances of the classes whose attributes are asked for."""
    layer = paddle.nn.Linear(1, 1)
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        variable = paddle.static.data("x", [1])
    return {
        "paddle.Tensor": paddle.to_tensor([1.0]),
        "paddle.nn.Layer": layer,
        "paddle.optimizer.Optimizer": paddle.optimizer.SGD(parameters=layer.parameters()),
        "paddle.optimizer.lr.LRScheduler": paddle.optimizer.lr.StepDecay(0.1, 1),
        "paddle.io.DataLoader": paddle.io.DataLoader([1]),
        "paddle.static.Program": main,
        "paddle.static.Variable": variable,
        "paddle.static.Executor": paddle.static.Executor(),
    }


def found_at(path: str, objects: dict[str, Any]) -> tuple[str, Any, str]:
    """(where, what is there, the name that is not there or "") on the way to a path."""
    if path in objects:
        return path, objects[path], ""
    place, value = "paddle", paddle
    for part in path.split(".")[1:]:
        if not has(value, part):
            return place, value, part
        place, value = f"{place}.{part}", getattr(value, part)
    return place, value, ""


def has(owner: Any, name: str) -> bool:
    """Whether there is such an attribute, though it may not be set."""
    if name in vars(type(owner)) and not isinstance(vars(type(owner))[name], missing_names.Absent):
        return True
    try:
        value = getattr(owner, name)
    except AttributeError:
        return False
    except Exception:  # it is there, and cannot be had of this one: the value of a variable
        return True
    # A module of the package's own is there once it has been loaded, and is not to be asked for.
    return not isinstance(value, ModuleType) or name in dir(owner)


def told() -> Iterator[Told]:
    """All names of all libraries, at each place where they are typed."""
    objects = owners()
    for library, places in listed().items():
        for source in (place for place in places if place in PEERS[library].places):
            for place in PEERS[library].places[source]:
                where, owner, lacking = found_at(place, objects)
                kind = owner if isinstance(owner, ModuleType) else type(owner)
                for name in places[source]:
                    asked = lacking or name
                    exists = not lacking and has(owner, name)
                    said = missing_names.answer(where, asked, kind)
                    yield Told(
                        library, f"{source}.{name}", where, exists, None if exists else said, asked
                    )


def write_absent(found: dict[str, set[str]]) -> None:
    """The names that are answered by attributes, in classes that have no ``__getattr__``."""
    lines = [ABSENT_HEAD]
    for place in sorted(found):
        text = _wrapped(" ".join(sorted(found[place]))).replace("\n  ", "\n")
        lines.append(f'    "{place}": """\n{text}\n""",')
    ABSENT.write_text("\n".join([*lines, "}", ""]), encoding="utf-8")


def prune(needed: set[tuple[str, str]]) -> None:
    """Leave the rows (section, name) alone in the file of answers that are needed."""
    place, kept = "", list[str]()
    for line in ANSWERS.read_text(encoding="utf-8").replace("\n  ", " ").splitlines():
        if line.startswith("["):
            place = line[1:-1]
        elif line and not line.startswith("#"):
            words = line.split(" ")
            end = min(words.index(mark) for mark in "=:" if mark in words)
            names = [name for name in words[:end] if (place, name) in needed]
            if not names:
                continue
            line = " ".join([*names, *words[end:]])
        kept.append(_wrapped(line) if line else "")
    ANSWERS.write_text("\n".join(kept) + "\n", encoding="utf-8")


# --- constructors


class Constructor(NamedTuple):
    """What a class of a library is made with, and the class that it is here."""

    library: str
    name: str  # as the library has it: torch.nn.Linear
    arguments: list[str]
    cls: type


def constructors() -> Iterator[Constructor]:
    """The classes that are here, under the name that they have there or the one that answers it."""
    for library, places in listed().items():
        for head in places:
            if head.endswith("()"):
                source, _, name = head[:-2].rpartition(".")
                cls = _class_here(PEERS[library].places[source][-1], name)
                if cls is not None:
                    yield Constructor(library, head[:-2], places[head], cls)


def _class_here(place: str, name: str) -> type | None:
    """A class, or that which is the answer."""
    _, owner, lacking = found_at(place, {})
    if lacking:
        return None
    found = getattr(owner, name, None)
    if found is None:
        said = missing_names.answer(place, name, owner)
        if said is None or said.kind != "write":
            return None
        one = re.fullmatch(r"(\w+(?:\.\w+)*)(?:\([\w, ]*\))?", said.text)
        if one is None:  # another thing, or several
            return None
        path = one[1] if one[1].startswith("paddle.") else f"{place}.{one[1]}"
        parent, _, last = path.rpartition(".")
        _, owner, lacking = found_at(parent, {})
        found = None if lacking else getattr(owner, last, None)
    return found if isinstance(found, type) else None


def main(arguments: list[str]) -> int:
    names = listed()
    for argument in arguments:
        library, _, python = argument.partition("=")
        names[library] = asked(library, python)
    if arguments:
        write(names)
    counts: dict[tuple[str, str], int] = {}
    open_: list[Told] = []
    absent: dict[str, set[str]] = {place: set() for place in missing_names.ABSENT}
    needed: set[tuple[str, str]] = set()
    for one in told():
        if not one.exists:
            if one.place in absent:
                absent[one.place].add(one.asked)
            for name in (one.asked, one.asked.removesuffix("_")):
                row = missing_names.row(one.place, name)
                needed |= {row[:2]} if row else set()
        kind = "exists" if one.exists else one.answer.kind if one.answered else "open"
        counts[one.library, kind] = counts.get((one.library, kind), 0) + 1
        if kind == "open":
            open_.append(one)
    prune(needed)
    write_absent(absent)
    for (library, kind), count in sorted(counts.items()):
        print(f"{library:10} {kind:10} {count}")
    by: dict[str, list[str]] = {}
    for one in open_:
        by.setdefault(one.place, []).append(one.asked)
    for place, lacking in by.items():
        print(_wrapped(f"[{place}] {len(set(lacking))}: {' '.join(sorted(set(lacking)))}"))
    return bool(open_)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

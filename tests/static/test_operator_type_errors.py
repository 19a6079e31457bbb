"""What `Block.append_op` refuses: an error with type and line, and the program as it was."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import errors
from autograd_engine.static.operator_types.table import TYPES
from tests.static.operator_type_samples import SAMPLES

static = paddle.static
OURS = tuple(getattr(errors, name) for name in errors.__all__)
HERE = "test_operator_type_errors.py:"

Given = dict[str, Any]


class Sample:
    """Variables of the first sample of a type, in a program without operators.

    Operands in `arrays`, by slot and place, take the place of those of the sample.
    """

    def __init__(self, type: str, arrays: dict[tuple[str, int], Any] | None = None) -> None:
        self.type = type
        inputs, outputs, self.attrs = SAMPLES[type][0]
        self.feed: Given = {}
        self.read: dict[str, list[Any]] = {}
        self.written: dict[str, list[Any]] = {}
        self.main = static.Program()
        with static.program_guard(self.main, static.Program()):
            for slot, given in inputs.items():
                for k, array in enumerate(given):
                    array = (arrays or {}).get((slot, k), array)
                    x = static.data(f"{slot}_{k}", list(array.shape), array.dtype.name)
                    x.stop_gradient = array.dtype.kind != "f"
                    self.feed[x.name] = array
                    self.read.setdefault(slot, []).append(x)
            self.block = self.main.global_block()
            for k, slot in enumerate(outputs):
                made = self.block.create_var(name=f"out_{k}")
                self.written.setdefault(slot, []).append(made)
            self.extra = self.block.create_var(name="extra")
        self.text = self.main.to_string()

    def append(self, read: Given, written: Given, attrs: Given) -> str:
        """What is wrong with the error that this raises; "taken" where there is none.

        What is taken is run: it may fail then, with the same words.
        """
        try:
            self.block.append_op(self.type, read, written, attrs)
        except OURS as error:
            changed = self.main.to_string() != self.text
            return self._said(str(error)) or ("the program was changed" if changed else "")
        slots = [slot.name for slot in TYPES[self.type].outputs if slot.computed]
        names = [v.name for slot in slots for v in written.get(slot, ())]
        try:
            static.Executor().run(self.main, self.feed, names)
        except errors.ExecutionError as error:
            return self._said(str(error)) or "taken"
        return "taken"

    def _said(self, message: str) -> str:
        if self.type not in message:
            return f"no type in: {message}"
        return "" if HERE in message else f"no line in: {message}"


def refused_of(sample: Sample) -> Iterator[tuple[str, Given, Given, Given]]:
    """What no operator of the type can be: (what is wrong, inputs, outputs, attributes)."""
    read, written, attrs = sample.read, sample.written, sample.attrs
    extra = {"Nonsense": [sample.extra]}
    for slot in TYPES[sample.type].inputs:
        if not slot.optional:
            rest = {name: vs for name, vs in read.items() if name != slot.name}
            yield f"without {slot.name}", rest, written, attrs
    yield "an unknown input", read | extra, written, attrs
    yield "an unknown output", read, written | extra, attrs
    yield "an unknown attribute", read, written, attrs | {"nonsense": 1}
    yield "no output", read, {}, attrs
    with static.program_guard(static.Program()):
        other = static.data("other", [2, 3], "float32")
    first = next(iter(written))
    yield "an output of another program", read, written | {first: [other]}, attrs
    for slot_name, vs in read.items():
        for wrong in (other, 3, None, "nothing", np.ones(3, "float32"), object()):
            given = read | {slot_name: [wrong, *vs[1:]]}
            yield f"{slot_name} is {type(wrong).__name__}", given, written, attrs
    for name in TYPES[sample.type].attrs:
        yield f"{name} is an object", read, written, attrs | {name: object()}


def test_what_is_refused_names_type_and_line_and_changes_nothing() -> None:
    failures = []
    for type in SAMPLES:
        sample = Sample(type)
        for what, *given in refused_of(sample):
            found = sample.append(*given)
            if found:
                failures.append(f"{type}: {what}: {found}")
    assert not failures, f"{len(failures)}:\n" + "\n".join(failures[:20])


# More bytes than any machine can address: what a number sizes is refused before memory is touched.
UNADDRESSABLE = 10**15
VALUES: list[Any] = [
    "nonsense", "", -7, 97, UNADDRESSABLE, 2.5, float("nan"), None, True,
    [], [-1], [7, 7, 7, 7, 7], [0, 0], [1, 2, 3], [None],
]  # fmt: skip
DTYPES = ["bool", "uint8", "int32", "int64", "float16", "float32", "float64", "complex64"]
SHAPES: list[tuple[int, ...]] = [(), (2,), (7,), (2, 3, 1, 2, 3), (0,), (3, 0)]


def other_operands(type: str) -> Iterator[dict[tuple[str, int], Any]]:
    """Operands of other dtypes and shapes, one at a time."""
    for slot, arrays in SAMPLES[type][0][0].items():
        for k, array in enumerate(arrays[:2]):
            for dtype in DTYPES:
                if dtype != array.dtype:
                    yield {(slot, k): (array.real if dtype[0] != "c" else array).astype(dtype)}
            for shape in SHAPES:
                yield {(slot, k): np.resize(array, shape)}


@pytest.mark.thorough
def test_what_may_be_taken_runs_or_is_refused_in_the_same_words() -> None:
    attempts: list[tuple[str, dict[tuple[str, int], Any], Given]] = []
    for type in SAMPLES:
        attrs = SAMPLES[type][0][2]
        attempts += [(type, arrays, attrs) for arrays in other_operands(type)]
        attempts += [
            (type, {}, attrs | {name: value}) for name in TYPES[type].attrs for value in VALUES
        ]
    failures = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for type, arrays, attrs in attempts:
            sample = Sample(type, arrays)
            found = sample.append(sample.read, sample.written, attrs)
            if found not in ("", "taken"):
                given = {k: (v.dtype.name, v.shape) for k, v in arrays.items()}
                failures.append(f"{type}: {given} {attrs}: {found}")
    assert not failures, f"{len(failures)} of {len(attempts)}:\n" + "\n".join(failures[:20])


def test_sizes_that_are_not_those_of_the_image_are_refused() -> None:
    sample = Sample("nearest_interp_v2")
    wrong: list[Given] = [
        {},
        {"out_h": 5},
        {"out_d": 7, "out_h": 5, "out_w": 6},
        {"scale": [2.0, 2.0, 2.0]},
        {"scale": [0.1, 2.0]},
    ]
    for given in wrong:
        attrs = {"interp_method": "nearest", "align_corners": True} | given
        with pytest.raises(OURS, match=r"nearest_interp: .*size"):
            sample.block.append_op("nearest_interp_v2", sample.read, sample.written, attrs)
    assert sample.main.to_string() == sample.text

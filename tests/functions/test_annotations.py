"""What a public function returns is what its annotation says."""

import inspect
import typing

import pytest

import autograd_engine as paddle
from autograd_engine.eager.tensor import Tensor
from tests.over import over

from .cases import CASES, family
from .harness import call, operands_in

# Of these a keyword, an operand or the number of inputs says what comes.
OPEN = {
    "linalg.qr",
    "nn.functional.adaptive_max_pool1d",
    "nn.functional.adaptive_max_pool2d",
    "nn.functional.adaptive_max_pool3d",
    "nn.functional.fractional_max_pool2d",
    "nn.functional.fractional_max_pool3d",
    "nn.functional.margin_cross_entropy",
    "nn.functional.max_pool1d",
    "nn.functional.max_pool3d",
    "nn.functional.softmax_with_cross_entropy",
    "unique",
    "unique_consecutive",
}


def split(name):
    owner, _, short = f"paddle.{name}".rpartition(".")
    found = paddle
    for part in owner.split(".")[1:]:
        found = getattr(found, part)
    return found, short


def annotations(function):
    """Return annotations: of the overloads, if there are some, else of the function."""
    found = inspect.unwrap(function)
    forms = typing.get_overloads(found) or [found]
    return {str(inspect.signature(form).return_annotation) for form in forms}


def fits(value, annotation):
    if annotation == "Tensor":
        return isinstance(value, Tensor)
    if annotation == "Any":
        return True
    if annotation.endswith(" | None"):
        return value is None or fits(value, annotation.removesuffix(" | None"))
    kind, _, inner = annotation.removesuffix("]").partition("[")
    if kind == "list":
        return isinstance(value, list) and all(fits(v, inner) for v in value)
    if kind == "tuple" and inner.endswith(", ..."):
        return isinstance(value, tuple) and all(fits(v, inner[:-5]) for v in value)
    if annotation == "tuple[Tensor, tuple[Tensor, Tensor]]":
        return isinstance(value, tuple) and fits(value[0], "Tensor") and len(value[1]) == 2
    if kind == "tuple":
        parts = inner.split(", ")
        return (
            isinstance(value, tuple)
            and len(value) == len(parts)
            and all(fits(v, p) for v, p in zip(value, parts, strict=True))
        )
    return type(value).__name__ == annotation


@over("name", [n for n in CASES if not n.startswith("Tensor.")], by=family)
def test_results_are_of_the_annotated_type(name, monkeypatch):
    owner, short = split(name)
    function, returned = getattr(owner, short), []

    def recorded(*args, **kwargs):
        returned.append(function(*args, **kwargs))
        return returned[-1]

    if not hasattr(function, "__name__"):  # a class, or something that is called
        pytest.skip("no function")
    monkeypatch.setattr(owner, short, recorded)
    for case in CASES[name]:
        call(case, operands_in(case, "float32"))
    declared = annotations(function)
    for value in returned:
        assert any(fits(value, a) for a in declared), (type(value).__name__, declared)


def test_most_functions_say_what_they_return():
    silent = set()
    for name in CASES:
        if not name.startswith("Tensor."):
            owner, short = split(name)
            if annotations(getattr(owner, short)) == {"Any"}:
                silent.add(name)
    assert silent <= OPEN, "annotate what these return"

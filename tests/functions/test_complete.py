"""No public function goes without cases."""

import inspect

import autograd_engine as paddle
from autograd_engine.eager.tensor import Tensor
from autograd_engine.tensor import public
from autograd_engine.tensor.spelling import inplace

from .cases import CASES
from .families import WRITTEN

# What takes or gives no tensor, or says something about one; each has tests of its own.
NO_CASES = {
    "CPUPlace",
    "broadcast_shape",
    "broadcast_shapes",
    "cpu_places",
    "finfo",
    "get_device",
    "iinfo",
    "is_complex",
    "is_floating_point",
    "is_integer",
    "is_tensor",
    "set_device",
    "tolist",
}


def public_functions():
    """Names below the package, functions that are there under two of them once."""
    spaces = {
        "": public,
        "linalg.": paddle.linalg,
        "fft.": paddle.fft,
        "geometric.": paddle.geometric,
        "nn.functional.": paddle.nn.functional,
        "signal.": paddle.signal,
        "audio.functional.": paddle.audio.functional,
        "vision.ops.": paddle.vision.ops,
    }
    found = {}
    for prefix, space in spaces.items():
        for name in space.__all__:
            if inspect.isclass(getattr(space, name)):
                continue
            found.setdefault(getattr(space, name), []).append(prefix + name)
    return list(found.values())


def test_every_public_function_has_cases():
    missing = [
        names
        for names in public_functions()
        if not NO_CASES & set(names)
        # add_(x, y) is x.add_(y)
        and not any(n in CASES or (n.endswith("_") and f"Tensor.{n}" in CASES) for n in names)
    ]
    assert not missing


def test_every_in_place_method_has_cases():
    methods = [n for n in dir(Tensor) if n.endswith("_") and n[0] != "_" and hasattr(Tensor, n)]
    assert len(methods) > 60
    assert inplace
    assert {n for n in methods if f"Tensor.{n}" not in CASES} == {"requires_grad_"}


def named(name):
    found = paddle
    for part in name.split("."):
        found = getattr(found, part)
    return found


def test_cases_are_of_functions_that_exist():
    for name in CASES:
        assert callable(named(name))


def test_cases_of_tensor_are_in_the_file_that_has_the_name_of_the_module():
    for family, held in WRITTEN.items():
        for name in held:
            room, _, module = inspect.unwrap(named(name)).__module__.rpartition(".")
            if room.startswith("autograd_engine.tensor") and family != "inplace":
                assert module == family, name


def test_three_hundred_functions_are_checked_to_third_order_and_forward():
    checked = [
        name
        for name, listed in CASES.items()
        if any(c.differentiable and c.smooth and c.orders == 3 and c.static for c in listed)
    ]
    assert len([n for n in checked if not n.startswith("Tensor.")]) >= 300

"""The cases of every public function that computes with tensors, by its public name."""

from __future__ import annotations

from pkgutil import iter_modules

from autograd_engine.tensor import linalg

from .derived import derived
from .families import WRITTEN

__all__ = ["CASES", "family"]

DERIVED = derived({name for held in WRITTEN.values() for name in held})
FAMILIES = {f: WRITTEN.get(f, {}) | DERIVED.get(f, {}) for f in WRITTEN | DERIVED}
CASES = {name: listed for family in FAMILIES.values() for name, listed in family.items()}
_FAMILY_OF = {name: family for family, held in FAMILIES.items() for name in held}
_LARGE = {"activation", "loss"}  # enough for a test of their own
_SIGNALS = {"audio", "fft", "signal"}
_NETWORKS = ("boxes", "deformable_conv", "regions", "yolo")
_WITH = {"segment": "scatter"} | dict.fromkeys(_NETWORKS, "nn")  # too few for tests of their own
_LINALG = {found.name for found in iter_modules(linalg.__path__)}


def family(label: str) -> str:
    """The family of the function that a label, ``name`` or ``name-case``, begins with.

    Families of few cases, those of linear algebra, of signals and of networks, are taken together.
    """
    name = label.partition("-")[0]
    found = _FAMILY_OF[name]
    found = _WITH.get(found, found)
    if found in _LINALG:
        return "linalg"
    if found in _SIGNALS:
        return "signal"
    return "nn" if name.startswith("nn.functional.") and found not in _LARGE else found

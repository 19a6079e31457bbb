"""The stubs declare what is bound, and nothing else."""

import importlib.util
from pathlib import Path

import pytest

from autograd_engine import Tensor
from autograd_engine.bindings import METHODS
from autograd_engine.static import Variable

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def declare():
    spec = importlib.util.spec_from_file_location("declare", ROOT / "tools" / "declare.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_stubs_are_up_to_date(declare):
    for path, text in declare.stubs().items():
        assert path.read_text(encoding="utf-8") == text, "run: python tools/declare.py"


@pytest.mark.parametrize(("cls", "stub"), [(Tensor, "eager"), (Variable, "program/ir")])
def test_every_method_is_declared(declare, cls, stub):
    text = (declare.PACKAGE / stub / "declared.pyi").read_text(encoding="utf-8")
    for name in METHODS:
        assert hasattr(cls, name)
        assert f"def {name}(self" in text, name


def test_overloads_are_kept(declare):
    text = next(t for p, t in declare.stubs().items() if p.parent.name == "eager")
    assert "def nonzero(self, as_tuple: Literal[True]) -> tuple[Tensor, ...]: ..." in text
    assert "def nonzero(self, as_tuple: Literal[False] = ...) -> Tensor: ..." in text

"""The page of the operations is what the table says."""

import importlib.util
from pathlib import Path

import pytest

from autograd_engine.ops.registry.opdef import REGISTRY, Rule

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def generator():
    spec = importlib.util.spec_from_file_location("operations", ROOT / "tools/site/operations.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_has_every_family_and_operation_once(generator):
    lines = generator.page().splitlines()
    families = [line.removeprefix("## ") for line in lines if line.startswith("## ")]
    assert families == sorted({op.module for op in REGISTRY.values()})
    named = [line.partition("(")[0] for line in lines if line.startswith("### ")]
    assert sorted(named) == sorted(f"### {name}" for name in REGISTRY)


def test_every_operation_and_rule_is_there(generator):
    for op in REGISTRY.values():
        entry = generator.entry(op)
        assert entry.startswith(f"### {op.name}(")
        for name, rule in op.rules.items():
            if isinstance(rule, Rule):
                assert f"- rule for `{name}`: `" in entry


def test_a_rule_is_shown_as_it_stands(generator):
    text = generator.entry(REGISTRY["multiply"])
    assert "- rule for `x`: `g * y`" in text
    assert "- saves: `y`, `x`" in text
    assert "- tangent: elementwise" in text
    assert "- not differentiable: `index`" in generator.entry(REGISTRY["gather"])
    assert "at `x=[0.0, -0.0]`" in generator.entry(REGISTRY["relu"])

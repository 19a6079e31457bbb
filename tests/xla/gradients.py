"""The pullback of every row through XLA, beside NumPy; run in a process of its own."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import jax
import numpy as np

import autograd_engine.compiler.xla.operators  # noqa: F401 - with all rows
from autograd_engine.compiler.xla.run import Run
from autograd_engine.core.spec import Spec
from autograd_engine.ops.registry.namespace import raw
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef
from autograd_engine.ops.registry.scattered_cotangent import dense
from tests.compiler.helpers.native_batches import difference
from tests.registry.samples import SAMPLES
from tests.registry.sampling import Sample

RNG = np.random.default_rng(0)
TOGETHER = 24


class Case(NamedTuple):
    label: str
    pullback: Any
    g: Any
    saved: Any
    attrs: dict[str, Any]
    expected: list[Any]


def case_of(op: OpDef, sample: Sample) -> Case | None:
    """The pullback for all floating operands of a sample; None where there is none."""
    attrs, operands = op.complete_attrs(sample.attrs), sample.cast(np.float64)
    wanted = 0
    for k, a in enumerate(operands):
        differentiable = op.reads_value(k) and op.rule_at(k) is not None
        wanted |= (differentiable and a.dtype.kind in "fc") << k
    if not wanted:
        return None
    with np.errstate(all="ignore"):
        made = op.kernel(*operands, **attrs)
        outs = [np.asarray(v) for v in (made if op.multiple else (made,))]
        cotangents = [
            RNG.standard_normal(v.shape).astype(v.dtype)
            if v.dtype.kind in "fc" and op.output_at(j) not in op.nondiff_outputs
            else None
            for j, v in enumerate(outs)
        ]
        g: Any = tuple(cotangents) if op.multiple else cotangents[0]
        project = op.projected([a.shape for a in operands], outs[0].shape)
        pullback = op.pullback(wanted, project)
        results = (tuple(outs),) if op.variadic_output else outs
        saved = pullback.save(*op.group(operands), *results)
        found = pullback.pull(raw, g, saved, attrs)
    expected = [None if v is None else np.asarray(dense(v)) for v in found]
    return Case(f"{op.name}-{sample.label}", pullback, g, saved, attrs, expected)


def is_spec(value: Any) -> bool:
    return isinstance(value, Spec)


def arrays_in(saved: Any) -> list[Any]:
    return [v for v in jax.tree.leaves(saved, is_leaf=is_spec) if not is_spec(v)]


def with_arrays(saved: Any, arrays: list[Any]) -> Any:
    """What was saved, with others in the places of its arrays, and Specs as they are."""
    rest = iter(arrays)
    return jax.tree.map(lambda v: v if is_spec(v) else next(rest), saved, is_leaf=is_spec)


def differences() -> list[str]:
    pairs = [(REGISTRY[n], s) for n, samples in SAMPLES.items() for s in samples[:2]]
    made = [case_of(op, s) for op, s in pairs if not (op.random or op.effect)]
    cases = [c for c in made if c is not None]
    assert len(cases) > 400
    wrong = []
    for k in range(0, len(cases), TOGETHER):
        part = cases[k : k + TOGETHER]

        def every(given: Any, part: list[Case] = part) -> Any:
            results = []
            for case, (g, arrays) in zip(part, given, strict=True):
                run, saved = Run(), with_arrays(case.saved, arrays)
                results.append((list(case.pullback.pull(run, g, saved, case.attrs)), run.flags))
            return results

        with jax.enable_x64(True):
            results = jax.device_get(jax.jit(every)([(c.g, arrays_in(c.saved)) for c in part]))
        for case, (arrays, flags) in zip(part, results, strict=True):
            texts = ["" if all(flags) else "it is said to be out of range"]
            for array, expected in zip(arrays, case.expected, strict=True):
                if array is None or expected is None:
                    texts.append("" if array is expected else "there is none")
                else:
                    texts.append(difference(np.asarray(array), expected, 1e4))
            wrong += [f"{case.label}: {text}" for text in texts if text]
    return wrong


if __name__ == "__main__":
    print(json.dumps(differences()))

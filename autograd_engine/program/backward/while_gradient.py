"""The gradient of a loop: a `scan` over its iterations, the last one first."""

from __future__ import annotations

from functools import partial
from typing import Any

from autograd_engine.program.backward.block_gradient import (
    BlockGradient,
    Incoming,
    InnerGradient,
    Wanted,
    handed_out,
)
from autograd_engine.program.backward.dataflow import Flow, LoopFlow
from autograd_engine.program.ir.control_flow_op import BlockOp, split_operands
from autograd_engine.program.ir.program import Ref, Variable

__all__ = ["LoopGradient"]


class LoopGradient(BlockGradient):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.given = split_operands(self.operator)
        self.flow = LoopFlow(Flow(self.plan.no_grad), self.operator, {k for k, _ in self.wanted})
        self.flow.follow({k for k, g in enumerate(self.cotangents) if g is not None})
        self.body = self.flow.body
        self.carried = sorted(self.flow.cotangents)
        self.captured: dict[tuple[Any, ...], Ref] = {}
        self.stacks: dict[tuple[Any, ...], Ref] = {}

    def append(self) -> tuple[list[Variable], set[int]]:
        plan, operator, flow = self.plan, self.operator, self.flow
        n, first = flow.n, flow.first
        stacks = len(self.given[2])
        begin = len(operator.operands) - stacks  # position of the first stack
        sums = [(k, ref) for k, ref in self.wanted if first + n <= k < begin]
        elements = [(k, ref) for k, ref in self.wanted if k >= begin]
        initial = [self._start(j) for j in self.carried]
        initial += [self._start_of_sum(k, ref) for k, ref in sums]
        inner = self._inner(sums, elements)
        results = self._results(inner, sums, elements)
        inner.close(partial(self._local, inner))
        carried = [("carried", j) for j in self.carried] + [("sum", k) for k, _ in sums]
        slots = [*carried, *self.captured, *self.stacks]
        inner.block.arguments[:] = [inner.arguments[slot] for slot in slots]
        trips = operator.results[n] if first == 0 else operator.operands[0]
        reverse = not operator.attrs.get("reverse", False)
        plan.draft.follow(
            operator,
            BlockOp.of("scan", f"{operator.type}_grad"),
            (trips, *initial, *self.captured.values(), *self.stacks.values()),
            results,
            {
                "body_block": inner.block,
                "carried": len(carried),
                "captured": len(self.captured),
                "reverse": reverse,
            },
        )
        by_position = dict(zip(self.carried, results, strict=False))
        found = {first + j: v for j, v in by_position.items()}
        rest = results[len(self.carried) :]
        found.update((k, v) for (k, _), v in zip([*sums, *elements], rest, strict=True))
        return [found[k] for k, _ in self.wanted], self._always(inner)

    def _always(self, inner: InnerGradient) -> set[int]:
        """Operands that get more than zeros: what is captured does not, of no iteration."""
        arguments, first, n = self.body.arguments, self.flow.first, self.flow.n
        stacks = first + n + len(self.given[1])
        surely = self.plan.cotangents.surely
        inside = {
            k
            for k, _ in self.wanted
            if inner.plan.cotangents.surely([Ref(arguments[k - first], 0)])
        }
        results = self.operator.results
        return {
            k for k in inside if k >= stacks or (k < first + n and surely([results[k - first]]))
        }

    def _start(self, j: int) -> Ref:
        """The cotangent of what is carried at the end: given, or zeros."""
        given = self.cotangents[j]
        if given is None:
            final = self.operator.results[j]
            given = self.plan.cotangents.filled(final, 0.0)
        return Ref(given, given.version)

    def _start_of_sum(self, k: int, ref: Ref) -> Ref:
        """What the cotangents of something captured are added to."""
        prior = self.priors.get(k)
        if prior is None:
            prior = self.plan.cotangents.filled(ref, -0.0)
        prior = self.plan.cotangents.unrounded(ref, prior)
        return Ref(prior, prior.version)

    def _inner(self, sums: Wanted, elements: Wanted) -> InnerGradient:
        body, flow = self.body, self.flow
        surely: Any = self.plan.cotangents.surely
        totals = [Ref(body.arguments[k - flow.first], 0) for k, _ in sums]
        seeds: list[tuple[Ref, Incoming]] = [
            (total, Incoming(("sum", k))) for total, (k, _) in zip(totals, sums, strict=True)
        ]
        for k, _ in elements:
            if k in self.priors:
                prior = self.priors[k]
                self.stacks["prior", k] = Ref(prior, prior.version)
                sure = surely([self.operator.operands[k]])
                argument = Ref(body.arguments[k - flow.first], 0)
                seeds.append((argument, Incoming(("prior", k), sure=sure)))
        for j in reversed(self.carried):
            given = self.cotangents[j] is not None and surely([self.operator.results[j]])
            sure = given and self._reached_again(j)
            seeds.append((body.results[j], Incoming(("carried", j), sure=sure)))
        for i in sorted(flow.pushed):
            g = self.cotangents[flow.first_push + i]
            assert g is not None
            self.stacks["cotangent", i] = Ref(g, g.version)
            sure = surely([self.operator.results[flow.first_push + i]])
            seeds.append((body.results[flow.n + i], Incoming(("cotangent", i), sure=sure)))
        return InnerGradient(self.plan, body, seeds, flow.keys, totals)

    def _reached_again(self, j: int) -> bool:
        """Whether what is carried gets a cotangent in each iteration, from the next one."""
        return Ref(self.body.arguments[j], 0).key in self.flow.arrived

    def _results(self, inner: InnerGradient, sums: Wanted, elements: Wanted) -> list[Variable]:
        cotangents, body, flow = self.plan.cotangents, self.body, self.flow
        wanted = dict(self.wanted)
        results = []
        for j in self.carried:
            ref = wanted.get(flow.first + j)
            results.append(
                cotangents.spare(self.operator.results[j])
                if ref is None
                else cotangents.contribution(ref)
            )
        results += [cotangents.contribution(ref, wide=True) for _, ref in sums]
        results += [cotangents.contribution(ref) for _, ref in elements]
        positions = [flow.first + j for j in self.carried] + [k for k, _ in [*sums, *elements]]
        for position in positions:
            inner.give_back(body.arguments[position - flow.first], 0.0)
        for j in self.carried:
            inner.argument(("carried", j), body.arguments[j], f"{body.arguments[j].name}@GRAD")
        return results

    def _local(self, inner: InnerGradient, ref: Ref, value: bool) -> Ref:
        """What stands for a value of the body in its gradient's."""
        carried, captured, stacks = self.given
        position = inner.position_of(ref)
        n, m = len(carried), len(carried) + len(captured)
        if position is not None and n <= position < m:
            outer = captured[position - n]
            self.captured["value", outer.key] = outer
            return Ref(inner.argument(("value", outer.key), outer.var, ref.var.name), 0)
        if position is not None and position >= m:
            outer = stacks[position - m]
        else:
            outer = handed_out(self.operator, self.body, ref, value, ())
        self.stacks["value", outer.key] = outer
        return Ref(inner.argument(("value", outer.key), ref.var, ref.var.name), 0)

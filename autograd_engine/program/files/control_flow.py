"""Operators with blocks, in documents: what these blocks take and return, and where they stand."""

from __future__ import annotations

from typing import Any, Final

from autograd_engine.core.dtypes import BOOLS, INEXACT, INTEGERS
from autograd_engine.core.spec import Spec, may_equal
from autograd_engine.program.files.fields import fail
from autograd_engine.program.ir.block import inner_blocks
from autograd_engine.program.ir.program import Block, Program, Ref

__all__ = ["check_blocks", "check_control"]

_MAX_DEPTH: Final = 32  # of blocks in blocks: Python nests no more loops and branches than that


def check_control(kind: str, operands: Any, results: Any, attrs: Any, where: str) -> None:
    """Counts and specs of operands and results against those of the blocks.

    Blocks are read one after the other: what later ones return is looked at by `check_blocks`.
    """
    if any(not isinstance(o, Ref) for o in operands):
        fail(where, f"an operand of {kind} must be a variable")
    if kind.startswith("array_"):
        _check_array(kind, operands, results, where)
        return
    if kind == "cond":
        if not operands or operands[0].var.spec.dtype not in BOOLS:
            fail(where, "the first operand of cond must be a bool")
        for name in ("true_block", "false_block"):
            _check_taken(attrs[name], operands[1:], f"{where}.{name}")
    elif kind == "call":
        _check_taken(attrs["body_block"], operands, f"{where}.body_block")
        _check_counts(attrs, ("inputs",), len(operands), where)
        backward = attrs["backward_block"]
        if backward is not None:
            given = [*results, *operands]
            _check_taken(backward, given, f"{where}.backward_block")
    elif kind == "while":
        _check_counts(attrs, ("carried",), len(operands), where)
        for name in ("cond_block", "body_block"):
            _check_taken(attrs[name], operands, f"{where}.{name}")
    elif kind == "scan":
        if not operands:
            fail(where, "the first operand of scan must be the number of iterations")
        _check_counts(attrs, ("carried", "captured"), len(operands) - 1, where)
        inside = attrs["carried"] + attrs["captured"]
        _check_taken(attrs["body_block"], operands[1:], f"{where}.body_block", inside)
    elif kind == "absent":
        if operands or len(results) != 1:
            fail(where, "absent takes nothing, and has one result")
    elif not operands or len(results) != 1:
        fail(where, f"{kind} takes an operand, and has one result")


# What operators on arrays of tensors take and make: an array, an element or its cotangent, a place.
_ARRAYS: Final = {
    "array_new": "a",
    "array_write": "axi a",
    "array_read": "ai x",
    "array_length": "a i",
    "array_join": "a x",
    "array_split": "xa a",
    "array_sizes": "a i",
    "array_like": "aa a",
}


def _check_array(kind: str, operands: Any, results: Any, where: str) -> None:
    taken, _, made = _ARRAYS[kind].rpartition(" ")
    if len(operands) != len(taken) or len(results) != 1:
        fail(where, f"{kind} takes {len(taken)} operands, and has one result")
    dtype = next((r.var.spec.dtype for r in (*operands, *results) if r.var.is_stack), None)
    for what, ref in zip(taken + made, (*operands, *results), strict=True):
        if ref.var.is_stack != (what == "a"):
            fail(where, f"{ref.var.name!r} is {'an' if what != 'a' else 'no'} array of tensors")
        if ref.var.spec.dtype not in INTEGERS if what == "i" else ref.var.spec.dtype != dtype:
            fail(where, f"{ref.var.name!r} is {ref.var.spec.dtype.name}, in an array of {dtype}")


def _check_counts(attrs: Any, names: tuple[str, ...], most: int, where: str) -> None:
    total = 0
    for name in names:
        total += attrs[name]
        if attrs[name] < 0 or total > most:
            fail(f"{where}.attrs.{name}", f"must be 0 to {most}, the number of operands")


def _check_taken(block: Block, operands: Any, where: str, whole: int | None = None) -> None:
    """Operands from position `whole` on are stacks, of which the block takes one element each."""
    if len(block.arguments) != len(operands):
        fail(where, f"takes {len(block.arguments)} arguments, and {len(operands)} are given")
    for k, (argument, operand) in enumerate(zip(block.arguments, operands, strict=True)):
        spec = operand.var.spec
        if whole is not None and k >= whole:
            continue
        if argument.spec.dtype != spec.dtype or len(argument.spec.shape) != len(spec.shape):
            fail(where, f"takes {argument.spec} as {argument.name!r}, and {spec} is given")


def check_blocks(program: Program, where: str) -> None:
    """Each block but the first belongs to one operator, of the block that is its parent."""
    owners: dict[int, int] = {}
    depth = {0: 0}
    for block in program.blocks:
        for k, operator in enumerate(block.ops):
            at = f"{where}.blocks[{block.idx}].operators[{k}]"
            for inner in inner_blocks(operator):
                if inner.idx in owners:
                    fail(at, f"block {inner.idx} is inside of another operator already")
                if inner.parent_idx != block.idx:
                    fail(at, f"block {inner.idx} has parent {inner.parent_idx}, not {block.idx}")
                owners[inner.idx] = block.idx
                if any(n >= len(operator.results) for n in inner.handed_out.values()):
                    fail(at, f"block {inner.idx} hands out a result that is not there")
                # Parents come before what is inside them.
                depth[inner.idx] = depth[block.idx] + 1 if block.idx in depth else _MAX_DEPTH + 1
                if depth[inner.idx] > _MAX_DEPTH:
                    fail(at, f"blocks are nested more than {_MAX_DEPTH} deep")
            _check_returned(operator, at)


def _check_returned(operator: Any, where: str) -> None:
    kind = getattr(operator.op, "kind", None)
    attrs, made = operator.attrs, operator.results
    if kind == "cond":
        for name in ("true_block", "false_block"):
            _match(attrs[name].results, made, f"{where}.{name}")
    elif kind == "call":
        _match(attrs["body_block"].results, made, f"{where}.body_block")
        backward = attrs["backward_block"]
        if backward is not None:
            floating = [
                o for o in operator.operands[: attrs["inputs"]] if o.var.spec.dtype in INEXACT
            ]
            _match(backward.results, floating, f"{where}.backward_block")
    elif kind == "while":
        carried, body = attrs["carried"], attrs["body_block"]
        test = attrs["cond_block"].results
        if len(test) != 1 or test[0].var.spec.dtype not in BOOLS:
            fail(f"{where}.cond_block", "must return one bool")
        if len(body.results) + 1 != len(made) or len(body.results) < carried:
            fail(f"{where}.body_block", f"returns {len(body.results)}, for {len(made)} results")
        _match(body.results[:carried], made[:carried], f"{where}.body_block")
        if made[carried].var.spec != Spec((), made[carried].var.spec.dtype):
            fail(where, "the number of iterations must be 0-d")
    elif kind == "scan":
        body = attrs["body_block"]
        if len(body.results) < attrs["carried"] or len(made) != len(body.results):
            fail(f"{where}.body_block", f"returns {len(body.results)}, for {len(made)} results")


def _match(returned: Any, made: Any, where: str) -> None:
    if len(returned) != len(made):
        fail(where, f"returns {len(returned)} arrays, for {len(made)} results")
    for a, b in zip(returned, made, strict=True):
        given, wanted = a.var.spec, b.var.spec
        if given.dtype != wanted.dtype or not may_equal(given.shape, wanted.shape):
            fail(where, f"returns {given} for {b.var.name!r}, which is {wanted}")

"""Operators of control flow: branches, loops, and what gradients of these need.

A `cond` and a loop have blocks among their attributes, which are functions of arrays: what an
operator reads are its operands, and nothing in a block reads a variable of another one.

``cond``
    Operands: the condition, then the arguments of both branches. Attributes ``true_block`` and
    ``false_block``.
``call``
    Operands: the arguments of ``body_block``. With a ``backward_block`` the gradient of the first
    ``inputs`` operands is what that block makes of the cotangents of all results, and of all
    operands.
``while``
    Operands: initial values of what is carried, then what is captured; ``cond_block`` and
    ``body_block`` take both. The body returns what is carried on, then what it pushes. Results:
    what is carried in the end, the number of iterations, and a stack of each push. ``carried``
    says how many there are.
``scan``
    A loop over the elements of stacks, which is what gradients of loops are. Operands: the number
    of iterations, what is carried, what is captured, stacks. The body takes all but the number,
    elements for stacks. With ``reverse`` the last element is the first.
``add_stacks``, ``fill_stack``
    Sums, and one value for all, element by element.
``hollow``
    Zeros that stand for no gradient; and what keeps shape and dtype of an operand without its
    values.
``absent``
    Stands for what only the other branch computes.
``array_new``, ``array_write``, ``array_read``, ``array_length``
    Arrays of tensors, of any length: each write makes another version. Such a variable is a stack
    as well, whose elements are not those of iterations.
``array_join``, ``array_split``, ``array_sizes``
    All elements as one tensor, and back; and their sizes along an axis.
``array_like``
    A cotangent with as many elements as there were before a write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from autograd_engine.program.ir.program import Block, Operator

__all__ = ["BlockOp", "body_of", "branches_of", "kind_of", "split_operands"]

_INPUTS = {
    "cond": ("Cond", "X"),
    "scan": ("Trips", "X"),
    "hollow": ("like",),
    "absent": (),
    "array_new": (),
    "array_write": ("array", "x", "i"),
    "array_read": ("array", "i"),
    "array_length": ("array",),
    "array_join": ("array",),
    "array_split": ("x", "like"),
    "array_sizes": ("array",),
    "array_like": ("array", "like"),
}

# The operands of those on arrays that their results depend on linearly.
_LINEAR = {
    "add_stacks": None,
    "array_write": (0, 1),
    "array_read": (0,),
    "array_join": (0,),
    "array_split": (0,),
    "array_like": (0,),
}


class BlockOp:
    """One kind of these operators.

    Attributes
    ----------
    kind : str
    name : str
        The kind, or what it is the gradient of: ``while_grad`` is a scan.
    """

    _made: ClassVar[dict[tuple[str, str], BlockOp]] = {}

    __slots__ = ("inputs", "kind", "name", "outputs")

    def __init__(self, kind: str, name: str) -> None:
        self.kind = kind
        self.name = name
        self.inputs: tuple[str, ...] = _INPUTS.get(kind, ("X",))
        self.outputs = ("Out",)

    @classmethod
    def of(cls, kind: str, name: str | None = None) -> BlockOp:
        """The one of this kind and name."""
        key = kind, name or kind
        found = cls._made.get(key)
        if found is None:
            found = cls._made[key] = cls(*key)
        return found

    def __repr__(self) -> str:
        return f"<block op {self.name}>"

    def input_at(self, position: int) -> str:
        """Name of the input that the operand at `position` belongs to."""
        return self.inputs[min(position, len(self.inputs) - 1)]

    def passes_on(self, position: int) -> bool:
        """Whether a gradient flows to the operand at `position`, of an operator without blocks."""
        linear = _LINEAR.get(self.kind, ())
        return linear is None or position in linear

    def output_at(self, position: int) -> str:
        return self.outputs[0]

    def reads_value(self, position: int) -> bool:
        """Whether the value of the operand is read, not only its shape."""
        return self.kind != "hollow"


def branches_of(operator: Operator) -> tuple[list[Block], int]:
    """The blocks of which a `cond` or a `call` runs one, and where their operands begin."""
    if kind_of(operator) == "cond":
        return [operator.attrs["true_block"], operator.attrs["false_block"]], 1
    return [body_of(operator)], 0


def kind_of(operator: Operator) -> str:
    """The kind of a BlockOp; of other operators the empty string."""
    op = operator.op
    return op.kind if isinstance(op, BlockOp) else ""


def body_of(operator: Operator) -> Block:
    """The block of a loop that is run for each iteration."""
    block: Block = operator.attrs["body_block"]
    return block


def split_operands(operator: Operator) -> tuple[list[Any], list[Any], list[Any]]:
    """(carried, captured, stacks) of a loop."""
    carried = operator.attrs["carried"]
    refs = list(operator.operands)
    if kind_of(operator) == "while":
        return refs[:carried], refs[carried:], []
    refs = refs[1:]  # the number of iterations
    captured = carried + operator.attrs["captured"]
    return refs[:carried], refs[carried:captured], refs[captured:]

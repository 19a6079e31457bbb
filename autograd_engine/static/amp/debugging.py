"""``paddle.static.amp.debugging``: which dtypes the operators of a program compute in."""

from __future__ import annotations

from autograd_engine.amp.operator_stats import OperatorStats, computed_in
from autograd_engine.core.checks import require_bools
from autograd_engine.errors import ArgumentTypeError
from autograd_engine.program.ir.program import Program, default_main_program

__all__ = ["collect_operator_stats"]


def collect_operator_stats(program: Program | None = None, print_subblocks: bool = False) -> None:
    """Count the operators of a program by the dtype that they compute in, and print that.

    Parameters
    ----------
    program : Program, optional
        By default the main program.
    print_subblocks : bool
        Print a table for each block, too.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> main = paddle.static.Program()
    >>> with paddle.static.program_guard(main):
    ...     x = paddle.static.data("x", [2, 2])
    ...     with paddle.amp.auto_cast():
    ...         y = paddle.exp(x @ x)
    >>> count = paddle.static.amp.debugging.collect_operator_stats
    >>> count(main)  # doctest: +ELLIPSIS, +NORMALIZE_WHITESPACE
    <--...-- op list --...-->
    <--...-- Op Name --...-- | -- FP16 Calls --- | ... | -- FP32 Calls --- | -- Other Calls -->
      cast     |  1  |  0  |  2  |  0
      exp      |  0  |  0  |  1  |  0
      matmul   |  1  |  0  |  0  |  0
    <--...-- op count: 3 --...-->
    """
    require_bools("collect_operator_stats", print_subblocks=print_subblocks)
    program = default_main_program() if program is None else program
    if not isinstance(program, Program):
        raise ArgumentTypeError(
            f"collect_operator_stats takes a Program, got {type(program).__name__}"
        )
    total = OperatorStats()
    for block in program.blocks:
        stats = OperatorStats()
        for op in block.ops:
            values = [*op.operands, *op.results]
            dtype = computed_in([v.spec for v in values if v is not None])
            for each in (stats, total):
                each.count(op.type, dtype)
        if print_subblocks:
            print(f"block {block.idx}\n{stats}")
    print(total)

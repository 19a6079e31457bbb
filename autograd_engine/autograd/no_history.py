"""The warning that ``backward()`` gives where there is nothing to differentiate."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Sequence
from typing import Final

from autograd_engine.core.locations import Location, user_frame_from, warn_at
from autograd_engine.eager.grad_mode import grad_mode
from autograd_engine.eager.graph_cuts import Block, cut_of, recent_blocks, recent_cuts
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import NoHistoryWarning

__all__ = ["warn_without_history"]

_MOST: Final = 2
# What somebody calls to have no gradient; values are also read to be printed.
_CUTTING: Final = ("detach()", "stop_gradient = True", "set_value()", "cast")
_GENERATORS: Final = inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR


def warn_without_history(tensors: Sequence[Tensor]) -> None:
    """Warn, at the line of the user's, of those of `tensors` that carry no gradient.

    The text says no names of tensors: so it is the same one at every turn of a loop, and Python
    shows it once for a line.
    """
    frame = user_frame_from(sys._getframe(1))
    at = Location(frame.f_code, frame.f_lasti)
    for k, tensor in enumerate(tensors):
        if not tensor._stop:
            continue
        which = f"tensors[{k}] of backward()" if len(tensors) > 1 else "backward()"
        warn_at(
            frame,
            f"{at.with_text}: {which} has nothing to differentiate, and changes no .grad: "
            f"{_why(tensor)}",
            NoHistoryWarning,
        )


def _why(tensor: Tensor) -> str:
    cut = cut_of(tensor._data)
    if tensor._node is not None or (cut is not None and cut.kind == "stop_gradient = True"):
        where = "" if cut is None else f" at {cut.location.with_text}"
        return f"its stop_gradient was set to True{where}; leave it False"
    if cut is not None:
        return (
            f"it was cut off by {cut.kind} at {cut.location.with_text}; call backward() on what is "
            "computed without that"
        )
    if not tensor.stop_gradient:
        return f"it holds {tensor.dtype.name}, and integers and bools have no gradient"
    if hasattr(tensor, "_grad"):
        return (
            "it was never recorded: it is made from values, and its stop_gradient is True; write "
            "stop_gradient=False where it is made"
        )
    if not grad_mode.enabled:
        blocks = recent_blocks()[:1]
        where = f": {_block(blocks[0])}" if blocks else ""
        return f"recording is off here{where}; compute it and call backward() outside"
    found = [(b.when, _block(b)) for b in recent_blocks()[:_MOST]]
    cuts = [c for c in recent_cuts() if c.kind in _CUTTING][:_MOST]
    found += [(c.when, f"cut by {c.kind} at {c.location.with_text}") for c in cuts]
    perhaps = "; ".join(text for _, text in sorted(found, key=lambda item: item[0])[:_MOST])
    return (
        "it was computed without being recorded: nothing that it was computed from requires a "
        "gradient, or recording was off"
        + (f" (perhaps: {perhaps})" if perhaps else "")
        + "; make what is to be trained with stop_gradient=False, and compute outside of no_grad"
    )


def _block(block: Block) -> str:
    held = " of a generator, which holds it open while it waits" if _in_generator(block) else ""
    return f"the {block.kind} block at {block.location.with_text}{held}"


def _in_generator(block: Block) -> bool:
    return bool(block.location.code.co_flags & _GENERATORS)

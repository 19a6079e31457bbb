"""Tensors in notebooks: HTML, escaped, without scripts and without the network."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograd_engine.core.dtypes import FLOATS, INEXACT, REALS
from autograd_engine.core.report import preformatted, table
from autograd_engine.eager.printing import format_array, format_cells, get_printoptions
from autograd_engine.eager.tensor import Tensor

__all__ = ["tensor_html"]

_MOST_ROWS = 20
_MOST_COLUMNS = 12
_SUMMARISED = 200  # elements above which statistics are shown beside the corners


def tensor_html(tensor: Tensor, kind: str = "Tensor") -> str:
    """A tensor in a notebook: what it is, where it came from, its values or a summary of them.

    Parameters
    ----------
    tensor : Tensor
    kind : str
        The word it is introduced with.
    """
    data = tensor._data
    lines = [f"<b>{escape(kind)}</b> {escape(_heading(tensor))}", escape(_history(tensor))]
    counts = _not_finite(data)
    if counts:
        lines.append(f'<span style="color:#b00020">{escape(counts)}</span>')
    if data.size > _SUMMARISED and data.dtype in REALS:
        statistics = _statistics(data)
        lines.append(table([list(statistics.values())], list(statistics)))
    body = "<br>\n".join(line for line in lines if line)
    return f"<div>\n{body}\n{_values(data)}\n</div>"


def _heading(tensor: Tensor) -> str:
    return (
        f"{tensor.name}  shape={list(tensor.shape)}, dtype={tensor._data.dtype.name}, "
        f"stop_gradient={tensor.stop_gradient}"
    )


def _history(tensor: Tensor) -> str:
    """Where it came from, and whether it has a gradient."""
    node = tensor._node
    if node is not None:
        at = node.location
        made = f"result of {node.name} at {at}" + (f": {at.text}" if at.text else "")
    else:
        made = "" if tensor.stop_gradient else "leaf"
    if tensor.stop_gradient:
        return made
    if tensor.grad is not None:
        state = f"grad: {tensor.grad._data.dtype.name}{list(tensor.grad.shape)}"
    elif node is not None:
        state = "grad: None (call retain_grads() to keep it)"
    else:
        state = "grad: None (no backward pass has reached it)"
    return f"{made}; {state}" if made else state


def _not_finite(data: NDArray[Any]) -> str:
    if data.dtype not in INEXACT or not data.size:
        return ""
    nans, infs = int(np.isnan(data).sum()), int(np.isinf(data).sum())
    parts = [f"{n} {name}" for n, name in ((nans, "NaN"), (infs, "infinite")) if n]
    return f"{' and '.join(parts)} of {data.size} elements" if parts else ""


def _statistics(data: NDArray[Any]) -> dict[str, str]:
    """Of the finite elements; added up in double precision."""
    finite = data[np.isfinite(data)] if data.dtype in FLOATS else data
    if not finite.size:
        return {"finite": "0"}
    with np.errstate(over="ignore", invalid="ignore"):
        return {
            "min": _number(finite.min()),
            "mean": _number(finite.mean(dtype=np.float64)),
            "max": _number(finite.max()),
            "std": _number(finite.std(dtype=np.float64)),
            "zeros": str(int(data.size - np.count_nonzero(data))),
        }


def _number(value: Any) -> str:
    return str(value) if isinstance(value, np.integer) else f"{float(value):.6g}"


def _values(data: NDArray[Any]) -> str:
    """A table where there are one or two axes that fit, else the text that printing gives."""
    if data.ndim not in (1, 2) or not data.size:
        return preformatted(format_array(data, indent=0))
    rows = data.reshape(1, -1) if data.ndim == 1 else data
    summarised = data.size > get_printoptions().threshold
    edge = get_printoptions().edgeitems
    tall = rows.shape[0] > _MOST_ROWS or summarised
    wide = rows.shape[1] > _MOST_COLUMNS or summarised
    picked_rows = _ends(rows.shape[0], edge if tall else None)
    picked_columns = _ends(rows.shape[1], edge if wide else None)
    kept = rows[np.ix_([r for r in picked_rows if r >= 0], [c for c in picked_columns if c >= 0])]
    cells = iter(format_cells(kept).tolist())
    head = [] if data.ndim == 1 else [""]
    body: list[list[object]] = []
    for r in picked_rows:
        texts = iter(next(cells)) if r >= 0 else iter(())
        shown: list[object] = ["..." if c < 0 or r < 0 else next(texts) for c in picked_columns]
        body.append(shown if data.ndim == 1 else ["..." if r < 0 else r, *shown])
    return table(body, [*head, *("..." if c < 0 else c for c in picked_columns)])


def _ends(length: int, edge: int | None) -> list[int]:
    """Indices of an axis, -1 for the middle that is left out."""
    if edge is None or length <= 2 * edge:
        return list(range(length))
    return [*range(edge), -1, *range(length - edge, length)]

"""What two runs report of the same operations, beside each other: where the second goes astray."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from autograd_engine.core.atomic_file import write_atomically
from autograd_engine.core.checks import require_bools
from autograd_engine.errors import ArgumentError, FileFormatError, MissingFileError

__all__ = ["compare_accuracy"]

_LINE: Final = re.compile(
    r"\[PRECISION\].*\[device=\w+, op=(?P<op>[^,]*), tensor=(?P<tensor>[^,]*), "
    r"dtype=(?P<dtype>\w+)\], numel=(?P<numel>\d+), "
    r"num_nan=(?P<nan>\d+), num_inf=(?P<inf>\d+), num_zero=(?P<zero>\d+)"
    r", max=(?P<max>\S+), min=(?P<min>\S+), mean=(?P<mean>[^,\s]+)(, at (?P<at>.*))?"
)
_NUMBERS: Final = ("numel", "nan", "inf", "zero", "max", "min", "mean")


class _Place(NamedTuple):
    """What is compared: the n-th report of a tensor of an operation."""

    op: str
    tensor: str
    n: int


def compare_accuracy(
    dump_path: str,
    another_dump_path: str,
    output_filename: str,
    loss_scale: float = 1,
    dump_all_tensors: bool = False,
) -> None:
    """Write beside each other what two runs report, as `enable_tensor_checker` does it to a folder.

    Parameters
    ----------
    dump_path, another_dump_path : str
        Folders that were the `output_dir` of a `TensorCheckerConfig`, in the mode `CHECK_ALL`: of
        a run in float32, say, and of one in mixed precision.
    output_filename : str
        A file that ends with ``.csv``: a line for each tensor, in the order of the first run, with
        what both say and whether the second is not finite where the first is.
    loss_scale : float
        What the loss of the second run was multiplied by: its gradients are divided by it.
    dump_all_tensors : bool
        There is nothing but False.

    Raises
    ------
    MissingFileError, FileFormatError, ArgumentError

    Examples
    --------
    >>> import tempfile, pathlib, autograd_engine as paddle
    >>> debugging = paddle.amp.debugging
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name in ("single", "half"):
    ...     mode, where = debugging.DebugMode.CHECK_ALL, str(folder / name)
    ...     debugging.enable_tensor_checker(debugging.TensorCheckerConfig(True, mode, where))
    ...     with paddle.amp.auto_cast(enable=name == "half"):
    ...         y = paddle.full([1, 1], 300.0) @ paddle.full([1, 1], 300.0)
    ...     debugging.disable_tensor_checker()
    >>> table = folder / "compared.csv"
    >>> debugging.compare_accuracy(str(folder / "single"), str(folder / "half"), str(table))
    >>> [line.split(",")[-2] for line in table.read_text().splitlines() if "matmul" in line]
    ['not finite in the second']
    """
    require_bools("compare_accuracy", dump_all_tensors=dump_all_tensors)
    if dump_all_tensors:
        raise ArgumentError(
            "compare_accuracy: dump_all_tensors must be False: reports hold no values of elements"
        )
    if not str(output_filename).endswith(".csv"):
        raise ArgumentError(
            "compare_accuracy writes a table as text, which spreadsheets open: output_filename "
            f"must end with '.csv', got {output_filename!r}"
        )
    if isinstance(loss_scale, bool) or not isinstance(loss_scale, (int, float)) or loss_scale <= 0:
        raise ArgumentError(
            f"compare_accuracy: loss_scale must be a number above 0, got {loss_scale!r}"
        )
    first, second = (dict(_reports(path)) for path in (dump_path, another_dump_path))
    head = ["operation", "tensor", "number"]
    columns = ["dtype", *_NUMBERS]
    head += [f"{name} {which}" for which in ("of the first", "of the second") for name in columns]
    rows = [[*head, "result", "at"]]
    for place in [*first, *(p for p in second if p not in first)]:
        one, other = first.get(place), second.get(place)
        if other is not None and place.op.endswith("_grad"):
            scaled = {k: float(other[k]) / loss_scale for k in ("max", "min", "mean")}
            other = {**other, **{k: f"{v:e}" for k, v in scaled.items()}}
        both = [str(r[c]) if r else "" for r in (one, other) for c in columns]
        at = next((r["at"] for r in (one, other) if r and r["at"]), "")
        rows.append([place.op, place.tensor, str(place.n), *both, _result(one, other), at])
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    write_atomically(Path(output_filename), text.getvalue())


def _reports(path: str) -> Iterator[tuple[_Place, dict[str, Any]]]:
    folder = Path(path)
    files = sorted(folder.glob("*.log")) if folder.is_dir() else []
    if not files:
        raise MissingFileError(
            f"compare_accuracy: there is no report in {path!r}; give it to TensorCheckerConfig as "
            "output_dir, with debug_mode=DebugMode.CHECK_ALL"
        )
    seen: Counter[tuple[str, str]] = Counter()
    for file in files:
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
            if not line:
                continue
            found = _LINE.fullmatch(line)
            if found is None:
                raise FileFormatError(
                    f"compare_accuracy: line {number} of {file} is no report: {line:.80}"
                )
            key = found["op"], found["tensor"]
            yield _Place(*key, seen[key]), found.groupdict()
            seen[key] += 1


def _result(first: dict[str, Any] | None, second: dict[str, Any] | None) -> str:
    if first is None or second is None:
        return f"only in the {'second' if first is None else 'first'}"
    finite = [not (int(r["nan"]) or int(r["inf"])) for r in (first, second)]
    if all(finite):
        return ""
    if any(finite):
        return f"not finite in the {'second' if finite[0] else 'first'}"
    return "not finite in both"

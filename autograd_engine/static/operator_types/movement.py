"""Types that move elements: shapes, joins, slices, gathers."""

from __future__ import annotations

from typing import Any

import autograd_engine.nn.functional as F  # noqa: N812 - the usual name
from autograd_engine.errors import ArgumentError
from autograd_engine.static.operator_types.declaring import DType, declare, dtype_name
from autograd_engine.tensor import public as paddle

_INT64 = DType(3)
_FLOAT32 = DType(5)

# --- dtypes and copies

declare(
    "cast",
    "X -> Out",
    lambda x, *, out_dtype, in_dtype: paddle.cast(x, dtype_name(out_dtype)),
    out_dtype=DType,
    in_dtype=DType(-1),
)
for _name in ("assign", "share_data"):
    declare(_name, "X -> Out", paddle.assign)
declare("memcpy", "X -> Out", lambda x, **_: paddle.assign(x), dst_place_type=0)


# --- shapes


def _reshape(x: Any, given: Any, listed: Any, *, shape: list[int]) -> Any:
    return paddle.reshape(x, given if given is not None else listed or shape)


declare("reshape", "X Shape? ShapeTensor?* -> Out", _reshape, shape=[])
declare("reshape2", "X Shape? ShapeTensor?* -> Out XShape~", _reshape, shape=[])
for _name, _slots in (("transpose", "X -> Out"), ("transpose2", "X -> Out XShape~")):
    declare(_name, _slots, lambda x, *, axis: paddle.transpose(x, axis), axis=list)
for _name, _slots in (("squeeze", "X -> Out"), ("squeeze2", "X -> Out XShape~")):
    declare(_name, _slots, lambda x, *, axes: paddle.squeeze(x, axes or None), axes=[])


def _unsqueeze(x: Any, given: Any, listed: Any, *, axes: list[int]) -> Any:
    return paddle.unsqueeze(x, given if given is not None else listed or axes)


declare("unsqueeze", "X AxesTensor? AxesTensorList?* -> Out", _unsqueeze, axes=[])
declare("unsqueeze2", "X AxesTensor? AxesTensorList?* -> Out XShape~", _unsqueeze, axes=[])
declare(
    "flatten_contiguous_range",
    "X -> Out XShape~",
    lambda x, *, start_axis, stop_axis: paddle.flatten(x, start_axis, stop_axis),
    start_axis=1,
    stop_axis=1,
)


def _to_matrix(x: Any, *, axis: int) -> Any:
    """The first `axis` axes are rows, the others columns."""
    if axis == 0:
        return paddle.reshape(x, [1, -1])
    rows = paddle.flatten(x, 0, axis - 1)
    return paddle.flatten(rows, 1, -1) if rows.ndim > 1 else paddle.unsqueeze(rows, 1)


declare("flatten", "X -> Out", _to_matrix, axis=1)
declare("flatten2", "X -> Out XShape~", _to_matrix, axis=1)


def _tile(x: Any, given: Any, listed: Any, **attrs: list[int]) -> Any:
    (times,) = attrs.values()
    return paddle.tile(x, given if given is not None else listed or times)


declare("tile", "X RepeatTimes? repeat_times_tensor?* -> Out", _tile, repeat_times=[])
declare("expand", "X ExpandTimes? expand_times_tensor?* -> Out", _tile, expand_times=[])
declare(
    "expand_v2",
    "X Shape? expand_shapes_tensor?* -> Out",
    lambda x, given, listed, *, shape: paddle.expand(
        x, given if given is not None else listed or shape
    ),
    shape=[],
)
declare(
    "expand_as_v2",
    "X Y? -> Out",
    lambda x, y, *, target_shape: (
        paddle.expand(x, target_shape) if y is None else paddle.expand_as(x, y)
    ),
    target_shape=[],
)
declare("flip", "X -> Out", lambda x, *, axis: paddle.flip(x, axis), axis=list)
declare("reverse", "X -> Out", lambda x, *, axis: paddle.flip(x, axis), axis=list)
declare(
    "roll",
    "X ShiftsTensor? -> Out",
    lambda x, given, *, shifts, axis: paddle.roll(
        x, shifts if given is None else given, axis or None
    ),
    shifts=[],
    axis=[],
)


# --- joins and parts


def _sum(xs: list[Any], **_: Any) -> Any:
    return paddle.add_n(xs)


declare("sum", "X* -> Out", _sum)
declare(
    "concat",
    "X* AxisTensor? -> Out",
    lambda xs, given, *, axis: paddle.concat(xs, axis if given is None else given),
    axis=0,
)
declare("stack", "X* -> Y", lambda xs, *, axis: paddle.stack(xs, axis), axis=0)


def _split(
    x: Any, given: Any, listed: Any, *, sections: list[int], num: int, axis: int
) -> list[Any]:
    parts = paddle.split(x, listed or sections or num, axis if given is None else given)
    return list(parts)


declare(
    "split",
    "X AxisTensor? SectionsTensorList?* -> Out*",
    _split,
    sections=[],
    num=0,
    axis=0,
)
declare(
    "unstack",
    "X -> Y*",
    lambda x, *, axis, num: list(paddle.unstack(x, axis, num or None)),
    axis=0,
    num=0,
)
declare("unbind", "X -> Out*", lambda x, *, axis: list(paddle.unbind(x, axis)), axis=0)
declare("meshgrid", "X* -> Out*", lambda xs: list(paddle.meshgrid(xs)))


def _multiplex(xs: list[Any], ids: Any) -> Any:
    return paddle.multiplex(xs, ids)


declare("multiplex", "X* Ids -> Out", _multiplex)


def _select(xs: list[Any], mask: Any) -> Any:
    """The variable that the number `mask` says."""
    if len(xs) != 2:
        raise ArgumentError(f"select_input: X must be two variables, got {len(xs)}")
    return paddle.where(paddle.cast(mask, "bool"), xs[1], xs[0])


declare("select_input", "X* Mask -> Out", _select)


# --- slices


def _slice(
    x: Any,
    starts_given: Any,
    ends_given: Any,
    starts_listed: Any,
    ends_listed: Any,
    *,
    axes: list[int],
    starts: list[int],
    ends: list[int],
    decrease_axis: list[int],
    **_: Any,
) -> Any:
    first = starts_given if starts_given is not None else starts_listed or starts
    last = ends_given if ends_given is not None else ends_listed or ends
    part = paddle.slice(x, axes, first, last)
    return paddle.squeeze(part, decrease_axis) if decrease_axis else part


declare(
    "slice",
    "Input StartsTensor? EndsTensor? StartsTensorList?* EndsTensorList?* -> Out",
    _slice,
    axes=list,
    starts=[],
    ends=[],
    infer_flags=[],
    decrease_axis=[],
)


def _strided_slice(
    x: Any,
    *,
    axes: list[int],
    starts: list[int],
    ends: list[int],
    strides: list[int],
    decrease_axis: list[int],
    **_: Any,
) -> Any:
    part = paddle.strided_slice(x, axes, starts, ends, strides)
    return paddle.squeeze(part, decrease_axis) if decrease_axis else part


declare(
    "strided_slice",
    "Input -> Out",
    _strided_slice,
    axes=list,
    starts=[],
    ends=[],
    strides=[],
    infer_flags=[],
    decrease_axis=[],
)


def _crop(x: Any, *, shape: list[int], offsets: list[int]) -> Any:
    return paddle.crop(x, shape, offsets or None)


declare("crop", "X -> Out", _crop, shape=[], offsets=[])
declare("crop_tensor", "X -> Out", _crop, shape=[], offsets=[])


# --- gathers

declare(
    "gather",
    "X Index Axis? -> Out",
    lambda x, index, given, *, axis: paddle.gather(x, index, axis if given is None else given),
    axis=0,
)
declare("gather_nd", "X Index -> Out", paddle.gather_nd)
declare(
    "index_select",
    "X Index -> Out",
    lambda x, index, *, dim: paddle.index_select(x, index, dim),
    dim=0,
)
declare("index_sample", "X Index -> Out", paddle.index_sample)
declare("masked_select", "X Mask -> Y", paddle.masked_select)
declare(
    "take_along_axis",
    "Input Index -> Result",
    lambda x, index, **attrs: paddle.take_along_axis(x, index, attrs["Axis"]),
    Axis=int,
)
declare(
    "put_along_axis",
    "Input Index Value -> Result",
    lambda x, index, value, **attrs: paddle.put_along_axis(
        x, index, value, attrs["Axis"], attrs["Reduce"]
    ),
    Axis=int,
    Reduce="assign",
    Include_self=True,
)
declare(
    "scatter",
    "X Ids Updates -> Out",
    lambda x, ids, updates, *, overwrite: paddle.scatter(x, ids, updates, overwrite),
    overwrite=True,
)
declare("scatter_nd_add", "X Index Updates -> Out", paddle.scatter_nd_add)
declare("where", "Condition X Y -> Out", paddle.where)
declare("where_index", "Condition -> Out", paddle.nonzero)


def _rows(ids: Any, w: Any, padding_idx: int, is_sparse: bool) -> Any:
    return F.embedding(ids, w, None if padding_idx == -1 else padding_idx, sparse=is_sparse)


declare(
    "lookup_table_v2",
    "Ids W -> Out",
    lambda ids, w, *, padding_idx, is_sparse, **_: _rows(ids, w, padding_idx, is_sparse),
    padding_idx=-1,
    is_sparse=False,
    is_distributed=False,
    remote_prefetch=False,
)
declare(
    "lookup_table",
    "W Ids -> Out",
    lambda w, ids, *, padding_idx, is_sparse, **_: _rows(
        paddle.squeeze(ids, -1), w, padding_idx, is_sparse
    ),
    padding_idx=-1,
    is_sparse=False,
    is_distributed=False,
    remote_prefetch=False,
)


def _one_hot(x: Any, given: Any, *, depth: int, dtype: int, **_: Any) -> Any:
    hot = F.one_hot(x, depth if given is None else given)
    name = dtype_name(dtype)
    return hot if hot.dtype == name else paddle.cast(hot, name)


declare(
    "one_hot_v2",
    "X depth_tensor? -> Out",
    _one_hot,
    depth=-1,
    dtype=_FLOAT32,
    allow_out_of_range=False,
)
declare(
    "sequence_mask",
    "X MaxLenTensor? -> Y",
    lambda x, given, *, maxlen, out_dtype: F.sequence_mask(
        x, given if given is not None else None if maxlen < 0 else maxlen, dtype_name(out_dtype)
    ),
    maxlen=-1,
    out_dtype=_INT64,
)
declare(
    "shard_index",
    "X -> Out",
    lambda x, *, index_num, nshards, shard_id, ignore_value: paddle.shard_index(
        x, index_num, nshards, shard_id, ignore_value
    ),
    index_num=int,
    nshards=int,
    shard_id=int,
    ignore_value=-1,
)

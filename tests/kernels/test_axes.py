"""What does the same as functions of NumPy that are written in Python."""

from __future__ import annotations

import numpy as np

from autograd_engine.ops.kernels.axes import backwards, line_key, take_lines, with_axes

SHAPES = [(5,), (3, 4), (2, 3, 4), (1, 1), (3, 0, 2), (2, 5000)]


def test_lines_are_numpys():
    rng = np.random.default_rng(0)
    for shape in SHAPES:
        x = rng.standard_normal(shape)
        for axis, size in enumerate(shape):
            index = np.argsort(x, axis=axis)[(*[slice(None)] * axis, slice(0, 2))]
            np.testing.assert_array_equal(
                take_lines(x, index, axis), np.take_along_axis(x, index, axis), str((shape, axis))
            )
            if size:
                index = index[(*[slice(None)] * axis, slice(0, 1))]
                found, expected = np.zeros(shape), np.zeros(shape)
                found[line_key(index, axis)] = 1.0
                np.put_along_axis(expected, index, 1.0, axis)
                np.testing.assert_array_equal(found, expected, str((shape, axis)))
            np.testing.assert_array_equal(backwards(x, axis), np.flip(x, axis))


def test_axes_are_put_in_as_by_numpy():
    for shape in SHAPES:
        x = np.zeros(shape)[..., ::-1]
        ndim = len(shape)
        for axis in [(0,), (ndim,), (-1,), (ndim - 1,), (0, 2), ()]:
            found = with_axes(x, axis)
            expected = np.expand_dims(x, axis)
            assert found.shape == expected.shape, (shape, axis)
            assert found.strides == expected.strides or 0 in shape or 1 in shape, (shape, axis)

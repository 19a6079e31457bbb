"""Samples of the operations of `linalg`: matrices far from singular, whose values differ."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .sampling import RNG, Sample, real, strided


def matrix(*shape: int) -> np.ndarray:
    """Singular values from 1 to 3, evenly spaced, between random rotations."""
    *batch, m, n = shape
    k = min(m, n)
    left, right = (np.linalg.qr(RNG.normal(size=(*batch, d, d)))[0] for d in (m, n))
    return np.asarray(left[..., :k] * np.linspace(3.0, 1.0, k) @ right[..., :k, :])


def symmetric(*shape: int) -> np.ndarray:
    """Positive definite, eigenvalues from 1 to 3."""
    *_, n = shape
    q = np.linalg.qr(RNG.normal(size=shape))[0]
    return np.asarray(q * np.linspace(1.0, 3.0, n) @ q.swapaxes(-1, -2))


def triangle(*shape: int) -> np.ndarray:
    """Full matrices whose diagonal outweighs the rest, in either triangle."""
    n = shape[-1]
    return real(*shape, low=-0.5, high=0.5) + np.eye(n) * np.linspace(1.0, 2.0, n)


def _square(make=matrix) -> list[Sample]:
    return [
        Sample("size-1", (make(1, 1),)),  # first: nonsingular even where it holds ones
        Sample("3x3", (make(3, 3),)),
        Sample("batch", (make(2, 2, 2),)),
        Sample("no-rows", (np.zeros((0, 0)),)),
        Sample("empty", (np.zeros((0, 2, 2)),)),
        Sample("strided", (strided(make(2, 2)),)),
    ]


def _rectangular(make=matrix) -> list[Sample]:
    return [
        Sample("tall", (make(4, 2),)),
        *_square(make),
        Sample("no-columns", (np.zeros((2, 3, 0)),)),
    ]


def _systems(make) -> list[Sample]:
    return [
        Sample("size-1", (make(1, 1), real(1, 2))),
        Sample("3x3", (make(3, 3), real(3, 2))),
        Sample("transposed", (make(3, 3), real(3, 1)), {"transpose": True}),
        Sample("batch", (make(2, 2, 2), real(2, 2, 1))),
        Sample("batch-a", (make(2, 2, 2), real(2, 3))),
        Sample("batch-b", (make(2, 2), real(2, 2, 2)), {"transpose": True}),
        Sample("batches-broadcast", (make(2, 1, 1, 1), real(3, 1, 2))),
        Sample("no-rows", (np.zeros((0, 0)), np.zeros((0, 2)))),
        Sample("empty", (np.zeros((0, 2, 2)), real(2, 1))),
        Sample("no-sides", (make(2, 2), np.zeros((2, 0)))),
        Sample("strided", (strided(make(2, 2)), strided(real(2, 2)))),
    ]


def _triangular() -> list[Sample]:
    flags = [(u, t, d) for u in (True, False) for t in (True, False) for d in (True, False)]
    systems = [s for s in _systems(triangle) if not s.attrs]
    return [
        *(
            Sample(
                f"{'upper' if u else 'lower'}{'-transposed' * t}{'-unit' * d}",
                (triangle(3, 3), real(3, 2)),
                {"upper": u, "transpose": t, "unitriangular": d},
            )
            for u, t, d in flags
        ),
        *(replace(s, attrs={"upper": False}) for s in systems),
    ]


def _unsmooth(sample: Sample) -> Sample:
    return replace(sample, smooth=False)


def _residuals() -> list[Sample]:
    def sample(label: str, m: int, k: int, *batch: int, smooth: bool = True) -> Sample:
        s = real(*batch, k, low=0.7, high=2.0)
        return Sample(label, (real(*batch, m, k), matrix(*batch, m, k), s), smooth=smooth)

    return [
        sample("size-1", 1, 1),
        sample("tall", 4, 2),
        sample("batch", 3, 1, 2),
        sample("square", 2, 2),
        sample("empty", 3, 2, 0),
        sample("no-columns", 2, 0),
        Sample(
            "strided",
            (strided(real(3, 2)), strided(matrix(3, 2)), strided(real(2, low=0.7, high=2.0))),
        ),
    ]


def _within_one(*shape: int) -> np.ndarray:
    return real(*shape, low=-1.0, high=1.0)


def _exponents() -> list[Sample]:
    return [
        Sample("3x3", (real(3, 3, low=-1.0, high=1.0),)),
        Sample("squared", (real(2, 2, low=-6.0, high=2.0) * np.asarray([[1.0], [0.2]]),)),
        *[s for s in _square(_within_one) if s.label != "3x3"],
    ]


def _mirrored() -> list[Sample]:
    samples = [Sample("upper", (real(3, 3),), {"upper": True}), *_square(real)]
    # The identity on symmetric matrices and their symmetric changes; differences are not these.
    return [_unsmooth(s) for s in samples]


def _identities() -> list[Sample]:
    return [
        Sample("3x3", (np.zeros((3, 3)),)),
        Sample("tall", (np.zeros((3, 2)),)),
        Sample("wide", (np.zeros((2, 3)),)),
        Sample("batch", (np.zeros((2, 2, 2)),)),
        Sample("empty", (np.zeros((0, 2, 2)),)),
        Sample("no-rows", (np.zeros((0, 0)),)),
    ]


# Exchanges of rows that make a cycle of three, which is not its own inverse.
_PIVOTS = np.asarray([2, 3, 3], np.int32)

# A matrix that `lu` exchanges the rows of in that way.
_CYCLE = np.asarray([[0.2, 0.4, 3.0], [2.0, 0.5, -1.0], [-0.4, 1.5, 0.6]])


def _exchanges() -> list[Sample]:
    return [
        Sample("plain", (real(3, 2), _PIVOTS), {"backwards": False}),
        Sample("backwards", (real(3, 2), _PIVOTS), {"backwards": True}),
        Sample("batch", (real(2, 3, 1), np.stack([_PIVOTS, _PIVOTS[[1, 1, 2]]]))),
        Sample("fewer", (real(3, 2), _PIVOTS[:1])),
        Sample("empty", (np.zeros((0, 2, 2)), np.zeros((0, 2), np.int32))),
        Sample("strided", (strided(real(3, 2)), _PIVOTS)),
    ]


def _pairs(*shapes: tuple[int, ...]) -> list[tuple[np.ndarray, ...]]:
    return [(real(*s), real(*s)) for s in shapes]


def _dft() -> list[Sample]:
    plain, middle, odd, one, empty, columns = _pairs((4,), (2, 3, 1), (2, 5), (1,), (0, 3), (2, 4))
    return [
        Sample("vector", plain, {"axis": 0}),
        Sample("middle", middle, {"axis": 1, "scale": "ortho"}),
        Sample("inverse", odd, {"axis": 1, "inverse": True, "scale": "by_n"}),
        Sample("size-1", one, {"axis": 0, "inverse": True}),
        Sample("empty", empty, {"axis": 1}),
        Sample("strided", tuple(strided(a) for a in columns), {"axis": 0, "scale": "by_n"}),
    ]


HALVES = {
    "even": (4, 0, {"scale": "none"}),
    "odd": (5, 0, {"scale": "by_n"}),
    "doubled-even": (4, 1, {"scale": "ortho", "doubled": True}),
    "doubled-odd": (3, 0, {"scale": "none", "doubled": True}),
    "size-1": (1, 1, {"scale": "none", "doubled": True}),
    "size-2": (2, 0, {"scale": "by_n"}),
}


def _halves(kind: str) -> list[Sample]:
    samples = []
    for label, (n, axis, attrs) in HALVES.items():
        whole = (n, 2) if axis == 0 else (2, n)
        half = tuple(n // 2 + 1 if k == axis else d for k, d in enumerate(whole))
        if kind == "to":
            samples.append(Sample(label, (real(*whole),), {"axis": axis, **attrs}))
        elif kind == "from":
            attrs = {"n": n, "axis": axis, **attrs}
            samples.append(Sample(label, (real(*half), real(*half)), attrs))
        else:
            operands = (real(*half), real(*half), np.zeros(whole))
            samples.append(Sample(label, operands, {"axis": axis, **attrs}))
    empty = {
        "to": Sample("empty", (real(0, 4),), {"axis": 1}),
        "from": Sample("empty", (real(0, 3), real(0, 3)), {"n": 4, "axis": 1}),
        "like": Sample("empty", (real(0, 3), real(0, 3), np.zeros((0, 4))), {"axis": 1}),
    }
    return [*samples, empty[kind]]


def _complex(*shape: int) -> np.ndarray:
    return np.asarray(real(*shape) + 1j * real(*shape))


def _fourier() -> list[Sample]:
    def sample(kind: str, x: np.ndarray, s=None, axes=(0,), norm: str = "backward") -> Sample:
        attrs = {"kind": kind, "s": s, "axes": axes, "norm": norm}
        label = f"{kind}-{norm}{'-sized' * (s is not None)}{len(axes)}-{x.dtype.kind}"
        return Sample(label, (x,), attrs, smooth=False)

    return [
        sample("fftn", real(4, 2)),
        sample("fftn", _complex(3, 2), axes=(0, 1), norm="ortho"),
        sample("ifftn", _complex(2, 3), (4,), (1,), "forward"),
        sample("rfftn", real(3, 4), axes=(0, 1)),
        sample("irfftn", _complex(3, 2), (5,)),
        sample("hfftn", _complex(3, 2), norm="ortho"),
        sample("ihfftn", real(4, 2), (3,), (0,)),
    ]


def _like(*shapes: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    return tuple(np.zeros(s) for s in shapes)


SAMPLES: dict[str, list[Sample]] = {
    "inv": _square(),
    "solve": _systems(matrix),
    "triangular_solve": _triangular(),
    "det": [
        *_square(),
        Sample("singular", (np.asarray([[1.0, 2.0, 0.0], [0.5, 1.0, 0.0], [1.0, -1.0, 2.0]]),)),
        Sample("rank-1", (np.outer([1.0, -2.0, 0.5], [0.5, 1.5, 1.0]),)),
        Sample("zero", (np.zeros((1, 1)),)),
    ],
    "cofactor": _square(),
    "cofactor_tangent": [
        replace(s, operands=(*s.operands, real(*s.operands[0].shape))) for s in _square()
    ],
    "slogdet": _square(),
    "pinv": [*_rectangular(), Sample("wide", (matrix(2, 3),), {"rcond": 1e-10})],
    "matrix_exp": _exponents(),
    "eye_like": _identities(),
    "mirror_triangle": _mirrored(),
    "cholesky": [*_square(symmetric), Sample("upper", (symmetric(3, 3),), {"upper": True})],
    "qr": _rectangular(),
    "qr_complete": [*_rectangular(), Sample("wide", (matrix(2, 3),))],
    "svd": [*_rectangular(), Sample("wide", (matrix(2, 2, 4),))],
    "svd_full": [*_rectangular()[:5], Sample("wide", (matrix(2, 3),))],
    "residual_over": _residuals(),
    "eigh": _square(symmetric),
    "eig": [_unsmooth(s) for s in _square(symmetric)],
    "lu": [*_square(), Sample("cycle-of-rows", (_CYCLE,))],
    "lu_rectangular": [
        Sample("tall", (matrix(4, 2),)),
        Sample("wide", (matrix(2, 2, 3),)),
        Sample("singular", (np.asarray([[0.0, 1.0], [0.0, 2.0]]),)),
    ],
    "exchange_rows": _exchanges(),
    "permutation_like": [
        Sample("square", (_PIVOTS, np.zeros((3, 3)))),
        Sample("tall", (np.asarray([[2, 2], [3, 3]], np.int32), np.zeros((2, 3, 2)))),
        Sample("empty", (np.zeros((0, 2), np.int32), np.zeros((0, 2, 2)))),
    ],
    "merge_axes": [
        Sample("front", (real(2, 3, 2),), {"counts": (2, 1)}),
        Sample("back", (real(2, 3, 2),), {"counts": (1, 2)}),
        Sample("all", (real(2, 3),), {"counts": (2,)}),
        Sample("new", (real(2, 3),), {"counts": (0, 2, 0)}),
        Sample("0-d", (real(),), {"counts": (0, 0)}),
        Sample("empty", (real(0, 3),), {"counts": (2,)}),
        Sample("strided", (strided(real(2, 3, 2)),), {"counts": (1, 2)}),
    ],
    "unmerge_axes": [
        Sample("two", (real(2, 3), *_like((2, 5), (4, 3))), {"sources": ((0, 0), (1, 1))}),
        Sample("apart", (real(6, 2), *_like((2, 3), (2,))), {"sources": ((0, 0), (0, 1), (1, 0))}),
        Sample("0-d", (real(1, 1), *_like((2,), (2,))), {"sources": ()}),
        Sample("empty", (real(0, 2), *_like((3, 0), (2,))), {"sources": ((0, 0), (0, 1), (1, 0))}),
        Sample(
            "strided",
            (strided(real(2, 6)), *_like((2,), (3, 2))),
            {"sources": ((0, 0), (1, 0), (1, 1))},
        ),
    ],
    "dft": _dft(),
    "half_spectrum": _halves("to"),
    "from_half_spectrum": _halves("from"),
    "from_half_spectrum_like": _halves("like"),
    "fourier": _fourier(),
    "real_part": [
        Sample("plain", (_complex(2, 3),), smooth=False),
        Sample("0-d", (_complex(),), smooth=False),
        Sample("empty", (_complex(0, 3),), smooth=False),
    ],
    "imag_part": [
        Sample("plain", (_complex(2, 3),), smooth=False),
        Sample("0-d", (_complex(),), smooth=False),
        Sample("empty", (_complex(0, 3),), smooth=False),
    ],
    "to_complex": [
        Sample("plain", (real(2, 3), real(2, 3)), smooth=False),
        Sample("row", (real(2, 3), real(3)), smooth=False),
        Sample("0-d", (real(), real()), smooth=False),
    ],
    "angle": [
        Sample("complex", (_complex(2, 3),), smooth=False),
        Sample("real", (real(2, 3),)),
        Sample("0-d", (real(),)),
    ],
}

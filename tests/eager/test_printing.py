"""Tensor printing, held to texts that PaddlePaddle 3.3.1 printed."""

import sys
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, asdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy import inf, nan
from numpy.typing import ArrayLike, NDArray

from autograd_engine.eager.printing import (
    PrintOptions,
    format_array,
    format_tensor,
    get_printoptions,
    set_printoptions,
)
from autograd_engine.eager.tensor import Parameter


@pytest.fixture(autouse=True)
def default_options() -> Iterator[None]:
    yield
    set_printoptions(**asdict(PrintOptions()))


def f32(values: ArrayLike) -> NDArray[Any]:
    return np.array(values, np.float32)


def f64(values: ArrayLike) -> NDArray[Any]:
    return np.array(values, np.float64)


def case(name: str, data: NDArray[Any], text: str, **options: Any) -> Any:
    return pytest.param(data, text, options, id=name)


# A text of several lines begins on its own, under the seven columns of "Tensor(".
BODIES = [
    case(
        "whole floats",
        f32([[12, 18], [17, 25]]),
        """
       [[12., 18.],
        [17., 25.]]""",
    ),
    case("whole floats padded", f32([1, 2, 30]), "[1. , 2. , 30.]"),
    case("mixed floats", f32([1.5, 2.25, 30]), "[1.50000000, 2.25000000, 30.       ]"),
    case("sign fits beside shorter", f32([-1, 2.5, 3]), "[-1.       , 2.50000000,  3.       ]"),
    case("negative widest", f64([-1.5, 1, -20]), "[-1.50000000,  1.        , -20.       ]"),
    case(
        "minus zero", f64([-0.0, -1, 2.5, 100]), "[ -0.      , -1.       , 2.50000000,  100.     ]"
    ),
    case(
        "not finite", f32([nan, inf, -inf, 1.5]), "[ nan      ,  inf.     , -inf.     , 1.50000000]"
    ),
    case("not finite among whole", f32([nan, inf, -inf, 1]), "[ nan ,  inf., -inf.,  1.  ]"),
    case("nan alone", f32([nan, nan]), "[nan, nan]"),
    case("big", f32([1e20, 1.5]), "[100000002004087734272., 1.50000000            ]"),
    case(
        "small",
        f64([1e-20, 5e-9, -1e-9, 1]),
        "[ 0.00000000,  0.00000001, -0.00000000,  1.        ]",
    ),
    case("0-d float", f32(3.14159265), "3.14159274"),
    case("0-d whole", f64(-3), "-3."),
    case("0-d int", np.array(-5), "-5"),
    case("0-d bool", np.array(True), "True"),
    case("0-d inf", f32(-inf), "-inf."),
    case("0-d complex", np.array(1 - 2j, np.complex64), "(1.00000000-2.00000000j)"),
    case("float16", np.array([65504, 0.1, -2], np.float16), "[ 65504.   , 0.09997559, -2.       ]"),
    case("int64", np.array([1, -20, 300]), "[ 1 , -20, 300]"),
    case(
        "int64 extremes",
        np.array([-(2**63), 2**63 - 1]),
        "[-9223372036854775808,  9223372036854775807]",
    ),
    case(
        "int8",
        np.array([[-1, 2], [3, -44]], np.int8),
        """
       [[-1 ,  2 ],
        [ 3 , -44]]""",
    ),
    case("uint8", np.array([1, 200], np.uint8), "[1  , 200]"),
    case(
        "bool",
        np.array([[True, False], [True, True]]),
        """
       [[True , False],
        [True , True ]]""",
    ),
    case(
        "complex64",
        np.array([1 + 2j, 3.5 - 4j], np.complex64),
        "[(1.00000000+2.00000000j), (3.50000000-4.00000000j)]",
    ),
    case(
        "complex128 negative",
        np.array([-1 - 2j, 1 - 1j, 10j]),
        """
       [(-1.00000000-2.00000000j),  (1.00000000-1.00000000j),
        (0.00000000+10.00000000j)]""",
    ),
    case(
        "complex not finite",
        np.array([complex(nan, inf), complex(-inf, -1)]),
        "[ (nan+infj)       , (-inf-1.00000000j)]",
    ),
    case("empty", f32([]), "[]"),
    case(
        "empty rows",
        np.zeros((2, 0)),
        """
       [[],
        []]""",
    ),
    case("no rows", np.zeros((0, 3)), "[]"),
    case(
        "empty blocks",
        np.zeros((2, 0, 3)),
        """
       [[],

        []]""",
    ),
    case(
        "wrapped",
        np.arange(14, dtype=np.float32) / 7,
        """
       [0.        , 0.14285715, 0.28571430, 0.42857143, 0.57142860, 0.71428573,
        0.85714287, 1.        , 1.14285719, 1.28571427, 1.42857146, 1.57142854,
        1.71428573, 1.85714281]""",
    ),
    case(
        "wrapped rows",
        np.arange(50).reshape(2, 25),
        """
       [[0 , 1 , 2 , 3 , 4 , 5 , 6 , 7 , 8 , 9 , 10, 11, 12, 13, 14, 15, 16, 17,
         18, 19, 20, 21, 22, 23, 24],
        [25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42,
         43, 44, 45, 46, 47, 48, 49]]""",
    ),
    case(
        "3-d",
        np.arange(12).reshape(2, 2, 3),
        """
       [[[0 , 1 , 2 ],
         [3 , 4 , 5 ]],

        [[6 , 7 , 8 ],
         [9 , 10, 11]]]""",
    ),
    case(
        "4-d",
        np.arange(8.0).reshape(2, 2, 1, 2) / 2,
        """
       [[[[0.        , 0.50000000]],

         [[1.        , 1.50000000]]],


        [[[2.        , 2.50000000]],

         [[3.        , 3.50000000]]]]""",
    ),
    case(
        "5-d",
        np.arange(4.0).reshape(2, 1, 2, 1, 1),
        """
       [[[[[0.]],

          [[1.]]]],



        [[[[2.]],

          [[3.]]]]]""",
    ),
    case(
        "measured by the ends",
        f64([0, 1, 4, 9, -16000, 25, 36, 49, 4]),
        "[0. , 1. , 4. , 9. , -16000., 25., 36., 49., 4. ]",
    ),
    case(
        "summarised",
        np.arange(1001, dtype=np.float32),
        "[0.   , 1.   , 2.   , ..., 998. , 999. , 1000.]",
    ),
    case(
        "summarised, hidden values unmeasured",
        np.where(np.arange(1001) == 500, -1e30, np.arange(1001)),
        "[0.   , 1.   , 2.   , ..., 998. , 999. , 1000.]",
    ),
    case(
        "summarised rows",
        np.arange(2000.0).reshape(1000, 2) * 1.5,
        """
       [[0.           , 1.50000000   ],
        [3.           , 4.50000000   ],
        [6.           , 7.50000000   ],
        ...,
        [2991.        , 2992.50000000],
        [2994.        , 2995.50000000],
        [2997.        , 2998.50000000]]""",
    ),
    case(
        "summarised both",
        np.arange(2000).reshape(20, 100) - 1000,
        """
       [[-1000, -999 , -998 , ..., -903 , -902 , -901 ],
        [-900 , -899 , -898 , ..., -803 , -802 , -801 ],
        [-800 , -799 , -798 , ..., -703 , -702 , -701 ],
        ...,
        [ 700 ,  701 ,  702 , ...,  797 ,  798 ,  799 ],
        [ 800 ,  801 ,  802 , ...,  897 ,  898 ,  899 ],
        [ 900 ,  901 ,  902 , ...,  997 ,  998 ,  999 ]]""",
    ),
    case(
        "summarised 3-d",
        np.arange(1200).reshape(2, 300, 2),
        """
       [[[0   , 1   ],
         [2   , 3   ],
         [4   , 5   ],
         ...,
         [594 , 595 ],
         [596 , 597 ],
         [598 , 599 ]],

        [[600 , 601 ],
         [602 , 603 ],
         [604 , 605 ],
         ...,
         [1194, 1195],
         [1196, 1197],
         [1198, 1199]]]""",
    ),
    case(
        "summarised complex",
        np.arange(2000) * (1 - 1j),
        """
       [(0.00000000+0.00000000j)      , (1.00000000-1.00000000j)      ,
        (2.00000000-2.00000000j)      , ...,
        (1997.00000000-1997.00000000j), (1998.00000000-1998.00000000j),
        (1999.00000000-1999.00000000j)]""",
    ),
    case("precision", f32([0.1, 100.123, -3]), "[ 0.10 , 100.12, -3.   ]", precision=2),
    case("precision 0", f64([1, 2.5, -100.7, inf]), "[ 1. ,  2  , -101, inf.]", precision=0),
    case(
        "sci_mode",
        f32([1 / 3, -1e20, 0, nan, inf]),
        """
       [ 3.33333343e-01, -1.00000002e+20,  0.00000000e+00,  nan           ,
         inf           ]""",
        sci_mode=True,
    ),
    case(
        "sci_mode complex",
        np.array([-1 + 2j, 3]),
        "[(-1.000e+00+2.000e+00j),  (3.000e+00+0.000e+00j)]",
        sci_mode=True,
        precision=3,
    ),
    case("sci_mode int", np.array([1, 2]), "[1, 2]", sci_mode=True),
    case("threshold", np.arange(10), "[0, 1, 2, ..., 7, 8, 9]", threshold=9),
    case(
        "threshold not exceeded",
        np.arange(10),
        "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]",
        threshold=10,
        edgeitems=2,
    ),
    case("threshold below the ends", np.arange(6), "[0, 1, 2, 3, 4, 5]", threshold=0),
    case(
        "edgeitems",
        np.arange(27).reshape(3, 9),
        """
       [[0 , ..., 8 ],
        ...,
        [18, ..., 26]]""",
        threshold=5,
        edgeitems=1,
    ),
    case("edgeitems 0", np.arange(27).reshape(3, 9), "[...]", threshold=5, edgeitems=0),
    case(
        "linewidth",
        np.arange(16).reshape(2, 8),
        """
       [[0 , 1 , 2 ,
         3 , 4 , 5 ,
         6 , 7 ],
        [8 , 9 , 10,
         11, 12, 13,
         14, 15]]""",
        linewidth=20,
    ),
    case(
        "linewidth of one",
        np.arange(2),
        """
       [0,
        1]""",
        linewidth=1,
    ),
    case(
        "linewidth summarised",
        np.arange(2000),
        """
       [0   , 1   ,
        2   , ...,
        1997, 1998,
        1999]""",
        linewidth=20,
    ),
    case("edgeitems 0, not summarised", f64([1.5, 2]), "[1.50000000, 2.        ]", edgeitems=0),
]


@pytest.mark.parametrize(("data", "text", "options"), BODIES)
def test_body_is_that_of_paddle(data: NDArray[Any], text: str, options: dict[str, Any]) -> None:
    set_printoptions(**options)
    assert format_array(data, indent=7) == text.lstrip()


@pytest.mark.parametrize(
    ("data", "dtype_name", "stop_gradient", "text"),
    [
        (
            f32([[12, 18], [17, 25]]),
            "float32",
            False,
            "Tensor(shape=[2, 2], dtype=float32, place=Place(cpu), stop_gradient=False,\n"
            "       [[12., 18.],\n"
            "        [17., 25.]])",
        ),
        (
            np.array(True),
            "bool",
            True,
            "Tensor(shape=[], dtype=bool, place=Place(cpu), stop_gradient=True,\n       True)",
        ),
        (
            np.zeros((0, 3)),
            "float64",
            True,
            "Tensor(shape=[0, 3], dtype=float64, place=Place(cpu), stop_gradient=True,\n       [])",
        ),
        # NumPy has no bfloat16: the heading names the dtype it is told, whatever holds the data.
        (
            f32([1.5, 2, -3]),
            "bfloat16",
            True,
            "Tensor(shape=[3], dtype=bfloat16, place=Place(cpu), stop_gradient=True,\n"
            "       [1.50000000,  2.       , -3.       ])",
        ),
    ],
)
def test_heading_is_that_of_paddle(
    data: NDArray[Any], dtype_name: str, stop_gradient: bool, text: str
) -> None:
    assert format_tensor(data, dtype_name=dtype_name, stop_gradient=stop_gradient) == text


def test_a_parameter_says_so_on_a_line_of_its_own() -> None:
    assert repr(Parameter(f32([[1], [2]]))) == (
        "Parameter containing:\n"
        "Tensor(shape=[2, 1], dtype=float32, place=Place(cpu), stop_gradient=False,\n"
        "       [[1.],\n"
        "        [2.]])"
    )


def test_strided_and_read_only_data_print_in_index_order() -> None:
    data = np.arange(6).reshape(2, 3).T
    data.flags.writeable = False
    assert format_array(data, indent=0) == "[[0, 3],\n [1, 4],\n [2, 5]]"


def test_huge_array_is_only_read_at_its_ends() -> None:
    # 1e12 elements that share one cell of memory: reading them all would not end.
    data = np.broadcast_to(f32(2), (10**6, 10**6))
    row = "[2., 2., 2., ..., 2., 2., 2.]"
    assert format_array(data, indent=0) == (
        f"[{row},\n {row},\n {row},\n ...,\n {row},\n {row},\n {row}]"
    )


def test_empty_rows_are_summarised() -> None:
    # Paddle prints a line for each of the million rows.
    text = format_array(np.zeros((10**6, 0)), indent=0)
    assert text == "[[],\n [],\n [],\n ...,\n [],\n [],\n []]"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (complex(1, nan), "(1.00000000+nanj)"),  # Paddle: (1.00000000nanj)
        (complex(nan, nan), "(nan+nanj)"),  # Paddle: (nannanj)
        (complex(0.0, -0.0), "(0.00000000-0.00000000j)"),  # Paddle: (0.00000000+-0.00000000j)
        (complex(-0.0, 0.0), "(-0.00000000+0.00000000j)"),
    ],
)
def test_complex_text_can_be_read_back(value: complex, text: str) -> None:
    assert format_array(np.array(value), indent=0) == text
    assert repr(complex(text)) == repr(value)


def test_options_left_out_are_kept() -> None:
    assert get_printoptions() == PrintOptions(8, 1000, 3, 80, False)
    before = get_printoptions()
    set_printoptions(precision=4, linewidth=100)
    set_printoptions(threshold=sys.maxsize, edgeitems=0)
    set_printoptions(sci_mode=True)
    set_printoptions()
    assert get_printoptions() == PrintOptions(4, sys.maxsize, 0, 100, True)
    assert before == PrintOptions()


def test_options_are_positional_in_the_order_of_paddle() -> None:
    set_printoptions(4, 100, 2, True, 60)
    assert get_printoptions() == PrintOptions(4, 100, 2, linewidth=60, sci_mode=True)


def test_options_take_numpy_scalars() -> None:
    set_printoptions(precision=np.int64(3), sci_mode=np.bool_(True))  # type: ignore[arg-type]
    options = get_printoptions()
    assert type(options.precision) is int
    assert type(options.sci_mode) is bool


def test_options_in_force_cannot_be_edited() -> None:
    with pytest.raises(FrozenInstanceError):
        get_printoptions().precision = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"precision": -1}, ValueError, "precision must be 0 to 1074, not -1; write"),
        ({"precision": 1075}, ValueError, "precision must be 0 to 1074, not 1075; write"),
        ({"threshold": -1}, ValueError, "threshold must be 0 or more, not -1; write"),
        ({"edgeitems": -1}, ValueError, "edgeitems must be 0 or more, not -1; write"),
        ({"linewidth": 0}, ValueError, "linewidth must be 1 or more, not 0; write"),
        ({"precision": 1.5}, TypeError, "precision must be an integer, not 1.5; write"),
        ({"precision": True}, TypeError, "precision must be an integer, not True; write"),
        ({"threshold": inf}, TypeError, "threshold must be an integer, not inf; write"),
        ({"edgeitems": "3"}, TypeError, "edgeitems must be an integer, not '3'; write"),
        ({"linewidth": [80]}, TypeError, "linewidth must be an integer, not [80]; write"),
        ({"sci_mode": 1}, TypeError, "write sci_mode=True or False, not 1"),
    ],
)
def test_bad_option_is_refused_and_changes_nothing(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        set_printoptions(**{"precision": 2, "threshold": 7} | options)
    text = str(caught.value)
    assert message in text
    (name,) = options
    default = True if name == "sci_mode" else getattr(PrintOptions, name)
    assert f"{name}={default}" in text, "the error names what to type instead"
    assert get_printoptions() == PrintOptions()


def numbers(text: str) -> list[str]:
    return text.replace("[", " ").replace("]", " ").replace(",", " ").split()


@given(
    arrays(
        st.sampled_from([np.float16, np.float32, np.float64]),
        array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5),
        elements=st.floats(-1e4, 1e4, width=16),
    )
)
def test_fixed_point_reads_back_to_eight_digits(data: NDArray[Any]) -> None:
    read = np.array(numbers(format_array(data, indent=7)), np.float64)
    # Half a unit of the eighth digit, and the rounding of the subtraction.
    np.testing.assert_allclose(read, data.ravel().astype(np.float64), rtol=0, atol=0.501e-8)


@given(
    arrays(
        np.float64,
        array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5),
        elements=st.floats(allow_infinity=True, allow_nan=True),
    )
)
def test_seventeen_digits_read_back_exactly(data: NDArray[Any]) -> None:
    set_printoptions(precision=16, sci_mode=True)
    read = np.array(numbers(format_array(data, indent=7)), np.float64)
    np.testing.assert_array_equal(read, data.ravel(), strict=True)

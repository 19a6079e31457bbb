"""`amp.debugging`: what ran in which dtype, and what was not finite."""

import csv

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import (
    AnomalyError,
    ArgumentError,
    FileFormatError,
    MissingFileError,
    NotATensorError,
)

debugging = paddle.amp.debugging
DebugMode, TensorCheckerConfig = debugging.DebugMode, debugging.TensorCheckerConfig
F = paddle.nn.functional


@pytest.fixture(autouse=True)
def switched_off(capsys):
    yield
    debugging.disable_tensor_checker()
    debugging.disable_operator_stats_collection()


def train(dtype="float16", level="O1"):
    paddle.seed(0)
    net = paddle.nn.Linear(3, 2)
    with paddle.amp.auto_cast(level=level, dtype=dtype, enable=level != "O0"):
        loss = F.softmax(net(paddle.ones([4, 3]))).sum()
    loss.backward()
    return loss


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_operations_are_counted_by_their_dtype(capsys, dtype):
    at = ["float16", "bfloat16"].index(dtype)
    low = [int(k == at) for k in range(4)]
    with debugging.collect_operator_stats() as stats:
        train(dtype)
    assert stats["matmul"] == stats["matmul_grad"] == stats["add"] == low
    assert stats["softmax"] == stats["softmax_grad"] == [0, 0, 1, 0]
    # Three operands to the low dtype, what softmax reads back, and the cotangents of these.
    assert sum(stats["cast"]) == 4
    assert capsys.readouterr().out == f"{stats}\n"
    before = dict(stats)
    train(dtype)
    assert stats == before


def test_counting_from_a_call_to_another(capsys):
    debugging.disable_operator_stats_collection()
    debugging.enable_operator_stats_collection()
    train()
    x, n = paddle.ones([2]), paddle.zeros([2], "int64")
    debugging.enable_operator_stats_collection()  # anew
    x + x
    n + 1
    debugging.disable_operator_stats_collection()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines if line.startswith("  add ")] == [
        ["add", "|", "0", "|", "0", "|", "1", "|", "1"]
    ]
    assert "op count: 1" in lines[-1]
    paddle.ones([2]) + paddle.ones([2])
    debugging.disable_operator_stats_collection()
    assert not capsys.readouterr().out


def test_what_is_traced_is_run_and_counted():
    traced = paddle.jit.to_static(lambda x: (x @ x).sum())
    x = paddle.ones([2, 2])
    traced(x)
    with debugging.collect_operator_stats() as stats:
        traced(x)
    assert stats == {"matmul": [0, 0, 1, 0], "sum": [0, 0, 1, 0]}


def test_an_error_inside_ends_the_counting():
    with pytest.raises(ZeroDivisionError), debugging.collect_operator_stats() as stats:
        raise ZeroDivisionError
    paddle.ones([2]) + 1.0
    assert stats == {}


def test_the_checker_names_the_operation_and_the_line():
    x = paddle.to_tensor([1.0, 0.0], stop_gradient=False)
    debugging.enable_tensor_checker(TensorCheckerConfig(True))
    message = r"log at test_debugging.py:\d+ \(paddle.log\(x\)\): of 'out', float32, 1 of 2 el"
    with pytest.raises(AnomalyError, match=message):
        paddle.log(x)
    y = paddle.sqrt(x)
    with pytest.raises(AnomalyError, match=r"sqrt_grad at test_debugging.py.*of 'x@GRAD', float32"):
        y.sum().backward()
    debugging.disable_tensor_checker()
    with np.errstate(all="ignore"):
        assert paddle.log(x).tolist() == [0.0, -np.inf]


@pytest.mark.parametrize(
    ("mode", "found"),
    [
        (DebugMode.CHECK_NAN_INF, ["log"]),
        (DebugMode.CHECK_ALL_FOR_OVERFLOW, ["log", "multiply"]),
        (DebugMode.CHECK_ALL, ["log", "multiply", "add"]),
    ],
)
def test_reports_of_what_is_looked_for(capsys, mode, found):
    x = paddle.to_tensor([1.0, 0.0])
    with np.errstate(divide="raise"):
        debugging.enable_tensor_checker(TensorCheckerConfig(True, mode))
        paddle.log(x)
        x * 70000.0
        x + 1.0
        debugging.disable_tensor_checker()
        with pytest.raises(FloatingPointError):
            paddle.log(x)
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition("op=")[2].partition(",")[0] for line in lines] == found
    assert lines[0].startswith("[PRECISION] [ERROR] in [device=cpu, op=log, tensor=out, dtype=fl")
    assert "num_nan=0, num_inf=1, num_zero=1, max=0.000000e+00, min=-inf, mean=-inf" in lines[0]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_lists_and_steps_choose_what_is_looked_at(capsys):
    x, infinite = paddle.to_tensor([0.0]), DebugMode.CHECK_NAN_INF

    def reported(**given):
        debugging.enable_tensor_checker(TensorCheckerConfig(True, infinite, **given))
        paddle.log(x)
        1.0 / x
        debugging.disable_tensor_checker()
        return [part.partition(",")[0] for part in capsys.readouterr().out.split("op=")[1:]]

    assert reported() == ["log", "divide"]
    assert reported(checked_op_list=["log"]) == ["log"]
    assert reported(skipped_op_list=("elementwise_div",)) == ["log"]
    TensorCheckerConfig.current_step_id = 0
    assert [reported(debug_step=[1, 3]) for _ in range(4)] == [[], *[["log", "divide"]] * 2, []]


def test_check_numerics_counts():
    x = paddle.to_tensor([np.nan, np.inf, 0.0, 2.0], dtype="bfloat16")
    with pytest.raises(AnomalyError, match=r"mul at test_.*'y', bfloat16, 1 of 4 elements are"):
        debugging.check_numerics(x, "mul", "y")
    stats, values = debugging.check_numerics(x[2:], "mul", "y")
    assert (stats.dtype, stats.tolist()) == ("int64", [0, 0, 1])
    assert (values.dtype, values.tolist()) == ("float32", [2.0, 0.0, 1.0])
    empty = debugging.check_numerics(paddle.zeros([0]), "mul", "y")
    assert [t.tolist() for t in empty] == [[0, 0, 0], [0.0, 0.0, 0.0]]


def test_a_layer_checks_what_it_is_given_and_makes():
    class Logarithm(paddle.nn.Layer):
        @debugging.check_layer_numerics
        def forward(self, x, scale=1.0):
            """log"""
            return paddle.log(x) * scale

    layer = Logarithm()
    assert layer(paddle.ones([2]), scale=2.0).tolist() == [0.0, 0.0]
    assert layer.forward.__doc__ == "log"
    with pytest.raises(AnomalyError, match="log at test_debugging"):
        layer(paddle.zeros([2]))
    with pytest.raises(AnomalyError, match=r"Logarithm.forward at .*'input 0'"):
        layer(paddle.to_tensor([np.nan]))


def test_runs_are_compared_by_what_they_report(tmp_path):
    table = tmp_path / "compared.csv"
    for name in ("single", "half"):
        config = TensorCheckerConfig(True, DebugMode.CHECK_ALL, str(tmp_path / name))
        debugging.enable_tensor_checker(config)
        w = paddle.full([2, 2], 300.0)
        w.stop_gradient = False
        with paddle.amp.auto_cast(enable=name == "half"):
            y = (w @ w).astype("float32").sum() * (8.0 if name == "half" else 1.0)
        y.backward()
        debugging.disable_tensor_checker()
    debugging.compare_accuracy(str(tmp_path / "single"), str(tmp_path / "half"), str(table), 8.0)
    with table.open() as file:
        rows = {(r["operation"], r["tensor"]): r for r in csv.DictReader(file)}
    product = rows["matmul", "out"]
    assert product["result"] == "not finite in the second"
    assert (product["dtype of the first"], product["dtype of the second"]) == ("float32", "float16")
    assert (product["inf of the first"], product["inf of the second"]) == ("0", "4")
    gradient = rows["matmul_grad", "x@GRAD"]
    assert gradient["max of the first"] == gradient["max of the second"] == "6.000000e+02"
    assert rows["cast", "out"]["result"] == "only in the second"
    with pytest.raises(MissingFileError, match=r"output_dir.*CHECK_ALL"):
        debugging.compare_accuracy(str(tmp_path / "none"), str(tmp_path / "half"), str(table))
    next((tmp_path / "half").glob("*.log")).write_text("[PRECISION] what\n")
    with pytest.raises(FileFormatError, match=r"line 1 of .* is no report"):
        debugging.compare_accuracy(str(tmp_path / "single"), str(tmp_path / "half"), str(table))


def test_what_is_given_wrongly():
    x = paddle.ones([2])
    for call, text in (
        (lambda: TensorCheckerConfig(1), "True or False"),
        (lambda: TensorCheckerConfig(True, 2), r"DebugMode.CHECK_NAN_INF_AND_ABORT, .*got 2"),
        (lambda: TensorCheckerConfig(True, checked_op_list="log"), r"checked_op_list=\['matmul'\]"),
        (lambda: TensorCheckerConfig(True, skipped_op_list=["lug"]), "'lug', which is no op"),
        (lambda: TensorCheckerConfig(True, debug_step=3), r"debug_step=\[0, 10\]"),
        (lambda: TensorCheckerConfig(True, debug_step=[3, 3]), "must end after it begins"),
        (lambda: debugging.enable_tensor_checker(True), "takes a TensorCheckerConfig, got bool"),
        (lambda: debugging.check_numerics(x.astype("int64"), "", ""), "floats, got one of int64"),
        (lambda: debugging.compare_accuracy("a", "b", "c.xlsx"), r"must end with '\.csv'"),
        (lambda: debugging.compare_accuracy("a", "b", "c.csv", 0), "above 0"),
        (lambda: debugging.compare_accuracy("a", "b", "c.csv", 1, True), "must be False"),
    ):
        with pytest.raises(ArgumentError, match=text):
            call()
    with pytest.raises(NotATensorError, match="takes a Tensor, got list"):
        debugging.check_numerics([1.0], "", "")

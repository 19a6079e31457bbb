"""`dump_backward_graph_path`: three files for each pass."""

import re
from pathlib import Path
from typing import Any

import pytest

import autograd_engine as paddle
from autograd_engine.errors import NoHistoryWarning

NAME = re.compile(
    r"\d{4}-\d\d-\d\d_\d\d:\d\d:\d\d\.\d{6}_(backward_graph\.dot|ref_forward_graph\.dot|call_stack\.log)"
)


def leaf(value: Any) -> Any:
    return paddle.to_tensor(value, dtype="float32", stop_gradient=False)


def read(directory: Path) -> dict[str, str]:
    """Contents by kind of file."""
    found = {}
    for path in directory.iterdir():
        match = NAME.fullmatch(path.name)
        assert match, path.name
        found[match[1]] = path.read_text()
    return found


def dump(directory: Path) -> dict[str, str]:
    x, w = leaf([[1.0, 2.0], [3.0, 4.0]]), leaf([[1.0], [1.0]])
    y = paddle.tanh(paddle.matmul(x, w))  # the line of tanh
    paddle.autograd.backward([y], dump_backward_graph_path=str(directory))
    assert x.grad is not None
    return read(directory)


def test_three_files_in_a_directory_that_is_made(tmp_path: Path) -> None:
    files = dump(tmp_path / "a" / "b")
    assert set(files) == {"backward_graph.dot", "ref_forward_graph.dot", "call_stack.log"}


def test_each_pass_writes_its_own(tmp_path: Path) -> None:
    for _ in range(3):
        (leaf([1.0]) * 2.0).backward(dump_backward_graph_path=str(tmp_path))
    assert len(list(tmp_path.iterdir())) == 9


def nodes(dot: str) -> dict[str, str]:
    return dict(re.findall(r'^\tnode_(\d+)\[label="(.*?)\\n', dot, re.M))


def arrows(dot: str) -> set[tuple[str, str, str]]:
    by_number = nodes(dot)
    return {
        (by_number[a], by_number[b], label)
        for a, b, label in re.findall(r'^\tnode_(\d+)->node_(\d+)\[label="(.*?)"\]$', dot, re.M)
    }


def test_the_backward_graph(tmp_path: Path) -> None:
    dot = dump(tmp_path)["backward_graph.dot"]
    assert dot.startswith("digraph G {\n")
    assert dot.endswith("} // end G\n")
    assert sorted(nodes(dot).values()) == [
        "GradNodeAccumulation",
        "GradNodeAccumulation",
        "MatmulGradNode",
        "TanhGradNode",
    ]
    assert arrows(dot) == {
        ("TanhGradNode", "MatmulGradNode", r"Place(cpu)\nfloat32[2, 1]"),
        ("MatmulGradNode", "GradNodeAccumulation", r"Place(cpu)\nfloat32[2, 2]"),
        ("MatmulGradNode", "GradNodeAccumulation", r"Place(cpu)\nfloat32[2, 1]"),
    }
    assert re.search(r'label="TanhGradNode\\nPtr: 0x[0-9a-f]+" style="rounded,filled,bold"', dot)


def test_the_forward_graph_turns_the_arrows_round(tmp_path: Path) -> None:
    dot = dump(tmp_path)["ref_forward_graph.dot"]
    assert sorted(nodes(dot).values()) == ["Matmul", "Node", "Node", "Tanh"]
    assert {(a, b) for a, b, _ in arrows(dot)} == {("Node", "Matmul"), ("Matmul", "Tanh")}
    assert r'label="Tanh\nGradNode: 0x' in dot


def test_the_call_stacks_name_the_lines(tmp_path: Path) -> None:
    log = dump(tmp_path)["call_stack.log"]
    assert log.startswith("Note : ")
    assert "FLAGS_call_stack_level" in log
    assert re.search(
        r"GradNodeBase TanhGradNode ptr : 0x[0-9a-f]+ call stack: \n"
        r'  File ".*test_dump\.py", line \d+, in dump\n'
        r"    y = paddle\.tanh\(paddle\.matmul\(x, w\)\)  # the line of tanh\n",
        log,
    )
    assert "GradNodeBase GradNodeAccumulation ptr" in log


def test_with_the_flag_the_whole_stack(tmp_path: Path) -> None:
    paddle.set_flags({"FLAGS_call_stack_level": 3})
    log = dump(tmp_path)["call_stack.log"]
    tanh = log.split("GradNodeBase TanhGradNode")[1].split("GradNodeBase")[0]
    assert "in dump" in tanh
    assert "in test_with_the_flag_the_whole_stack" in tanh


def test_the_result_is_the_same_as_without(tmp_path: Path) -> None:
    x, y = leaf([2.0]), leaf([2.0])
    for v, options in ((x, {"dump_backward_graph_path": str(tmp_path)}), (y, {})):
        (v * v * v).backward(**options)
    assert x.grad.tolist() == y.grad.tolist()


def test_operations_with_several_outputs(tmp_path: Path) -> None:
    first, second = paddle.split(leaf([1.0, 2.0]), 2)
    (first * second).backward(dump_backward_graph_path=str(tmp_path))
    names = set(nodes(read(tmp_path)["backward_graph.dot"]).values())
    assert {"SplitGradNode", "SplitGradNode[0]", "SplitGradNode[1]"} <= names


def test_a_closed_root(tmp_path: Path) -> None:
    with pytest.warns(NoHistoryWarning, match="without being recorded"):
        paddle.ones([1]).backward(dump_backward_graph_path=str(tmp_path))
    assert arrows(read(tmp_path)["backward_graph.dot"]) == set()


def test_a_retained_pass_can_be_dumped_twice(tmp_path: Path) -> None:
    y = leaf([1.0]) * 2.0
    y.backward(retain_graph=True, dump_backward_graph_path=str(tmp_path))
    y.backward(dump_backward_graph_path=str(tmp_path))
    assert len(list(tmp_path.iterdir())) == 6


# --- bad paths


@pytest.mark.parametrize("bad", [3, b"x", Path("x"), ["x"], True])
def test_the_path_must_be_a_str(bad: Any) -> None:
    x = leaf([1.0])
    y = x * x
    with pytest.raises(AssertionError, match="dump_backward_graph_path must be a str, got"):
        y.backward(dump_backward_graph_path=bad)
    assert x.grad is None
    y.backward()


def test_a_file_is_no_directory(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("mine")
    y = leaf([1.0]) * 2.0
    with pytest.raises(NotADirectoryError, match="must be a directory"):
        y.backward(dump_backward_graph_path=str(path))
    with pytest.raises(OSError, match="Not a directory"):
        y.backward(dump_backward_graph_path=str(path / "below"))
    assert path.read_text() == "mine"
    y.backward()


def test_a_pass_that_fails_writes_nothing(tmp_path: Path) -> None:
    y = leaf([1.0]) * 2.0
    y.backward()
    with pytest.raises(RuntimeError, match="retain_graph=True"):
        y.backward(dump_backward_graph_path=str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_the_argument_is_keyword_only() -> None:
    with pytest.raises(TypeError):
        paddle.autograd.backward([leaf([1.0])], None, False, "here")


@pytest.mark.parametrize("create_graph", [False, True])
def test_grad_dumps_as_well(tmp_path: Path, create_graph: bool) -> None:
    x = leaf([1.0, 2.0])
    y = paddle.exp(x * 3.0)
    (g,) = paddle.grad(
        y.sum(), x, create_graph=create_graph, dump_backward_graph_path=str(tmp_path / "grad")
    )
    assert g.shape == [2]
    found = arrows(read(tmp_path / "grad")["backward_graph.dot"])
    assert ("ExpGradNode", "MultiplyGradNode", "Place(cpu)\\nfloat32[2]") in found
    assert x.grad is None

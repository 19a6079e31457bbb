"""`Program.draw`, `paddle.graph` of a program, and what a notebook shows."""

import re
import shutil
import sys
import types
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

import autograd_engine as paddle
from autograd_engine.errors import ArgumentError, MissingLibraryError
from tests.autograd.markup import Balanced
from tests.golden.programs import PROGRAMS, build

static = paddle.static

pytestmark = pytest.mark.usefixtures("static_mode")


def small() -> Any:
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [None, 2])
        loss = paddle.sum(paddle.tanh(static.nn.fc(x, 3, name="layer")))  # the line
        paddle.optimizer.SGD(0.1).minimize(loss)
    return main


def boxes(dot: str) -> dict[str, str]:
    return dict(re.findall(r'^\t+(n\d+) \[label="((?:[^"\\]|\\.)*)"', dot, re.M))


def arrows(dot: str) -> set[tuple[str, str, str]]:
    names = {n: label.split("\\n")[0] for n, label in boxes(dot).items()}
    found = re.findall(r'^\t(n\d+) -> (n\d+)(?: \[label="(.*)"\])?$', dot, re.M)
    return {(names[a], names[b], label) for a, b, label in found}


def test_operators_leaves_and_what_flows_between() -> None:
    dot = small().draw()
    found = arrows(dot)
    assert ("x", "matmul", "x float32[?, 2]") in found
    assert ("Parameter layer.w_0", "matmul", "layer.w_0 float32[2, 3]") in found
    assert ("tanh", "sum", "layer.tmp_1 float32[?, 3]") not in found
    assert ("tanh_grad", "add_grad", "layer.tmp_1@GRAD float32[?, 3]") in found
    assert ("matmul_grad", "sgd", "layer.w_0@GRAD float32[2, 3]") in found
    assert "# the line" in dot


def test_forward_gradients_and_updates_have_colours_of_their_own() -> None:
    dot = small().draw()
    colours = dict(re.findall(r'label="(\w+)\\n.*fillcolor="(#\w+)"\s', dot))
    assert len({colours["tanh"], colours["tanh_grad"], colours["sgd"], colours["x"]}) == 4


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_operator_is_drawn_once(name: str) -> None:
    program = build(name).main
    dot = program.draw()
    drawn = [label.split("\\n")[0] for label in boxes(dot).values()]
    for kind in {op.type for block in program.blocks for op in block.ops}:
        count = sum(op.type == kind for block in program.blocks for op in block.ops)
        assert drawn.count(kind) == count, kind
    assert dot.count("{") == dot.count("}")
    assert set(re.findall(r"\bn\d+\b(?= ->)|(?<=-> )n\d+\b", dot)) <= set(boxes(dot))


def test_blocks_are_frames() -> None:
    dot = build("loop").main.draw()
    frames = re.findall(r'subgraph (cluster_\d) \{\n\t+label="([^"]*)"', dot)
    assert sorted(frames) == [
        ("cluster_0", "block 1: cond_block of while"),
        ("cluster_1", "block 2: body_block of while"),
        ("cluster_2", "block 3: body_block of while_grad"),
    ]
    assert ("returned", "while", "body_block") in arrows(dot)


def test_frames_are_nested() -> None:
    main = static.Program()
    with static.program_guard(main):
        x = static.data("x", [2])
        positive = paddle.sum(x) > 0.0
        static.nn.cond(
            positive, lambda: static.nn.cond(positive, lambda: x * 2.0, lambda: x), lambda: x - 1.0
        )
    dot = main.draw()
    depth = {
        label: len(tabs) for tabs, label in re.findall(r'^(\t+)label="(block [^"]*)"', dot, re.M)
    }
    assert sorted(depth.values()) == [2, 2, 3, 3]


def test_the_middle_of_a_long_program_is_left_out() -> None:
    main = static.Program()
    with static.program_guard(main):
        x = static.data("x", [2])
        for _ in range(40):
            x = paddle.tanh(x)
    dot = main.draw(limit=10)
    assert len([b for b in boxes(dot).values() if b.startswith("tanh")]) == 10
    assert "30 operations between are not drawn" in dot


@pytest.mark.parametrize("suffix", [".dot", ".gv", ".DOT"])
def test_a_file_of_dot(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"program{suffix}"
    main = small()
    text = main.draw(path)
    assert path.read_text() == text == main.draw()
    assert main.draw(str(tmp_path / "x.txt"), format="dot") == text


def test_wrong_arguments(tmp_path: Path) -> None:
    main = small()
    with pytest.raises(ArgumentError, match=r"ends in '.png'; use .dot or .svg"):
        main.draw(tmp_path / "program.png")
    with pytest.raises(ArgumentError, match="ends in 'nothing'"):
        main.draw("program")
    with pytest.raises(ArgumentError, match="format must be 'dot' or 'svg', got 'png'"):
        main.draw(format="png")
    with pytest.raises(TypeError, match="path must be a str or a path, got int"):
        main.draw(3)
    with pytest.raises(ArgumentError, match="limit must be an integer of 2 or more"):
        main.draw(limit=1)
    with pytest.raises(FileNotFoundError, match="there is no directory"):
        main.draw(tmp_path / "no" / "program.dot")
    assert not list(tmp_path.iterdir())


def test_svg_without_graphviz(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "graphviz", None)
    with pytest.raises(MissingLibraryError, match=r"graphviz package.*pip install"):
        small().draw(format="svg")
    with pytest.raises(MissingLibraryError):
        small().draw(tmp_path / "program.svg")
    assert not list(tmp_path.iterdir())


def test_svg_is_what_graphviz_draws_of_the_text(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen = []

    class Source:
        def __init__(self, text: str) -> None:
            seen.append(text)

        def pipe(self, format: str, encoding: str) -> str:
            return f"<?xml?><svg>{format}</svg>"

    fake = types.SimpleNamespace(Source=Source, ExecutableNotFound=FileNotFoundError)
    monkeypatch.setitem(sys.modules, "graphviz", fake)
    main = small()
    assert main.draw(tmp_path / "program.svg") == "<svg>svg</svg>"
    assert seen == [main.draw()]


def test_graphviz_takes_the_text() -> None:
    pytest.importorskip("graphviz")
    if shutil.which("dot") is None:
        pytest.skip("graphviz's program dot is not installed")
    svg = build("branch").main.draw(format="svg")
    titles = [e.text for e in ET.fromstring(svg).iter() if e.tag.endswith("title")]
    assert "cluster_0" in titles


def test_graph_of_a_program_is_the_same_drawing() -> None:
    main = small()
    graph = paddle.graph(main)
    assert graph.dot == main.draw()
    assert graph.caption.startswith(f"{len(main.global_block().ops)} operations, ")


# --- in a notebook


@pytest.mark.parametrize("name", PROGRAMS)
def test_html_is_whole_and_has_every_operator(name: str) -> None:
    program = build(name).main
    html = program._repr_html_()
    parser = Balanced()
    parser.feed(html)
    assert not parser.open
    assert html.count("<details") == 2 * program.num_blocks
    for block in program.blocks:
        for op in block.ops:
            assert f"<td>{op.type}</td>" in html
        for variable in block.vars:
            assert f"<td>{variable}</td>" in html


def test_html_is_escaped() -> None:
    main = static.Program()
    with static.program_guard(main):
        paddle.tanh(static.data("<script>alert(1)</script>", [2]))  # <b>not bold</b>
    html = main._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "<b>not bold" not in html


def test_html_of_a_long_program_is_short() -> None:
    main = static.Program()
    with static.program_guard(main):
        x = static.data("x", [2])
        for _ in range(1000):
            x = x + 1.0
    html = main._repr_html_()
    assert html.count("<td>add</td>") == 200
    assert "... 800 between are not shown ..." in html
    assert "<td>#0</td>" in html
    assert "<td>#999</td>" in html


def test_looking_changes_nothing() -> None:
    main = small()
    before = repr(main), main.version
    main.draw()
    main._repr_html_()
    assert (repr(main), main.version) == before

"""`paddle.graph`: drawings of the graph behind a result."""

import importlib
import re
import sys
import types
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

import autograd_engine as paddle
from autograd_engine.errors import ArgumentError, MissingLibraryError, NotATensorError
from tests.autograd.markup import Balanced


def leaf(*values: float) -> Any:
    return paddle.to_tensor(list(values), dtype="float32", stop_gradient=False)


def small() -> Any:
    x, w = leaf(1.0, 2.0).detach().reshape([1, 2]), paddle.create_parameter([2, 3], name="w")
    x.stop_gradient = False
    return paddle.tanh(paddle.matmul(x, w)).sum()  # the line


def boxes(dot: str) -> dict[str, str]:
    return dict(re.findall(r'^\t(n\d+) \[label="((?:[^"\\]|\\.)*)"', dot, re.M))


def arrows(dot: str) -> set[tuple[str, str, str]]:
    names = {n: label.split("\\n")[0] for n, label in boxes(dot).items()}
    found = re.findall(r'^\t(n\d+) -> (n\d+)(?: \[label="(.*)"\])?$', dot, re.M)
    return {(names[a], names[b], label) for a, b, label in found}


def test_operations_leaves_and_arrows() -> None:
    loss = small()
    drawing = paddle.graph(loss)
    assert drawing.caption == "3 operations, 2 leaves"
    titles = [box.title for box in drawing.boxes]
    assert titles[2:] == ["matmul", "tanh", "sum"]
    assert "Parameter w" in titles
    found = arrows(drawing.dot)
    assert ("Parameter w", "matmul", "float32[2, 3]") in found
    assert ("matmul", "tanh", "float32[1, 3]") in found
    assert ("tanh", "sum", "float32[1, 3]") in found
    assert "return paddle.tanh(paddle.matmul(x, w)).sum()  # the line" in drawing.dot
    assert "stop_gradient=False" in drawing.dot
    assert paddle.autograd.graph is paddle.graph


SHAPES = {
    "broadcast add": lambda x: x.reshape([2, 1]) + paddle.ones([3]),
    "sum": lambda x: paddle.sum(x * 1.0, keepdim=True),
    "concat": lambda x: paddle.concat([x, x + 1.0]) * 1.0,
    "slice": lambda x: (x + 1.0)[0:1] * 1.0,
    "cast": lambda x: x.astype("float64") * 1.0,
    "softmax": lambda x: paddle.nn.functional.softmax(x + 1.0) - 1.0,
    "outer": lambda x: paddle.matmul(x.reshape([2, 1]), x.reshape([1, 2])) + 0.0,
}


@pytest.mark.parametrize("case", SHAPES, ids=str)
def test_every_arrow_has_its_shape_and_dtype(case: str) -> None:
    """Specs are told without running anything; they have to be those of the values."""
    x = leaf(1.0, 2.0)
    y = SHAPES[case](x)
    labels = [a.label for a in paddle.graph(y).arrows]
    assert labels
    assert all(re.fullmatch(r"(\w+ )?float(32|64)\[[\d, ]*\]", text) for text in labels), labels
    # What the pass sends back has the shape of what came forward.
    seen = set()
    inner = y.grad_fn._edge

    def observe(node: Any, g: Any, edges: Any, results: Any) -> None:
        seen.update(f"{r.dtype.name}{list(r.shape)}" for r in results if r is not None)

    run = importlib.import_module("autograd_engine.eager.tape").run_backward
    at = inner.location
    run([(inner, paddle.ones_like(y)._data)], at=at, retain=True, observe=observe)
    assert {text.split(" ", 1)[-1] if text[:5] != "float" else text for text in labels} <= seen


def test_several_outputs_say_which() -> None:
    a, b = paddle.split(leaf(1.0, 2.0), 2)
    drawing = paddle.graph(a * b)
    assert [box.title for box in drawing.boxes].count("split") == 1
    split = next(n for n, box in enumerate(drawing.boxes) if box.title == "split")
    labels = [a.label for a in drawing.arrows if a.source == split]
    assert labels == ["pieces[0] float32[1]", "pieces[1] float32[1]"]


def test_constants_and_freed_nodes_are_noted() -> None:
    x = leaf(1.0, 2.0)
    y = x * paddle.to_tensor([3.0, 4.0])
    assert "constant: y float32[2]" in paddle.graph(y).dot
    y.sum().backward()
    assert "freed by the backward pass at test_graph_view.py:" in paddle.graph(y).dot


def test_a_leaf_and_a_tensor_without_a_graph() -> None:
    assert paddle.graph(leaf(1.0)).caption == "0 operations, 1 leaf"
    drawing = paddle.graph(paddle.ones([2]))
    assert drawing.boxes == ()
    assert "stop_gradient" in drawing.caption


def chain(length: int) -> Any:
    y = leaf(1.0)
    for _ in range(length):
        y = y + 1.0
    return y


@pytest.mark.parametrize("length", [300, 100_000])
def test_the_middle_of_a_large_graph_is_left_out(length: int) -> None:
    drawing = paddle.graph(chain(length), limit=50)
    hidden = length - 50
    assert f"{length} operations" in drawing.caption
    assert f"the {hidden} in the middle are not drawn" in drawing.caption
    assert f"limit={length}" in drawing.caption
    assert len(drawing.boxes) == 52  # with the leaf and the gap
    gap = next(n for n, box in enumerate(drawing.boxes) if box.kind == "gap")
    assert f"... {hidden} operations between" in drawing.boxes[gap].title
    assert {a.target for a in drawing.arrows if a.source == gap} == {gap + 1}
    assert {a.source for a in drawing.arrows if a.target == gap} == {gap - 1}
    assert str(hidden) in drawing.html()


def test_many_leaves_are_left_out_too() -> None:
    y = paddle.add_n([leaf(1.0) for _ in range(500)])
    drawing = paddle.graph(y, limit=10)
    assert len(drawing.boxes) == 22
    assert any("480 more leaves" in box.title for box in drawing.boxes)


HOSTILE = 'a"b\\n<script>alert(1)</script>\n}; n0 -> n0'


def test_names_are_escaped() -> None:
    x = leaf(1.0)
    x.name = HOSTILE
    drawing = paddle.graph(x * 2.0)
    assert len(boxes(drawing.dot)) == 2
    assert drawing.dot.count("->") == 2  # one of them in the label
    assert "<script>" not in drawing.html()
    assert "&lt;script&gt;" in drawing.html()


def test_html_needs_nothing() -> None:
    page = Balanced()
    page.feed(paddle.graph(small()).html())
    assert page.open == []


# --- drawn by graphviz


class ExecutableNotFound(RuntimeError):
    pass


def fake_graphviz(monkeypatch: Any, *, program: bool = True) -> None:
    module = types.ModuleType("graphviz")

    class Source:
        def __init__(self, text: str) -> None:
            self.text = text

        def pipe(self, format: str, encoding: str) -> str:
            assert (format, encoding) == ("svg", "utf-8")
            if not program:
                raise ExecutableNotFound
            return f"<?xml version='1.0'?>\n<svg><g>{len(self.text)}</g></svg>\n"

    module.Source = Source  # type: ignore[attr-defined]
    module.ExecutableNotFound = ExecutableNotFound  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "graphviz", module)


def test_svg_where_graphviz_is_there(monkeypatch: Any) -> None:
    fake_graphviz(monkeypatch)
    drawing = paddle.graph(small())
    assert drawing.svg().startswith("<svg>")
    assert drawing._repr_html_() == drawing.svg()


def test_without_the_program_a_table_is_shown(monkeypatch: Any) -> None:
    fake_graphviz(monkeypatch, program=False)
    drawing = paddle.graph(small())
    with pytest.raises(MissingLibraryError, match="program dot"):
        drawing.svg()
    assert drawing._repr_html_() == drawing.html()


def test_without_the_package_a_table_is_shown(monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "graphviz", None)
    drawing = paddle.graph(small())
    with pytest.raises(MissingLibraryError, match="pip install"):
        drawing.svg()
    assert "matmul" in drawing._repr_html_()


def test_the_real_one_draws_names_as_they_are() -> None:
    graphviz = pytest.importorskip("graphviz")
    x = leaf(1.0)
    x.name = HOSTILE
    try:
        drawn = paddle.graph(x * 2.0).svg()
    except MissingLibraryError:
        pytest.skip("no dot")
    root = ET.fromstring(drawn)
    texts = [e.text for e in root.iter() if e.tag.endswith("text")]
    assert 'a"b\\n<script>alert(1)</script>' in texts
    assert "<script" not in drawn
    assert graphviz is not None


# --- files


def test_saved_whole_or_not_at_all(tmp_path: Path, monkeypatch: Any) -> None:
    fake_graphviz(monkeypatch)
    drawing = paddle.graph(small())
    for name in ("g.dot", "g.gv"):
        drawing.save(tmp_path / name)
        assert (tmp_path / name).read_text() == drawing.dot
    drawing.save(str(tmp_path / "g.svg"))
    assert (tmp_path / "g.svg").read_text() == drawing.svg()
    drawing.save(tmp_path / "g.html")
    assert drawing.svg() in (tmp_path / "g.html").read_text()
    fake_graphviz(monkeypatch, program=False)
    with pytest.raises(MissingLibraryError):
        drawing.save(tmp_path / "g.svg")
    assert "<svg>" in (tmp_path / "g.svg").read_text()
    with pytest.raises(ArgumentError, match=r"use \.dot, \.svg or \.html"):
        drawing.save(tmp_path / "g.png")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["g.dot", "g.gv", "g.html", "g.svg"]


def test_what_it_does_not_take() -> None:
    with pytest.raises(NotATensorError, match="give it the loss"):
        paddle.graph(3)
    with pytest.raises(ArgumentError, match="cannot be empty"):
        paddle.graph([])
    with pytest.raises(ArgumentError, match="limit"):
        paddle.graph(leaf(1.0), limit=1)


# --- programs


@pytest.mark.usefixtures("static_mode")
def test_operators_of_a_program() -> None:
    x = paddle.static.data("x", [None, 2])
    w = paddle.static.create_parameter([2, 3], "float32", name="w")
    paddle.exp(x)  # leads elsewhere
    loss = paddle.mean(paddle.matmul(x, w))
    drawing = paddle.graph(loss)
    assert drawing.caption == "2 operations, 2 leaves"
    assert "float32[?, 2]" in drawing.dot
    assert any(a[:2] == ("matmul", "mean") for a in arrows(drawing.dot))
    assert "test_graph_view.py" in drawing.dot
    assert len(paddle.graph([loss, x], limit=2).boxes) == 4
    y = x
    for _ in range(100):
        y = y + 1.0
    assert "the 90 in the middle" in paddle.graph(y, limit=10).caption


def test_a_layer_knows_the_shapes_of_its_results() -> None:
    class Twice(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x + x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g + g

    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    assert "Twice" in paddle.graph(paddle.exp(Twice.apply(x) + 1.0)).dot

"""The site: where pages come from, and what the reference is made of. CI builds it, strictly."""

import re
import sys
from pathlib import Path

import pytest

import autograd_engine as paddle

ROOT = Path(__file__).resolve().parents[2]
TOOLS = str(ROOT / "tools" / "site")


@pytest.fixture(scope="module")
def sources():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(TOOLS)
        import sources

        yield sources
        sys.modules.pop("sources")


@pytest.fixture(scope="module")
def reference():
    pytest.importorskip("griffe", reason="griffelib is not installed: pip install '.[docs]'")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(TOOLS)
        import reference

        yield reference.Reference()
        for name in ("reference", "api_text"):
            sys.modules.pop(name)


# --- pages for those who come from elsewhere


def test_pages_of_other_libraries_have_all_names() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(TOOLS)
        import migration
    sys.modules.pop("migration")
    pages = dict(migration.pages())
    assert len(pages) == len(migration.peers().PEERS)
    for library, places in migration.peers().listed().items():
        text = pages[f"migration/{migration.FILES[library]}.md"].replace("\\_", "_")
        words = set(re.findall(r"\w+", text))
        for place in migration.peers().PEERS[library].places:
            assert not set(places.get(place, ())) - words
            assert f"## {place}\n" in text or place not in places


# --- links and includes


@pytest.mark.parametrize(
    ("page", "link", "expected"),
    [
        ("index.md", "docs/static.md#running", "static.md#running"),
        ("index.md", "LICENSE", "license.md"),
        ("index.md", "examples/static.ipynb", "examples/static.md"),
        ("static.md", "optimizers.md", "optimizers.md"),
        ("design/proof.md", "../../CONTRIBUTING.md", "../contributing.md"),
        ("why_is_my_grad_none.md", "../examples/tour.py", "examples/tour.md"),
        ("examples/static.md", "../docs/compiled.md", "../compiled.md"),
        ("index.md", "https://example.org/docs/x.md", "https://example.org/docs/x.md"),
        ("index.md", "docs/benchmarks/compare-1.png", "benchmarks/compare-1.png"),
        ("index.md", "no/such/file.py", "no/such/file.py"),
    ],
)
def test_links_of_the_repository_become_links_of_the_site(sources, page, link, expected):
    assert sources.relink(f"[text]({link})", page) == f"[text]({expected})"


def test_links_in_code_stay(sources):
    text = "```python\nf[a](docs/static.md)\n```"
    assert sources.relink(text, "index.md") == text


def test_a_section_is_included_with_its_headings_one_level_up(sources):
    text = sources.included("<!-- include: README.md#speed -->", "performance.md")
    assert "## Eager mode" in text
    assert "### Eager mode" not in text
    assert "](benchmarks/compare-1.png)" in text
    assert "## Layout" not in text


def test_a_section_that_is_not_there_is_an_error(sources):
    with pytest.raises(sources.Missing, match="no heading whose anchor is #no-such"):
        sources.included("<!-- include: README.md#no-such -->", "performance.md")


def test_the_home_page_is_the_readme_without_the_measurements(sources):
    text = sources.home()
    assert text.startswith("# autograd-engine")
    assert "docs/performance.md" in text
    assert "| time / best peer |" not in text
    assert "## Licence" in text


def test_a_program_becomes_sections_and_keeps_its_code(sources):
    path = ROOT / "examples" / "tour.py"
    text = sources.program(path)
    code = "\n".join(part.split("\n```")[0] for part in text.split("```python\n")[1:])
    whole = path.read_text(encoding="utf-8")
    assert "## 1. The table" in text
    assert text.count("\n## ") == whole.count("\n# --- ")
    # Nothing but comments and the docstring is said in another form.
    starts = ("def ", "class ", "    return")
    said = {line for line in whole.splitlines() if line.startswith(starts)}
    assert len(said) > 12
    assert said <= set(code.splitlines())


def test_a_notebook_shows_what_it_printed_and_drew(sources):
    text, pictures = sources.notebook(ROOT / "examples" / "tour_of_both_modes.ipynb")
    assert text.count("```python\n") > 10
    assert text.count("```text\n") > 5
    assert pictures
    assert all(p.startswith(b"\x89PNG") for p in pictures.values())
    assert all(name.rpartition("/")[2] in text for name in pictures)


# --- the reference


def test_every_public_name_is_on_a_page(reference):
    assert reference.broken == {}
    for prefix, module in (
        ("paddle", paddle),
        ("paddle.nn", paddle.nn),
        ("paddle.nn.functional", paddle.nn.functional),
        ("paddle.static", paddle.static),
        ("paddle.optimizer.lr", paddle.optimizer.lr),
    ):
        for name in module.__all__:
            assert reference.find(f"{prefix}.{name}"), name
    assert reference.find("paddle.nn.Linear") == (
        "reference/paddle/nn/parts/common.md",
        "paddle.nn.Linear",
    )
    assert reference.find("F.relu")[1] == "paddle.nn.functional.relu"
    assert reference.find("Tensor.register_hook")[1] == "paddle.Tensor.register_hook"
    assert reference.find("paddle.no_such_name") is None


def test_public_names_have_docstrings(reference):
    assert reference.undocumented() == []


def test_an_entry_has_what_the_docstring_says(reference):
    text = reference.entry_text(reference.entries["paddle.grad"])
    assert "paddle.grad(" in text
    assert "**Parameters**" in text
    assert "- `outputs`{.argument}, `inputs`{.argument} : Tensor or" in text
    assert "**Examples**\n\n```pycon\n>>> " in text
    assert "### grad {#paddle.grad " in text


def test_anchors_are_unique_on_each_page(reference):
    for path, text in reference.files():
        anchors = [part.split(" ")[0] for part in text.split("{#")[1:]]
        assert len(anchors) == len(set(anchors)), path

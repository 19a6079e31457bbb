"""The page of the spellings has every row of the table."""

import importlib.util
from pathlib import Path

from autograd_engine.core.names.keywords import RENAMED
from autograd_engine.tensor.spelling.rows import ROWS

PAGE = Path(__file__).resolve().parents[2] / "tools/site/spelling_page.py"


def test_the_page_has_every_row():
    spec = importlib.util.spec_from_file_location("spelling_page", PAGE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    lines = module.page().splitlines()
    rows = [line.split("|")[1].strip() for line in lines if line.startswith("| `")]
    assert {f"`{name}`" for name in (*RENAMED, *ROWS)} <= set(rows)

"""The C texts of the package, written for several kinds of processors."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import pytest

from autograd_engine.compiler.native.emit import math_functions as maths
from autograd_engine.compiler.native.runtime import header, runtime_source
from autograd_engine.compiler.native.toolchain.compiler import find_toolchain
from tests.compiler.helpers.native_kernels import needs_compiler
from tests.tiers import by_default

pytestmark = [
    needs_compiler,
    pytest.mark.skipif(
        platform.machine() not in ("x86_64", "AMD64"), reason="only x86-64 has these levels"
    ),
]
TEXTS = {
    "header": lambda: header() + "int nothing(void);\nint nothing(void) { return 0; }\n",
    "later header": lambda: header(later_unit=True) + "int nothing(void);\n",
    "maths": lambda: maths.needed(maths.NAMES),
    "runtime": runtime_source,
}


@pytest.mark.parametrize("level", by_default(["x86-64-v3", "x86-64", "x86-64-v2", "x86-64-v4"], 1))
@pytest.mark.parametrize("text", TEXTS)
def test_no_warning(text: str, level: str, tmp_path: Path) -> None:
    """Nothing is run, so the processor at hand need not be of that level."""
    toolchain = find_toolchain()
    assert toolchain is not None
    strict = toolchain.with_flags(
        f"-march={level}", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror"
    )
    source = tmp_path / "text.c"
    source.write_text(TEXTS[text]())
    done = subprocess.run(
        strict.compile_command(source, tmp_path / "text.o"), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr

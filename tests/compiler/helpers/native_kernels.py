"""C kernels of the native backend, compiled and called on arrays."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from autograd_engine.compiler.native import runtime
from autograd_engine.compiler.native.c_code.c_kernel import HELPERS, CKernel
from autograd_engine.compiler.native.runtime import get_runtime, header
from autograd_engine.compiler.native.toolchain.compiler import find_toolchain, why_not
from autograd_engine.compiler.native.toolchain.library_cache import load
from autograd_engine.core.spec import Spec

WORKERS = 3

needs_compiler = pytest.mark.skipif(find_toolchain() is None, reason=f"no C compiler: {why_not()}")


def with_flags(flags: str) -> str:
    """Flags of compilers behind those that the tests are run with."""
    return f"{os.environ.get('AUTOGRAD_ENGINE_CFLAGS', '')} {flags}".strip()


def specs(arrays: Sequence[np.ndarray]) -> list[Spec]:
    return [Spec(a.shape, a.dtype) for a in arrays]


@pytest.fixture(autouse=True)
def some_threads() -> Iterator[None]:
    """As many threads as the kernels are made for."""
    before = runtime.threads()
    runtime.set_threads(WORKERS)
    yield
    runtime.set_threads(before)


def compiled(kernels: Sequence[CKernel], pointers: Sequence[int], *flags: str) -> list[Any]:
    """The kernels as functions of a table of so many pointers, all in one library."""
    toolchain = find_toolchain()
    assert toolchain is not None
    if flags:
        toolchain = toolchain.with_flags(*flags)
    helpers = dict.fromkeys(helper for kernel in kernels for helper in kernel.helpers)
    text = [header(), *(HELPERS[helper] for helper in helpers)]
    for i, (kernel, count) in enumerate(zip(kernels, pointers, strict=True)):
        arguments = ", ".join(f"p[{j}]" for j in range(count))
        # The name begins those of all parts, so that a prefix renames them together.
        text.append(kernel.source.replace(kernel.name, f"k{i}_{kernel.name}"))
        text.append(f"void entry{i}(void **p);")
        text.append(f"void entry{i}(void **p) {{ k{i}_{kernel.name}({arguments}); }}")
    library = load("\n".join(text), toolchain, "test kernels")
    get_runtime(toolchain).bind(library)
    return [getattr(library, f"entry{i}") for i in range(len(kernels))]


def call(
    function: Any, kernel: CKernel, operands: Sequence[np.ndarray], results: Sequence[np.ndarray]
) -> None:
    """Call with scratch memory of NaN, and check that what lies behind it stays untouched."""
    scratch = np.full(kernel.scratch + 64, np.nan, results[0].dtype)
    scratch[kernel.scratch :] = 77
    arrays = [*operands, *results, scratch]
    assert all(a.flags.c_contiguous for a in arrays)
    function((ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays)))
    assert (scratch[kernel.scratch :] == 77).all(), "wrote behind its scratch memory"

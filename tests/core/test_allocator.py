"""The C library's allocator is tuned where it can be, and left alone where it must be."""

import ctypes
import os
import subprocess
import sys

import pytest

from autograd_engine.core import allocator
from autograd_engine.core.allocator import keep_freed_memory

GELU = """
import resource
import numpy as np
import autograd_engine as paddle

x = paddle.to_tensor(np.ones((1000, 1000), np.float32), stop_gradient=False)
g = paddle.ones([1000, 1000])


def step():
    h = paddle.tanh(x) * x + paddle.exp(x)
    paddle.autograd.backward([h], [g])
    x.clear_grad(False)


step()
step()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5):
    step()
print((resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) // 5)
"""


def run(source, **environment):
    done = subprocess.run(
        [sys.executable, "-c", source],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.mark.skipif(not keep_freed_memory(), reason="no glibc, or the user's own thresholds")
def test_a_step_faults_no_pages_in_anew():
    assert int(run(GELU)) < 200


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AUTOGRAD_ENGINE_MALLOC", "0"),
        ("AUTOGRAD_ENGINE_MALLOC", "Off"),
        ("MALLOC_TRIM_THRESHOLD_", "100000"),
        ("MALLOC_MMAP_THRESHOLD_", "100000"),
        ("MALLOC_TOP_PAD_", "100000"),
        ("GLIBC_TUNABLES", "glibc.malloc.check=0:glibc.malloc.mmap_threshold=100000"),
    ],
)
def test_the_environment_decides(name, value, monkeypatch, libc):
    monkeypatch.setenv(name, value)
    assert not keep_freed_memory()
    assert libc.calls == []


class LibC:
    """What the engine calls of glibc; notes the calls."""

    def __init__(self, accepts=1, block=1 << 30, end=(1 << 30) + allocator.HEAP):
        self.calls = []
        self.mallopt = self._function("mallopt", accepts)
        self.malloc = self._function("malloc", block)
        self.sbrk = self._function("sbrk", end)
        self.madvise = self._function("madvise", 0)
        self.free = self._function("free", None)

    def _function(self, name, result):
        def call(*arguments):
            self.calls.append((name, *(getattr(a, "value", a) for a in arguments)))
            return result

        return call

    @property
    def names(self):
        return [name for name, *_ in self.calls]


@pytest.fixture
def libc(monkeypatch, tmp_path):
    """A glibc of ours, on a system where huge pages are for who asks."""
    for name in ("AUTOGRAD_ENGINE_MALLOC", "GLIBC_TUNABLES", *allocator._VARIABLES):
        monkeypatch.delenv(name, raising=False)
    enabled = tmp_path / "enabled"
    enabled.write_text("always [madvise] never\n")
    monkeypatch.setattr(allocator, "_HUGE_PAGES", str(enabled))
    monkeypatch.setattr(os, "confstr", lambda name: "glibc 2.36", raising=False)
    return given(monkeypatch, LibC())


def given(monkeypatch, libc):
    monkeypatch.setattr(ctypes, "CDLL", lambda name: libc)
    return libc


def test_what_is_asked_for_on_glibc(libc):
    assert keep_freed_memory()
    options = [arguments[:2] for name, *arguments in libc.calls if name == "mallopt"]
    assert [option for option, _ in options] == [
        allocator.M_MMAP_THRESHOLD,
        allocator.M_TRIM_THRESHOLD,
        allocator.M_TOP_PAD,
        allocator.M_TOP_PAD,
    ]
    assert dict(options)[allocator.M_TOP_PAD] < 1 << 20  # as it is usually, afterwards
    assert allocator.LEAST <= dict(options)[allocator.M_TRIM_THRESHOLD] <= allocator.MOST
    assert ("madvise", 1 << 30, allocator.HEAP, allocator.MADV_HUGEPAGE) in libc.calls
    assert libc.calls[-1] == ("free", 1 << 30)


def raises(error):
    def call(*arguments):
        raise error

    return call


@pytest.mark.parametrize(
    "confstr",
    [
        pytest.param(raises(ValueError("unrecognized configuration name")), id="musl, macOS"),
        pytest.param(lambda name: None, id="another"),
        pytest.param(None, id="Windows"),
    ],
)
def test_elsewhere_nothing_is_touched(confstr, monkeypatch, libc):
    if confstr is None:
        monkeypatch.delattr(os, "confstr", raising=False)
    else:
        monkeypatch.setattr(os, "confstr", confstr, raising=False)
    assert not keep_freed_memory()
    assert libc.calls == []


def test_a_python_that_cannot_call_the_library(monkeypatch, libc):
    monkeypatch.setattr(ctypes, "CDLL", raises(OSError("no such thing")))
    assert not keep_freed_memory()


def test_a_library_that_refuses(monkeypatch, libc):
    refusing = given(monkeypatch, LibC(accepts=0))
    assert not keep_freed_memory()
    assert refusing.names == ["mallopt"]


@pytest.mark.parametrize("block", [0, 1 << 40], ids=["no memory", "another malloc"])
def test_what_is_no_part_of_the_heap_is_not_advised(block, monkeypatch, libc):
    other = given(monkeypatch, LibC(block=block))
    assert keep_freed_memory()
    assert "madvise" not in other.names
    assert ("free" in other.names) == bool(block)


@pytest.mark.parametrize("text", ["[always] madvise never", "always madvise [never]", None])
def test_the_system_decides_about_huge_pages(text, monkeypatch, tmp_path, libc):
    if text is None:
        monkeypatch.setattr(allocator, "_HUGE_PAGES", str(tmp_path / "none"))
    else:
        (tmp_path / "enabled").write_text(text)
    assert keep_freed_memory()
    assert libc.names == ["mallopt", "mallopt"]


HEAP = """
import numpy as np
import autograd_engine

held = [np.ones(900_000, np.float32) for _ in range(8)]
sizes = [line.split()[1] for line in open("/proc/self/smaps") if line.startswith("AnonHugePages")]
print(sum(map(int, sizes)))
"""


def asks_for_huge_pages():
    try:
        with open("/sys/kernel/mm/transparent_hugepage/enabled") as file:
            return "[madvise]" in file.read()
    except OSError:
        return False


@pytest.mark.skipif(not asks_for_huge_pages(), reason="the system decides about huge pages itself")
@pytest.mark.skipif(not keep_freed_memory(), reason="no glibc, or the user's own thresholds")
def test_arrays_of_some_megabytes_lie_in_huge_pages():
    assert int(run(HEAP)) > int(run(HEAP, AUTOGRAD_ENGINE_MALLOC="0"))

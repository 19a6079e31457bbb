"""The C library's allocator is tuned where it can be, and left alone where it must be."""

import os
import subprocess
import sys

import pytest

from autograd_engine.allocator import keep_freed_memory

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
        ("MALLOC_TRIM_THRESHOLD_", "100000"),
        ("MALLOC_MMAP_THRESHOLD_", "100000"),
    ],
)
def test_the_environment_decides(name, value, monkeypatch):
    monkeypatch.setenv(name, value)
    assert not keep_freed_memory()


def test_where_there_is_no_mallopt(monkeypatch):
    monkeypatch.setattr(os, "confstr", lambda name: None, raising=False)
    assert not keep_freed_memory()

    def unknown(name):
        raise ValueError(name)

    monkeypatch.setattr(os, "confstr", unknown, raising=False)
    assert not keep_freed_memory()


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

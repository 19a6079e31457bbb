"""``import paddle`` is this engine where a program asks for it, and only there."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import autograd_engine as engine


@pytest.fixture(autouse=True)
def nothing_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the real one is installed or imported, it is out of sight; what is left of it fails."""
    for name in [n for n in sys.modules if n.partition(".")[0] == "paddle"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if not (Path(p) / "paddle").exists()])


def write_package(folder: Path) -> None:
    (folder / "paddle").mkdir()
    (folder / "paddle" / "__init__.py").write_text("where = 'another'\n")
    (folder / "paddle" / "nn.py").write_text("where = 'another'\n")


def test_modules_are_those_of_the_engine() -> None:
    with engine.install_as_paddle():
        # ruff: isort: off
        import paddle
        import paddle.base.framework
        import paddle.device.cuda
        import paddle.incubate.autograd
        import paddle.nn.functional as F  # noqa: N812
        import paddle.utils.unique_name
        from paddle.io import DataLoader
        from paddle.optimizer.lr import StepDecay
        from paddle.static import InputSpec

        # ruff: isort: on
        assert paddle.nn is engine.nn
        assert F is engine.nn.functional
        assert paddle.utils.unique_name is engine.unique_name
        assert paddle.incubate.autograd is engine.incubate.autograd
        assert (DataLoader, StepDecay) == (engine.io.DataLoader, engine.optimizer.lr.StepDecay)
        assert InputSpec is engine.static.InputSpec
        assert paddle.Tensor is engine.Tensor
        parameter = paddle.base.framework.EagerParamBase
        assert isinstance(paddle.nn.Linear(2, 2).weight, parameter)
        assert not isinstance(paddle.ones([2]), parameter)
        taken: dict[str, object] = {}
        exec("from paddle import *", taken)
        assert set(engine.__all__) <= set(taken)
        assert set(engine.__all__) <= set(dir(paddle))


def test_a_module_of_the_engine_keeps_what_it_says_of_itself() -> None:
    spec = engine.nn.initializer.__spec__
    with engine.install_as_paddle():
        found = importlib.import_module("paddle.nn.initializer")
    assert found.__spec__ is spec
    assert spec is not None
    assert spec.name == found.__name__ == "autograd_engine.nn.initializer"


def test_the_version_is_that_of_the_release_that_it_stands_for() -> None:
    with engine.install_as_paddle():
        import paddle

        assert paddle.__version__ == paddle.version.full_version == "3.3.1"
        parts = [paddle.version.major, paddle.version.minor, paddle.version.patch]
        assert parts == paddle.__version__.split(".")
        assert engine.__version__ != paddle.__version__


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
def test_tables_of_dtypes_may_name_those_that_are_not_here(name: str) -> None:
    with engine.install_as_paddle():
        import paddle

        dtype = getattr(paddle, name)
        table = {paddle.float32: 4, paddle.float16: 2, dtype: 1}
        assert (table[dtype], table[paddle.ones([1]).dtype], str(dtype)) == (1, 4, f"paddle.{name}")
        assert paddle.ones([1]).dtype not in (paddle.float16, dtype)
        with pytest.raises(TypeError, match=f"{name} is no dtype of this engine"):
            paddle.ones([1], dtype=dtype)
        with pytest.raises(TypeError, match=f"{name} is no dtype of this engine"):
            paddle.ones([1]).astype(dtype)


@pytest.mark.parametrize("name", ["paddle.vision.no", "paddle.nn.no", "paddle.nn.functional.no"])
def test_what_is_not_here_cannot_be_imported(name: str) -> None:
    with (
        engine.install_as_paddle(),
        pytest.raises(ModuleNotFoundError, match=r"paddle|no module 'no'"),
    ):
        importlib.import_module(name)


@pytest.mark.parametrize("room", ["core", "ops", "compiler", "as_paddle"])
def test_inner_modules_of_the_engine_are_none_of_paddle(room: str) -> None:
    with engine.install_as_paddle():
        assert find_spec("paddle") is not None
        assert find_spec(f"paddle.{room}") is None


@pytest.fixture
def alone() -> None:
    if find_spec("paddle") is not None:
        pytest.skip("another test of this process runs programs that import paddle")


@pytest.mark.usefixtures("alone")
def test_it_is_taken_back() -> None:
    finders = list(sys.meta_path)
    first = engine.install_as_paddle()
    with engine.install_as_paddle():
        pass
    import paddle.nn

    assert paddle.nn is engine.nn, "the end of the inner block takes nothing back"
    first.uninstall()
    first.uninstall()
    assert sys.meta_path == finders
    assert not [name for name in sys.modules if name.partition(".")[0] == "paddle"]
    assert find_spec("paddle") is None


@pytest.mark.usefixtures("alone")
def test_another_paddle_is_not_replaced_unasked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_package(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match=r"installed, in .*replace=True"):
        engine.install_as_paddle()
    nn = importlib.import_module("paddle.nn")
    with pytest.raises(ImportError, match=r"imported already, from .*replace=True"):
        engine.install_as_paddle()
    assert importlib.import_module("paddle").where == "another"
    with engine.install_as_paddle(replace=True):
        assert importlib.import_module("paddle.nn") is engine.nn
    assert importlib.import_module("paddle.nn") is nn
    assert importlib.import_module("paddle").where == "another"


def test_a_folder_of_that_name_is_no_paddle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "paddle").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    with engine.install_as_paddle():
        assert importlib.import_module("paddle.nn") is engine.nn


def test_nothing_is_imported_twice(tmp_path: Path) -> None:
    """In a process that starts with it: lazily loaded parts, and those that workers ask for."""
    program = tmp_path / "program.py"
    program.write_text(
        """
import sys
import autograd_engine

autograd_engine.install_as_paddle(replace=True)
import paddle.jit, paddle.io, paddle.metric, paddle.distributed.fleet, paddle.framework
import paddle
from paddle.io import DataLoader, Dataset

class Squares(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        import paddle.nn as nn
        assert nn.__name__ == "autograd_engine.nn"
        return float(index**2)

batches = [b.tolist() for b in DataLoader(Squares(), batch_size=2, num_workers=1)]
assert batches == [[0.0, 1.0], [4.0, 9.0]], batches
files = {}
for name, module in list(sys.modules.items()):
    file = getattr(module, "__file__", None)
    if file and "autograd_engine" in file and name != "paddle":
        assert files.setdefault(file, module) is module, name
assert paddle.save is autograd_engine.save
"""
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, program], check=True, timeout=60, env=environment)


@pytest.mark.parametrize("by_name", [False, True])
def test_a_program_is_run_from_the_command_line(tmp_path: Path, by_name: bool) -> None:
    write_package(tmp_path)
    (tmp_path / "beside.py").write_text("import paddle\nones = paddle.ones([2])\n")
    (tmp_path / "program.py").write_text(
        "import sys\n"
        "import beside\n"
        "if __name__ == '__main__':\n"
        "    print(beside.ones.sum().item(), sys.argv[1:], sys.modules['__main__'].__name__)\n"
    )
    asked = ["-m", "program"] if by_name else [str(tmp_path / "program.py")]
    command = [sys.executable, "-m", "autograd_engine", *asked, "--epochs", "2"]
    environment = {**os.environ, "PYTHONPATH": str(Path(engine.__file__).parents[1])}
    where = tmp_path if by_name else tmp_path.parent
    done = subprocess.run(
        command, cwd=where, env=environment, capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("2.0 ['--epochs', '2'] __main__\n", "")


def test_the_command_line_says_how_it_is_used() -> None:
    command = [sys.executable, "-m", "autograd_engine"]
    asked = subprocess.run([*command, "--help"], capture_output=True, text=True, timeout=60)
    assert (asked.returncode, asked.stdout[:6]) == (0, "usage:")
    wrong = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (wrong.returncode, wrong.stderr[:6]) == (2, "usage:")

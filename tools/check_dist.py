"""What is in the distributions: ``python tools/check_dist.py dist [another/dist]``.

The wheel has the whole package and nothing else, the sdist has what the wheel is built of, and the
wheel that was built from the sdist is the one that is built from the checkout (in the second
directory, where it is given).
"""

from __future__ import annotations

import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "autograd_engine"
SUFFIXES = {".py", ".pyi", ".typed", ".txt", ".c", ".h"}
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
NEEDED = ("Summary", "License-Expression", "Requires-Python", "Description-Content-Type")


class Wrong(Exception):
    """A distribution is not what it should be."""


def only(directory: Path, pattern: str) -> Path:
    found = list(directory.glob(pattern))
    if len(found) != 1:
        raise Wrong(f"{directory} has {len(found)} files {pattern}, one was expected")
    return found[0]


def package_files() -> set[str]:
    """The files of the package in the checkout, by their paths in a wheel."""
    files = (p for p in (ROOT / PACKAGE).rglob("*") if p.is_file())
    return {str(p.relative_to(ROOT)) for p in files if "__pycache__" not in p.parts}


def wheel_contents(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {i.filename: archive.read(i) for i in archive.infolist() if not i.is_dir()}


def check_wheel(path: Path) -> str:
    contents, expected = wheel_contents(path), package_files()
    strange = {n for n in expected if Path(n).suffix not in SUFFIXES}
    if strange:
        raise Wrong(f"the package has files of another kind: {sorted(strange)[:5]}")
    information = f"{path.name.split('-py3')[0]}.dist-info/"
    shipped = {n for n in contents if not n.startswith(information)}
    if shipped != expected:
        missing, more = sorted(expected - shipped)[:5], sorted(shipped - expected)[:5]
        raise Wrong(f"{path.name}: without {missing}, with {more}")
    for needed in (f"{PACKAGE}/py.typed", f"{PACKAGE}/compiler/native/c/runtime.c"):
        if needed not in shipped:
            raise Wrong(f"{path.name} has no {needed}")
    check_metadata(contents[f"{information}METADATA"].decode())
    if not any(n.startswith(information) and n.endswith("/LICENSE") for n in contents):
        raise Wrong(f"{path.name} has no licence")
    return f"{path.name}: {len(shipped)} files, {path.stat().st_size // 1024} KiB"


def check_metadata(text: str) -> None:
    message = Parser().parsestr(text)
    for name in NEEDED:
        if not message.get(name):
            raise Wrong(f"the metadata has no {name}")
    classifiers = set(message.get_all("Classifier", []))
    for version in PYTHONS:
        if f"Programming Language :: Python :: {version}" not in classifiers:
            raise Wrong(f"the metadata has no classifier for Python {version}")
    required = [r for r in message.get_all("Requires-Dist", []) if "extra ==" not in r]
    if sorted(r.split(">")[0].strip() for r in required) != ["numpy", "typing-extensions"]:
        raise Wrong(f"run time needs NumPy and typing-extensions only, not {required}")


def check_sdist(path: Path) -> str:
    with tarfile.open(path) as archive:
        names = {n.partition("/")[2] for n in archive.getnames()}
    needed = package_files() | {"pyproject.toml", "README.md", "LICENSE", "PKG-INFO"}
    if needed - names:
        raise Wrong(f"{path.name} is without {sorted(needed - names)[:5]}")
    return f"{path.name}: {len(names)} files, {path.stat().st_size // 1024} KiB"


def check_same(first: Path, second: Path) -> str:
    one, other = wheel_contents(first), wheel_contents(second)
    different = {n for n in one.keys() | other.keys() if one.get(n) != other.get(n)}
    if different:
        raise Wrong(f"the wheels of sdist and checkout differ in {sorted(different)[:5]}")
    return "the wheel of the sdist is that of the checkout"


def main(arguments: list[str]) -> int:
    directory = Path(arguments[0] if arguments else "dist")
    try:
        wheel = only(directory, "*.whl")
        print(check_wheel(wheel))
        print(check_sdist(only(directory, "*.tar.gz")))
        if arguments[1:]:
            print(check_same(wheel, only(Path(arguments[1]), "*.whl")))
    except Wrong as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

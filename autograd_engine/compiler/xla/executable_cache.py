"""What XLA has compiled, kept in the engine's own cache for later processes.

jax has such a cache too, but one for the whole process, at a place that its configuration names: to
use it would keep, or move, what the user's own jax code compiles. So executables are written and
read here, one by one. They are machine code; a record is believed only if it bears the seal of
this user's directory, as a library of C code does (`native.toolchain.cache_directory`).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
from typing import Any, Final

import jax
from jax.experimental import serialize_executable

from autograd_engine.compiler.native.toolchain.cache_directory import cache_directory
from autograd_engine.compiler.native.toolchain.compiler import cpu_features
from autograd_engine.compiler.native.toolchain.library_cache import ENTRY, trim

__all__ = ["compiled"]

_FORMAT: Final = "autograd_engine executable 1"
_RECORD: Final = "executable"
_SECONDS: Final = 0.1  # what takes less is compiled as fast as it is read


def compiled(lowered: Any, device: Any, seconds: float) -> Any:
    """What `lowered` is compiled to, by an earlier process or now.

    Parameters
    ----------
    lowered : jax.stages.Lowered
    device : jax.Device
        On which it runs.
    seconds : float
        What tracing it took: of small programs no record is made.
    """
    if seconds < _SECONDS / 2:
        return lowered.compile()
    name = f"{ENTRY}{_key(lowered, device)}"
    directory = cache_directory()
    record = directory.read(f"{name}/{_RECORD}")
    if record is not None:
        # Of another build of jax, in spite of its version: compiled again.
        with contextlib.suppress(Exception):
            return serialize_executable.deserialize_and_load(
                *pickle.loads(record), execution_devices=[device]
            )
    made = lowered.compile()
    # What calls back into this process is of no use to another, and is refused.
    with contextlib.suppress(Exception):
        data = pickle.dumps(serialize_executable.serialize(made))
        (directory.path / name).mkdir(mode=0o700, exist_ok=True)
        directory.write(f"{name}/{_RECORD}", data)
        trim(directory, keep=name)
    return made


def _key(lowered: Any, device: Any) -> str:
    """Of all that the machine code depends on."""
    client = device.client
    digest = hashlib.blake2b(digest_size=20)
    for text in (
        _FORMAT,
        jax.__version__,
        client.platform_version,
        f"{device.platform} {device.device_kind} {device.id} of {len(client.devices())}",
        cpu_features() if device.platform == "cpu" else "",
        os.environ.get("XLA_FLAGS", ""),
        str(jax.config.jax_default_matmul_precision),
        lowered.as_text(),
    ):
        data = text.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()

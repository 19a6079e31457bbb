"""Which lines count as the user's."""

import subprocess
import sys
from pathlib import Path

import autograd_engine


def test_a_file_beside_the_package_with_a_similar_name_is_the_users(tmp_path: Path) -> None:
    package = Path(autograd_engine.__file__).parent
    (tmp_path / package.name).symlink_to(package, target_is_directory=True)
    script = tmp_path / f"{package.name}_demo.py"
    script.write_text(
        "import autograd_engine as paddle\n"
        "from autograd_engine.core.locations import PACKAGE_DIR\n"
        f"assert {str(package) + '_demo'!r}.startswith(PACKAGE_DIR) is False\n"
        "x = paddle.to_tensor([1.0], stop_gradient=False)\n"
        "print((x * x)._node.location)\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "autograd_engine_demo.py:5"

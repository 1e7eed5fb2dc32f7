"""What a person without a Rust compiler or without a wheel gets."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BACKEND = Path(__file__).parent.parent / "build_backend.py"


@pytest.mark.parametrize("hook", ["prepare_metadata_for_build_wheel", "build_wheel"])
def test_without_cargo_and_without_a_download_one_line_says_what_to_do(hook: str, tmp_path: Path):
    # Nothing listens on port 1, so that no toolchain can be downloaded.
    environment = os.environ | {
        "PATH": str(tmp_path),
        "HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path),
        "RUSTUP_DIST_SERVER": "http://127.0.0.1:1",
        "RUSTUP_UPDATE_ROOT": "http://127.0.0.1:1",
    }
    environment.pop("MATURIN_NO_INSTALL_RUST", None)
    done = subprocess.run(
        [sys.executable, "-c", f"import build_backend; build_backend.{hook}({str(tmp_path)!r})"],
        cwd=BACKEND.parent,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("error: cargo is not installed")
    assert last.endswith("install Rust from https://rustup.rs and run pip again")


@pytest.mark.skipif(sys.platform == "win32", reason="files have no right to be run")
def test_the_script_of_an_sdist_can_be_run(tmp_path: Path):
    script = tmp_path / "rust" / "cli" / "wheel" / "scripts" / "ethos-registry"
    script.parent.mkdir(parents=True)
    script.write_text("#!python\n")
    script.chmod(0o644)
    shutil.copy(BACKEND, tmp_path)
    program = (
        "import build_backend as b, os\n"
        "with b._native_program(None): print(os.access(b._SCRIPT, os.X_OK))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True,
                          text=True, timeout=60)  # fmt: skip
    assert done.stdout == "True\n"

"""The units by systemd's own checks, which need no running systemd."""

import shutil
import subprocess
from pathlib import Path

import pytest

from config.environment.variables import BASE_DIR
from tests.deploy.deploy_files import UNITS, procfile

pytestmark = pytest.mark.slow

# systemd's figure of what a service could do to its machine, from 0 to 10; 2.0 as `--threshold` has it.
_EXPOSURE = 20


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """Return a directory with the units as they are installed, for this installation."""
    for unit in UNITS.glob("launchboard*.*"):
        text = unit.read_text().replace("/srv/launchboard", str(BASE_DIR))
        names = [unit.name.replace("@", f"@{name}") for name in procfile()] if "@" in unit.name else [unit.name]
        for name in names:
            (tmp_path / name).write_text(text)
    return tmp_path


def analyze(*words: str | Path) -> "subprocess.CompletedProcess[str]":
    program = shutil.which("systemd-analyze")
    assert program, "There is no systemd-analyze on the PATH. `make deploy-programs` installs it."
    return subprocess.run([program, *words], capture_output=True, text=True, check=False)


def test_systemd_finds_no_fault(units: Path) -> None:
    done = analyze("verify", "--man=no", *sorted(units.iterdir()))
    assert (done.returncode, done.stderr) == (0, "")


def test_systemd_finds_an_unknown_option(units: Path) -> None:
    unit = units / "launchboard@web.service"
    unit.write_text(unit.read_text().replace("ProtectClock=", "ProtectClocks="))
    assert "ProtectClocks" in analyze("verify", "--man=no", unit).stderr


@pytest.mark.parametrize("name", procfile())
def test_a_process_has_few_rights(units: Path, name: str) -> None:
    unit = units / f"launchboard@{name}.service"
    done = analyze("security", "--offline=true", f"--threshold={_EXPOSURE}", unit)
    assert done.returncode == 0, done.stdout


def test_the_process_is_that_of_the_instance(units: Path) -> None:
    unit = (UNITS / "launchboard@.service").read_text()
    assert "ExecStart=/srv/launchboard/deploy/start %i\n" in unit
    assert (units / "launchboard.target").read_text().count("launchboard@") == len(procfile())

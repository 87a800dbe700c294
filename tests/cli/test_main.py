import os
import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import click
import pytest

from honestybench import __version__
from honestybench.cli.main import COMMANDS, cli

COMMAND = [sys.executable, "-c", "from honestybench.cli.main import main; main()"]


def run(*arguments: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        [*COMMAND, *map(str, arguments)], **{"capture_output": True, "text": True, "check": False, **options}
    )


def test_version() -> None:
    assert run("--version").stdout == f"honestybench, version {__version__}\n"


def test_help_lists_every_command_with_examples_and_exit_codes() -> None:
    text = run("--help").stdout
    assert all(f"  {name} " in text for name in COMMANDS)
    assert "honestybench verify build/release" in text and "Exit codes" in text


def test_help_loads_no_command_and_no_pyarrow() -> None:
    code = "import sys; from honestybench.cli.main import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
    code += "print([name for name in ('pyarrow', 'numpy', 'honestybench.cli.verify') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.endswith("[]\n")


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_help(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert isinstance(command, click.Command)
    assert command.name == name and command.help


@pytest.mark.parametrize("arguments", [[], ["nope"], ["verify"], ["verify", "a", "b"], ["--nope"]])
def test_wrong_usage_exits_with_2(arguments: list[str]) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Usage: honestybench" in done.stderr and "Traceback" not in done.stderr


def test_a_full_disk_is_one_line(small_release: ModuleType, tmp_path: Path) -> None:
    small_release.write(tmp_path / "release")
    with open("/dev/full", "w") as full:
        done = run("verify", tmp_path / "release", capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (1, "error: No space left on device\n")


def test_a_reader_that_leaves_is_no_error(small_release: ModuleType, tmp_path: Path) -> None:
    small_release.write(tmp_path / "release")
    reading, writing = os.pipe()
    os.close(reading)
    done = run("verify", tmp_path / "release", capture_output=False, stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


def test_an_interrupt_exits_with_130(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "manifest.json")
    process = subprocess.Popen([*COMMAND, "verify", str(tmp_path)], stderr=subprocess.PIPE, text=True)
    # Opening the other end returns once the command has opened its end, so it is about to read or reading.
    with open(tmp_path / "manifest.json", "wb"):
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert stderr.strip() == "error: interrupted"

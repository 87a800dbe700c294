"""The harness of `make bench`: turns, ratios, failures and the file it writes. The benchmarks take minutes."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = """
import os
import sys
sys.path.insert(0, {bench!r})
import harness

def half(request):
    open({log!r}, "a").write("half ")
    print("a library's chatter")
    return {{"seconds": request["unit"] / 2, "turn": request["round"], "threads": os.environ["OMP_NUM_THREADS"]}}

def whole(request):
    open({log!r}, "a").write("whole ")
    held = bytearray(300_000_000)
    return {{"seconds": request["unit"]}}

def broken(request):
    raise OSError("the disk fell off")

def silent(request):
    sys.exit(0)

assert harness.serve({{"half": half, "whole": whole, "broken": broken, "silent": silent}})
"""


@pytest.fixture(scope="module")
def harness(checkout: Path) -> ModuleType:
    """The module tests/bench/harness.py."""
    spec = importlib.util.spec_from_file_location("harness", checkout / "tests" / "bench" / "harness.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def script(checkout: Path, tmp_path: Path) -> Path:
    """A script with trivial variants, which logs the order it was run in."""
    path = tmp_path / "script.py"
    bench, log = str(checkout / "tests" / "bench"), str(tmp_path / "log")
    path.write_text(SCRIPT.format(bench=bench, log=log), encoding="utf-8")
    return path


def test_variants_take_turns_and_are_divided_round_by_round(harness: ModuleType, script: Path, tmp_path: Path) -> None:
    found = harness.measure(script, ["half", "whole"], {"unit": 3.0}, rounds=2, threads=1)
    assert (tmp_path / "log").read_text().split() == ["half", "whole", "half", "whole"]
    assert [result["turn"] for result in found["half"]] == [0, 1]
    assert found["half"][0]["threads"] == "1"
    seconds = [harness.values(found[name], "seconds") for name in ("whole", "half")]
    assert harness.ratio(*seconds) == harness.Spread(2.0, 2.0, 2.0)


def test_peak_memory_is_the_variant_s_own(harness: ModuleType, script: Path) -> None:
    """The child that holds 0.3 GB shows it; the other does not, although this parent held as much when it began."""
    held = bytearray(400_000_000)
    found = harness.measure(script, ["half", "whole"], {"unit": 1.0}, rounds=1, threads=1)
    assert len(held) < harness.peak_bytes()
    assert found["whole"][0]["peak_bytes"] > 300_000_000 > found["half"][0]["peak_bytes"]


def test_ratio_is_the_median_of_the_rounds_quotients(harness: ModuleType) -> None:
    # 8/2 = 4, 3/3 = 1, 10/5 = 2; the quotient of the medians would be 8/3.
    assert harness.ratio([8, 3, 10], [2, 3, 5]) == harness.Spread(2, 1, 4)


@pytest.mark.parametrize(("variant", "told"), [("broken", "the disk fell off"), ("silent", "no JSON object")])
def test_a_failing_variant_is_named_with_its_stderr(harness: ModuleType, script: Path, variant: str, told: str) -> None:
    with pytest.raises(harness.VariantFailed, match=f"(?s)^{variant}: .*{told}"):
        harness.measure(script, [variant], {}, rounds=1, threads=1)


def test_a_file_is_written_whole_or_not_at_all(harness: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "new" / "result.json"
    harness.write_json(path, {"seconds": 1.5})
    with pytest.raises(ValueError, match="JSON compliant"):
        harness.write_json(path, {"seconds": float("nan")})
    assert json.loads(path.read_text()) == {"seconds": 1.5}
    assert [each.name for each in path.parent.iterdir()] == ["result.json"]


def test_table_is_aligned(harness: ModuleType) -> None:
    assert harness.table(("name", "s"), [("a", "10"), ("long name", "2")]).splitlines() == [
        "name        s",
        "---------  --",
        "a          10",
        "long name   2",
    ]


def test_every_script_of_the_folder_has_a_child_s_side(checkout: Path) -> None:
    """`make bench` runs the files with a `__main__`; each must be able to serve its own variants."""
    scripts = [path.read_text(encoding="utf-8") for path in (checkout / "tests" / "bench").glob("*.py")]
    runnable = [text for text in scripts if "__main__" in text]
    assert runnable
    assert all("serve(" in text for text in runnable)

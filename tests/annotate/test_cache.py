"""Cache keys carry everything that can change a value; the stores are exact and atomic."""

import json
import resource
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honestybench.annotate.cache import BlockStore, VerdictCache, block_key, cache_key, request_seed
from honestybench.errors import DataError, StorageError
from honestybench.records import N_SAMPLED, Generation

EXAMPLE = "popqa-ood-3f9a1c2b4d5e"


def test_cache_key_is_frozen() -> None:
    # printf '["popqa-ood-3f9a1c2b4d5e",7,123,"abc"]' | sha256sum, and with null for the greedy answer.
    assert cache_key(EXAMPLE, 7, 123, "abc") == "598a83a6ff05d6e2f237cd54367991247505a86bb8d2d9cd7a9c9f601835dbaa"
    assert cache_key(EXAMPLE, None, 123, "abc") == "2e43c2d53d5962663684d764636fa930b6f7e9d1a9df0cb8ac3fa25b7c9e1762"


def test_request_seed_is_frozen() -> None:
    # First 8 hexadecimal digits of: printf '[0,"popqa-ood-3f9a1c2b4d5e"]' | sha256sum
    assert request_seed(0, EXAMPLE) == 0x3316B258
    assert request_seed(1, EXAMPLE) != 0x3316B258


keys = st.tuples(st.text(max_size=5), st.none() | st.integers(0, 19), st.integers(0, 3), st.text(max_size=5))


@given(keys, keys)
def test_different_parts_give_different_keys(one: tuple, other: tuple) -> None:
    assert (cache_key(*one) == cache_key(*other)) == (one == other)


@given(st.lists(st.text(min_size=1, max_size=4), min_size=1, max_size=4, unique=True))
def test_block_key_depends_on_members_and_order(ids: list[str]) -> None:
    key = block_key(ids, 0, "config")
    assert key == block_key(list(ids), 0, "config")
    assert key != block_key([*ids, "another"], 0, "config")
    assert key != block_key(ids, 1, "config")
    assert key != block_key(ids, 0, "another")
    if len(ids) > 1:
        assert key != block_key(ids[::-1], 0, "config")


def answers(text: str, logprob: float) -> tuple[Generation, tuple[Generation, ...]]:
    greedy = Generation(
        text=text, finish_reason="stop", tokens=("a", "\n"), logprobs=(logprob, -0.5), cumulative_logprob=logprob - 0.5
    )
    return greedy, tuple(Generation(text=f"{text}{index}", finish_reason="length") for index in range(N_SAMPLED))


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(texts, st.floats(-1e3, 0, allow_nan=False))
def test_block_comes_back_equal(tmp_path_factory: pytest.TempPathFactory, text: str, logprob: float) -> None:
    store = BlockStore(tmp_path_factory.mktemp("store"))
    assert store.get("00aa") is None
    store.put("00aa", {EXAMPLE: answers(text, logprob)})
    assert store.get("00aa") == {EXAMPLE: answers(text, logprob)}


@pytest.mark.parametrize(
    "change",
    [{"text": 5}, {"finish_reason": None}, {"logprobs": [-1.0]}, {"cumulative_logprob": float("nan")}, {"extra": 1}],
)
def test_a_block_that_was_edited_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    store = BlockStore(tmp_path)
    store.put("00aa", {EXAMPLE: answers("x", -1.0)})
    stored = json.loads(store.path("00aa").read_text("utf-8"))
    stored[EXAMPLE]["greedy"] |= change
    store.path("00aa").write_text(json.dumps(stored), "utf-8")
    with pytest.raises(DataError, match="corrupt"):
        store.get("00aa")


@pytest.mark.parametrize(
    "damage", [b"", b'{"popqa', b"[]", b'{"x": {}}', b'{"x": {"greedy": {"nope": 1}, "sampled": []}}']
)
def test_corrupt_block_is_named_with_its_remedy(tmp_path: Path, damage: bytes) -> None:
    store = BlockStore(tmp_path)
    store.put("00aa", {EXAMPLE: answers("x", -1.0)})
    store.path("00aa").write_bytes(damage)
    with pytest.raises(DataError, match="corrupt") as caught:
        store.get("00aa")
    assert str(store.path("00aa")) in str(caught.value) and "delete it" in str(caught.value)


def test_refused_write_leaves_nothing(tmp_path: Path) -> None:
    store = BlockStore(tmp_path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(StorageError, match="may not grow"):
            store.put("00aa", {EXAMPLE: answers("x" * 200, -1.0)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_verdicts_come_back_after_reopening(tmp_path: Path) -> None:
    path = tmp_path / "work" / "verdicts.sqlite"
    first = VerdictCache(path)
    first.put({"a": "yes", "b": "No, 'quoted'\n"})
    first.close()
    again = VerdictCache(path)
    assert again.get(["a", "b", "c"]) == {"a": "yes", "b": "No, 'quoted'\n"}
    again.close()


def test_verdict_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.sqlite"
    path.write_bytes(b"this is no database" * 100)
    with pytest.raises(DataError, match="corrupt") as caught:
        VerdictCache(path)
    assert str(path) in str(caught.value) and "delete it" in str(caught.value)


def test_damage_behind_the_header_is_named_when_it_is_met(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.sqlite"
    cache = VerdictCache(path)
    cache.put({str(number): "yes" * 50 for number in range(500)})
    cache.close()
    content = bytearray(path.read_bytes())
    content[4096 * 2 :] = b"\xff" * len(content[4096 * 2 :])
    path.write_bytes(bytes(content))
    damaged = VerdictCache(path)
    for attempt in (lambda: damaged.get([str(number) for number in range(500)]), lambda: damaged.put({"1": "no"})):
        with pytest.raises(DataError, match="corrupt"):
            attempt()
    damaged.close()


def test_a_cache_in_a_file_s_place_is_told(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "verdicts.sqlite").mkdir()
    with pytest.raises(StorageError, match="unable to open"):
        VerdictCache(tmp_path / "work" / "verdicts.sqlite")

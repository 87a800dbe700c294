"""Whatever stands in a field, a page keeps its skeleton: text stays text, and no link leads to a script."""

import copy
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType

import pytest
from tinyhtml5.parser import HTMLParser as StrictParser

from honestybench.errors import DataError
from honestybench.scorecard import ScoreCard
from leaderboard.collect import AnswerText, Board, Entry, collect
from leaderboard.render import write_site

HOSTILE = {
    "script": "<script>alert(1)</script>",
    "double quote": '"><img src=x onerror=alert(1)>',
    "single quote": "'><svg onload=alert(1)>",
    "closing tags": "</bdi></pre></code></title></style></script></td></table><b>",
    "comment": "<!-- ",
    "template": "{{ 7 * 7 }}{% include '/etc/passwd' %}",
    "entities": "&lt;script&gt;&#60;script&#62;&copy",
    "script link": "javascript:alert(1)",
    "direction": "\u202egnp.exe\u2066",
    "control": "\x00\x08\x1b[31m\x85\ufffe",
    "surrogate": "\ud800 and \udfff",
    "separators": "a\u2028b\u2029c\r\nd",
    "bibtex": "}}, \\input{/etc/passwd",
    "long": "x" * 5000,
    "right to left": "بيان " * 20,
}
REFUSED = {"in_card": {"surrogate"}, "in_system": {"surrogate", "direction", "control", "separators"}}
LINKS = ("url", "code_url", "paper")


class Skeleton(HTMLParser):
    """The tags of a page with the names of their attributes, and its links; what is text is left out."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, ...]] = []
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.append((tag, *(name for name, _ in attrs)))
        self.links += [value for name, value in attrs if name == "href"]

    def handle_endtag(self, tag: str) -> None:
        self.tags.append((f"/{tag}",))

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data!r}")


INFO = ("name", "description", "license", "selected_on", "sees", "method_class", *LINKS)


def fill_card(card: ScoreCard, write: Callable[[str], str]) -> None:
    """Put `write(field)` into every text of a card that is free and that pages show."""
    card["flags"] = [write("flag")]
    warning = {key: write(f"warning-{key}") for key in ("code", "id", "message")}
    card["warnings"] = [{**warning, "line": 1}]
    source = write("source")
    for track in card["tracks"].values():
        track["headline"]["banner"] = write("banner")
        track["sources"] = {source: {**next(iter(track["sources"].values())), "flags": [write("source-flag")]}}
        track["left_out"] = {"auroc": {source: write("left-out")}}
        track["slices"] = {**track["slices"], "made-up": {**track["slices"]["all"], "label": write("slice")}}
        track["confident_errors"] = [
            {"id": write("error"), "confidence": 0.5},
            {"id": "known", "confidence": 0.4},
        ]
        for metrics in track["aggregates"].values():
            metrics["brier"] = {"value": None, "ci_low": None, "ci_high": None, "n": 0, "reason": write("reason")}


def filled(board: Board, write: Callable[[str], str]) -> Board:
    """Put `write(field)` into every field of a board that comes from outside, those too that are checked on reading."""
    entry = next(entry for entry in board.entries if entry.slug == "constant")
    card = copy.deepcopy(entry.card)
    fill_card(card, write)
    card["inputs"] = [{"file": write("file"), "seed": None, "sha256": write("sha256")}]
    card["release_id"] = write("release")
    info = replace(entry.info, **{name: write(name) for name in INFO}, authors=(write("author"), write("co-author")))
    text = AnswerText(question=write("question"), golds=(write("gold"), write("gold-2")), greedy_answer=write("answer"))
    return Board(
        llm=board.llm,
        entries=(Entry(slug=entry.slug, info=info, card=card),),
        texts_release=card["release_id"],
        texts={"known": text},
        source_titles={write("source"): write("title")},
    )


def read_board(made_up: ModuleType, folder: Path, *, in_card: str = "word", in_system: str = "word") -> Board:
    """Write one submission with these texts in its card and its system file, and read it as the site does."""
    card = made_up.card("constant", per_source=20)
    fill_card(card, lambda field: in_card)
    texts = {name: in_system for name in ("name", "family", "description", "license")}
    keys = made_up.system_yaml("constant", **texts, authors=[in_system, in_system])
    made_up.write_one(folder, "constant", card, keys)
    (board,) = collect(folder, Path("/nonexistent"))
    return board


def skeletons(board: Board, out: Path) -> dict[str, Skeleton]:
    write_site([board], out)
    pages = {str(path.relative_to(out)): path.read_text(encoding="utf-8") for path in out.rglob("*.html")}
    for name, text in pages.items():
        parser = StrictParser()
        parser.parse(text)
        assert parser.errors == [], name
    return {name: Skeleton(text) for name, text in pages.items()}


@pytest.fixture(scope="module")
def plain(boards: tuple[Board, ...], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Skeleton]:
    """The pages with a harmless word in every field."""
    return skeletons(filled(boards[0], lambda field: "word"), tmp_path_factory.mktemp("plain") / "site")


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_text_stays_text(text: str, boards: tuple[Board, ...], plain: dict[str, Skeleton], tmp_path: Path) -> None:
    found = skeletons(filled(boards[0], lambda field: text), tmp_path / "site")
    assert found.keys() == plain.keys()
    for name, page in found.items():
        assert page.tags == plain[name].tags, name
        assert page.links == plain[name].links, name


@pytest.fixture(scope="module")
def plain_files(made_up: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Skeleton]:
    """The pages of one submission, read from files, with a harmless word in every field."""
    folder = tmp_path_factory.mktemp("plain-files")
    return skeletons(read_board(made_up, folder / "submissions"), folder / "site")


@pytest.mark.parametrize("field", ["in_card", "in_system"])
@pytest.mark.parametrize("case", HOSTILE)
def test_text_of_a_file_stays_text_or_is_refused(
    field: str, case: str, made_up: ModuleType, plain_files: dict[str, Skeleton], tmp_path: Path
) -> None:
    """A card may hold all that UTF-8 can; a system file holds printable lines only."""
    text = {field: HOSTILE[case]}
    if case in REFUSED[field]:
        with pytest.raises(DataError, match=r"(scorecard.json|system.yaml): .*Remedy: "):
            read_board(made_up, tmp_path / "submissions", **text)
        return
    found = skeletons(read_board(made_up, tmp_path / "submissions", **text), tmp_path / "site")
    assert {name: (page.tags, page.links) for name, page in found.items()} == {
        name: (page.tags, page.links) for name, page in plain_files.items()
    }


@pytest.mark.parametrize("key", LINKS)
@pytest.mark.parametrize(
    "link", ["javascript:alert(1)", "//example.org", 'https://example.org/"onclick="', "https://", "data:text/html,x"]
)
def test_a_link_of_a_file_is_refused(key: str, link: str, made_up: ModuleType, tmp_path: Path) -> None:
    keys = made_up.system_yaml("constant", **{key: link})
    made_up.write_one(tmp_path, "constant", made_up.card("constant", per_source=20), keys)
    with pytest.raises(DataError, match=f"system.yaml: {key} must be a link"):
        collect(tmp_path, Path("/nonexistent"))


def test_every_field_reaches_a_page(boards: tuple[Board, ...], tmp_path: Path) -> None:
    """Guard the test above: a field that no page shows would pass it idly. Here each field has its own word."""
    fields: set[str] = set()

    def word(field: str) -> str:
        fields.add(field)
        return f"word-of-{field}-here"

    skeletons(filled(boards[0], word), tmp_path / "site")
    pages = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "site").rglob("*.html"))
    # A source is shown by its title; its key is shown only where no release names it.
    assert {field for field in fields if f"word-of-{field}-here" not in pages} == {"source"}

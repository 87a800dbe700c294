"""Whatever stands in a field, a page keeps its skeleton: text stays text, and no link leads to a script."""

import copy
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tinyhtml5.parser import HTMLParser as StrictParser

from leaderboard.collect import AnswerText, Board, Entry
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


def filled(board: Board, write: Callable[[str], str]) -> Board:
    """Put `write(field)` into every field of a board that comes from outside and that pages show."""
    entry = next(entry for entry in board.entries if entry.slug == "constant")
    card = copy.deepcopy(entry.card)
    card["flags"] = [write("flag")]
    warning = {key: write(f"warning-{key}") for key in ("code", "id", "message")}
    card["warnings"] = [{**warning, "line": 1}]
    card["inputs"] = [{"file": write("file"), "seed": None, "sha256": write("sha256")}]
    card["release_id"] = write("release")
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
    info = replace(entry.info, **{name: write(name) for name in INFO}, authors=(write("author"), write("co-author")))
    text = AnswerText(question=write("question"), golds=(write("gold"), write("gold-2")), greedy_answer=write("answer"))
    return Board(
        llm=board.llm,
        entries=(Entry(slug=entry.slug, info=info, card=card),),
        texts_release=card["release_id"],
        texts={"known": text},
        source_titles={source: write("title")},
    )


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

"""Whatever stands in a field, a page keeps its skeleton: text stays text, and no link leads to a script."""

import copy
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
LINKS = {"url", "code_url", "paper"}


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


def filled(board: Board, text: str) -> Board:
    """Put a text into every field of a board that comes from outside, keeping their number."""
    entry = next(entry for entry in board.entries if entry.slug == "constant")
    card = copy.deepcopy(entry.card)
    card["flags"] = [text]
    card["warnings"] = [{"code": text, "line": 1, "id": text, "message": text}]
    card["inputs"] = [{"file": text, "seed": None, "sha256": text}]
    card["release_id"] = text
    for track in card["tracks"].values():
        track["headline"]["banner"] = text
        track["sources"] = {text: next(iter(track["sources"].values()))}
        track["sources"][text]["flags"] = [text]
        track["left_out"] = {"auroc": {text: text}}
        track["slices"] = {**track["slices"], text: {**track["slices"]["all"], "label": text}}
        track["confident_errors"] = [{"id": text, "confidence": 0.5}, {"id": "known", "confidence": 0.4}]
        for metrics in track["aggregates"].values():
            metrics["brier"] = {"value": None, "ci_low": None, "ci_high": None, "n": 0, "reason": text}
    info = replace(
        entry.info,
        **dict.fromkeys(("name", "family", "license", "description", "selected_on", "sees", "method_class"), text),
        **dict.fromkeys(LINKS, text),
        authors=(text, text),
    )
    return Board(
        llm=board.llm,
        entries=(Entry(slug=entry.slug, info=info, card=card),),
        texts_release=text,
        texts={"known": AnswerText(question=text, golds=(text, text), greedy_answer=text)},
        source_titles={text: text},
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
    return skeletons(filled(boards[0], "word"), tmp_path_factory.mktemp("plain") / "site")


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_text_stays_text(text: str, boards: tuple[Board, ...], plain: dict[str, Skeleton], tmp_path: Path) -> None:
    found = skeletons(filled(boards[0], text), tmp_path / "site")
    assert found.keys() == plain.keys()
    for name, page in found.items():
        assert page.tags == plain[name].tags, name
        assert page.links == plain[name].links, name


def test_every_field_reaches_a_page(boards: tuple[Board, ...], tmp_path: Path) -> None:
    """Guard the test above: a field that no page shows would pass it idly. Here each field has its own word."""
    skeletons(filled(boards[0], "qwertz"), tmp_path / "site")
    system = next((tmp_path / "site" / "system").rglob("*.html")).read_text(encoding="utf-8")
    # Once each: sees, method class, selected on, licence, description; the rest more often. Family is not shown.
    assert system.count("qwertz") >= 40

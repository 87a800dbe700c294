"""The built site as files: policy, well-formed pages, links, missing values, equal bytes, nothing from outside."""

import json
import re
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from tinyhtml5.parser import HTMLParser as StrictParser

from honestybench.errors import UsageError
from honestybench.submission import read_system
from leaderboard.collect import Board
from leaderboard.render import write_site

ROOT = Path(__file__).resolve().parents[2]
STYLE = (ROOT / "leaderboard" / "static" / "style.css").read_text(encoding="utf-8")


class Seen(HTMLParser):
    """The tags of a page with their attributes, its ids, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.feed(text)
        self.ids = [attributes["id"] for _, attributes in self.tags if "id" in attributes]

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Seen]:
    """Every page by its path in the site."""
    found = {str(path.relative_to(site)): Seen(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    assert len(found) == 1 + 2 * (2 + 7) + 2  # index; two LLMs: all, clean, 7 systems; about, submit
    return found


def test_every_page_is_well_formed(site: Path, pages: dict[str, Seen]) -> None:
    for name in pages:
        parser = StrictParser()
        parser.parse((site / name).read_text(encoding="utf-8"))
        assert [(name, error) for error in parser.errors] == []
        assert len(pages[name].ids) == len(set(pages[name].ids)), f"{name}: an id stands twice"


def test_every_page_has_the_policy(pages: dict[str, Seen]) -> None:
    for name, page in pages.items():
        (policy,) = [a["content"] for tag, a in page.tags if a.get("http-equiv") == "Content-Security-Policy"]
        rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
        assert rules["default-src"] == "'none'", name
        assert rules["style-src"] == rules["script-src"] == "'self'", name
        assert rules["img-src"] == "'self' data:", name
        first = [tag for tag, _ in page.tags].index("meta")
        assert [tag for tag, _ in page.tags[: first + 2]] == ["html", "head", "meta", "meta"], "the policy comes first"


def test_nothing_is_inline_and_nothing_from_outside(pages: dict[str, Seen]) -> None:
    for name, page in pages.items():
        for tag, attributes in page.tags:
            assert tag not in ("script", "style", "iframe", "object", "embed", "form", "base"), name
            assert not [key for key in attributes if key.startswith("on") or key in ("style", "src", "srcset")], name
            if tag == "a" and urlsplit(attributes["href"]).scheme:
                assert attributes["href"].startswith("https://example.org/"), name
                assert "noopener" in attributes["rel"], name
            if tag == "link":
                assert not urlsplit(attributes["href"]).scheme, name
    assert "url(" not in STYLE
    assert "@import" not in STYLE


def test_internal_links_lead_somewhere(site: Path, pages: dict[str, Seen]) -> None:
    followed = 0
    for name, page in pages.items():
        for tag, attributes in page.tags:
            address = attributes.get("href", "")
            if tag not in ("a", "link") or urlsplit(address).scheme:
                continue
            target = urlsplit(urljoin(f"https://site/{name}", address))
            path = unquote(target.path).lstrip("/")
            assert (site / path).is_file(), f"{name}: {address}"
            if target.fragment:
                assert target.fragment in pages[path].ids, f"{name}: {address}"
            followed += 1
    assert followed > 100


def test_two_builds_have_equal_bytes(site: Path, boards: tuple[Board, ...], tmp_path: Path) -> None:
    write_site(boards, tmp_path / "again")
    files = {path.relative_to(site): path.read_bytes() for path in site.rglob("*") if path.is_file()}
    again = {p.relative_to(tmp_path / "again"): p.read_bytes() for p in (tmp_path / "again").rglob("*") if p.is_file()}
    assert files == again
    listed = json.loads(files[Path("manifest.json")])["files"]
    assert listed == {
        str(path): sha256(data).hexdigest() for path, data in files.items() if path.name != "manifest.json"
    }


def test_a_new_build_leaves_no_page_of_the_old_one(boards: tuple[Board, ...], tmp_path: Path) -> None:
    write_site(boards, tmp_path / "site")
    write_site(boards[:1], tmp_path / "site")
    assert not (tmp_path / "site" / "llm" / f"{boards[1].llm}.html").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


@pytest.mark.parametrize(
    "manifest", [None, '{"content": {}}', "[]", "no json", '{"kind": "honestybench-site"}', "[" * 100_000]
)
def test_other_folders_are_left_alone(manifest: str | None, boards: tuple[Board, ...], tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    if manifest is not None:
        (tmp_path / "manifest.json").write_text(manifest)
    with pytest.raises(UsageError, match="holds no site"):
        write_site(boards, tmp_path)
    assert (tmp_path / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize("name", ["CNAME", "notes/a", "llm/mine.html", "notes/"])
def test_a_site_that_holds_more_is_left_alone(name: str, boards: tuple[Board, ...], tmp_path: Path) -> None:
    site = tmp_path / "site"
    write_site(boards, site)
    mine = site / name
    if name.endswith("/"):
        mine.mkdir()
    else:
        mine.parent.mkdir(exist_ok=True)
        mine.write_text("mine")
    (first, *_) = name.split("/") if name.startswith("notes") else (name,)
    before = {path: path.read_bytes() for path in site.rglob("*") if path.is_file()}
    with pytest.raises(UsageError, match=f"site: {first}.*: not written by an earlier build.* Remedy: move"):
        write_site(boards, site)
    assert before == {path: path.read_bytes() for path in site.rglob("*") if path.is_file()}
    assert mine.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_every_row_says_scorer_release_and_date(pages: dict[str, Seen], boards: tuple[Board, ...]) -> None:
    for board in boards:
        page = pages[f"llm/{board.llm}.html"]
        release = str(board.entries[0].card["release_id"])[:8]
        rows = sum(tag == "tr" and a.get("class") in (None, "best") for tag, a in page.tags) - 3  # less the heads
        assert rows == 3 * 7 - 1  # three tracks, seven systems, one without MMLU
        assert page.text.count(f"scorer 1 · {release}") == rows
        assert page.text.count("2026-01-31") == rows


def test_missing_values_are_gaps_with_reasons(pages: dict[str, Seen]) -> None:
    text = pages["system/made-up-llm/elicited.html"].text
    assert "No confidences were submitted for this track." in text
    assert "no confidences submitted for this track" in pages["llm/made-up-llm.html"].text
    shown = {name: page.text for name, page in pages.items() if name != "submit.html"}  # that page speaks of NaN
    assert {name: re.findall(r"\b(?:None|nan|NaN|undefined)\b", text) for name, text in shown.items()} == {
        name: ["None"] * name.startswith("system/")
        for name in shown  # "Flags and warnings: None."
    } | {"system/another-llm/constant.html": [], "system/made-up-llm/constant.html": []}


def test_texts_of_confident_errors_are_quoted_where_the_release_is_at_hand(
    pages: dict[str, Seen], small_release
) -> None:
    quoted = [r for r in small_release.records() if r.example.question in pages["system/made-up-llm/prob.html"].text]
    assert quoted
    assert all(record.greedy.text in pages["system/made-up-llm/prob.html"].text for record in quoted)
    assert "the text is in the release that was scored" in pages["system/another-llm/prob.html"].text


def test_charts_have_words_and_numbers(pages: dict[str, Seen]) -> None:
    page = pages["system/made-up-llm/prob.html"]
    assert sum(a.get("role") == "img" and "aria-labelledby" in a for tag, a in page.tags if tag == "svg") == 9
    for _, attributes in page.tags:
        for target in attributes.get("aria-labelledby", "").split():
            assert target in page.ids
    assert page.text.count("Numbers of this chart") == 9


def test_the_system_file_on_the_page_is_accepted(site: Path, tmp_path: Path) -> None:
    (block,) = re.findall(r"<code>(name: .*?)</code>", (site / "submit.html").read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "system.yaml").write_text(block, encoding="utf-8")
    assert read_system(tmp_path / "system.yaml").sees == "answer"


def test_at_most_five_type_sizes() -> None:
    sizes = set(re.findall(r"font-size: ([^;]+);", STYLE)) - {"100%", "inherit"}
    named = {size for size in sizes if size.startswith("var(--size-")}
    assert len(named) <= 5
    assert sizes - named == {"11.5px"}, "only drawings, which grow with the page, have their own size"


def channel(value: int) -> float:
    part = value / 255
    return part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4


def luminance(colour: str) -> float:
    red, green, blue = (channel(int(colour[k : k + 2], 16)) for k in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast(scheme: str) -> None:
    """WCAG AA asks 4.5:1 of text; luminance as WCAG 2.1 defines it."""
    light, dark = (
        dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", part)) for part in re.findall(r":root \{([^}]*)\}", STYLE)[:2]
    )
    colours = {**light, **(dark if scheme == "dark" else {})}
    backs = ("paper", "raised", "best", "wrong-soft")
    pairs = [(text, back) for text in ("ink", "quiet", "accent", "wrong", "good") for back in backs]
    for text, back in [*pairs, ("ink", "accent-soft")]:
        lighter, darker = sorted((luminance(colours[text]), luminance(colours[back])), reverse=True)
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5, f"{text} on {back}"

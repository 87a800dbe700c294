"""The site in a real browser: nothing on its console, no outside request, nothing cut, numbers at first sight."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from leaderboard.browser import Browser, Look, find_chromium, take_pictures

ROOT = Path(__file__).resolve().parents[2]
PHONE = Look(width=360, height=740, scheme="light")
SMALL = Look(width=1024, height=768, scheme="light")
PAGES = ("index.html", "clean/made-up-llm.html", "system/made-up-llm/constant.html", "about.html", "submit.html")

MISSING = find_chromium() is None
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(MISSING and not os.environ.get("CI"), reason="Chromium is not installed: make browser"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def served(site: Path) -> Iterator[str]:
    """The address of the site on the project's own server."""
    command = [sys.executable, "-m", "leaderboard", "serve", "--out", str(site), "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        line = server.stdout.readline()
        yield next(word for word in line.split() if word.startswith("http://"))
        server.terminate()


@pytest.fixture(params=["file", "server"])
def address(request: pytest.FixtureRequest, site: Path) -> str:
    """The address of the site's root, once on the disk and once on a server."""
    return f"{site.as_uri()}/" if request.param == "file" else request.getfixturevalue("served")


@pytest.mark.parametrize("page", PAGES)
def test_page_is_quiet_styled_and_asks_nobody_else(page: str, address: str, browser: Browser) -> None:
    browser.console(), browser.requests()
    browser.look(address + page, SMALL)
    assert browser.console() == []
    asked = browser.requests()
    assert [url for url in asked if not url.startswith(address)] == []
    assert {Path(urlsplit(url).path).suffix for url in asked} >= {".html", ".css"}
    # The style sheet was let in by the policy: the accent of the links is its own.
    assert browser.evaluate("getComputedStyle(document.querySelector('footer a')).color") == "rgb(11, 92, 138)"


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("look", [PHONE, SMALL], ids=["360", "1024"])
def test_nothing_is_cut_and_nothing_scrolls_sideways(page: str, look: Look, site: Path, browser: Browser) -> None:
    browser.look(f"{site.as_uri()}/{page}", look)
    assert browser.evaluate("document.documentElement.clientWidth") == look.width
    assert browser.evaluate("document.documentElement.scrollWidth") <= look.width
    beyond = """[...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1
        && !e.closest('pre, details, .hidden, thead')).map(e => e.outerHTML.slice(0, 80))"""
    assert browser.evaluate(beyond) == []


def test_first_number_is_in_sight(site: Path, browser: Browser) -> None:
    browser.look(f"{site.as_uri()}/index.html", SMALL)
    bottom = browser.evaluate("document.querySelector('.board .value').getBoundingClientRect().bottom")
    assert bottom < SMALL.height


def test_dark_scheme_is_dark(site: Path, browser: Browser) -> None:
    browser.look(f"{site.as_uri()}/index.html", Look(width=1024, height=768, scheme="dark"))
    assert browser.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 23, 28)"


def test_interval_bars_have_length(site: Path, browser: Browser) -> None:
    for look in (PHONE, SMALL):
        browser.look(f"{site.as_uri()}/index.html", look)
        widths = browser.evaluate("[...document.querySelectorAll('.bar')].map(b => b.getBoundingClientRect().width)")
        assert len(widths) == 20  # as many as rows
        assert min(widths) >= 100


def test_pictures(site: Path, tmp_path: Path) -> None:
    first = next(take_pictures(site, tmp_path))
    data = first.read_bytes()
    assert data.startswith(b"\x89PNG")
    assert int.from_bytes(data[16:20], "big") == 1440

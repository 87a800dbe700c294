"""A headless Chromium of the system, driven by Selenium: for pictures of the site and for its smoke test."""

import base64
import json
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from honestybench.errors import MissingExtraError

INSTALL = "run `make browser`, or as root: apt-get install chromium chromium-driver"
_NAMES = ("chromium", "google-chrome")
_OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--hide-scrollbars",
    "--font-render-hinting=none",
    "about:blank",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How a page is looked at: width in CSS pixels, height of the window, colour scheme."""

    width: int
    height: int
    scheme: str


PICTURES = tuple(
    Look(width=width, height=height, scheme=scheme)
    for width, height in ((1440, 900), (1024, 768), (360, 740))
    for scheme in ("light", "dark")
)


def find_chromium() -> str | None:
    """Give the path of the browser, None where it or its driver is missing."""
    found = next((path for name in _NAMES if (path := shutil.which(name))), None)
    return found if shutil.which("chromedriver") else None


class Browser:
    """One Chromium with a profile of its own. Use as a context manager.

    Raises: MissingExtraError when Chromium, its driver or Selenium is missing.
    """

    def __init__(self) -> None:
        chromium, driver = find_chromium(), shutil.which("chromedriver")
        if chromium is None or driver is None:
            raise MissingExtraError("chromium", needed_for="looking at the site", install=INSTALL)
        try:
            from selenium.webdriver import Chrome, ChromeOptions
            from selenium.webdriver.chrome.service import Service
        except ImportError as error:
            raise MissingExtraError("selenium", needed_for="looking at the site", install="run `make venv`") from error
        self._profile = tempfile.TemporaryDirectory(prefix="honestybench-chromium-", ignore_cleanup_errors=True)
        options = ChromeOptions()
        options.binary_location = chromium
        for option in (*_OPTIONS, f"--user-data-dir={self._profile.name}"):
            options.add_argument(option)
        options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
        self.driver = Chrome(options=options, service=Service(driver))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.driver.quit()
        self._profile.cleanup()

    def look(self, url: str, look: Look) -> None:
        """Open a page at a width and in a colour scheme."""
        metrics = {"width": look.width, "height": look.height, "deviceScaleFactor": 1, "mobile": look.width < 640}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        features = [{"name": "prefers-color-scheme", "value": look.scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        self.driver.get(url)

    def evaluate(self, expression: str) -> Any:
        """Give the value of a JavaScript expression on the open page."""
        return self.driver.execute_script(f"return ({expression});")

    def picture(self) -> bytes:
        """Take a picture of the page from top to bottom, as wide as the window, as PNG."""
        size = self.driver.execute_cdp_cmd("Page.getLayoutMetrics", {})
        width, height = size["cssLayoutViewport"]["clientWidth"], size["cssContentSize"]["height"]
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        options = {"format": "png", "captureBeyondViewport": True, "clip": clip}
        return base64.b64decode(self.driver.execute_cdp_cmd("Page.captureScreenshot", options)["data"])

    def console(self) -> list[str]:
        """Give the messages on the console since the last call."""
        return [entry["message"] for entry in self._log("browser")]

    def requests(self) -> list[str]:
        """Give the addresses on the disk or a network that were asked for since the last call."""
        messages = (json.loads(entry["message"])["message"] for entry in self._log("performance"))
        sent = (one["params"]["request"]["url"] for one in messages if one["method"] == "Network.requestWillBeSent")
        return [url for url in sent if not url.startswith(("data:", "chrome:"))]

    def _log(self, kind: str) -> list[Any]:
        entries: list[Any] = self.driver.execute("getLog", {"type": kind})["value"]
        return entries


def take_pictures(site: Path, pictures: Path) -> Iterator[Path]:
    """Take pictures of one page of every kind in every look; give their paths as they are written."""
    pictures.mkdir(parents=True, exist_ok=True)
    with Browser() as browser:
        for name, page in _shown(site).items():
            for look in PICTURES:
                browser.look(page.resolve().as_uri(), look)
                path = pictures / f"{name}-{look.width}-{look.scheme}.png"
                path.write_bytes(browser.picture())
                yield path


def _shown(site: Path) -> dict[str, Path]:
    """Pick one page of every kind: the system is the one that stands first on the index."""
    system = next(iter(sorted((site / "system").rglob("*.html"))))
    return {
        "index": site / "index.html",
        "system": system,
        "about": site / "about.html",
        "submit": site / "submit.html",
    }

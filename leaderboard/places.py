"""Where pages stand, and the links between them. Only checked folder names become parts of a path."""

from dataclasses import dataclass
from posixpath import relpath
from typing import Self

from leaderboard.views import Link, Page


@dataclass(frozen=True, slots=True)
class Place:
    """A page's path, relative to the site's root."""

    path: str

    @classmethod
    def board(cls, llm: str, selection: str) -> Self:
        """The board of one LLM for a selection of questions."""
        return cls(f"{'llm' if selection == 'all' else selection}/{llm}.html")

    @classmethod
    def system(cls, llm: str, slug: str) -> Self:
        """The page of one system."""
        return cls(f"system/{llm}/{slug}.html")

    @property
    def root(self) -> str:
        """The way from this page to the site's root: "" or "../" repeated."""
        return "../" * self.path.count("/")

    def to(self, other: "Place") -> str:
        """The relative address of another page; the same from file:// and from a server."""
        return relpath(other.path, self.path.rpartition("/")[0] or ".")


INDEX = Place("index.html")
ABOUT = Place("about.html")
SUBMIT = Place("submit.html")


def frame(place: Place, title: str, description: str, section: str) -> Page:
    """Make the frame of the page at a place; `section` is the entry of the navigation that it belongs to."""
    entries = {"board": ("Leaderboard", INDEX), "about": ("About", ABOUT), "submit": ("How to submit", SUBMIT)}
    return Page(
        title=title,
        description=description,
        root=place.root,
        nav=tuple(
            Link(text=text, href=place.to(target), current=key == section) for key, (text, target) in entries.items()
        ),
    )

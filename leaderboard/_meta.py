"""Stands in for honestybench.submission until that is merged."""
from dataclasses import dataclass
from pathlib import Path
import yaml

@dataclass(frozen=True, slots=True, kw_only=True)
class SystemInfo:
    name: str
    family: str
    llm: str
    release: str | None
    method_class: str
    sees: tuple[str, ...]
    labels_used: int
    samples_per_question: int
    extra_passes: int
    selected_on: str | None
    authors: tuple[str, ...]
    url: str | None
    code_url: str | None
    paper: str | None
    license: str | None
    date: str
    description: str

def read_system(path: Path) -> SystemInfo:
    d = yaml.safe_load(path.read_text(encoding="utf-8"))
    for key in ("sees", "authors"):
        d[key] = tuple(d[key])
    d["date"] = str(d["date"])
    return SystemInfo(**d)

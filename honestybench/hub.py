"""Fetches files of repositories from the Hugging Face Hub, or from the server HF_ENDPOINT names.

The only importer of huggingface_hub: it caches, resumes and authenticates; here its many errors
become one.
"""

from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Literal

from honestybench.errors import MissingExtraError, SourceError

FROM_FILES = "or build from files: --qa-dir or --raw-dir"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """Files of a repository at one commit: `paths` within the repository, in name order, lie under `folder`."""

    repo: str
    commit: str
    folder: Path
    paths: tuple[str, ...]


@cache
def fetch_files(repo: str, pattern: str, revision: str, *, kind: Literal["dataset", "model"] = "dataset") -> Fetched:
    """Bring the files of a repository that match the pattern into the local Hub cache.

    `*` matches any characters, slashes too. What the cache holds is not fetched again, and serves
    alone under HF_HUB_OFFLINE=1 or while the Hub cannot be reached. Within a process the answer stays.
    Raises: MissingExtraError; SourceError when no file matches or the Hub does not give them.
    """
    try:
        from huggingface_hub import errors, snapshot_download
        from huggingface_hub.utils import logging
    except ImportError as error:
        install = f"make venv, or pip install huggingface_hub; {FROM_FILES}"
        raise MissingExtraError("huggingface_hub", needed_for="fetching from the Hub", install=install) from error
    logging.set_verbosity_error()
    where = f"Hub {kind} {repo}, {pattern}, revision {revision}"
    # HTTPError is the one base of its HTTP errors and of the connection errors of the library below it.
    refusals = (errors.HTTPError, errors.EntryNotFoundError, errors.FileMetadataError, errors.XetDownloadError)
    try:
        folder = Path(snapshot_download(repo, repo_type=kind, revision=revision, allow_patterns=[pattern]))
    except refusals as error:
        raise _refusal(error, where) from error
    files = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    paths = tuple(sorted(path for path in files if fnmatchcase(path, pattern)))
    if not paths:
        remedy = f"look for the file in the repository, unset HF_HUB_OFFLINE, {FROM_FILES}"
        raise SourceError("the repository holds no such file", where=where, remedy=remedy)
    return Fetched(repo=repo, commit=folder.name, folder=folder, paths=paths)


def commit_of(repo: str, revision: str) -> str:
    """Return the commit that a model repository's revision stands for now. Raises: as `fetch_files`."""
    return fetch_files(repo, "config.json", revision, kind="model").commit


def _refusal(error: Exception, where: str) -> SourceError:
    """Say in one line why the client did not give the files. Its own messages run over many lines."""
    from huggingface_hub import errors

    # The client hides what happened behind "not found locally"; the cause tells.
    cause = error
    while isinstance(cause, errors.LocalEntryNotFoundError) and isinstance(cause.__cause__, Exception):
        cause = cause.__cause__
    status = getattr(getattr(cause, "response", None), "status_code", None)
    if isinstance(cause, errors.OfflineModeIsEnabled):
        what, remedy = "not in the local Hub cache, and HF_HUB_OFFLINE forbids fetching", "unset HF_HUB_OFFLINE"
    elif isinstance(cause, errors.GatedRepoError):
        what, remedy = "the repository is gated", "accept its terms on the Hub and set HF_TOKEN"
    elif isinstance(cause, errors.RepositoryNotFoundError):
        what, remedy = "the Hub has no such repository, or hides it", "check HF_ENDPOINT, set HF_TOKEN"
    elif isinstance(cause, errors.RevisionNotFoundError):
        what, remedy = "the repository has no such revision", "check HF_ENDPOINT"
    elif status is not None:
        what, remedy = f"the Hub answered with HTTP status {status}", "try again later, check HF_ENDPOINT and HF_TOKEN"
    else:
        what, remedy = f"the Hub cannot be reached ({type(cause).__name__})", "check the network and HF_ENDPOINT"
    return SourceError(what, where=where, remedy=f"{remedy}, {FROM_FILES}")

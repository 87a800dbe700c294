"""A loopback server with the reading half of the Hub's HTTP interface, as the real client uses it.

    with HubEmulator() as hub:
        hub.seed("owner/name", folder)
        ...  # a process that was started with HF_ENDPOINT=hub.url

The client reads its environment at import, so it belongs into a process of its own.
"""

import hashlib
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from urllib.parse import unquote, urlsplit

LARGE_FILES = (".parquet",)
"""Endings of files that are announced as large ones (LFS), by their sha256."""


class Refusal(Exception):
    """An answer other than 200; `code` is what the real server puts into X-Error-Code."""

    def __init__(self, status: int, code: str = "", message: str = "", commit: str = "") -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.commit = status, code, message, commit


class HubEmulator:
    """Dataset repositories by name, each a table of revisions (branches and commits) to files.

    `faults` maps patterns of request paths to refusals; each holds until it is taken out.
    `requests` lists the paths that were asked for.
    """

    def __init__(self) -> None:
        self.repos: dict[str, dict[str, tuple[str, dict[str, bytes]]]] = {}
        self.faults: dict[str, Refusal] = {}
        self.requests: list[str] = []
        handler = type("Handler", (_Handler,), {"hub": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> "HubEmulator":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def seed(self, repo: str, folder: Path, revision: str) -> str:
        """Serve a folder's files at a revision, and return its commit: the revision itself where it is a full hash."""
        files = {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }
        is_hash = re.fullmatch("[0-9a-f]{40}", revision)
        commit = revision if is_hash else hashlib.sha1(repr([revision, files]).encode()).hexdigest()
        self.repos.setdefault(repo, {}).update({revision: (commit, files), commit: (commit, files)})
        return commit


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: HubEmulator

    def log_message(self, format: str, *arguments: object) -> None:
        pass

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        self.hub.requests.append(path)
        try:
            for pattern, refusal in self.hub.faults.items():
                if re.search(pattern, path):
                    raise refusal
            if match := re.fullmatch(r"/datasets/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
                self._file(match[1], unquote(match[2]), unquote(match[3]))
            elif match := re.fullmatch(r"/api/datasets/([^/]+/[^/]+)/(revision|tree)/([^/]+)", path):
                self._listing(match[1], match[2], unquote(match[3]))
            else:
                raise Refusal(404, message=f"the emulator has no {path}")
        except Refusal as refusal:
            headers = {
                "X-Error-Code": refusal.code,
                "X-Error-Message": refusal.message,
                "X-Repo-Commit": refusal.commit,
            }
            body = json.dumps({"error": refusal.message}).encode()
            self._send(refusal.status, body, {name: value for name, value in headers.items() if value})

    do_HEAD = do_GET

    def _at(self, repo: str, revision: str) -> tuple[str, dict[str, bytes]]:
        revisions = self.hub.repos.get(repo)
        if revisions is None:
            # The Hub answers 401 to anonymous callers, so that a private repository's existence does not leak.
            raise Refusal(401, "RepoNotFound", "Repository not found")
        if revision not in revisions:
            raise Refusal(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        return revisions[revision]

    def _listing(self, repo: str, verb: str, revision: str) -> None:
        commit, files = self._at(repo, revision)
        info = {"id": repo, "sha": commit, "siblings": [{"rfilename": name} for name in files]}
        answer: object = info if verb == "revision" else [_entry(name, body) for name, body in files.items()]
        self._send(200, json.dumps(answer).encode(), {"X-Repo-Commit": commit})

    def _file(self, repo: str, revision: str, name: str) -> None:
        commit, files = self._at(repo, revision)
        if name not in files:
            raise Refusal(404, "EntryNotFound", "Entry not found", commit)
        entry, headers = _entry(name, files[name]), {"X-Repo-Commit": commit, "Accept-Ranges": "bytes"}
        if "lfs" in entry:
            headers |= {"ETag": f'"{entry["lfs"]["oid"]}"', "X-Linked-Size": str(entry["size"])}
            headers["X-Linked-Etag"] = headers["ETag"]
        else:
            headers["ETag"] = f'"{entry["oid"]}"'
        self._send(200, files[name], headers, kind="application/octet-stream")

    def _send(self, status: int, body: bytes, headers: dict[str, str], kind: str = "application/json") -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def _entry(name: str, body: bytes) -> dict:
    """Describe a file as the Hub's tree does: a git blob's hash, and a large file's sha256."""
    entry = {"type": "file", "path": name, "size": len(body), "oid": _blob_hash(body)}
    if name.endswith(LARGE_FILES):
        sha256 = hashlib.sha256(body).hexdigest()
        pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {len(body)}\n".encode()
        entry |= {"oid": _blob_hash(pointer), "lfs": {"oid": sha256, "size": len(body), "pointerSize": len(pointer)}}
    return entry


def _blob_hash(body: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(body) + body).hexdigest()

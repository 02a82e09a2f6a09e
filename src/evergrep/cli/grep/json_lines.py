"""From a file's lines to ripgrep's JSON messages: begin, match, context, end; and a summary.

Facts that the Answer does not hold (offsets in the file, bytes of a single file) are left out,
not invented. Text that is not UTF-8 stands as base64 in `bytes`, exactly.
"""

from __future__ import annotations

import base64
import json
from typing import Any

from evergrep.query import Hit, Line


def file_messages(path: bytes, hit: Hit) -> bytes:
    """The messages of one file."""
    name = _data(path)
    messages = [_message("begin", {"path": name})]
    messages.extend(
        _message("match" if line.is_match else "context", _line(name, line)) for line in hit.lines
    )
    numbers = {
        "searches": 1,
        "searches_with_match": 1,
        "matched_lines": sum(line.is_match for line in hit.lines),
        "matches": sum(len(line.spans) for line in hit.lines),
    }
    end = {"path": name, "binary_offset": hit.binary, "stats": numbers}
    messages.append(_message("end", end))
    return b"".join(messages)


def summary_message(numbers: dict[str, int], seconds: float) -> bytes:
    """The message about the whole search."""
    whole = int(seconds)
    elapsed = {
        "secs": whole,
        "nanos": int((seconds - whole) * 1e9),
        "human": f"{seconds:.6f}s",
    }
    stats = {"elapsed": elapsed, **numbers}
    return _message("summary", {"elapsed_total": elapsed, "stats": stats})


def _line(name: dict[str, str], line: Line) -> dict[str, Any]:
    return {
        "path": name,
        "lines": _data(line.bytes + b"\n"),
        "line_number": line.number,
        "submatches": [
            {"match": _data(line.bytes[start:end]), "start": start, "end": end}
            for start, end in line.spans
        ],
    }


def _data(value: bytes) -> dict[str, str]:
    try:
        return {"text": value.decode()}
    except UnicodeDecodeError:
        return {"bytes": base64.b64encode(value).decode()}


def _message(kind: str, data: dict[str, Any]) -> bytes:
    text = json.dumps({"type": kind, "data": data}, ensure_ascii=False, separators=(",", ":"))
    return text.encode() + b"\n"

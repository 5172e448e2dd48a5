# Turns MIME bundles made by formatters into what goes over the wire: bytes with flags, strict JSON (no NaN, no bytes, no cycles),
# everything cut at stated limits, text/plain always there. Runs in the worker; the objects come from user code, so only exact
# built-in types are trusted, and a conversion that raises becomes text.

import base64
import binascii
import datetime
import decimal
import json
import math

PLAIN_BYTES_MAX = 1 << 20  # text/plain of one value
TEXT_BYTES_MAX = 8 << 20  # any other text representation (html, svg, json); larger ones are left out
BINARY_BYTES_MAX = 16 << 20  # one image; larger ones are left out
BUNDLE_BYTES_MAX = 24 << 20  # all representations of one value together
METADATA_BYTES_MAX = 64 << 10
MIME_TYPES_MAX = 32
JSON_DEPTH_MAX = 64
JSON_ITEMS_MAX = 1_000_000

TEXT = 1
JSON = 2
_FRAME_ROOM = 96 << 10  # of a frame, for metadata and field heads
_limits = {"bundle": BUNDLE_BYTES_MAX, "plain": PLAIN_BYTES_MAX}


def apply_options(options):
    """The policy's limit on one result, when it is below ours: then single representations are left out, not the whole value."""
    frame = int(options.get("result_bytes") or 0)
    bundle = max(frame - _FRAME_ROOM, frame // 2) if frame else BUNDLE_BYTES_MAX
    _limits["bundle"] = min(BUNDLE_BYTES_MAX, bundle)
    _limits["plain"] = min(PLAIN_BYTES_MAX, _limits["bundle"] // 2)


_TEXT_APPLICATION = {"application/javascript", "application/x-latex", "application/xml", "application/xhtml+xml", "application/x-sh"}


def is_text(mime):
    return mime.startswith("text/") or mime.endswith("+xml") or mime in _TEXT_APPLICATION


def is_json(mime):
    return mime == "application/json" or mime.endswith("+json") or mime.endswith(".json")


def plain(text):
    """text/plain as bytes, cut at its limit with a note that says how much is missing."""
    data = text.encode("utf-8", "backslashreplace")
    limit = _limits["plain"]
    if len(data) <= limit:
        return data
    note = f"\n… [cut: this value's text is {len(data):,} bytes, shown up to {limit:,}]".encode()
    head = data[: limit - len(note)].decode("utf-8", "ignore").encode()
    return head + note


def encode_plain(text):
    """The bundle of a value that has nothing but text: the common case, kept short."""
    if len(text) < 1000 and text.isascii():
        return [("text/plain", text.encode(), TEXT)]
    return [("text/plain", plain(text), TEXT)]


def encode(data, fallback):
    """A formatter's {mime: value} as [(mime, bytes, flags)], text/plain first; what is over a limit is named in a note there."""
    out, notes, text = [], [], None
    room = _limits["bundle"] - _limits["plain"]
    for mime in list(data)[:MIME_TYPES_MAX]:
        if not isinstance(mime, str) or not mime.isascii() or len(mime) > 200:
            continue
        value = data[mime]
        if mime == "text/plain":
            text = as_text(value)
            continue
        try:
            item = _encode_one(mime, value)
        except Exception as error:
            notes.append(f"[{mime} not shown: {type(error).__name__}]")
            continue
        limit = min(TEXT_BYTES_MAX if item[2] else BINARY_BYTES_MAX, room)
        if len(item[1]) > limit:
            notes.append(f"[{mime} not shown: {len(item[1]):,} bytes, limit {limit:,}]")
            continue
        room -= len(item[1])
        out.append(item)
    if text is None:
        text = fallback
    if notes:
        text = "\n".join([text, *notes]) if text else "\n".join(notes)
    return [("text/plain", plain(text), TEXT), *out]


def as_text(value):
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)) and all(isinstance(part, str) for part in value):
        return "".join(value)  # notebook files keep text as a list of lines
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return safe_repr(value)


def safe_repr(value):
    try:
        return repr(value)
    except Exception as error:
        return f"<{type(value).__name__} object: repr raised {type(error).__name__}>"


def _encode_one(mime, value):
    if is_json(mime):
        if isinstance(value, (str, bytes)):
            try:
                value = json.loads(value)  # JSON text as such; a plain string is itself a JSON value
            except ValueError:
                pass
        return mime, to_json(value).encode(), TEXT | JSON
    if is_text(mime):
        return mime, as_text(value).encode("utf-8", "backslashreplace"), TEXT
    if isinstance(value, (bytes, bytearray, memoryview)):
        return mime, bytes(value), 0
    if isinstance(value, str):
        try:
            return mime, base64.b64decode(value.encode("ascii"), validate=False), 0
        except (binascii.Error, UnicodeEncodeError):
            return mime, value.encode("utf-8", "backslashreplace"), TEXT
    return mime, to_json(value).encode(), TEXT | JSON


def to_json(value):
    """Strict JSON text: NaN and infinities become null, bytes base64, times ISO 8601, NumPy and pandas scalars their value."""
    return json.dumps(_Cleaner().clean(value, 0), allow_nan=False, ensure_ascii=True, separators=(",", ":"))


def metadata(value):
    """Metadata as the text of a JSON object; dropped, and said so, when over its limit."""
    if not value:
        return "{}"
    try:
        text = to_json({k: v for k, v in value.items() if v != {}} if type(value) is dict else {})
    except Exception:
        return "{}"
    if len(text) > METADATA_BYTES_MAX:
        return json.dumps({"cut": f"metadata of {len(text):,} bytes left out, limit {METADATA_BYTES_MAX:,}"})
    return text


class _Cleaner:
    def __init__(self):
        self.items = 0
        self.open = set()

    def clean(self, value, depth):
        self.items += 1
        if self.items > JSON_ITEMS_MAX:
            raise ValueError(f"more than {JSON_ITEMS_MAX} items")
        kind = type(value)
        if value is None or kind is bool or kind is str:
            return value if kind is not str else value.encode("utf-8", "backslashreplace").decode()
        if kind is int:
            return value if -(1 << 63) <= value < 1 << 64 else float(value) if abs(value) < 10**300 else str(value)
        if kind is float:
            return value if math.isfinite(value) else None
        if kind in (dict, list, tuple, set, frozenset) or isinstance(value, (dict, list, tuple)):
            return self.clean_container(value, depth)
        return self.clean_other(value, depth)

    def clean_container(self, value, depth):
        if depth >= JSON_DEPTH_MAX or id(value) in self.open:
            return "…"
        self.open.add(id(value))
        try:
            if isinstance(value, dict):
                return {self.key(k): self.clean(v, depth + 1) for k, v in value.items()}
            return [self.clean(item, depth + 1) for item in value]
        finally:
            self.open.discard(id(value))

    def key(self, key):
        if type(key) is str:
            return key.encode("utf-8", "backslashreplace").decode()
        if key is True or key is False or key is None:
            return {True: "true", False: "false", None: "null"}[key]
        return str(key)

    def clean_other(self, value, depth):
        if isinstance(value, (bytes, bytearray, memoryview)):
            return base64.b64encode(bytes(value)).decode("ascii")
        if isinstance(value, decimal.Decimal):
            return float(value) if value.is_finite() else None
        module = type(value).__module__.partition(".")[0]
        if module in ("numpy", "pandas"):
            if type(value).__name__ in ("NAType", "NaTType"):
                return None
            if module == "numpy" and hasattr(value, "tolist"):
                as_list = value.tolist()
                return safe_repr(value) if type(as_list) is type(value) else self.clean(as_list, depth + 1)
        if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
            return value.isoformat()
        if isinstance(value, datetime.timedelta):
            return value.total_seconds()
        for base, convert in ((str, str.__str__), (bool, bool), (int, int.__int__), (float, float.__float__)):
            if isinstance(value, base):
                return self.clean(convert(value), depth + 1)
        return safe_repr(value)

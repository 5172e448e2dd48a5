# Reads a file's bytes within stated limits: all of a small one; head, evenly spread chunks and tail of a large one; what a compressed
# one unpacks to, up to a limit. Jailed worker; the file is hostile, also in its kind (pipes, devices) and in how far it unpacks.

import dataclasses
import errno
import io
import os
import stat
import zlib

WHOLE_BYTES_MAX = 8 << 20  # files up to here are read whole
HEAD_BYTES = 1 << 20
LINE_BYTES_MAX = 8 << 20  # a first line longer than the head is followed so far
CHUNKS, CHUNK_BYTES = 24, 48 << 10
TAIL_BYTES = 128 << 10
COUNTED_BYTES_MAX = 64 << 20  # files up to here have their lines counted
_COUNTED_STEP_BYTES = 1 << 20
_LZMA_MEMORY_MAX = 128 << 20  # xz files say how large a dictionary they need
_STEP_BYTES, _FED_BYTES = 256 << 10, 64 << 10
_MEMBERS_MAX = 10_000  # of a compressed file; each may unpack to nothing
_MAGIC = ((b"\x1f\x8b", "gzip"), (b"BZh", "bz2"), (b"\xfd7zXZ\x00", "xz"))


@dataclasses.dataclass
class Sample:
    """Parts of a file, in order; `chunks` are (offset, bytes) between the head and the tail."""

    size: int  # of the file, as it is stored
    head: bytes = b""
    chunks: list = dataclasses.field(default_factory=list)
    tail: bytes = b""
    whole: bool = True  # the head is all there is
    compression: str = ""
    broken: str = ""  # why unpacking ended early
    total: int = 0  # bytes of content, when known
    file: object = None  # to count lines in

    def parts(self):
        return [self.head, *(data for _, data in self.chunks), self.tail]


def open_regular(path):
    """A regular file, opened for reading; anything else could block, never end, or be another file than its name says."""
    if stat.S_ISLNK(os.lstat(path).st_mode):
        raise OSError(errno.ELOOP, "a symbolic link, not a regular file")
    if not stat.S_ISREG(os.lstat(path).st_mode):
        raise OSError(errno.EINVAL, "not a regular file")  # opening alone can have effects
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        return os.fdopen(fd, "rb")
    except BaseException:
        os.close(fd)
        raise


def sample(file, offset_unit=4):
    """What is looked at of a text file. Chunks start at multiples of the unit, so that wide characters stay whole."""
    size = os.fstat(file.fileno()).st_size
    file.seek(0)
    start = file.read(8)
    for magic, name in _MAGIC:
        if start.startswith(magic):
            return _unpacked(file, name, size)
    file.seek(0)
    if size <= WHOLE_BYTES_MAX:
        data = file.read(WHOLE_BYTES_MAX)
        return Sample(size=size, head=data, total=len(data))
    head = _head(file)
    result = Sample(size=size, head=head, whole=False, total=size, file=file)
    if b"\n" not in head and b"\r" not in head:
        return result  # one line: nothing in it can be told apart
    tail_at = max(len(head), size - TAIL_BYTES) // offset_unit * offset_unit
    room = (tail_at - len(head)) // (CHUNKS + 1)
    if room > CHUNK_BYTES:
        for number in range(CHUNKS):
            at = (len(head) + (number + 1) * room - CHUNK_BYTES // 2) // offset_unit * offset_unit
            file.seek(at)
            result.chunks.append((at, file.read(CHUNK_BYTES)))
    file.seek(tail_at)
    result.tail = file.read(TAIL_BYTES + offset_unit)
    return result


def _head(file):
    head = file.read(HEAD_BYTES)
    while len(head) < LINE_BYTES_MAX and b"\n" not in head and b"\r" not in head:
        more = file.read(HEAD_BYTES)
        if not more:
            break
        head += more
    return head


def count_lines(file, start):
    """Lines behind an offset of a file of not too many bytes; None where lines may not be rows: with quotes, blank lines or comments."""
    if os.fstat(file.fileno()).st_size > COUNTED_BYTES_MAX:
        return None
    file.seek(start)
    lines, block = 0, file.read(_COUNTED_STEP_BYTES)
    edge = b""
    while block:
        after = file.read(_COUNTED_STEP_BYTES)
        if not after:
            block = block.rstrip(b"\r\n") + b"\n"
        looked_at = edge + block
        if b'"' in block or b"\n\n" in looked_at or b"\n\r\n" in looked_at or b"\n#" in looked_at:
            return None
        lines += block.count(b"\n")
        edge, block = block[-2:], after
    return lines


def _unpacked(file, compression, size):
    """The start of a compressed file: there is no way to the middle but through it."""
    file.seek(0)
    data, ended, broken = bytearray(), False, ""
    try:
        for part in _parts(file, compression):
            data += part
            if len(data) > WHOLE_BYTES_MAX:
                break
        else:
            ended = True
    except Exception as error:
        broken, ended = str(error) or type(error).__name__, True
    whole = ended and len(data) <= WHOLE_BYTES_MAX
    head = bytes(data[:WHOLE_BYTES_MAX])
    return Sample(size=size, head=head, whole=whole and not broken, compression=compression, broken=broken, total=len(head) if whole else 0)


def _parts(file, compression):
    """Unpacked bytes, no more than a step at a time; what comes before damage is given, too."""
    unpacker = _unpacker(compression)
    data, members = b"", 1
    while True:
        data = data or file.read(_FED_BYTES)
        if not data:
            raise EOFError("the compressed data is cut off")
        part = unpacker.decompress(data, _STEP_BYTES)
        data = unpacker.unconsumed_tail if compression == "gzip" else b""
        if part:
            yield part
        while compression != "gzip" and not unpacker.eof and not unpacker.needs_input:
            yield unpacker.decompress(b"", _STEP_BYTES)
        if unpacker.eof:  # more may follow: such files can be joined
            data = unpacker.unused_data or file.read(_FED_BYTES)
            if not data.startswith(dict(map(reversed, _MAGIC))[compression]):
                return
            members += 1
            if members > _MEMBERS_MAX:
                raise EOFError(f"it is joined of more than {_MEMBERS_MAX:,} compressed parts")
            unpacker = _unpacker(compression)


def _unpacker(compression):
    if compression == "gzip":
        return zlib.decompressobj(31)
    if compression == "bz2":
        import bz2

        return bz2.BZ2Decompressor()
    import lzma

    return lzma.LZMADecompressor(memlimit=_LZMA_MEMORY_MAX)


class Bounded(io.RawIOBase):
    """A stream that ends after so many bytes, whatever is behind it; `cut` says whether it did."""

    def __init__(self, stream, limit):
        self._stream, self._left, self.was_cut = stream, limit, False

    def readable(self):
        return True

    def read(self, count=-1):
        count = min(count if count is not None and count >= 0 else self._left + 1, _STEP_BYTES)
        if self._left <= 0:
            self.was_cut = bool(self._stream.read(1))
            return b""
        data = self._stream.read(min(count, self._left))
        self._left -= len(data)
        return data

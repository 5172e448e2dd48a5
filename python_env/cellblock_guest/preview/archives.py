# Zip files, opened so that neither their directory nor what they unpack to can fill the memory: workbooks are such files, and so are
# uploads of one packed table. Jailed worker; the file is hostile.

import io
import struct
import tarfile
import zipfile

from . import bounds

DIRECTORY_BYTES_MAX = 4 << 20
TAR_MEMBERS_MAX = 10_000
_END = b"PK\x05\x06"
_END_BYTES = 22


class Refused(Exception):
    """Why an archive is not opened."""


def open_zip(file):
    """The archive; its directory is read at once, so its size is looked at first."""
    file.seek(0, 2)
    size = file.tell()
    file.seek(max(0, size - (1 << 16) - _END_BYTES))
    tail = file.read()
    at = tail.rfind(_END)
    if at < 0 or len(tail) - at < _END_BYTES:
        raise Refused("The file is damaged or cut off: a zip file's directory is missing.")
    directory_bytes = struct.unpack("<L", tail[at + 12 : at + 16])[0]
    if directory_bytes > DIRECTORY_BYTES_MAX:
        raise Refused("The archive has too many files in it.")
    try:
        return zipfile.ZipFile(file)
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
        raise Refused(f"The file is damaged or cut off: {error}.") from None


def size_of(archive, name):
    try:
        return archive.getinfo(name).file_size
    except KeyError:
        return 0


def read(archive, name, limit):
    """A member's first bytes; no more than its directory entry says."""
    with archive.open(name) as member:
        return member.read(limit)


def tar_members(data):
    """(name, size) of the files in the start of a tar file."""
    found = []
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:", encoding="utf-8", errors="replace") as archive:
            while len(found) < TAR_MEMBERS_MAX and (member := archive.next()) is not None:
                if member.isfile():
                    found.append((bounds.cut(member.name, bounds.NAME_CHARACTERS_MAX), member.size))
                archive.members.clear()
    except (tarfile.TarError, ValueError, OSError, OverflowError):
        pass  # cut off or damaged: what came before is worth showing
    return found

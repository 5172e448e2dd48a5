# Files that are no text and no tables: images and PDF documents by their size, and names for the rest. Jailed worker; the files are
# hostile: nothing is unpickled, and nothing is decoded that a header says is too large.

import warnings

from . import bounds, read_with

PDF_BYTES_MAX = 256 << 20
_IMAGE_MAGICS = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8")
_MAYBE_IMAGES = (b"BM", b"II*\0", b"MM\0*", b"RIFF")
_IMAGES = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP")

# First bytes, what it is, the code that reads it.
MAGICS = (
    (b"\x89HDF\r\n", "HDF5 file", "pd.read_hdf({})"), (b"\x93NUMPY", "NumPy array", None), (b"ORC", "ORC table", "pd.read_orc({})"),
    (b"FEA1", "Feather table of the first version", "pd.read_feather({})"),
    (b"Obj\x01", "Avro file", None), (b"\x28\xb5\x2f\xfd", "Zstandard-compressed file", None), (b"7z\xbc\xaf\x27\x1c", "7z archive", None), (b"Rar!", "RAR archive", None),
    (b"\x7fELF", "program", None), (b"<stata_dta>", "Stata data", "pd.read_stata({})"), (b"$FL2", "SPSS data", None),
    (b"\0\0\0\0\0\0\0\0\0\0\0\0\xc2\xea\x81\x60", "SAS data", "pd.read_sas({})"),
    (b"RDX", "R data", None), (b"\x1f\x9d", "file compressed with compress", None),
)
_PACKED_TWICE = ((b"\x1f\x8b", "gzip-compressed file", None), (b"PK\x03\x04", "zip archive", None))
_PICKLES = tuple(b"\x80" + bytes((version,)) for version in range(2, 6))


def is_known(head):
    return head.startswith(_PICKLES) or any(head.startswith(magic) for magic, _, _ in MAGICS)


def describe_binary(answer, path, head):
    """What cannot be described further."""
    answer["kind"] = "binary"
    if head.startswith(_PICKLES):
        bounds.add_note(answer, "Probably a Python pickle. It is not opened here: unpickling runs code that the file brings along.")
        return
    for magic, name, code in MAGICS + _PACKED_TWICE:
        if head.startswith(magic):
            bounds.add_note(answer, f"By its first bytes: {name}{' within the compressed file' if answer.get('compression') else ''}.")
            if code:
                answer["read_with"] = code.format(read_with.path_text(path))
            return
    bounds.add_note(answer, "The file is neither text nor of a kind that is known here.")


def may_be_image(head):
    return head.startswith(_IMAGE_MAGICS + _MAYBE_IMAGES)


def describe_image(answer, file, head):
    """True when it is an image. Only the header is decoded."""
    from PIL import Image

    file.seek(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with Image.open(file, formats=_IMAGES) as image:
                answer.update(kind="image", format=image.format, width=image.width, height=image.height, mode=image.mode)
        except Image.DecompressionBombError:
            answer.update(kind="image")
            bounds.add_note(answer, "The image says that it is extremely large.")
        except Exception:
            if not head.startswith(_IMAGE_MAGICS):
                return False
            answer.update(kind="image", error="The image is damaged or cut off.")
    return True


def describe_pdf(answer, file):
    answer["kind"] = "pdf"
    if answer["size_bytes"] > PDF_BYTES_MAX:
        bounds.add_note(answer, f"A PDF document above {PDF_BYTES_MAX >> 20} MiB is not looked into.")
        return
    try:
        import pypdfium2
    except ImportError:
        bounds.add_note(answer, "Its pages are not counted: the package pypdfium2 is not in this environment.")
        return
    file.seek(0)
    try:
        document = pypdfium2.PdfDocument(file, autoclose=False)
    except pypdfium2.PdfiumError as error:
        is_locked = "password" in str(error).lower()
        answer["error"] = "The document is protected with a password." if is_locked else f"The document is damaged: {bounds.cut(str(error), 200)}"
        return
    try:
        answer["pages"] = len(document)
        bounds.add_note(answer, f"A PDF document of {bounds.count_of(answer['pages'], 'page')}; pypdf and pdfplumber read its text.")
    finally:
        document.close()

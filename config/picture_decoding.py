"""Decoder for untrusted pictures, which encodes them as small WebP files without metadata. Pure.

A picture is refused by its header where its pixels would cost too much. SVG is no format here: it is a program.
"""

import io
import math
import re
import struct
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from PIL import (
    GifImagePlugin,
    Image,
    ImageOps,
    JpegImagePlugin,
    PngImagePlugin,
    UnidentifiedImageError,
    WebPImagePlugin,
)

from config.http.errors import PermanentError

# Imported here, because Pillow would import all its format plugins to find the one for WebP.
FORMATS = tuple(
    reader.format
    for reader in (
        PngImagePlugin.PngImageFile,
        JpegImagePlugin.JpegImageFile,
        GifImagePlugin.GifImageFile,
        WebPImagePlugin.WebPImageFile,
    )
)
MAX_PIXELS = 40_000_000
# Pixels per side: the maximum in JPEG and GIF, and more than in WebP. Pillow allocates memory for each row in a PNG,
# and its filter for each row in the result: 1 by 40,000,000 pixels take 345 MB.
MAX_SIDE = 65_535
# Pillow's WebP reader has several copies of all pixels: a 46-byte file with 40 megapixels takes 630 MB.
_MAX_WEBP_PIXELS = MAX_PIXELS // 4
# Pixels times scans: each scan in a progressive JPEG visits all pixels, and costs its sender a few bytes.
_MAX_SCANNED_PIXELS = 10 * MAX_PIXELS
# A picture in a mode that can't be resized well is converted whole up to this many pixels.
_MAX_CONVERTED_PIXELS = 4_000_000
# A larger one is first reduced to this many pixels a side by nearest pixels, then converted and resized well.
_MAX_CONVERTED_SIDE = 2_048
# A smaller result is resized from at most this many times its sides.
_MAX_CONVERTED_FACTOR = 8
_QUALITY = 82
_START_OF_SCAN = b"\xff\xda"
_WEBP = re.compile(rb"RIFF....WEBP(VP8 |VP8L|VP8X)....", re.DOTALL)

_Size = tuple[int, int]
_Box = tuple[int, int, int, int]


class UnusablePictureError(PermanentError):
    """The content is no picture in a supported format, or a too large one; the text is the broken rule."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EncodedPicture:
    """A WebP file, and its pixels."""

    content: bytes
    width: int
    height: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _Target:
    """The box that is cut from a picture, and the size in pixels that it gets."""

    box: _Box
    size: _Size


def encode_square(content: bytes, *, side: int) -> bytes:
    """Return the first frame's center as a WebP file with `side` pixels a side. Raises UnusablePictureError."""

    def target(size: _Size) -> _Target:
        shorter = min(size)
        left_edge, top_edge = (size[0] - shorter) // 2, (size[1] - shorter) // 2
        return _Target(box=(left_edge, top_edge, left_edge + shorter, top_edge + shorter), size=(side, side))

    return _encode_any(content, target).content


def encode_whole(content: bytes, *, longest: int) -> EncodedPicture:
    """Return the whole first frame, reduced to `longest` pixels a side, never enlarged. Raises UnusablePictureError."""

    def target(size: _Size) -> _Target:
        scale = min(1.0, longest / max(size))
        return _Target(box=(0, 0, *size), size=(max(1, round(size[0] * scale)), max(1, round(size[1] * scale))))

    return _encode_any(content, target)


def _encode_any(content: bytes, target: Callable[[_Size], _Target]) -> EncodedPicture:
    try:
        with warnings.catch_warnings():
            # Pillow warns about pictures that are refused below.
            warnings.simplefilter("ignore")
            return _encode(content, target)
    except UnusablePictureError:
        raise
    except Image.DecompressionBombError as error:
        # Pillow's own limit is higher, but its check is before the first one here.
        raise UnusablePictureError(_at_most(MAX_PIXELS)) from error
    except UnidentifiedImageError as error:
        raise UnusablePictureError("it must be a PNG, JPEG, GIF or WebP file") from error
    # Decoders raise any kind of error for hostile content.
    except Exception as error:
        raise UnusablePictureError("it must be whole: the file is truncated or damaged") from error


def _encode(content: bytes, target: Callable[[_Size], _Target]) -> EncodedPicture:
    # Before Pillow's WebP reader, which allocates all pixels when it reads the header.
    if math.prod(_webp_size(content)) > _MAX_WEBP_PIXELS:
        raise UnusablePictureError(f"{_at_most(_MAX_WEBP_PIXELS)} as a WebP file")
    with Image.open(io.BytesIO(content), formats=FORMATS) as image:
        if math.prod(image.size) > MAX_PIXELS:
            raise UnusablePictureError(_at_most(MAX_PIXELS))
        if max(image.size) > MAX_SIDE:
            raise UnusablePictureError(f"it must have at most {MAX_SIDE} pixels a side")
        if isinstance(image, JpegImagePlugin.JpegImageFile):
            if image.width * image.height * content.count(_START_OF_SCAN) > _MAX_SCANNED_PIXELS:
                most = _MAX_SCANNED_PIXELS // 10**6
                raise UnusablePictureError(f"its pixels times its scans must be at most {most} million")
            # The decoder leaves out detail that the result has no room for.
            width, height = target(image.size).size
            image.draft("RGB", (2 * width, 2 * height))
        small = _small_copy(image, target(image.size))
    # A picture whose EXIF data can't be read, with any kind of error as above, stays as it is.
    with suppress(Exception):
        small = ImageOps.exif_transpose(small)
    # A new picture: what is saved has no metadata from the old one.
    output_image = Image.new(small.mode, small.size)
    output_image.paste(small)
    output = io.BytesIO()
    output_image.save(output, "WEBP", quality=_QUALITY, method=4)
    return EncodedPicture(content=output.getvalue(), width=output_image.width, height=output_image.height)


def _at_most(pixels: int) -> str:
    return f"it must have at most {pixels // 10**6} megapixels"


def _small_copy(image: Image.Image, target: _Target) -> Image.Image:
    """Return the target in RGB or RGBA; the EXIF orientation is still to be applied."""
    box, (width, height) = target.box, target.size
    has_alpha = image.mode in ("LA", "PA", "RGBA") or "transparency" in image.info
    converted: Image.Image = image
    if image.mode not in ("L", "RGB"):
        if (box[2] - box[0]) * (box[3] - box[1]) > _MAX_CONVERTED_PIXELS:
            # Converted whole, the picture would take four times the memory.
            factor = min(_MAX_CONVERTED_FACTOR, _MAX_CONVERTED_SIDE // max(width, height))
            converted = image.resize((factor * width, factor * height), Image.Resampling.NEAREST, box=box)
            box = (0, 0, *converted.size)
        if converted.mode.startswith("I"):
            # 16 bits: Pillow's conversion cuts values off instead of scaling them.
            converted = converted.convert("I").point(lambda value: value * (1 / 256)).convert("L")
        converted = converted.convert("RGBA" if has_alpha else "RGB")
    small = converted.resize((width, height), Image.Resampling.LANCZOS, box=box, reducing_gap=2.0)
    return small.convert("RGBA" if has_alpha else "RGB")


def _webp_size(content: bytes) -> tuple[int, int]:
    """Return a WebP file's canvas width and height from its first chunk; zeros for another format."""
    header = _WEBP.match(content[:30])
    if header is None or len(content) < 30:
        return 0, 0
    match header[1]:
        case b"VP8X":
            width, height = (int.from_bytes(content[start : start + 3], "little") + 1 for start in (24, 27))
        case b"VP8L":
            (bits,) = struct.unpack_from("<I", content, 21)
            width, height = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case _:
            width, height = (field & 0x3FFF for field in struct.unpack_from("<HH", content, 26))
    return width, height

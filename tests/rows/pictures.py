"""Pictures as their hosts send them: in every format and mode, and hostile ones."""

import io
import struct
import zlib
from typing import Any

from PIL import Image

RED, GREEN, BLUE = (220, 20, 20), (20, 180, 20), (20, 20, 220)
# A document with a script, which is no picture.
SVG = b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><script>alert(1)</script></svg>"


def encoded(image: Image.Image, form: str = "PNG", **options: Any) -> bytes:
    """Return an image as a file."""
    output = io.BytesIO()
    image.save(output, form, **options)
    return output.getvalue()


def decoded(body: bytes) -> Image.Image:
    """Return a WebP file's image in RGBA."""
    with Image.open(io.BytesIO(body), formats=("WEBP",)) as image:
        return image.convert("RGBA")


def plain_picture(color: tuple[int, int, int] = RED, size: tuple[int, int] = (64, 64)) -> Image.Image:
    """Return a picture in one color."""
    return Image.new("RGB", size, color)


def png_chunk(name: bytes, content: bytes) -> bytes:
    """Return a PNG file's chunk."""
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def png_bomb(width: int, height: int) -> bytes:
    """Return a PNG with so many pixels, whose rows are missing."""
    return _png(struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0), b"\0" * 1_000_000)


def png_of_sixteen_bits(kind: int, samples: tuple[int, ...]) -> bytes:
    """Return a PNG with 50 by 50 equal pixels; `kind` is the format's color type: 2 RGB, 4 gray with alpha, 6 RGBA."""
    row = b"\0" + struct.pack(f">{len(samples)}H", *samples) * 50
    return _png(struct.pack(">IIBBBBB", 50, 50, 16, kind, 0, 0, 0), row * 50)


def _png(head: bytes, rows: bytes) -> bytes:
    chunks = (png_chunk(b"IHDR", head), png_chunk(b"IDAT", zlib.compress(rows)), png_chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def jpeg_of_scans(scans: int) -> bytes:
    """Return a one-megapixel JPEG whose last scan is repeated so often."""
    body = encoded(Image.new("L", (1000, 1000), 128), "JPEG", progressive=True)
    start = body.rindex(b"\xff\xda")
    return body[:start] + body[start:-2] * scans + body[-2:]


def long_animation(frames: int) -> bytes:
    """Return a GIF whose first frame is red, and all others one black pixel."""
    first, other = encoded(plain_picture(), "GIF"), encoded(Image.new("L", (1, 1)), "GIF")
    # 13-byte header, and a global palette of 2 to the power of its size.
    start = 13 + 3 * 2 ** ((other[10] & 7) + 1)
    return first[:-1] + other[start:-1] * frames + b";"

"""Untrusted pictures: formats and modes, and what is refused by its header."""

import resource
import struct
import time
import zlib
from contextlib import suppress
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, PngImagePlugin

from config.picture_decoding import UnusablePictureError, encode_square, encode_whole
from tests.rows.pictures import (
    BLUE,
    GREEN,
    RED,
    SVG,
    decoded,
    encoded,
    jpeg_of_scans,
    long_animation,
    plain_picture,
    png_bomb,
    png_chunk,
    png_of_sixteen_bits,
)

SIZE = 160


def encode_picture(content: bytes) -> bytes:
    return encode_square(content, side=SIZE)


def middle_of(body: bytes) -> tuple[int, ...]:
    return decoded(body).getpixel((SIZE // 2, SIZE // 2))


def is_near(color: tuple[int, ...], expected: tuple[int, ...]) -> bool:
    return all(abs(one - other) <= 24 for one, other in zip(color, expected, strict=False))


@pytest.mark.parametrize("size", [(1, 1), (1, 900), (64, 64), (3000, 40), (2001, 2001)])
@pytest.mark.parametrize(
    ("mode", "form"),
    [
        *((mode, "PNG") for mode in ("1", "L", "LA", "P", "RGB", "RGBA")),
        *((mode, "JPEG") for mode in ("L", "RGB", "CMYK")),
        *((mode, "GIF") for mode in ("L", "P")),
        *((mode, "WEBP") for mode in ("RGB", "RGBA")),
    ],
)
def test_pictures_of_all_modes_become_small_squares(mode, form, size):
    color = (255, 255, 255) if mode in ("1", "L", "LA") else RED
    given = plain_picture(color, size)
    # A quantized palette has no dithering, unlike a fixed one.
    body = encode_picture(encoded(given.quantize(8) if mode == "P" else given.convert(mode), form))
    picture = decoded(body)
    assert picture.size == (SIZE, SIZE) and is_near(middle_of(body), (*color, 255))
    assert len(body) < 2_000


def test_the_center_is_cropped():
    wide = plain_picture(BLUE, (300, 100))
    wide.paste(GREEN, (100, 0, 200, 100))
    picture = decoded(encode_picture(encoded(wide)))
    assert all(is_near(picture.getpixel(place), GREEN) for place in ((8, 8), (80, 80), (151, 151)))


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ((1, 1), (1, 1)),
        ((1024, 1024), (1024, 1024)),
        ((1024, 1025), (1023, 1024)),
        ((64, 20), (64, 20)),
        ((4000, 1000), (1024, 256)),
        ((1, 65_500), (1, 1024)),
        ((20_000, 2), (1024, 1)),
    ],
)
@pytest.mark.parametrize(("mode", "form"), [("RGB", "PNG"), ("RGBA", "PNG"), ("P", "GIF"), ("RGB", "JPEG")])
def test_a_whole_picture_is_reduced_and_never_enlarged(mode, form, size, expected):
    given = plain_picture(RED, size)
    given = given.quantize(8) if mode == "P" else given.convert(mode)
    picture = encode_whole(encoded(given, form), longest=1024)
    shown = decoded(picture.content)
    assert shown.size == (picture.width, picture.height) == expected
    assert is_near(shown.getpixel((expected[0] // 2, expected[1] // 2)), RED)


@pytest.mark.parametrize("mode", ["RGB", "RGBA"])
def test_a_whole_picture_keeps_its_edges_and_is_turned(mode):
    picture = plain_picture(RED, (3000, 1500))
    picture.paste(BLUE, (0, 0, 100, 1500))
    exif = Image.Exif()
    exif[0x0112] = 6
    whole = encode_whole(encoded(picture.convert(mode), exif=exif), longest=1024)
    shown = decoded(whole.content)
    assert shown.size == (whole.width, whole.height) == (512, 1024)
    # Turned clockwise: the left edge is above.
    assert is_near(shown.getpixel((256, 10)), BLUE) and is_near(shown.getpixel((256, 60)), RED)


def test_the_orientation_of_a_camera_is_applied_and_its_data_dropped():
    picture = plain_picture(RED, (200, 200))
    picture.paste(BLUE, (0, 0, 200, 100))
    exif = Image.Exif()
    exif[0x0112], exif[0x010F] = 6, "Maker of the camera"
    body = encode_picture(encoded(picture, "JPEG", exif=exif))
    turned = decoded(body)
    # Turned clockwise: the upper half is on the right.
    assert is_near(turned.getpixel((150, 80)), BLUE) and is_near(turned.getpixel((10, 80)), RED)
    assert b"Maker" not in body and b"EXIF" not in body


def test_broken_camera_data_cost_only_the_orientation():
    body = encode_picture(encoded(plain_picture(), "JPEG", exif=b"Exif\0\0MM\0*\xff\xff\xff\xff"))
    assert is_near(middle_of(body), RED)


def test_metadata_and_color_profiles_are_dropped():
    texts = PngImagePlugin.PngInfo()
    texts.add_text("Comment", "secret place")
    body = encode_picture(encoded(plain_picture(), pnginfo=texts, icc_profile=b"secret profile"))
    assert b"secret" not in body and b"ICCP" not in body


@pytest.mark.parametrize("form", ["PNG", "GIF"])
@pytest.mark.parametrize("side", [100, 2001])
def test_the_transparent_color_of_a_palette_stays_transparent(form, side):
    picture = Image.new("P", (side, side), 0)
    picture.putpalette([*RED, *GREEN])
    picture.paste(1, (0, 0, side // 2, side))
    shown = decoded(encode_picture(encoded(picture, form, transparency=0)))
    assert is_near(shown.getpixel((20, 80)), (*GREEN, 255)) and shown.getpixel((150, 80))[3] == 0


@pytest.mark.parametrize("form", ["PNG", "WEBP"])
def test_the_orientation_is_applied_in_all_formats(form):
    picture = plain_picture(RED, (200, 200))
    picture.paste(BLUE, (0, 0, 200, 100))
    exif = Image.Exif()
    exif[0x0112], exif[0x010F] = 3, "Maker of the camera"
    body = encode_picture(encoded(picture, form, exif=exif))
    turned = decoded(body)
    assert is_near(turned.getpixel((80, 150)), BLUE) and is_near(turned.getpixel((80, 10)), RED)
    assert b"Maker" not in body


@pytest.mark.parametrize("side", [100, 2001])
def test_a_palette_keeps_its_partial_transparency(side):
    picture = Image.new("P", (side, side), 0)
    picture.putpalette([*RED, *GREEN])
    picture.paste(1, (0, 0, side // 2, side))
    shown = decoded(encode_picture(encoded(picture, "PNG", transparency=bytes((0, 128)))))
    assert is_near(shown.getpixel((20, 80)), (*GREEN, 128)) and shown.getpixel((150, 80))[3] == 0


@pytest.mark.parametrize(("kind", "samples"), [(2, (0x9C00, 0x2000, 0x2000)), (6, (0x9C00, 0x2000, 0x2000, 0x8000))])
def test_sixteen_bits_of_color_are_scaled(kind, samples):
    shown = decoded(encode_picture(png_of_sixteen_bits(kind, samples)))
    assert is_near(shown.getpixel((80, 80)), (0x9C, 0x20, 0x20, 0x80 if kind == 6 else 255))


def test_sixteen_bits_of_gray_keep_their_transparency():
    shown = decoded(encode_picture(png_of_sixteen_bits(4, (0x7530, 0x8000))))
    assert is_near(shown.getpixel((80, 80)), (117, 117, 117, 128))


def test_sixteen_bits_are_scaled_instead_of_cut():
    assert is_near(middle_of(encode_picture(encoded(Image.new("I;16", (50, 50), 30_000)))), (117, 117, 117))


def test_only_the_first_of_ten_thousand_frames_is_decoded():
    animation = long_animation(10_000)
    started = time.process_time()
    assert is_near(middle_of(encode_picture(animation)), RED)
    # All frames take a second.
    assert time.process_time() - started < 0.5


@pytest.mark.parametrize("form", ["PNG", "WEBP"])
def test_only_the_first_frame_of_other_animations_is_decoded(form):
    frames = [plain_picture(BLUE, (400, 400)), plain_picture(GREEN, (400, 400))] * 50
    animation = encoded(plain_picture(RED, (400, 400)), form, save_all=True, append_images=frames)
    started = time.process_time()
    assert is_near(middle_of(encode_picture(animation)), RED)
    ended = time.process_time()
    with Image.open(BytesIO(animation)) as picture:
        for number in range(picture.n_frames):
            picture.seek(number)
            picture.load()
    assert 4 * (ended - started) < time.process_time() - ended


def webp_header(kind: bytes, size: bytes) -> bytes:
    chunk = kind + struct.pack("<I", len(size)) + size
    return b"RIFF" + struct.pack("<I", 4 + len(chunk)) + b"WEBP" + chunk


HUGE = {
    "PNG": png_bomb(60_000, 60_000),
    "PNG of the largest size": png_bomb(2**31 - 1, 2**31 - 1),
    "GIF": b"GIF89a" + struct.pack("<HH", 65_535, 65_535) + b"\0\0\0,\0\0\0\0\xff\xff\xff\xff\0\x02\0;",
    "GIF of a huge frame": b"GIF89a\1\0\1\0\0\0\0,\0\0\0\0\xff\xff\xff\xff\0\x02\0;",
    "WebP with a canvas": webp_header(b"VP8X", b"\0" * 4 + b"\xff\xff\x00" + b"\xff\xff\x00"),
    "lossless WebP": webp_header(b"VP8L", b"\x2f" + struct.pack("<I", 0x3FFF | 0x3FFF << 14) + b"\0" * 9),
    "lossy WebP": webp_header(b"VP8 ", b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 16_383, 16_383) + b"\0" * 9),
}


@pytest.mark.parametrize("name", HUGE)
def test_a_bomb_is_refused_by_its_header(name):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(UnusablePictureError, match="megapixels"):
        encode_picture(HUGE[name])
    # KiB.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000


@pytest.mark.parametrize("size", [(1, 65_536), (65_536, 1), (1, 40_000_000)])
def test_an_extreme_side_is_refused_by_the_header(size):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(UnusablePictureError, match="at most 65535 pixels a side"):
        encode_whole(png_bomb(*size), longest=1024)
    # KiB. Decoded, a picture with the last size takes 345 MB.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000


@pytest.mark.parametrize("kind", [b"iCCP", b"zTXt", b"iTXt"])
def test_compressed_metadata_is_not_unpacked_without_a_limit(kind):
    body = encoded(plain_picture())
    text = zlib.compress(b"\0" * 100_000_000, 9)
    content = {b"iCCP": b"name\0\0", b"zTXt": b"name\0\0", b"iTXt": b"name\0\1\0\0\0"}[kind] + text
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # The signature and the first chunk, IHDR, are 33 bytes.
    with suppress(UnusablePictureError):
        assert is_near(middle_of(encode_picture(body[:33] + png_chunk(kind, content) + body[33:])), RED)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 40_000


def test_a_jpeg_of_many_scans_is_refused():
    assert encode_picture(jpeg_of_scans(100))
    with pytest.raises(UnusablePictureError, match="pixels times its scans"):
        encode_picture(jpeg_of_scans(500))


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
@pytest.mark.parametrize("part", [0.02, 0.5, 0.9])
def test_a_file_that_was_cut_is_refused(form, part):
    body = encoded(Image.effect_noise((300, 300), 50).convert("RGB"), form)
    with pytest.raises(UnusablePictureError):
        encode_picture(body[: int(part * len(body))])


@pytest.mark.parametrize(
    "content",
    [
        b"",
        SVG,
        b"<!DOCTYPE html><html><body>Not found",
        b"\x89PNG\r\n\x1a\n",
        b"GIF89a",
        b"RIFF\0\0\0\0WEBP",
        encoded(plain_picture(), "BMP"),
        encoded(plain_picture(), "TIFF"),
        encoded(plain_picture(), "ICO"),
        encoded(plain_picture(), "PDF"),
        encoded(plain_picture(size=(500, 500)), "JPEG")[:1500],
        encoded(Image.effect_noise((300, 300), 50))[:30_000],
        png_bomb(4000, 4000),
    ],
)
def test_what_is_no_whole_picture_is_refused(content):
    with pytest.raises(UnusablePictureError):
        encode_picture(content)


@given(
    content=st.sampled_from(["PNG", "JPEG", "GIF", "WEBP"]).map(lambda form: encoded(plain_picture(), form)),
    changes=st.lists(st.tuples(st.floats(0, 0.999), st.integers(0, 255)), max_size=20),
    end=st.floats(0, 1),
)
def test_changed_files_are_decoded_or_refused(content, changes, end):
    changed = bytearray(content)
    for place, value in changes:
        changed[int(place * len(changed))] = value
    try:
        body = encode_picture(bytes(changed[: int(end * len(changed)) + 1]))
    except UnusablePictureError:
        return
    assert decoded(body).size == (SIZE, SIZE)

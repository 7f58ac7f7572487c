"""Public site assets: our stylesheet and scripts, and the installation's colors, logos and icon.

A name contains the content's digest, so that browsers keep an asset for good and a new release is seen at once.
"""

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path

from django.conf import settings
from django.core.files.images import get_image_dimensions
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from config.site.colors import color_stylesheet, ink_on

_FILES = Path(__file__).parent / "static_files"
_PICTURES = {"logo": "SITE_LOGO", "logo-dark": "SITE_LOGO_DARK", "icon": "SITE_ICON", "intro": "SITE_INTRO_PICTURE"}
_DEFAULT_ICON = _FILES / "icon.svg"
# Pixels in the header.
LOGO_HEIGHT, MAX_LOGO_WIDTH = 32, 200
_NUMBER = r"\d+(?:\.\d+)?"
_VIEW_BOX = re.compile(
    rf"<svg\b[^>]*\bviewBox=[\"']\s*-?{_NUMBER}[\s,]+-?{_NUMBER}[\s,]+(?P<width>{_NUMBER})[\s,]+(?P<height>{_NUMBER})"
)
_SVG_WIDTH_AND_HEIGHT = re.compile(
    rf"<svg\b(?=[^>]*\bwidth=[\"'](?P<width>{_NUMBER}))(?=[^>]*\bheight=[\"'](?P<height>{_NUMBER}))"
)
# Colors of the default icon, which are replaced by the installation's.
_ICON_COLOR, _ICON_INK = b"#2456d6", b"#fff"
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webp": "image/webp",
}


@dataclass(frozen=True)
class Asset:
    """Site file as it is served."""

    # With the digest.
    file_name: str
    body: bytes
    content_type: str
    # Pixels in the page header; 0 unless it is the logo.
    width: int


@require_safe
def serve_asset(request: HttpRequest, file_name: str) -> HttpResponse:
    """Respond with an asset. An operator's SVG file runs no script, also if it is opened by itself."""
    asset = next((asset for asset in _assets().values() if asset.file_name == file_name), None)
    if asset is None:
        raise Http404
    headers = {
        "Cache-Control": "public, max-age=31536000, s-maxage=31536000, immutable",
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "X-Content-Type-Options": "nosniff",
    }
    return HttpResponse(asset.body, content_type=asset.content_type, headers=headers)


def asset_url(name: str) -> str:
    """Return an asset's path. Names: a file in `static_files`, `logo`, `logo-dark`, `icon` or `intro`.

    Empty for a picture that the installation does not set.
    """
    asset = _assets().get(name)
    if asset is None:
        if name in _PICTURES:
            return ""
        raise ValueError(f"there is no asset {name}")
    return reverse("asset", args=[asset.file_name])


@cache
def _assets() -> dict[str, Asset]:
    """Return all assets by name, read once for each process."""
    files = {path.name: path for path in sorted(_FILES.iterdir())}
    pictures = {name: path for name, setting in _PICTURES.items() if (path := getattr(settings, setting))}
    bodies = {name: (path.read_bytes(), path.suffix.lower()) for name, path in (files | pictures).items()}
    stylesheet, suffix = bodies["site.css"]
    bodies["site.css"] = (stylesheet + color_stylesheet(), suffix)
    bodies.setdefault("icon", (_colored_icon(), _DEFAULT_ICON.suffix))
    return {name: _build_asset(name, body, suffix) for name, (body, suffix) in bodies.items()}


def logo_width() -> int:
    """Return the width of SITE_LOGO in pixels, so that pages keep room for it; 0 without a logo."""
    logo = _assets().get("logo")
    return logo.width if logo else 0


def _width_in_header(body: bytes, suffix: str) -> int:
    """Return a picture's width at LOGO_HEIGHT, at most MAX_LOGO_WIDTH; a square's if the size is unknown."""
    width, height = (
        _svg_size(body.decode(errors="replace")) if suffix == ".svg" else get_image_dimensions(BytesIO(body))
    )
    return min(round(LOGO_HEIGHT * width / height), MAX_LOGO_WIDTH) if width and height else LOGO_HEIGHT


def _svg_size(text: str) -> tuple[float, float]:
    """Return width and height from an SVG's view box, else from its attributes; zeros if it has neither."""
    match = _VIEW_BOX.search(text) or _SVG_WIDTH_AND_HEIGHT.search(text)
    return (float(match["width"]), float(match["height"])) if match else (0.0, 0.0)


def _colored_icon() -> bytes:
    """Return the default icon in SITE_COLOR."""
    icon = _DEFAULT_ICON.read_bytes().replace(_ICON_INK, ink_on(settings.SITE_COLOR).encode())
    return icon.replace(_ICON_COLOR, settings.SITE_COLOR.encode())


def _build_asset(name: str, body: bytes, suffix: str) -> Asset:
    digest = hashlib.sha256(body).hexdigest()[:16]
    width = _width_in_header(body, suffix) if name == "logo" else 0
    return Asset(f"{name.removesuffix(suffix)}.{digest}{suffix}", body, _TYPES[suffix], width)

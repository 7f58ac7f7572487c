"""Environment variables for the public site: name, logos, colors, links, sections and languages."""

import re
from pathlib import Path
from typing import NamedTuple

from attrs import frozen

from config.environment.kinds import directory, expecting, matching, several, split_list, switch, whole_number
from config.environment.variables import variable

SECTIONS = ("leaderboard", "creators", "status", "docs", "embed", "miniapp")
# Code -> name in the language itself.
LANGUAGES = {"en": "English", "de": "Deutsch", "zh-hans": "简体中文"}
_PICTURE_TYPES = (".svg", ".png", ".webp", ".ico")
_MAX_PICTURE_BYTES = 256 * 1024
_LINK = re.compile(r"([^|]{1,40})\|(https?://[^\s|]{1,500}|/[^\s|]{0,500})")


class SiteLink(NamedTuple):
    """Link in the header or the footer."""

    text: str
    url: str


def _site_link(text: str) -> SiteLink:
    match = _LINK.fullmatch(text)
    if match is None:
        raise ValueError
    return SiteLink(match[1].strip(), match[2])


@expecting(f"the path of a readable {', '.join(_PICTURE_TYPES)} file of at most {_MAX_PICTURE_BYTES // 1024} KiB")
def _picture(text: str) -> Path:
    path = Path(text)
    if path.suffix.lower() not in _PICTURE_TYPES or not path.is_file() or path.stat().st_size > _MAX_PICTURE_BYTES:
        raise ValueError
    return path


@expecting(f"none, or of {', '.join(SECTIONS)}, with commas between them")
def _sections(text: str) -> frozenset[str]:
    sections = frozenset(split_list(text.lower())) - {"none"}
    if not sections <= set(SECTIONS):
        raise ValueError
    return sections


@expecting(f"one or more of {', '.join(LANGUAGES)}, each once, with commas between them")
def _languages(text: str) -> tuple[str, ...]:
    codes = split_list(text.lower())
    if not codes or len(set(codes)) < len(codes) or not set(codes) <= set(LANGUAGES):
        raise ValueError
    return codes


_signed_domain = matching(
    r"[A-Za-z0-9_-]{1,2000}(\.[A-Za-z0-9_-]{1,2000}){2}",
    "header, payload and signature of Farcaster's tool, with points between them",
)
_color = matching("#[0-9a-fA-F]{6}", "a color as # and six hex digits, such as #2456d6")
_links = several(_site_link, "Name|https://... or Name|/path, with commas between links")


@frozen(slots=False, repr=False)
class SiteVariables:
    """The public site's own look."""

    SITE_NAME: str = variable(matching(".{1,60}", "a name of at most 60 characters"), "Launchboard")
    """Name in the header and in page titles, at most 60 characters."""
    SITE_LOGO: Path | None = variable(_picture, empty=None)
    """Path to the picture beside the name: svg, png, webp or ico, at most 256 KiB, shown 32 pixels high."""
    SITE_LOGO_DARK: Path | None = variable(_picture, empty=None)
    """Path to the logo for dark pages, of the same types and size.

    Default: `SITE_LOGO`
    """
    SITE_ICON: Path | None = variable(_picture, empty=None)
    """Path to the icon in browser tabs, of the same types and size.

    Default: a rocket in `SITE_COLOR`
    """
    SITE_COLOR: str = variable(_color, "#2456d6")
    """Link and button color. Pages use the nearest lightness with a contrast of 4.5, light and dark."""
    SITE_ACCENT_COLOR: str = variable(_color, "#0f7b6c")
    """Color for marks and chart highlights, adjusted likewise."""
    SITE_HEADER_LINKS: tuple[SiteLink, ...] = variable(_links, empty=())
    """Links in the header as `Name|https://example.org`, with commas between them."""
    SITE_FOOTER_LINKS: tuple[SiteLink, ...] = variable(_links, empty=())
    """Links in the footer, in the same form."""
    SITE_FOOTER_TEXT: str = variable(matching(".{1,500}", "at most 500 characters"))
    """Text in the footer, at most 500 characters."""
    SITE_INTRO: str = variable(matching(".{1,200}", "at most 200 characters"))
    """Sentence at the top of the home page `/`, beside the number of tokens; at most 200 characters. Searches and
    shared links show it as the page's description."""
    SITE_INTRO_PICTURE: Path | None = variable(_picture, empty=None)
    """Path to a picture beside the sentence, of the same types and size as `SITE_LOGO`, shown 96 pixels high."""
    SITE_DEFAULT_CHAIN: int = variable(whole_number(0, 2**53), "0")
    """Chain id that the list on `/` starts with; 0 for all chains."""
    SITE_SECTIONS: frozenset[str] = variable(_sections, ",".join(SECTIONS))
    """Sections besides tokens, or `none`; all others respond with 404. Any site may show the pages in `embed` and
    `miniapp` in a frame, and no other page."""
    FARCASTER_ACCOUNT_ASSOCIATION: str = variable(_signed_domain)
    """Proof that a Farcaster account has the domain, for `/.well-known/farcaster.json`: `header.payload.signature`, as
    Farcaster's manifest tool signs it."""
    SITE_LANGUAGES: tuple[str, ...] = variable(_languages, "en,de,zh-hans")
    """Page languages. Pages in the first have no prefix; pages in the others start with `/de/` or `/zh-hans/`."""
    SITE_PICTURES: bool = variable(switch, "false")
    """Whether a worker fetches token [pictures](site.md#pictures), and pages show them. Anyone who launches a
    token chooses the host."""
    SITE_PICTURE_DIR: Path | None = variable(directory, empty=None)
    """Absolute path of the picture directory; all web and worker processes share it.

    Default: `pictures` in `LAUNCHBOARD_LOCAL`
    Example: /var/lib/launchboard/pictures
    """
    SITE_PICTURE_MB: int = variable(whole_number(1, 1_000_000), "256")
    """Size in MiB above which the oldest stored pictures are removed."""

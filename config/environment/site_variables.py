"""Environment variables of the public site: name, logos, colors, links, sections and languages."""

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
    """Link of the header or the footer."""

    text: str
    url: str


def _site_link(text: str) -> SiteLink:
    found = _LINK.fullmatch(text)
    if found is None:
        raise ValueError
    return SiteLink(found[1].strip(), found[2])


@expecting(f"the path of a readable {', '.join(_PICTURE_TYPES)} file of at most {_MAX_PICTURE_BYTES // 1024} KiB")
def _picture(text: str) -> Path:
    path = Path(text)
    if path.suffix.lower() not in _PICTURE_TYPES or not path.is_file() or path.stat().st_size > _MAX_PICTURE_BYTES:
        raise ValueError
    return path


@expecting(f"none, or of {', '.join(SECTIONS)}, with commas between them")
def _sections(text: str) -> frozenset[str]:
    chosen = frozenset(split_list(text.lower())) - {"none"}
    if not chosen <= set(SECTIONS):
        raise ValueError
    return chosen


@expecting(f"one or more of {', '.join(LANGUAGES)}, each once, with commas between them")
def _languages(text: str) -> tuple[str, ...]:
    chosen = split_list(text.lower())
    if not chosen or len(set(chosen)) < len(chosen) or not set(chosen) <= set(LANGUAGES):
        raise ValueError
    return chosen


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
    """Name in the header and in titles of pages."""
    SITE_LOGO: Path | None = variable(_picture, empty=None)
    """Picture beside the name, 32 pixels high, also in the dark unless there is another one."""
    SITE_LOGO_DARK: Path | None = variable(_picture, empty=None)
    """The same for dark pages."""
    SITE_ICON: Path | None = variable(_picture, empty=None)
    """Icon in browsers' tabs."""
    SITE_COLOR: str = variable(_color, "#2456d6")
    """Color of links and buttons. Pages use the nearest one of enough contrast, light and dark."""
    SITE_ACCENT_COLOR: str = variable(_color, "#0f7b6c")
    """Color of marks and charts' highlights, adjusted likewise."""
    SITE_HEADER_LINKS: tuple[SiteLink, ...] = variable(_links, empty=())
    """Links in the header, as Name|https://example.org."""
    SITE_FOOTER_LINKS: tuple[SiteLink, ...] = variable(_links, empty=())
    """Links in the footer."""
    SITE_FOOTER_TEXT: str = variable(matching(".{1,500}", "at most 500 characters"))
    """Text in the footer."""
    SITE_INTRO: str = variable(matching(".{1,200}", "at most 200 characters"))
    """Sentence at the top of the home page, and its description for search engines and shared links."""
    SITE_INTRO_PICTURE: Path | None = variable(_picture, empty=None)
    """Picture beside the sentence."""
    SITE_DEFAULT_CHAIN: int = variable(whole_number(0, 2**53), "0")
    """Chain id that the home page's list starts with; 0 for all chains."""
    SITE_SECTIONS: frozenset[str] = variable(_sections, ",".join(SECTIONS))
    """Sections besides tokens; others respond with 404."""
    FARCASTER_ACCOUNT_ASSOCIATION: str = variable(_signed_domain)
    """Signed proof of the domain's owner in the mini app's manifest."""
    SITE_LANGUAGES: tuple[str, ...] = variable(_languages, "en,de,zh-hans")
    """Languages of pages; the first one has paths without a prefix."""
    SITE_PICTURES: bool = variable(switch, "false")
    """Whether pictures of tokens are fetched and shown. Anyone who launches a token chooses the host."""
    SITE_PICTURE_DIR: Path | None = variable(directory, empty=None)
    """Directory of stored pictures, which web and worker processes share."""
    SITE_PICTURE_MB: int = variable(whole_number(1, 1_000_000), "256")
    """Size in MiB above which the oldest stored pictures are removed."""

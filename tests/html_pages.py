"""Parser for public pages, and what must hold for each page."""

import re
from html.parser import HTMLParser
from typing import Any

# Our own files, logos, token pictures and cards.
_OWN = re.compile(r"/(assets|pictures|cards)/")
HOSTILE = "</bdi></title><script>alert(1)</script><img src=x onerror=alert(1)>\"'><a href=javascript:x>{{ settings }}"


class Page(HTMLParser):
    """A parser that collects a page's element names, their attributes, all addresses and the texts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.attributes: set[str] = set()
        self.addresses: list[str] = []
        # Addresses from which the page loads something.
        self.loaded: list[str] = []
        self.texts: list[str] = []
        self.scripts_inside = False
        # Titles for the page; shapes in pictures have their own.
        self.titles = 0
        self._is_in_picture = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self._is_in_picture |= tag == "svg"
        self.titles += tag == "title" and not self._is_in_picture
        self.attributes |= {name for name, _ in attrs}
        values = dict(attrs)
        self.addresses += [value or "" for name, value in attrs if name in ("href", "src", "srcset", "action")]
        self.loaded += [value for name in ("src", "srcset") if (value := values.get(name))]
        if tag == "link" and values.get("rel") in ("stylesheet", "icon", "preload"):
            self.loaded.append(values["href"] or "")
        self.scripts_inside |= tag == "style" or (tag == "script" and "src" not in values)

    def handle_endtag(self, tag: str) -> None:
        self._is_in_picture &= tag != "svg"

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append(data.strip())


def read_page(answer: Any) -> Page:
    """Return the parsed page in a 200; check that it runs and loads only our files."""
    assert answer.status_code == 200
    page = Page(answer.text)
    assert not page.scripts_inside
    assert {"iframe", "object", "embed", "base"} & set(page.elements) == set()
    assert not [name for name in page.attributes if name.startswith("on") or name == "style"]
    assert [address for address in page.loaded if not _OWN.match(address)] == []
    assert [address for address in page.addresses if not re.match(r"/(?!/)|https?://|[?#]", address)] == []
    assert page.titles == 1
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none';") and "unsafe" not in policy
    return page

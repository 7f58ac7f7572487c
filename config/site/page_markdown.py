"""Public pages as Markdown, for language models: a rendered page's content, without its navigation."""

import re
from html.parser import HTMLParser
from urllib.parse import urljoin

_HEADINGS = {"h1": "# ", "h2": "## ", "h3": "### "}
_BLOCKS = {*_HEADINGS, "p", "li"}
# What only people at a screen use.
_SKIPPED = {"nav", "fieldset", "button", "script", "form"}
# Class on an example's element -> language of its code block.
_CODE_LANGUAGES = {"curl": "bash", "python": "python", "typescript": "typescript"}
_BLANKS = re.compile(r"\s+")


def page_markdown(page: str, *, base_url: str) -> str:
    """Return an HTML page's element `main` as Markdown; its links begin with the base URL."""
    writer = _MarkdownWriter(base_url)
    writer.feed(page)
    writer.close()
    return "\n\n".join(writer.blocks) + "\n"


class _MarkdownWriter(HTMLParser):
    """Parser that collects Markdown blocks: headings, paragraphs, list items and code."""

    def __init__(self, base_url: str) -> None:
        super().__init__()
        self.blocks: list[str] = []
        self._base_url = base_url
        self._is_in_main = False
        self._skipped = 0
        self._text: list[str] = []
        self._link = ""
        self._code_language = ""
        self._is_in_block = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "main":
            self._is_in_main = True
        elif tag in _SKIPPED:
            self._skipped += 1
        elif tag == "div":
            classes = values.get("class", "").split()
            if "example" in classes:
                self._code_language = next((_CODE_LANGUAGES[name] for name in classes if name in _CODE_LANGUAGES), "")
            # The language's name, in the example's head, is in the block's fence.
            self._text.clear()
        elif tag == "pre":
            self._is_in_block = True
            self._text.clear()
        elif tag == "code" and not self._is_in_block:
            self._text.append("`")
        elif tag == "a":
            self._link = urljoin(self._base_url, values.get("href", ""))
            self._text.append("[")
        elif tag in _BLOCKS:
            self._text.clear()

    def handle_endtag(self, tag: str) -> None:
        if tag == "main":
            self._is_in_main = False
        elif tag in _SKIPPED:
            self._skipped -= 1
        elif tag == "a":
            self._text.append(f"]({self._link})")
        elif tag == "code" and not self._is_in_block:
            self._text.append("`")
        elif tag == "pre":
            self._is_in_block = False
            self._end_block(f"```{self._code_language}\n{''.join(self._text).strip()}\n```")
        elif tag in _BLOCKS:
            text = _BLANKS.sub(" ", "".join(self._text)).strip()
            self._end_block(_HEADINGS.get(tag, "- " if tag == "li" else "") + text)

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            self._text.append(data)

    def _end_block(self, block: str) -> None:
        if self._is_in_main and not self._skipped:
            self.blocks.append(block)
        self._text.clear()

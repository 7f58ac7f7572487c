"""config/site/page_markdown.py: pages as Markdown, without what only people at a screen use."""

import pytest

from config.site.page_markdown import page_markdown

BASE = "https://launch.example"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("<h1>First  steps\n</h1><p>One\n two</p>", "# First steps\n\nOne two\n"),
        ("<h2>A</h2><h3>B</h3><ul><li>One</li><li>Two</li></ul>", "## A\n\n### B\n\n- One\n\n- Two\n"),
        ('<p>See <a href="/api/docs">the reference</a>.</p>', f"See [the reference]({BASE}/api/docs).\n"),
        ("<p>The header <code>x-api-key</code>.</p>", "The header `x-api-key`.\n"),
        ('<p><a href="https://a.example/b">b</a></p>', "[b](https://a.example/b)\n"),
        ("<p>a &lt; b &amp; c</p>", "a < b & c\n"),
        (
            '<div class="example curl"><div class="example-head"><span>curl</span><button>Copy</button></div>'
            "<pre><code>curl -s 'a&amp;b' \\\n  -d '{}'\n</code></pre></div>",
            "```bash\ncurl -s 'a&b' \\\n  -d '{}'\n```\n",
        ),
        ('<div class="example python"><pre><code>\nx = 1\n\ny</code></pre></div>', "```python\nx = 1\n\ny\n```\n"),
        ("<nav><p>On this page</p></nav><fieldset><p>Choose</p></fieldset><p>Text</p>", "Text\n"),
        ("<script>x()</script><form><p>Search</p></form><p>Text</p>", "Text\n"),
    ],
)
def test_elements_become_blocks(content, expected):
    page = f"<!DOCTYPE html><header><p>Brand</p></header><main>{content}</main><footer><p>Links</p></footer>"
    assert page_markdown(page, base_url=BASE) == expected

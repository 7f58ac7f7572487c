"""Setting documents: `.env.example` and the tables in docs/configuration.md, from the model's docstrings."""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import attrs

from config.environment.model import Environment
from config.environment.variables import ACCEPTS_FILE, BASE_DIR, CHAIN_PREFIX

EXAMPLE, GUIDE = Path(".env.example"), Path("docs/configuration.md")
_WIDTH = 118
_EXAMPLE_CHAIN = 8453
_INTRODUCTION = """\
# Written by `manage.py write_settings`. Copy to `.env` and change what you need. All variables are optional for
# `make run`. The environment overrides `.env`. An invalid value stops the start with the variable's name and the rule.
"""
# Generated part of the guide: a comment with section names or FILES, and everything up to the closing comment.
_PART = re.compile(r"(<!-- settings: ([\w ,]+) -->\n).*?(<!-- /settings -->)", re.DOTALL)
_FILES = "FILES"
_LINK = re.compile(r"\[([^]]+)\]\(([^)]+)\)")


@dataclass(frozen=True, kw_only=True)
class SettingText:
    """Variable as documents show it: name, meaning as Markdown, default, and lines for `.env.example`."""

    name: str
    meaning: str
    default: str
    lines: tuple[str, ...]
    accepts_file: bool


@dataclass(frozen=True, kw_only=True)
class SettingSection:
    """Variables in one model class; its title ends with a full stop."""

    name: str
    title: str
    settings: tuple[SettingText, ...]


def write_documents(directory: Path = BASE_DIR) -> None:
    """Write both documents below a directory, which has the guide."""
    (directory / EXAMPLE).write_text(example_text())
    (directory / GUIDE).write_text(guide_text((directory / GUIDE).read_text()))


def example_text() -> str:
    """Return `.env.example`: each variable with its meaning, and its default or an example."""
    files = ", ".join(_accepting_files()).replace("`", "")
    blocks = [_INTRODUCTION + _comment(f"{files} also accept NAME_FILE, the path of a file with the value.")]
    for section in read_sections():
        blocks.append(_comment(section.title))
        blocks += [_comment(_plain(_with_default(each))) + "\n".join(each.lines) + "\n" for each in section.settings]
    return "\n".join(blocks)


def guide_text(guide: str) -> str:
    """Return the guide with its tables written anew. Raises KeyError for a section that the model lacks."""
    sections = {section.name: section for section in read_sections()}

    def write(part: re.Match[str]) -> str:
        names = part[2].split(", ")
        settings = [each for name in names if name != _FILES for each in sections[name].settings]
        return part[1] + (_table(settings) if settings else _files_sentence()) + part[3]

    return _PART.sub(write, guide)


def read_sections() -> list[SettingSection]:
    """Return the model's sections in sequence, with their docstrings."""
    fields = attrs.fields_dict(Environment)
    return [
        SettingSection(
            name=model.__name__,
            title=inspect.getdoc(model) or "",
            settings=tuple(_setting(fields[name], text) for name, text in _docstrings(model)),
        )
        for model in Environment.__bases__
    ]


def _docstrings(model: type[Any]) -> Iterator[tuple[str, str]]:
    """Yield each field's name and docstring: the string below its line."""
    source = ast.parse(inspect.getsource(model))
    (defined,) = (node for node in source.body if isinstance(node, ast.ClassDef))
    for field, below in pairwise(defined.body):
        if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr):
            yield ast.unparse(field.target), inspect.cleandoc(ast.literal_eval(below.value))


def _setting(field: "attrs.Attribute[Any]", docstring: str) -> SettingText:
    prefix = field.metadata.get(CHAIN_PREFIX)
    meaning, _, rest = docstring.partition("\n\n")
    stated = dict(re.findall(r"^(Default|Example): (.+)$", rest, re.MULTILINE))
    value = field.default if isinstance(field.default, str) else ""
    name = f"{prefix}{_EXAMPLE_CHAIN}" if prefix else field.name
    others = re.findall(r"^[A-Z0-9_]+=.*$", rest, re.MULTILINE)
    return SettingText(
        name=f"{prefix}<chainId>" if prefix else field.name,
        meaning=" ".join(meaning.split()),
        default=stated.get("Default") or _shown(value) or "none",
        lines=(f"#{name}={stated.get('Example', value)}", *(f"#{line}" for line in others)),
        accepts_file=field.metadata[ACCEPTS_FILE],
    )


def _shown(value: str) -> str:
    return value if not value or re.fullmatch(r"[0-9.]+", value) else f"`{value}`"


def _with_default(setting: SettingText) -> str:
    """Return the meaning, with a default that the variable's line does not show."""
    shown = setting.lines[0].partition("=")[2]
    unset = setting.default == "none" or setting.default.strip("`") == shown
    return setting.meaning if unset else f"{setting.meaning} By default {setting.default}."


def _table(settings: list[SettingText]) -> str:
    rows = (f"| `{each.name}` | {each.default} | {_cell(each.meaning)} |\n" for each in settings)
    return "| setting | default | meaning |\n|---|---|---|\n" + "".join(rows)


def _cell(meaning: str) -> str:
    return meaning.replace("|", "\\|")


def _accepting_files() -> list[str]:
    return [f"`{each.name}`" for section in read_sections() for each in section.settings if each.accepts_file]


def _files_sentence() -> str:
    *names, last = _accepting_files()
    text = f"{', '.join(names)} and {last} also accept `NAME_FILE`, the path of a file with the value."
    return textwrap.fill(text, 140, break_long_words=False, break_on_hyphens=False) + "\n"


def _plain(markdown: str) -> str:
    """Return a text without emphasis, with each link replaced by its path."""
    named = _LINK.sub(lambda link: f"{link[1]} ({_path(link[2])})", markdown)
    return named.replace("**", "").replace("`", "")


def _path(target: str) -> str:
    return f"{GUIDE}{target}" if target.startswith("#") else f"docs/{target}"


def _comment(text: str) -> str:
    lines = textwrap.wrap(text, _WIDTH - 2, break_long_words=False, break_on_hyphens=False)
    return textwrap.indent("\n".join(lines), "# ") + "\n"

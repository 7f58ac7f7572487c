"""Prose in sources: comments, docstrings and texts, and the words that docs/words.md replaces."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain

# Each pattern with what to write instead. Persons (operators, partners, users, administrators) may want and know;
# processes, nodes, rows and requests do neither.
REPLACED = {
    r"\b(whoever|whomever|nobody|somebody|someone|anybody|everybody|everyone)\b": "the person or process meant",
    r"\b(he|she|him|himself)\b": "the person or process meant",
    r"\b(asks?|asked|asking)\b": "request, query, poll, fetch, call",
    r"\b(tells?|told|telling)\b": "return, report, respond with",
    r"\b(says?|said|saying)\b": "return, state, contain",
    r"\b(believes?|believed|believing|vouch(es|ed)?)\b": "trust, validate, verify",
    r"\b(hears?|heard|hearing)\b": "receive",
    r"\b(patience|heeds?|heeded|tends?|tended)\b": "timeout; apply; process",
    r"\bseats?\b": "slot",
    r"\b(too dear|spoken for)\b": "too expensive; reserved",
    r"\balone\b": "only",
    r"\bfor so long\b": "the duration's name",
}
_ANY_REPLACED = re.compile("|".join(REPLACED), re.I)
PERSONS = re.compile(
    r"\b(who|whom|whose|whoever|nobody|somebody|someone|anybody|anyone|everybody|everyone|he|she|him|his|her)\b", re.I
)
SPEECH = re.compile(
    r"\b(asks?|asked|asking|tells?|told|telling|says?|said|saying|believe[sd]?|believing|knows?|knew|known|knowing|"
    r"hears?|heard|hearing|speaks?|spoken|promise[sd]?|wants?|wanted|thinks?|thought)\b",
    re.I,
)
FIELD = re.compile(
    r"\b(retr(?:y|ies|ied|ying)|time-?outs?|cach(?:e|es|ed|ing)|lock(?:s|ed|ing)?|validat\w+|fetch\w*|request\w*)\b",
    re.I,
)
# Grammar that an engineer reads twice: noun chains, and free relative clauses for things.
OF = re.compile(r"\bof\b", re.I)
RELATIVES = re.compile(r"\b(?:that|those) of\b|\b(?:of|by) which\b", re.I)
# Local names that state how a value came about, and not what it holds.
VAGUE_NAMES = {
    "asked", "at", "chosen", "done", "found", "given", "kept", "known", "left", "made", "part", "place", "said", "seen",
    "taken", "told", "wanted",
}  # fmt: skip
_CODE = re.compile(r"`[^`]*`")
_WORD = re.compile(r"[A-Za-z][\w'-]*")


@dataclass(frozen=True)
class Line:
    """A prose line: its number in the file, and its text without code in backticks."""

    number: int
    text: str


@cache
def read_prose(source: str) -> tuple[list[Line], list[Line]]:
    """Return a Python source's lines in comments and docstrings, and its texts.

    Texts are string constants with a blank, such as log lines, errors, labels and descriptions; docstrings are none.
    """
    prose = [
        Line(token.start[0], _CODE.sub(" ", token.string.lstrip("#: ")))
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    ]
    texts, docstrings = {}, set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node)
            for offset, text in enumerate(_CODE.sub(" ", docstring).split("\n") if docstring else ()):
                prose.append(Line(node.body[0].lineno + offset, text))
        elif isinstance(node, ast.Expr):
            docstrings.add(node.value)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            texts[node] = Line(node.lineno, _CODE.sub(" ", node.value))
    return prose, [text for node, text in texts.items() if node not in docstrings]


def replaced_words(source: str) -> list[tuple[int, str, str]]:
    """Return line number, word and replacement for each match with REPLACED in prose and texts."""
    return [
        (line.number, match.group(0), instead)
        for line in chain(*read_prose(source))
        if _ANY_REPLACED.search(line.text)
        for pattern, instead in REPLACED.items()
        for match in re.finditer(pattern, line.text, re.I)
    ]


def vague_names(source: str) -> list[tuple[int, str]]:
    """Return line number and name for each assignment to one of VAGUE_NAMES."""
    return [(line, name) for line, name in _assigned_names(source) if name in VAGUE_NAMES]


@cache
def _assigned_names(source: str) -> list[tuple[int, str]]:
    """Return each assignment's line number and name, without class fields, such as columns."""
    nodes = list(ast.walk(ast.parse(source)))
    fields = {id(field) for node in nodes if isinstance(node, ast.ClassDef) for field in _assigned_fields(node)}
    stored = [node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    return [(node.lineno, node.id) for node in stored if id(node) not in fields]


def _assigned_fields(defined: ast.ClassDef) -> Iterator[ast.expr]:
    for statement in defined.body:
        if isinstance(statement, ast.AnnAssign):
            yield statement.target
        elif isinstance(statement, ast.Assign):
            yield from statement.targets


def noun_chains(sources: list[str]) -> dict[str, float]:
    """Return the matches with OF and RELATIVES per 1,000 words."""
    text = "\n".join(line.text for source in sources for line in read_prose(source)[0])
    words = max(len(_WORD.findall(text)), 1)
    return {
        "of": round(len(OF.findall(text)) * 1000 / words, 1),
        "relatives": round(len(RELATIVES.findall(text)) * 1000 / words, 1),
    }


def grammar(sources: list[str]) -> dict[str, float]:
    """Return `noun_chains`, and the VAGUE_NAMES per 1,000 assigned names."""
    names = max(sum(len(_assigned_names(source)) for source in sources), 1)
    return noun_chains(sources) | {
        "vague names": round(sum(len(vague_names(source)) for source in sources) * 1000 / names, 1),
    }


def frequencies(sources: list[str]) -> dict[str, float]:
    """Return the word count, and per 1,000 words those for persons, for speech and belief, and for the field."""
    texts = [line.text for source in sources for line in read_prose(source)[0]]
    words = sum(len(_WORD.findall(text)) for text in texts)
    counts = {"persons": PERSONS, "speech": SPEECH, "field": FIELD}
    found = {name: sum(len(pattern.findall(text)) for text in texts) for name, pattern in counts.items()}
    return {"words": words} | {name: round(count * 1000 / max(words, 1), 1) for name, count in found.items()}

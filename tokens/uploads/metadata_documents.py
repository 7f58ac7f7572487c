"""Metadata documents that partners upload: a deployment's texts as one JSON document, in a canonical form."""

from typing import Any

import orjson

from config.parsing.json_rules import FieldRule, InvalidFieldsError, Problem, object_of, parse_object
from tokens.deploying.rules import token_texts

# As a launch's texts on the chain; their document has more syntax.
MAX_DOCUMENT_BYTES = 16 * 1024
# Field names and rules are a deployment's. `image`, `name` and `symbol` also match Metaplex's documents.
DOCUMENT = object_of(
    {
        "name": FieldRule(rule=token_texts.name),
        "symbol": FieldRule(rule=token_texts.symbol),
        "image": FieldRule(
            rule=token_texts.image,
            default=None,
            description="An http, https or ipfs URL, such as of an upload.",
        ),
        **token_texts.METADATA,
    },
    name="MetadataBody",
)


def encode_document(body: Any) -> bytes:
    """Return a document as canonical JSON: sorted keys, UTF-8, no blanks, absent keys left out.

    Raises InvalidFieldsError with all broken rules.
    """
    parsed, problems = parse_object(body, DOCUMENT.keys)
    if not problems:
        document = {
            name: rule.to_json(parsed[name]) for name, rule in DOCUMENT.keys.items() if parsed[name] is not None
        }
        content = orjson.dumps(document, option=orjson.OPT_SORT_KEYS)
        problems = list(_size_problems(content))
    if problems:
        raise InvalidFieldsError(problems)
    return content


def _size_problems(content: bytes) -> list[Problem]:
    if len(content) <= MAX_DOCUMENT_BYTES:
        return []
    return [("", f"must be a document of at most {MAX_DOCUMENT_BYTES} bytes, and has {len(content)}")]

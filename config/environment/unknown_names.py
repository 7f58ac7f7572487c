"""Environment variables without a setting: a misspelt one would otherwise have no effect, and no error."""

import os
import re
from collections.abc import Collection, Iterator, Mapping

import attrs

from config.environment.model import Environment
from config.environment.variables import ACCEPTS_FILE, CHAIN_PREFIX, FILE, read_variables

# Useful in `.env`, though no setting: HTTP clients' proxies and certificates, and options for Python and the servers.
_OF_LIBRARIES = re.compile(
    r"(?i:(https?|no|all)_proxy)|(REQUESTS|CURL)_CA_BUNDLE|(SSL|PYTHON|DJANGO|CELERY|GRANIAN)_?.*"
)
# Chain id and `_FILE` at the end of a name: without them, a per-chain variable's name is its prefix.
_ENDING = re.compile(f"[0-9]*({FILE})?$")


def unknown_variables(in_file: Collection[str], environment: Mapping[str, str] | None = None) -> Iterator[str]:
    """Return a sentence for each variable without a setting: any in `.env`, and near misses in the environment.

    The environment has other programs' variables, too; a near miss is one edit away from a setting's name.
    """
    environment = os.environ if environment is None else environment
    fields = {field.metadata.get(CHAIN_PREFIX, field.name): field.metadata for field in attrs.fields(Environment)}
    names = fields.keys() | {name + FILE for name, metadata in fields.items() if metadata[ACCEPTS_FILE]}
    starts = [name for name, metadata in fields.items() if CHAIN_PREFIX in metadata]
    starts += [f"OIDC_{name}_" for name in read_variables(Environment, environment).OIDC_ISSUERS]
    for name in sorted({*in_file, *environment} - names):
        if name.startswith(tuple(starts)):
            continue
        forms = (name, _ENDING.sub("", name))
        similar = next((setting for setting in fields if any(_is_similar(form, setting) for form in forms)), "")
        similar += "<chainId>" * similar.endswith("_")
        if similar or (name in in_file and not _OF_LIBRARIES.fullmatch(name)):
            source, hint = " in .env" if name in in_file else "", f"; is {similar} meant?" if similar else ""
            yield f"{name} is set{source}, and no setting has this name{hint}"


def _is_similar(name: str, setting: str) -> bool:
    """Return whether at most one character is added, left out or replaced."""
    start = len(os.path.commonprefix([name, setting]))
    end = len(os.path.commonprefix([name[start:][::-1], setting[start:][::-1]]))
    return max(len(name), len(setting)) - start - end <= 1

"""docs/launchpads.md: its tables have all keys and all built-in launchpads, and its example loads."""

import re
import tomllib
from pathlib import Path

import pytest

from tokens.chains.registry import chains, launchpad_events, launchpad_rules, launchpad_tables
from tokens.chains.registry.chains import load_registry

GUIDE = Path("docs/launchpads.md").read_text(encoding="utf-8")


def keys(heading):
    """Return the keys that the tables of a section have."""
    section = GUIDE.partition(f"\n### {heading}\n")[2]
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", re.split(r"\n###? ", section)[0], re.M)
    return {key for row in rows for key in re.findall(r"\w+", row)}


@pytest.mark.parametrize(
    ("heading", "known"),
    [
        ("`[launchpads.<name>]`", launchpad_rules.LAUNCHPAD),
        ("`[[launchpads.<name>.launch]]`", launchpad_rules.LAUNCH),
        ("Values", {key for kinds in launchpad_tables.VALUES.values() for keys in kinds for key in keys}),
        ("`swap_parts`", launchpad_events.SWAP_PART),
        ("`[[launchpads.<name>.trade]]`", launchpad_events.TRADE),
        ("`[[launchpads.<name>.change]]`", launchpad_events.CHANGE),
        ("`[[launchpads.<name>.claim]]`", launchpad_events.CLAIM),
    ],
)
def test_each_key_has_a_row(heading, known):
    assert keys(heading) == set(known)


def test_each_built_in_launchpad_has_a_row():
    text = Path(chains.__file__).with_name("launchpads.toml").read_text(encoding="utf-8")
    section = GUIDE.partition("\n## Built-in launchpads\n")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", section, re.M)) == {"clanker", *tomllib.loads(text)["launchpads"]}


def test_the_example_loads(tmp_path):
    (example,) = re.findall(r"^```toml\n(.*?)^```$", GUIDE, re.M | re.S)
    (tmp_path / "harbor.toml").write_text(example)
    registry = load_registry(tmp_path / "harbor.toml", launchpads={8453: ("harbor",)})
    assert [pad.name for pad in registry.chain(8453).launchpads] == ["harbor"]

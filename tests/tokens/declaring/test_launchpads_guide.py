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


def shape(line):
    """Return a printed line without its own numbers, hashes, texts and names."""
    for pattern, text in (
        (r"0x[0-9a-fA-F]+(\.\.\.)?", "HASH"),
        (r"launchpads\.\w+", "launchpads.NAME"),
        (r"argument [\w.]+", "argument PATH"),
        (r"\(\w+\), ", "(CHAIN), "),
        (r"'.*'", "TEXT"),
        (r"\d[\d.]*(e[+-]?\d+)?", "N"),
        (r"\b\w+\([\w(),]*\)", "EVENT()"),
        (r"(the type) \w+ is \w+", r"\1 TYPE is TYPE"),
        (r" +", " "),
    ):
        line = re.sub(pattern, text, line)
    return line.strip()


def blocks_of_guide():
    """Return the blocks of output that the guide shows."""
    return [text for language, text in re.findall(r"^```(\w*)\n(.*?)^```$", GUIDE, re.M | re.S) if not language]


def test_the_output_of_a_trial_is_what_the_command_prints(serve_launchpad, try_file):
    printed = []
    for name, given, changed in (
        ("zora-creator_coin_1", "", ""),
        ("zora-creator_coin_1", 'uri = "uri"', 'uri = { call = "function logo() view returns (string)" }'),
        ("flaunch-launch_1_fair_launch", "int128 amount0, int128 amount1,", "int128 amount0, int256 amount1,"),
        ("doppler-multicurve_1_weth", "", ""),
    ):
        pad = serve_launchpad(name)
        further = [
            part for each in pad.recording["transactions"][1:] for part in ("--trade", each["transaction"]["hash"])
        ]
        text = pad.declaration().replace(given, changed) if given else pad.declaration()
        printed += try_file(text, "--tx", pad.tx_hash, *further).splitlines()
        last = int(pad.recording["transactions"][-1]["receipt"]["blockNumber"], 16)
        printed += try_file(text, "--range", f"0:{last}").splitlines()
    shapes = set(map(shape, printed))
    lines = [line for block in blocks_of_guide() for line in block.splitlines() if line.strip() not in ("", "...")]
    assert len(lines) > 15
    assert [line for line in lines if shape(line) not in shapes] == []

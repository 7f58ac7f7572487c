"""Tests of the guide for partners: the bodies in it are accepted."""

import json
import re
from pathlib import Path

import pytest

from tokens.chains.launching.launch_calls import encode_launch
from tokens.deploying import launch_request
from tokens.installation.installed_chains import installed_chain

GUIDE = Path(__file__).resolve().parents[3] / "docs" / "deploying.md"
BLOCKS = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)]
BODIES = [block for block in BLOCKS if "token" in block]


def test_it_shows_three_bodies_and_one_answer():
    assert (len(BODIES), len(BLOCKS)) == (3, 4)


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body["token"]["symbol"])
def test_a_body_of_the_guide_becomes_a_call(body, settings, forget_chains):
    settings.RPC_URLS = {8453: ("http://127.0.0.1:9",)}
    forget_chains()
    config = launch_request.parse_launch_request(body).config

    assert config.name == body["token"]["name"]
    calls = encode_launch(installed_chain(8453).info, config, salt="0x" + "00" * 32)
    assert (calls.presale_start or calls.launch).to.startswith("0x")

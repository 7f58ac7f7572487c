"""The version: pyproject.toml has it, and every other place that has one has the same."""

import re
import subprocess
import tomllib
from itertools import pairwise

import pytest
import yaml

from config.environment.variables import BASE_DIR

VERSION = tomllib.loads((BASE_DIR / "pyproject.toml").read_text())["project"]["version"]
CHANGELOG = (BASE_DIR / "CHANGELOG.md").read_text()


def released():
    """Return the numbers and dates of the changelog's versions, the newest first."""
    return re.findall(r"^## (\d+\.\d+\.\d+) - (20\d\d-\d\d-\d\d)$", CHANGELOG, re.M)


def test_the_service_and_the_chart_have_the_version(settings):
    chart = yaml.safe_load((BASE_DIR / "deploy" / "chart" / "Chart.yaml").read_text())
    assert settings.SERVICE_VERSION == settings.SPECTACULAR_SETTINGS["VERSION"] == VERSION
    assert (chart["version"], chart["appVersion"]) == (VERSION, VERSION)


@pytest.mark.parametrize("guide", ["installing.md", "repairing.md"])
def test_examples_of_the_guides_have_the_version(guide):
    text = (BASE_DIR / "docs" / guide).read_text()
    named = re.findall(r"(?:TAG=|tag: |versions: Version |--branch |/srv/launchboard-)(\d+\.\d+\.\d+)", text)
    assert set(named) == {VERSION}


def test_the_changelog_has_every_version_with_upgrade_notes():
    headings = re.findall(r"^## (.+)$", CHANGELOG, re.M)
    assert headings == ["Unreleased", *(f"{number} - {date}" for number, date in released())]
    numbers = [tuple(int(part) for part in number.split(".")) for number, _date in released()]
    assert numbers and all(newer > older for newer, older in pairwise(numbers))
    assert released()[0][0] == VERSION
    sections = re.split(r"^## .+$", CHANGELOG, flags=re.M)[2:]
    assert all("\n### Upgrade notes\n" in section for section in sections)
    kinds = set(re.findall(r"^### (.+)$", CHANGELOG, re.M))
    assert kinds <= {"Upgrade notes", "Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_a_tag_of_this_commit_is_the_version():
    command = ["git", "tag", "--points-at", "HEAD"]
    tags = subprocess.run(command, cwd=BASE_DIR, capture_output=True, text=True, check=True).stdout.split()
    assert set(tags) <= {VERSION}

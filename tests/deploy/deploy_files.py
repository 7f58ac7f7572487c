"""What deploy/ has, read as its programs read it."""

import re
from functools import cache
from typing import Any

import attrs
import yaml

from config.environment.model import Environment
from config.environment.variables import BASE_DIR

COMPOSE = BASE_DIR / "deploy" / "compose"
CHART = BASE_DIR / "deploy" / "chart"
UNITS = BASE_DIR / "deploy" / "systemd"
SITE_URL = "https://launchboard.example"


def procfile() -> dict[str, str]:
    """Return the commands of the Procfile by name."""
    lines = (BASE_DIR / "Procfile").read_text().splitlines()
    return dict(line.split(": ", 1) for line in lines)


def compose_file() -> dict[str, Any]:
    """Return the compose file with the defaults of its variables, and SITE_URL."""
    text = (COMPOSE / "compose.yaml").read_text().replace("${SITE_URL:?", f"${{SITE_URL:-{SITE_URL}#")
    found: dict[str, Any] = yaml.safe_load(re.sub(r"\$\{[A-Z_]+:-([^}#]*)(#[^}]*)?\}", r"\1", text))
    return found


@cache
def settings_names() -> set[str]:
    """Return the setting names, with their `_FILE` variants."""
    fields = attrs.fields(Environment)
    return {field.name for field in fields} | {
        f"{field.name}_FILE" for field in fields if field.metadata["accepts_file"]
    }


def seconds(text: str) -> float:
    """Return a duration of the compose file, such as 30s."""
    assert text.endswith("s")
    return float(text[:-1])

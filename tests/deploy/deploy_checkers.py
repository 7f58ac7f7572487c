"""Checks for the files in deploy/, by the libraries in requirements-deploy.txt."""

import json
from pathlib import Path
from typing import Any

import helm_python
import kubernetes_validate
import yaml
from compose_spec import PyCompose

from tests.deploy.deploy_files import CHART


def check_compose(found: dict[str, Any]) -> None:
    """Raise ValueError for a compose file that breaks the Compose Specification."""
    PyCompose.from_json(json.dumps(found))


def render_chart(**values: Any) -> list[dict[str, Any]]:
    """Render the chart by Helm's own library, with these values over the default ones."""
    with helm_python.Chart.load(str(CHART)) as chart:
        texts = chart.render(values, name="launchboard", namespace="sites")
    documents = [document for text in texts.values() for document in yaml.safe_load_all(text)]
    return [document for document in documents if document]


def check_kubernetes(document: dict[str, Any], version: str) -> None:
    """Raise an error for a document that breaks this Kubernetes version's schema."""
    kubernetes_validate.validate(document, version, strict=True)


def lint_chart(path: Path = CHART, **values: Any) -> list[str]:
    """Return warnings and errors from `helm lint`, with these values."""
    found = helm_python.lint(str(path), values)
    # Severity 1 is information: the chart has no icon.
    return [message["error"] for message in found["messages"] if message["severity"] > 1] + found["errors"]

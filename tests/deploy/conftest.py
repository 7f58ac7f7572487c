"""Libraries of requirements-deploy.txt. Only `make test-slow` installs them, so that no module here can import them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.deploy.deploy_files import CHART

Rendered = list[dict[str, Any]]


@pytest.fixture
def check_compose() -> Callable[[dict[str, Any]], None]:
    """Return a function that raises ValueError for a compose file that breaks the Compose Specification."""
    from compose_spec import PyCompose

    return lambda found: PyCompose.from_json(json.dumps(found)) and None


@pytest.fixture
def render_chart() -> Callable[..., Rendered]:
    """Return a function that renders the chart by Helm's own library, with these values over the default ones."""
    import helm_python
    import yaml

    def render(**values: Any) -> Rendered:
        with helm_python.Chart.load(str(CHART)) as chart:
            texts = chart.render(values, name="launchboard", namespace="sites")
        documents = [document for text in texts.values() for document in yaml.safe_load_all(text)]
        return [document for document in documents if document]

    return render


@pytest.fixture
def check_kubernetes() -> Callable[[dict[str, Any], str], None]:
    """Return a function that raises an error for a document that breaks the schema of this version of Kubernetes."""
    import kubernetes_validate

    return lambda document, version: kubernetes_validate.validate(document, version, strict=True) and None


@pytest.fixture
def lint_chart() -> Callable[..., list[str]]:
    """Return a function that returns the warnings and errors of `helm lint`, with these values."""
    import helm_python

    def lint(path: Path = CHART, **values: Any) -> list[str]:
        found = helm_python.lint(str(path), values)
        # Severity 1 is information: the chart has no icon.
        return [message["error"] for message in found["messages"] if message["severity"] > 1] + found["errors"]

    return lint

"""docs/alerts.yml: each rule is about metrics that exist, and is in the table of docs/operating.md."""

import re
from itertools import chain

import pytest
import yaml
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from config.environment.variables import BASE_DIR
from tests.rows.factories import ChainHeadFactory, CoverageFactory, DeploymentFactory, DeployWalletFactory

pytestmark = pytest.mark.django_db

RULES = yaml.safe_load((BASE_DIR / "docs" / "alerts.yml").read_text())
ALERTS = [rule for group in RULES["groups"] for rule in group["rules"]]
OPERATING = (BASE_DIR / "docs" / "operating.md").read_text()
_SELECTOR = re.compile(r"\b(launchboard_\w+)(?:\{([^}]*)\})?")
_LABEL = re.compile(r'(\w+)(=~|=)"([^"]*)"')
# A sample of each needs a replica, a chain with trades, or a comparison with a provider.
WITHOUT_SAMPLES = {
    "launchboard_replica_used",
    "launchboard_reference_price_alarm",
    "launchboard_chain_trades_age_seconds",
    "launchboard_market_price_differences",
}


def served_samples():
    """Return (name, labels) of each sample."""
    families = text_string_to_metric_families(Client().get("/metrics").text)
    return [(sample.name, sample.labels) for family in families for sample in family.samples]


def described_names():
    """Return the names of the metrics that operating.md lists."""
    names = chain.from_iterable(
        re.findall(r"`(\w+)`", row.split("|")[1]) for row in OPERATING.splitlines() if row[:3] == "| `"
    )
    return {f"launchboard_{name}" for name in names}


@pytest.fixture
def samples():
    ChainHeadFactory()
    CoverageFactory(first_block=1, followed_to=100, verified_to=100)
    DeploymentFactory()
    DeployWalletFactory(balance=1)
    return served_samples()


@pytest.mark.parametrize("alert", ALERTS, ids=lambda rule: rule["alert"])
def test_each_rule_is_about_series_that_exist(alert, samples):
    selected = _SELECTOR.findall(alert["expr"])
    assert selected or alert["alert"] == "NoMetrics"
    for name, labels in selected:
        wanted = [(label, value if kind == "=~" else re.escape(value)) for label, kind, value in _LABEL.findall(labels)]
        values = [value for _, pattern in wanted for value in pattern.split("|")]
        found = {
            value
            for sample, given in samples
            for label, pattern in wanted or [("", "")]
            for value in [given.get(label, "")]
            if sample == name and re.fullmatch(pattern, value)
        }
        if name in WITHOUT_SAMPLES:
            assert name in described_names()
        else:
            # Each alternative of a pattern is the value of a sample.
            assert len(found) == max(len(values), 1), f"{name}{labels}"


def test_rules_are_valid_and_each_is_described():
    names = [alert["alert"] for alert in ALERTS]
    assert len(names) == len(set(names))
    for alert in ALERTS:
        assert set(alert) <= {"alert", "expr", "for", "annotations"}, alert
        assert re.fullmatch(r"[0-9]+[smh]", alert.get("for", "1m")), alert
    listed = set(re.findall(r"\b[A-Z][a-z]+(?:[A-Z][a-z]+)+\b", OPERATING))
    assert set(names) <= listed, set(names) - listed


def test_the_documents_list_the_metrics_that_are_served(samples):
    assert {name for name, _ in samples} <= described_names()

"""docs/alerts.yml and docs/grafana.json: rules and panels are about metrics that exist; each alert has a runbook."""

import json
import re
import shutil
import subprocess
from itertools import chain

import pytest
import yaml
from django.test import Client
from django.utils import timezone
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from config.environment.variables import BASE_DIR
from config.events.stream.event_hub import EventHub
from config.events.stream.event_reading import EventReader
from config.events.stream.log_poller import LogPoller
from config.events.stream.stream_app import ClientLimits
from config.events.stream.stream_client import StreamCounts
from config.events.stream.stream_metrics import StreamMetrics
from config.http.process_sums import add_duration, add_to_histogram, add_to_sum, take_sums
from config.redis.connection import redis_client
from config.redis.stored_sums import store_sums
from config.workers.periodic_tasks import record_schedule
from tests.rows.agent_factories import SnapshotFactory
from tests.rows.factories import ChainHeadFactory, CoverageFactory, DeploymentFactory, DeployWalletFactory

pytestmark = pytest.mark.django_db

RULES = yaml.safe_load((BASE_DIR / "docs" / "alerts.yml").read_text())
ALERTS = [rule for group in RULES["groups"] for rule in group["rules"]]
EVENTS = (BASE_DIR / "docs" / "events.md").read_text()
WATCHING = (BASE_DIR / "docs" / "watching.md").read_text()
REPAIRING = (BASE_DIR / "docs" / "repairing.md").read_text()
DASHBOARD = json.loads((BASE_DIR / "docs" / "grafana.json").read_text())
QUERIES = [target["expr"] for panel in DASHBOARD["panels"] for target in panel.get("targets", [])]
SELECTOR = re.compile(r"\b(launchboard_\w+)(?:\{([^}]*)\})?")
_LABEL = re.compile(r'(\w+)(=~|=)"([^"]*)"')
# Metrics whose samples need a replica, a chain with trades, or a comparison with a provider.
WITHOUT_SAMPLES = {
    "launchboard_replica_used",
    "launchboard_reference_price_alarm",
    "launchboard_chain_trades_age_seconds",
    "launchboard_market_price_differences",
}


def served_samples():
    """Return (name, labels) for each sample that the web server and the stream serve."""
    hub, counts = EventHub(), StreamCounts()
    registry = CollectorRegistry()
    poller = LogPoller(hub, EventReader({}, streamed=()))
    limits = ClientLimits(clients=1, clients_per_address=1)
    registry.register(StreamMetrics(hub, poller=poller, limits=limits, counts=counts))
    text = Client().get("/metrics").text + generate_latest(registry).decode()
    families = text_string_to_metric_families(text)
    return [(sample.name, sample.labels) for family in families for sample in family.samples]


def described_names():
    """Return the metrics that watching.md and events.md name."""
    names = chain.from_iterable(
        re.findall(r"`(\w+)`", row.split("|")[1]) for row in WATCHING.splitlines() if row[:3] == "| `"
    )
    return {f"launchboard_{name}" for name in names} | set(re.findall(r"`(launchboard_\w+)`", EVENTS))


@pytest.fixture
def samples():
    redis_client().delete("launchboard:sums")
    take_sums()
    ChainHeadFactory()
    CoverageFactory(first_block=1, followed_to=100, verified_to=100)
    DeploymentFactory()
    DeployWalletFactory(balance=1)
    SnapshotFactory.create_batch(1, interval="24h")
    SnapshotFactory.create_batch(1, interval="7d")
    SnapshotFactory.create_batch(1, interval="30d")
    record_schedule(timezone.now())
    add_to_sum(("requests", "api/tokens", "503"))
    add_to_histogram("request_seconds", "api/tokens", seconds=0.1)
    add_to_sum(("tasks", "tokens.tasks.watch_chain", "failure"))
    add_duration("task_seconds", "tokens.tasks.watch_chain", seconds=0.1)
    add_to_sum(("rpc_calls", "8453", "eth_call", "timeout"))
    add_duration("rpc_request_seconds", "8453", seconds=0.1)
    store_sums()
    yield served_samples()
    redis_client().delete("launchboard:sums")


@pytest.mark.parametrize("alert", ALERTS, ids=lambda rule: rule["alert"])
def test_each_rule_is_about_series_that_exist(alert, samples):
    selected = SELECTOR.findall(alert["expr"])
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
            # Some sample has each alternative in a pattern as its value.
            assert len(found) == max(len(values), 1), f"{name}{labels}"


def test_rules_are_valid_and_each_is_described():
    names = [alert["alert"] for alert in ALERTS]
    assert len(names) == len(set(names))
    for alert in ALERTS:
        assert set(alert) <= {"alert", "expr", "for", "annotations"}, alert
        assert set(alert["annotations"]) == {"summary", "runbook"}, alert
        assert re.fullmatch(r"[0-9]+[smh]", alert.get("for", "1m")), alert


def section(anchor):
    """Return a section's text in repairing.md, up to the next heading at its level or a higher one."""
    lines = REPAIRING.splitlines()
    [start] = [
        number
        for number, line in enumerate(lines)
        if re.match("##+ ", line) and re.sub("[^a-z0-9 -]", "", line.lower()).strip().replace(" ", "-") == anchor
    ]
    level = len(lines[start].split(" ")[0])
    rest = lines[start + 1 :]
    end = next((number for number, line in enumerate(rest) if re.match(f"#{{2,{level}}} ", line)), len(rest))
    return "\n".join(rest[:end])


@pytest.mark.parametrize("alert", ALERTS, ids=lambda rule: rule["alert"])
def test_the_runbook_of_an_alert_has_a_row_for_it(alert):
    document, _, anchor = alert["annotations"]["runbook"].partition("#")
    assert document == "docs/repairing.md"
    rows = [row.split("|")[1:-1] for row in section(anchor).splitlines() if row.startswith("| ")]
    mentioned = [row for row in rows if re.search(rf"\b{alert['alert']}\b", row[0])]
    assert mentioned or re.search(rf"symptom \|.*\b{alert['alert']}\b", section(anchor)), alert["alert"]
    assert all(cell.strip() for row in mentioned for cell in row[2:]), mentioned


def run_promtool(*words):
    promtool = shutil.which("promtool")
    assert promtool, "run make promtool"
    done = subprocess.run([promtool, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_rules_are_tested_by_promtool():
    run_promtool("test", "rules", str(BASE_DIR / "docs" / "alerts.test.yml"))
    # Each alert fires in some test here.
    tests = (BASE_DIR / "docs" / "alerts.test.yml").read_text()
    assert {alert["alert"] for alert in ALERTS} == set(re.findall(r'alertname="(\w+)"', tests))


def test_the_queries_of_the_dashboard_are_valid(tmp_path):
    rules = [{"record": f"panel:{number}", "expr": in_prometheus(query)} for number, query in enumerate(QUERIES)]
    file = tmp_path / "rules.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))
    run_promtool("check", "rules", str(file))


def in_prometheus(query):
    """Return a Grafana query without its variables."""
    assert set(re.findall(r"\$\w+", query)) <= {"$__rate_interval"}
    return query.replace("$__rate_interval", "5m")


def test_the_panels_are_about_series_that_exist(samples):
    names = {name for query in QUERIES for name, _ in SELECTOR.findall(query)}
    unknown = names - {name for name, _ in samples}
    assert unknown <= WITHOUT_SAMPLES, unknown
    labels = {label for _, given in samples for label in given} | {"instance"}
    for panel in DASHBOARD["panels"]:
        for target in panel.get("targets", []):
            assert set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) <= labels, panel["title"]


def test_the_dashboard_has_the_fields_of_grafana():
    register_default_plugins()
    read = Dashboard.from_json(DASHBOARD)
    # A field that Grafana's types do not have is lost.
    assert _missing(DASHBOARD, json.loads(JSONEncoder(sort_keys=True).encode(read))) == []
    assert _missing({"panels": [{"unitt": "s"}]}, {"panels": [{}]}) == [["panels", 0, "unitt"]]


def _missing(part, whole):
    """Return the places where the whole JSON value lacks this part."""
    if isinstance(part, dict) and isinstance(whole, dict):
        inner = [(key, value, whole.get(key)) for key, value in part.items()]
    elif isinstance(part, list) and isinstance(whole, list) and len(part) == len(whole):
        inner = [(index, value, whole[index]) for index, value in enumerate(part)]
    else:
        return [] if part == whole else [[]]
    return [[key, *place] for key, one, other in inner for place in _missing(one, other)]


def test_the_panels_do_not_overlap_and_have_units():
    places = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert not cells & places and place["x"] + place["w"] <= 24, panel["title"]
        places |= cells
        if panel["type"] != "row":
            assert panel["title"] and panel["description"] and panel["fieldConfig"]["defaults"]["unit"]
            assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"])
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(ids) == len(set(ids))


def test_the_documents_list_the_metrics_that_are_served(samples):
    assert {name for name, _ in samples} <= described_names()

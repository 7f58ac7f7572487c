"""The chart, rendered by Helm's own library, and its documents by Kubernetes' schemas."""

import itertools
import json
import re
from collections import Counter
from functools import cache
from typing import Any

import pytest

from config.environment.variables import BASE_DIR
from config.settings.celery_schedule import QUEUES
from tests.deploy.deploy_checkers import check_kubernetes, lint_chart, render_chart
from tests.deploy.deploy_files import CHART, SITE_URL, compose_file, procfile, settings_names

pytestmark = pytest.mark.slow

# The oldest and the newest version that the chart is tested with.
VERSIONS = ["1.28", "1.34"]
SETTINGS = {"SITE_URL": SITE_URL, "RPC_URLS_8453": "https://node.example"}
RESOURCES = {"requests": {"cpu": "1", "memory": "1Gi"}}
ALL = {
    "settings": SETTINGS,
    "image": {"repository": "registry.example/launchboard", "digest": f"sha256:{'a' * 64}"},
    "imagePullSecrets": [{"name": "registry"}],
    "workers": [
        {"name": "deploy", "queues": ["deploy", "watch"], "replicas": 1, "resources": RESOURCES},
        {"name": "others", "queues": ["celery", "leaderboard", "documents"], "replicas": 2, "resources": RESOURCES},
    ],
    "followers": [
        {"name": "base", "chains": [8453], "replicas": 2, "resources": RESOURCES},
        # Helm reads numbers as floats.
        {"name": "others", "chains": [1, 1666600000], "resources": RESOURCES},
    ],
    "ingress": {"className": "nginx", "annotations": {"a.example/b": "c"}, "tlsSecret": "tls"},
    "pictures": {"existingClaim": "pictures"},
    "backups": {"existingClaim": "backups", "schedule": "0 */6 * * *", "keep": 28},
    "networkPolicy": {"from": [{"namespaceSelector": {"matchLabels": {"name": "ingress"}}}]},
    "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
    "podAnnotations": {"a.example/b": "c"},
    "nodeSelector": {"kubernetes.io/arch": "amd64"},
    "tolerations": [{"key": "a", "operator": "Exists"}],
}


def of_kind(documents: list[dict[str, Any]], kind: str) -> dict[str, dict[str, Any]]:
    """Return a kind's documents by name."""
    return {document["metadata"]["name"]: document for document in documents if document["kind"] == kind}


def pod_templates(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return each pod's template."""
    specs = [doc["spec"] for doc in documents if doc["kind"] in ("Deployment", "Job")]
    specs += [doc["spec"]["jobTemplate"]["spec"] for doc in documents if doc["kind"] == "CronJob"]
    return [spec["template"] for spec in specs]


def containers(documents: list[dict[str, Any]]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return each pod's description with its only container."""
    pods = [template["spec"] for template in pod_templates(documents)]
    return [(pod, container) for pod in pods for container in pod["containers"]]


# Each option with a kind, and how many documents of this kind it renders.
OPTIONS: list[tuple[dict[str, Any], str, int]] = [
    ({"migrations": {"enabled": False}}, "Job", 0),
    ({"ingress": {"enabled": False}}, "Ingress", 0),
    ({"networkPolicy": {"enabled": False}}, "NetworkPolicy", 0),
    ({"serviceMonitor": {"enabled": True}}, "ServiceMonitor", 2),
    ({"backups": {"existingClaim": "backups"}}, "CronJob", 1),
    ({"web": {"autoscaling": {"enabled": False}}, "workers": ALL["workers"]}, "HorizontalPodAutoscaler", 0),
    ({"followers": ALL["followers"], "pictures": {"existingClaim": "pictures"}}, "PodDisruptionBudget", 6),
]


@pytest.mark.parametrize("chosen", list(itertools.product((False, True), repeat=len(OPTIONS))))
def test_every_combination_of_options_follows_the_schemas(chosen: tuple[bool, ...]) -> None:
    options = list(itertools.compress(OPTIONS, chosen))
    values = {name: value for option, _, _ in options for name, value in option.items()}
    documents = render_chart(settings=SETTINGS, **values)
    check_documents(documents, VERSIONS[-1])
    counts = Counter(document["kind"] for document in documents)
    separate = {"PodDisruptionBudget"} if len(values.get("workers", [])) > 1 else set()
    assert {kind: counts[kind] for _, kind, _ in options if kind not in separate} == {
        kind: count for _, kind, count in options if kind not in separate
    }


def check_documents(documents: list[dict[str, Any]], version: str) -> None:
    for document in documents:
        # Prometheus' operator defines this kind; a cluster may lack it.
        if document["kind"] != "ServiceMonitor":
            check_text(json.dumps(document), version)


@cache
def check_text(text: str, version: str) -> None:
    """Check a document once: most option combinations share it, and a check takes longer than the rendering."""
    check_kubernetes(json.loads(text), version)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("values", [{"settings": SETTINGS}, ALL])
def test_everything_follows_the_schemas_of_kubernetes(values: dict[str, Any], version: str) -> None:
    documents = render_chart(**values)
    check_documents(documents, version)
    assert len({(document["kind"], document["metadata"]["name"]) for document in documents}) == len(documents) > 15


def test_helm_finds_no_fault() -> None:
    assert lint_chart(**ALL) == []
    assert any("SITE_URL" in fault for fault in lint_chart())


def test_each_process_of_the_procfile_is_deployed() -> None:
    found = containers(render_chart(settings=SETTINGS))
    commands = {tuple(container["command"]) for _, container in found}
    assert commands == {("python", "manage.py", "migrate")} | {("deploy/start", name) for name in procfile()}
    for _, container in found:
        if container["name"] not in ("migrate", "web", "stream"):
            assert container["livenessProbe"]["exec"]["command"] == ["deploy/check", container["name"]]


def test_workers_and_followers_get_their_queues_and_chains() -> None:
    deployments = of_kind(render_chart(**ALL), "Deployment")
    arguments = {
        name: document["spec"]["template"]["spec"]["containers"][0].get("args")
        for name, document in deployments.items()
    }
    assert arguments == {
        **dict.fromkeys([f"launchboard-{name}" for name in ("web", "stream", "beat", "events")]),
        "launchboard-worker-deploy": ["--queues", "deploy,watch"],
        "launchboard-worker-others": ["--queues", "celery,leaderboard,documents"],
        "launchboard-follower-base": ["--chain", "8453"],
        "launchboard-follower-others": ["--chain", "1", "--chain", "1666600000"],
    }
    selectors = [str(document["spec"]["selector"]["matchLabels"]) for document in deployments.values()]
    assert len(set(selectors)) == len(selectors)


@pytest.mark.parametrize(
    ("given", "limits"),
    [({}, (2, 6)), ({"minReplicas": 8}, (8, 8)), ({"maxReplicas": 1}, (1, 1)), ({"minReplicas": 3}, (3, 6))],
)
def test_an_autoscaler_has_default_limits(given: dict[str, int], limits: tuple[int, int]) -> None:
    autoscaling = {"enabled": True} | given
    worker = {"name": "deploy", "queues": ["deploy"], "autoscaling": autoscaling, "resources": RESOURCES}
    documents = render_chart(settings=SETTINGS, stream={"autoscaling": autoscaling}, workers=[worker])
    check_documents(documents, VERSIONS[-1])
    scalers = of_kind(documents, "HorizontalPodAutoscaler")
    for name in ("launchboard-stream", "launchboard-worker-deploy"):
        spec = scalers[name]["spec"]
        assert (spec["minReplicas"], spec["maxReplicas"]) == limits
        assert spec["metrics"][0]["resource"]["target"]["averageUtilization"] == 70


def test_one_beat_runs_at_a_time() -> None:
    spec = of_kind(render_chart(settings=SETTINGS), "Deployment")["launchboard-beat"]["spec"]
    assert (spec["replicas"], spec["strategy"]) == (1, {"type": "Recreate"})


def test_a_rolling_update_never_lacks_a_process_and_ends_each_in_time() -> None:
    # Seconds that each process needs after SIGTERM: see the guide, Upgrades.
    needed = {"web": 22, "stream": 2, "worker": 60, "events": 11, "follower": 2, "beat": 6}
    for document in of_kind(render_chart(settings=SETTINGS), "Deployment").values():
        pod = document["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        name = container["name"]
        if name != "beat":
            assert document["spec"]["strategy"] == {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0}}
        pause = int(container["lifecycle"]["preStop"]["exec"]["command"][1]) if name in ("web", "stream") else 0
        assert pod["terminationGracePeriodSeconds"] >= needed.pop(name) + pause
        assert (pause > 0) == ("readinessProbe" in container)
    assert not needed


def test_backups_are_written_to_a_volume_by_the_command_of_the_compose_file() -> None:
    (job,) = of_kind(render_chart(**ALL), "CronJob").values()
    _, container = containers([job])[0]
    command = compose_file()["services"]["backup"]["command"]
    assert container["command"] == [*command[:-1], "28"]
    assert (job["spec"]["schedule"], job["spec"]["concurrencyPolicy"]) == ("0 */6 * * *", "Forbid")
    default = of_kind(render_chart(settings=SETTINGS, backups={"existingClaim": "a"}), "CronJob")
    assert containers(list(default.values()))[0][1]["command"] == command


def test_every_pod_is_confined() -> None:
    for pod, container in containers(render_chart(**ALL)):
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["runAsUser"] == 10001
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert container["image"] == f"registry.example/launchboard@sha256:{'a' * 64}"
        volumes = {"web": {"pictures"}, "worker": {"pictures"}, "backup": {"backups"}}.get(container["name"], set())
        written = {mount["mountPath"] for mount in container["volumeMounts"]}
        assert written == {"/tmp", *(f"/var/lib/launchboard/{name}" for name in volumes)}  # noqa: S108


def test_every_pod_has_the_annotations() -> None:
    templates = pod_templates(render_chart(**ALL))
    assert len(templates) == 10
    assert [template["metadata"].get("annotations") for template in templates] == [ALL["podAnnotations"]] * 10


def test_settings_and_secrets_reach_each_process() -> None:
    for _, container in containers(render_chart(settings=SETTINGS | {"ALLOWED_HOSTS": "a.example,b.example"})):
        variables = {entry["name"]: entry.get("value") for entry in container["env"]}
        assert variables.pop("ALLOWED_HOSTS") == "a.example,b.example,launchboard-web.sites,$(POD_IP)"
        assert variables == SETTINGS | {"TRUSTED_PROXIES": "1", "POD_IP": None}
        assert container["envFrom"] == [{"secretRef": {"name": "launchboard"}}]


def test_migrations_run_before_any_process() -> None:
    (job,) = of_kind(render_chart(settings=SETTINGS), "Job").values()
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    # What else the chart makes does not exist yet at that time.
    (pod, container) = containers([job])[0]
    assert all("persistentVolumeClaim" not in volume for volume in pod["volumes"])
    assert all("configMapKeyRef" not in entry.get("valueFrom", {}) for entry in container["env"])


def test_the_stream_has_its_path() -> None:
    (ingress,) = of_kind(render_chart(**ALL), "Ingress").values()
    (rule,) = ingress["spec"]["rules"]
    paths = [(path["path"], path["backend"]["service"]["name"]) for path in rule["http"]["paths"]]
    assert rule["host"] == "launchboard.example"
    assert paths == [("/api/tokens/stream", "launchboard-stream"), ("/", "launchboard-web")]


def test_the_host_of_the_ingress_has_no_port() -> None:
    documents = render_chart(settings={"SITE_URL": f"{SITE_URL}:8443"}, ingress={"tlsSecret": "tls"})
    (ingress,) = of_kind(documents, "Ingress").values()
    assert ingress["spec"]["rules"][0]["host"] == "launchboard.example"
    assert ingress["spec"]["tls"][0]["hosts"] == ["launchboard.example"]
    for _, container in containers(documents):
        variables = {entry["name"]: entry.get("value") for entry in container["env"]}
        assert variables["SITE_URL"] == f"{SITE_URL}:8443"
        assert variables["ALLOWED_HOSTS"].split(",")[0] == "launchboard.example"


def test_only_web_and_stream_accept_connections() -> None:
    policies = of_kind(render_chart(**ALL), "NetworkPolicy")
    assert "ingress" not in policies["launchboard"]["spec"]
    assert policies["launchboard"]["spec"]["policyTypes"] == ["Ingress", "Egress"]
    spec = policies["launchboard-http"]["spec"]
    assert spec["podSelector"]["matchExpressions"][0]["values"] == ["web", "stream"]
    assert spec["ingress"][0]["from"] == [{"namespaceSelector": {"matchLabels": {"name": "ingress"}}}]


def test_scrapes_have_the_name_of_the_alerts_and_a_host_that_is_accepted() -> None:
    monitors = of_kind(render_chart(**ALL), "ServiceMonitor")
    rules = {name: monitor["spec"]["endpoints"][0]["relabelings"] for name, monitor in monitors.items()}
    replaced = {
        name: {rule.get("targetLabel"): rule.get("replacement") for rule in found} for name, found in rules.items()
    }
    assert replaced["launchboard-web"]["job"] == "launchboard"
    assert 'job=~"launchboard|launchboard-stream"' in (BASE_DIR / "docs" / "alerts.yml").read_text()
    assert replaced["launchboard-web"]["__address__"] == "launchboard-web.sites:8000"
    assert replaced["launchboard-stream"] == {"job": "launchboard-stream"}


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"settings": {}}, "SITE_URL"),
        ({"settings": {"SITE_URL": "launchboard.example"}}, "SITE_URL"),
        ({"settings": SETTINGS | {"SECRET_KEY": "s3cret"}}, "SECRET_KEY"),
        ({"settings": SETTINGS | {"DEPLOYER_KEYS_8453": "s3cret"}}, "DEPLOYER_KEYS_8453"),
        ({"settings": SETTINGS | {"WEB_WORKERS": 4}}, "WEB_WORKERS"),
        ({"settings": SETTINGS, "replicas": 2}, "replicas"),
        ({"settings": SETTINGS, "beat": {"replicas": 2}}, "replicas"),
        ({"settings": SETTINGS, "workers": [{"name": "a", "queues": ["mail"], "resources": {}}]}, "queues"),
        ({"settings": SETTINGS, "followers": [{"name": "Base", "resources": {}}]}, "name"),
        ({"settings": SETTINGS, "workers": [{"name": "same", "resources": {}}] * 2}, "workers: two have the name same"),
        ({"settings": SETTINGS, "followers": [{"name": "a", "resources": {}}] * 2}, "followers: two have the name a"),
        ({"settings": SETTINGS | {"SITE_PICTURES": "true"}}, "SITE_PICTURES needs pictures.existingClaim"),
        ({"settings": SETTINGS | {"UPLOAD_STORAGE": "Directory"}}, "UPLOAD_STORAGE must be s3 or pinning"),
        ({"settings": SETTINGS | {"UPLOAD_S3_SECRET": "s3cret"}}, "UPLOAD_S3_SECRET"),
        ({"settings": SETTINGS | {"SITE_PICTURES": "ON"}}, "SITE_PICTURES needs pictures.existingClaim"),
        ({"settings": SETTINGS | {"DATABASE_URL_FILE": "/run/s3cret"}}, "DATABASE_URL_FILE"),
        ({"settings": SETTINGS | {"DEPLOYER_KEYS_8453_FILE": "/run/s3cret"}}, "DEPLOYER_KEYS_8453_FILE"),
        ({"settings": SETTINGS, "web": {"autoscaling": {"enabled": True, "maxReplicas": 1}}}, "web: .*minReplicas"),
    ],
)
def test_a_value_that_can_not_work_is_refused_with_its_name(values: dict[str, Any], named: str) -> None:
    with pytest.raises(Exception, match=named) as refused:
        render_chart(**values)
    assert "s3cret" not in str(refused.value)


def test_the_schema_has_the_queues_of_the_service() -> None:
    render_chart(settings=SETTINGS, workers=[{"name": "all", "queues": list(QUEUES), "resources": RESOURCES}])


def test_the_schema_knows_every_secret() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())
    refused = re.compile(schema["properties"]["settings"]["propertyNames"]["not"]["pattern"])
    secrets = [name for name in settings_names() if f"{name}_FILE" in settings_names()]
    assert len(secrets) > 5
    for suffix in ("", "_FILE"):
        # The setting for keys has a chain's id.
        unknown = [name for name in secrets if not any(refused.match(name + chain + suffix) for chain in ("", "_1"))]
        assert unknown == []
    assert not refused.match("CHAINS_FILE")

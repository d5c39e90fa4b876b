"""Checks the files of deploy/ for several machines without running them: schemas, names, settings."""

import base64
import hashlib
import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from indexer.cluster.security import security_json
from pipeline.settings import ENV_PREFIX, SECTIONS, build_settings, load_settings

DEPLOY = Path(__file__).resolve().parents[1] / "deploy"
COMPOSE = DEPLOY / "compose.yaml"
SINGLE = DEPLOY / "compose.single.yaml"
CHART = DEPLOY / "helm" / "plumbline"
VALUES = yaml.safe_load((CHART / "values.yaml").read_text())
SELECTED = ("Deployment", "StatefulSet")


def compose() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load(COMPOSE.read_text())
    return read


def test_the_compose_files_follow_the_schema() -> None:
    files = [str(COMPOSE), str(SINGLE)]
    said = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", *files],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert said.returncode == 0, said.stdout + said.stderr


def test_compose_names_what_there_is() -> None:
    read = compose()
    services, volumes = read["services"], set(read["volumes"])
    used = set()
    for name, service in services.items():
        for other in service.get("depends_on", ()):
            assert other in services, (name, other)
        mounts = [mount.split(":")[0] for mount in service.get("volumes", ())]
        used |= {mount for mount in mounts if not mount.startswith(".")}
        image = service["image"]
        assert ":" in image and (image.startswith("plumbline:") or not image.endswith(":latest")), image
    assert used == volumes
    wanted = {"postgres", "object-store", "dask-scheduler", "dask-worker", "web1", "web2", "scheduler"}
    assert services.keys() >= wanted | {f"{kind}{n}" for kind in ("zookeeper", "solr") for n in (1, 2, 3)}


def container_instructions() -> list[str]:
    """Return the instructions of the Containerfile in order, each on one line."""
    text = (DEPLOY / "Containerfile").read_text().replace("\\\n", " ")
    return [" ".join(line.split()) for line in text.splitlines() if line.strip() and not line.startswith("#")]


def test_the_image_contains_the_data_folder_of_its_user() -> None:
    """A new named volume has the owner of the folder in the image; without one it belongs to root."""
    instructions = container_instructions()
    before_user = instructions[: instructions.index("USER plumbline")]
    created = re.findall(r"install --directory --owner=(\w+) --group=\w+ (\S+)", " && ".join(before_user))
    assert created == [("plumbline", "/data")] and {"VOLUME /data", "WORKDIR /data"} <= set(instructions)
    services = [compose()["services"][name] for name in ("web1", "web2", "scheduler")]
    services += yaml.safe_load(SINGLE.read_text())["services"].values()
    targets = [mount.split(":")[1] for service in services for mount in service["volumes"]]
    assert {target for target in targets if not target.endswith(".toml")} == {"/data"}
    ports = {name.removeprefix("EXPOSE ") for name in instructions if name.startswith("EXPOSE ")}
    assert ports == {"8080"} and any(f"127.0.0.1:{port}/healthz" in instructions[-2] for port in ports)


@pytest.mark.process
def test_a_container_runs_a_vertical_a_command_or_the_demo(tmp_path: Path) -> None:
    program = tmp_path / "plumb"
    program.write_text('#!/bin/sh\necho "$*"\n')
    program.chmod(0o755)

    def run(*arguments: str, **variables: str) -> str:
        environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", **variables}
        command = [str(DEPLOY / "entrypoint.sh"), *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()

    assert run() == run(PLUMB_DEMO="") == "up"
    assert run("status", "--json", PLUMB_DEMO="1") == "status --json"
    assert run(PLUMB_DEMO="1") == "demo --folder /data/demo"


def test_modules_that_deployment_files_and_pages_name_exist() -> None:
    root = DEPLOY.parent
    files = [*DEPLOY.rglob("*.y*ml"), *DEPLOY.glob("*.service"), *root.glob("indexer/jetty/*.xml")]
    files += root.glob("docs/operate/*.md")
    text = "".join(file.read_text() for file in files)
    modules = set(re.findall(r"python3? -m (?!venv|pip)([\w.]+)", text))
    assert modules and not [module for module in modules if importlib.util.find_spec(module) is None]
    sources = set(re.findall(r"\((indexer/[\w/]+\.py)\)", text))
    assert sources and all((root / source).is_file() for source in sources)


def test_every_secret_of_compose_is_said_and_none_is_written() -> None:
    text = COMPOSE.read_text()
    asked = set(re.findall(r"\$\{(\w+):\?\}", text))
    assert asked == {"POSTGRES_PASSWORD", "SOLR_PASSWORD", "S3_KEY", "S3_SECRET"}
    head = text[: text.index("name:")]
    assert all(f"{name}=" in head for name in asked)


def test_plumblines_settings_in_compose_are_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Load the settings as a container does: the mounted file and the variables."""
    service = compose()["services"]["web1"]
    for name, value in service["environment"].items():
        if name.startswith(ENV_PREFIX) and name.removeprefix(ENV_PREFIX).split("_")[0].lower() in SECTIONS:
            monkeypatch.setenv(name, re.sub(r"\$\{\w+:\?\}", "secret", value))
    settings = load_settings(DEPLOY / "cluster" / "vertical.toml")
    assert settings.index.solr_url.count(",") == 2 and settings.index.shards == settings.index.replicas == 2
    assert settings.store.url.startswith("postgresql+psycopg://") and settings.store.warc.startswith("s3://")
    assert settings.search.host == "0.0.0.0"


def value_of(path: str) -> Any:
    found = {"Values": VALUES, "Release": {"Name": "plumb"}}
    for part in path.strip(".").split("."):
        found = found[part]
    return found


def rendered(text: str) -> str:
    """Render a template like `helm template`; our templates contain only values and `toJson`."""

    def value(match: re.Match[str]) -> str:
        words = match[1].split("|")
        found = value_of(words[0].strip())
        return json.dumps(found) if [word.strip() for word in words[1:]] == ["toJson"] else str(found)

    made = re.sub(r"\{\{\s*(.*?)\s*\}\}", value, text)
    assert "{{" not in made
    return made


def manifests() -> Iterator[dict[str, Any]]:
    for path in sorted((CHART / "templates").glob("*.yaml")):
        yield from yaml.safe_load_all(rendered(path.read_text()))


def test_the_chart_makes_manifests_that_fit_each_other() -> None:
    made = list(manifests())
    assert len({(one["kind"], one["metadata"]["name"]) for one in made}) == len(made)
    pods = {one["metadata"]["name"]: one["spec"] for one in made if one["kind"] in SELECTED}
    labels = {spec["template"]["metadata"]["labels"]["app"] for spec in pods.values()}
    for one in made:
        if one["kind"] == "Service":
            assert one["spec"]["selector"]["app"] in labels
    for name, spec in pods.items():
        assert spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"]
        pod = spec["template"]["spec"]
        there = {volume["name"] for volume in pod.get("volumes", ())}
        there |= {claim["metadata"]["name"] for claim in spec.get("volumeClaimTemplates", ())}
        containers = [*pod["containers"], *pod.get("initContainers", ())]
        mounted = {mount["name"] for container in containers for mount in container.get("volumeMounts", ())}
        assert mounted == there, name
        assert all(container["resources"]["limits"]["memory"] for container in pod["containers"]), name
        for container in pod["containers"]:
            if "vertical" in there:  # vertical.data_dir is in the working folder of the image
                assert container["volumeMounts"][0] == {"name": "data", "mountPath": "/data"}, name
    names = {name.removeprefix("plumb-") for name in pods}
    assert names == {"postgres", "zookeeper", "solr", "dask", "dask-worker", "web", "scheduler"}
    assert (pods["plumb-solr"]["replicas"], pods["plumb-web"]["replicas"]) == (3, 2)


def test_a_stop_is_no_failure_of_a_service() -> None:
    for file in DEPLOY.glob("*.service"):
        assert {"KillSignal=SIGINT", "SuccessExitStatus=130"} <= set(file.read_text().splitlines())


def test_the_charts_secrets_are_said_and_its_vertical_is_one(tmp_path: Path) -> None:
    text = "".join(rendered(path.read_text()) for path in sorted((CHART / "templates").glob("*.yaml")))
    head = (CHART / "values.yaml").read_text().partition("secret:")[0]
    keys = set(re.findall(r'secretKeyRef: \{name: "plumbline", key: ([\w-]+)\}', text))
    assert keys == {"postgres-password", "store-url", "solr-url", "s3-key", "s3-secret"}
    assert all(f"{key}=" in head for key in keys) and "security.json" in head
    [vertical] = [one["data"]["vertical.toml"] for one in manifests() if one["kind"] == "ConfigMap"]
    (tmp_path / "vertical.toml").write_text(vertical)
    sections = tomllib.loads((tmp_path / "vertical.toml").read_text())
    sections["index"]["solr_url"] = "http://solr:8983/solr"
    assert build_settings(sections, tmp_path).index.replicas == 2


def test_security_json_lets_one_account_in_and_nobody_else() -> None:
    said = json.loads(security_json("plumb", "word", b"salt"))
    assert said["authentication"]["blockUnknown"] is True
    digest, salt = said["authentication"]["credentials"]["plumb"].split(" ")
    assert base64.b64decode(salt) == b"salt"
    assert base64.b64decode(digest) == hashlib.sha256(hashlib.sha256(b"saltword").digest()).digest()
    assert said["authorization"]["user-role"] == {"plumb": ["admin"]}
    assert security_json("plumb", "word") != security_json("plumb", "word")
    command = [sys.executable, "-m", "indexer.cluster.security", "plumb"]
    refused = subprocess.run(command, input="\n", capture_output=True, text=True, check=False)
    assert (refused.returncode, refused.stdout) == (2, "")

"""What the page of transports shows beside its Python blocks: YAML, console lines, recipes."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from ethos_registry._cli.app import app

yaml = pytest.importorskip("yaml")
typer = pytest.importorskip("typer")

PAGE = Path(__file__).parent.parent / "docs" / "concepts" / "transports.md"
TEXT = PAGE.read_text(encoding="utf-8")
COMMANDS = re.findall(
    r"^\$ (?:kubectl .*? -- )?(ethos-registry worker (?:.*\\\n)*.*)$", TEXT, re.MULTILINE
)


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)


@pytest.fixture
def cluster() -> dict[str, Any]:
    [block] = blocks("yaml")
    loaded: dict[str, Any] = yaml.safe_load(block)
    return loaded


def test_the_cluster_has_the_fields_of_the_custom_resource(cluster: dict[str, Any]) -> None:
    assert (cluster["apiVersion"], cluster["kind"]) == ("ray.io/v1", "RayCluster")
    assert cluster["metadata"].keys() == {"name"}
    spec = cluster["spec"]
    assert spec.keys() == {"rayVersion", "headGroupSpec", "workerGroupSpecs"}
    assert spec["headGroupSpec"].keys() == {"rayStartParams", "template"}
    for group in spec["workerGroupSpecs"]:
        assert group.keys() == {
            "groupName",
            "replicas",
            "minReplicas",
            "maxReplicas",
            "rayStartParams",
            "template",
        }
        assert group["minReplicas"] <= group["replicas"] <= group["maxReplicas"]
    for group in (spec["headGroupSpec"], *spec["workerGroupSpecs"]):
        assert all(isinstance(value, str) for value in group["rayStartParams"].values())
        [container] = group["template"]["spec"]["containers"]
        assert container.keys() == {"name", "image", "resources"}


def test_ray_reads_the_resources_of_the_cluster(cluster: dict[str, Any]) -> None:
    config = pytest.importorskip("ray.autoscaler._private.kuberay.autoscaling_config")
    cluster["metadata"]["namespace"] = "default"
    read = config._derive_autoscaling_config_from_ray_cr(cluster)
    render = read["available_node_types"]["render"]
    assert render["resources"]["toolset:render"] == 4
    assert render["resources"]["CPU"] == 4
    assert (render["min_workers"], render["max_workers"]) == (2, 8)
    quoted = cluster["spec"]["workerGroupSpecs"][0]["rayStartParams"]["resources"]
    assert json.loads(json.loads(quoted)) == {"toolset:render": 4}


@pytest.mark.parametrize("line", COMMANDS)
def test_the_commands_have_options_that_exist(line: str) -> None:
    command = typer.main.get_command(app).commands["worker"]  # type: ignore[attr-defined]
    arguments = shlex.split(line.replace("\\\n", " "))[2:]
    context = command.make_context("worker", arguments)
    assert context.params["pool"] == "render"
    assert context.params["resources"] == ["toolset:render=1"]


def test_the_commands_are_found() -> None:
    assert len(COMMANDS) == 3


@pytest.mark.parametrize("code", blocks("py"), ids=["dbos", "prefect", "temporal"])
def test_the_recipes_compile(code: str) -> None:
    names = compile(code, str(PAGE), "exec").co_names
    assert {"run_step", "run_calls"} & {*names}

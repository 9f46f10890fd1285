"""Two nodes of a Docker Swarm on one machine: the test's engine, and a second one in namespaces of its own.

The second node has its own network, mounts, host name, processes and CLOCK_MONOTONIC, which is ahead, and the boot id of the
first: as two virtual machines that were resumed from one snapshot. When its first process ends, so do all others; and it ends
with the process that runs the tests. Its network and its files, which are in memory, end with its processes. It reads the images
of the first engine in place: to carry them over takes minutes.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import yaml

from lab.containers.compose import Compose, docker
from lab.paths import HOME
from lab.scenario.options import flags
from tests.command import wait_for

APART_S = 100_000
UNSHARE = ["unshare", "--net", "--mount", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc"]
UNSHARE += ["--time", "--monotonic", str(APART_S), "--boottime", str(APART_S)]
HERE, THERE, POOL = "198.18.250.1", "198.18.250.2", "198.18.128.0/18"  # of the link's two ends; for the Swarm's networks
FILES = ("docker-stack.yml", "docker-stack.stores.yml")
STACK, NODE, LINK = "lab-nodes", "lab-node-2", "lab-link"
CGROUPS = Path("/sys/fs/cgroup")
DOCKERD = f"""
mount -t tmpfs tmpfs /run && hostname {NODE} && ip link set lo up
mkdir -p /run/data/image /run/data/overlay2
if [ "$3" = overlay2 ] && cd "$2/overlay2"; then # it writes to folders of its own, and links to the files of each layer
  cp -a "$2/image/overlay2" /run/data/image && rm -rf /run/data/image/overlay2/layerdb/mounts
  cp -a --parents l */link */lower /run/data/overlay2
  for files in */diff; do ln -s "$PWD/$files" "/run/data/overlay2/$files"; done
fi
until ip link set {NODE} up && ip addr add {THERE}/30 dev {NODE}; do sleep 0.05; done 2>/dev/null
exec dockerd --data-root /run/data -H "unix://$1/socket" --cgroup-parent {NODE} --default-address-pool base=198.18.64.0/18,size=24
"""


def refusal() -> str:
    """Return why this kernel allows no second node; empty if it does."""
    done = subprocess.run([*UNSHARE, "true"], capture_output=True, text=True, check=False)
    return done.stderr.strip() if done.returncode else ""


@contextlib.contextmanager
def second_engine() -> Iterator[str]:
    """Start the second engine, yield the address of its socket, and remove all of it afterwards."""
    folder = tempfile.mkdtemp(prefix=f"{NODE}-")
    with contextlib.ExitStack() as ending:
        ending.callback(shutil.rmtree, folder)
        ending.callback(_remove_cgroups)
        log = ending.enter_context((Path(folder) / "log").open("wb"))
        about = docker("info", "--format", "{{.DockerRootDir}} {{.Driver}}").split()
        argv = ["setpriv", "--pdeathsig", "KILL", *UNSHARE, "sh", "-c", DOCKERD, "sh", folder, *about]
        engine = ending.enter_context(subprocess.Popen(argv, stdout=log, stderr=log))
        ending.callback(_end, engine)
        ours = Path("/proc/self/ns/net").readlink()
        wait_for(lambda: Path(f"/proc/{engine.pid}/ns/net").readlink() != ours)
        _ip(f"link add {LINK} type veth peer name {NODE} netns {engine.pid}")
        ending.callback(_ip, f"link delete {LINK}")  # at once: its namespace ends some time after its processes
        _ip(f"addr add {HERE}/30 dev {LINK}")
        _ip(f"link set {LINK} up")
        socket = f"unix://{folder}/socket"
        wait_for(lambda: subprocess.run(["docker", "-H", socket, "info"], capture_output=True, check=False).returncode == 0)
        yield socket


def _end(engine: subprocess.Popen[bytes]) -> None:
    """End the first process of the second node, and with it all its processes."""
    for process in psutil.Process(engine.pid).children() or [engine]:
        process.kill()


def _ip(words: str) -> None:
    subprocess.run(["ip", *words.split()], check=True)


def _remove_cgroups() -> None:
    """Remove the groups of the second node's containers, whose processes have ended."""
    for top in {*CGROUPS.glob(NODE), *CGROUPS.glob(f"*/{NODE}")}:
        for folder, _, _ in os.walk(top, topdown=False):
            Path(folder).rmdir()


@dataclass
class Nodes:
    """The stack on two nodes."""

    reports: Path

    def run(self, scenario: str, stage: str, **options: object) -> Path:
        """Make a run in the judge's container. Return its folder."""
        judge = docker("ps", "--quiet", "--filter", f"name={STACK}_locust.1").strip()
        words = ["lab", "run", scenario, "--stage", stage, "--no-draw", *flags(options)]
        done = subprocess.run(["docker", "exec", judge, *words], capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode in (0, 1, 3), done.stderr
        return (self.reports / "runs" / "latest").resolve()


@contextlib.contextmanager
def two_nodes(reports: Path) -> Iterator[Nodes]:
    """Deploy the stack over two nodes, yield it, and take all of it down. Reports go to a folder of the first node."""
    Compose(STACK, os.environ).do("build", quietly=True)  # the image is the compose file's
    who = {"LAB_UID": str(os.getuid()), "LAB_GID": str(os.getgid()), "LAB_REPORTS": str(reports)}
    with second_engine() as socket, contextlib.ExitStack() as ending:
        if not docker("-H", socket, "images", "--quiet"):  # they cannot be read in place
            with subprocess.Popen(["docker", "save", *_images()], stdout=subprocess.PIPE) as saved:
                subprocess.run(["docker", "-H", socket, "load", "--quiet"], stdin=saved.stdout, check=True, capture_output=True)
        docker("swarm", "init", "--advertise-addr", HERE, "--default-addr-pool", POOL)
        ending.callback(docker, "network", "rm", "docker_gwbridge")
        ending.callback(docker, "swarm", "leave", "--force")
        token = docker("swarm", "join-token", "--quiet", "worker").strip()
        docker("-H", socket, "swarm", "join", "--token", token, "--advertise-addr", THERE, f"{HERE}:2377")
        ending.callback(docker, "-H", socket, "swarm", "leave")
        deploy = f"docker stack deploy --resolve-image never -c {FILES[0]} -c {FILES[1]} {STACK}"
        (password := reports / "password").write_text("of-the-tests", encoding="utf-8")
        environment = os.environ | who | {"MARIADB_PASSWORD_FILE": str(password)}
        subprocess.run(deploy.split(), cwd=HOME, env=environment, check=True)
        ending.callback(lambda: wait_for(lambda: not docker("ps", "--quiet", "--filter", f"name={STACK}_")))
        ending.callback(docker, "stack", "rm", STACK)
        wait_for(_all_up, within_s=240)
        yield Nodes(reports)


def _images() -> set[str]:
    """Return the images of all services of the stack."""
    stacks = [yaml.safe_load((HOME / file).read_text(encoding="utf-8")) for file in FILES]
    return {
        re.sub(r"\$\{\w+:-(.*)\}", r"\1", one["image"])
        for stack in stacks
        for one in stack["services"].values()
        if "image" in one
    }


def _all_up() -> bool:
    lines = docker("service", "ls", "--filter", f"name={STACK}_", "--format", "{{.Replicas}}").split()
    return all(have == want for have, _, want in (line.partition("/") for line in lines))

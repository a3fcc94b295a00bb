#!/usr/bin/env python3
"""Lets unmodified client libraries follow a failover of served nodes: redis-py by `follow.py`, ioredis by `follow.js`.

    reports/tests/drivers/check.py target/debug/doublehold

Each library finds the master through served Sentinels, takes a lock, and has to find the lock held on the new master. The
master of redis-py is shut down, which Sentinels notice. That of ioredis stays, and a Sentinel is told to fail over. Needs
Python with venv, Node with npm, and their registries; what is installed stays in `target/drivers`.
"""

import json
import pathlib
import socket
import subprocess
import sys
import time
import venv

HERE = pathlib.Path(__file__).parent
INSTALLED = pathlib.Path(__file__).parents[3] / "target/drivers"
REDIS_PY, IOREDIS = "8.1.0", "5.11.1"
REPLICAS, SENTINELS = 2, 3
# Where nothing else of ours listens, below the ports that systems give out.
FIRST_PORTS = {"follow.py": 17410, "follow.js": 17420}
PATIENCE = 60


def python():
    """A Python that has redis-py."""
    program = INSTALLED / "venv/bin/python"
    if not program.exists():
        venv.create(INSTALLED / "venv", with_pip=True)
    subprocess.run([program, "-m", "pip", "install", "--quiet", f"redis=={REDIS_PY}"], check=True)
    return [program]


def node():
    """A Node that has ioredis, in a folder that `follow.js` is told."""
    version = INSTALLED / "node_modules/ioredis/package.json"
    if not version.exists() or json.loads(version.read_text(encoding="utf-8"))["version"] != IOREDIS:
        flags = ["--silent", "--no-audit", "--no-fund", "--prefix", str(INSTALLED)]
        subprocess.run(["npm", "install", *flags, f"ioredis@{IOREDIS}"], check=True)
    return ["node"]


def is_free(port):
    with socket.socket() as taken:
        return taken.connect_ex(("127.0.0.1", port)) != 0


def served(program, port):
    """Served nodes and Sentinels, once all of them accept connections."""
    while not all(is_free(port + further) for further in range(1 + REPLICAS + SENTINELS)):
        port += 100
    counts = ["--replicas", str(REPLICAS), "--sentinels", str(SENTINELS), "--down-after", "2s"]
    process = subprocess.Popen([program, "serve", "--port", str(port), *counts], stderr=subprocess.PIPE, text=True)
    said = process.stderr.readline()
    assert said.startswith("serving on 127.0.0.1"), said
    return process, port


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    INSTALLED.mkdir(parents=True, exist_ok=True)
    servers, followers = [], []
    try:
        # At the same time: most of it is waiting.
        for name, runner in (("follow.py", python()), ("follow.js", node())):
            process, port = served(program, FIRST_PORTS[name])
            servers.append(process)
            sentinels = [str(port + 1 + REPLICAS + index) for index in range(SENTINELS)]
            command = [*runner, HERE / name, str(INSTALLED), str(port), *sentinels]
            followers.append((name, subprocess.Popen(command)))
        until = time.monotonic() + PATIENCE
        statuses = {name: process.wait(until - time.monotonic()) for name, process in followers}
    finally:
        for process in servers + [process for _, process in followers]:
            process.kill()
    failed = [name for name, status in statuses.items() if status != 0]
    if failed:
        sys.exit(f"error: did not follow the failover: {', '.join(failed)}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Runs the clients beside this file at served nodes: each has to hold its lock twice, and once under its `control`.

    examples/clients/check.py target/debug/doublehold [NAME…]

Needs Python with venv, Node with npm, and their registries; what is installed stays in `target/clients`. PHP and its
libraries are Debian's packages, and skipped where they are absent.
"""

import concurrent.futures
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time
import venv

HERE = pathlib.Path(__file__).parent
INSTALLED = pathlib.Path(__file__).parents[2] / "target/clients"
# How many nodes each client needs, and what it is made of.
PYTHON = {
    "redis_py": (1, ["redis==8.1.0"]),
    "python_redis_lock": (1, ["redis==8.1.0", "python-redis-lock==4.0.1"]),
    "redlock_py": (5, ["redis==8.1.0", "redlock-py==1.0.8"]),
    "pottery_redlock": (5, ["redis==8.1.0", "pottery==3.0.1"]),
    "rq_scheduler": (1, ["redis==8.1.0", "rq==3.0.0"]),
}
NODE = {
    "redlock4": (5, ["ioredis@5.11.1", "redlock4@npm:redlock@4.2.0"]),
    "redlock5": (5, ["ioredis@5.11.1", "redlock@5.0.0-beta.2"]),
    "redis_semaphore": (5, ["ioredis@5.11.1", "redis-semaphore@5.8.0"]),
    "sesamecare_redlock": (5, ["ioredis@5.11.1", "@sesamecare-oss/redlock@1.4.0"]),
    "bullmq": (1, ["ioredis@5.11.1", "bullmq@6.7.0"]),
}
PHP = {
    "symfony_lock": (1, ["Symfony/Component/Lock", "Predis"]),
    "symfony_combined": (5, ["Symfony/Component/Lock", "Predis"]),
}
DEBIAN_PHP = pathlib.Path("/usr/share/php")
# Where nothing else of ours listens, below the ports that systems give out.
FIRST_PORT = 17500
AT_ONCE = 4
PATIENCE = 60


def wanted(table, names):
    """Those of a table that were asked for, and all that they are made of."""
    clients = [name for name in table if name in names]
    return clients, sorted({part for name in clients for part in table[name][1]})


def python(parts):
    """A Python that has these packages."""
    program = INSTALLED / "venv/bin/python"
    if not program.exists():
        venv.create(INSTALLED / "venv", with_pip=True)
    subprocess.run([program, "-m", "pip", "install", "--quiet", *parts], check=True)
    return [program]


def node(parts):
    """A Node that has these packages beside the clients that it runs."""
    listed = INSTALLED / "package.json"
    had = json.loads(listed.read_text(encoding="utf-8")).get("dependencies", {}) if listed.exists() else {}
    if not all(tuple(part.rsplit("@", 1)) in pinned(had) for part in parts):
        flags = ["--silent", "--no-audit", "--no-fund", "--save-exact", "--legacy-peer-deps", "--prefix", str(INSTALLED)]
        subprocess.run(["npm", "install", *flags, *parts], check=True)
    return ["node"]


def pinned(dependencies):
    """The dependencies of a package.json as npm was asked for them: `redlock4@npm:redlock`, `4.2.0`."""
    return {tuple(f"{name}@{version}".rsplit("@", 1)) for name, version in dependencies.items()}


def php(parts):
    """A PHP that finds Debian's packages as it would find Composer's; or why there is none."""
    if shutil.which("php") is None:
        return "no php on the PATH"
    loaders = [DEBIAN_PHP / part / "autoload.php" for part in parts]
    if not all(loader.exists() for loader in loaders):
        return "no libraries: apt-get install php-symfony-lock php-predis"
    (INSTALLED / "vendor").mkdir(exist_ok=True)
    required = "".join(f"require '{loader}';\n" for loader in loaders)
    (INSTALLED / "vendor/autoload.php").write_text(f"<?php\n{required}", encoding="utf-8")
    return ["php"]


def is_free(port):
    with socket.socket() as taken:
        return taken.connect_ex(("127.0.0.1", port)) != 0


def verdict(port):
    """What the port behind the nodes says of P1."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as control:
        control.sendall(b"DOUBLEHOLD VERDICT P1\r\n")
        return control.makefile().readline().strip().lstrip("+$")


def checked(program, runner, file, nodes, port):
    """Whether a client comes out as it should, and a line about that."""
    while not all(is_free(port + further) for further in range(nodes + 1)):
        port += 200
    arguments = ["serve", "--faults", "--nodes", str(nodes), "--port", str(port)]
    server = subprocess.Popen([program, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        said = server.stderr.readline()
        assert said.startswith("serving on 127.0.0.1"), said
        results = []
        for control, expected in (([], "violated"), (["control"], "holds")):
            environment = {**os.environ, "DOUBLEHOLD_PORT": str(port)}
            began = time.monotonic()
            client = subprocess.run(
                [*runner, file, *control],
                cwd=INSTALLED,
                env=environment,
                timeout=PATIENCE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            came_out = verdict(port + nodes) if client.returncode == 0 else f"exit {client.returncode}"
            miss = "" if came_out == expected else f", expected {expected}:\n{client.stdout}"
            results.append((f"{came_out} in {time.monotonic() - began:.1f} s{miss}", not miss))
    finally:
        server.kill()
    return all(good for _, good in results), f"{results[0][0]}; control: {results[1][0]}"


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    known = {**PYTHON, **NODE, **PHP}
    names = sys.argv[2:] or list(known)
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"error: no client {', '.join(unknown)}: there are {', '.join(known)}")
    INSTALLED.mkdir(parents=True, exist_ok=True)
    failed = []
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        under_way = {}
        for table, installed, suffix in ((PYTHON, python, "py"), (NODE, node, "mjs"), (PHP, php, "php")):
            clients, parts = wanted(table, names)
            runner = installed(parts) if clients else []
            for name in clients:
                if isinstance(runner, str):
                    print(f"{name}: skipped: {runner}", flush=True)
                    continue
                # Node looks for packages from where the file is.
                file = shutil.copy(HERE / f"{name}.{suffix}", INSTALLED)
                port = FIRST_PORT + 10 * list(known).index(name)
                under_way[pool.submit(checked, program, runner, file, table[name][0], port)] = name
        for done in concurrent.futures.as_completed(under_way):
            good, line = done.result()
            print(f"{under_way[done]}: {line}", flush=True)
            if not good:
                failed.append(under_way[done])
    if failed:
        sys.exit(f"error: not as expected: {', '.join(failed)}")


if __name__ == "__main__":
    main()

"""redis-py's Sentinel client and lock over a failover; `check.py` starts this with its folder, the master's port and the
Sentinels' ports."""

import sys
import time

import redis
from redis.sentinel import MasterNotFoundError, Sentinel

LOST = (redis.ConnectionError, redis.TimeoutError, redis.ReadOnlyError, MasterNotFoundError)
PATIENCE = 30


def awaited(look):
    """Asks again until there is an answer, and the master is not away."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            if found := look():
                return found
        except LOST:
            pass
        assert time.monotonic() < until, "in vain"
        time.sleep(0.1)


first, *sentinels = map(int, sys.argv[2:])
sentinel = Sentinel([("127.0.0.1", port) for port in sentinels], socket_timeout=1)
assert sentinel.discover_master("mymaster") == ("127.0.0.1", first)
awaited(lambda: len(sentinel.discover_slaves("mymaster")) == 2)
master = sentinel.master_for("mymaster", socket_timeout=1)
lock = master.lock("stock", timeout=60)
assert lock.acquire(blocking=False)
assert master.wait(2, 500) == 2

began = time.monotonic()
redis.Redis(port=first).shutdown(nosave=True)
address = awaited(lambda: (found := sentinel.discover_master("mymaster"))[1] != first and found)
assert awaited(lambda: master.config_get("port"))["port"] == str(address[1])
assert not master.lock("stock", timeout=60).acquire(blocking=False), "the lock was replicated"
lock.release()
assert awaited(lambda: master.lock("stock", timeout=60).acquire(blocking=False))
assert awaited(lambda: len(sentinel.discover_slaves("mymaster")) == 1)
print(f"redis-py {redis.__version__} followed to port {address[1]} after {time.monotonic() - began:.1f} s")

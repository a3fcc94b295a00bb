"""python-redis-lock on one node: its clock is set ahead by the lease, and c2 is granted the lock that c1 holds."""
import os, sys, time, redis, redis_lock
port = int(os.environ.get("DOUBLEHOLD_PORT", 7000))
control = redis.Redis(port=port + 1, decode_responses=True)
def tell(*words): return control.execute_command("DOUBLEHOLD", *words)

def take(client):
    lock = redis_lock.Lock(redis.StrictRedis(port=port, client_name=client), "stock", expire=10)
    tell("ASKS", client)
    tell(*(["GRANTED", client, "10s"] if lock.acquire(blocking=False) else ["REFUSED", client]))
    return lock

tell("RESET")
first = take("c1")
if "control" not in sys.argv: tell("CLOCK", "A", "10001ms")
second = take("c2")
time.sleep(0.5)  # Both work.
print(*tell("VERDICT"), sep="\n")

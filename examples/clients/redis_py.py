"""redis-py's Lock on one node: its clock is set ahead by the lease, and c2 is granted the lock that c1 holds."""
import os, sys, time, redis
port = int(os.environ.get("DOUBLEHOLD_PORT", 7000))
control = redis.Redis(port=port + 1, decode_responses=True)
def tell(*words): return control.execute_command("DOUBLEHOLD", *words)

def take(client):
    lock = redis.Redis(port=port, client_name=client).lock("stock", timeout=10, blocking_timeout=1)
    tell("ASKS", client)
    tell(*(["GRANTED", client, "10s"] if lock.acquire() else ["REFUSED", client]))
    return lock

tell("RESET")
first = take("c1")
if "control" not in sys.argv: tell("CLOCK", "A", "10001ms")
second = take("c2")
time.sleep(0.5)  # Both work.
print(*tell("VERDICT"), sep="\n")

"""pottery's Redlock on five nodes: c1 reaches A, B and C; C's clock is set ahead by the lease; c2 takes C, D and E."""
import os, sys, time, redis, pottery
first = int(os.environ.get("DOUBLEHOLD_PORT", 7000))
control = redis.Redis(port=first + 5, decode_responses=True)
def tell(*words): return control.execute_command("DOUBLEHOLD", *words)

def take(client):
    masters = {redis.Redis(port=port, client_name=client, socket_timeout=0.2) for port in range(first, first + 5)}
    lock = pottery.Redlock(key="stock", masters=masters, auto_release_time=10)
    tell("ASKS", client)
    tell(*(["GRANTED", client] if lock.acquire(timeout=5) else ["REFUSED", client]))
    return lock

tell("RESET"), tell("CUT", "c1", "D"), tell("CUT", "c1", "E")
one = take("c1")
if "control" not in sys.argv: tell("CLOCK", "C", "10001ms")
other = take("c2")
time.sleep(0.5)  # Both work.
print(*tell("VERDICT"), sep="\n")

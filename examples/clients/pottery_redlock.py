"""pottery's Redlock on five nodes: c1 reaches A, B and C; C's clock is set ahead by the lease; c2 takes C, D and E."""
import sys, redis, pottery
control = redis.Redis(port=7005, decode_responses=True)
def tell(*words): return control.execute_command("DOUBLEHOLD", *words)

def take(client):
    masters = {redis.Redis(port=port, client_name=client, socket_timeout=1) for port in range(7000, 7005)}
    lock = pottery.Redlock(key="stock", masters=masters, auto_release_time=10)
    tell("ASKS", client)
    tell(*(["GRANTED", client] if lock.acquire(timeout=5) else ["REFUSED", client]))
    return lock

tell("RESET"), tell("CUT", "c1", "D"), tell("CUT", "c1", "E")
first = take("c1")
if "control" not in sys.argv: tell("CLOCK", "C", "10001ms")
second = take("c2")
print(*tell("VERDICT"), sep="\n")

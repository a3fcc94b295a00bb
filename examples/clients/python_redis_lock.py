"""python-redis-lock on one node: its clock is set ahead by the lease, and c2 is granted the lock that c1 holds."""
import sys, redis, redis_lock
control = redis.Redis(port=7001, decode_responses=True)
def tell(*words): return control.execute_command("DOUBLEHOLD", *words)

def take(client):
    lock = redis_lock.Lock(redis.StrictRedis(port=7000, client_name=client), "stock", expire=10)
    tell("ASKS", client)
    tell(*(["GRANTED", client, "10s"] if lock.acquire(blocking=False) else ["REFUSED", client]))
    return lock

tell("RESET")
first = take("c1")
if "control" not in sys.argv: tell("CLOCK", "A", "10001ms")
second = take("c2")
print(*tell("VERDICT"), sep="\n")

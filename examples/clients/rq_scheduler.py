"""rq's lock for the scheduler of a queue, on one node: its clock is set ahead by the lease, and c2 schedules beside c1."""
import os, sys, time, redis
from rq.scheduler import RQScheduler
port = int(os.environ.get("DOUBLEHOLD_PORT", 7000))
control = redis.Redis(port=port + 1, decode_responses=True)
def tell(*words): return control.execute_command("DOUBLEHOLD", *words)

def take(client):
    scheduler = RQScheduler(["orders"], redis.Redis(port=port, client_name=client))
    tell("ASKS", client)
    tell(*(["GRANTED", client, "61s"] if scheduler.acquire_locks() else ["REFUSED", client]))
    return scheduler

tell("RESET")
first = take("c1")
if "control" not in sys.argv: tell("CLOCK", "A", "61001ms")
second = take("c2")
time.sleep(0.5)  # Both work.
print(*tell("VERDICT"), sep="\n")

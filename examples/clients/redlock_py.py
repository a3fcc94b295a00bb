"""redlock-py on five nodes: c1's first clean-up of a failed attempt reaches A 3 s late, and deletes the key that c1 then holds."""
import os, sys, threading, time, redis, redlock
first = int(os.environ.get("DOUBLEHOLD_PORT", 7000))
tell = lambda *words: redis.Redis(port=first + 5, decode_responses=True).execute_command("DOUBLEHOLD", *words)

def take(client, hold):
    nodes = [{"port": port, "client_name": client, "socket_timeout": 0.1} for port in range(first, first + 5)]
    lock = redlock.Redlock(nodes, retry_count=40, retry_delay=0.2)
    tell("ASKS", client)
    granted = lock.lock("stock", 10_000)
    tell("GRANTED", client, granted.validity) if granted else tell("REFUSED", client)
    time.sleep(hold)
    tell("RELEASES", client)
    lock.unlock(granted)

tell("RESET")
for port in (first + 3, first + 4): redis.Redis(port=port).set("stock", "of a client that died", px=2500)
if "control" not in sys.argv: tell("HOLD", "c1", "A", "3s", "EVAL")
clients = [threading.Timer(at, take, (client, hold)) for client, at, hold in (("c2", 0, 0.3), ("c1", 0.1, 6), ("c3", 3.6, 1.5))]
for client in clients: client.start()
for client in clients: client.join()
print(*tell("VERDICT"), sep="\n")

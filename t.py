import redis
dh = redis.Redis(port=7601, decode_responses=True)
def say(*w): return dh.execute_command("DOUBLEHOLD", *w)
def take(who):
    lock = redis.Redis(port=7600, client_name=who).lock("stock", timeout=10, blocking_timeout=2)
    say("ASKS", who, "stock")
    say(*(("GRANTED", who, "10s") if lock.acquire() else ("REFUSED", who)))
    return lock
a = take("c1")
say("CLOCK", "A", "10.001s")
b = take("c2")
import time; time.sleep(.3)
print(say("STATUS"))
for w in ("c2","c1"):
    say("RELEASES", w)
print(say("VERDICT", "P1"))
print("\n".join(say("VERDICT")))
for bad in (["CLOK","A","1"],["CLOCK","F","1"],["CLOCK","A"],["CLOCK","A","x"],["GRANTED","c9"],["SUSPEND","A"],["CRASH"],["CUT","x","y"],["PROMOTE","A"],[]):
    try: print(bad, say(*bad))
    except Exception as e: print(bad, e)
print("\n".join(say("HELP")))

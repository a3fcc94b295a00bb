// ioredis' Sentinel client over a failover that a Sentinel is told to begin, with the detector that hears of a new master;
// `check.py` starts this with the folder that ioredis is in, the master's port and the Sentinels' ports.
"use strict";

const assert = require("node:assert");
const [folder, first, ...sentinelPorts] = process.argv.slice(2);
const Redis = require(`${folder}/node_modules/ioredis`);
const { version } = require(`${folder}/node_modules/ioredis/package.json`);

const PATIENCE = 30_000;
const rest = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function awaited(look) {
  const until = Date.now() + PATIENCE;
  for (;;) {
    const found = await look().catch((error) => (assert(Date.now() < until, error), null));
    if (found) return found;
    assert(Date.now() < until, "in vain");
    await rest(100);
  }
}

async function follow() {
  const sentinels = sentinelPorts.map((port) => ({ host: "127.0.0.1", port: Number(port) }));
  const client = new Redis({ sentinels, name: "mymaster", failoverDetector: true });
  const port = async () => (await client.config("GET", "port"))[1];
  assert.strictEqual(await port(), first);
  assert.strictEqual(await client.set("stock", "c1", "PX", 60_000, "NX"), "OK");
  assert.strictEqual(await client.wait(2, 5_000), 2);

  const began = Date.now();
  const sentinel = new Redis(sentinels[0]);
  await awaited(() => sentinel.call("SENTINEL", "FAILOVER", "mymaster"));
  const next = await awaited(async () => ((await port()) === first ? null : port()));
  assert.strictEqual(await client.set("stock", "c2", "PX", 60_000, "NX"), null, "the lock was replicated");
  assert.strictEqual(await client.del("stock"), 1);
  assert.strictEqual(await client.set("stock", "c2", "PX", 60_000, "NX"), "OK");
  console.log(`ioredis ${version} followed to port ${next} after ${((Date.now() - began) / 1000).toFixed(1)} s`);
  client.disconnect();
  sentinel.disconnect();
}

follow().catch((error) => {
  console.error(error);
  process.exit(1);
});

// redis-semaphore's RedlockMutex on five nodes: c1 reaches A, B and C; C's clock is set ahead by the lease; c2 takes C, D and E.
import Redis from 'ioredis';
import { RedlockMutex } from 'redis-semaphore';
const port = Number(process.env.DOUBLEHOLD_PORT ?? 7000);
const control = new Redis(port + 5), tell = (...words) => control.call('DOUBLEHOLD', ...words);
async function take(client) {
  const nodes = [0, 1, 2, 3, 4].map(node => new Redis(port + node, { connectionName: client, commandTimeout: 500 }));
  const lock = new RedlockMutex(nodes, 'stock', { acquireTimeout: 2_000, lockTimeout: 10_000, refreshInterval: 0 });
  await tell('ASKS', client);
  try { await lock.acquire(); await tell('GRANTED', client, '9s'); } catch { await tell('REFUSED', client); }
}
await tell('RESET'); await tell('CUT', 'c1', 'D'); await tell('CUT', 'c1', 'E');
await take('c1');
if (!process.argv.includes('control')) await tell('CLOCK', 'C', '10001ms');
await take('c2');
await new Promise(done => setTimeout(done, 500)); // Both work.
console.log((await tell('VERDICT')).join('\n'));
process.exit();

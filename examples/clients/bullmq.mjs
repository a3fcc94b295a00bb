// BullMQ on one node: its clock is set ahead by the lease of c1's job, and c2 is given the job as a stalled one while c1 works on it.
import { Queue, Worker } from 'bullmq';
import Redis from 'ioredis';
const port = Number(process.env.DOUBLEHOLD_PORT ?? 7000), rest = ms => new Promise(done => setTimeout(done, ms));
const control = new Redis(port + 1), tell = (...words) => control.call('DOUBLEHOLD', ...words);
function work(client) {
  const process = async () => { await tell('ASKS', client); await tell('GRANTED', client, '30s'); await rest(4_000); await tell('RELEASES', client); };
  return new Worker('orders', process, { connection: { port, connectionName: client }, stalledInterval: 500 });
}
await tell('RESET');
await new Queue('orders', { connection: { port } }).add('ship', {});
work('c1'); await rest(500);
if (!process.argv.includes('control')) await tell('CLOCK', 'A', '30001ms');
work('c2'); await rest(3_000);
console.log((await tell('VERDICT')).join('\n'));
process.exit();

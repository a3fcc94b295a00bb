<?php // symfony/lock on five nodes: c1 reaches A, B and C; C's clock is set ahead by the lease; c2 takes C, D and E.
require 'vendor/autoload.php';
use Symfony\Component\Lock\{LockFactory, Store\CombinedStore, Store\RedisStore, Strategy\ConsensusStrategy};
$port = (int) (getenv('DOUBLEHOLD_PORT') ?: 7000);
$control = new Predis\Client(['port' => $port + 5]);
function tell(...$words) { return $GLOBALS['control']->executeRaw(['DOUBLEHOLD', ...$words]); }

function take($client, ...$cut) {
    $nodes = array_map(fn($node) => new Predis\Client(['port' => $GLOBALS['port'] + $node, 'read_write_timeout' => 0.5]), range(0, 4));
    foreach ($nodes as $node) $node->client('SETNAME', $client);
    foreach ($cut as $node) tell('CUT', $client, $node);
    $store = new CombinedStore(array_map(fn($node) => new RedisStore($node), $nodes), new ConsensusStrategy());
    $lock = (new LockFactory($store))->createLock('stock', 10);
    tell('ASKS', $client);
    $lock->acquire() ? tell('GRANTED', $client, (int) ($lock->getRemainingLifetime() * 1000) . 'ms') : tell('REFUSED', $client);
    return [$lock, $nodes];
}

tell('RESET');
$one = take('c1', 'D', 'E');
if (!in_array('control', $argv)) tell('CLOCK', 'C', '10001ms');
$other = take('c2');
usleep(500_000); // Both work.
echo implode("\n", tell('VERDICT')), "\n";

<?php // symfony/lock over predis on one node: its clock is set ahead by the lease, and c2 is granted the lock that c1 holds.
require 'vendor/autoload.php';
use Symfony\Component\Lock\{LockFactory, Store\RedisStore};
$port = (int) (getenv('DOUBLEHOLD_PORT') ?: 7000);
$control = new Predis\Client(['port' => $port + 1]);
function tell(...$words) { return $GLOBALS['control']->executeRaw(['DOUBLEHOLD', ...$words]); }

function take($client) {
    $redis = new Predis\Client(['port' => $GLOBALS['port']]);
    $redis->client('SETNAME', $client);
    $lock = (new LockFactory(new RedisStore($redis)))->createLock('stock', 10);
    tell('ASKS', $client);
    $lock->acquire() ? tell('GRANTED', $client, '10s') : tell('REFUSED', $client);
    return $lock;
}

tell('RESET');
$one = take('c1');
if (!in_array('control', $argv)) tell('CLOCK', 'A', '10001ms');
$other = take('c2');
usleep(500_000); // Both work.
echo implode("\n", tell('VERDICT')), "\n";

<?php
// The lock of Laravel's cache in Redis, on the extension phpredis: what Cache::lock() gives for the store "redis".
require 'Illuminate/Cache/autoload.php';
require_once 'Illuminate/Redis/autoload.php';

return function (array $ports) {
    $connection = ['host' => '127.0.0.1', 'port' => $ports[0], 'database' => 0];
    $redis = new Illuminate\Redis\RedisManager(null, 'phpredis', ['default' => $connection]);
    $cache = new Illuminate\Cache\RedisStore($redis);
    $acquire = function ($key, $ttl_ms, $wait_ms, $retry_ms) use ($cache) {
        $lock = $cache->lock($key, intdiv($ttl_ms, 1000))->betweenBlockedAttemptsSleepFor($retry_ms);
        try {
            return ($wait_ms ? $lock->block(intdiv($wait_ms + 999, 1000)) : $lock->get()) ? $lock : null;
        } catch (Illuminate\Contracts\Cache\LockTimeoutException $error) {
            return null;
        }
    };
    return [$acquire, fn ($lock) => $lock->release()];
};

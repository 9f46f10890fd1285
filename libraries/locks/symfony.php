<?php
// The lock of Symfony in Redis, on the extension phpredis. It is asked again and again: its own waiting has no end.
require 'Symfony/Component/Lock/autoload.php';

return function (array $ports) {
    $redis = new Redis();
    $redis->connect('127.0.0.1', $ports[0]);
    $factory = new Symfony\Component\Lock\LockFactory(new Symfony\Component\Lock\Store\RedisStore($redis));
    $acquire = function ($key, $ttl_ms, $wait_ms, $retry_ms) use ($factory) {
        $lock = $factory->createLock($key, $ttl_ms / 1000);
        $until_ns = hrtime(true) + $wait_ms * 1e6;
        while (!$lock->acquire()) {
            if (hrtime(true) > $until_ns) {
                return null;
            }
            usleep($retry_ms * 1000);
        }
        return $lock;
    };
    $release = function ($lock) {
        $is_late = $lock->isExpired(); // a release tells nothing about it
        $lock->release();
        return !$is_late;
    };
    return [$acquire, $release];
};

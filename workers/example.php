<?php
// The lock of example.py, for the worker in PHP, with nothing but a socket.
const COMPARE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";

return function (array $ports, array $options) {
    $stream = stream_socket_client("tcp://127.0.0.1:$ports[0]");
    $send = function (...$words) use ($stream) {
        $text = '*' . count($words) . "\r\n";
        foreach ($words as $word) {
            $text .= '$' . strlen($word) . "\r\n$word\r\n";
        }
        fwrite($stream, $text);
        $answer = fgets($stream);
        if ($answer === false) {
            throw new RuntimeException('the connection is closed');
        }
        return trim($answer);
    };
    $acquire = function ($key, $ttl_ms, $wait_ms, $retry_ms) use ($send) {
        $token = bin2hex(random_bytes(16));
        $until_ns = hrtime(true) + $wait_ms * 1e6;
        while ($send('SET', $key, $token, 'NX', 'PX', $ttl_ms) !== '+OK') {
            if (hrtime(true) > $until_ns) {
                return null;
            }
            usleep($retry_ms * 1000);
        }
        return [$key, $token];
    };
    $release = function ($held) use ($send, $options) {
        [$key, $token] = $held;
        return ($options['release'] ?? 'own') === 'any' ? $send('DEL', $key) === ':1' : $send('EVAL', COMPARE, 1, $key, $token) === ':1';
    };
    return [$acquire, $release];
};

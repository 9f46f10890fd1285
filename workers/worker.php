<?php
// A worker of the lab in PHP:   php worker.php LOCK.php [NAME=VALUE …]     with worker_lanes=1: PHP does one thing at a time.
//
// LOCK.php returns a function of the ports of the store's servers and the options. That one returns two functions: acquire(key,
// ttl_ms, wait_ms, retry_ms) returns what is held, or null if the lock was not granted in time; release(held) throws, or returns
// false, if the lock was lost.
[, $file] = $argv;
$options = [];
foreach (array_slice($argv, 2) as $word) {
    [$name, $value] = explode('=', $word, 2);
    $options[$name] = $value;
}
$make = require $file;
$say = function (string $lane, string $words) {
    fwrite(STDOUT, "$lane $words\n");
};
$is_cut_off = function (?Throwable $error) { // where the store did not answer, nobody knows whether the lock was lost
    for (; $error && !($error instanceof RedisException); $error = $error->getPrevious());
    return $error !== null;
};
$made = $held = [];
while (($line = fgets(STDIN)) !== false) {
    $words = explode(' ', trim($line));
    if ($words[0] === 'lane') {
        $made[$words[1]] = array_map('intval', array_slice($words, 2));
        continue;
    }
    if ($words[0] === 'drop') {
        exit;
    }
    [$lane, $verb] = $words;
    try {
        if (is_int($made[$lane][0])) { // the ports: the connections are made at the first call
            $made[$lane] = $make($made[$lane], $options);
        }
        [$acquire, $release] = $made[$lane];
        if ($verb === 'acquire') {
            $held[$lane] = $acquire($words[2], ...array_map('intval', array_slice($words, 3)));
            $say($lane, $held[$lane] ? 'yes' : 'no');
        } else {
            $say($lane, $release($held[$lane]) === false ? 'lost' : 'ok');
        }
    } catch (Throwable $error) {
        $text = str_replace("\n", ' ', get_class($error) . ': ' . $error->getMessage());
        $say($lane, $verb === 'release' && !$is_cut_off($error) ? 'lost' : "error $text");
    }
}

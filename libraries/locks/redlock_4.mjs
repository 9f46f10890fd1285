// redlock 4 of npm, on clients of ioredis. It sleeps for 200 ms between two tries, its default, and not as long as the lab says.
import { ioredis, load } from './clients.mjs';

export function lock(ports) {
  const Redlock = load('redlock-4');
  const clients = ports.map((port) => ioredis(port));
  return {
    async acquire(key, ttl, wait) {
      const redlock = new Redlock(clients, { retryCount: Math.ceil(wait / 200) });
      return redlock.lock(key, ttl).catch((problem) => {
        if (problem.name === 'LockError') return null;
        throw problem;
      });
    },
    release: (held) => held.unlock(),
    close: () => clients.forEach((client) => client.disconnect()),
  };
}

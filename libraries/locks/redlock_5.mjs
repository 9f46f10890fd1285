// redlock 5 of npm, and the package that continues it: the option package says which of the two. It sleeps for 200 ms
// between two tries, its default, and not as long as the lab says.
import { ioredis, load } from './clients.mjs';

export function lock(ports, options) {
  const { Redlock = load(options.package).default } = load(options.package);
  const clients = ports.map((port) => ioredis(port));
  return {
    async acquire(key, ttl, wait) {
      const redlock = new Redlock(clients, { retryCount: Math.ceil(wait / 200) });
      redlock.on('error', () => {}); // it emits one for each key that is locked
      return redlock.acquire([key], ttl).catch((problem) => {
        if (problem.name === 'ExecutionError') return null;
        throw problem;
      });
    },
    release: (held) => held.release(),
    close: () => clients.forEach((client) => client.disconnect()),
  };
}

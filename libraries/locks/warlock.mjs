// node-redis-warlock, on the client of its documentation, which answers by callbacks.
import { promisify } from 'node:util';
import { load } from './clients.mjs';

export function lock([port]) {
  const client = load('redis-3').createClient(port, '127.0.0.1').on('error', () => {});
  const warlock = load('node-redis-warlock')(client);
  return {
    async acquire(key, ttl, wait, retry) {
      const attempts = Math.floor(wait / retry) + 1;
      const unlock = await promisify(warlock.optimistic)(key, ttl, attempts, retry).catch((problem) => {
        if (problem.maxAttempts) return null;
        throw problem;
      });
      return unlock;
    },
    release: (unlock) => new Promise((resolve, reject) => unlock((problem, freed) => (problem ? reject(problem) : resolve(freed === 1)))),
    close: () => client.end(false),
  };
}

// redlock-universal: its "using", the recommended way, which extends the lock for as long as the work takes.
import { ioredis, load } from './clients.mjs';

export function lock([port]) {
  const { createLock, IoredisAdapter } = load('redlock-universal');
  const client = ioredis(port);
  return {
    acquire(key, ttl, wait, retry) {
      const times = { ttl, retryAttempts: Math.ceil(wait / retry), retryDelay: retry };
      const made = createLock({ adapter: new IoredisAdapter(client), key, ...times });
      return new Promise((resolve, reject) => {
        const ended = made.using((signal) => new Promise((done) => resolve({ done, signal, ended: () => ended })));
        ended.catch((problem) => (problem.name === 'LockAcquisitionError' ? resolve(null) : reject(problem)));
      });
    },
    async release({ done, signal, ended }) {
      done();
      await ended();
      return !signal.aborted;
    },
    close: () => client.disconnect(),
  };
}

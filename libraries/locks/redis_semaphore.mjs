// The Mutex of redis-semaphore.
import { ioredis, load } from './clients.mjs';

export function lock([port]) {
  const { Mutex } = load('redis-semaphore');
  const client = ioredis(port);
  return {
    async acquire(key, ttl, wait, retry) {
      const times = { lockTimeout: ttl, acquireTimeout: Math.max(wait, 1), retryInterval: retry }; // with 0 it would not even ask
      const mutex = new Mutex(client, key, { ...times, onLockLost: console.error });
      return (await mutex.tryAcquire()) && mutex;
    },
    async release(mutex) {
      const isHeld = mutex.isAcquired;
      await mutex.release();
      return isHeld;
    },
    close: () => client.disconnect(),
  };
}

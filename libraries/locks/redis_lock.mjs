// redis-lock. It waits for ever, so the wait of the lab has no effect.
import { load, nodeRedis } from './clients.mjs';

export async function lock([port]) {
  const client = await nodeRedis(port, 'redis-4');
  return {
    acquire: (key, ttl, wait, retry) => load('redis-lock')(client, retry)(key, ttl),
    async release(done) { // undefined where its time was over, else how many keys it deleted
      return (await done()) === 1;
    },
    close: () => client.disconnect(),
  };
}

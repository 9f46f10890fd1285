// simple-redis-mutex. Its documentation asks for one client in a program; here each lane has its own.
import { load, nodeRedis } from './clients.mjs';

export async function lock([port]) {
  const { lock, tryLock } = load('simple-redis-mutex');
  const client = await nodeRedis(port);
  return {
    async acquire(key, ttl, wait, retry) {
      const [isHeld, release] = wait ? [true, await waited(key, ttl, wait, retry)] : await tryLock(client, key, { timeout: ttl });
      return isHeld && release && { release, fence: release.fencingToken };
    },
    release: (held) => held.release(),
    close: () => client.destroy(),
  };

  function waited(key, ttl, wait, retry) {
    let isLate = false;
    const onFail = () => { isLate = true; };
    return lock(client, key, { timeout: ttl, failAfter: wait, pollingInterval: retry, onFail }).catch((problem) => {
      if (isLate) return null;
      throw problem;
    });
  }
}

// The packages of the environment "node", and the clients that the documentation of its libraries names, with their defaults.
import { createRequire } from 'node:module';

export const load = createRequire(new URL('../.environments/node/', import.meta.url));

// without a listener, an error of the connection would end the program
const ignored = () => {};

export const ioredis = (port) => new (load('ioredis'))(port, '127.0.0.1').on('error', ignored);

export const nodeRedis = (port, version = 'redis') =>
  load(version).createClient({ socket: { port, host: '127.0.0.1' } }).on('error', ignored).connect();

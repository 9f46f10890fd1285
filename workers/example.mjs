// The lock of example.py, for the worker in JavaScript, with nothing but a socket.
import net from 'node:net';
import { randomUUID } from 'node:crypto';

const COMPARE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export async function lock([port], { release = 'own' }) {
  const socket = net.connect(port, '127.0.0.1').setNoDelay(true);
  const waiting = [];
  let text = '';
  socket.on('data', (data) => {
    text += data;
    for (let end; (end = text.indexOf('\r\n')) >= 0; text = text.slice(end + 2)) waiting.shift().resolve(text.slice(0, end));
  });
  socket.on('error', () => {}).on('close', () => waiting.forEach((one) => one.reject(new Error('the connection is closed'))));
  const send = (...words) => new Promise((resolve, reject) => {
    waiting.push({ resolve, reject });
    socket.write(`*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(`${word}`)}\r\n${word}\r\n`).join('')}`);
  });
  return {
    async acquire(key, ttl, wait, retry) {
      const token = randomUUID();
      for (const until = performance.now() + wait; (await send('SET', key, token, 'NX', 'PX', ttl)) !== '+OK'; await sleep(retry)) {
        if (performance.now() > until) return null;
      }
      return { key, token };
    },
    async release({ key, token }) {
      return (release === 'any' ? await send('DEL', key) : await send('EVAL', COMPARE, 1, key, token)) === ':1';
    },
    close: () => socket.destroy(),
  };
}

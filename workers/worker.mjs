// A worker of the lab in JavaScript:   node worker.mjs LOCK.mjs [NAME=VALUE …]
//
// LOCK.mjs exports lock(ports, options), which is called once for a lane, with the ports of the store's servers. It returns, or
// promises, { acquire, release, close }: acquire(key, ttlMs, waitMs, retryMs) promises what is held, or null if the lock was not
// granted in time; release(held) rejects, or promises false, if the lock was lost; close() ends the connections of the lane.
import readline from 'node:readline';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [file, ...words] = process.argv.slice(2);
const options = Object.fromEntries(words.map((word) => word.split('=')));
const { lock } = await import(pathToFileURL(path.resolve(file)));
const lanes = new Map();
const write = process.stdout.write.bind(process.stdout);
console.log = console.info = console.debug = console.error; // what a library prints is no answer
const error = (problem) => `error ${problem?.name}: ${problem?.message}`.replaceAll('\n', ' ').slice(0, 200);

async function answer(lane, verb, words) {
  try {
    const made = await lane.made;
    if (verb === 'release') return (await made.release(lane.held).catch(lost)) === false ? 'lost' : 'ok';
    const [key, ...times] = words;
    lane.held = await made.acquire(key, ...times.map(Number));
    return !lane.held ? 'no' : Number.isInteger(lane.held.fence) ? `yes ${lane.held.fence}` : 'yes';
  } catch (problem) {
    return error(problem);
  }
}

function lost(problem) { // where the store did not answer, nobody knows whether the lock was lost
  const isCutOff = /conn|timed?out|pipe|socket|closed|maxretries|uncertain/i.test(`${problem?.name} ${problem?.code}`);
  if (isCutOff || problem?.message === 'Connection is closed.') throw problem; // ioredis gives that one no name
  return false;
}

readline.createInterface({ input: process.stdin }).on('line', async (line) => {
  const [first, second, ...rest] = line.split(' ');
  if (first === 'lane') lanes.set(second, { made: Promise.resolve().then(() => lock(rest.map(Number), options)) });
  else if (first === 'drop') {
    const made = await lanes.get(second)?.made.catch(() => null);
    lanes.delete(second);
    await made?.close?.();
  } else write(`${first} ${await answer(lanes.get(first), second, rest)}\n`);
}).on('close', () => process.exit(0));
process.on('uncaughtException', (problem) => console.error(problem));
process.on('unhandledRejection', (problem) => console.error(problem));

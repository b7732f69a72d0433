/**
 * For `--import`: notes when each POST is handed to its socket, and makes the process stand still now and then.
 * STAMPS_FILE: where the stamps are written at the end: ms with fractions, by a clock that all processes of the machine share;
 * STAMPS_OF: what the paths of the requests hold that are meant; absent: all;
 * PAUSE_EVERY, PAUSE_MS: absent or 0: no pauses.
 *
 * `performance.timeOrigin` is not that clock: a process that loses its core while it starts reads it up to 50 ms too late.
 */
import { subscribe } from 'node:diagnostics_channel';
import { writeFileSync } from 'node:fs';

const { STAMPS_FILE, STAMPS_OF = '', PAUSE_EVERY, PAUSE_MS } = process.env;
const stamps = [];

// Both the undici of the program and that of Node.js say so here, just before they write.
subscribe('undici:client:sendHeaders', ({ request }) => {
  if (request.method === 'POST' && request.path.includes(STAMPS_OF))
    stamps.push(Number(process.hrtime.bigint()) / 1e6);
});

if (Number(PAUSE_EVERY) > 0) {
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  setInterval(() => Atomics.wait(nothing, 0, 0, Number(PAUSE_MS)), Number(PAUSE_EVERY)).unref();
}

process.on('exit', () => writeFileSync(STAMPS_FILE, JSON.stringify(stamps)));

/** Loaded into a process that is measured (`--import`): leaves in the file USAGE_FILE what the process took, when it ends. */
import { writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { peakMemory } from './peak-memory.mjs';

const { USAGE_FILE, USAGE_EVERY } = process.env;
if (isMainThread && USAGE_FILE !== undefined) {
  // A process that this one starts is another one.
  delete process.env.USAGE_FILE;
  const samples = [];
  const cpu = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  };
  if (USAGE_EVERY !== undefined)
    setInterval(() => {
      samples.push([performance.timeOrigin + performance.now(), cpu()]);
    }, Number(USAGE_EVERY)).unref();
  process.on('exit', () => {
    const peakMB = peakMemory() / 1e6;
    writeFileSync(USAGE_FILE, JSON.stringify({ cpuMs: cpu(), peakMB, samples }));
  });
}

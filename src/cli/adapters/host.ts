import { freeBytesIn } from '../../app/adapters/disk-space.ts';
import type { Host } from '../../app/library.ts';
import { wallClock } from './clock.ts';

/** The process and its machine, without output, signals and environment. */
export const host: Host = {
  machine: {
    clock: wallClock,
    timeOfDay: Date.now,
    pid: process.pid,
    memory: () => process.memoryUsage(),
  },
  cwd: () => process.cwd(),
  freeBytes: (folder) => freeBytesIn(folder),
  every: (ms, call) => {
    const timer = setInterval(call, ms).unref();
    return () => clearInterval(timer);
  },
};

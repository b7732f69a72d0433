/** Reads the inputs that its parent sends, one after the other, and says what each of them took. */
import { readFileSync, writeFileSync } from 'node:fs';
import { prepare } from '../check/check.ts';
import type { Input } from '../input.ts';
import type { ReaderResult } from '../reader.ts';

const kibi = 1024;

/** Memory of this process in bytes: what it has now, and the most it had since {@link forgetPeak}. */
function memory(): { readonly now: number; readonly peak: number } {
  try {
    const status = readFileSync('/proc/self/status', 'utf8');
    const field = (name: string): number =>
      Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]) * kibi;
    return { now: field('VmRSS'), peak: field('VmHWM') };
  } catch {
    // Elsewhere than on Linux the peak is that of the whole life: what grows less than an earlier input is not seen.
    return { now: process.memoryUsage.rss(), peak: process.resourceUsage().maxRSS * kibi };
  }
}

function forgetPeak(): void {
  try {
    writeFileSync('/proc/self/clear_refs', '5');
  } catch {
    // See `memory`.
  }
}

async function read(input: Input): Promise<ReaderResult> {
  const run = await prepare(input);
  process.send?.('ready');
  if (process.memoryUsage().heapUsed > 100 * kibi * kibi) globalThis.gc?.();
  forgetPeak();
  const before = memory().now;
  const cpu = process.cpuUsage();
  const measured = (): Pick<ReaderResult, 'ms' | 'bytes'> => {
    const { user, system } = process.cpuUsage(cpu);
    return { ms: (user + system) / 1000, bytes: Math.max(0, memory().peak - before) };
  };
  try {
    const codes = await run();
    return { ...measured(), codes };
  } catch (error) {
    return {
      ...measured(),
      codes: [],
      broken: error instanceof Error ? (error.stack ?? error.message) : String(error),
    };
  }
}

process.on('message', (input: Input) => {
  void read(input)
    // What cannot even be made ready is a mistake of these tests, and shows as one.
    .catch((error: unknown) => {
      process.send?.('ready');
      return { ms: 0, bytes: 0, codes: [], broken: String(error) };
    })
    .then((result) => process.send?.(result));
});
process.once('disconnect', () => process.exit());
process.send?.('ready');

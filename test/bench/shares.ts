import type { Route } from '../../src/run/events.ts';
import { epoch } from '../rig/jobs.ts';
import { seededRandom, virtualSettings } from '../rig/virtual-run.ts';
import { world } from '../rig/world.ts';

const cells = 120;

const pipeline = (keep: boolean): string => `name: shares
matrix: { n: { from: 1, to: ${cells} } }
steps:
  grid: { imagine: "picture {{ n }}"${keep ? '' : ', keep: false'} }
  caption:
    from: grid
    generate: { model: text-pro, prompt: "Say {{ n }}" }
`;

/** What the text calls and the submissions of a run waited for, in seconds of virtual time. */
export interface Served {
  /** From the first text call to the last reply. */
  readonly texts: number;
  /** Mean from the end of a cell's task to the reply of its text call. */
  readonly text: number;
  /** From the begin of the run to the last submission. */
  readonly submitted: number;
}

/**
 * A run of images and text calls in virtual time, 16 requests in flight.
 *
 * @param downloadMs of each image; undefined: no image is downloaded
 * @param textMs mean of a text call
 */
export async function served(
  downloadMs: number | undefined,
  textMs: number,
  taskMs: number,
): Promise<Served> {
  // A generator for each: the nth task takes as long, and so does the nth text, whatever else goes on.
  const [ofTasks, ofTexts] = [seededRandom(11), seededRandom(12)];
  const latency = (route: Route): number =>
    route === 'download' ? (downloadMs ?? 0) : route === 'text' ? textMs * (0.5 + ofTexts()) : 50;
  const work = await world(pipeline(downloadMs !== undefined), {
    duration: () => taskMs * (0.5 + ofTasks()),
  });
  const ended = new Map<number, number>();
  const waits: number[] = [];
  let [first, last, submitted] = [Number.POSITIVE_INFINITY, 0, 0];
  const { end } = work.run({
    settings: virtualSettings({ limits: { tasks: 12, requests: 16 }, poll: { minMs: 33, maxMs: 15_000 } }),
    latency,
    onEvent: (event, now) => {
      if (event.type !== 'job:status') return;
      const { step, from, to, cell } = event;
      if (step === 'grid' && from === 'running') ended.set(cell, now);
      if (step === 'grid' && to === 'submitting') submitted = now - epoch;
      if (step !== 'caption') return;
      if (to === 'submitting') first = Math.min(first, now);
      if (to !== 'done') return;
      last = Math.max(last, now);
      waits.push(now - (ended.get(cell) ?? now));
    },
  });
  if (end?.kind !== 'complete' || waits.length !== cells) throw new Error(`${waits.length} texts.`);
  const mean = waits.reduce((sum, wait) => sum + wait, 0) / waits.length;
  return { texts: (last - first) / 1000, text: mean / 1000, submitted: submitted / 1000 };
}

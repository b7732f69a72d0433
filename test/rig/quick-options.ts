import { createHash } from 'node:crypto';

/** How the quick service behaves. Times are in ms; absent: 0, at once. */
export interface QuickOptions {
  /** Before any answer but a file's. */
  readonly latencyMs?: number;
  /** Before the answer of a text call, instead of `latencyMs`. */
  readonly textMs?: number;
  /** Before the first byte of a file. */
  readonly fileMs?: number;
  /** Median time that a task works, from its submission. */
  readonly taskMs?: number;
  /** Of the logarithm of that time. */
  readonly sigma?: number;
  /** Bytes of an image, about. Default 10,000. */
  readonly imageBytes?: number;
  /** Characters of a text. Default 200. */
  readonly textLength?: number;
  /** Show `progress` in steps of 15 points; otherwise it stays at 0 %. */
  readonly progress?: boolean;
}

/** What the quick service has seen. Times are Unix ms of its clock, with fractions. */
export interface QuickCounts {
  readonly submits: number;
  readonly polls: number;
  readonly lists: number;
  readonly files: number;
  readonly texts: number;
  /** Most tasks at work at one time, and most text calls under way. */
  readonly peakTasks: number;
  readonly peakTexts: number;
  readonly firstSubmitAt: number;
  readonly lastAnswerAt: number;
  /** Over all tasks whose end was seen: from the end to the poll that saw it. */
  readonly lateMs: number;
  readonly ended: number;
  /** Texts answered so far, every 50 ms: `[at, texts]`. At most 100,000 of them. */
  readonly textsAt: readonly (readonly [number, number])[];
}

/** One task: `[submitted, seen]` in Unix ms, where seen is the poll that saw its end. Until that a client holds a slot for it. */
export type QuickTaskTimes = readonly [number, number];

/**
 * How long a task works: log-normal, drawn from its own name, so that it is the same in every run whatever the order of
 * submissions. The name of a task is the prompt of its first ancestor with the labels that were pressed since, joined by `/`.
 */
export function taskDuration(name: string, { taskMs = 0, sigma = 0 }: QuickOptions): number {
  const hash = createHash('sha256').update(name).digest();
  const uniform = (at: number): number => (hash.readUInt32BE(at) + 0.5) / 2 ** 32;
  // Box and Muller.
  const normal = Math.sqrt(-2 * Math.log(uniform(0))) * Math.cos(2 * Math.PI * uniform(4));
  return taskMs * Math.exp(sigma * normal);
}

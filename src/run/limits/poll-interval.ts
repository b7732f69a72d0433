import type { JobRecord } from '../../plan/job.ts';
import { canConfirm } from '../machine/modal.ts';
import { learnedContent, learnedText } from './learned.ts';

interface Experience {
  /** Moving average of how long such tasks took, ms. */
  mean: number;
  /** Moving mean deviation, ms. */
  deviation: number;
}

/** Version of the document that keeps what was learned: `[[kind, mean ms, deviation ms], …]`. */
const version = 1;
/** The most kinds that are kept. */
const mostKinds = 200;

function readKinds(content: unknown): readonly (readonly [string, Experience])[] {
  if (!Array.isArray(content)) return [];
  return content.slice(0, mostKinds).flatMap((entry: unknown) => {
    if (!Array.isArray(entry)) return [];
    const [kind, mean, deviation] = entry as readonly unknown[];
    const isKnown = typeof kind === 'string' && isDuration(mean) && isDuration(deviation);
    return isKnown ? [[kind, { mean, deviation }] as const] : [];
  });
}

const isDuration = (value: unknown): value is number =>
  typeof value === 'number' && value >= 0 && value < Number.MAX_SAFE_INTEGER;

/** Weight of the newest duration; the average follows a change of the service's load within a few tasks. */
const weight = 0.2;

/**
 * When to poll a task again. It learns how long each kind of task takes, waits until shortly before that, then polls more
 * often, and ever more rarely once a task is late. No service says how often to poll (gateway 9.4).
 */
export class PollPace {
  readonly #bounds: { readonly minMs: number; readonly maxMs: number };
  /** One entry per kind of operation; kinds are bounded by the pipeline's steps. */
  readonly #experiences = new Map<string, Experience>();

  /** @param learned what an earlier run has learned */
  constructor(bounds: { readonly minMs: number; readonly maxMs: number }, learned?: string) {
    this.#bounds = bounds;
    for (const [kind, known] of learnedContent(learned, version, readKinds) ?? [])
      this.#experiences.set(kind, { ...known });
  }

  /** What is known of each kind, to be kept for the next run; undefined: nothing. */
  get learned(): string | undefined {
    if (this.#experiences.size === 0) return undefined;
    const kinds = [...this.#experiences].slice(0, mostKinds);
    return learnedText(
      version,
      kinds.map(([kind, { mean, deviation }]) => [kind, Math.round(mean), Math.round(deviation)]),
    );
  }

  /** Notes the duration of a task of this kind, from submission to its finished state. */
  learn(kind: string, durationMs: number): void {
    const known = this.#experiences.get(kind);
    if (known === undefined) {
      this.#experiences.set(kind, { mean: durationMs, deviation: durationMs / 4 });
      return;
    }
    const error = durationMs - known.mean;
    known.mean += weight * error;
    known.deviation += weight * (Math.abs(error) - known.deviation);
  }

  /** Milliseconds until the next poll of a task of this kind that was submitted `elapsedMs` ago. */
  nextMs(kind: string, elapsedMs: number): number {
    const known = this.#experiences.get(kind);
    // A third of the age: a poll shows the finished state at most a third later than it came.
    const byAge = elapsedMs / 3;
    const wish =
      known === undefined
        ? byAge
        : Math.max(known.mean - known.deviation - elapsedMs, Math.min(byAge, known.deviation));
    const late = known !== undefined && elapsedMs > known.mean + 2 * known.deviation;
    return Math.round(Math.min(this.#bounds.maxMs, Math.max(this.#bounds.minMs, late ? byAge : wish)));
  }
}

/** The kind of an operation: its button without numbers, so that U1 to U4 share one estimate. */
export function paceOf(record: JobRecord): string {
  const { request, modal } = record;
  if (request.kind !== 'click') return request.kind;
  const press = request.press[0];
  const name =
    press === undefined
      ? ''
      : press.kind === 'text'
        ? press.text
        : press.kind === 'word'
          ? press.word
          : press.source;
  // The time until a modal opens is no measure of the work that follows.
  const opens = modal === undefined && canConfirm(record) ? ' opens' : '';
  return `click ${name.replaceAll(/\d+/g, '')}${opens}`;
}

import type { JobRecord } from '../../src/plan/job.ts';
import { isTextRequest } from '../../src/plan/job-request.ts';
import { openStateForReading } from '../../src/state/state.ts';
import type { FakeTexts } from './fake-service.ts';

/** What the service calls the text calls of a job whose answers are durable: `<prompt>`, and `<prompt> +2` for a later round. */
function callsWithResult({ request, status, turns = [] }: JobRecord): readonly string[] {
  if (!isTextRequest(request)) return [];
  const { prompt } = request.fields;
  if (typeof prompt !== 'string') return [];
  // Each finished round is two turns: the calls, and their replies.
  const rounds = turns.length / 2 + (status === 'done' ? 1 : 0);
  return Array.from({ length: rounds }, (_, round) => (round === 0 ? prompt : `${prompt} +${round * 2}`));
}

/** Watches that no text whose reply has been durable is ever asked for again. */
export class DurableTexts {
  /** Calls → how often they had been made when their reply was first seen to be durable. */
  readonly #calls = new Map<string, number>();

  /** To be called while no process is at work on the run directory. */
  async note(directory: string, { byName }: FakeTexts): Promise<void> {
    const state = openStateForReading(directory);
    if (state === undefined) return;
    try {
      for (const status of ['done', 'pending', 'submitting'] as const)
        for await (const record of state.withStatus(status))
          for (const call of callsWithResult(record))
            if (!this.#calls.has(call)) this.#calls.set(call, byName.get(call) ?? 0);
    } finally {
      await state.close();
    }
  }

  /** Replies that have been seen. */
  get size(): number {
    return this.#calls.size;
  }

  askedAgain({ byName }: FakeTexts): readonly string[] {
    return [...this.#calls]
      .filter(([call, count]) => (byName.get(call) ?? 0) !== count)
      .map(([call]) => call);
  }
}

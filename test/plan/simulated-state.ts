import type { JobErrorCode } from '../../src/pipeline/diagnostics/job-errors.ts';
import type { Button, JobRecord, JobStatus } from '../../src/plan/job.ts';
import type { Slot } from '../../src/plan/slot.ts';

export const button = (label: string, emoji = ''): Button => ({
  customId: `id::${label}${emoji}`,
  label,
  emoji,
});

/** What a grid offers (gateway 5.2). */
export const gridButtons: readonly Button[] = [
  ...['U1', 'U2', 'U3', 'U4'].map((label) => button(label)),
  button('', '🔄'),
  ...['V1', 'V2', 'V3', 'V4'].map((label) => button(label)),
];

/** What a state knows, changed job by job as a run would. */
export class SimulatedState {
  readonly records = new Map<string, JobRecord>();
  lookups = 0;
  #now = 1;

  readonly lookup = (key: string): JobRecord | undefined => {
    this.lookups += 1;
    return this.records.get(key);
  };

  put(slot: Slot, status: JobStatus, changes: Partial<JobRecord> = {}): void {
    const { job } = slot;
    if (job === undefined) throw new Error(`${slot.step}/${slot.branch.join('/')} has no job`);
    this.records.set(job.key, {
      ...job,
      status,
      origin: { cell: slot.cell, step: slot.step, branch: slot.branch.join('/'), slot: slot.id },
      keep: slot.keep,
      attempts: 1,
      tries: 0,
      resubmits: 0,
      artifacts: [],
      ...changes,
    });
  }

  done(slot: Slot, buttons: readonly Button[] = gridButtons, changes: Partial<JobRecord> = {}): void {
    this.#now += 1;
    this.put(slot, 'done', {
      taskId: `T${this.#now}`,
      result: { imageUrl: `https://images.test/${slot.job?.key}.png`, buttons },
      artifacts: slot.keep
        ? [{ output: 1, file: 'images/x.png', bytes: 1, sha256: 'x', mime: 'image/png' }]
        : [],
      ...changes,
    });
  }

  /** A text job's answer, of one candidate. */
  reply(slot: Slot, text: string, isJson = false, changes: Partial<JobRecord> = {}): void {
    this.put(slot, 'done', {
      text: { candidates: [{ text, isJson, finishReason: 'STOP', parts: [{ text }] }] },
      usage: { prompt: 10, candidates: 5, total: 15 },
      artifacts: slot.keep
        ? [{ output: 1, file: 'text/x.txt', bytes: 1, sha256: 'x', mime: 'text/plain', candidate: 1 }]
        : [],
      ...changes,
    });
  }

  /** What a describe suggests, which is written to a file of its own (gateway 4.5). */
  described(slot: Slot, prompts: readonly string[], changes: Partial<JobRecord> = {}): void {
    this.done(slot, [], {
      result: { imageUrl: 'https://images.test/shown.png', buttons: [], prompts },
      artifacts: slot.keep
        ? [{ output: 1, file: 'text/x.txt', bytes: 1, sha256: 'x', mime: 'text/plain' }]
        : [],
      ...changes,
    });
  }

  filmed(slot: Slot, videoUrls: readonly string[], changes: Partial<JobRecord> = {}): void {
    this.done(slot, [], {
      result: { buttons: [button('U1'), button('U2')], videoUrls },
      artifacts: slot.keep
        ? videoUrls.map((_, at) => ({
            output: at + 1,
            file: `video/x-${at + 1}.mp4`,
            bytes: 1,
            sha256: 'x',
            mime: 'video/mp4',
          }))
        : [],
      ...changes,
    });
  }

  fail(slot: Slot, code = 'task.failed'): void {
    this.put(slot, 'failed', { error: { code: code as JobErrorCode, message: `it failed: ${code}` } });
  }
}

/** `step/branch status`, with `!` when ready and the job's place in `keys` when asked for. */
export const line = ({ step, branch, status, ready }: Slot): string =>
  `${[step, ...branch].join('/')} ${status}${ready ? '!' : ''}`;

import * as fc from 'fast-check';
import { type Attempt, type JobRecord, type JobStatus, jobStatuses } from '../../src/plan/job.ts';

/** A plain job; members can be replaced. */
export function jobRecord(key: string, status: JobStatus, more: Partial<JobRecord> = {}): JobRecord {
  return {
    key,
    kind: 'imagine',
    status,
    request: { kind: 'imagine', fields: { prompt: `prompt of ${key}` } },
    origin: { cell: 1, step: 'grid', branch: '', slot: `slot-${key}` },
    keep: true,
    attempts: 0,
    tries: 0,
    resubmits: 0,
    artifacts: [],
    ...more,
  };
}

const text = fc.string({ unit: 'binary', maxLength: 12 });
const key = fc.integer({ min: 0, max: 40 }).map((number) => `key-${number}`);
const value = fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null), fc.array(text, { maxLength: 2 }));
const fields = fc.dictionary(text, value, { maxKeys: 3 }).map((given) => ({ ...given }));
const button = fc.record({ customId: text, label: text, emoji: text });
const error = fc.record(
  {
    code: fc.constantFrom('task.failed', 'task.timeout', 'service.rejected'),
    message: text,
    requestId: text,
    httpStatus: fc.integer({ min: 100, max: 599 }),
  },
  { requiredKeys: ['code', 'message'] },
);

/** Any record, over a few keys so that records replace one another. */
const anyRecord: fc.Arbitrary<JobRecord> = fc.record(
  {
    key,
    kind: fc.constantFrom('imagine' as const, 'click' as const),
    status: fc.constantFrom(...jobStatuses),
    request: fc.oneof(
      fc.record({ kind: fc.constant('imagine' as const), fields }),
      fc.record({
        kind: fc.constant('click' as const),
        press: fc.array(fc.record({ kind: fc.constant('text' as const), text }), { maxLength: 2 }),
        fields,
        extra: fields,
      }),
    ),
    parent: key,
    origin: fc.record({
      cell: fc.integer({ min: 1, max: 10_000_000 }),
      step: text,
      branch: text,
      slot: fc.integer({ min: 0, max: 9 }).map((number) => `slot-${number}`),
    }),
    keep: fc.boolean(),
    attempts: fc.nat(20),
    tries: fc.nat(20),
    resubmits: fc.nat(5),
    speed: fc.constantFrom('relax' as const, 'fast' as const, 'turbo' as const),
    pressed: button,
    taskId: text,
    submittedAt: fc.maxSafeNat(),
    finishedAt: fc.maxSafeNat(),
    result: fc.record({ imageUrl: text, buttons: fc.array(button, { maxLength: 3 }) }),
    artifacts: fc.array(
      fc.record({
        output: fc.nat(4),
        file: text,
        bytes: fc.nat(),
        sha256: text,
        mime: text,
        width: fc.nat(),
      }),
      { maxLength: 2 },
    ),
    error,
    cost: fc.integer({ min: 0, max: 100_000 }).map((cents) => cents / 100),
    doubtful: fc.record(
      {
        count: fc.integer({ min: 1, max: 9 }),
        cost: fc.integer({ min: 0, max: 100_000 }).map((cents) => cents / 100),
        since: fc.maxSafeNat(),
      },
      { requiredKeys: ['count'] },
    ),
    assumed: fc.record(
      {
        answers: fc.integer({ min: 1, max: 9 }),
        tokens: fc.nat(1_000_000),
        cost: fc.integer({ min: 0, max: 100_000 }).map((cents) => cents / 100),
      },
      { requiredKeys: ['answers', 'tokens'] },
    ),
    usage: fc.record(
      { prompt: fc.nat(10_000), thoughts: fc.nat(10_000), total: fc.nat(1_000_000) },
      { requiredKeys: [] },
    ),
    invalid: fc.nat(3),
    turns: fc.array(fields, { maxLength: 2 }),
  },
  {
    requiredKeys: [
      'key',
      'kind',
      'status',
      'request',
      'origin',
      'keep',
      'attempts',
      'tries',
      'resubmits',
      'artifacts',
    ],
  },
);

const anyAttempt: fc.Arbitrary<Attempt> = fc.record(
  { key, at: fc.maxSafeNat(), outcome: text, taskId: text, error },
  { requiredKeys: ['key', 'at', 'outcome'] },
);

export const anyTurn = fc.record({
  records: fc.array(anyRecord, { maxLength: 8 }),
  attempts: fc.array(anyAttempt, { maxLength: 4 }),
});

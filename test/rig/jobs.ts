import type { JobRecord } from '../../src/plan/job.ts';
import { isTextRequest } from '../../src/plan/job-request.ts';
import type { Job, JobContext } from '../../src/run/machine/job.ts';

export const epoch = 1_700_000_000_000;

/** A record of an imagine, to be changed by a test. */
export function imagineRecord(changes: Partial<JobRecord> = {}): JobRecord {
  return {
    key: 'aa11',
    kind: 'imagine',
    status: 'pending',
    request: { kind: 'imagine', fields: { prompt: 'a fox' } },
    origin: { cell: 1, step: 'grid', branch: '', slot: 's1' },
    keep: true,
    attempts: 0,
    tries: 0,
    resubmits: 0,
    artifacts: [],
    ...changes,
  };
}

/** A record of a click on U1. */
export function clickRecord(changes: Partial<JobRecord> = {}): JobRecord {
  return imagineRecord({
    key: 'bb22',
    kind: 'click',
    request: { kind: 'click', press: [{ kind: 'text', text: 'U1' }], fields: {} },
    parent: 'aa11',
    origin: { cell: 1, step: 'grid', branch: 'U1', slot: 's2' },
    ...changes,
  });
}

/** A record of a generate, to be changed by a test. */
export function textRecord(changes: Partial<JobRecord> = {}): JobRecord {
  return imagineRecord({
    key: 'cc33',
    kind: 'generate',
    request: { kind: 'generate', fields: { model: 'text-pro', prompt: 'Say hello.' } },
    origin: { cell: 1, step: 'caption', branch: '', slot: 's3' },
    call: { stream: false, accept: [] },
    ...changes,
  });
}

export function job(record: JobRecord, changes: Partial<Job> = {}): Job {
  return {
    record,
    nextRequest: { kind: isTextRequest(record.request) ? 'ask' : 'task-slot' },
    depth: record.kind === 'click' ? 1 : 0,
    misses: 0,
    ...(record.kind === 'click' ? { parentTaskId: 'T1' } : {}),
    ...changes,
  };
}

/** Chance is always one half, and a task is polled every five seconds. */
export function context(changes: Partial<JobContext> = {}): JobContext {
  return {
    now: epoch,
    invocation: 1,
    watchedSince: epoch,
    random: () => 0.5,
    retry: {
      attempts: 6,
      baseMs: 1000,
      capMs: 60_000,
      resubmits: 2,
      ambiguous: 'retry',
      patienceMs: 3_600_000,
      invalid: 2,
      permanent: [],
      transient: [],
    },
    taskMs: 1_200_000,
    queueMs: 7_200_000,
    hasFoundLater: () => false,
    overtakenAt: () => undefined,
    speed: 'fast',
    searches: false,
    tellsSeeds: true,
    unconfirmedSearchInMs: undefined,
    retryInDoubt: false,
    price: () => undefined,
    replyPrice: () => undefined,
    assumedUsage: () => ({ prompt: 30, candidates: 10, total: 40 }),
    buttonsOf: () => undefined,
    jobOf: () => undefined,
    isJob: () => false,
    rivals: () => [],
    hasPeers: false,
    mayGetSameId: () => false,
    showsIds: false,
    promptAbove: () => undefined,
    tally: () => ({ served: 0, firsts: 0, firstsServed: 0 }),
    pollMaxMs: 15_000,
    pollInMs: () => 5000,
    ...changes,
  };
}

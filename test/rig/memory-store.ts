import type { Attempt, JobRecord, JobStatus } from '../../src/plan/job.ts';
import { Replies } from '../../src/state/files/replies.ts';
import { readerOf, type StateQueries } from '../../src/state/query.ts';
import type { InputFile, StoreTotals } from '../../src/state/reader.ts';
import {
  burstMs,
  fingerprintFact,
  invocationFact,
  type StateStore,
  sentFact,
} from '../../src/state/store.ts';
import { memoryRedos } from './memory-redos.ts';
import { memorySegments } from './memory-segments.ts';
import { noJobs } from './no-counts.ts';

const inKeyOrder = (found: readonly JobRecord[]): JobRecord[] =>
  found.toSorted((left, right) => (left.key < right.key ? -1 : 1));

/** A copy, as if it had been written and read again, that nobody can change. */
const copied = <T>(value: T): T => frozen(JSON.parse(JSON.stringify(value)) as T);

function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const member of Object.values(value)) frozen(member);
  return Object.freeze(value);
}

/** A store that a test asks at once also for what a run would wait for. */
export interface MemoryStore
  extends StateStore,
    Pick<StateQueries, 'withStatus' | 'submissions' | 'redoCounts'> {}

/** Those of these that are known, by what was asked for. */
const knownOf = <T>(asked: readonly string[], find: (one: string) => T | undefined): Map<string, T> =>
  new Map(
    asked.flatMap((one) => {
      const found = find(one);
      return found === undefined ? [] : [[one, found] as const];
    }),
  );

/**
 * A StateStore in memory, with the contract of the real one (the same suite runs on both): what was committed is a
 * copy. Every read of it is the same one, which makes simulated histories of many reads quick.
 */
export function memoryStore(): MemoryStore {
  const jobs = new Map<string, JobRecord>();
  const history: Attempt[] = [];
  /** The attempts of each task: what is asked at every poll. */
  const ofTask = new Map<string, Attempt[]>();
  const facts = new Map<string, string>();
  const inputs = new Map<string, InputFile>();
  const redos = memoryRedos(() => void facts.delete(fingerprintFact));
  const replies = new Replies(memorySegments(), undefined, () => undefined);
  let known = 0;
  let counted = 0;
  let open = true;

  const check = (): void => {
    if (!open) throw new Error('database is not open');
  };
  const records = (): JobRecord[] => {
    check();
    return [...jobs.values()];
  };
  const get = (key: string): JobRecord | undefined => {
    check();
    return jobs.get(key);
  };
  const close = (): void => {
    open = false;
  };
  const queries: StateQueries = {
    get,
    many: (keys) => knownOf(keys, get),
    unfinished: () =>
      records().filter((record) => ['submitting', 'running', 'modal', 'saving'].includes(record.status)),
    *withStatus(status, code) {
      yield* inKeyOrder(
        records().filter(
          (record) => record.status === status && (code === undefined || (record.error?.code ?? '') === code),
        ),
      );
    },
    keysOfSlots: (slots) =>
      knownOf(slots, (slot) => {
        const keys = records().flatMap(({ key, origin }) => (origin.slot === slot ? [key] : []));
        return keys.length === 0 ? undefined : keys;
      }),
    keysWithPrefix: (prefix, limit) =>
      inKeyOrder(records())
        .map((record) => record.key)
        .filter((key) => key.startsWith(prefix))
        .slice(0, limit),
    *mentioning(text) {
      yield* records().filter((record) => JSON.stringify(record).includes(JSON.stringify(text)));
    },
    *keysOfTask(taskId) {
      for (const entry of ofTask.get(taskId) ?? []) yield entry.key;
    },
    keysOfBurst: (taskId, at) =>
      (ofTask.get(taskId) ?? []).flatMap((entry) => (Math.abs(entry.at - at) < burstMs ? [entry.key] : [])),
    numbersOf: (keys) => {
      check();
      const numbers = new Map([...jobs.keys()].map((key, index) => [key, index + 1]));
      return knownOf(keys, (key) => numbers.get(key));
    },
    lastNumber: () => {
      check();
      return jobs.size;
    },
    *rootKeys() {
      yield* inKeyOrder(records().filter((record) => record.parent === undefined)).map(
        (record) => record.key,
      );
    },
    totals: () => recount(records()),
    stepSums: () => {
      const steps = new Map<string, JobRecord[]>();
      for (const record of records())
        steps.set(record.origin.step, [...(steps.get(record.origin.step) ?? []), record]);
      return [...steps].map(([step, ofStep]) => {
        const { jobs: counts, attempts, cost, possibleCost, tokens, assumedTokens } = recount(ofStep);
        const unanswered = ofStep.reduce((sum, { doubtful }) => sum + (doubtful?.count ?? 0), 0);
        const sums = { attempts, cost, possibleCost, tokens, assumedTokens, unanswered };
        return { step, jobs: ofStep.length, done: counts.done, ...sums };
      });
    },
    submissions: () => {
      check();
      return { known, counted };
    },
    attempts: (key) => {
      check();
      return history.filter((entry) => entry.key === key);
    },
    redoCounts: () => redos.counts(),
    redoEntries: (keys) => knownOf(keys, (key) => redos.all.get(key)),
    redosWaiting: (after) =>
      [...redos.all].flatMap(([key, { state }]) => (state === 'waiting' && key > after ? [key] : [])).sort(),
    inputFiles: (paths) => {
      check();
      return knownOf(paths, (path) => inputs.get(path));
    },
    fact: (name) => {
      check();
      return facts.get(name);
    },
    close,
  };
  const store: MemoryStore = {
    reader: readerOf(queries),
    get,
    unfinished: () => queries.unfinished(),
    withStatus: (status, code) => queries.withStatus(status, code),
    submissions: () => queries.submissions(),
    redoCounts: () => queries.redoCounts(),
    totals: () => queries.totals(),
    attempts: (key) => queries.attempts(key),
    claims: ({ taskId = '', submittedAt = 0 }) => ({
      keys: queries.keysOfBurst(taskId, submittedAt),
      mayGrow: false,
    }),
    redos,
    fact: (name) => queries.fact(name),
    inputFile: (path) => queries.inputFiles([path]).get(path),
    commit: (turn) => {
      check();
      if (turn.records.length + turn.attempts.length + (turn.submits ?? 0) > 0) facts.delete(fingerprintFact);
      for (const record of turn.records) jobs.set(record.key, copied(record));
      for (const attempt of turn.attempts.map(copied)) {
        history.push(attempt);
        const { taskId } = attempt;
        if (taskId !== undefined) ofTask.set(taskId, [...(ofTask.get(taskId) ?? []), attempt]);
      }
      for (const [key, state] of turn.redos ?? []) redos.change(key, state);
      replies.write();
      replies.onCommitted();
      known += turn.submits ?? 0;
      if (turn.sent !== undefined) facts.set(sentFact, turn.sent);
      for (const [name, value] of Object.entries(turn.facts ?? {})) facts.set(name, value);
      if (turn.invocation !== undefined) facts.set(invocationFact, String(turn.invocation));
    },
    keepReply: (job, reply) => {
      check();
      return replies.keep(job, reply);
    },
    makeRoom: () => false,
    releaseRoom: () => undefined,
    cutReplies: () => replies.cut(),
    commitSoon: (turn) => store.commit(turn),
    countSubmissions: () => {
      check();
      counted = Math.max(counted, known);
    },
    acceptMissing: () => {
      check();
      facts.delete(fingerprintFact);
      known = Math.max(counted, known);
    },
    setFact: (name, value) => {
      check();
      facts.set(name, value);
    },
    rememberInputFile: (file) => {
      check();
      facts.delete(fingerprintFact);
      inputs.set(file.path, { ...file });
    },
    close,
  };
  return store;
}

/** The totals of these records, counted one by one. */
export function recount(records: readonly JobRecord[]): StoreTotals {
  const jobs: Record<JobStatus, number> = { ...noJobs };
  const codes: Record<'failed' | 'in-doubt', Record<string, number>> = { failed: {}, 'in-doubt': {} };
  let attempts = 0;
  let cost = 0;
  let possible = 0;
  let tokens = 0;
  let assumedTokens = 0;
  for (const record of records) {
    jobs[record.status] += 1;
    attempts += record.attempts;
    cost += record.cost ?? 0;
    possible += (record.doubtful?.cost ?? 0) + (record.assumed?.cost ?? 0);
    assumedTokens += record.assumed?.tokens ?? 0;
    tokens += record.usage?.total ?? 0;
    const { status, error: { code = '' } = {} } = record;
    if (code !== '' && (status === 'failed' || status === 'in-doubt'))
      codes[status][code] = (codes[status][code] ?? 0) + 1;
  }
  const tidy = (amount: number): number => Number(amount.toPrecision(12));
  return { jobs, attempts, cost: tidy(cost), possibleCost: tidy(possible), tokens, assumedTokens, codes };
}

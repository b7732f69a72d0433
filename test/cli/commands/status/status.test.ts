import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { program } from '../../../../src/cli/program.ts';
import type { JobRecord } from '../../../../src/plan/job.ts';
import { limitsText } from '../../../../src/run/limits/learned-limits.ts';
import { PollPace } from '../../../../src/run/limits/polls.ts';
import { acquireLock } from '../../../../src/state/lock/lock.ts';
import { openState } from '../../../../src/state/state.ts';
import type { StateStore } from '../../../../src/state/store.ts';
import { imagineRecord } from '../../../rig/jobs.ts';
import { promptpress, testIo } from '../../test-io.ts';

let cwd: string;
let state: StateStore;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'promptpress-'));
  state = openState(cwd);
});
afterEach(async () => {
  state.close();
  await rm(cwd, { recursive: true, force: true });
});

const job = (key: string, step: string, changes: Partial<JobRecord>): JobRecord =>
  imagineRecord({
    key,
    origin: { cell: 1, step, branch: '', slot: key },
    attempts: 1,
    ...changes,
  });
const commit = (...records: readonly JobRecord[]): void => state.commit({ records, attempts: [] });

/** A run is on. */
const hold = (): (() => void) => {
  const lock = acquireLock(cwd, { pid: process.pid, host: 'here', startedAt: '', command: 'a test' });
  return () => lock.release();
};

/** Lets the watching process read and draw as often as it can without a timer. */
const settled = async (said: () => string): Promise<void> => {
  for (let before = ''; ; ) {
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    if (said() === before && before !== '') return;
    before = said();
  }
};

describe('promptpress status', () => {
  beforeEach(() => {
    commit(
      job('a', 'grid', { status: 'done', cost: 0.04 }),
      job('b', 'grid', { status: 'failed', error: { code: 'task.failed', message: 'no' }, attempts: 3 }),
      job('c', 'caption', { status: 'done', cost: 0.1, usage: { total: 1200 } }),
      job('d', 'best', { status: 'running', doubtful: { count: 1, cost: 0.04 } }),
    );
  });

  it('shows the cost of each step', async () => {
    const { code, out } = await promptpress(['status'], { cwd });
    expect(code).toBe(0);
    const lines = out.split('\n').map((line) => line.trim().replaceAll(/ {2,}/g, ' | '));
    const table = lines.slice(lines.indexOf('By step:') + 1, lines.indexOf('By step:') + 5);
    expect(table).toEqual([
      'step | jobs done | submissions | cost | possible | tokens | unanswered',
      'grid | 1 of 2 | 4 | 0.04',
      'caption | 1 of 1 | 1 | 0.10 | 1,200',
      'best | 0 of 1 | 1 | up to 0.04 more | 1',
    ]);
  });

  it('--json has the same by step, and fits its schema', async () => {
    const { out } = await promptpress(['status', '--json'], { cwd });
    const file = join(import.meta.dirname, '../../../../schemas/status.schema.json');
    const check = new Ajv2020({ strict: false, validateFormats: false }).compile(
      JSON.parse(await readFile(file, 'utf8')) as object,
    );
    const value = JSON.parse(out) as { steps: unknown };
    expect(check(value), JSON.stringify(check.errors)).toBe(true);
    expect(value.steps).toEqual([
      { step: 'grid', jobs: 2, done: 1, submits: 4, cost: 0.04, tokens: 0 },
      { step: 'caption', jobs: 1, done: 1, submits: 1, cost: 0.1, tokens: 1200 },
      { step: 'best', jobs: 1, done: 0, submits: 1, possibleCost: 0.04, tokens: 0, unanswered: 1 },
    ]);
  });
});

describe('promptpress status of jobs that were refused and put back', () => {
  const refused = (key: string, message: string, changes: Partial<JobRecord> = {}): JobRecord =>
    job(key, 'grid', {
      status: 'pending',
      putBack: true,
      error: { code: 'service.quota', message },
      ...changes,
    });

  it('counts them by kind and reason, ignoring details of equal refusals', async () => {
    const customId = 'MJ::JOB::pan_left::1::0f';
    commit(
      refused('a', 'quota of key 1 is used up'),
      refused('b', 'quota of key 2 is used up'),
      refused('c', 'no channel', {
        error: { code: 'service.no-channel', message: 'no channel' },
        pressed: { customId, label: '', emoji: '⬅️' },
        request: { kind: 'click', press: [], fields: {} },
      }),
      refused('d', 'no channel', { request: { kind: 'click', press: [], fields: {} } }),
      job('e', 'grid', { status: 'pending', error: { code: 'submit.refused', message: 'not put back' } }),
    );
    const { out } = await promptpress(['status'], { cwd });
    const lines = out.split('\n');
    const at = lines.indexOf('Refused and put back for a later run (nothing was paid), by kind and reason:');
    expect(lines.slice(at + 1, at + 4)).toEqual([
      '  2  imagine  service.quota  quota of key 1 is used up (and 1 other message)',
      '  1  pan  service.no-channel  no channel',
      '  1  grid  service.quota  no channel',
    ]);
    const json = JSON.parse((await promptpress(['status', '--json'], { cwd })).out) as { putBack: unknown };
    const file = join(import.meta.dirname, '../../../../schemas/status.schema.json');
    const check = new Ajv2020({ strict: false, validateFormats: false }).compile(
      JSON.parse(await readFile(file, 'utf8')) as object,
    );
    expect(check(json), JSON.stringify(check.errors)).toBe(true);
    expect(json.putBack).toHaveLength(3);
  });

  it('shows what the last run paid again', async () => {
    const facts = {
      filesRoot: cwd,
      tables: [],
      serviceId: 'one',
      selection: {},
      startedAt: 1000,
      atStart: { settled: 0, attempts: 0 },
      outcome: { finishedAt: 2000, end: { kind: 'complete' }, exitCode: 1, timedOutAgain: 6 },
    };
    state.setFact('run.last', JSON.stringify(facts));
    expect((await promptpress(['status'], { cwd })).out).toContain(
      '6 tasks timed out at the gateway and were paid again (links, double blanks,',
    );
    const json = JSON.parse((await promptpress(['status', '--json'], { cwd })).out) as object;
    expect(json).toMatchObject({ timedOutAgain: 6 });
  });
});

describe('what promptpress status shows of learned facts', () => {
  const section = 'How long tasks take here (run --relearn forgets it):';
  const schema = join(import.meta.dirname, '../../../../schemas/status.schema.json');

  it('is a line for each kind of task, and in --json its numbers', async () => {
    const pace = new PollPace({ minMs: 1000, maxMs: 15_000 });
    for (let n = 0; n < 30; n++) {
      const ageMs = 50_000 + n * 500;
      pace.learn({ name: 'imagine v6.1 fast', broader: 'imagine' }, ageMs, ageMs + 1000);
    }
    pace.learn({ name: 'click U fast', broader: 'click' }, 2000, 2100);
    state.setFact('learned.poll', pace.learned ?? '');
    const { out } = await promptpress(['status'], { cwd });
    const lines = out.slice(out.indexOf(section)).split('\n');
    expect(lines[1]).toMatch(/^ {2}imagine v6\.1 fast {2}\d\d s, mostly \d\d s to \d\d s, from 30 tasks$/);
    expect(lines[2]).toMatch(/^ {2}click U fast {7}2 s, mostly 2 s to 2 s, from 1 task$/);
    const json = JSON.parse((await promptpress(['status', '--json'], { cwd })).out) as { learned: unknown };
    const check = new Ajv2020({ strict: false, validateFormats: false }).compile(
      JSON.parse(await readFile(schema, 'utf8')) as object,
    );
    expect(check(json), JSON.stringify(check.errors)).toBe(true);
    expect(json.learned).toEqual({
      durations: [expect.objectContaining({ tasks: 30 }), expect.objectContaining({ tasks: 1 })],
    });
  });

  it('includes what the service accepts, if it has refused more', async () => {
    const lanes = { 'text-pro': 600, 'text-pro (chat)': 7.5 };
    const found = { atOnce: { 'text/text-pro': 2 }, byChance: { submit: 0.52, 'text/another': 0.3 } };
    const limits = { tasks: 8, perMinute: { submit: 59.4, poll: 1200 }, lanes, ...found };
    state.setFact('learned.limits', limitsText(limits));
    expect((await promptpress(['status'], { cwd })).out).toContain(
      [
        'What the service accepts (run --relearn forgets it):',
        '  8 tasks at a time fit; about 59 submissions a minute are served; half of the submissions are refused by chance: each refused job waits alone',
        '  about 1,200 polls of tasks a minute are served',
        '  2 at a time fit at text-pro; about 600 text calls of text-pro a minute are served',
        '  about 7.5 text calls of text-pro (chat) a minute are served',
        '  30 % of the text calls of another are refused by chance: each refused job waits alone',
      ].join('\n'),
    );
    const json = JSON.parse((await promptpress(['status', '--json'], { cwd })).out) as { learned: unknown };
    const check = new Ajv2020({ strict: false, validateFormats: false }).compile(
      JSON.parse(await readFile(schema, 'utf8')) as object,
    );
    expect(check(json), JSON.stringify(check.errors)).toBe(true);
    expect(json.learned).toEqual({ durations: [], limits });
  });

  it('includes no limits if it has refused nothing', async () => {
    state.setFact('learned.limits', limitsText({ perMinute: {} }));
    expect(JSON.parse((await promptpress(['status', '--json'], { cwd })).out)).not.toHaveProperty('learned');
  });

  it.each(['', 'damaged', '{"version":1,"content":{"kinds":[]}}'])('is empty for %j', async (text) => {
    state.setFact('learned.poll', text);
    expect((await promptpress(['status'], { cwd })).out).not.toContain(section);
    expect(JSON.parse((await promptpress(['status', '--json'], { cwd })).out)).not.toHaveProperty('learned');
  });
});

describe('promptpress status --watch', () => {
  const terminal = { columns: () => 60, rows: () => 24, unicode: true };

  it('redraws until the run ends, then prints the status as usual', async () => {
    commit(job('a', 'grid', { status: 'running' }), job('b', 'grid', { status: 'pending' }));
    const release = hold();
    const test = testIo({ cwd, terminal });
    const watching = program(['status', '--watch'], test.io);
    await settled(test.err);
    expect([test.out(), test.err()]).toEqual(['', expect.stringContaining('1 under way, 1 waiting')]);
    const before = test.err().length;
    commit(job('a', 'grid', { status: 'done' }));
    test.tick();
    await settled(test.err);
    const frame = test.err().slice(before);
    const steered = frame.split('\u001b');
    expect([steered[0], steered[1]]).toEqual(['', expect.stringMatching(/^\[\d+A\r/)]);
    expect(frame).toContain('1 done, 1 waiting');
    for (const line of frame.split('\n')) expect(line.replaceAll('\u001b[K', '').length).toBeLessThan(60);
    release();
    test.tick();
    expect(await watching).toBe(0);
    const once = await promptpress(['status'], { cwd });
    expect(test.out()).toBe(once.out);
    // Nothing of the view is left above what is printed.
    expect(test.err().endsWith('\u001b[J')).toBe(true);
  });

  it('without a terminal writes a line with the time whenever the counts have changed', async () => {
    commit(job('a', 'grid', { status: 'running', cost: 0.5 }), job('b', 'grid', { status: 'pending' }));
    const release = hold();
    const test = testIo({ cwd, now: () => Date.UTC(2026, 10, 3, 9, 30) });
    const watching = program(['status', '--watch', '--json'], test.io);
    await settled(test.err);
    test.tick();
    await settled(test.err);
    commit(job('a', 'grid', { status: 'done', cost: 0.5 }));
    test.tick();
    await settled(test.err);
    expect(test.err()).toBe(
      '2026-11-03T09:30:00.000Z 0 done, 1 under way, 1 waiting for their turn; cost 0.50\n' +
        '2026-11-03T09:30:00.000Z 1 done, 1 waiting for their turn; cost 0.50\n',
    );
    release();
    test.tick();
    expect(await watching).toBe(0);
    expect(JSON.parse(test.out())).toMatchObject({ running: false, jobs: { done: 1, pending: 1 } });
  });

  it('ends with Ctrl-C as interrupted, with the status of that moment', async () => {
    commit(job('a', 'grid', { status: 'running' }));
    const release = hold();
    const test = testIo({ cwd, terminal });
    const watching = program(['status', '--watch'], test.io);
    await settled(test.err);
    test.interrupt();
    expect(await watching).toBe(130);
    expect(test.out()).toContain('1 under way');
    release();
  });

  it('ends at once if no run is active', async () => {
    commit(job('a', 'grid', { status: 'done' }));
    const watched = await promptpress(['status', '--watch'], { cwd });
    expect(watched).toEqual(await promptpress(['status'], { cwd }));
    expect(watched.code).toBe(0);
    // Ctrl-C as the run ends ends nothing any more.
    const test = testIo({ cwd });
    test.interrupt();
    expect(await program(['status', '--watch'], test.io)).toBe(0);
  });
});

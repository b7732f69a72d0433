import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Attempt, JobRecord } from '../../../src/plan/job.ts';
import type { JobReport } from '../../../src/report/text/job/job.ts';
import { bindDirectory } from '../../../src/state/binding.ts';
import { acquireLock } from '../../../src/state/lock/lock.ts';
import { openState, openStateForReading } from '../../../src/state/state.ts';
import { textRecord } from '../../rig/jobs.ts';
import { markAsOwn } from '../../rig/state-home.ts';
import { jobRecord } from '../../state/records.ts';
import { promptpress, type Said } from '../test-io.ts';

const text = `name: foxes
prices: { imagine: 0.5, "U*": 0.25 }
matrix:
  animal: [fox, owl]
steps:
  grid:
    imagine: "{{ animal }}"
    path: U1
`;

const sentAt = Date.parse('2026-11-01T12:00:00.000Z');
const now = Date.parse('2026-11-01T13:00:00.000Z');
const lost = { code: 'connection.lost' as const, message: 'no answer', requestId: 'req-7' };

const grid = jobRecord('aaaa1111', 'done', {
  request: { kind: 'imagine', fields: { prompt: 'a fox \u001b[31mred' } },
  origin: { cell: 1, step: 'grid', branch: '', slot: 'slot-1' },
  attempts: 1,
  taskId: 'task-1',
  submittedAt: sentAt,
  finishedAt: sentAt + 60_000,
  speed: 'relax',
  cost: 0.5,
  result: {
    imageUrl: 'https://img.example/1.png',
    buttons: [{ customId: 'c::U1', label: 'U1', emoji: '' }],
  },
  artifacts: [
    {
      output: 1,
      file: 'images/aa/aaaa1111-1.png',
      bytes: 2048,
      sha256: 'f00d',
      mime: 'image/png',
      width: 64,
      height: 64,
    },
  ],
});
const upscale = jobRecord('bbbb2222', 'in-doubt', {
  kind: 'click',
  request: { kind: 'click', press: [{ kind: 'text', text: 'U1' }], fields: {} },
  parent: grid.key,
  origin: { cell: 1, step: 'grid', branch: 'U1', slot: 'slot-2' },
  attempts: 1,
  pressed: { customId: 'c::U1', label: 'U1', emoji: '' },
  submittedAt: sentAt,
  finishedAt: sentAt + 1000,
  error: lost,
});
const killed = jobRecord('bbbb3333', 'submitting', { attempts: 1, submittedAt: sentAt });
const history: readonly Attempt[] = [
  { key: grid.key, at: sentAt, outcome: 'accepted', taskId: 'task-1' },
  { key: upscale.key, at: sentAt, outcome: 'lost', error: lost },
];

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'promptpress-'));
  await writeFile(join(cwd, 'foxes.yaml'), text);
  await fill(runs('foxes'), [grid, upscale, killed], history);
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

const runs = (name: string): string => join(cwd, 'runs', name);

/** A run directory as a run leaves it. */
async function fill(
  directory: string,
  records: readonly JobRecord[],
  attempts: readonly Attempt[],
  facts: Record<string, unknown> = {},
): Promise<void> {
  const state = openState(directory);
  await bindDirectory(state, directory, { file: join(cwd, 'foxes.yaml'), text });
  state.setFact(
    'run.last',
    JSON.stringify({
      filesRoot: cwd,
      tables: [],
      serviceId: 'https://gateway.example',
      selection: { limit: 2 },
      startedAt: sentAt,
      atStart: { settled: 0, attempts: 0 },
      ...facts,
    }),
  );
  state.commit({ records, attempts });
  markAsOwn(state);
  state.close();
}

async function read(
  key: string,
  name = 'foxes',
): Promise<{ record: JobRecord | undefined; history: readonly Attempt[] }> {
  const state = openStateForReading(runs(name));
  try {
    return { record: await state?.get(key), history: (await state?.attempts(key)) ?? [] };
  } finally {
    await state?.close();
  }
}

const pp = (...args: readonly string[]): Promise<Said> => promptpress(args, { cwd, now: () => now });

async function story(key: string): Promise<JobReport> {
  const { code, out, err } = await pp('show', key, '--json');
  expect(code, err).toBe(0);
  return JSON.parse(out) as JobReport;
}

describe('promptpress show', () => {
  it('shows request, response, files, parents and children of a job', async () => {
    const { code, out } = await pp('show', 'aaaa');
    expect(code).toBe(0);
    expect(out).toContain('aaaa1111 in runs/foxes: done');
    expect(out).toMatch(/asked by +cell 1, grid; new/);
    expect(out).toMatch(/prompt +a fox .*red/);
    expect(out).toMatch(/leads to +bbbb2222 {2}cell 1, grid\/U1: in doubt/);
    expect(out).toMatch(/task +task-1/);
    expect(out).toMatch(/file +images\/aa\/aaaa1111-1\.png {2}2\.0 kB, 64×64, image\/png\n +sha256 f00d/);
    expect(out).toContain('2026-11-01T12:00:00.000Z  accepted: task task-1');
    expect(out).toContain('promptpress run foxes.yaml --limit 2 --redo aaaa1111');
    expect(out.split('').filter((character) => character < ' ' && character !== '\n')).toEqual([]);
  });

  it('shows the facts about a job in doubt, and how to settle it', async () => {
    const { out } = await pp('show', 'bbbb2222', 'runs/foxes');
    expect(out).toContain('in doubt (connection.lost)');
    expect(out).toMatch(/continues +aaaa1111 {2}cell 1, grid: done, task task-1/);
    expect(out).toMatch(/asks for +a click on U1\n +pressed +U1 \(c::U1\)\n +prompt +a fox/);
    expect(out).toContain('no response came: connection.lost: no answer (request id req-7)');
    for (const flag of ['--task TASK_ID', '--retry', '--drop'])
      expect(out).toContain(`promptpress resolve bbbb2222 runs/foxes ${flag}`);
  });

  it('treats a job that a killed run was submitting as in doubt, unless a run is active', async () => {
    expect(await story('bbbb3333')).toMatchObject({
      status: 'submitting',
      inDoubt: true,
      history: [{ at: '2026-11-01T12:00:00.000Z', outcome: 'unanswered' }],
    });
    const lock = acquireLock(runs('foxes'), { pid: 7, host: 'h', startedAt: '' });
    try {
      expect(await story('bbbb3333')).toMatchObject({ inDoubt: false, running: true });
    } finally {
      lock.release();
    }
  });

  it('shows what a changed slot asked for before', async () => {
    const changed = jobRecord('cccc4444', 'failed', {
      origin: grid.origin,
      error: { code: 'task.moderated', message: 'banned' },
    });
    await fill(runs('foxes'), [changed], []);
    const report = await story('cccc4444');
    expect(report).toMatchObject({
      asked: { reason: 'changed', replaces: 'aaaa1111' },
      advice: expect.stringContaining('change it in the pipeline') as string,
    });
    expect(report.next.map(({ command }) => command)).toEqual([
      'promptpress run foxes.yaml --limit 2 --redo cccc4444',
    ]);
  });

  it.each(['aaaa1111', 'bbbb2222', 'bbbb3333'])('--json fits its schema: %s', async (key) => {
    const { out } = await pp('show', key, '--json');
    const schema: object = JSON.parse(
      await readFile(join(import.meta.dirname, '../../../schemas/show.schema.json'), 'utf8'),
    );
    const check = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
    expect(check(JSON.parse(out)), JSON.stringify(check.errors)).toBe(true);
  });

  it('finds the run by itself: the current folder, or the run under runs/ that has the job', async () => {
    await fill(runs('foxes.sandbox'), [jobRecord('dddd5555', 'done')], [], { serviceId: 'sandbox' });
    await mkdir(runs('something else'));
    expect((await pp('show', 'aaaa')).out).toContain('in runs/foxes:');
    expect((await pp('show', 'dddd')).out).toContain('promptpress run foxes.yaml --sandbox --limit 2 --redo');
    const inside = await promptpress(['show', 'aaaa'], { cwd: runs('foxes') });
    expect([inside.code, inside.err]).toEqual([0, '']);
    expect((await pp('show', 'dddd', 'foxes.yaml', '--sandbox')).code).toBe(0);

    await fill(runs('copy'), [grid], []);
    const { code, err } = await pp('show', 'aaaa');
    expect(code).toBe(2);
    expect(err).toContain('runs/copy, runs/foxes');
    expect((await pp('show', 'aaaa', 'runs/copy')).out).toContain('--out runs/copy');
  });

  it.each([
    [['show'], 'needs JOB [FILE|DIR]'],
    [['show', 'bbbb'], 'begin with "bbbb": bbbb2222, bbbb3333'],
    [['show', 'eeee'], 'No job has the key "eeee"'],
    [['show', 'aaa'], 'too short'],
    [['show', 'aaaa', 'runs'], 'There is no run in runs'],
    [['show', 'aaaa', '--sandbox'], 'no file is named'],
    [['resolve', 'bbbb2222', '--drop', '--out', 'x'], 'no file is named'],
    [['resolve', 'bbbb2222'], 'one of --task ID, --drop, --retry'],
    [['resolve', 'bbbb2222', '--drop', '--retry'], 'contradict'],
    [['resolve', 'bbbb2222', '--task', 'a,b'], 'no white space and no comma'],
    [['resolve', 'bbbb2222', '--task', '..'], 'id of one task'],
    [['resolve', 'bbbb2222', '--task', 'task-1'], 'belongs to another job: aaaa1111 (cell 1, grid)'],
    [['resolve', 'aaaa1111', '--drop'], 'not in doubt, but done'],
  ])('%j is refused with exit 2, and changes nothing', async (args, message) => {
    const { code, out, err } = await pp(...args);
    expect([code, out], err).toEqual([2, '']);
    expect(err).toContain(message);
    expect(await read(upscale.key)).toEqual({ record: upscale, history: [history[1]] });
  });

  it('--task is refused for a task that another job waits with, or once had', async () => {
    const waits = jobRecord('cccc1111', 'running', {
      taskId: 'task-9',
      modal: { taskId: 'task-8', sent: 1, accepted: true },
    });
    const past = { key: grid.key, at: sentAt, outcome: 'accepted', taskId: 'task-0' };
    await fill(runs('foxes'), [waits], [past]);
    for (const [id, owner] of [
      ['task-8', 'cccc1111'],
      ['task-0', 'aaaa1111'],
    ] as const) {
      const { code, err } = await pp('resolve', 'bbbb2222', '--task', id);
      expect([code, err]).toEqual([2, expect.stringContaining(`belongs to another job: ${owner}`)]);
    }
  });

  it('without any run says how to name one', async () => {
    await rm(runs('foxes'), { recursive: true });
    const { code, err } = await pp('show', 'aaaa');
    expect(code).toBe(2);
    expect(err).toContain('There is no run under runs/');
  });
});

describe('promptpress resolve', () => {
  it('--task adopts the task: the job is running and paid, with the decision in its history', async () => {
    const { code, out } = await pp('resolve', 'bbbb2222', '--task', ' 1762000000000123 ');
    expect(code).toBe(0);
    expect(out).toContain('has task 1762000000000123 now');
    expect(out).toContain('\n  promptpress run foxes.yaml --limit 2\n');
    const { error: _error, finishedAt: _finishedAt, ...kept } = upscale;
    expect(await read(upscale.key)).toEqual({
      record: {
        ...kept,
        status: 'running',
        taskId: '1762000000000123',
        claimed: true,
        cost: 0.25,
        named: { error: upscale.error },
      },
      history: [
        history[1],
        { key: upscale.key, at: now, outcome: 'user.adopted', taskId: '1762000000000123' },
      ],
    });
    expect((await pp('show', 'bbbb2222')).out).toContain('you adopted its task: task 1762000000000123');
    expect((await pp('resolve', 'bbbb2222', '--drop')).code).toBe(2);
  });

  it('--task takes a task that only this job had, and none for a text call', async () => {
    const past = { key: upscale.key, at: sentAt, outcome: 'accepted', taskId: 'task-7' } as const;
    const asked = textRecord({ key: 'dddd5555', status: 'in-doubt', attempts: 1 });
    await fill(runs('foxes'), [asked], [past]);
    expect((await pp('resolve', 'bbbb2222', '--task', 'task-7')).code).toBe(0);
    expect((await read(upscale.key)).record).toMatchObject({ status: 'running', taskId: 'task-7' });
    const { code, err } = await pp('resolve', 'dddd5555', '--task', 'task-6');
    expect([code, err]).toEqual([2, expect.stringContaining('is a text call, which has no task')]);
    expect((await pp('resolve', 'dddd5555', '--retry')).code).toBe(0);
  });

  it('settles nothing in a state that is older than its run', async () => {
    const startedAt = new Date(sentAt + 60_000).toISOString();
    await writeFile(join(runs('foxes'), 'run.json'), JSON.stringify({ startedAt }));
    const { code, err } = await pp('resolve', 'bbbb2222', '--drop');
    expect([code, err]).toEqual([74, expect.stringContaining(`the run that began at ${startedAt}`)]);
    expect((await read(upscale.key)).record).toEqual(upscale);
  });

  it('--drop gives the job up, and keeps its facts', async () => {
    expect((await pp('resolve', 'bbbb2222', '--drop')).code).toBe(0);
    expect(await read(upscale.key)).toMatchObject({
      record: {
        status: 'failed',
        finishedAt: now,
        error: {
          code: 'job.dropped',
          message: expect.stringContaining('no answer') as string,
          requestId: 'req-7',
        },
      },
      history: [{ outcome: 'lost' }, { at: now, outcome: 'user.dropped' }],
    });
  });

  it('--retry makes the job pending, and still counts its submissions', async () => {
    expect((await pp('resolve', 'bbbb2222', '--retry')).code).toBe(0);
    const { record } = await read(upscale.key);
    expect(record).toMatchObject({ status: 'pending', attempts: 1, parent: 'aaaa1111' });
    for (const name of ['error', 'pressed', 'submittedAt', 'finishedAt', 'taskId'])
      expect(record).not.toHaveProperty(name);
  });

  describe('of several submissions that may have been paid', () => {
    const unsure: JobRecord = { ...upscale, attempts: 3, doubtful: { count: 3, cost: 0.75, since: sentAt } };
    beforeEach(() => fill(runs('foxes'), [unsure], []));

    it.each([
      ['--task', ['--task', '1762000000000123'], { cost: 0.25, doubtful: { count: 2, cost: 0.5 } }],
      ['--drop', ['--drop'], { doubtful: unsure.doubtful }],
      ['--retry', ['--retry'], { doubtful: { count: 3, cost: 0.75 } }],
    ])('%s settles at most one of them', async (_, flags, report) => {
      expect((await pp('resolve', 'bbbb2222', ...flags)).code).toBe(0);
      const { record } = await read(upscale.key);
      const { cost, doubtful } = record ?? {};
      expect({ ...(cost !== undefined && { cost }), doubtful }).toEqual(report);
    });

    it('status and show count it apart from what was paid', async () => {
      const { out } = await pp('status', 'runs/foxes');
      expect(out).toContain('cost 0.50, up to 0.75 more for submissions without a response');
      const status: unknown = JSON.parse((await pp('status', 'runs/foxes', '--json')).out);
      expect(status).toMatchObject({ cost: 0.5, possibleCost: 0.75 });
      const schema: object = JSON.parse(
        await readFile(join(import.meta.dirname, '../../../schemas/status.schema.json'), 'utf8'),
      );
      const check = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
      expect(check(status), JSON.stringify(check.errors)).toBe(true);
      expect((await story('bbbb2222')).doubtful).toEqual({ count: 3, cost: 0.75 });
      expect((await pp('show', 'bbbb2222')).out).toContain(
        '3 submissions without a response, which may have cost 0.75',
      );
    });
  });

  it('counts what a killed run may have paid', async () => {
    expect((await pp('resolve', 'bbbb3333', '--drop')).code).toBe(0);
    expect((await read(killed.key)).record).toMatchObject({
      status: 'failed',
      doubtful: { count: 1, cost: 0.5, since: sentAt },
    });
  });

  it('settles a job that a killed run was submitting, and keeps its time', async () => {
    expect((await pp('resolve', 'bbbb3333', '--retry')).code).toBe(0);
    expect(await read(killed.key)).toMatchObject({
      record: { status: 'pending' },
      history: [
        { at: sentAt, outcome: 'unanswered', error: { code: 'submit.interrupted' } },
        { at: now, outcome: 'user.retry' },
      ],
    });
  });

  it('is refused with exit 75 during a run, and ignores a lock that nobody holds', async () => {
    const lock = acquireLock(runs('foxes'), { pid: 7, host: 'h', startedAt: '' });
    const held = await pp('resolve', 'bbbb2222', '--drop');
    lock.release();
    expect(held.code, held.err).toBe(75);
    expect((await read(upscale.key)).record).toEqual(upscale);
    expect((await pp('resolve', 'bbbb2222', '--drop')).code).toBe(0);
    expect((await pp('status', 'runs/foxes', '--json')).out).toContain('"running":false');
  });

  it('status names the jobs in doubt, those of a killed run too, with the commands', async () => {
    const { out } = await pp('status', 'runs/foxes');
    expect(out).toContain('In doubt (2 jobs):');
    expect(out).toContain('bbbb3333');
    expect(out).toContain('promptpress show bbbb2222 runs/foxes');
    expect(out).toContain('promptpress resolve bbbb2222 runs/foxes --task TASK_ID | --retry | --drop');
  });
});

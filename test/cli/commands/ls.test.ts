import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findRunDirectories } from '../../../src/app/workspace/run-directories.ts';
import type { JobStatus } from '../../../src/plan/job.ts';
import { bindDirectory } from '../../../src/state/binding.ts';
import { openState } from '../../../src/state/state.ts';
import { imagineRecord } from '../../rig/jobs.ts';
import { promptpress, type Said } from '../test-io.ts';

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'promptpress-'));
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

const pp = (...args: readonly string[]): Promise<Said> => promptpress(args, { cwd });
const at = Date.UTC(2026, 10, 3, 9, 30);

/** A run directory as a run leaves it whose jobs ended in these ways. */
async function run(
  folder: string,
  name: string,
  statuses: readonly JobStatus[],
  exitCode?: number,
): Promise<void> {
  const directory = join(cwd, folder, 'runs', name);
  await mkdir(directory, { recursive: true });
  const state = openState(directory);
  await bindDirectory(state, directory, {
    file: join(cwd, folder, `${name}.yaml`),
    text: `# a set\nname: ${name}\nsteps: { grid: { imagine: fox } }\n`,
  });
  state.commit({
    records: statuses.map((status, index) => ({
      ...imagineRecord({ key: `${name}-${index}`, status, attempts: 1 }),
      ...(status === 'done' ? { cost: 0.5 } : {}),
      ...(status === 'failed' ? { error: { code: 'task.failed', message: 'no' } } : {}),
    })),
    attempts: [],
  });
  const outcome =
    exitCode === undefined
      ? {}
      : { outcome: { finishedAt: at + 60_000, end: { kind: 'complete' }, exitCode } };
  state.setFact(
    'run.last',
    JSON.stringify({
      filesRoot: cwd,
      tables: [],
      serviceId: 'sandbox',
      selection: {},
      startedAt: at,
      atStart: { settled: 0, attempts: 0 },
      ...outcome,
    }),
  );
  state.close();
}

async function listed(...args: readonly string[]): Promise<readonly Record<string, unknown>[]> {
  const { code, out, err } = await pp('ls', ...args, '--json');
  expect(code, err).toBe(0);
  const file = join(import.meta.dirname, '../../../schemas/ls.schema.json');
  const check = new Ajv2020({ strict: false, validateFormats: false }).compile(
    JSON.parse(await readFile(file, 'utf8')) as object,
  );
  const value = JSON.parse(out) as { runs: Record<string, unknown>[]; truncated: boolean };
  expect(check(value), JSON.stringify(check.errors)).toBe(true);
  expect(value.truncated).toBe(false);
  return value.runs;
}

describe('promptpress ls', () => {
  it('lists the runs in a folder and below it: pipeline, state, jobs, cost and time', async () => {
    await run('sets/one', 'foxes', ['done', 'done', 'done'], 0);
    await run('sets/two', 'owls', ['done', 'failed', 'pending'], 1);
    await run('sets/two', 'hares', ['running']);
    const { code, out } = await pp('ls');
    expect(code).toBe(0);
    expect(out.split('\n').map((line) => line.replaceAll(/ +/g, ' '))).toEqual([
      'directory pipeline state done failed to do cost last run (UTC)',
      'sets/one/runs/foxes foxes complete 3 1.50 2026-11-03 09:30',
      'sets/two/runs/hares hares killed 0 1 2026-11-03 09:30',
      'sets/two/runs/owls owls failures 1 1 1 0.50 2026-11-03 09:30',
      '3 runs, cost 2.00',
      '',
    ]);
    const [, , third, ...more] = await listed();
    expect(more).toEqual([]);
    expect(third).toEqual({
      directory: 'sets/two/runs/owls',
      name: 'owls',
      file: 'sets/two/owls.yaml',
      state: 'failures',
      startedAt: '2026-11-03T09:30:00.000Z',
      finishedAt: '2026-11-03T09:31:00.000Z',
      exitCode: 1,
      jobs: { done: 1, failed: 1, inDoubt: 0, open: 1, skipped: 0, accepted: 0 },
      submits: 3,
      cost: 0.5,
      tokens: 0,
    });
    expect((await listed('sets/one')).map(({ directory }) => directory)).toEqual(['sets/one/runs/foxes']);
    expect((await listed('sets/one/runs/foxes')).map(({ name }) => name)).toEqual(['foxes']);
  });

  it('counts as many to do as there are open jobs, where the plan has fewer', async () => {
    const open = Array.from({ length: 7 }, () => 'pending' as const);
    for (const [name, total] of [
      ['fewer', 10],
      ['more', 20],
    ] as const) {
      await run('sets', name, open);
      const state = openState(join(cwd, 'sets/runs', name));
      const planned = { startedAt: at, total, settled: 4, slotsPerJob: 1, jobs: 0 };
      state.setFact('run.planned', JSON.stringify(planned));
      state.close();
    }
    const lines = (await pp('ls', 'sets')).out.split('\n').map((line) => line.replaceAll(/ +/g, ' '));
    expect(lines.slice(1, 3)).toEqual([
      'sets/runs/fewer fewer killed 0 7 (40 % done) 2026-11-03 09:30',
      'sets/runs/more more killed 0 16 (20 % done) 2026-11-03 09:30',
    ]);
  });

  it('lists a damaged state with the reason, and the others as usual', async () => {
    await run('a', 'foxes', ['done'], 0);
    await mkdir(join(cwd, 'b/runs/owls'), { recursive: true });
    await writeFile(join(cwd, 'b/runs/owls/state.db'), 'no database at all'.repeat(400));
    await mkdir(join(cwd, 'c/runs/empty'), { recursive: true });
    await writeFile(join(cwd, 'c/runs/empty/state.db'), '');
    await mkdir(join(cwd, 'd'));
    await symlink('/etc/passwd', join(cwd, 'd/state.db'));
    const runs = await listed();
    expect(runs.map(({ directory, name, problem }) => [directory, name ?? typeof problem])).toEqual([
      ['a/runs/foxes', 'foxes'],
      ['b/runs/owls', 'string'],
      ['d', 'string'],
    ]);
    const { out } = await pp('ls');
    expect(out).toContain('b/runs/owls: ');
    expect(out).toContain('3 runs, cost 0.50\n');
  });

  it('does not follow links, and searches neither run directories nor hidden folders', async () => {
    const states = ['runs/a', 'runs/a/images/b', '.cache/c', 'node_modules/d', 'x/y/e'];
    for (const place of states) {
      await mkdir(join(cwd, place), { recursive: true });
      await writeFile(join(cwd, place, 'state.db'), '');
    }
    await symlink(join(cwd, 'x'), join(cwd, 'link'));
    const { directories, truncated } = await findRunDirectories(cwd);
    expect([directories.map((one) => one.slice(cwd.length + 1)), truncated]).toEqual([
      ['runs/a', 'x/y/e'],
      false,
    ]);
  });

  it.each([
    [{ runs: 1 }, 1],
    [{ folders: 2 }, 0],
    [{ entries: 1 }, 0],
    [{ depth: 1 }, 0],
  ])('ends at the bound %j and says so', async (bound, most) => {
    for (const place of ['a/runs/one', 'b/runs/two']) {
      await mkdir(join(cwd, place), { recursive: true });
      await writeFile(join(cwd, place, 'state.db'), '');
    }
    const bounds = { folders: 100, entries: 100, runs: 100, depth: 5, ...bound };
    const { directories, truncated } = await findRunDirectories(cwd, bounds);
    expect(truncated).toBe(true);
    expect(directories.length).toBeLessThanOrEqual(most);
  });

  it('finds all runs within an exact bound without a message', async () => {
    for (const place of ['a/runs/one', 'b/runs/two']) {
      await mkdir(join(cwd, place), { recursive: true });
      await writeFile(join(cwd, place, 'state.db'), '');
    }
    // Seven folders with six names before the states, the lowest three below the first.
    const { directories, truncated } = await findRunDirectories(cwd, {
      folders: 7,
      entries: 7,
      runs: 2,
      depth: 3,
    });
    expect([directories.length, truncated]).toEqual([2, false]);
  });

  it('says that there is no run, and refuses what is not a folder', async () => {
    expect(await pp('ls')).toEqual({ code: 0, out: 'There is no run in . or below it.\n', err: '' });
    await writeFile(join(cwd, 'file'), '');
    expect(await pp('ls', 'file')).toMatchObject({ code: 2, err: expect.stringContaining('file is a file') });
    expect(await pp('ls', 'gone')).toMatchObject({ code: 2, err: 'promptpress: There is no folder gone.\n' });
  });
});

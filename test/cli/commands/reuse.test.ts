import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { appendFile, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Artifact, JobRecord } from '../../../src/plan/job.ts';
import type { ReplyPlace } from '../../../src/plan/job-request.ts';
import { acquireLock } from '../../../src/state/lock/lock.ts';
import { sqliteDriver } from '../../../src/state/sqlite/driver.ts';
import { openState } from '../../../src/state/state.ts';
import type { ManifestRow } from '../../rig/manifest.ts';
import { useQuickSandbox } from '../../rig/quick-sandbox.ts';
import { replaceFs, systemError } from '../../rig/replace-fs.ts';
import { promptpress, type Said } from '../test-io.ts';
import { quickHead, useRunFolder } from './run-folder.ts';

useQuickSandbox();

const place = useRunFolder();
const { say, run, rowsOf } = place;
let cwd: string;
beforeEach(() => {
  cwd = place.cwd;
});

const grid = `  grid: { imagine: "a fox --seed {{ seed }}", path: U1, grid: split }\n`;
const caption = `  caption: { from: grid/U1, generate: { model: text-pro, prompt: "Caption {{ seed }}.", images: [parent] } }\n`;
const foxes = (cells: number, name = 'foxes', steps = `${grid}${caption}`): string =>
  `name: ${name}\nmatrix: { seed: { from: 1, to: ${cells} } }\n${quickHead}steps:\n${steps}`;

/** Columns that say what a job took, and where it was paid. */
const isOfPayment = (name: string): boolean =>
  ['attempts', 'cost', 'reused_from'].includes(name) || name.endsWith('_tokens');

const results = (rows: readonly ManifestRow[]): unknown =>
  rows.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => !isOfPayment(name))));

describe('run --reuse', () => {
  it('takes over all jobs of a renamed pipeline, and sends nothing', async () => {
    await writeFile(join(cwd, 'foxes.yaml'), foxes(3));
    await run('foxes.yaml', 'runs/foxes');
    await writeFile(join(cwd, 'renamed.yaml'), foxes(3, 'renamed'));
    const planned = JSON.parse(
      (await say('plan', 'renamed.yaml', '--out', 'other/renamed', '--reuse', 'runs/foxes', '--json')).out,
    );
    expect(planned).toMatchObject({ total: { submits: 0, done: 9 }, reuse: { jobs: 9, unpriced: 0 } });

    const { submits, said } = await run('renamed.yaml', 'other/renamed', '--reuse', 'runs/foxes');
    expect(said.err).toContain('Taken over from runs/foxes: 9 jobs with 18 files');
    expect(submits).toBe(0);
    const [first, second] = [await rowsOf('runs/foxes'), await rowsOf('other/renamed')];
    expect(results(second)).toEqual(results(first));
    for (const row of second)
      expect(row).toMatchObject({
        reused_from: '../../runs/foxes',
        cost: '',
        total_tokens: '',
        attempts: '0',
      });
    const [{ job = '' } = {}] = second;
    expect((await say('show', job, 'other/renamed')).out).toMatch(
      /^ +reused from +\.\.\/\.\.\/runs\/foxes$/m,
    );
    expect(JSON.parse((await say('show', job, 'other/renamed', '--json')).out)).toMatchObject({
      reusedFrom: '../../runs/foxes',
    });
    const checked = await say('verify', 'other/renamed');
    expect([checked.code, checked.out]).toEqual([0, expect.not.stringContaining('no job names')]);
    expect((await run('renamed.yaml', 'other/renamed')).submits).toBe(0);
  });

  it('costs nothing where a directory is moved, or one file is split into two, and takes the first of several directories', async () => {
    await writeFile(join(cwd, 'foxes.yaml'), foxes(2));
    await run('foxes.yaml', 'a');
    await run('foxes.yaml', 'b');
    await mkdir(join(cwd, 'elsewhere'));
    await rename(join(cwd, 'a'), join(cwd, 'elsewhere/a'));
    await writeFile(join(cwd, 'grids.yaml'), foxes(2, 'grids', grid));
    await writeFile(join(cwd, 'words.yaml'), foxes(2, 'words'));
    const grids = await run('grids.yaml', 'grids', '--reuse', 'elsewhere/a', '--reuse', 'b');
    const words = await run(
      'words.yaml',
      'words',
      '--reuse',
      'grids',
      '--reuse',
      'b',
      '--reuse',
      'elsewhere/a',
    );
    expect([grids.submits, words.submits]).toEqual([0, 0]);
    const tasks = (rows: readonly ManifestRow[]) => rows.map(({ sha256, task_id }) => [sha256, task_id]);
    expect(tasks(await rowsOf('words'))).toEqual(tasks(await rowsOf('elsewhere/a')));
    const from = (await rowsOf('words')).map(({ step, reused_from }) => `${step} ${reused_from}`);
    // The captions of b are those of other pictures.
    expect(new Set(from)).toEqual(new Set(['grid ../grids', 'caption ../elsewhere/a']));
  });

  it('counts in no budget and in no sum, and what is edited is paid here', async () => {
    await writeFile(join(cwd, 'foxes.yaml'), foxes(2));
    expect((await run('foxes.yaml', 'a')).cost).toBeGreaterThan(1);
    await writeFile(join(cwd, 'more.yaml'), `${foxes(3)}budget: { submits: 3, cost: 2, ask: 1 }\n`);
    const planned = await say('plan', 'more.yaml', '--out', 'b', '--reuse', 'a');
    expect(planned.out).toContain('3 submissions');
    expect(planned.out).toMatch(
      /Taken over from other runs \(--reuse\): 6 jobs, which saves cost [\d.]+ and about [\d,]+ tokens/,
    );
    const { submits, cost } = await run('more.yaml', 'b', '--reuse', 'a');
    expect(submits).toBe(3);
    expect(cost).toBeLessThan(1);
    expect(JSON.parse((await say('status', 'b', '--json')).out)).toMatchObject({ cost, jobs: { done: 9 } });
    expect((await say('verify', 'b')).code).toBe(0);
  });

  it('exports the same data set', async () => {
    await writeFile(join(cwd, 'foxes.yaml'), foxes(2));
    await run('foxes.yaml', 'a');
    await run('foxes.yaml', 'b', '--reuse', 'a');
    const [one, other] = await Promise.all(
      ['a', 'b'].map(async (name) => {
        const { code, err } = await say('export', name, '--format', 'jsonl', '--to', `set-${name}`);
        expect(code, err).toBe(0);
        const text = await readFile(join(cwd, `set-${name}`, 'data.jsonl'), 'utf8');
        return text
          .trim()
          .split('\n')
          .map((line) => {
            const row = JSON.parse(line) as Record<string, unknown>;
            for (const name of Object.keys(row)) if (isOfPayment(name)) delete row[name];
            return row;
          });
      }),
    );
    expect(other).toEqual(one);
  });
});

describe('a directory whose jobs are taken over', () => {
  const keysOf = async (directory: string, step: string): Promise<readonly string[]> => [
    ...new Set(
      (await rowsOf(directory))
        .filter((row) => row['step'] === step && row['branch'] === '')
        .map(({ job = '' }) => job),
    ),
  ];

  /** Changes records of a state. */
  function change(directory: string, keys: readonly string[], as: (record: JobRecord) => JobRecord): void {
    const state = openState(join(cwd, directory));
    const records = keys.map((key) => as(state.get(key) as JobRecord));
    state.commit({ records, attempts: [] });
    state.close();
  }

  const fileOf = async (directory: string, key: string): Promise<string> => {
    const names = await readdir(join(cwd, directory, 'images', key.slice(0, 2)));
    return join(
      cwd,
      directory,
      'images',
      key.slice(0, 2),
      names.find((name) => name.startsWith(`${key}-1.`)) ?? '',
    );
  };

  const again = (...flags: readonly string[]): Promise<Said> =>
    say('run', 'foxes.yaml', '--out', 'b', '--no-progress', '--json', '--reuse', 'a', ...flags);

  const setReuse = (directory: string, names: readonly string[]): void => {
    const state = openState(join(cwd, directory));
    state.setFact('run.reuse', JSON.stringify(names));
    state.close();
  };

  beforeEach(async () => {
    await writeFile(join(cwd, 'foxes.yaml'), foxes(2));
    await run('foxes.yaml', 'a');
  });

  it('is refused if it is in use, empty, the run directory itself, or changes meanwhile', async () => {
    const lock = acquireLock(join(cwd, 'a'), { pid: process.pid, host: 'here', startedAt: '' });
    const held = await again();
    const planned = await say('plan', 'foxes.yaml', '--out', 'b', '--reuse', 'a');
    lock.release();
    for (const { code, err } of [held, planned])
      expect([code, err]).toEqual([75, expect.stringContaining('A run is on in a')]);
    await mkdir(join(cwd, 'empty'));
    for (const name of ['empty', 'gone']) {
      const { code, err } = await say('run', 'foxes.yaml', '--out', 'b', '--reuse', name);
      expect([code, err]).toEqual([2, expect.stringContaining(`There is no run in ${name}`)]);
    }
    const own = await say('run', 'foxes.yaml', '--out', 'a', '--reuse', 'a');
    expect([own.code, own.err]).toEqual([2, expect.stringContaining('is the run directory itself')]);
  });

  it('leaves what it has not settled in doubt here, until it has, or the user says that it is paid again', async () => {
    const [first = '', second = ''] = await keysOf('a', 'grid');
    change('a', [first], (record) => ({ ...record, status: 'running' }));
    change('a', [second], ({ result: _result, artifacts: _files, ...record }) => ({
      ...record,
      artifacts: [],
      status: 'in-doubt',
      error: { code: 'submit.interrupted', message: 'It ended.' },
    }));
    const { code, out, err } = await again();
    expect([code, JSON.parse(out)]).toEqual([5, expect.objectContaining({ submits: 0 })]);
    expect(err).toContain('2 jobs that are not settled there');
    const rows = (await rowsOf('b')).filter(({ step, branch }) => step === 'grid' && branch === '');
    expect(rows.map(({ status, error_code, cost }) => [status, error_code, cost])).toEqual([
      ['in-doubt', 'reuse.open', ''],
      ['in-doubt', 'reuse.open', ''],
    ]);

    change('a', [first], (record) => ({ ...record, status: 'done' }));
    const settled = JSON.parse((await again()).out);
    expect(settled).toMatchObject({ submits: 0, slots: { 'in-doubt': 1, done: 3 } });
    const retried = await again('--in-doubt', 'retry');
    expect([retried.code, JSON.parse(retried.out)]).toEqual([0, expect.objectContaining({ submits: 3 })]);
    expect((await say('verify', 'b')).code).toBe(0);
  });

  it.each<[string, (file: string) => Promise<void>]>([
    ['a file of other bytes', async (file) => writeFile(file, (await readFile(file)).fill(0x20, 60, 80))],
    ['a file of another size', async (file) => appendFile(file, 'more')],
    ['no file', (file) => rm(file)],
  ])('gives nothing that it has %s of', async (_, damage) => {
    const [first = ''] = await keysOf('a', 'grid');
    await damage(await fileOf('a', first));
    const { code, out, err } = await again();
    expect([code, JSON.parse(out)]).toEqual([5, expect.objectContaining({ submits: 0 })]);
    expect(err).toContain(
      `1 job whose files or replies are not as the state there says (${first}: its file images/`,
    );
    const [row] = (await rowsOf('b')).filter(({ job }) => job === first);
    expect(row).toMatchObject({
      status: 'in-doubt',
      error_code: 'reuse.broken',
      file_name: '',
      reused_from: '../a',
    });
    // What was made from it is not taken over either.
    expect((await rowsOf('b')).filter(({ reused_from }) => reused_from !== '').length).toBe(1 + 5 + 1 + 1);
    expect((await say('verify', 'b')).code).toBe(0);
  });

  it('gives no file that its state says a lie of, or that has the name of another', async () => {
    const [first = '', second = ''] = await keysOf('a', 'grid');
    const lie = (as: (artifact: Artifact) => Artifact) => (record: JobRecord) => ({
      ...record,
      artifacts: record.artifacts.map(as),
    });
    change(
      'a',
      [first],
      lie((artifact) => ({ ...artifact, mime: 'image/webp' })),
    );
    change(
      'a',
      [second],
      lie((artifact) => ({ ...artifact, file: '../../secret.png' })),
    );
    const { code, out } = await again();
    expect([code, JSON.parse(out)]).toEqual([5, expect.objectContaining({ submits: 0 })]);
    const rows = (await rowsOf('b')).filter(({ job }) => job === first || job === second);
    expect(rows.map(({ error_code, file_name }) => [error_code, file_name])).toEqual([
      ['reuse.broken', ''],
      ['reuse.broken', ''],
    ]);
  });

  it('is refused if it has links, or a state with another schema', async () => {
    const [first = ''] = await keysOf('a', 'grid');
    const file = await fileOf('a', first);
    await rename(file, join(cwd, 'secret.png'));
    await symlink(join(cwd, 'secret.png'), file);
    const linked = await again();
    expect([linked.code, linked.err]).toEqual([2, expect.stringContaining('link')]);
    await rm(file);
    await rename(join(cwd, 'secret.png'), file);
    const database = sqliteDriver().open(join(cwd, 'a/state.db'), { readOnly: false });
    database.exec('CREATE TRIGGER spy AFTER INSERT ON jobs BEGIN DELETE FROM facts; END');
    database.close();
    const triggered = await again();
    expect([triggered.code, triggered.err]).toEqual([2, expect.stringContaining('the trigger spy')]);
    expect(await readdir(join(cwd, 'b'))).not.toContain('images');
  });

  it('is read from the beginning by the next run, with the flag or without, where a take-over was ended', async () => {
    let copies = 0;
    const { copyFile } = fs;
    const undo = replaceFs({
      copyFile: (from: string, to: string, mode: number, done: (error: Error | null) => void) => {
        copies += 1;
        if (copies < 4) copyFile(from, to, mode, done);
        else done(systemError('EIO', 'copyfile'));
      },
    });
    const ended = await again();
    undo();
    expect(ended.code, ended.err).toBe(74);
    await rename(join(cwd, 'a'), join(cwd, 'away'));
    const gone = await say('run', 'foxes.yaml', '--out', 'b');
    expect([gone.code, gone.err]).toEqual([2, expect.stringContaining('--reuse-cancel')]);
    await rename(join(cwd, 'away'), join(cwd, 'a'));
    const planned = JSON.parse((await say('plan', 'foxes.yaml', '--out', 'b', '--json')).out);
    expect(planned).toMatchObject({ total: { submits: 0 } });
    expect((await run('foxes.yaml', 'b')).submits).toBe(0);
    expect((await say('verify', 'b')).code).toBe(0);
    expect(results(await rowsOf('b'))).toEqual(results(await rowsOf('a')));
  });

  it('does not stop a run that drops its take-over', async () => {
    setReuse('b', [join(cwd, 'gone')]);
    expect((await run('foxes.yaml', 'b', '--reuse-cancel', '--max-submits', '100')).submits).toBe(6);
  });

  it('gives what failed here, with what that has cost here', async () => {
    const [first = ''] = await keysOf('a', 'grid');
    await run('foxes.yaml', 'b', '--limit', '2', '--only', 'grid', '--reuse', 'a');
    change('b', [first], ({ result: _result, taskId: _task, reusedFrom: _from, ...record }) => ({
      ...record,
      status: 'failed',
      attempts: 2,
      cost: 1.5,
      artifacts: [],
      error: { code: 'task.failed', message: 'It failed.' },
    }));
    expect((await run('foxes.yaml', 'b', '--reuse', 'a')).submits).toBe(0);
    const [row] = (await rowsOf('b')).filter(({ job }) => job === first);
    expect(row).toMatchObject({ status: 'done', attempts: '2', cost: '1.5', reused_from: '../a' });
  });

  it('leaves in doubt, with what it has cost here, what failed here and has a broken file there', async () => {
    const [first = ''] = await keysOf('a', 'grid');
    await run('foxes.yaml', 'b', '--limit', '2', '--only', 'grid', '--reuse', 'a');
    change('b', [first], ({ result: _result, taskId: _task, reusedFrom: _from, ...record }) => ({
      ...record,
      status: 'failed',
      attempts: 2,
      cost: 1.5,
      artifacts: [],
      error: { code: 'task.failed', message: 'It failed.' },
    }));
    const [copy, file] = [await fileOf('b', first), await fileOf('a', first)];
    await rm(copy);
    const bytes = await readFile(file);
    await writeFile(file, Buffer.from(bytes).fill(0x20, 60, 80));
    expect((await again()).code).toBe(5);
    const rowOf = async () => (await rowsOf('b')).find(({ job }) => job === first);
    expect(await rowOf()).toMatchObject({ error_code: 'reuse.broken', attempts: '2', cost: '1.5' });
    await writeFile(file, bytes);
    expect(JSON.parse((await again()).out)).toMatchObject({ submits: 0 });
    expect(await rowOf()).toMatchObject({ status: 'done', attempts: '2', cost: '1.5' });
  });

  it.each(['download.status', 'task.timeout'] as const)(
    'leaves in doubt here what failed there with %s after its task was made',
    async (code) => {
      const [first = ''] = await keysOf('a', 'grid');
      change('a', [first], ({ result, ...record }) => ({
        ...record,
        ...(code === 'task.timeout' || result === undefined ? {} : { result }),
        status: 'failed',
        artifacts: [],
        error: { code, message: 'It failed.' },
      }));
      const held = await again();
      expect([held.code, JSON.parse(held.out)]).toEqual([5, expect.objectContaining({ submits: 0 })]);
      expect((await rowsOf('b')).find(({ job }) => job === first)).toMatchObject({
        error_code: 'reuse.open',
      });
    },
  );

  it('gives what is still pending here after a try', async () => {
    const [first = ''] = await keysOf('a', 'grid');
    await run('foxes.yaml', 'b', '--limit', '2', '--only', 'grid', '--reuse', 'a');
    change('b', [first], ({ result: _result, taskId: _task, reusedFrom: _from, ...record }) => ({
      ...record,
      status: 'pending',
      attempts: 1,
      artifacts: [],
    }));
    expect((await run('foxes.yaml', 'b', '--reuse', 'a')).submits).toBe(0);
    expect((await rowsOf('b')).find(({ job }) => job === first)).toMatchObject({
      status: 'done',
      attempts: '1',
      reused_from: '../a',
    });
  });

  it('gives no job that gathers over cells whose reply is broken there', async () => {
    // More cells than are taken over together.
    const steps = `  words: { chat: { model: text-pro, prompt: "a word {{ seed }}" } }
  sum: { gather: { step: words, over: [seed] }, chat: { model: text-pro, prompt: "Sum up{% for one in gathered %} {{ one.text }}{% endfor %}" } }\n`;
    await writeFile(join(cwd, 'words.yaml'), foxes(66, 'words', steps));
    await run('words.yaml', 'many');
    const [first = ''] = await keysOf('many', 'words');
    let sha256 = '';
    change('many', [first], ({ text, ...record }) => {
      sha256 = text?.reply?.sha256 ?? '';
      return {
        ...record,
        ...(text?.reply && { text: { ...text, reply: { ...text.reply, sha256: '0'.repeat(64) } } }),
      };
    });
    const held = await say('run', 'words.yaml', '--out', 'b', '--no-progress', '--json', '--reuse', 'many');
    expect([held.code, JSON.parse(held.out)]).toEqual([5, expect.objectContaining({ submits: 0 })]);
    expect(held.err).toContain('Taken over from many: 65 jobs');
    change('many', [first], ({ text, ...record }) => ({
      ...record,
      ...(text?.reply && { text: { ...text, reply: { ...text.reply, sha256 } } }),
    }));
    const { submits, said } = await run('words.yaml', 'b', '--reuse', 'many');
    expect([submits, said.err]).toEqual([0, expect.stringContaining('Taken over from many: 2 jobs')]);
  });

  it('is refused if another user or machine has made it, until it is trusted', async () => {
    const other = async (...args: readonly string[]): Promise<Said> =>
      await promptpress(args, {
        cwd,
        env: {
          ...place.env,
          XDG_STATE_HOME: join(cwd, 'other-user'),
        },
      });
    for (const command of ['run', 'plan']) {
      const { code, err } = await other(command, 'foxes.yaml', '--out', 'b', '--reuse', 'a');
      expect([code, err]).toEqual([2, expect.stringContaining('The run in a was not begun by you')]);
    }
    const { code, out, err } = await other(
      'run',
      'foxes.yaml',
      '--out',
      'b',
      '--json',
      '--reuse',
      'a',
      '--trust-directory',
    );
    expect(code, err).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ submits: 0 });
  });

  it('gets no password if only the state names its engine, until the user trusts the address', async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
    const { port } = server.address() as AddressInfo;
    setReuse('b', [`postgres://thief@127.0.0.1:${port}/data#run`]);
    const { code, err } = await promptpress(['run', 'foxes.yaml', '--out', 'b', '--trust-directory'], {
      cwd,
      env: {
        ...place.env,
        PGPASSWORD: 'hidden-0123456789',
      },
    });
    expect([code, err]).toEqual([2, expect.stringContaining('is not trusted with it yet')]);
    expect(connections).toBe(0);
    // A plan opens nothing that a stranger's state names.
    const planned = await promptpress(['plan', 'foxes.yaml', '--out', 'b'], {
      cwd,
      env: { PROMPTPRESS_API_KEY: place.env.PROMPTPRESS_API_KEY, XDG_STATE_HOME: join(cwd, 'other-user') },
    });
    expect([planned.code, planned.err]).toEqual([2, expect.stringContaining('was not begun by you')]);
    expect(connections).toBe(0);
  });

  it('stays to be taken over after a run of a part of the cells, and after another one was named', async () => {
    await writeFile(
      join(cwd, 'other.yaml'),
      foxes(1, 'other', '  word: { chat: { model: text-pro, prompt: "a word" } }\n'),
    );
    await run('other.yaml', 'c');
    setReuse('b', [join(cwd, 'a')]);
    expect((await run('foxes.yaml', 'b', '--limit', '1', '--reuse', 'c')).submits).toBe(0);
    expect((await run('foxes.yaml', 'b', '--limit', '1')).submits).toBe(0);
    expect((await run('foxes.yaml', 'b')).submits).toBe(0);
    await rename(join(cwd, 'a'), join(cwd, 'away'));
    expect((await run('foxes.yaml', 'b')).submits).toBe(0);
  });

  it('gives no reply that its state places over two lines', async () => {
    const [first = '', second = ''] = new Set(
      (await rowsOf('a')).flatMap(({ step, job = '' }) => (step === 'caption' ? [job] : [])),
    );
    const state = openState(join(cwd, 'a'));
    const places = [first, second].map((key) => (state.get(key) as JobRecord).text?.reply as ReplyPlace);
    state.close();
    const [one, two] = places.sort((a, b) => a.offset - b.offset) as [ReplyPlace, ReplyPlace];
    const folder = join(cwd, 'a/replies');
    const [segment = ''] = await readdir(folder);
    const file = await readFile(join(folder, segment));
    const lines = file.subarray(one.offset, two.offset + two.length);
    const key = (JSON.parse(file.subarray(one.offset, one.offset + one.length).toString()) as { job: string })
      .job;
    const sha256 = createHash('sha256').update(lines).digest('hex');
    change('a', [key], ({ text, ...record }) => ({
      ...record,
      ...(text && { text: { ...text, reply: { ...one, length: lines.length, sha256 } } }),
    }));
    const { code, err } = await again();
    expect(code, err).toBe(5);
    expect((await rowsOf('b')).find(({ job }) => job === key)).toMatchObject({ error_code: 'reuse.broken' });
  });

  it('is named, and nothing that it paid is said to be unpaid, where its jobs are shown and settled', async () => {
    const [first = '', second = ''] = await keysOf('a', 'grid');
    const [caption = ''] = (await rowsOf('a')).flatMap(({ step, cell, job = '' }) =>
      step === 'caption' && cell === '2' ? [job] : [],
    );
    change('a', [first], (record) => ({ ...record, status: 'running' }));
    change('a', [caption], (record) => ({ ...record, status: 'in-doubt' }));
    expect((await again()).code).toBe(5);
    const [held, done, asked] = await Promise.all(
      [first, second, caption].map((key) => say('show', key, 'b')),
    );
    expect(held?.out).toContain('--reuse DIR');
    expect(done?.out).toContain('submits this job again: it is paid again');
    expect(done?.out).not.toContain('unanswered');
    expect(asked?.out).not.toContain('--task');
    const refused = await say('resolve', caption, 'b', '--task', 'a-task');
    expect([refused.code, refused.err]).toEqual([
      2,
      expect.stringContaining('is a text call, which has no task'),
    ]);
    const named = await say('resolve', first, 'b', '--task', 'a-task');
    expect(named.code, named.err).toBe(0);
    const state = openState(join(cwd, 'b'));
    expect(state.get(first)).toMatchObject({ status: 'running', taskId: 'a-task' });
    expect(state.get(first)?.reusedFrom).toBeUndefined();
    state.close();
  });
});

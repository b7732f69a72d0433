import { existsSync } from 'node:fs';
import {
  appendFile,
  mkdir,
  readFile,
  rm,
  rmdir,
  symlink,
  truncate,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { acquireLock } from '../../../src/state/lock/lock.ts';
import { openState } from '../../../src/state/state.ts';
import { withoutFiles } from '../../../src/upkeep/without-files.ts';
import { all } from '../../rig/all.ts';
import { beforeCalls, systemError } from '../../rig/system-calls.ts';
import { eachWithRun, type Row } from './run-rig.ts';

const pipeline = (animals: string): string =>
  `name: foxes\nmatrix: { animal: [${animals}] }\nsteps:\n  grid: { imagine: "{{ animal }}" }\n  say: { generate: { model: text-pro, prompt: "{{ animal }}?" } }\n`;
const { pp, at, runIt, rows, imagesOf, status } = eachWithRun(pipeline('fox, owl, hare'));
const submits = async (): Promise<unknown> => (await status())['submits'];

describe('verify', () => {
  it('finds nothing wrong right after a run', async () => {
    const { code, out } = await pp('verify', 'run');
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(
        /^run: 3 files \(\d+\.\d MB\) and 3 kept replies read, all as the state says\.\n$/,
      ),
    ]);
  });

  it('finds a changed byte, a missing file, a link in the place of one, an unlisted file, a torn manifest and a lost reply', async () => {
    const [changed = '', missing = '', linked = ''] = await imagesOf();
    const bytes = await readFile(at('run', changed));
    bytes[bytes.length - 20] = (bytes[bytes.length - 20] ?? 0) ^ 1;
    await writeFile(at('run', changed), bytes);
    await unlink(at('run', missing));
    await writeFile(at('other.png'), await readFile(at('run', linked)));
    await unlink(at('run', linked));
    await symlink(at('other.png'), at('run', linked));
    await mkdir(at('run/images/aa'), { recursive: true });
    await writeFile(at('run/images/aa/aa00000000000000-1.png'), 'mine');
    await truncate(at('run/manifest.csv'), (await readFile(at('run/manifest.csv'))).length - 7);
    const replies = await readFile(at('run/replies/00000.jsonl'), 'utf8');
    await writeFile(at('run/replies/00000.jsonl'), replies.replace('"job":"', '"job":"0'));

    const { code, out } = await pp('verify', 'run', '--json');
    const found = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Row);
    expect(code).toBe(1);
    const first = replies.slice(8, replies.indexOf('"', 8));
    expect(found).toContainEqual({
      kind: 'changed',
      file: changed,
      job: expect.any(String),
      isRepairable: true,
    });
    expect(found).toContainEqual({
      kind: 'missing',
      file: missing,
      job: expect.any(String),
      isRepairable: true,
    });
    expect(found).toContainEqual({
      kind: 'missing',
      file: linked,
      job: expect.any(String),
      isRepairable: true,
    });
    expect(found).toContainEqual({ kind: 'unlisted', file: 'images/aa/aa00000000000000-1.png' });
    expect(found).toContainEqual({ kind: 'manifest', file: 'manifest.csv', why: 'torn' });
    expect(found).toContainEqual({ kind: 'reply', file: 'replies/00000.jsonl', job: first });
    // A byte more shifts all lines behind it: they are there.
    expect(found.filter(({ kind }) => kind === 'reply').length).toBe(1);
    expect(found).toContainEqual({ kind: 'moved', file: 'replies/00000.jsonl', replies: 2 });
    expect(found.length).toBe(7);
  });

  it('warns of a result that may be that of another job, until it is made anew', async () => {
    const state = openState(at('run'));
    const [done, other] = [...(await all(state.reader.withStatus('done')))].filter(
      ({ taskId }) => taskId !== undefined,
    );
    if (done?.taskId === undefined || other === undefined) throw new Error('Two images are done.');
    const shared = { taskId: done.taskId, jobs: [done.key] };
    state.commit({ records: [{ ...other, shared }], attempts: [] });
    state.close();
    const { code, out } = await pp('verify', 'run', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({ kind: 'shared', job: done.key, other: other.key });
    expect((await pp('verify', 'run')).out).toContain(`warning: job ${done.key} is done with a task`);
    await runIt('--redo', done.key);
    expect((await pp('verify', 'run')).out).not.toContain('warning: job');
  });

  it('distinguishes a reply whose line is missing from the replies after it', async () => {
    const file = at('run/replies/00000.jsonl');
    const lines = (await readFile(file, 'utf8')).split('\n');
    await writeFile(file, lines.slice(1).join('\n'));
    const { code, out } = await pp('verify', 'run');
    expect(code).toBe(1);
    expect(out).toContain(`2 faults.\n  reply without its line: job ${lines[0]?.slice(8, 40)} in`);
    expect(out).toContain('2 replies complete, but not where the state says');
  });

  it('downloads damaged files again with --repair, writes the manifest, and submits nothing', async () => {
    const before = await rows();
    const counted = await submits();
    const [changed = '', missing = ''] = await imagesOf();
    await appendFile(at('run', changed), 'x');
    await unlink(at('run', missing));
    await appendFile(at('run/manifest.csv'), 'x');
    const { code, out } = await pp('verify', 'run', '--repair');
    expect([code, out]).toEqual([0, expect.stringContaining('3 faults repaired.')]);
    expect(await rows()).toEqual(
      before.map((row) => ({ ...row, image_url: expect.any(String), finished_at: expect.any(String) })),
    );
    expect(await submits()).toEqual(counted);
    expect((await pp('verify', 'run')).code).toBe(0);
  });

  it('keeps a file in the state while a folder takes its place, and repairs it when the folder is gone', async () => {
    const [changed = '', folder = ''] = await imagesOf();
    await appendFile(at('run', changed), 'x');
    await unlink(at('run', folder));
    await mkdir(at('run', folder));
    const { code, err } = await pp('verify', 'run', '--repair');
    expect([code, err]).toEqual([2, expect.stringContaining('is a folder')]);
    const { out } = await pp('verify', 'run');
    expect(out).toContain(`changed since it was written: ${changed}`);
    expect(out).toContain(`missing: ${folder}`);
    expect(out).not.toContain('no job names');
    await rmdir(at('run', folder));
    expect((await pp('verify', 'run', '--repair')).out).toContain('2 faults repaired.');
    expect((await pp('verify', 'run')).code).toBe(0);
  });

  it('keeps the fault of a job that the pipeline no longer has, and the part that the last run chose', async () => {
    const listed = (await rows()).find(({ prompt }) => prompt === 'owl')?.['file_name'] ?? '';
    await writeFile(at('foxes.yaml'), pipeline('fox, hare'));
    const { code: ran } = await pp(
      'run',
      'foxes.yaml',
      '--sandbox',
      '--pace',
      '0.01',
      '--out',
      'run',
      '--limit',
      '1',
    );
    expect(ran).toBe(0);
    const before = await rows();
    await unlink(at('run', listed));
    const { code, out } = await pp('verify', 'run', '--repair');
    expect([code, out]).toEqual([1, expect.stringContaining('0 faults repaired.')]);
    expect(out).toContain(`missing: ${listed}`);
    expect(await rows()).toEqual(before);
  });

  it.each([
    ['--limit', '2'],
    ['--filter', 'animal=owl'],
    ['--shard', '2/2'],
    ['--only', 'say'],
  ])(
    'keeps the part that the last run chose with %s, and repairs that and everything else',
    async (...flags) => {
      const images = await imagesOf();
      await runIt(...flags);
      for (const name of images) await unlink(at('run', name));
      const chosen = (): unknown => {
        const state = openState(at('run'));
        const { selection } = JSON.parse(state.fact('run.last') ?? '{}') as { selection: unknown };
        state.close();
        return selection;
      };
      const before = chosen();
      const { code, out } = await pp('verify', 'run', '--repair');
      expect([code, out]).toEqual([0, expect.stringContaining('3 faults repaired.')]);
      expect([Object.keys(before as object), chosen()]).toEqual([[expect.any(String)], before]);
    },
  );

  it('reports a manifest that is older than the state, but no manifest during the first run', async () => {
    await writeFile(
      at('run/manifest.csv'),
      (await readFile(at('run/manifest.csv'), 'utf8')).replace('owl', 'elk'),
    );
    const { code, out } = await pp('verify', 'run');
    expect([code, out]).toEqual([1, expect.stringContaining('manifest.csv differs from the state')]);
  });

  it('accepts a manifest with escaped formulas', async () => {
    await writeFile(at('foxes.yaml'), pipeline('"=fox", owl'));
    await pp('run', 'foxes.yaml', '--sandbox', '--pace', '0.01', '--out', 'run', '--escape-formulas');
    expect(await readFile(at('run/manifest.csv'), 'utf8')).toContain("'=fox");
    expect((await pp('verify', 'run')).out).not.toContain('manifest.csv is');
  });
});

describe('clean', () => {
  const edit = async (): Promise<void> => {
    await writeFile(at('foxes.yaml'), pipeline('fox'));
    await runIt();
  };

  it('shows files that the pipeline no longer lists, and removes nothing', async () => {
    await edit();
    const before = await imagesOf();
    const { code, out } = await pp('clean', 'run');
    expect([code, out]).toEqual([0, expect.stringContaining('run: 2 files, ')]);
    expect(out).toContain('of jobs, or frames of grids, that are no longer in the pipeline');
    expect(out).toContain('Nothing was removed.');
    expect(await imagesOf()).toEqual(before);
  });

  it('removes with --yes only unlisted files of promptpress', async () => {
    await edit();
    const kept = (await rows()).flatMap(({ file_name: name = '' }) => (name === '' ? [] : [name]));
    await mkdir(at('run/images/aa'), { recursive: true });
    await writeFile(at('run/images/aa/aa00000000000000-1.png'), 'of no job');
    await writeFile(at('run/images/notes.txt'), 'mine');
    await writeFile(at('run/mine.txt'), 'mine');
    await mkdir(at('run/images/.incoming'), { recursive: true });
    await writeFile(at('run/images/.incoming/abc.01234567.part'), 'half');
    const { code, out } = await pp('clean', 'run', '--yes');
    expect([code, out]).toEqual([0, expect.stringContaining('run: 4 files, ')]);
    expect(out).toContain('2 names not of promptpress, left alone: mine.txt, images/notes.txt');
    expect((await imagesOf()).filter((name) => !name.endsWith('notes.txt'))).toEqual(kept);
    expect([existsSync(at('run/mine.txt')), existsSync(at('run/images/notes.txt'))]).toEqual([true, true]);
    expect((await pp('verify', 'run')).code).toBe(0);
    expect((await pp('clean', 'run')).out).toContain('run: nothing to remove.');
  });

  it('keeps the files of a step while its jobs are not known', async () => {
    const picking = (question: string): string => `name: foxes
matrix: { seed: [1, 2] }
steps:
  grid: { imagine: "fox --seed {{ seed }}" }
  score:
    from: grid
    generate:
      model: text-pro
      prompt: ${question}
      images: [parent]
      responseSchema: { type: object, properties: { value: { type: number } }, required: [value] }
  best: { best: { from: grid, by: "{{ steps.score.json.value }}", over: [seed] } }
  large: { from: best, click: U1 }
`;
    await writeFile(at('foxes.yaml'), picking('How sharp?'));
    await runIt();
    const [large] = (await rows()).filter(({ step }) => step === 'large');
    await writeFile(at('foxes.yaml'), picking('How bright?'));
    await runIt('--limit', '1');
    const { out } = await pp('clean', 'run');
    expect(out).toContain('run: 3 files, ');
    expect(large?.['file_name']).toMatch(/^images/);
    expect(out).not.toContain(large?.['file_name']);
  });

  it('keeps the files of every job when removing others fails midway', async () => {
    await edit();
    beforeCalls('unlink', async (path) => {
      await rm(String(path));
      throw systemError('EIO', 'unlink');
    });
    expect((await pp('clean', 'run', '--yes')).code).not.toBe(0);
    expect((await pp('verify', 'run', '--json')).out).not.toContain('"missing"');
  });

  it('leaves files with other names in the folders of artifacts, and does not follow links', async () => {
    await mkdir(at('run/images/zz'), { recursive: true });
    await writeFile(at('run/images/zz/holiday.jpg'), 'mine');
    const [, sub = ''] = ((await imagesOf())[0] ?? '').split('/');
    await writeFile(at('run/images', sub, 'best.png'), 'mine');
    await mkdir(at('elsewhere'));
    await writeFile(at('elsewhere/aa00000000000000-1.png'), 'mine');
    await symlink(at('elsewhere'), at('run/images/aa'));
    await mkdir(at('run/images/ab'));
    const { out } = await pp('clean', 'run', '--yes');
    expect(out).toContain('run: nothing to remove.\n3 names not of promptpress, left alone: images/');
    expect(out).toContain('images/zz/holiday.jpg');
    expect(out).toContain(`images/${sub}/best.png`);
    expect(out).toMatch(/images\/aa[,\n]/);
    const left = [
      'run/images/zz/holiday.jpg',
      `run/images/${sub}/best.png`,
      'elsewhere/aa00000000000000-1.png',
    ];
    expect(left.filter((name) => existsSync(at(name)))).toEqual(left);
  });

  it('downloads a file again, and pays nothing, where the pipeline has its cell again', async () => {
    const before = await rows();
    const counted = await submits();
    await edit();
    await pp('clean', 'run', '--yes');
    expect((await imagesOf()).length).toBe(1);
    await writeFile(at('foxes.yaml'), pipeline('fox, owl, hare'));
    await runIt();
    expect((await rows()).map(({ sha256 }) => sha256)).toEqual(before.map(({ sha256 }) => sha256));
    expect(await submits()).toEqual(counted);
  });

  it('keeps files that a killed repair has removed from the state', async () => {
    const before = await imagesOf();
    const [kept = ''] = before;
    const lock = acquireLock(at('run'), {
      pid: process.pid,
      host: 'here',
      startedAt: '2026-01-01',
      command: 'verify --repair',
    });
    const state = openState(at('run'), { lock });
    const record = state.get(kept.split('/')[2]?.split('-')[0] ?? '');
    if (record === undefined) throw new Error(`No job has ${kept}.`);
    state.commit({ records: [withoutFiles(record)], attempts: [] });
    state.close();
    lock.release();
    expect((await pp('clean', 'run', '--yes')).out).toContain('run: nothing to remove.');
    expect(await imagesOf()).toEqual(before);
  });

  it('is refused while a run holds the directory', async () => {
    const lock = acquireLock(at('run'), {
      pid: process.pid,
      host: 'here',
      startedAt: '2026-01-01',
      command: 'run',
    });
    try {
      const { code } = await pp('clean', 'run', '--yes');
      expect(code).toBe(75);
    } finally {
      lock.release();
    }
  });
});

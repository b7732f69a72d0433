import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { promptpress, type Said } from '../../cli/test-io.ts';
import { asked } from '../../rig/postgres/asked.ts';
import { hasPostgres } from '../../rig/postgres.ts';
import { startFakeS3 } from '../../rig/s3/fake-s3.ts';
import { engineOfBlock } from './engine-rig.ts';

const pipeline = (name: string): string => `name: ${name}
poll: { min: 20ms, max: 100ms }
matrix: { animal: [fox, owl, hare] }
steps:
  grid: { imagine: "{{ animal }} of ${name}" }
`;

interface Mark {
  readonly engine: string;
  readonly place: string;
}

describe.skipIf(!hasPostgres)('the place of a run on an engine', () => {
  const rig = engineOfBlock();

  const markOf = async (folder: string): Promise<Mark> =>
    JSON.parse(await readFile(rig.at(folder, 'engine.json'), 'utf8')) as Mark;
  const filesIn = async (folder: string): Promise<readonly string[]> => {
    const entries = await readdir(rig.at(folder, 'images'), { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name).slice(rig.at(folder).length + 1))
      .toSorted();
  };
  const contents = async (folder: string): Promise<readonly string[]> =>
    await Promise.all(
      (await filesIn(folder)).map(async (name) => (await readFile(rig.at(folder, name))).toString('base64')),
    );
  const run = (name: string, ...words: readonly string[]): Promise<Said> =>
    rig.pp('run', `${name}.yaml`, ...rig.lease, ...words);
  const begun = async (name: string, ...words: readonly string[]): Promise<void> => {
    await rig.write(`${name}.yaml`, pipeline(name));
    const said = await run(name, '--out', `${name}-first`, ...words);
    expect(said.code, said.err).toBe(0);
  };

  it('does not include a folder without its mark, even at the same path on the same machine', async () => {
    await begun('again');
    await rm(rig.at('again-first'), { recursive: true });
    await mkdir(rig.at('again-first'));
    const said = await run('again', '--out', 'again-first');
    expect([said.code, said.err]).toEqual([
      2,
      expect.stringContaining('is another folder: it has no engine.json'),
    ]);
    // What it says to do where there is no backup.
    const [, mark = ''] = /write (\{.*\}) into/.exec(said.err) ?? [];
    await rig.write('again-first/engine.json', mark);
    expect((await run('again', '--out', 'again-first')).code).toBe(0);
  });

  describe('with --move-out', () => {
    it('moves to another folder once all files are there; the old folder is refused from then on', async () => {
      await begun('moved');
      const submits = rig.service.count('imagine');
      const before = await markOf('moved-first');
      const said = await run('moved', '--out', 'moved-second', '--move-out');
      expect([said.code, said.err]).toEqual([
        0,
        expect.stringMatching(/Copied 3 files \(\d+\.\d MB\)\. The results are in /),
      ]);
      expect(await contents('moved-second')).toEqual(await contents('moved-first'));
      expect(await rig.rows('moved-second')).toEqual(await rig.rows('moved-first'));
      expect(await markOf('moved-first')).toEqual(before);
      expect((await markOf('moved-second')).place).not.toBe(before.place);
      const old = await run('moved', '--out', 'moved-first');
      expect([old.code, old.err]).toEqual([
        2,
        expect.stringMatching(/were moved out of .*moved-first: they are in .*moved-second of /),
      ]);
      const again = await run('moved', '--out', 'moved-second', '--move-out');
      expect([again.code, again.err]).toEqual([0, expect.not.stringContaining('Copied')]);
      const counts = async (folder: string): Promise<number> =>
        Math.max(
          ...(await Promise.all(
            (
              await readdir(rig.at(folder))
            )
              .filter((name) => name.startsWith('submissions-'))
              .map(async (name) => Number(await readFile(rig.at(folder, name), 'utf8'))),
          )),
        );
      expect(await counts('moved-second')).toBe(3);
      expect(rig.service.count('imagine')).toBe(submits);
    });

    it('stays the same while a file is damaged, and continues with the remaining files later', async () => {
      await begun('torn');
      const before = await markOf('torn-first');
      const [lost = '', changed = ''] = await filesIn('torn-first');
      await rename(rig.at('torn-first', lost), rig.at('lost.png'));
      const bytes = await readFile(rig.at('torn-first', changed));
      await writeFile(rig.at('torn-first', changed), bytes.toReversed());
      const words = ['--out', 'torn-second', '--move-out'];
      const refused = await run('torn', ...words);
      expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('2 files are missing in ')]);
      expect(refused.err).toContain(lost);
      expect(await filesIn('torn-second')).toHaveLength(1);
      // The run is where it was, and its own command goes on there.
      expect((await run('torn', '--out', 'torn-first')).code).toBe(0);
      expect(await markOf('torn-first')).toEqual(before);
      await rename(rig.at('lost.png'), rig.at('torn-first', lost));
      await writeFile(rig.at('torn-first', changed), bytes);
      const said = await run('torn', ...words);
      expect([said.code, said.err]).toEqual([
        0,
        expect.stringMatching(/Copied 2 files .*; 1 was there already\./),
      ]);
      expect(await contents('torn-second')).toEqual(await contents('torn-first'));
    });

    it('moves to a bucket, to another one, and back to a folder', async () => {
      await using fake = await startFakeS3();
      const env = { ...rig.env, ...fake.env, PROMPTPRESS_TRUSTED_ORIGINS: `s3://${fake.bucket}` };
      const pp = (...args: readonly string[]): Promise<Said> => promptpress(args, { cwd: rig.at(), env });
      const move = (out: string): Promise<Said> =>
        pp('run', 'far.yaml', ...rig.lease, '--out', out, '--move-out', '--trust-directory');
      await begun('far');
      const submits = rig.service.count('imagine');
      const images = await filesIn('far-first');
      const kept = (prefix: string): readonly string[] =>
        [...fake.objects.keys()]
          .filter((key) => key.startsWith(`${prefix}/images/`))
          .map((key) => key.slice(prefix.length + 1))
          .toSorted();
      for (const prefix of ['one', 'two']) {
        const said = await move(`s3://${fake.bucket}/${prefix}`);
        expect([said.code, said.err]).toEqual([0, expect.stringContaining('Copied 3 files')]);
        expect(kept(prefix)).toEqual(images);
        expect([...fake.objects.keys()]).toContain(`${prefix}/manifest.csv`);
      }
      // Its run directory, and one that is not there yet.
      for (const folder of ['runs/far', 'far-second']) {
        const said = await move(folder);
        expect([said.code, said.err]).toEqual([0, expect.stringContaining('Copied 3 files')]);
        expect(await contents(folder)).toEqual(await contents('far-first'));
      }
      // Beside a bucket, its run directory may be a folder that it has left.
      const last = await move(`s3://${fake.bucket}/three`);
      expect([last.code, last.err]).toEqual([0, expect.stringContaining('Copied 3 files')]);
      expect(await markOf('runs/far')).toEqual(await markOf('far-second'));
      const back = await move('far-first');
      expect([back.code, back.err]).toEqual([0, expect.stringContaining('3 were there already')]);
      expect(kept('one')).toEqual(images);
      const { code, out } = await pp('verify', `${rig.database.url}#far`);
      expect([code, out]).toEqual([0, expect.stringContaining('3 files')]);
      expect(rig.service.count('imagine')).toBe(submits);
    });

    it('is unchanged or moved, but never mixed, whenever a move is killed', async () => {
      await using fake = await startFakeS3();
      const env = { ...rig.env, ...fake.env, PROMPTPRESS_TRUSTED_ORIGINS: `s3://${fake.bucket}` };
      const pp = (...args: readonly string[]): Promise<Said> => promptpress(args, { cwd: rig.at(), env });
      await rig.write('killed.yaml', pipeline('killed'));
      const bucket = ['run', 'killed.yaml', ...rig.lease, '--out', `s3://${fake.bucket}/killed`];
      expect((await pp(...bucket)).code).toBe(0);
      const facts = await asked<{ name: string; value: string }>(
        rig.database.url,
        `SELECT f.name, value FROM promptpress.facts f JOIN promptpress.runs r USING (run) WHERE r.name = 'killed' AND f.name LIKE 'artifacts.%'`,
      );
      expect((await pp('run', 'killed.yaml', ...rig.lease, '--out', 'runs/killed', '--move-out')).code).toBe(
        0,
      );
      const { place } = await markOf('runs/killed');
      // As it was behind the mark, and before the facts.
      for (const { name, value } of [
        ...facts,
        { name: 'artifacts.moving', value: JSON.stringify({ id: place, to: rig.at('runs/killed') }) },
      ])
        await asked(
          rig.database.url,
          `INSERT INTO promptpress.facts SELECT run, $1, $2 FROM promptpress.runs WHERE name = 'killed'
           ON CONFLICT (run, name) DO UPDATE SET value = excluded.value`,
          [name, value],
        );
      const plain = await pp(...bucket);
      expect(plain.code, plain.err).toBe(0);
      const said = await pp('run', 'killed.yaml', ...rig.lease, '--out', 'runs/killed', '--move-out');
      expect([said.code, said.err]).toEqual([0, expect.stringContaining('3 were there already')]);
      expect((await markOf('runs/killed')).place).toBe(place);
    });

    it('does not move while workers are running, and their run continues', async () => {
      await begun('busy');
      await rig.write('busy.yaml', pipeline('busy').replace('hare', 'hare, crow'));
      expect((await run('busy', '--out', 'busy-first', '--detach')).code).toBe(0);
      const hanging = rig.service.fault('imagine', { hang: 'before' }, { times: 1 });
      const worker = rig.start(['worker', '--once', ...rig.lease]);
      await hanging.hit(1);
      const refused = await run('busy', '--out', 'busy-second', '--move-out');
      expect([refused.code, refused.err]).toEqual([75, expect.stringContaining('1 worker is at work on ')]);
      expect(refused.err).toContain('promptpress stop ');
      await expect(readdir(rig.at('busy-second'))).rejects.toThrow('ENOENT');
      hanging.release();
      expect(await worker.done).toBe(0);
      const said = await run('busy', '--out', 'busy-second', '--move-out');
      expect([said.code, said.err]).toEqual([0, expect.stringContaining('Copied 4 files')]);
    });

    it('cannot move for a run of one machine, and the message says what to do', async () => {
      const said = await rig.pp('run', 'moved.yaml', '--out', 'x', '--move-out');
      expect([said.code, said.err]).toEqual([2, expect.stringContaining('mv runs/foxes')]);
      const nowhere = await rig.pp('run', 'moved.yaml', ...rig.lease, '--move-out');
      expect([nowhere.code, nowhere.err]).toEqual([2, expect.stringContaining('--move-out needs --out')]);
    });
  });

  it('is recognised by a worker with another path, by its mark', async () => {
    await rig.write('shared.yaml', pipeline('shared'));
    expect((await run('shared', '--out', 'here', '--detach')).code).toBe(0);
    await rename(rig.at('here'), rig.at('mounted'));
    const mark = await markOf('mounted');
    await begun('other');
    const other = await markOf('other-first');
    const wrong = await rig.pp('worker', '--once', '--out', 'other-first', ...rig.lease);
    expect(wrong.err).toContain(`with the mark ${mark.place}`);
    expect(wrong.err).toContain(`other-first has the mark ${other.place}, of ${other.engine}`);
    expect(wrong.err).toContain('name its path on this machine with --out DIR');
    const said = await rig.pp('worker', '--once', '--out', 'other-first', '--out', 'mounted', ...rig.lease);
    expect([said.code, said.err]).toEqual([0, expect.stringContaining('shared: started.')]);
    expect(await filesIn('mounted')).toHaveLength(3);
    expect((await readdir(rig.at('mounted'))).some((name) => name.startsWith('submissions-'))).toBe(true);
    await expect(readdir(rig.at('here'))).rejects.toThrow('ENOENT');
  });
});

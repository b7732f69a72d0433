import { readdir, readFile, rm, unlink, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { promptpress, type Said } from '../../cli/test-io.ts';
import { hasPostgres } from '../../rig/postgres.ts';
import { startFakeS3 } from '../../rig/s3/fake-s3.ts';
import { engineOfBlock } from './engine-rig.ts';

const pipeline = (name: string, animals = 'fox, owl, hare'): string => `name: ${name}
poll: { min: 20ms, max: 100ms }
matrix: { animal: [${animals}] }
steps:
  grid: { imagine: "{{ animal }} of ${name}" }
`;

describe.skipIf(!hasPostgres)('verify --repair of a run on an engine', () => {
  const rig = engineOfBlock();

  const pp = (more: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Said> =>
    promptpress(args, {
      cwd: rig.at(),
      env: { ...rig.env, PROMPTPRESS_ENGINE: rig.database.url, ...more },
    });
  const imagesOf = async (folder: string): Promise<readonly string[]> =>
    (await readdir(rig.at(folder, 'images'), { recursive: true }))
      .filter((name) => name.endsWith('.png'))
      .map((name) => `${folder}/images/${name}`)
      .toSorted();
  const begun = async (name: string): Promise<void> => {
    await rig.write(`${name}.yaml`, pipeline(name));
    const said = await pp({}, 'run', `${name}.yaml`, '--queue', 'lease', '--out', name);
    expect(said.code, said.err).toBe(0);
  };

  it('downloads missing and changed files again, submits nothing, and does not change the run', async () => {
    await begun('mended');
    const submits = rig.service.count('imagine');
    const [missing = '', changed = ''] = await imagesOf('mended');
    const before = await rig.rows('mended');
    const bytes = await readFile(rig.at(missing));
    await unlink(rig.at(missing));
    await writeFile(rig.at(changed), 'other');
    await rm(rig.at('mended/manifest.csv'));
    const seen = await pp({}, 'verify', 'mended.yaml');
    expect([seen.code, seen.out]).toEqual([
      1,
      expect.stringContaining(
        '  promptpress verify mended.yaml --repair   # the engine in PROMPTPRESS_ENGINE',
      ),
    ]);
    const said = await pp({}, 'verify', 'mended.yaml', '--repair');
    expect([said.code, said.out]).toEqual([
      0,
      expect.stringMatching(/^3 faults repaired\.\n.*all as the state says\.\n$/),
    ]);
    expect((await readFile(rig.at(missing))).equals(bytes)).toBe(true);
    expect(await rig.rows('mended')).toEqual(before);
    expect(rig.service.count('imagine')).toBe(submits);
    const again = await pp({}, 'run', 'mended.yaml', '--queue', 'lease', '--out', 'mended');
    expect([again.code, again.err]).toEqual([0, expect.stringContaining('0 submissions in this run')]);
  });

  it('mends files outside of what the last run chose, behind jobs that were never submitted', async () => {
    await begun('part');
    const [missing = '', ...others] = (await imagesOf('part')).filter((file) => file.endsWith('-1.png'));
    expect(others).toHaveLength(2);
    await rig.write('part.yaml', pipeline('part', 'crow, elk, fox, owl, hare, newt'));
    const newt = ['run', 'part.yaml', '--queue', 'lease', '--out', 'part', '--filter', 'animal=newt'];
    expect((await pp({}, ...newt)).code).toBe(0);
    const chosen = async (): Promise<unknown> => {
      const { selection } = JSON.parse(await readFile(rig.at('part/run.json'), 'utf8')) as {
        selection: unknown;
      };
      return [selection, (await rig.rows('part')).length];
    };
    const before = await chosen();
    const submits = rig.service.count('imagine');
    for (const file of [missing, ...others]) await unlink(rig.at(file));
    const said = await pp({}, 'verify', 'part.yaml', '--repair');
    expect([said.code, said.out]).toEqual([0, expect.stringMatching(/^3 faults repaired\.\n/)]);
    expect([await chosen(), rig.service.count('imagine')]).toEqual([before, submits]);
  });

  it('repairs a run in a bucket too, and writes the manifest there', async () => {
    await using fake = await startFakeS3();
    const env = { ...fake.env, PROMPTPRESS_TRUSTED_ORIGINS: `s3://${fake.bucket}` };
    await rig.write('far.yaml', pipeline('far'));
    const out = ['--out', `s3://${fake.bucket}/far`];
    expect((await pp(env, 'run', 'far.yaml', '--queue', 'lease', ...out)).code).toBe(0);
    const keys = [...fake.objects.keys()].toSorted();
    fake.remove(keys.find((key) => key.startsWith('far/images/')) ?? '');
    fake.remove('far/manifest.csv');
    const said = await pp(env, 'verify', 'far.yaml', '--repair');
    expect([said.code, said.out]).toEqual([0, expect.stringContaining('1 fault repaired.')]);
    expect([...fake.objects.keys()].toSorted()).toEqual(keys);
  });

  it('is refused while the run is on or another process leads it, and reads only the pipeline that the user names', async () => {
    await begun('busy');
    const [missing = ''] = await imagesOf('busy');
    await unlink(rig.at(missing));
    const engine = `${rig.database.url}#busy`;
    const unnamed = await pp({}, 'verify', engine, '--repair');
    expect([unnamed.code, unnamed.err]).toEqual([2, expect.stringContaining('needs its pipeline file')]);
    await rig.write('busy.yaml', pipeline('busy', 'fox, owl, hare, crow'));
    const words = ['run', 'busy.yaml', '--queue', 'lease', '--out', 'busy', '--engine', rig.database.url];
    const hanging = rig.service.fault('imagine', { hang: 'before' }, { times: 1 });
    const lead = rig.start(words);
    await hanging.hit(1);
    const led = await pp({}, 'verify', 'busy.yaml', '--repair');
    expect([led.code, led.err]).toEqual([75, expect.stringContaining('Another process leads the run busy')]);
    lead.interrupt();
    hanging.release();
    expect(await lead.done).toBe(130);
    await rig.write('busy.yaml', pipeline('busy', 'fox, owl, hare, crow, elk'));
    expect((await pp({}, ...words, '--detach')).code).toBe(0);
    const open = await pp({}, 'verify', 'busy.yaml', '--repair');
    expect([open.code, open.err]).toEqual([75, expect.stringContaining('has not ended')]);
    expect((await pp({}, 'ls', rig.database.url)).out).toContain('registered');
    expect((await pp({}, 'stop', engine)).code).toBe(0);
    const submits = rig.service.count('imagine');
    const said = await pp({}, 'verify', 'busy.yaml', '--repair');
    expect([said.code, said.out]).toEqual([0, expect.stringContaining('2 faults repaired.')]);
    expect(rig.service.count('imagine')).toBe(submits);
  });
});

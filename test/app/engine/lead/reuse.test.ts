import { readFile } from 'node:fs/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { JobRecord } from '../../../../src/plan/job.ts';
import { openState } from '../../../../src/state/state.ts';
import { promptpress, type Said } from '../../../cli/test-io.ts';
import { type ManifestRow, readManifest } from '../../../rig/manifest.ts';
import { hasPostgres } from '../../../rig/postgres.ts';
import { startFakeS3 } from '../../../rig/s3/fake-s3.ts';
import { engineOfBlock } from '../engine-rig.ts';

const pipeline = (name: string): string => `name: ${name}
poll: { min: 20ms, max: 100ms }
matrix: { animal: [fox, owl, hare] }
steps:
  grid: { imagine: "{{ animal }}", path: U1 }
  words: { chat: { model: chat-mini, prompt: "a {{ animal }}" } }
`;

describe.skipIf(!hasPostgres)('jobs that are taken over on an engine', () => {
  const rig = engineOfBlock();
  const sent = (): number =>
    rig.service.count('imagine') + rig.service.count('action') + rig.service.count('chat');
  const run = async (name: string, ...flags: readonly string[]): Promise<Said> => {
    await rig.write(`${name}.yaml`, pipeline(name));
    return await rig.pp('run', `${name}.yaml`, '--out', name, '--json', ...flags);
  };
  const tasksOf = (rows: readonly ManifestRow[]) =>
    rows.map(({ file_name, task_id, sha256, text }) => ({ file_name, task_id, sha256, text }));
  const rowsOf = async (directory: string): Promise<readonly ManifestRow[]> =>
    await readManifest(rig.at(directory, 'manifest.csv'));

  it('come from a directory and go to a directory, with nothing sent for them', async () => {
    const first = await run('alone');
    expect(first.code, first.err).toBe(0);
    const before = sent();
    const planned = await rig.pp(
      'plan',
      'alone.yaml',
      '--engine',
      `${rig.database.url}#many`,
      '--reuse',
      'alone',
      '--json',
    );
    expect(JSON.parse(planned.out)).toMatchObject({ total: { submits: 0 }, reuse: { jobs: 9 } });
    const shared = await run('many', ...rig.lease, '--reuse', 'alone');
    expect([shared.code, shared.err]).toEqual([
      0,
      expect.stringContaining('Taken over from alone: 9 jobs with 6 files'),
    ]);
    expect(JSON.parse(shared.out)).toMatchObject({ submits: 0 });
    const back = await run('back', '--reuse', `${rig.database.url}#many`);
    expect(back.code, back.err).toBe(0);
    expect(JSON.parse(back.out)).toMatchObject({ submits: 0 });
    expect(sent()).toBe(before);
    expect(tasksOf(await rowsOf('many'))).toEqual(tasksOf(await rowsOf('alone')));
    expect(tasksOf(await rowsOf('back'))).toEqual(tasksOf(await rowsOf('alone')));
    expect((await rowsOf('many'))[0]).toMatchObject({ reused_from: '../alone', attempts: '0' });
    const checked = await rig.pp('verify', `${rig.database.url}#many`);
    expect(checked.code, checked.out).toBe(0);
    expect((await rig.pp('verify', 'back')).code).toBe(0);
  });

  it('are held in doubt until the other directory has settled them', async () => {
    await run('open');
    const [{ job = '' } = {}] = await rowsOf('open');
    const change = (as: Partial<JobRecord>): void => {
      const state = openState(rig.at('open'));
      state.commit({ records: [{ ...(state.get(job) as JobRecord), ...as }], attempts: [] });
      state.close();
    };
    change({ status: 'running' });
    const before = sent();
    const held = await run('holds', ...rig.lease, '--reuse', 'open');
    expect([held.code, sent()]).toEqual([5, before]);
    expect((await rowsOf('holds'))[0]).toMatchObject({ status: 'in-doubt', error_code: 'reuse.open' });
    change({ status: 'done' });
    const settled = await run('holds', ...rig.lease, '--reuse', 'open');
    expect([settled.code, sent()], settled.err).toEqual([0, before]);
  });

  it('have their files in a bucket, there and here', async () => {
    const fake = await startFakeS3();
    onTestFinished(() => fake[Symbol.asyncDispose]());
    const pp = (...args: readonly string[]): Promise<Said> =>
      promptpress(args, { cwd: rig.at(), env: { ...rig.env, ...fake.env } });
    await rig.write('bucket.yaml', pipeline('bucket'));
    const to = (place: string): readonly string[] => [
      '--out',
      `s3://pictures/${place}`,
      '--run-directory',
      place,
    ];
    const first = await pp('run', 'bucket.yaml', ...to('one'));
    expect(first.code, first.err).toBe(0);
    const before = sent();
    for (const [place, from] of [
      ['two', 'one'],
      ['three', 'two'],
    ] as const) {
      const { code, err } = await pp(
        'run',
        'bucket.yaml',
        ...(place === 'two' ? to(place) : ['--out', place]),
        '--reuse',
        from,
      );
      expect(code, err).toBe(0);
      expect((await pp('verify', place)).code).toBe(0);
    }
    expect(sent()).toBe(before);
    const [{ file_name = '' } = {}] = await rowsOf('three');
    const bytes = await readFile(rig.at('three', file_name));
    for (const place of ['one', 'two'])
      expect(fake.objects.get(`${place}/${file_name}`)?.content.equals(bytes)).toBe(true);
  });
});

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { promptpress } from '../../../cli/test-io.ts';
import { parseExposition, valueOf } from '../../../rig/exposition.ts';
import { asked } from '../../../rig/postgres/asked.ts';
import { hasPostgres } from '../../../rig/postgres.ts';
import { startFakeS3 } from '../../../rig/s3/fake-s3.ts';
import { type EngineRig, engineOfBlock } from '../engine-rig.ts';

const pipeline = (name: string, grid = '{ imagine: "{{ animal }}" }', more = ''): string => `name: ${name}
poll: { min: 20ms, max: 100ms }
retry: { attempts: 1 }
${more}matrix: { animal: [fox, owl] }
steps:
  grid: ${grid}
`;

const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

describe.skipIf(!hasPostgres)('the end of a run on an engine', () => {
  const rig = engineOfBlock();

  it('leaves the manifest in the bucket that its workers have written to', async () => {
    await using fake = await startFakeS3();
    await rig.write('bucket.yaml', pipeline('bucket'));
    const env = { ...rig.env, ...fake.env };
    const words = ['run', 'bucket.yaml', '--out', 's3://pictures/sets/foxes', ...rig.lease];
    const { code, err } = await promptpress(words, { cwd: rig.at(), env });
    expect(code, err).toBe(0);
    const manifest = fake.objects.get('sets/foxes/manifest.csv')?.content.toString() ?? '';
    const files = [...manifest.matchAll(/^images\/[^,]+/gm)].map(([file]) => `sets/foxes/${file}`);
    expect(files).toHaveLength(2);
    for (const file of files) expect(fake.objects.has(file)).toBe(true);
  });

  it('comes after jobs in doubt were settled by their found tasks', async () => {
    await rig.write('found.yaml', pipeline('found'));
    rig.service.fault('imagine', { reset: 'after' }, { times: 1 });
    expect((await rig.pp('run', 'found.yaml', ...rig.lease)).code).toBe(5);
    const submits = rig.service.count('imagine');
    const { code, err } = await rig.pp('run', 'found.yaml', ...rig.lease, '--in-doubt', 'find');
    expect(code, err).toBe(0);
    expect(err).toContain('of 1 job in doubt 1 had a task');
    expect(rig.service.count('imagine')).toBe(submits);
  });

  it('writes metrics of the workers and their slices', async () => {
    await rig.write('measured.yaml', pipeline('measured', undefined, 'budget: { submits: 50 }\n'));
    const run = await rig.pp('run', 'measured.yaml', ...rig.lease, '--metrics-file', 'm.prom');
    expect(run.code, run.err).toBe(0);
    const metrics = parseExposition(await readFile(rig.at('m.prom'), 'utf8'));
    const of = (name: string, labels = {}): unknown =>
      valueOf(metrics, `promptpress_${name}`, { pipeline: 'measured', ...labels });
    expect([of('slices', { state: 'done' }), of('slices_waiting'), of('takeovers_total')]).toEqual([2, 0, 0]);
    expect([of('budget_limit', { kind: 'submits' }), of('budget_used', { kind: 'submits' })]).toEqual([
      50, 2,
    ]);
    expect(of('last_progress_timestamp_seconds')).toBeGreaterThan(1e9);
  });

  it('comes at its time limit, and leaves out work that was not begun', async () => {
    await rig.write('long.yaml', pipeline('long', undefined, 'limits: { tasks: 1 }\n'));
    const hanging = rig.service.fault('imagine', { hang: 'after' }, { times: 1 });
    const run = rig.start(['run', 'long.yaml', ...rig.lease, '--max-duration', '3s']);
    await hanging.hit(1);
    await expect
      .poll(() => asked(rig.database.url, `SELECT state FROM promptpress.runs WHERE name = 'long'`), {
        timeout: 20_000,
      })
      .toEqual([{ state: 'stopping' }]);
    hanging.release();
    expect(await run.done, run.err()).toBe(4);
    expect(new Set((await rig.rows('runs/long')).map(({ status }) => status))).toEqual(
      new Set(['done', 'pending']),
    );
  });

  it('reports the number of jobs that were not remade, and of grids that were cut', async () => {
    const made = await (async () => {
      await rig.write('again.yaml', pipeline('again', '{ imagine: "{{ animal }}", grid: split }'));
      const run = await rig.pp('run', 'again.yaml', ...rig.lease, '--json');
      expect(run.code, run.err).toBe(0);
      return JSON.parse(run.out) as { readonly gridsCut?: number };
    })();
    expect(made.gridsCut).toBe(2);
    const [row] = await asked<{ key: string }>(
      rig.database.url,
      `SELECT key FROM promptpress.jobs JOIN promptpress.runs USING (run) WHERE name = 'again' LIMIT 1`,
    );
    rig.service.fault('imagine', { status: 400, body: { code: 4, description: 'no' } }, { times: 1 });
    const redone = await rig.pp('run', 'again.yaml', ...rig.lease, '--json', '--redo', row?.key ?? '');
    expect(redone.code, redone.err).toBe(1);
    expect(JSON.parse(redone.out)).toMatchObject({ redosFailed: 1 });
    expect(redone.err).toContain('1 not made again (--redo)');
  });

  it('leaves no partial file in the bucket if uploads of its workers break', async () => {
    await using fake = await startFakeS3();
    const animals = ['fox', 'owl', 'lynx', 'hare', 'mole', 'crow', 'newt', 'boar'];
    await rig.write('torn.yaml', pipeline('torn').replace('[fox, owl]', `[${animals.join(', ')}]`));
    const before = rig.service.count('imagine');
    let release = (): void => undefined;
    const until = new Promise<void>((resolve) => {
      release = resolve;
    });
    // Each of the first uploads meets something else; one is under way when its worker leaves, and arrives behind its end.
    const faults = [
      { kind: 'torn' },
      { kind: 'held', until },
      { kind: 'lost' },
      { kind: 'reset' },
      { status: 500, code: 'InternalError' },
      { kind: 'lost' },
    ] as const;
    const uploads = faults.values();
    fake.fault = ({ method, key }) => {
      if (method !== 'PUT' || !key.includes('/images/')) return undefined;
      return uploads.next().value;
    };
    const env = fake.env;
    const worker = (name: string): ReturnType<EngineRig['start']> =>
      rig.start(['worker', '--name', name, '--slots', '2', '--lease', '1s', ...rig.engine], { env });
    const run = [
      'run',
      'torn.yaml',
      ...rig.lease,
      '--no-work',
      '--lease',
      '1s',
      '--out',
      's3://pictures/torn',
    ];
    const leading = rig.start(run, { env });
    const leaving = [worker('w1'), worker('w2')];
    const paid = `SELECT status FROM promptpress.jobs JOIN promptpress.runs USING (run)
      WHERE name = 'torn' AND status IN ('saving', 'done') ORDER BY status`;
    const statuses = [...animals.slice(1).map(() => ({ status: 'done' })), { status: 'saving' }];
    await expect.poll(() => asked(rig.database.url, paid), { timeout: 30_000 }).toEqual(statuses);
    for (const { interrupt, done } of leaving) {
      interrupt();
      interrupt();
      await done;
    }
    release();
    const last = worker('w3');
    expect(await leading.done, leading.err()).toBe(0);
    last.interrupt();
    await last.done;
    expect(uploads.next().done).toBe(true);
    expect(rig.service.count('imagine') - before).toBe(animals.length);
    const text = fake.objects.get('torn/manifest.csv')?.content ?? Buffer.alloc(0);
    const rows = parse<Record<string, string>>(text, { columns: true });
    expect(rows.map(({ status }) => status)).toEqual(animals.map(() => 'done'));
    const images = [...fake.objects].filter(([key]) => key.startsWith('torn/images/'));
    expect(Object.fromEntries(images.map(([key, { content }]) => [key, sha256(content)]))).toEqual(
      Object.fromEntries(rows.map(({ file_name, sha256: hash }) => [`torn/${file_name}`, hash])),
    );
    for (const [, { content, headers }] of images) expect(headers['x-amz-meta-sha256']).toBe(sha256(content));
  });
});

import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseExposition, valueOf } from '../../../../rig/exposition.ts';
import { asked } from '../../../../rig/postgres/asked.ts';
import { hasPostgres } from '../../../../rig/postgres.ts';
import { startFakeS3 } from '../../../../rig/s3/fake-s3.ts';
import { promptpress } from '../../../test-io.ts';
import { type Crew, startCrew } from '../crew-rig.ts';

const pipeline = (name: string, grid = '{ imagine: "{{ animal }}" }', more = ''): string => `name: ${name}
poll: { min: 20ms, max: 100ms }
retry: { attempts: 1 }
${more}matrix: { animal: [fox, owl] }
steps:
  grid: ${grid}
`;

describe.skipIf(!hasPostgres)('the end of a run on an engine', () => {
  let crew: Crew;
  let engine: readonly string[];
  beforeAll(async () => {
    crew = await startCrew();
    engine = ['--engine', crew.database.url, '--queue', 'lease'];
  });
  afterAll(async () => {
    await crew[Symbol.asyncDispose]();
  });

  it('finds the manifest in the bucket that its workers have written to', async () => {
    await using fake = await startFakeS3();
    await crew.write('bucket.yaml', pipeline('bucket'));
    const env = { ...crew.env, ...fake.env };
    const words = ['run', 'bucket.yaml', '--out', 's3://pictures/sets/foxes', ...engine];
    const { code, err } = await promptpress(words, { cwd: crew.at(), env });
    expect(code, err).toBe(0);
    const manifest = fake.objects.get('sets/foxes/manifest.csv')?.content.toString() ?? '';
    const files = [...manifest.matchAll(/^images\/[^,]+/gm)].map(([file]) => `sets/foxes/${file}`);
    expect(files).toHaveLength(2);
    for (const file of files) expect(fake.objects.has(file)).toBe(true);
    expect(fake.uploads).toEqual([]);
  });

  it('has settled the doubts whose tasks were found', async () => {
    await crew.write('found.yaml', pipeline('found'));
    crew.service.fault('imagine', { reset: 'after' }, { times: 1 });
    expect((await crew.pp('run', 'found.yaml', ...engine)).code).toBe(5);
    const submits = crew.service.count('imagine');
    const { code, err } = await crew.pp('run', 'found.yaml', ...engine, '--in-doubt', 'find');
    expect(code, err).toBe(0);
    expect(err).toContain('of 1 job in doubt 1 had a task');
    expect(crew.service.count('imagine')).toBe(submits);
  });

  it('leaves metrics of the workers and their slices', async () => {
    await crew.write('measured.yaml', pipeline('measured', undefined, 'budget: { submits: 50 }\n'));
    const run = await crew.pp('run', 'measured.yaml', ...engine, '--metrics-file', 'm.prom');
    expect(run.code, run.err).toBe(0);
    const metrics = parseExposition(await readFile(crew.at('m.prom'), 'utf8'));
    const of = (name: string, labels = {}): unknown =>
      valueOf(metrics, `promptpress_${name}`, { pipeline: 'measured', ...labels });
    expect([of('slices', { state: 'done' }), of('slices_waiting'), of('takeovers_total')]).toEqual([2, 0, 0]);
    expect([of('budget_limit', { kind: 'submits' }), of('budget_used', { kind: 'submits' })]).toEqual([
      50, 2,
    ]);
    expect(of('last_progress_timestamp_seconds')).toBeGreaterThan(1e9);
  });

  it('is that of its longest duration, for what was not begun by then', async () => {
    await crew.write('long.yaml', pipeline('long', undefined, 'limits: { tasks: 1 }\n'));
    const hanging = crew.service.fault('imagine', { hang: 'after' }, { times: 1 });
    const run = crew.start(['run', 'long.yaml', ...engine, '--max-duration', '500ms']);
    await hanging.hit(1);
    await expect
      .poll(() => asked(crew.database.url, `SELECT state FROM promptpress.runs WHERE name = 'long'`), {
        timeout: 20_000,
      })
      .toEqual([{ state: 'stopping' }]);
    hanging.release();
    expect(await run.done, run.err()).toBe(4);
    expect(new Set((await crew.rows('runs/long')).map(({ status }) => status))).toEqual(
      new Set(['done', 'pending']),
    );
  });

  it('says how many jobs were not made again, and how many grids were cut', async () => {
    const made = await (async () => {
      await crew.write('again.yaml', pipeline('again', '{ imagine: "{{ animal }}", grid: split }'));
      const run = await crew.pp('run', 'again.yaml', ...engine, '--json');
      expect(run.code, run.err).toBe(0);
      return JSON.parse(run.out) as { readonly gridsCut?: number };
    })();
    expect(made.gridsCut).toBe(2);
    const [row] = await asked<{ key: string }>(
      crew.database.url,
      `SELECT key FROM promptpress.jobs JOIN promptpress.runs USING (run) WHERE name = 'again' LIMIT 1`,
    );
    crew.service.fault('imagine', { status: 400, body: { code: 4, description: 'no' } }, { times: 1 });
    const redone = await crew.pp('run', 'again.yaml', ...engine, '--json', '--redo', row?.key ?? '');
    expect(redone.code, redone.err).toBe(1);
    expect(JSON.parse(redone.out)).toMatchObject({ redosFailed: 1 });
    expect(redone.err).toContain('1 not made again (--redo)');
  });
});

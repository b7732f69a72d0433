import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { engineSchema } from '../../../../src/engine/schema.ts';
import { asked } from '../../../rig/postgres/asked.ts';
import { hasPostgres } from '../../../rig/postgres.ts';
import { engineOfBlock } from '../engine-rig.ts';

const pipeline = (name: string): string => `name: ${name}
poll: { min: 20ms, max: 100ms }
matrix: { animal: [fox, owl, hare] }
steps:
  grid: { imagine: "{{ animal }} of ${name}" }
`;

describe.skipIf(!hasPostgres)('a worker', () => {
  const rig = engineOfBlock();

  const detached = async (name: string): Promise<void> => {
    await rig.write(`${name}.yaml`, pipeline(name));
    const said = await rig.pp('run', `${name}.yaml`, '--detach', '--queue', 'lease', ...rig.engine);
    expect(said.code, said.err).toBe(0);
  };

  it('never has more tasks in flight than its slots, over all runs', async () => {
    await detached('first');
    await detached('second');
    const worker = await rig.pp(
      'worker',
      '--once',
      '--slots',
      '1',
      '--name',
      'a/b',
      '--log-level',
      'info',
      ...rig.engine,
    );
    expect([worker.code, worker.err]).toEqual([0, expect.stringContaining('first: started.')]);
    expect(worker.err).toContain('second: started.');
    expect(rig.service.count('imagine')).toBe(6);
    expect(rig.service.peak.tasks).toBe(1);
    const log = await readFile(rig.at('worker-a_b.log'), 'utf8');
    expect(log).toMatch(/^\{"level":"info"/);
    expect(log).not.toContain('the-key-of-the-workers');
  });

  it('refuses a run of another release and a damaged run, and says so', async () => {
    await detached('other');
    const set = (spec: string): Promise<unknown> =>
      asked(rig.database.url, `UPDATE promptpress.runs SET spec = $1 WHERE name = 'other'`, [spec]);
    const [row] = await asked<{ spec: string }>(
      rig.database.url,
      `SELECT spec FROM promptpress.runs WHERE name = 'other'`,
    );
    const whole = JSON.parse(row?.spec ?? '') as Readonly<Record<string, unknown>>;
    for (const [spec, words] of [
      [
        JSON.stringify({ ...whole, promptpress: '99.0.0' }),
        'It was begun by promptpress 99.0.0, and this worker is ',
      ],
      [row?.spec.slice(0, 100) ?? '', 'Its description in the engine cannot be read.'],
      [
        JSON.stringify({ ...whole, service: 'https://gateway.example' }),
        'Its description in the engine cannot be read.',
      ],
    ] as const) {
      await set(spec);
      const said = await rig.pp('worker', '--once', '--name', 'w1', ...rig.engine);
      expect([said.code, said.err]).toEqual([0, expect.stringContaining(`w1: other: not started. ${words}`)]);
      expect(said.err.match(/not started/g)).toHaveLength(1);
    }
    await asked(rig.database.url, `UPDATE promptpress.runs SET state = 'ended' WHERE name = 'other'`);
  });

  it('ends on a lasting fault of the engine', async () => {
    await detached('changed');
    const hanging = rig.service.fault('imagine', { hang: 'after' });
    const worker = rig.start(['worker', ...rig.engine]);
    await hanging.hit(1);
    await asked(rig.database.url, 'UPDATE promptpress.schema_version SET version = 99');
    hanging.release();
    try {
      expect(await worker.done).toBe(74);
      expect(worker.err()).toContain('version 99');
    } finally {
      await asked(rig.database.url, 'UPDATE promptpress.schema_version SET version = $1', [
        engineSchema.version,
      ]);
    }
  });
});

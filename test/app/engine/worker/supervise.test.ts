import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { engineSchema } from '../../../../src/engine/schema.ts';
import { asked } from '../../../rig/postgres/asked.ts';
import { hasPostgres } from '../../../rig/postgres.ts';
import { crewOfBlock } from '../crew-rig.ts';

const pipeline = (name: string): string => `name: ${name}
poll: { min: 20ms, max: 100ms }
matrix: { animal: [fox, owl, hare] }
steps:
  grid: { imagine: "{{ animal }} of ${name}" }
`;

describe.skipIf(!hasPostgres)('a worker', () => {
  const crew = crewOfBlock();

  const detached = async (name: string): Promise<void> => {
    await crew.write(`${name}.yaml`, pipeline(name));
    const said = await crew.pp('run', `${name}.yaml`, '--detach', '--queue', 'lease', ...crew.engine);
    expect(said.code, said.err).toBe(0);
  };

  it('has no more tasks in flight than its slots, in all runs together', async () => {
    await detached('first');
    await detached('second');
    const worker = await crew.pp(
      'worker',
      '--once',
      '--slots',
      '1',
      '--name',
      'a/b',
      '--log-level',
      'info',
      ...crew.engine,
    );
    expect([worker.code, worker.err]).toEqual([0, expect.stringContaining('first: taken on.')]);
    expect(worker.err).toContain('second: taken on.');
    expect(crew.service.count('imagine')).toBe(6);
    expect(crew.service.peak.tasks).toBe(1);
    const log = await readFile(crew.at('worker-a_b.log'), 'utf8');
    expect(log).toMatch(/^\{"level":"info"/);
    expect(log).not.toContain('the-key-of-the-crew');
  });

  it('takes no run on that another release has begun, nor one that is damaged, and says so', async () => {
    await detached('other');
    const set = (spec: string): Promise<unknown> =>
      asked(crew.database.url, `UPDATE promptpress.runs SET spec = $1 WHERE name = 'other'`, [spec]);
    const [row] = await asked<{ spec: string }>(
      crew.database.url,
      `SELECT spec FROM promptpress.runs WHERE name = 'other'`,
    );
    const whole = JSON.parse(row?.spec ?? '') as Readonly<Record<string, unknown>>;
    for (const [spec, words] of [
      [
        JSON.stringify({ ...whole, promptpress: '99.0.0' }),
        'It was begun by promptpress 99.0.0, and this worker is ',
      ],
      [row?.spec.slice(0, 100) ?? '', 'What it is made of cannot be read.'],
      [
        JSON.stringify({ ...whole, service: 'https://gateway.example' }),
        'What it is made of cannot be read.',
      ],
    ] as const) {
      await set(spec);
      const said = await crew.pp('worker', '--once', '--name', 'w1', ...crew.engine);
      expect([said.code, said.err]).toEqual([
        0,
        expect.stringContaining(`w1: other: not taken on. ${words}`),
      ]);
      expect(said.err.match(/not taken on/g)).toHaveLength(1);
    }
    await asked(crew.database.url, `UPDATE promptpress.runs SET state = 'ended' WHERE name = 'other'`);
  });

  it('ends where what is wrong with the engine does not pass', async () => {
    await detached('changed');
    const hanging = crew.service.fault('imagine', { hang: 'after' });
    const worker = crew.start(['worker', ...crew.engine]);
    await hanging.hit(1);
    await asked(crew.database.url, 'UPDATE promptpress.schema_version SET version = 99');
    hanging.release();
    try {
      expect(await worker.done).toBe(74);
      expect(worker.err()).toContain('version 99');
    } finally {
      await asked(crew.database.url, 'UPDATE promptpress.schema_version SET version = $1', [
        engineSchema.version,
      ]);
    }
  });
});

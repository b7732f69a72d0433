import { expect, it } from 'vitest';
import { engineSchema } from '../../../src/engine/schema.ts';
import { asked } from '../../rig/postgres/asked.ts';
import { hasPostgres } from '../../rig/postgres.ts';
import { type EngineRig, startEngine } from './engine-rig.ts';

const pictures = 6;
const tasks = 2;

const pipeline = `name: pictures
limits: { tasks: ${tasks} }
poll: { min: 20ms, max: 100ms }
matrix: { n: { from: 1, to: ${pictures} } }
steps: { grid: { imagine: "picture {{ n }}" } }
`;

/** All that lies on the engine, but what notes who was there. */
async function lying({ database: { url } }: EngineRig): Promise<unknown> {
  const of = (text: string): Promise<unknown[]> => asked(url, text);
  return {
    version: await of('SELECT version FROM promptpress.schema_version'),
    runs: await of('SELECT * FROM promptpress.runs ORDER BY run'),
    slices: await of('SELECT * FROM promptpress.slices ORDER BY run, n'),
    jobs: await of('SELECT * FROM promptpress.jobs ORDER BY run, key'),
    facts: await of('SELECT * FROM promptpress.facts ORDER BY run, name'),
    sessions: await of('SELECT session, name FROM promptpress.sessions ORDER BY session'),
  };
}

it.skipIf(!hasPostgres)(
  'an engine of another release is left alone by all commands, and goes on with its own',
  async () => {
    await using rig = await startEngine();
    const { url } = rig.database;
    const engine = ['--engine', url];
    const run = ['run', 'pictures.yaml', ...engine, '--queue', 'lease'];
    await rig.write('pictures.yaml', pipeline);
    expect((await rig.pp(...run, '--max-submits', String(tasks))).code).toBe(4);
    expect(rig.service.count('imagine')).toBe(tasks);

    const { version } = engineSchema;
    for (const [other, said, hint] of [
      [
        version - 1,
        `an older release of promptpress (version ${version - 1}; this release needs ${version}).`,
        'before 0.1.0: the commit',
      ],
      [
        version + 1,
        `a newer release of promptpress (version ${version + 1}; this release knows ${version}).`,
        'Upgrade promptpress here.',
      ],
    ] as const) {
      await asked(url, 'UPDATE promptpress.schema_version SET version = $1', [other]);
      const before = await lying(rig);
      for (const command of [
        ['worker', ...engine],
        ['worker', ...engine, '--once'],
        ['status', `${url}#pictures`],
        ['resolve', 'abcdef12', `${url}#pictures`, '--drop'],
        run,
      ]) {
        const { code, err } = await rig.pp(...command);
        expect([command[0], code, err]).toEqual([command[0], 2, expect.stringContaining(said)]);
        expect(err).toContain(hint);
      }
      expect(await lying(rig)).toEqual(before);
      expect(rig.service.count('imagine')).toBe(tasks);
    }

    await asked(url, 'UPDATE promptpress.schema_version SET version = $1', [version]);
    const again = await rig.pp(...run);
    expect(again.code, again.err).toBe(0);
    expect((await rig.rows('runs/pictures')).map(({ status }) => status)).toEqual(
      Array(pictures).fill('done'),
    );
    expect(rig.service.count('imagine')).toBe(pictures);
  },
  60_000,
);

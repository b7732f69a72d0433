import { expect, it, onTestFinished } from 'vitest';
import { migrations } from '../../../src/engine/migrations.ts';
import { asked } from '../../rig/postgres/asked.ts';
import { hasPostgres } from '../../rig/postgres.ts';
import { type Crew, startCrew } from './crew-rig.ts';

/** What this release knows: the test makes a later one of it, and back. */
const steps = migrations as string[];

const pictures = 6;
const tasks = 2;

const pipeline = `name: pictures
limits: { tasks: ${tasks} }
poll: { min: 20ms, max: 100ms }
matrix: { n: { from: 1, to: ${pictures} } }
steps: { grid: { imagine: "picture {{ n }}" } }
`;

/** All that lies on the engine, but what notes who was there. */
async function lying({ database: { url } }: Crew): Promise<unknown> {
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
  'an engine of an older release is left alone by workers and readers, and goes on after the next run',
  async () => {
    await using crew = await startCrew();
    const { url } = crew.database;
    const engine = ['--engine', url];
    const run = ['run', 'pictures.yaml', ...engine, '--queue', 'lease'];
    await crew.write('pictures.yaml', pipeline);
    expect((await crew.pp(...run, '--max-submits', String(tasks))).code).toBe(4);
    expect(crew.service.count('imagine')).toBe(tasks);

    const released = steps.length;
    onTestFinished(() => {
      steps.length = released;
    });
    const version = steps.push('ALTER TABLE runs ADD COLUMN of_the_next_release text');
    const before = await lying(crew);
    const older = `was written by an older release of promptpress (version ${version - 1}; this release needs ${version}).`;
    for (const command of [
      ['worker', ...engine],
      ['worker', ...engine, '--once'],
      ['status', `${url}#pictures`],
      ['resolve', 'abcdef12', `${url}#pictures`, '--drop'],
    ]) {
      const { code, err } = await crew.pp(...command);
      expect([command[0], code, err]).toEqual([command[0], 2, expect.stringContaining(older)]);
      expect(err).toContain(
        '`promptpress run FILE --engine …` brings its tables up to date. Workers never do.',
      );
    }
    expect(await lying(crew)).toEqual(before);
    expect(crew.service.count('imagine')).toBe(tasks);

    const again = await crew.pp(...run);
    expect(again.code, again.err).toBe(0);
    expect((await crew.rows('runs/pictures')).map(({ status }) => status)).toEqual(
      Array(pictures).fill('done'),
    );
    expect(crew.service.count('imagine')).toBe(pictures);
    expect(
      await asked(
        url,
        'SELECT version, of_the_next_release FROM promptpress.schema_version, promptpress.runs',
      ),
    ).toEqual([{ version, of_the_next_release: null }]);

    // The older release: what lies there is too new for it.
    steps.pop();
    const after = await lying(crew);
    for (const command of [['worker', ...engine], run]) {
      const { code, err } = await crew.pp(...command);
      expect([code, err]).toEqual([
        2,
        expect.stringContaining(
          `was written by a newer release of promptpress (version ${version}; this release knows ${version - 1}).`,
        ),
      ]);
      expect(err).toContain('Upgrade promptpress here.');
    }
    expect(await lying(crew)).toEqual(after);
  },
  60_000,
);

import { expect, it } from 'vitest';
import { hasPostgres } from '../../../rig/postgres.ts';
import { startEngine } from '../engine-rig.ts';

const pipeline = `name: reach
service: { names: midjourney-proxy }
poll: { min: 20ms, max: 100ms }
matrix: { animal: [fox, owl, lynx] }
steps: { grid: { imagine: "{{ animal }}", path: "U1, V2" } }
`;

it.runIf(hasPostgres)(
  'a worker finds the form of the key, and clicks by change where no buttons are shown',
  async () => {
    const gateway = { names: 'midjourney-proxy', auth: 'raw', buttonless: true } as const;
    await using rig = await startEngine(undefined, gateway);
    await rig.write('reach.yaml', pipeline);
    const { code, err } = await rig.pp('run', 'reach.yaml', '--engine', rig.database.url, '--queue', 'lease');
    expect(code, err).toBe(0);
    expect(err).toContain('service.auth: raw');
    expect(err).not.toContain(rig.service.apiKey);
    const rows = await rig.rows('runs/reach');
    expect(rows.map(({ status, speed }) => [status, speed])).toEqual(
      Array.from({ length: 9 }, () => ['done', '']),
    );
    expect([rig.service.count('change'), rig.service.count('action')]).toEqual([6, 0]);
  },
);

it.runIf(hasPostgres)('workers of a run share the form of a request that the service accepts', async () => {
  await using rig = await startEngine();
  await rig.write(
    'many.yaml',
    'name: many\npoll: { min: 20ms, max: 100ms }\nmatrix: { n: { from: 1, to: 24 } }\nsteps: { grid: { imagine: "{{ n }}" } }\n',
  );
  const engine = ['--engine', rig.database.url] as const;
  const detached = await rig.pp('run', 'many.yaml', '--detach', '--queue', 'lease', ...engine);
  expect(detached.code, detached.err).toBe(0);
  const held = rig.service.fault('imagine', { hang: 'after' }, { skip: 1 });
  const one = rig.start(['worker', '--once', '--name', 'one', '--slots', '1', ...engine]);
  await held.hit(1);
  const two = rig.start(['worker', '--once', '--name', 'two', '--slots', '3', ...engine]);
  // None of its own submissions is answered.
  await held.hit(4);
  held.release();
  expect([await one.done, await two.done], one.err() + two.err()).toEqual([0, 0]);
  expect(rig.service.count('imagine')).toBe(24);
});

it.runIf(hasPostgres).each([
  ['where an earlier run was answered', []],
  ['with --relearn', ['--relearn']],
])('a path that is not there, before anything has answered, fails no row %s', async (_, flags) => {
  await using rig = await startEngine();
  await rig.write(
    'film.yaml',
    'name: film\npoll: { min: 20ms, max: 100ms }\nsteps:\n  grid: { imagine: a fox }\n  film: { from: grid, video: { image: parent } }\n',
  );
  const engine = ['--engine', rig.database.url, '--queue', 'lease'] as const;
  const first = await rig.pp('run', 'film.yaml', '--only', 'grid', ...engine);
  expect(first.code, first.err).toBe(0);
  rig.service.fault('video', { status: 404, body: { detail: 'Not Found' } });
  const { code: exit, err } = await rig.pp('run', 'film.yaml', ...flags, ...engine);
  expect(exit, err).toBe(3);
  expect([rig.service.count('imagine'), rig.service.count('video')]).toEqual([1, 1]);
  const rows = await rig.rows('runs/film');
  expect(rows.map(({ step, error_code }) => [step, error_code])).toEqual([
    ['grid', ''],
    ['film', ''],
  ]);
});

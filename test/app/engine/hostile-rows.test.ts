import { mkdir } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { promptpress, type Said } from '../../cli/test-io.ts';
import { asked } from '../../rig/postgres/asked.ts';
import { type Greeter, startGreeter } from '../../rig/postgres/greeter.ts';
import { hasPostgres, testDatabase } from '../../rig/postgres.ts';
import { type EngineRig, startEngine } from './engine-rig.ts';

const pipeline = `name: foxes
matrix: { rows: rows.csv }
poll: { min: 1ms, max: 1ms }
retry: { attempts: 1 }
steps:
  grid: { imagine: "{{ animal }}" }
  look: { from: grid, generate: { model: any-model, prompt: What is it?, images: [parent] } }
`;

describe.runIf(hasPostgres)('an engine whose rows were written by a stranger', () => {
  let rig: EngineRig;
  let evil: Greeter;
  let key: string;
  beforeAll(async () => {
    rig = await startEngine();
    evil = await startGreeter();
    const engine = ['--engine', rig.database.url];
    await mkdir(rig.at('.git'));
    await rig.write('foxes.yaml', pipeline);
    await rig.write('rows.csv', 'animal\nfox\n');
    for (const more of [['--only', 'grid'], ['--detach']]) {
      const { code, err } = await rig.pp('run', 'foxes.yaml', '--queue', 'lease', ...engine, ...more);
      if (code !== 0) throw new Error(err);
    }
    const [job] = await asked<{ key: string }>(rig.database.url, 'SELECT key FROM promptpress.jobs');
    key = job?.key ?? '';
  }, 120_000);
  afterAll(async () => {
    await evil[Symbol.asyncDispose]();
    await rig[Symbol.asyncDispose]();
  });

  /** Carries a command out on a copy of the engine, after a stranger has changed rows of it. */
  const said = async (
    change: string,
    values: readonly unknown[],
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<Said> => {
    await using database = await testDatabase(new URL(rig.database.url).pathname.slice(1));
    await database.query(change, values);
    return await promptpress(
      args.map((word) => word.replace('ENGINE', database.url).replace('KEY', key)),
      { cwd: rig.at(), env: { ...rig.env, ...env } },
    );
  };

  it.each([
    [
      'a record without a file name',
      ['verify', 'ENGINE#foxes'],
      `jobs SET doc = jsonb_set(doc::jsonb, '{artifacts,0,file}', $1)::text`,
      '7',
    ],
    [
      'a record whose request is none',
      ['show', 'KEY', 'ENGINE#foxes'],
      `jobs SET doc = jsonb_set(doc::jsonb, '{request,fields}', $1)::text`,
      'null',
    ],
    ['a history that is none', ['show', 'KEY', 'ENGINE#foxes'], 'attempts SET doc = $1', '{}'],
    ['an end that is none', ['status', 'ENGINE#foxes'], 'runs SET ended = $1', '{"kind":"x"}'],
    [
      'facts that are none',
      ['status', 'ENGINE#foxes'],
      `facts SET value = jsonb_set(value::jsonb, '{selection,only}', $1)::text WHERE name = 'run.last'`,
      '7',
    ],
    [
      'a number that is none',
      ['run', 'foxes.yaml', '--queue', 'lease', '--engine', 'ENGINE'],
      `facts SET value = $1 WHERE name = 'submissions.counted'`,
      'x',
    ],
  ] as const)('is said to be damaged where it holds %s', async (_, args, change, value) => {
    const { code, err } = await said(`UPDATE promptpress.${change}`, [value], args);
    expect([code, err]).toEqual([
      74,
      expect.stringMatching(/what promptpress does not write|is not as promptpress writes it/),
    ]);
  });

  it('is reported as damaged if its version is missing', async () => {
    const lead = ['run', 'foxes.yaml', '--queue', 'lease', '--engine', 'ENGINE'];
    const { code, err } = await said('DELETE FROM promptpress.schema_version', [], lead);
    expect([code, err]).toEqual([74, expect.stringContaining('holds what promptpress does not write')]);
  });

  it.each([
    ['would fill the memory', gzipSync(Buffer.alloc(2 ** 21))],
    ['is none', Buffer.from('x')],
  ])('is said to be damaged where a table %s', async (_, bytes) => {
    const change = 'UPDATE promptpress.tables SET bytes = $1 WHERE part > 0';
    const { code, err } = await said(change, [bytes], ['plan', 'ENGINE#foxes']);
    expect([code, err]).toEqual([2, expect.stringContaining('holds what promptpress does not write')]);
  });

  it.each([
    ['a slice that is none', 'slices SET cells = $1', '{"names":["animal"],"cells":[[1,1]]}'],
    [
      'a table of an unknown kind',
      `runs SET spec = jsonb_set(spec::jsonb, '{tables,0,format}', $1)::text`,
      '"x"',
    ],
    ['a place that is none', `runs SET spec = jsonb_set(spec::jsonb, '{place,path}', $1)::text`, '7'],
    ['limits that are none', `runs SET spec = jsonb_set(spec::jsonb, '{settings,limits}', $1)::text`, '{}'],
  ])('is refused by a worker where it holds %s', async (_, change, value) => {
    const before = rig.service.requests.length;
    const { code, err } = await said(`UPDATE promptpress.${change}`, [value], working);
    expect([code, err]).toEqual([0, expect.stringContaining('foxes: not started.')]);
    expect(rig.service.requests.length).toBe(before);
  });

  it.each([
    ['a Redis', '{"queue":{"kind":"redis","url":"redis://EVIL"}}', '--queue redis://', {}],
    [
      'a service without a key',
      '{"service":{"id":"x","origin":"http://EVIL","baseUrl":"http://EVIL"},"pipeline":{"file":"x.yaml","folder":"/","text":"name: x\\nservice: { id: x, auth: none }\\nsteps: { a: { generate: { model: m, prompt: a } } }\\n"}}',
      'promptpress trust http://',
      { PROMPTPRESS_BASE_URL: '' },
    ],
  ] as const)('has a worker not reach %s that only it names', async (_, spec, hint, env) => {
    const { code, err } = await said(
      'UPDATE promptpress.runs SET spec = (spec::jsonb || $1)::text',
      [spec.replaceAll('EVIL', `127.0.0.1:${evil.port}`)],
      working,
      env,
    );
    expect([code, err]).toEqual([0, expect.stringContaining(hint)]);
    expect(evil.connections()).toBe(0);
  });
});

const working = ['worker', '--once', '--name', 'w', '--engine', 'ENGINE'];

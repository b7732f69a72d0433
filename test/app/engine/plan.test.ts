import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Said } from '../../cli/test-io.ts';
import { asked } from '../../rig/postgres/asked.ts';
import { hasPostgres } from '../../rig/postgres.ts';
import { type EngineRig, startEngine } from './engine-rig.ts';

const foxes = (animals: string, ask = 100): string => `name: foxes
poll: { min: 20ms, max: 100ms }
budget: { ask: ${ask} }
prices: { imagine: 0.5 }
matrix: { animal: [${animals}] }
steps:
  grid: { imagine: "{{ animal }}" }
`;

describe.skipIf(!hasPostgres)('the plan of a run on an engine', () => {
  let rig: EngineRig;
  let engine: readonly string[];
  /** As messages show it: without the password. */
  let shown: string;
  beforeAll(async () => {
    rig = await startEngine();
    engine = ['--engine', rig.database.url];
    const address = new URL(rig.database.url);
    address.password = '';
    shown = `${address.href}#foxes`;
  });
  afterAll(async () => {
    await rig[Symbol.asyncDispose]();
  });

  const plan = (...args: readonly string[]): Promise<Said> =>
    rig.pp('plan', 'foxes.yaml', ...engine, ...args);

  it('contains everything if the engine has neither the run nor its tables', async () => {
    await rig.write('foxes.yaml', foxes('fox, owl'));
    const { code, out, err } = await plan('--json');
    expect([code, err]).toEqual([0, `promptpress: There is no run ${shown} yet: nothing of it is done.\n`]);
    expect(JSON.parse(out)).toMatchObject({ total: { submits: 2, done: 0, cost: 1 } });
    expect(JSON.parse(out)).not.toHaveProperty('state');
  });

  it('contains the finished work, whether the file or the name of the run is given', async () => {
    const ran = await rig.pp('run', 'foxes.yaml', '--queue', 'lease', ...engine);
    expect(ran.code, ran.err).toBe(0);
    const done = await plan();
    expect([done.code, done.err]).toEqual([0, '']);
    expect(done.out).toContain('0 submissions');
    const byName = await rig.pp('plan', `${rig.database.url}#foxes`);
    expect(byName).toEqual(done);
    expect(JSON.parse((await plan('--json')).out)).toMatchObject({
      total: { submits: 0, done: 2 },
      state: { attempts: 2, cost: 1 },
    });
    // The directory of the run has no state of its own.
    const dry = await rig.pp('run', 'foxes.yaml', '--dry-run', ...engine);
    expect(dry.out).toBe(done.out);
    const cells = await rig.pp('plan', `${rig.database.url}#foxes`, '--cells');
    expect(cells.out).toBe('{"cell":1,"vars":{"animal":"fox"}}\n{"cell":2,"vars":{"animal":"owl"}}\n');
  });

  it('matches the run with the same flags, and the question of budget.ask', async () => {
    await rig.write('foxes.yaml', foxes('fox, owl, hare', 0.6));
    expect(JSON.parse((await plan('--json')).out)).toMatchObject({
      total: { submits: 1, done: 2, cost: 0.5, why: { new: 1 } },
    });
    const [key = ''] = (
      await asked<{ key: string }>(rig.database.url, 'SELECT key FROM promptpress.jobs')
    ).map((row) => row.key);
    expect(JSON.parse((await plan('--redo', key, '--json')).out)).toMatchObject({
      total: { submits: 2, why: { new: 1, anew: 1 } },
    });
    // What is done is not asked about: all of it would be above.
    const ran = await rig.pp('run', 'foxes.yaml', '--queue', 'lease', ...engine);
    expect(ran.code, ran.err).toBe(0);
    await rig.write('foxes.yaml', foxes('fox, owl, hare, lynx, hen', 0.6));
    const refused = await rig.pp('run', 'foxes.yaml', '--queue', 'lease', ...engine);
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('about to spend 1.00')]);
    expect(refused.err).not.toContain(new URL(rig.database.url).password);
    // The engine's pipeline is the one that ran last.
    const byName = await rig.pp('plan', `${rig.database.url}#foxes`, '--json');
    expect(JSON.parse(byName.out)).toMatchObject({ total: { submits: 0, done: 3 } });
  });

  it('accepts no flags of a file if the run is named, and says what to do for another service', async () => {
    const own = await rig.pp('plan', `${rig.database.url}#foxes`, '--set', 'animal=lynx');
    expect([own.code, own.err]).toEqual([
      2,
      expect.stringContaining('--set goes together with a pipeline file'),
    ]);
    expect(own.err).not.toContain(new URL(rig.database.url).password);
    const other = await plan('--base-url', 'http://127.0.0.1:9');
    expect(other.code).toBe(0);
    expect(other.err).toContain(`${shown} holds 3 jobs of another service`);
    expect(other.err).toContain('--engine postgres://…#NAME');
    const set = await plan('--set', 'animal=lynx');
    expect(set.err).toContain(`${shown} was run without --set, so this plan is for a run of another name`);
    expect((await rig.pp('plan', `${rig.database.url}#foxxes`)).err).toContain('Did you mean foxes?');
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { byStatus, readManifest } from '../../rig/manifest.ts';
import { asked } from '../../rig/postgres/asked.ts';
import { hasPostgres } from '../../rig/postgres.ts';
import { type EngineRig, startEngine } from './engine-rig.ts';

const good = '{ generate: { model: text-pro, prompt: "Say {{ n }}" } }';
const pipeline = (name: string, cells: number, other: string): string => `name: ${name}
poll: { min: 20ms, max: 100ms }
matrix: { n: { from: 1, to: ${cells} } }
retry: { attempts: 1 }
steps:
  good: ${good}
  other: ${other}
`;
const chat = '{ chat: { model: text-pro, prompt: "Say {{ n }}" } }';
const forbidden = { status: 403, body: { error: { message: 'not for you' } } };

describe.runIf(hasPostgres)('a closed kind of request on an engine', () => {
  let rig: EngineRig;
  let engine: readonly string[];
  beforeAll(async () => {
    const script = () => ({ status: 'FAILURE', failReason: '[Missing Access] of this account' });
    rig = await startEngine(undefined, { script });
    engine = ['--engine', rig.database.url];
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  const statusesOf = async (name: string, step: string) => {
    const rows = await readManifest(rig.at('runs', name, 'manifest.csv'));
    return byStatus(rows.filter((row) => row['step'] === step));
  };
  const start = (name: string) => rig.start(['worker', '--name', name, ...engine]);
  const end = async ({ interrupt, done, err }: ReturnType<EngineRig['start']>): Promise<string> => {
    interrupt();
    expect(await done, err()).toBe(0);
    return err();
  };
  /** Resolves once one worker has told the others of a closed kind. */
  const closed = async (name: string) => {
    await expect
      .poll(
        () =>
          asked(
            rig.database.url,
            `SELECT count(*)::int AS n FROM promptpress.facts JOIN promptpress.runs USING (run)
             WHERE runs.name = '${name}' AND facts.name LIKE 'kind.closed %'`,
          ),
        { timeout: 30_000 },
      )
      .toEqual([{ n: 1 }]);
    // What it had sent of that kind by then has arrived once none is being submitted.
    await expect
      .poll(
        () =>
          asked(
            rig.database.url,
            `SELECT count(*)::int AS n FROM promptpress.jobs JOIN promptpress.runs USING (run)
             WHERE runs.name = '${name}' AND jobs.status = 'submitting' AND jobs.doc ~ '"kind":"(chat|imagine)"'`,
          ),
        { timeout: 30_000 },
      )
      .toEqual([{ n: 0 }]);
  };

  it.each([
    ['refused', 'chat', chat, 'route.refused', 'The service refused 20 text-pro (chat) requests in a row'],
    [
      'account',
      'imagine',
      '{ imagine: "picture {{ n }}" }',
      'tasks.failing',
      'tasks of imagine in a row were accepted and failed',
    ],
  ] as const)(
    'is asked for by no other worker, and all else is done by all of them: %s',
    async (name, route, other, code, words) => {
      await rig.write(`${name}.yaml`, pipeline(name, 400, other));
      const refusal = rig.service.fault('chat', forbidden);
      const held = rig.service.fault('generate', { hang: 'before' }, { skip: 4 });
      const before = rig.service.count(route);
      const run = rig.start(['run', `${name}.yaml`, '--no-work', ...engine]);
      const first = start('w1');
      await closed(name);
      const others = start('w2');
      const askedByFirst = rig.service.count(route);
      // As many as one worker has under way at most, and one of the other.
      await held.hit(33);
      held.release();
      expect(await run.done, run.err()).toBe(3);
      refusal.remove();
      held.remove();
      expect(run.err()).toContain(`stopped (${code}: `);
      expect(run.err()).toContain(words);
      const said = [await end(first), await end(others)];
      for (const err of said) expect(err).toMatch(/; [1-9]\d* submissions of this worker/);
      expect(rig.service.count(route) - askedByFirst).toBe(0);
      expect(askedByFirst - before).toBeLessThan(20 + 32);
      expect(await statusesOf(name, 'good')).toEqual({ done: 400 });
      const { failed = 0, pending = 0 } = await statusesOf(name, 'other');
      expect([failed + pending, name === 'account' ? failed < 3 + 12 : failed === 0]).toEqual([400, true]);
    },
    60_000,
  );

  it('leaves its rows to the next run, which makes them once the service offers the kind', async () => {
    await rig.write('later.yaml', pipeline('later', 60, chat));
    const refusal = rig.service.fault('chat', forbidden);
    const first = await rig.pp('run', 'later.yaml', ...engine);
    expect(first.code, first.err).toBe(3);
    expect(await statusesOf('later', 'other')).toEqual({ pending: 60 });
    expect(first.err).toMatch(/\d+ jobs of text-pro \(chat\) wait for a later run/);
    refusal.remove();
    const next = await rig.pp('run', 'later.yaml', ...engine);
    expect(next.code, next.err).toBe(0);
    expect(await statusesOf('later', 'other')).toEqual({ done: 60 });
  }, 60_000);

  it('leaves the rows of a few refusals too if no request of the worker was accepted', async () => {
    await rig.write('few.yaml', pipeline('few', 6, chat));
    const refusal = rig.service.fault('chat', forbidden);
    const run = await rig.pp('run', 'few.yaml', ...engine);
    refusal.remove();
    expect(run.code, run.err).toBe(3);
    expect([await statusesOf('few', 'good'), await statusesOf('few', 'other')]).toEqual([
      { done: 6 },
      { pending: 6 },
    ]);
  }, 60_000);
});

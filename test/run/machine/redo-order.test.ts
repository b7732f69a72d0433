import { describe, expect, it } from 'vitest';
import { failure } from '../../rig/failure.ts';
import type { GatewayScript } from '../../rig/gateway/scripted-gateway.ts';
import { virtualSettings } from '../../rig/virtual-run.ts';
import { grid, type World, world } from '../../rig/world.ts';

/** Three pictures, done. */
async function three(script: GatewayScript = {}): Promise<{ here: World; keys: readonly string[] }> {
  const here = await world(grid(3), script);
  here.run();
  return { here, keys: [...here.store.withStatus('done')].map(({ key }) => key) };
}

/** How often each job was submitted since it was first made. */
const paidAnew = ({ service }: World, keys: readonly string[]): readonly number[] =>
  keys.map((key) => service.submits.filter((submit) => submit.key === key).length - 1);

const open = (here: World) => {
  const { waiting, begun, made } = here.store.redoCounts();
  return [waiting, begun, made];
};

describe('a redo order', () => {
  it('is paid once whenever the process dies, where the same command is given again', async () => {
    for (const [again, step] of [
      [true, 1],
      [false, 4],
    ] as const)
      for (let turns = 1; ; turns += step) {
        expect(turns).toBeLessThan(200);
        const { here, keys } = await three();
        const redo = { keys, again };
        const settings = virtualSettings({ limits: { tasks: 1, requests: 1 }, inDoubt: 'retry' });
        const died = here.run({ redo, settings, dieAfterTurns: turns });
        if (died.end === undefined) here.run({ redo, settings });
        expect([turns, paidAnew(here, keys)]).toEqual([turns, [1, 1, 1]]);
        if (died.end !== undefined) break;
      }
  });

  it('is continued by a plain run, whatever ended the first one', async () => {
    const ends = [{ maxSubmits: 2 }, { budget: { submits: 4 } }, { maxDurationMs: 100 }];
    for (const end of ends) {
      const { here, keys } = await three();
      here.run({
        redo: { keys, again: false },
        settings: virtualSettings({ ...end, limits: { tasks: 1, requests: 1 } }),
      });
      expect(open(here)[0]).toBeGreaterThan(0);
      here.run();
      expect([paidAnew(here, keys), open(here)]).toEqual([
        [1, 1, 1],
        [0, 0, 0],
      ]);
    }
  });

  it('reaches every job in runs of two submissions, and none twice', async () => {
    const { here, keys } = await three();
    const night = { redo: { keys, again: false }, settings: virtualSettings({ maxSubmits: 2 }) };
    expect([here.run(night).submits, here.run(night).submits, here.run(night).submits]).toEqual([2, 1, 0]);
    expect(paidAnew(here, keys)).toEqual([1, 1, 1]);
  });

  it('that is closed redoes its jobs again only with --redo-again or --redo JOB', async () => {
    const { here, keys } = await three();
    here.run({ redo: { keys, again: false } });
    expect(here.run({ redo: { keys, again: false } }).submits).toBe(0);
    expect(here.run({ redo: { keys: keys.slice(1), again: true } }).submits).toBe(2);
    expect(here.run({ redo: { keys: keys.slice(1), again: true } }).submits).toBe(2);
  });

  it('adds other jobs to its own', async () => {
    const { here, keys } = await three();
    const none = virtualSettings({ maxSubmits: 0 });
    here.run({ redo: { keys: keys.slice(0, 2), again: false }, settings: none });
    here.run({ redo: { keys: keys.slice(1), again: true }, settings: none });
    expect(open(here)).toEqual([3, 0, 0]);
    expect([here.run().submits, paidAnew(here, keys)]).toEqual([3, [1, 1, 1]]);
  });

  it('keeps a job open whose request was refused, was not sent, or made nothing when the run ended', async () => {
    const refusals = [
      failure('service.unauthorized', 'stop', { status: 401 }),
      failure('service.throttled', 'throttle', { status: 429 }),
      failure('connection.refused', 'unsent'),
    ];
    for (const error of refusals) {
      const script: { -readonly [M in keyof GatewayScript]: GatewayScript[M] } = {};
      const { here, keys } = await three(script);
      script.onSubmit = () => ({ error });
      here.run({ redo: { keys, again: false }, drainAt: 1_700_000_000_000 + 300_000 });
      expect([error.code, open(here)]).toEqual([error.code, [3, 0, 0]]);
      delete script.onSubmit;
      const { submits } = here.run();
      expect([submits, open(here)]).toEqual([3, [0, 0, 0]]);
    }
  });

  it('counts a job in doubt as begun, and a later run does not submit it by itself', async () => {
    const script: { -readonly [M in keyof GatewayScript]: GatewayScript[M] } = {};
    const { here, keys } = await three(script);
    script.onSubmit = ({ key }) =>
      key === keys[0] ? { error: failure('connection.lost', 'lost') } : undefined;
    const redo = { keys, again: true };
    expect([here.run({ redo }).submits, open(here)]).toEqual([3, [0, 1, 2]]);
    delete script.onSubmit;
    expect([here.run().submits, here.run({ redo }).submits, open(here)]).toEqual([0, 0, [0, 1, 2]]);
    const { submits } = here.run({ settings: virtualSettings({ inDoubt: 'retry' }) });
    expect([submits, open(here)]).toEqual([1, [0, 0, 0]]);
  });

  it('ends with a job that fails, which stays as it was', async () => {
    const script: { -readonly [M in keyof GatewayScript]: GatewayScript[M] } = {};
    const { here, keys } = await three(script);
    script.fails = () => '[Banned prompt detected] no';
    expect(here.run({ redo: { keys, again: false } }).redosFailed).toBe(3);
    delete script.fails;
    expect([here.run().submits, open(here), here.statuses()]).toEqual([0, [0, 0, 0], { done: 3 }]);
  });

  it('is closed by the next run where the process dies with all of it made', async () => {
    for (let turn = 1; turn < 45; turn++) {
      const { here, keys } = await three();
      const settings = virtualSettings({ limits: { tasks: 1, requests: 1 }, inDoubt: 'retry' });
      const died = here.run({ redo: { keys, again: true }, settings, dieAfterTurns: turn });
      const known = open(here).reduce((sum, count) => sum + count, 0);
      expect([turn, known]).toEqual([turn, died.end === undefined ? 3 : 0]);
      here.run({ settings });
      expect([turn, open(here), paidAnew(here, keys)]).toEqual([turn, [0, 0, 0], [1, 1, 1]]);
    }
  });
});

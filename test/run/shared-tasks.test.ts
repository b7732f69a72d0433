import { describe, expect, it } from 'vitest';
import type { Route } from '../../src/run/events.ts';
import type { Submission } from '../rig/gateway/scripted-gateway.ts';
import { virtualSettings } from '../rig/virtual-run.ts';
import { grid, type World, world } from '../rig/world.ts';

/** Every second submission gets the id of the one before. */
const pairs = ({ number }: Submission): boolean => number % 2 === 0;
const settings = virtualSettings({ limits: { tasks: 20, requests: 20 } });

const taskIdsOfDone = ({ store }: World): (string | undefined)[] =>
  [...store.withStatus('done')].map(({ taskId }) => taskId);

describe('two submissions that got the same task id', () => {
  it.each(['state', 'prompt'] as const)('are told apart by the %s of its record', async (tells) => {
    const here = await world(grid(8), { repeatsId: pairs, tells });
    expect(here.run({ settings }).end).toEqual({ kind: 'complete' });
    expect(here.statuses()).toEqual({ done: 4, 'in-doubt': 4 });
    for (const { key, taskId } of here.store.withStatus('done'))
      expect(here.service.tasks.get(taskId ?? '')?.key).toBe(key);
    for (const { error, taskId, doubtful } of here.store.withStatus('in-doubt')) {
      expect([error?.code, taskId]).toEqual(['task.shared', undefined]);
      expect(doubtful).toMatchObject({ count: 1 });
    }
    here.run({ settings: { ...settings, inDoubt: 'retry' } });
    here.run({ settings: { ...settings, inDoubt: 'retry' } });
    expect(new Set(taskIdsOfDone(here)).size).toBe(taskIdsOfDone(here).length);
  });

  it('are both in doubt where the record does not tell', async () => {
    const here = await world(grid(8), { repeatsId: pairs });
    here.run({ settings });
    expect(here.statuses()).toEqual({ 'in-doubt': 8 });
  });

  it('count what they cost once, as paid or as possibly paid', async () => {
    const here = await world(grid(2), { repeatsId: pairs, tells: 'state' });
    here.run({ settings, price: () => 3 });
    const { cost, possibleCost } = await here.store.reader.totals();
    expect([cost, possibleCost]).toEqual([3, 3]);
  });

  it('are told apart after a restart too', async () => {
    let restarts = 0;
    for (let turns = 2; turns < 12; turns += 1) {
      const here = await world(grid(4), { repeatsId: pairs, tells: 'state' });
      here.run({ settings, dieAfterTurns: turns });
      if (here.store.unfinished().filter(({ status }) => status === 'running').length < 4) continue;
      restarts += 1;
      here.run({ settings });
      for (const { key, taskId } of here.store.withStatus('done'))
        expect(here.service.tasks.get(taskId ?? '')?.key).toBe(key);
      expect(taskIdsOfDone(here)).toHaveLength(2);
    }
    expect(restarts).toBeGreaterThan(0);
  });

  it.each([
    ['nothing', { 'in-doubt': 2 }],
    ['prompt', { done: 1, 'in-doubt': 1 }],
  ] as const)(
    'are known as such to the next run, where %s tells whose the task is',
    async (tells, statuses) => {
      let restarts = 0;
      for (let at = 2; at < 80; at += 1) {
        const [turns, slow] = [at >> 1, at % 2];
        const here = await world(grid(2), { repeatsId: pairs, tells, duration: () => 4500 });
        let polls = 0;
        const latency = (route: Route): number => (route === 'poll' && polls++ % 2 === slow ? 900 : 100);
        here.run({ settings, latency, dieAfterTurns: turns });
        const left = here.store.unfinished();
        if (here.store.totals().attempts < 2 || left.length !== 1 || left[0]?.status === 'submitting')
          continue;
        restarts += 1;
        here.run({ settings });
        expect(here.statuses(), `after ${turns} turns`).toEqual(statuses);
        for (const { key, taskId } of here.store.withStatus('done'))
          expect(here.service.tasks.get(taskId ?? '')?.key).toBe(key);
      }
      expect(restarts).toBeGreaterThan(0);
    },
  );

  it('are told apart though the task of the first is finished before the second is answered', async () => {
    const here = await world(grid(4), { repeatsId: pairs, tells: 'prompt', duration: () => 0 });
    let asked = 0;
    here.run({ settings, latency: (route) => (route === 'submit' && asked++ % 2 === 1 ? 20_000 : 100) });
    for (const { key, taskId } of here.store.withStatus('done'))
      expect(here.service.tasks.get(taskId ?? '')?.key).toBe(key);
    expect(here.statuses()).toEqual({ done: 2, 'in-doubt': 2 });
  });

  it('count once each, however often they are polled, while tasks of other jobs have failed', async () => {
    const here = await world(grid(6), {
      duration: ({ number }) => (number > 3 ? 100_000 : 0),
      fails: ({ number }) => (number < 3 ? '[Invalid parameter] no' : undefined),
    });
    let asked = 0;
    const { end } = here.run({
      settings: { ...settings, limits: { tasks: 3, requests: 20 } },
      latency: (route) => (route === 'submit' && asked++ === 2 ? 60_000 : 100),
    });
    expect(here.service.fetchTimes.length).toBeGreaterThan(20);
    expect([end, here.statuses()]).toEqual([{ kind: 'complete' }, { done: 4, failed: 2 }]);
  });

  it.each([100, 700])(
    'confirm no dialog that is another’s, where its answer comes after %d ms',
    async (late) => {
      const path = '[U1..U4, { button: Vary (Subtle), remix: true, prompt: a hat }]';
      const here = await world(grid(1, path), {
        repeatsId: ({ pressed, number }) => pressed.includes('Vary') && number % 2 === 0,
        tells: 'state',
      });
      let submissions = 0;
      const latency = (route: Route): number =>
        route === 'submit' && ++submissions > 5 && submissions % 2 === 0 ? late : 100;
      here.run({ settings, latency });
      expect(
        here.service.modals.map(({ record, taskId }) => here.service.tasks.get(taskId)?.key === record.key),
      ).toEqual(here.service.modals.map(() => true));
      expect(here.statuses()['in-doubt']).toBeGreaterThan(0);
    },
  );

  it('are polled in lists too', async () => {
    const here = await world(grid(8), { repeatsId: pairs, tells: 'state' });
    here.run({ settings: { ...settings, poll: { ...settings.poll, list: true } } });
    expect(here.statuses()).toEqual({ done: 4, 'in-doubt': 4 });
  });
});

import { expect, it } from 'vitest';
import { progressStart } from '../../../src/app/run/progress-start.ts';
import { imagineRecord } from '../../rig/jobs.ts';
import { virtualSettings } from '../../rig/virtual-run.ts';
import { world } from '../../rig/world.ts';

const ideas = `name: ideas
matrix: { n: { from: 1, to: 9 } }
steps:
  idea: { chat: { model: text-pro, prompt: an idea } }
  image: { imagine: "{{ n }}: {{ steps.idea.text }}" }
`;

it('counts each slot that waits for a shared job as a job of its own', async () => {
  const { plan, store } = await world(ideas);
  const { planned } = await progressStart({ plan, selection: {}, state: store }, virtualSettings());
  expect(planned).toMatchObject({ total: 18, atMost: true, settled: 0, slotsPerJob: 1.8 });
});

const grids = (cells: number): string =>
  `name: grids\nmatrix: { n: { from: 1, to: ${cells} } }\nsteps: { grid: { imagine: "{{ n }}" } }\n`;

it('knows that jobs are made again where failed ones are retried', async () => {
  const { plan, store } = await world(grids(2));
  const [slot] = plan.resolve({ number: 1, vars: { n: 1 }, repeat: 1 }, () => undefined);
  const error = { code: 'task.failed', message: '' } as const;
  const record = { ...imagineRecord({ status: 'failed', error }), ...slot?.job };
  store.commit({ records: [record], attempts: [] });
  const planned = async (more: object): Promise<object> =>
    (await progressStart({ plan, selection: {}, state: store }, { ...virtualSettings(), ...more })).planned;
  expect(await planned({})).toEqual({ total: 2, settled: 1, slotsPerJob: 1, jobs: 1 });
  expect(await planned({ retryFailed: {} })).toEqual({
    total: 2,
    settled: 0,
    slotsPerJob: 1,
    jobs: 1,
    again: true,
  });
});

it('takes no more jobs for settled than a plan of too many slots has', async () => {
  const { plan, store } = await world(grids(30_000));
  const totals = await store.reader.totals();
  for (const done of [15_000, 90_000]) {
    const reader = {
      ...store.reader,
      totals: () => Promise.resolve({ ...totals, jobs: { ...totals.jobs, done } }),
    };
    const start = await progressStart({ plan, selection: {}, state: { reader } }, virtualSettings());
    expect(start.planned).toMatchObject({ total: 30_000, settled: Math.min(30_000, done), atMost: true });
    expect(start.steps.map(({ left }) => left)).toEqual([Math.max(0, 30_000 - done)]);
  }
});

import { expect, it } from 'vitest';
import type { WorkersStatus } from '../../../src/report/facts/json-outputs.generated.ts';
import { exposition } from '../../../src/report/metrics/exposition.ts';
import { workerMetrics } from '../../../src/report/metrics/run-metrics.ts';
import { parseExposition } from '../../rig/exposition.ts';

const worker = { name: 'w', session: 1, startedAt: 0, seenAt: 0, slices: 1 };
const workersStatus: WorkersStatus = {
  state: 'open',
  led: true,
  workers: [
    { ...worker, alive: true },
    { ...worker, session: 2, alive: false },
  ],
  slices: { waiting: 7, held: 2, done: 40, fed: false },
  takeovers: 3,
  rates: [{ route: 'submit', perMinute: 90 }],
  tasks: { granted: 12, used: 11 },
  spending: [{ kind: 'cost', most: 25, used: 4.5 }],
};

it('writes metrics of workers, slices and limits of a run on an engine as promtool expects', () => {
  const text = exposition(workerMetrics(workersStatus), { pipeline: 'foxes' });
  parseExposition(text);
  expect(text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual([
    'promptpress_workers{pipeline="foxes"} 1',
    'promptpress_slices{pipeline="foxes",state="waiting"} 7',
    'promptpress_slices{pipeline="foxes",state="held"} 2',
    'promptpress_slices{pipeline="foxes",state="done"} 40',
    'promptpress_slices_waiting{pipeline="foxes"} 7',
    'promptpress_takeovers_total{pipeline="foxes"} 3',
    'promptpress_service_tasks_granted{pipeline="foxes"} 12',
    'promptpress_service_tasks_used{pipeline="foxes"} 11',
    'promptpress_service_requests_per_second{pipeline="foxes",route="submit"} 1.5',
    'promptpress_budget_limit{pipeline="foxes",kind="cost"} 25',
    'promptpress_budget_used{pipeline="foxes",kind="cost"} 4.5',
  ]);
});

it('asks for no more workers while a run stops', () => {
  expect(exposition(workerMetrics({ ...workersStatus, state: 'stopping' }), {})).toContain(
    'promptpress_slices_waiting 0\n',
  );
});

it('writes no metrics for a run on one machine', () => {
  expect(workerMetrics(undefined)).toEqual([]);
});

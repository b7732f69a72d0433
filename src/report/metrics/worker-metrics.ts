import type { WorkersStatus } from '../facts/json-outputs.generated.ts';
import { counter, gauge, type Metric } from './exposition.ts';

/** Returns metrics about the workers of a run on an engine; none for a run on one machine. */
export function workerMetrics(workersStatus: WorkersStatus | undefined): readonly Metric[] {
  if (workersStatus === undefined) return [];
  const { workers, slices, takeovers, tasks, rates, spending } = workersStatus;
  return [
    gauge('workers', 'Workers that are alive.', [{ value: workers.filter(({ alive }) => alive).length }]),
    gauge('slices', 'Slices of the run by state. More may come while its cells are being fed.', [
      { labels: { state: 'waiting' }, value: slices.waiting },
      { labels: { state: 'held' }, value: slices.held },
      { labels: { state: 'done' }, value: slices.done },
    ]),
    gauge('slices_waiting', 'Slices without a worker; a measure for starting workers.', [
      { value: workersStatus.state === 'open' ? slices.waiting : 0 },
    ]),
    counter('takeovers_total', 'Slices taken over from workers that had not released them.', [
      { value: takeovers },
    ]),
    gauge(
      'service_tasks_granted',
      'Image tasks that all workers of all runs of the service may have in flight.',
      [{ value: tasks.granted }],
    ),
    gauge('service_tasks_used', 'Image tasks that they have in flight.', [{ value: tasks.used }]),
    gauge(
      'service_requests_per_second',
      'Requests that all workers of all runs send to the service, by route, over the last seconds.',
      rates.map(({ route, perMinute }) => ({ labels: { route }, value: perMinute / 60 })),
    ),
    gauge(
      'budget_limit',
      'Budgets of all workers of the run: cost, tokens and submits over its life; invocation: submissions of this invocation.',
      spending.map(({ kind, most }) => ({ labels: { kind }, value: most })),
    ),
    gauge(
      'budget_used',
      'Spent part of these budgets, including work in flight.',
      spending.map(({ kind, used }) => ({ labels: { kind }, value: used })),
    ),
  ];
}

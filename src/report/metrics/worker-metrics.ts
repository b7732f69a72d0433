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
    gauge('slices_waiting', 'Slices that no worker works on: to start workers by.', [
      { value: workersStatus.state === 'open' ? slices.waiting : 0 },
    ]),
    counter('takeovers_total', 'Slices that were taken from a worker that had not let go of them.', [
      { value: takeovers },
    ]),
    gauge(
      'service_tasks_granted',
      'Image tasks that all workers of all runs of the service may have in flight.',
      [{ value: tasks.granted }],
    ),
    gauge('service_tasks_used', 'Those that they have in flight.', [{ value: tasks.used }]),
    gauge(
      'service_requests_per_second',
      'Requests that all workers of all runs send to the service, by route, over the last seconds.',
      rates.map(({ route, perMinute }) => ({ labels: { route }, value: perMinute / 60 })),
    ),
    gauge(
      'budget_limit',
      'What all workers of the run may spend: cost, tokens, submits over its life, invocation: submissions of this one.',
      spending.map(({ kind, most }) => ({ labels: { kind }, value: most })),
    ),
    gauge(
      'budget_used',
      'What they have spent of it, with what is under way.',
      spending.map(({ kind, used }) => ({ labels: { kind }, value: used })),
    ),
  ];
}

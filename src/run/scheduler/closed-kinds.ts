import { formatAddress } from '../../pipeline/selectors/address.ts';
import type { RunEnd } from '../events.ts';
import { isParked, type Job } from '../machine/job.ts';
import type { LeftWork } from '../ports.ts';
import { halt } from './drain.ts';
import { parkable } from './place-job.ts';
import { leaveToLaterRun } from './refused-jobs.ts';
import { type Closing, type KindState, maxCounted } from './routes/kinds.ts';
import type { SchedulerState } from './state/state.ts';

/** Closes a kind for the rest of the run: its jobs go back to pending, and no cell that needs it begins. */
export function closeKind(state: SchedulerState, kind: KindState, closing: Closing): void {
  const { kinds, jobs, outbox } = state;
  kind.closed = closing;
  if (kind === kinds.polls || kind === kinds.downloads)
    return halt(state, { kind: 'stopped', code: closing.code, message: closing.message });
  for (const job of jobs.all()) {
    const { key, status } = job.record;
    // The job is paid; only its file is missing.
    if (status === 'saving') continue;
    // The button of a waiting click is not known any more, so clicks that wait for this kind belong to it.
    if (kinds.of(job) !== kind && !kind.parked.has(key) && !kind.refused.has(key)) continue;
    if (isParked(job) || parkable(job) || isResting(job)) leaveToLaterRun(state, kind, job);
  }
  kind.refused.clear();
  kind.parked.clear();
  outbox.emit({
    type: 'run:notice',
    code: closing.code,
    message: `${sentence(closing.message)} No more ${kind.name} are requested in this run; everything else continues.`,
  });
}

/** Closes the kinds that other workers have closed, except those closed as not offered that the service has served before. */
export function closeAsOthers(state: SchedulerState): void {
  const { closings, kinds: served } = state.options.shared ?? {};
  for (const { route, name, code, message, names } of closings?.closed ?? []) {
    const kind = state.kinds.find(route, name);
    if (kind.closed !== undefined || kind.name !== name) continue;
    const isServed = kind.isServed || kind.wasServed || served?.has(`${route}/${name}`) === true;
    if (isServed && (code === 'service.no-channel' || code === 'service.not-offered')) continue;
    for (const each of names) state.kinds.isAskedFor(kind, each);
    closeKind(state, kind, { code, message });
  }
}

const sentence = (words: string): string => (/[.!?。！？]$/.test(words) ? words : `${words}.`);

const isResting = ({ record, nextRequest }: Job): boolean =>
  record.status === 'pending' && record.modal === undefined && nextRequest.kind === 'wait';

/** Largest number of names of a closed kind that other workers receive. */
const maxReportedNames = 100;

/** Returns the work that this run, or this worker of it, leaves to a later run. */
export function leftWork({ kinds, cells }: SchedulerState): LeftWork {
  const closed = [...kinds.all()].flatMap((kind): LeftWork['closed'] => {
    const { route, name, left, closed: why = kind.leftFor } = kind;
    if (why === undefined || (route !== 'submit' && route !== 'text')) return [];
    const names = kinds.namesOf(kind).slice(0, maxReportedNames);
    return [
      { route, name, ...why, names, left: left.size, ...(kind.closed === undefined && { isOpen: true }) },
    ];
  });
  return { closed, cells: cells.left, openSteps: kinds.openSteps };
}

/** Combines the work left by several workers of a run. */
export function leftByAll(all: readonly LeftWork[]): LeftWork {
  const closed = new Map<string, LeftWork['closed'][number]>();
  for (const kind of all.flatMap((one) => one.closed)) {
    const id = `${kind.route}/${kind.name}`;
    const known = closed.get(id);
    closed.set(
      id,
      known === undefined ? kind : { ...(known.isOpen ? kind : known), left: known.left + kind.left },
    );
  }
  return {
    closed: [...closed.values()],
    cells: all.reduce((sum, { cells }) => sum + cells, 0),
    openSteps: [...new Set(all.flatMap(({ openSteps }) => openSteps))],
  };
}

/** Returns the end of a run in which kinds were closed or left. */
export function closedEnd({ closed, cells: left, openSteps }: LeftWork): RunEnd {
  const said = closed.map(({ name, left: jobs, message }) => {
    const waiting =
      jobs === 0
        ? ''
        : ` ${counted(jobs, 'job')}${jobs < maxCounted ? '' : ' or more'} of ${name} ${jobs === 1 ? 'waits' : 'wait'} for a later run.`;
    return `${sentence(message)}${waiting}`;
  });
  const cells =
    left === 0
      ? []
      : [`${counted(left, 'cell')} that ${left === 1 ? 'needs it was' : 'need it were'} not begun.`];
  const others = left === 0 ? [] : openSteps;
  const only =
    others.length === 0
      ? []
      : [
          `${others.map((step) => `--only ${formatAddress({ step, segments: [] })}`).join(' ')} goes on without it.`,
        ];
  return {
    kind: 'stopped',
    code: closed[0]?.code ?? 'kind.unserved',
    message: [...said, ...cells, ...only].join(' '),
  };
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

import type { StoredTask } from './task.ts';

/** What can be seen of a task at one moment (gateway 4.3, 4.4). */
export interface Moment {
  readonly status:
    | ''
    | 'NOT_START'
    | 'SUBMITTED'
    | 'IN_PROGRESS'
    | 'MODAL'
    | 'SUCCESS'
    | 'FAILURE'
    | 'CANCEL';
  /** Whole percent; absent where the service shows none. */
  readonly percent?: number;
  readonly started: boolean;
  readonly finished: boolean;
}

/** The steps that one imagine shows on its way (gateway 4.4). */
const steps = [0, 15, 31, 46, 62, 78, 93] as const;

/** Shares of a task's working time after which it is SUBMITTED, and then IN_PROGRESS. */
const handedOver = 0.04;
const isActive = 0.1;

/** Where a task is at `now` (unix ms). Depends on its two arguments alone. */
export function momentOf(task: StoredTask, now: number): Moment {
  if (showsModal(task, now)) return { status: 'MODAL', started: false, finished: false };
  if (now >= task.endAt) {
    switch (task.outcome.kind) {
      case 'success':
        return { status: 'SUCCESS', percent: 100, started: true, finished: true };
      case 'failure':
        return { status: 'FAILURE', started: true, finished: true };
      case 'cancel':
        return { status: 'CANCEL', started: true, finished: true };
      case 'stuck':
      case 'modal':
        break;
    }
  }
  const share = (now - task.startAt) / Math.max(1, task.endAt - task.startAt);
  if (share < handedOver) return { status: 'NOT_START', started: false, finished: false };
  if (share < isActive) return { status: 'SUBMITTED', percent: 0, started: true, finished: false };
  const index = Math.floor(((share - isActive) / (1 - isActive)) * steps.length);
  const percent = steps[Math.min(index, steps.length - 1)] ?? 0;
  return { status: 'IN_PROGRESS', percent, started: true, finished: false };
}

/** Whether a task waits for its modal, or still shows that while the work is under way (gateway 4.6). */
function showsModal({ outcome, modal, endAt }: StoredTask, now: number): boolean {
  if (outcome.kind === 'modal') return true;
  if (modal?.confirmedAt === undefined) return false;
  return now < modal.confirmedAt || (modal.lingers === true && now < endAt);
}

/**
 * What a gateway that reads its tasks only every `refresh` ms shows at `now`: the state at its last reading, and
 * an empty status before the first (gateway 3.5).
 */
export function refreshedMoment(task: StoredTask, now: number, refresh: number): Moment {
  if (refresh <= 0) return momentOf(task, now);
  const readings = Math.floor((now - task.submitAt) / refresh);
  if (readings < 1) return { status: '', percent: 0, started: false, finished: false };
  return momentOf(task, task.submitAt + readings * refresh);
}

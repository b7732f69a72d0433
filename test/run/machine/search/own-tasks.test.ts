import { describe, expect, it } from 'vitest';
import { ownTasks, skewMs } from '../../../../src/run/machine/search/own-tasks.ts';
import type { Task } from '../../../../src/service/image-service.ts';
import { clickRecord, epoch, imagineRecord } from '../../../rig/jobs.ts';

const made = (id: string, submittedAt: number): Task => ({
  id,
  state: 'success',
  status: 'SUCCESS',
  buttons: [],
  tag: 'aa11',
  submittedAt,
});

const hour = 3_600_000;
const ids = (tasks: readonly Task[]): readonly string[] => tasks.map(({ id }) => id);

describe('the tasks that a submission may have made', () => {
  it('are those made since the first unclear one, however long ago the last one was sent', () => {
    const record = imagineRecord({
      key: 'aa11',
      submittedAt: epoch + 2 * hour,
      doubtful: { count: 2, since: epoch },
    });
    const tasks = [
      made('before', epoch - skewMs - 1),
      made('first', epoch - skewMs),
      made('last', epoch + hour),
    ];
    expect(ids(ownTasks(record, [], tasks))).toEqual(['first', 'last']);
  });

  it('are those made since its only submission where none was unclear before', () => {
    const record = imagineRecord({ key: 'aa11', submittedAt: epoch + hour });
    const tasks = [made('before', epoch), made('own', epoch + hour)];
    expect(ids(ownTasks(record, [], tasks))).toEqual(['own']);
  });

  it('are those made since its click where a dialog was confirmed later', () => {
    const record = clickRecord({
      key: 'aa11',
      submittedAt: epoch + 2 * hour,
      modal: { taskId: 'clicked', sent: 1 },
    });
    const history = [{ key: 'aa11', at: epoch, outcome: 'modal', taskId: 'clicked' }];
    const tasks = [made('clicked', epoch), made('before', epoch - hour), made('went on', epoch)];
    expect(ids(ownTasks(record, history, tasks))).toEqual(['went on']);
  });

  it('include those of a service whose clock is five minutes late, and no older ones', () => {
    const record = imagineRecord({ key: 'aa11', submittedAt: epoch });
    const tasks = [made('late clock', epoch - 300_000), made('older', epoch - 300_001)];
    expect(ids(ownTasks(record, [], tasks))).toEqual(['late clock']);
  });

  it('are ordered by progress, then age; one without a time is not older than the submission', () => {
    const record = imagineRecord({ key: 'aa11', submittedAt: epoch });
    const { submittedAt: _, ...timeless } = made('timeless', 0);
    const tasks: readonly Task[] = [
      { ...made('failed', epoch), state: 'failure' },
      { ...made('modal', epoch), state: 'modal' },
      { ...made('running', epoch), state: 'unfinished' },
      made('young', epoch + 2),
      made('old', epoch + 1),
      timeless,
    ];
    expect(ids(ownTasks(record, [], tasks))).toEqual([
      'timeless',
      'old',
      'young',
      'running',
      'modal',
      'failed',
    ]);
  });
});

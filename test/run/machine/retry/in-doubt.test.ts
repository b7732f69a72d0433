import { describe, expect, it } from 'vitest';
import {
  addUnanswered,
  closeUnanswered,
  mayHaveMade,
  resolveUnanswered,
} from '../../../../src/run/machine/retry/in-doubt.ts';
import { failure } from '../../../rig/failure.ts';
import { imagineRecord } from '../../../rig/jobs.ts';

const sent = (changes = {}) => imagineRecord({ status: 'submitting', submittedAt: 7, ...changes });

describe('a submission may have made a task', () => {
  it.each([
    ['nobody answered it', failure('connection.lost', 'lost'), true],
    ['it ended the run, and may be done', failure('service.redirect', 'stop', { mayBeDone: true }), true],
    ['it ended the run', failure('service.unauthorized', 'stop'), false],
    ['it failed in a way that may pass', failure('service.unavailable', 'retry', { status: 500 }), true],
    ['the service was not available', failure('service.unavailable', 'retry', { status: 503 }), false],
    ['its parent was not ready', failure('service.not-ready', 'retry', { status: 400 }), false],
    ['it was refused', failure('service.rejected', 'permanent', { status: 400 }), false],
    ['it was put off', failure('service.throttled', 'throttle', { status: 429 }), false],
    ['it never left', failure('connection.refused', 'unsent'), false],
    ['nobody answered, under 503', failure('connection.lost', 'lost', { status: 503 }), true],
  ])('where %s', (_what, given, may) => {
    expect(mayHaveMade(given)).toBe(may);
  });
});

describe('unanswered submissions', () => {
  it('are counted with their price, and with the time of the first one', () => {
    const one = addUnanswered(sent(), 0.5);
    expect(one.doubtful).toStrictEqual({ count: 1, cost: 0.5, since: 7 });
    const two = addUnanswered({ ...one, submittedAt: 9 }, 0.25);
    expect(two.doubtful).toStrictEqual({ count: 2, cost: 0.75, since: 7 });
    expect(addUnanswered({ ...two, submittedAt: 11 }, undefined).doubtful).toStrictEqual({
      count: 3,
      cost: 0.75,
      since: 7,
    });
    expect(two.status).toBe('submitting');
  });

  it('have no cost or time where these are not known', () => {
    const { submittedAt: _, ...untimed } = sent();
    expect(addUnanswered(untimed, undefined).doubtful).toStrictEqual({ count: 1 });
    expect(addUnanswered(untimed, 0).doubtful).toStrictEqual({ count: 1, cost: 0 });
  });

  it('stay counted once the task is known, but put no later failure in doubt', () => {
    const open = sent({ doubtful: { count: 2, cost: 1, since: 7 } });
    expect(closeUnanswered(open)).toStrictEqual({ ...open, doubtful: { count: 2, cost: 1 } });
    const closed = sent({ doubtful: { count: 2, cost: 1 } });
    expect(closeUnanswered(closed)).toBe(closed);
    const none = sent();
    expect(closeUnanswered(none)).toBe(none);
  });
});

describe('a submission that is known to have made the task', () => {
  const resolved = (changes: object, price?: number) => {
    const { cost, doubtful, status } = resolveUnanswered(sent(changes), price);
    expect(status).toBe('submitting');
    return { cost, doubtful };
  };

  it('costs its share of their possible cost, unless its price is known', () => {
    const doubtful = { count: 4, cost: 2 };
    expect(resolved({ doubtful })).toEqual({ cost: 0.5, doubtful: { count: 3, cost: 1.5 } });
    expect(resolved({ doubtful, cost: 1 })).toEqual({ cost: 1.5, doubtful: { count: 3, cost: 1.5 } });
    expect(resolved({ doubtful, cost: 1 }, 0.75)).toEqual({ cost: 1.75, doubtful: { count: 3, cost: 1.5 } });
  });

  it('leaves nothing in doubt where it was the only one', () => {
    expect(resolved({ doubtful: { count: 1, cost: 2, since: 7 } })).toEqual({ cost: 2 });
    expect(resolved({ doubtful: { count: 2, cost: 2, since: 7 } })).toEqual({
      cost: 1,
      doubtful: { count: 1, cost: 1 },
    });
  });

  it('changes no cost where no price is known', () => {
    expect(resolved({ doubtful: { count: 2 } })).toEqual({ doubtful: { count: 1 } });
    expect(resolved({ doubtful: { count: 2 }, cost: 3 })).toEqual({ cost: 3, doubtful: { count: 1 } });
    expect(resolved({ cost: 3 })).toEqual({ cost: 3 });
    expect(resolved({}, 0.5)).toEqual({ cost: 0.5 });
  });
});

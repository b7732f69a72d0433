import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../../src/plan/job.ts';
import { FailingClicks, failuresInVain } from '../../../../src/run/scheduler/state/failing-clicks.ts';
import { clickRecord, imagineRecord } from '../../../rig/jobs.ts';

const pressed = { customId: 'c', label: 'U1', emoji: '' };
const failed = (changes: Partial<JobRecord> = {}): JobRecord =>
  clickRecord({
    status: 'failed',
    pressed,
    error: { code: 'submit.refused', message: 'no such button' },
    ...changes,
  });
const at = (branch: string): Partial<JobRecord> => ({
  origin: { cell: 1, step: 'grid', branch, slot: 's' },
});

/** After how many of these failures the run must end; undefined: after none of them. */
function endsAfter(
  recordOf: (number: number) => JobRecord,
  clicks = new FailingClicks(),
): number | undefined {
  for (let number = 1; number <= 3 * failuresInVain; number++)
    if (clicks.failed(recordOf(number)) !== undefined) return number;
  return undefined;
}

describe('a click that fails again and again', () => {
  it('ends the run after twenty failures for one reason, and is named', () => {
    const clicks = new FailingClicks();
    expect(endsAfter(() => failed(), clicks)).toBe(20);
    const end = clicks.failed(failed());
    expect(end).toMatchObject({ kind: 'stopped', code: 'click.never-works' });
    expect(end?.message).toContain('The click grid/U1 failed 20 times');
    const root = new FailingClicks();
    endsAfter(() => failed(at('')), root);
    expect(root.failed(failed(at('')))?.message).toContain('The click grid failed 20 times');
  });

  it('ends no run once it has worked anywhere, however often it had failed before', () => {
    const clicks = new FailingClicks();
    for (let number = 1; number < failuresInVain; number++) clicks.failed(failed());
    clicks.worked(failed());
    expect(endsAfter(() => failed(), clicks)).toBeUndefined();
  });

  it('is counted for twenty reasons at most: others are not kept', () => {
    const clicks = new FailingClicks();
    const of = (message: string) => failed({ error: { code: 'submit.refused', message } });
    for (const reason of 'abcdefghijklmnopqrst') clicks.failed(of(`no ${reason}`));
    expect(endsAfter(() => of('one more reason'), clicks)).toBeUndefined();
    expect(endsAfter(() => of('no t'), clicks)).toBe(19);
  });

  it('is counted by step and branch, and by reason', () => {
    expect(endsAfter((number) => failed(at(number % 2 === 0 ? 'U1' : 'U2')))).toBe(39);
    const two = (number: number): JobRecord =>
      failed({ error: { code: 'submit.refused', message: number % 2 === 0 ? 'no' : 'busy' } });
    expect(endsAfter(two)).toBe(39);
  });

  it('fails for one reason where only numbers and ids differ', () => {
    const said = (message: (number: number) => string) =>
      endsAfter((number) => failed({ error: { code: 'submit.refused', message: message(number) } }));
    expect(said((number) => `task ${1_700_000 + number} is gone`)).toBe(20);
    expect(said((number) => `${number * 7} of 9`)).toBe(20);
    expect(said((number) => `task 0a1b2c3d-${(number + 0xabcde000).toString(16)} is gone`)).toBe(20);
    expect(said((number) => `task ${'ABCDEF'.repeat(number + 2)} is gone`)).toBe(20);
    expect(said((number) => `task ${(number + 0xabcde000).toString(16).toUpperCase()} is gone`)).toBe(20);
    expect(said((number) => `task ${'x'.repeat(number)} is gone`)).toBeUndefined();
  });

  it('for a missing button fails for one reason whatever is offered', () => {
    const missing = (number: number): JobRecord => {
      const { pressed: _, ...record } = failed();
      return { ...record, error: { code: 'button.missing', message: `It offers: ${'y'.repeat(number)}.` } };
    };
    expect(endsAfter(missing)).toBe(20);
  });

  it.each<[string, Partial<JobRecord>, boolean]>([
    ['400', { error: { code: 'service.rejected', message: 'm', httpStatus: 400 } }, true],
    ['499', { error: { code: 'service.rejected', message: 'm', httpStatus: 499 } }, true],
    ['399', { error: { code: 'service.rejected', message: 'm', httpStatus: 399 } }, false],
    ['500', { error: { code: 'service.rejected', message: 'm', httpStatus: 500 } }, false],
    ['no status', { error: { code: 'service.rejected', message: 'm' } }, false],
    ['a task', { taskId: 'T1' }, false],
  ])('counts refusals of its button only: %s', (_, changes, counts) => {
    expect(endsAfter(() => failed(changes)) === 20).toBe(counts);
  });

  it('does not count where nothing was pressed, where there is no error, and for a job that is not a click', () => {
    const { pressed: _, ...unpressed } = failed();
    const { error: __, ...silent } = failed();
    const { request } = imagineRecord();
    expect([unpressed, silent, failed({ request })].map((record) => endsAfter(() => record))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('does not count any more once it worked, on its own branch', () => {
    const clicks = new FailingClicks();
    clicks.worked(failed(at('U2')));
    expect([endsAfter(() => failed(at('U2')), clicks), endsAfter(() => failed(at('U1')), clicks)]).toEqual([
      undefined,
      20,
    ]);
  });
});

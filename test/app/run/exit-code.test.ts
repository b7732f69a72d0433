import { describe, expect, it } from 'vitest';
import { CliError, ReportedError } from '../../../src/app/errors/cli-error.ts';
import { shownErrorOf } from '../../../src/app/errors/render.ts';
import { runExitCode } from '../../../src/app/run/exit-code.ts';
import { StateError } from '../../../src/state/store.ts';
import { noSlots } from '../../rig/no-counts.ts';

const all = { failed: 1, blocked: 1, 'in-doubt': 1, pending: 1, done: 1 };
const why = { code: 'route.refused', message: 'because' } as const;

describe('the exit code of a run: the first that applies of 129/130/143, 74, 3, 4, 1, 5', () => {
  it.each([
    ['all done or skipped', { done: 3, skipped: 2 }, 0],
    ['nothing planned', {}, 0],
    ['one failed', { done: 3, failed: 1 }, 1],
    ['one blocked', { done: 3, blocked: 1 }, 1],
    ['the only failures are accepted', { done: 3, accepted: 2 }, 0],
    ['in doubt beside accepted failures', { accepted: 2, 'in-doubt': 1 }, 5],
    ['in doubt, with what waits below it', { done: 3, 'in-doubt': 1, pending: 2 }, 5],
    ['failed beats in doubt', { failed: 1, 'in-doubt': 1 }, 1],
    ['something is unfinished', { done: 3, running: 1 }, 1],
  ])('complete, %s', (_case, slots, code) => {
    expect(runExitCode({ kind: 'complete' }, { ...noSlots, ...slots }, undefined)).toBe(code);
  });

  it.each(['pending', 'submitting', 'running', 'modal', 'saving'] as const)(
    'complete, with one %s: something was left undone',
    (open) => {
      expect(runExitCode({ kind: 'complete' }, { ...noSlots, done: 3, [open]: 1 }, undefined)).toBe(1);
      expect(runExitCode({ kind: 'complete' }, { ...noSlots, 'in-doubt': 1, [open]: 1 }, undefined)).toBe(5);
    },
  );

  it.each([
    [{ kind: 'interrupted', forced: false }, 'SIGINT', 130],
    [{ kind: 'interrupted', forced: true }, 'SIGTERM', 143],
    [{ kind: 'interrupted', forced: false }, 'SIGHUP', 129],
    [{ kind: 'disk', ...why }, undefined, 74],
    [{ kind: 'stopped', ...why }, undefined, 3],
    [{ kind: 'budget', ...why }, undefined, 4],
    [{ kind: 'fail-fast', ...why }, undefined, 1],
  ] as const)('%j beats every slot', (end, signal, code) => {
    expect(runExitCode(end, { ...noSlots, ...all }, signal)).toBe(code);
    expect(runExitCode(end, undefined, signal)).toBe(code);
  });
});

describe('the exit code of a failure', () => {
  it.each([
    ['state.locked', 75],
    ['state.foreign', 2],
    ['state.version', 2],
    ['state.older', 74],
    ['state.network', 2],
    ['state.full', 74],
    ['state.readonly', 74],
    ['state.io', 74],
  ] as const)('%s is %i', (code, exitCode) => {
    const fault = shownErrorOf(new StateError(code, 'What happened.', { hint: 'What to do.' }));
    const text = 'promptpress: What happened.\n  What to do.\n';
    expect(fault).toMatchObject({ exitCode, code, message: 'What happened.', hint: 'What to do.', text });
  });

  it.each(['ENOSPC', 'EROFS', 'EACCES'])('%s of the file system is 74', (code) => {
    const error = Object.assign(new Error(`${code}: no`), { code, syscall: 'write', path: '/x' });
    expect(shownErrorOf(error).exitCode).toBe(74);
  });

  it('a failure that was reported already is not printed again', () => {
    const reported = shownErrorOf(new ReportedError(2, []));
    expect([reported.exitCode, reported.text]).toEqual([2, undefined]);
    expect(shownErrorOf(new CliError(2, 'x'))).toMatchObject({ exitCode: 2, text: 'promptpress: x\n' });
  });

  it('any other error is a bug: 70, with its causes and the request to report it', () => {
    const error = new TypeError('x is not a function', { cause: new Error('the first cause') });
    const { exitCode, text } = shownErrorOf(error);
    expect(exitCode).toBe(70);
    expect(text).toContain('Internal error: TypeError: x is not a function');
    expect(text).toContain('caused by Error: the first cause');
    expect(text).toMatch(/report/);
    expect(shownErrorOf(new Error('Internal error: twice')).text?.match(/Internal error/g)).toHaveLength(1);
  });
});

import { describe, expect, it } from 'vitest';
import { asksForWork, noFlags, type RunFlags } from '../../src/app/flags.ts';
import { runFlags } from '../../src/cli/args/run-flags.ts';

/** A value of each flag with which a run may have something to do where a plain run of the same has not. */
const ofWork = {
  'retry-failed': true,
  code: 'task.failed',
  redo: ['3f9c21'],
  'redo-jobs': 'jobs.csv',
  'redo-again': true,
  'redo-cancel': true,
  reuse: ['runs/foxes'],
  'reuse-cancel': true,
  'in-doubt': 'hold',
  'new-service': true,
  relearn: true,
  'accept-older-state': true,
  frozen: true,
  'fail-fast': true,
  'max-failures': 1,
  'max-submits': 0,
  'max-duration': 0,
} as const satisfies Partial<RunFlags>;

/** A value of each other one. */
const ofOther = {
  out: 'runs/second',
  'run-directory': 'runs/second',
  'trust-directory': true,
  sandbox: true,
  'base-url': 'https://gateway.example',
  'files-root': '/p',
  limit: 1,
  filter: [{ axis: 'word', value: 'fox' }],
  shard: { index: 1, of: 2 },
  only: ['note'],
  set: [{ axis: 'word', value: 'fox' }],
  engine: 'postgres://db.example',
  speed: 'fast',
  pace: 2,
  pixels: 64,
  fault: [],
  lease: 1,
  slots: 1,
  queue: 'lease',
  'no-work': true,
  detach: true,
  'move-out': true,
  yes: true,
  'dry-run': true,
  'escape-formulas': true,
  json: true,
  'log-level': 'debug',
  'metrics-file': 'x.prom',
  notify: 'https://hook.example',
  'no-progress': true,
  quiet: true,
} as const satisfies Omit<RunFlags, keyof typeof ofWork>;

describe('the flags of a run', () => {
  it('are those of the command, with the same default values', () => {
    expect(noFlags).toEqual(
      Object.fromEntries(Object.entries(runFlags).map(([name, { absent }]) => [name, absent])),
    );
    expect(Object.keys({ ...ofWork, ...ofOther }).sort()).toEqual(Object.keys(runFlags).sort());
  });

  it.each(Object.entries(ofWork))('may give work to a run without work: --%s', (name, value) => {
    expect(asksForWork({ ...noFlags, [name]: value })).toBe(true);
    expect(asksForWork({ [name]: value })).toBe(true);
  });

  it('give no work to a finished run if they do not affect work', () => {
    expect(asksForWork(noFlags)).toBe(false);
    expect(asksForWork({ ...noFlags, ...ofOther })).toBe(false);
  });
});

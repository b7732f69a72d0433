import { describe, expect, it } from 'vitest';
import { endingText, type RunSummary } from '../../../src/report/text/summary.ts';
import { noSlots } from '../../rig/no-counts.ts';

function ending(slots: Partial<NonNullable<RunSummary['slots']>>, more: Partial<RunSummary> = {}): string {
  const summary: RunSummary = {
    pipeline: 'foxes',
    file: 'foxes.yaml',
    service: 'sandbox',
    origin: 'http://127.0.0.1:4000',
    sandbox: true,
    directory: 'runs/foxes',
    log: 'runs/foxes/run.log',
    startedAt: new Date(0).toISOString(),
    finishedAt: new Date(1000).toISOString(),
    end: { kind: 'complete' },
    exitCode: 0,
    submits: 0,
    slots: { ...noSlots, ...slots },
    reasons: [],
    inDoubt: [],
    ...more,
  };
  return endingText(summary, 'promptpress run foxes.yaml');
}

describe('how a run ended', () => {
  it.each([
    [{ done: 5 }, 'foxes: complete after 1 s. 5 done,'],
    [
      { done: 5, failed: 440, blocked: 1 },
      'foxes: ended with failures after 1 s. 5 done, 440 failed, 1 blocked,',
    ],
    [{ done: 5, 'in-doubt': 3, pending: 4 }, 'foxes: ended after 1 s. 5 done, 3 in doubt, 4 still to do,'],
    [{ done: 5, 'in-doubt': 1 }, 'foxes: ended after 1 s.'],
    [{ done: 5, accepted: 2 }, 'foxes: complete after 1 s. 5 done, 2 failed or blocked as accepted,'],
  ])('%j', (slots, words) => {
    expect(ending(slots)).toContain(words);
  });

  it('shows the failure that stopped it only once', () => {
    const message = 'The task failed: no.';
    const text = ending(
      { failed: 1, pending: 3 },
      {
        end: { kind: 'fail-fast', code: 'task.failed', message },
        reasons: [{ status: 'failed', code: 'task.failed', count: 1, message }],
      },
    );
    expect(text).toContain('stopped at the first failure (--fail-fast) after 1 s.');
    expect(text.split(message)).toHaveLength(2);
  });

  it('shows jobs put back for a later run, and tasks that were paid again', () => {
    expect(ending({ pending: 3 }, { putBack: 3 })).toContain(
      '3 jobs refused and put back for a later run, nothing paid',
    );
    expect(ending({ done: 1 }, { timedOutAgain: 1 })).toContain(
      '1 task timed out at the gateway and was paid again (links, double blanks, line ends and parameters at their default',
    );
    expect(ending({ pending: 3 })).not.toMatch(/put back|paid again/);
  });

  it('shows the limits found for the service', () => {
    const limits = { tasks: 3, perMinute: { poll: 600 }, byChance: { 'text/text-pro': 0.5 } };
    expect(ending({ done: 1 }, { limits })).toContain(
      `  log       runs/foxes/run.log
  pace      3 tasks at a time fit
            about 600 polls of tasks a minute are served
            half of the text calls of text-pro are refused by chance: each refused job waits alone
`,
    );
    expect(ending({ done: 1 })).not.toContain('  pace ');
  });

  it('separates the cost of this run from that of the directory', () => {
    const text = ending({ done: 1 }, { submits: 2, runCost: 0.5, cost: 1.5, allTokens: 1200 });
    expect(text).toContain(
      '2 submissions in this run (cost 0.50). This directory so far: tokens 1,200, cost 1.50.',
    );
  });
});

describe('what to do next', () => {
  it('one failed job is tried again', () => {
    const reasons = [{ status: 'failed' as const, code: 'task.failed', count: 1, message: 'no' }];
    expect(ending({ failed: 1 }, { reasons })).toContain('--retry-failed  tries the failed job again\n');
  });

  it('does not try failures again that the pipeline accepts', () => {
    const accepted = {
      status: 'failed',
      code: 'task.moderated',
      count: 2,
      message: 'no',
      accepted: true,
    } as const;
    expect(ending({ accepted: 2 }, { reasons: [accepted] })).not.toContain('Next:');
    const failed = { status: 'failed', code: 'task.failed', count: 1, message: 'no' } as const;
    expect(ending({ failed: 1, accepted: 2 }, { reasons: [accepted, failed] })).toContain(
      '--retry-failed --code task.failed  tries the failed job again\n',
    );
    const page = '\n  What each code means: schemas/errors.md of the promptpress package\n';
    expect(ending({ accepted: 2 }, { reasons: [accepted] })).not.toContain(page);
    expect(ending({ failed: 1, accepted: 2 }, { reasons: [accepted, failed] })).toContain(page);
  });

  it('names a command once, with all its effects', () => {
    const reasons = [{ status: 'failed' as const, code: 'task.timeout', count: 1, message: 'late' }];
    const end = { kind: 'interrupted' as const, forced: false };
    expect(ending({ failed: 1, pending: 1 }, { reasons, end })).toContain(
      'continues where this run stopped; polls the task that was not finished in time once more: nothing is paid for it\n',
    );
  });

  it('a failure that a retry cannot fix names the file to edit, and what to change', () => {
    const reasons = [
      { status: 'failed' as const, code: 'button.missing', count: 2, message: 'U9 is not there.' },
      { status: 'failed' as const, code: 'job.dropped', count: 1, message: 'You gave it up.' },
      { status: 'failed' as const, code: 'template.render', count: 3, unasked: 3, message: 'No such value.' },
    ];
    const next = ending({ done: 1, failed: 6 }, { reasons }).split('\nNext:\n')[1];
    expect(next?.trimEnd().split('\n')).toEqual([
      '  edit foxes.yaml  Name a button that its parent offers, or offer alternatives (A | B). After an edit only changed jobs run.',
      '  edit foxes.yaml  fix what the message above says; after an edit only changed jobs run',
    ]);
    expect(ending({ failed: 1 }, { reasons: reasons.slice(1, 2) })).not.toContain('Next:');
  });

  it('only jobs that may succeed are tried again', () => {
    const failed = (code: string, count: number) => ({
      status: 'failed' as const,
      code,
      count,
      message: 'no',
    });
    const unfixable = [failed('task.moderated', 3), failed('button.missing', 2), failed('parent.lost', 1)];
    expect(ending({ failed: 6 }, { reasons: unfixable })).not.toContain('--retry-failed');
    const mixed = [...unfixable, failed('download.connection', 2), failed('task.failed', 1)];
    const lines = ending({ failed: 9 }, { reasons: mixed })
      .split('\n')
      .filter((line) => line.includes('--retry-failed'))
      .map((line) => line.trim().replaceAll(/ +/g, ' '));
    expect(lines).toEqual([
      'promptpress run foxes.yaml --retry-failed --code download.connection tries the 2 failed jobs again',
      'promptpress run foxes.yaml --retry-failed --code task.failed tries the failed job again',
    ]);
  });

  it('a task that was not finished in time is polled before it is paid again', () => {
    const reasons = [
      { status: 'failed' as const, code: 'task.timeout', count: 2, message: 'late' },
      { status: 'failed' as const, code: 'task.failed', count: 1, message: 'no' },
    ];
    const [, next = ''] = ending({ failed: 3 }, { reasons }).split('Next:\n');
    const [first = '', second = ''] = next.split('\n').map((line) => line.replaceAll(/ +/g, ' '));
    expect(first).toBe(
      ' promptpress run foxes.yaml polls the 2 tasks that were not finished in time once more: nothing is paid for them',
    );
    expect(second).toBe(
      ' promptpress run foxes.yaml --retry-failed tries the 3 failed jobs again; what is still not finished is submitted again, and paid again',
    );
  });
});

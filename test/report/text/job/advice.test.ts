import { describe, expect, it } from 'vitest';
import type { JobErrorCode } from '../../../../src/pipeline/diagnostics/job-errors.ts';
import { adviceFor, nextSteps } from '../../../../src/report/text/job/advice.ts';
import { inDoubtAdvice } from '../../../../src/report/text/next-commands.ts';
import { clickRecord, imagineRecord, textRecord } from '../../../rig/jobs.ts';

const commands = {
  run: 'promptpress run set.yaml',
  status: 'promptpress status set.yaml',
  resolve: () => 'promptpress resolve',
} as unknown as Parameters<typeof nextSteps>[1];

it('a modal confirmation in doubt is searched for first, which costs nothing', () => {
  const record = clickRecord({ status: 'in-doubt', taskId: 'M1', modal: { taskId: 'M1', sent: 1 } });
  const steps = nextSteps({ record, running: false, inputs: [] }, commands);
  expect(steps.map(({ command }) => command)).toEqual([
    'promptpress run set.yaml',
    'promptpress resolve --task TASK_ID',
    'promptpress resolve --drop',
    'promptpress resolve --retry',
  ]);
  expect(steps[0]?.does).toMatch(/polls.*costs nothing/);
  const sent = { ...record, modal: undefined } as unknown as typeof record;
  expect(nextSteps({ record: sent, running: false, inputs: [] }, commands)).toHaveLength(3);
});

it('a job in doubt is settled once the run is over, and on an engine beside its workers', () => {
  const record = imagineRecord({ status: 'in-doubt' });
  const first = (shared: boolean) =>
    nextSteps({ record, running: true, shared, inputs: [] }, commands)[0]?.command;
  expect(first(false)).toBe('promptpress status set.yaml');
  expect(first(true)).toBe('promptpress resolve --task TASK_ID');
  const status = { directory: 'runs/set', inDoubt: [{ job: record.key }], running: true };
  expect(inDoubtAdvice(status, undefined).join(' ')).toContain('to settle it once the run is over:');
  expect(inDoubtAdvice({ ...status, engine: {} }, undefined).join(' ')).toContain('to settle it:');
});

describe('a job that failed before it was sent', () => {
  const redo = (attempts: number) => {
    const record = imagineRecord({
      status: 'failed',
      error: { code: 'mask.size', message: 'No.' },
      attempts,
    });
    return nextSteps({ record, running: false, inputs: [] }, commands).at(-1);
  };

  it('is tried again; only what was sent is paid again', () => {
    expect(redo(0)?.does).toBe('tries this job again: it was never sent');
    expect(redo(1)?.does).toBe('submits this job again: it is paid again');
  });

  it('has no command to retry all such jobs if the same request would fail again', () => {
    const commandsFor = (code: JobErrorCode) => {
      const record = imagineRecord({ status: 'failed', error: { code, message: 'No.' }, attempts: 1 });
      return nextSteps({ record, running: false, inputs: [] }, commands).map(({ command }) => command);
    };
    const redoes = `promptpress run set.yaml --redo ${imagineRecord().key}`;
    expect(commandsFor('task.moderated')).toEqual([redoes]);
    expect(commandsFor('task.failed')).toEqual([
      'promptpress run set.yaml --retry-failed --code task.failed',
      redoes,
    ]);
  });

  it('because of the size of its mask has advice', () => {
    expect(adviceFor('mask.size', imagineRecord())).toMatch(/size of the image, or draw it/);
  });
});

describe('a download that failed', () => {
  const code = 'download.connection';
  const error = { code, message: 'Gone.' } as const;

  it('of a task is retried without another submission', () => {
    const record = imagineRecord({ status: 'failed', error, attempts: 1 });
    expect(adviceFor(code, record)).toMatch(/made and paid/);
    const commandsOf = nextSteps({ record, running: false, inputs: [] }, commands).map(
      (step) => step.command,
    );
    expect(commandsOf).toEqual(['promptpress run set.yaml --retry-failed --code download.connection']);
  });

  it('of an input of a text step costs nothing; one of its reply is paid again', () => {
    expect(adviceFor(code, textRecord({ attempts: 0 }))).toMatch(/nothing is paid/);
    const record = textRecord({ status: 'failed', error, attempts: 1 });
    expect(adviceFor(code, record)).toMatch(/is paid again/);
    const commandsOf = nextSteps({ record, running: false, inputs: [] }, commands).map(
      (step) => step.command,
    );
    expect(commandsOf).toContain(`promptpress run set.yaml --redo ${record.key}`);
  });
});

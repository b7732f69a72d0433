import { expect, it } from 'vitest';
import type { JobRecord } from '../../src/plan/job.ts';
import { writeRunFacts } from '../../src/report/facts/run.ts';
import { openState } from '../../src/state/state.ts';
import { temporaryFolder } from '../rig/cli.ts';
import { markAsOwn } from '../rig/state-home.ts';
import { promptpress } from './test-io.ts';

/** What a kill leaves of a job that was being submitted. */
const left = (key: string, request: JobRecord['request']): JobRecord => ({
  key,
  kind: request.kind,
  status: 'submitting',
  request,
  origin: { cell: 1, step: 'one', branch: '', slot: key },
  keep: true,
  attempts: 1,
  tries: 0,
  resubmits: 0,
  submittedAt: Date.UTC(2026, 10, 1),
  artifacts: [],
});

it('a killed run leaves a task in doubt, but no text call', async () => {
  await using folder = await temporaryFolder();
  const cwd = folder.path;
  const [text, task] = ['a'.repeat(32), 'b'.repeat(32)] as const;
  const state = openState(cwd);
  state.commit({
    records: [
      left(text, { kind: 'generate', fields: { model: 'm', prompt: 'x' }, images: [{ job: task }] }),
      left(task, { kind: 'imagine', fields: { prompt: 'y' } }),
    ],
    attempts: [],
  });
  markAsOwn(state);
  state.close();

  const status = JSON.parse((await promptpress(['status', '.', '--json'], { cwd })).out) as object;
  expect(status).toMatchObject({ doubts: 1, inDoubt: [{ job: task }], jobs: { submitting: 2 } });
  const words = (await promptpress(['status', '.'], { cwd })).out;
  expect(words).toContain('1 under way, 1 in doubt');

  const report = JSON.parse((await promptpress(['show', text, '.', '--json'], { cwd })).out) as object;
  expect(report).toMatchObject({
    inDoubt: false,
    inputs: [{ job: task }],
    next: [{ does: 'asks again: a text call is never in doubt' }],
  });
  const shown = JSON.parse((await promptpress(['show', task, '.', '--json'], { cwd })).out) as object;
  expect(shown).toMatchObject({ inDoubt: true, children: [{ job: text }] });
  const refused = await promptpress(['resolve', text, '.', '--drop'], { cwd });
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('is not in doubt')]);
});

it('a run that left jobs in doubt has ended, and is not complete', async () => {
  await using folder = await temporaryFolder();
  const cwd = folder.path;
  const state = openState(cwd);
  const slots = { pending: 1, submitting: 0, running: 0, modal: 0, saving: 0, done: 2, failed: 0 };
  const facts = {
    filesRoot: cwd,
    tables: [],
    serviceId: 'sandbox',
    selection: {},
    startedAt: 0,
    atStart: { settled: 0, attempts: 0 },
  };
  const last = { finishedAt: 60_000, end: { kind: 'complete' as const }, exitCode: 5 };
  const said = async (inDoubt: number, pending: number, failed = 0): Promise<string> => {
    const outcome = {
      ...last,
      slots: { ...slots, pending, failed, 'in-doubt': inDoubt, skipped: 0, blocked: 0, accepted: 0 },
    };
    await writeRunFacts(state, { ...facts, outcome });
    return (await promptpress(['status', '.'], { cwd })).out.split('\n')[0] ?? '';
  };
  expect(await said(1, 1)).toMatch(/the last run ended at 1970-01-01T00:01/);
  expect(await said(0, 0)).toMatch(/the last run was complete at/);
  expect(await said(0, 0, 440)).toMatch(/the last run ended with failures at/);
  state.close();
});

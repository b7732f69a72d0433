import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../src/plan/job.ts';
import { readRunFacts, writeRunFacts } from '../../../src/report/facts/run.ts';
import { openState, openStateForReading } from '../../../src/state/state.ts';
import { useQuickSandbox } from '../../rig/quick-sandbox.ts';
import { markAsOwn } from '../../rig/state-home.ts';
import { promptpress, type Said } from '../test-io.ts';

useQuickSandbox();

/** Two text calls and an image, each of which a killed run had sent and got no answer to; one text call had not been sent. */
const text = `name: set
poll: { min: 5ms, max: 50ms }
matrix: { animal: [fox, owl, hare] }
steps:
  words: { chat: { model: chat-mini, prompt: "a {{ animal }}" } }
  grid: { imagine: a cat, path: U1 }
`;

const sentAt = Date.parse('2026-11-01T12:00:00Z');

let cwd: string;
let killed: readonly JobRecord[];
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'promptpress-'));
  await writeFile(join(cwd, 'pipeline.yaml'), text);
  const whole = await pp('run', '--sandbox', '--pace', '0', '--out', 'whole');
  if (whole.code !== 0) throw new Error(whole.err);
  const done = openStateForReading(join(cwd, 'whole'));
  const records: JobRecord[] = [];
  for await (const record of done?.withStatus('done') ?? []) records.push(record);
  const facts = done && (await readRunFacts(done));
  await done?.close();
  killed = records
    .filter(({ origin: { step, branch, cell } }) => branch === '' && (step === 'grid' || cell < 3))
    .map(({ key, kind, request, origin, keep, call }) => ({
      key,
      kind,
      request,
      origin,
      keep,
      ...(call && { call }),
      status: 'submitting',
      attempts: 1,
      submittedAt: sentAt,
      tries: 0,
      resubmits: 0,
      artifacts: [],
    }));
  const state = openState(join(cwd, 'runs/set.sandbox'));
  state.commit({ records: killed, attempts: [] });
  if (facts === undefined) throw new Error('The run left no facts.');
  const { outcome: _, ...begun } = facts;
  await writeRunFacts(state, begun);
  markAsOwn(state);
  state.close();
}, 120_000);
afterEach(() => rm(cwd, { recursive: true, force: true }));

const pp = (...args: readonly string[]): Promise<Said> => promptpress(args, { cwd });

const json = async (...args: readonly string[]): Promise<Record<string, unknown>> =>
  JSON.parse((await pp(...args, '--json')).out) as Record<string, unknown>;

const keyOf = (step: string): string => killed.find(({ origin }) => origin.step === step)?.key ?? '';

describe('after the kill of a run', () => {
  it('plan counts repeated text calls, and counts the image as in doubt like ls and status', async () => {
    const { total } = await json('plan', '--sandbox');
    expect(total).toMatchObject({ submits: 3, inDoubt: 1, running: 0, held: 1, why: { new: 1, retry: 2 } });
    expect(await json('ls')).toMatchObject({ runs: [{ jobs: { inDoubt: 1, open: 2 } }, {}] });
    expect((await pp('status', '--sandbox', 'pipeline.yaml')).out).toContain('1 in doubt');
    expect(await json('status', 'runs/set.sandbox')).toMatchObject({ submits: 3, unanswered: 3 });
    const { submits } = await json('run', '--sandbox', '--pace', '0');
    expect(submits).toBe(3);
  });

  it('the calls without an answer stay in the totals, and in the history of their jobs', async () => {
    const words = '3 submissions without an answer, possibly paid';
    expect((await pp('status', 'runs/set.sandbox')).out).toContain(words);
    expect((await pp('show', keyOf('words'), 'runs/set.sandbox')).out).toContain('to be asked again');
    const { code, err } = await pp('run', '--sandbox', '--pace', '0');
    expect(code, err).toBe(5);
    expect(err).toContain(words);
    expect((await pp('status', 'runs/set.sandbox')).out).toContain(words);
    const story = await json('show', keyOf('words'), 'runs/set.sandbox');
    expect(story).toMatchObject({
      attempts: 2,
      doubtful: { count: 1 },
      history: [{ at: '2026-11-01T12:00:00.000Z', outcome: 'unanswered' }, { outcome: 'done' }],
    });
  });

  it('status says how to write the manifest that the killed run did not write', async () => {
    const advice = '  promptpress manifest runs/set.sandbox\n';
    expect((await pp('status', 'runs/set.sandbox')).out).toContain(advice);
    await pp('run', '--sandbox', '--pace', '0');
    expect((await pp('status', 'runs/set.sandbox')).out).not.toContain(advice);
  });

  it('an image that is submitted again by the user’s decision keeps its first submission in its history', async () => {
    const { code, err } = await pp('run', '--sandbox', '--pace', '0', '--in-doubt', 'retry');
    expect(code, err).toBe(0);
    const { attempts, history } = await json('show', keyOf('grid'), 'runs/set.sandbox');
    expect(attempts).toBe(2);
    expect(history).toMatchObject([{ outcome: 'unanswered' }, { outcome: 'accepted' }]);
  });
});

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Redactor } from '../../../src/app/output/redact.ts';
import { openRunLog, tracedText } from '../../../src/app/run/log.ts';
import { jobStatuses } from '../../../src/plan/job.ts';
import type { RunEnd, RunEvent } from '../../../src/run/events.ts';
import type { TextService } from '../../../src/service/text-service.ts';
import { testIo } from '../../cli/test-io.ts';

/** The lines of a log that was told of these events. */
function logged(events: readonly RunEvent[], redactor = new Redactor()): readonly unknown[] {
  const folder = mkdtempSync(join(tmpdir(), 'log-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'run.log');
  const log = openRunLog(file, 'info', redactor, testIo({ cwd: folder, now: () => 0 }).io, (error) => {
    throw error;
  });
  for (const event of events) log.listener(event);
  log.close();
  return readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
}

it('the log reports an unwanted end of a run as an error, and no other end', () => {
  const because = { code: 'route.refused', message: 'because' } as const;
  const ends: readonly (readonly [RunEnd, string])[] = [
    [{ kind: 'complete' }, 'info'],
    [{ kind: 'interrupted', forced: false }, 'info'],
    [{ kind: 'interrupted', forced: true }, 'info'],
    [{ kind: 'stopped', ...because }, 'error'],
    [{ kind: 'disk', ...because }, 'error'],
    [{ kind: 'budget', ...because }, 'error'],
    [{ kind: 'fail-fast', ...because }, 'error'],
  ];
  expect(logged(ends.map(([end]): RunEvent => ({ type: 'run:end', end })))).toMatchObject(
    ends.map(([end, level]) => ({ level, msg: 'run:end', end })),
  );
});

it('the log names the rule of pace that applies', () => {
  expect(logged([{ type: 'route:pace', route: 'text', kind: 'text-pro', atOnce: 2 }])).toEqual([
    expect.objectContaining({
      level: 'info',
      msg: 'route:pace',
      kind: 'text-pro',
      atOnce: 2,
      words: '2 at a time fit at text-pro',
    }),
  ]);
});

it('the log warns of jobs that failed or are in doubt, and of no other', () => {
  const job = { type: 'job:status', key: 'a', step: 'grid', branch: '', cell: 1, from: 'running' } as const;
  expect(logged(jobStatuses.map((to) => ({ ...job, to })))).toMatchObject(
    ['failed', 'in-doubt'].map((to) => ({ level: 'warn', to })),
  );
});

it('the log masks every secret, and writes each event as one line of plain text', () => {
  const redactor = new Redactor();
  redactor.add('S3cret-0123456789');
  const message = 'said S3cret-0123456789\u001b[2J\u202e and went';
  const lines = logged([{ type: 'run:notice', code: 'run.slept', message }], redactor);
  expect(lines).toHaveLength(1);
  const [line] = lines as readonly { readonly message: string }[];
  expect(line?.message).toMatch(/^said .* and went$/s);
  expect(line?.message).not.toContain('S3cret');
});

it('the log that can no longer be written says so once, and the run goes on', () => {
  const folder = mkdtempSync(join(tmpdir(), 'log-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const redactor = new Redactor();
  const broken = Object.assign(redactor, {
    apply: () => {
      throw new Error('ENOSPC');
    },
  });
  const errors: string[] = [];
  const log = openRunLog(join(folder, 'run.log'), 'info', broken, testIo({ cwd: folder }).io, ({ message }) =>
    errors.push(message),
  );
  for (let n = 0; n < 3; n += 1) log.listener({ type: 'run:end', end: { kind: 'complete' } });
  log.close();
  expect(errors).toEqual(['ENOSPC']);
});

it('the log shows no part of a secret at the cut of a long text', async () => {
  const secret = 'S3cret-0123456789-abcdefghij';
  const redactor = new Redactor();
  redactor.addCredential(secret);
  const said: string[] = [];
  const answer = (text: string) => ({
    ok: true as const,
    value: { candidates: [{ text, finishReason: 'STOP', functionCalls: [], images: [] }] },
  });
  for (let before = 1800; before <= 2100; before += 1) {
    const text = `${'x'.repeat(before)}${secret}${'y'.repeat(200)}`;
    const service = { ask: () => Promise.resolve(answer(text)) } as unknown as TextService;
    const trace = (facts: object): void => void said.push(JSON.stringify(facts));
    const traced = tracedText(service, trace, (words) => redactor.apply(words));
    await traced.ask(
      { kind: 'generate', fields: { prompt: text }, images: [], earlier: [], turns: [], stream: false },
      new AbortController().signal,
    );
  }
  expect(said).toHaveLength(602);
  expect(said.filter((line) => line.includes(secret.slice(0, 4)))).toEqual([]);
});

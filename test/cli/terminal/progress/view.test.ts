import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ProgressModel } from '../../../../src/app/progress/model.ts';
import { leftSpan } from '../../../../src/cli/terminal/progress/figures.ts';
import { Screen } from '../../../../src/cli/terminal/progress/screen.ts';
import { progressSentence } from '../../../../src/cli/terminal/progress/sentence.ts';
import { plainPaint, progressLines } from '../../../../src/cli/terminal/progress/view.ts';
import { columnsOf, cut } from '../../../../src/pipeline/diagnostics/columns.ts';
import type { JobStatus } from '../../../../src/plan/job.ts';
import { money, size, span } from '../../../../src/report/text/amounts.ts';
import { shownLine } from '../../../../src/report/text/printable.ts';
import { progressOf, runStart, stepProgress, stepStart } from './start-rig.ts';

const start = 1_000_000;
const look = { columns: 80, rows: 24, unicode: false, paint: plainPaint };

const move = (
  model: ProgressModel,
  step: string,
  from: JobStatus | undefined,
  to: JobStatus,
  now: number,
  cost?: number,
): void =>
  model.take(
    {
      type: 'job:status',
      key: 'k',
      step,
      branch: '',
      cell: 1,
      from,
      to,
      ...(cost === undefined ? {} : { cost }),
    },
    now,
  );

describe('ProgressModel', () => {
  it('counts jobs by step, tasks in flight, cost and the pace of the last minute', () => {
    const steps = [stepStart('grid', { total: 4, counts: { done: 1 } }), stepStart('more')];
    const model = new ProgressModel(runStart(steps), start);
    move(model, 'grid', undefined, 'submitting', start);
    move(model, 'grid', 'submitting', 'running', start + 100);
    expect(model.progress(start + 100)).toMatchObject({ tasks: 1, downloads: 0, perMinute: 0 });
    move(model, 'grid', 'running', 'saving', start + 5000);
    expect(model.progress(start + 5000)).toMatchObject({ tasks: 0, downloads: 1 });
    move(model, 'grid', 'saving', 'done', start + 6000, 0.04);
    move(model, 'grid', undefined, 'submitting', start + 7000);
    move(model, 'grid', 'submitting', 'in-doubt', start + 8000);
    const progress = model.progress(start + 30_000);
    expect(progress.steps).toEqual([
      stepProgress('grid', { total: 4, done: 2, inDoubt: 1 }),
      stepProgress('more'),
    ]);
    expect(progress).toMatchObject({ tasks: 0, downloads: 0, cost: 0.04, perMinute: 4 });
    expect(model.progress(start + 120_000).perMinute).toBe(0);
  });

  it('counts text calls apart from tasks', () => {
    const steps = [stepStart('say', { total: 2, isText: true }), stepStart('grid', { total: 1 })];
    const model = new ProgressModel(runStart(steps), start);
    for (const [key, step] of [
      ['a', 'say'],
      ['b', 'say'],
      ['c', 'grid'],
    ] as const) {
      const change = { type: 'job:status', key, step, branch: '', cell: 1 } as const;
      model.take({ ...change, from: undefined, to: 'pending' }, start);
      model.take({ ...change, from: 'pending', to: 'submitting' }, start);
    }
    expect(model.progress(start)).toMatchObject({ tasks: 1, texts: 2, downloads: 0 });
  });

  it('counts a missing button as skipped where it is optional, and as failed elsewhere', () => {
    const steps = [stepStart('grid', { total: 2 })];
    const model = new ProgressModel(
      runStart(steps, { isOptional: ({ branch }) => branch === 'Nope' }),
      start,
    );
    for (const branch of ['Nope', 'U9'])
      model.take(
        {
          type: 'job:status',
          key: branch,
          step: 'grid',
          branch,
          cell: 1,
          from: 'pending',
          to: 'failed',
          error: { code: 'button.missing', message: 'no' },
        },
        start,
      );
    const shown = model.progress(start);
    expect(shown.steps[0]).toMatchObject({ failed: 1, skipped: 1 });
    expect(progressSentence(shown, start)).toContain('0/2 done, 1 failed, 1 skipped');
  });

  it('counts slots that no job settles, and keeps the last reason of a failure', () => {
    const model = new ProgressModel(runStart([stepStart('grid', { total: 4 })]), start);
    const slot = { type: 'slot:status', step: 'grid', branch: '', cell: 3 } as const;
    model.take({ ...slot, status: 'blocked' }, start);
    model.take({ ...slot, status: 'skipped' }, start);
    // It waits for a job in doubt: it is neither.
    model.take({ ...slot, status: 'pending' }, start);
    expect(model.progress(start)).not.toHaveProperty('lastFailure');
    const error = { code: 'template.filter' as const, message: 'no words' };
    model.take({ ...slot, status: 'failed', error }, start);
    expect(model.progress(start)).toMatchObject({
      steps: [{ blocked: 1, skipped: 1, failed: 1, done: 0 }],
      lastFailure: { step: 'grid', cell: 3, error },
    });
  });

  it('counts failures that the pipeline accepts apart, and none of them is the last failure', () => {
    const model = new ProgressModel(runStart([stepStart('grid', { total: 3 })]), start);
    const at = { step: 'grid', branch: '', cell: 1, accepted: true } as const;
    const error = { code: 'task.moderated' as const, message: 'no' };
    model.take({ ...at, type: 'job:status', key: 'a', from: 'running', to: 'failed', error }, start);
    model.take({ ...at, type: 'slot:status', status: 'blocked', error }, start);
    model.take({ ...at, type: 'slot:status', status: 'failed', error }, start);
    const shown = model.progress(start);
    expect(shown).not.toHaveProperty('lastFailure');
    expect(shown).toMatchObject({ open: 1, steps: [{ accepted: 3, failed: 0, blocked: 0 }] });
    expect(progressSentence(shown, start)).toContain('0/3 done, 3 failed as accepted, ');
  });

  it('no longer counts a failed job that is retried', () => {
    const model = new ProgressModel(
      runStart([stepStart('grid', { total: 1, counts: { failed: 1 } })]),
      start,
    );
    move(model, 'grid', 'failed', 'pending', start);
    move(model, 'grid', 'pending', 'submitting', start);
    expect(model.progress(start).steps[0]).toMatchObject({ failed: 0, active: 1 });
  });

  it('shows the reason while there is no progress', () => {
    const model = new ProgressModel(runStart(), start);
    model.take({ type: 'route:pause', route: 'submit', untilMs: start + 5000, reason: 'slow down' }, start);
    expect(model.progress(start + 1000).notice).toBe(
      'submissions are refused, asked again in 4 s: slow down',
    );
    expect(model.progress(start + 6000)).not.toHaveProperty('notice');
    const pause = { type: 'route:pause', route: 'text', untilMs: start + 9000, reason: 'slow down' } as const;
    model.take({ ...pause, kind: 'a-model' }, start);
    expect(model.progress(start + 6000).notice).toBe(
      'text calls of a-model are refused, asked again in 3 s: slow down',
    );
  });
});

const steps = [
  stepProgress('grid', { done: 4, total: 4 }),
  stepProgress('repaint', { done: 5, failed: 1, inDoubt: 1, blocked: 2, active: 3, total: 20 }),
];
const progress = progressOf(steps, { leftMs: 65_000, cost: 1.5 });

describe('the live view', () => {
  it('has the time left and all steps first, a bar for each step, then the current state', () => {
    const lastFailure = {
      step: 'repaint',
      cell: 12,
      error: { code: 'task.failed' as const, message: 'Banned prompt' },
    };
    const notice = 'paused for 4 s: slow down';
    const all = { ...progress, downloads: 2, texts: 1, lastFailure, notice };
    expect(progressLines(all, start + 90_000, { ...look, columns: 100 })).toEqual([
      'about 65 s left ###############xxxxxx------------------- 9/24, 1 failed, 1 in doubt, 2 blocked',
      'grid    ######################################## 4/4',
      'repaint ##########xxxxxxxx---------------------- 5/20, 1 failed, 1 in doubt, 2 blocked',
      '3 tasks, 2 downloads, 1 text in flight, 12 jobs/min, 90 s so far',
      'cost 1.50',
      'last failure: repaint, cell 12: task.failed: Banned prompt',
      'paused for 4 s: slow down',
    ]);
  });

  it('has one line for a run of one step', () => {
    expect(progressLines(progressOf(steps.slice(1), { leftMs: 200_000 }), start, look)).toEqual([
      'about 3 min 20 s left ####xxxx----------- 5/20, 1 failed, 1 in doubt, 2 blocked',
      '3 tasks in flight, 12 jobs/min, 0 s so far',
    ]);
  });

  it('leaves out the least important parts on a narrow screen, but never the time left', () => {
    const shown = (columns: number): readonly string[] =>
      progressLines({ ...progress, earlier: { cost: 3, tokens: 500 } }, start, { ...look, columns });
    expect(shown(40)).toEqual([
      '65 s left 9/24, 1 failed, 1 in doubt',
      'grid    ########################### 4/4',
      'repaint 5/20, 1 failed, 1 in doubt',
      '3 tasks in flight, 12 jobs/min',
      'cost 1.50 in this run',
    ]);
    expect(shown(21)[0]).toBe('65 s left #x--- 9/24');
    expect(shown(100).at(-1)).toBe(
      'cost 1.50 in this run, this directory so far 4.50, this directory so far 500 tokens',
    );
  });

  it('shows running steps first if there are more steps than rows', () => {
    const many = Array.from({ length: 40 }, (_, n) =>
      stepProgress(`step${n}`, n < 15 ? { done: 3, total: 3 } : { active: n % 10 === 7 ? 1 : 0, total: 3 }),
    );
    const lines = progressLines(progressOf(many, { leftMs: 5000 }), start, { ...look, rows: 12 });
    expect(lines).toHaveLength(11);
    expect(lines.slice(1).map((line) => line.split(' ')[0])).toEqual([
      'step17',
      'step27',
      'step37',
      'step15',
      'step16',
      'step18',
      'step19',
      'step20',
      'and',
      '3',
    ]);
    expect(lines.at(-2)).toBe('and 32 more steps, 15 of them over');
    const over = many.map((step) => ({ ...step, active: 0, done: 3 }));
    expect(progressLines(progressOf(over), start, { ...look, rows: 12 }).at(-2)).toBe(
      'and 32 more steps, all over',
    );
    expect(progressLines(progressOf(many), start, { ...look, rows: 50 })).toHaveLength(42);
  });

  it('leaves no step out where all fit to the line', () => {
    const shown = (count: number): readonly string[] => {
      const some = Array.from({ length: count }, (_, n) => stepProgress(`step${n}`, { total: 3 }));
      return progressLines(progressOf(some), start, { ...look, rows: 8 }).slice(1, -1);
    };
    expect(shown(5).map((line) => line.split(' ')[0])).toEqual(['step0', 'step1', 'step2', 'step3', 'step4']);
    expect(shown(6).map((line) => line.split(' ')[0])).toEqual(['step0', 'step1', 'step2', 'step3', 'and']);
  });

  it('adds what this run spends to what its directory has spent', () => {
    const spent = { cost: 1, tokens: { prompt: 7, total: 9 }, earlier: { cost: 2, tokens: 500 } };
    expect(progressLines(progressOf(steps, spent), start, { ...look, columns: 120 }).at(-1)).toBe(
      'cost 1.00 in this run, this directory so far 3.00, tokens 7 in, this directory so far 509 tokens',
    );
  });

  it('marks an estimated total', () => {
    const open = [...steps, stepProgress('best', { done: 2 })];
    expect(progressLines(progressOf(open, { open: 15 }), start, look)[0]).toMatch(
      /^time left unknown .* 11\/~30, /,
    );
    expect(progressLines(progressOf(open, { open: 15 }), start, look)[3]).toMatch(/ 2$/);
  });

  it.each([
    ['nothing left', { open: 0, leftMs: 0 }],
    ['stopping, about 8 s', { stopping: true, leftMs: 8000 }],
    ['stopping', { stopping: true }],
  ])('begins with: %s', (words, rest) => {
    expect(progressLines(progressOf(steps, rest), start, look)[0]?.split('  ')[0]).toMatch(
      new RegExp(`^${words} [#]`),
    );
  });

  it('shows one failure among thousands', () => {
    const one = [stepProgress('grid', { done: 9999, failed: 1, total: 100_000 })];
    expect(progressLines(progressOf(one), start, look)[0]).toContain('x');
  });

  it('fits every width and height with any names and notices, and prints no control characters', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'binary', maxLength: 30 }), { minLength: 1, maxLength: 12 }),
        fc.string({ unit: 'binary', maxLength: 80 }),
        fc.integer({ min: 21, max: 200 }),
        fc.integer({ min: 2, max: 60 }),
        fc.nat(1_000_000),
        (names, notice, columns, rows, done) => {
          const named = names.map((name) =>
            stepProgress(name, { done, failed: 7, blocked: 9, total: 1_000_000 }),
          );
          const lastFailure = {
            step: notice,
            cell: 1,
            error: { code: 'service.rejected' as const, message: notice },
          };
          const shown = progressOf(named, { notice, lastFailure, leftMs: done * 1000, cost: done });
          const lines = progressLines(shown, start, { ...look, columns, rows });
          expect(lines.length).toBeLessThan(Math.max(3, rows));
          for (const line of lines) {
            expect(columnsOf(line)).toBeLessThan(columns);
            // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
            expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
          }
        },
      ),
      { seed: 3, numRuns: 60 },
    );
  });

  it('shows work in flight even if there is none, without kinds that have none', () => {
    const kinds = fc.record({ tasks: fc.nat(2), downloads: fc.nat(2), texts: fc.nat(2) });
    fc.assert(
      fc.property(kinds, ({ tasks, downloads, texts }) => {
        const words = [
          [tasks, 'task'],
          [downloads, 'download'],
          [texts, 'text'],
        ] as const;
        const some = words.filter(([many]) => many > 0);
        const said = (some.length === 0 ? words.slice(0, 1) : some).map(
          ([many, word]) => `${many} ${word}${many === 1 ? '' : 's'}`,
        );
        const sentence = progressSentence(progressOf([], { tasks, downloads, texts }), start + 1000);
        expect(sentence).toContain(`, ${said.join(', ')} in flight, `);
      }),
    );
  });

  it('is one sentence without a terminal', () => {
    const now = new Date(2026, 10, 22, 21, 54, 3).getTime();
    const shown = { ...progress, startedAt: now - 90_000, earlier: { cost: 2, tokens: 0 } };
    expect(progressSentence(shown, now)).toBe(
      '21:54:03 foxes: about 65 s left, 9/24 done, 1 failed, 1 in doubt, 2 blocked, 3 tasks in flight, 12 jobs/min, 90 s so far, cost 1.50 in this run, this directory so far 3.50',
    );
  });
});

describe('Screen', () => {
  it('draws each frame with one write over the one before, and leaves nothing behind', () => {
    const writes: string[] = [];
    const write = (text: string) => writes.push(text);
    const screen = new Screen(write, write);
    screen.draw(['one', 'two']);
    screen.draw(['one', 'two']);
    screen.draw(['one']);
    screen.print('a line\n');
    screen.draw(['one']);
    screen.clear();
    expect(writes).toEqual([
      'one\u001b[K\ntwo\u001b[K\n\u001b[J',
      '\u001b[2A\rone\u001b[K\n\u001b[J',
      '\u001b[1A\r\u001b[J',
      'a line\n',
      'one\u001b[K\n\u001b[J',
      '\u001b[1A\r\u001b[J',
    ]);
  });
});

describe('texts', () => {
  it('are one line without escapes', () => {
    expect(shownLine('a\u001b[31mred\u001b[0m\nb\tc\u001b]0;title\u0007')).toBe('ared b c');
    expect(shownLine('\u202eevil')).toBe('\ufffdevil');
  });

  it('are cut by columns, not by characters', () => {
    expect(cut('狐狸在雪里', 6)).toBe('狐狸…');
    expect(cut('𗀀𗀁𗀂', 4)).toBe('𗀀…');
    expect(cut('fox', 3)).toBe('fox');
  });

  it('of the time left are coarser the longer it is', () => {
    const spans = [400, 19_400, 23_000, 97_000, 119_000, 203_000, 594_000, 3_240_000, 6_420_000, 90_000_000];
    expect(spans.map((ms) => leftSpan(ms))).toEqual([
      '1 s',
      '19 s',
      '25 s',
      '95 s',
      '2 min',
      '3 min 20 s',
      '9 min 50 s',
      '54 min',
      '1 h 45 min',
      '25 h 0 min',
    ]);
  });

  it('of amounts read well', () => {
    expect([span(8000), span(240_000), span(7_800_000), span(273_600_000)]).toEqual([
      '8 s',
      '4 min',
      '2 h 10 min',
      '3 d 4 h',
    ]);
    expect([money(0.0004), money(12.5), size(999), size(12_345_678)]).toEqual([
      '0.0004',
      '12.50',
      '999 B',
      '12.3 MB',
    ]);
  });
});

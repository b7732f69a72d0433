import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Progress, ProgressModel } from '../../../../src/cli/terminal/progress/model.ts';
import { Screen } from '../../../../src/cli/terminal/progress/screen.ts';
import { plainPaint, progressLines, progressSentence } from '../../../../src/cli/terminal/progress/view.ts';
import { columnsOf, cut } from '../../../../src/pipeline/diagnostics/terminal-text.ts';
import type { JobStatus } from '../../../../src/plan/job.ts';
import { money, size, span } from '../../../../src/report/text/amounts.ts';
import { shownLine } from '../../../../src/report/text/printable.ts';

const start = 1_000_000;
const look = { columns: 80, unicode: false, paint: plainPaint };

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
    const model = new ProgressModel('foxes', start, [
      { name: 'grid', total: 4, done: 1, failed: 0, inDoubt: 0 },
      { name: 'more', done: 0, failed: 0, inDoubt: 0 },
    ]);
    move(model, 'grid', undefined, 'submitting', start);
    move(model, 'grid', 'submitting', 'running', start + 100);
    expect(model.progress(start + 100)).toMatchObject({ tasks: 1, perMinute: 0 });
    move(model, 'grid', 'running', 'saving', start + 5000);
    expect(model.progress(start + 5000).tasks).toBe(0);
    move(model, 'grid', 'saving', 'done', start + 6000, 0.04);
    move(model, 'grid', undefined, 'submitting', start + 7000);
    move(model, 'grid', 'submitting', 'in-doubt', start + 8000);
    const { steps, cost, perMinute } = model.progress(start + 30_000);
    expect(steps[0]).toEqual({
      name: 'grid',
      total: 4,
      done: 2,
      failed: 0,
      inDoubt: 1,
      skipped: 0,
      active: 0,
    });
    expect(steps[1]).not.toHaveProperty('total');
    expect(cost).toBe(0.04);
    expect(perMinute).toBe(4);
    expect(model.progress(start + 120_000).perMinute).toBe(0);
  });

  it('counts a missing button as skipped where it is optional, and as failed elsewhere', () => {
    const steps = [{ name: 'grid', total: 2, done: 0, failed: 0, inDoubt: 0 }];
    const model = new ProgressModel('x', start, steps, ({ branch }) => branch === 'Nope');
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

  it('takes a failed job that is tried again back', () => {
    const model = new ProgressModel('x', start, [{ name: 'grid', total: 1, done: 0, failed: 1, inDoubt: 0 }]);
    move(model, 'grid', 'failed', 'pending', start);
    move(model, 'grid', 'pending', 'submitting', start);
    expect(model.progress(start).steps[0]).toMatchObject({ failed: 0, active: 1 });
  });

  it('says why there is no progress while there is none', () => {
    const model = new ProgressModel('x', start, []);
    model.take({ type: 'route:pause', route: 'submit', untilMs: start + 5000, reason: 'slow down' }, start);
    expect(model.progress(start + 1000).notice).toBe('paused for 4 s: slow down');
    expect(model.progress(start + 6000)).not.toHaveProperty('notice');
  });
});

const progress: Progress = {
  name: 'foxes',
  startedAt: start,
  steps: [
    { name: 'grid', done: 4, failed: 0, inDoubt: 0, skipped: 0, active: 0, total: 4 },
    { name: 'repaint', done: 5, failed: 1, inDoubt: 1, skipped: 0, active: 3, total: 20 },
    { name: 'best', done: 2, failed: 0, inDoubt: 0, skipped: 0, active: 0 },
  ],
  tasks: 3,
  cost: 1.5,
  perMinute: 12,
  stopping: false,
};

describe('the live view', () => {
  it('has a bar for each step, then the current state', () => {
    const { steps } = progress;
    expect(progressLines({ ...progress, steps: steps.slice(0, 2) }, start + 90_000, look)).toEqual([
      'grid    ######################################## 4/4',
      'repaint ##########xxxx-------------------------- 5/20, 1 failed, 1 in doubt',
      '90 s, 3 in flight, 12 jobs/min, cost 1.50, about 65 s left',
    ]);
  });

  it('leaves totals and the time left out where they are not known', () => {
    const lines = progressLines(progress, start, look);
    expect(lines[2]).toMatch(/ 2$/);
    expect(lines[3]).toBe('0 s, 3 in flight, 12 jobs/min, cost 1.50');
    expect(progressLines({ ...progress, stopping: true }, start, look)[3]).toMatch(/stopping$/);
  });

  it('shows one failure among thousands', () => {
    const steps = [
      { name: 'grid', done: 9999, failed: 1, inDoubt: 0, skipped: 0, active: 0, total: 100_000 },
    ];
    expect(progressLines({ ...progress, steps }, start, look)[0]).toContain('x');
  });

  it('fits every width, whatever the names and notices are, and lets nothing through that a terminal obeys', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'binary', maxLength: 40 }), { minLength: 1, maxLength: 30 }),
        fc.string({ unit: 'binary', maxLength: 200 }),
        fc.integer({ min: 21, max: 200 }),
        fc.nat(1_000_000),
        (names, notice, columns, done) => {
          const steps = names.map((name) => ({
            name,
            done,
            failed: 7,
            inDoubt: 0,
            skipped: 0,
            active: 0,
            total: 1_000_000,
          }));
          for (const line of progressLines({ ...progress, steps, notice }, start, { ...look, columns })) {
            expect(columnsOf(line)).toBeLessThan(columns);
            // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
            expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
          }
        },
      ),
      { seed: 3, numRuns: 200 },
    );
  });

  it('is one sentence where there is no terminal', () => {
    expect(progressSentence(progress, start + 90_000)).toBe(
      'foxes: 11 done, 1 failed, 1 in doubt, 90 s, 3 in flight, 12 jobs/min, cost 1.50',
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

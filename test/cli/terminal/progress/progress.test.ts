import { describe, expect, it } from 'vitest';
import { showProgress } from '../../../../src/cli/terminal/progress/progress.ts';
import { Intervals } from '../../../../src/cli/terminal/progress/sentence.ts';
import { testIo } from '../../test-io.ts';
import { runStart, stepStart } from './start-rig.ts';

describe('why a route pauses', () => {
  it.each([
    // What submit codes say has no full stop of its own (gateway 3.2).
    ['The queue is full, please try again later', 'The queue is full, please try again later.'],
    ['队列已满，请稍后尝试', '队列已满，请稍后尝试.'],
    ['HTTP 503: overloaded.', 'HTTP 503: overloaded.'],
    ['当前分组负载已饱和。', '当前分组负载已饱和。'],
    ['负载已饱和！ ', '负载已饱和！'],
    ['Too busy?', 'Too busy?'],
    ['wait…', 'wait…'],
    ['It says “come back later.”', 'It says “come back later.”'],
    ['full (3 of 3)', 'full (3 of 3).'],
  ])('is a sentence of its own: %s', (reason, said) => {
    const { io, err } = testIo({ cwd: '/', now: () => 0 });
    const show = showProgress(io, runStart(), { quiet: false });
    show.listener({ type: 'route:pause', route: 'submit', untilMs: 1000, reason });
    show.end();
    expect(err()).toBe(`Submissions are refused, asked again in 1 s: ${said}\n`);
  });
});

it('a route that is asked again at once is asked again in a second', () => {
  const { io, err } = testIo({ cwd: '/', now: () => 5000 });
  const show = showProgress(io, runStart(), { quiet: false });
  show.listener({ type: 'route:pause', route: 'submit', untilMs: 4000, reason: 'Busy' });
  show.end();
  expect(err()).toBe('Submissions are refused, asked again in 1 s: Busy.\n');
});

it('a line that is long overdue is followed by the next one after its whole interval', () => {
  const intervals = new Intervals(0);
  const due = [9999, 10_000, 1_000_000, 1_000_001, 1_039_999, 1_040_000];
  expect(due.filter((now) => intervals.isDue(now))).toEqual([10_000, 1_000_000, 1_040_000]);
});

describe('showProgress without a terminal', () => {
  it('prints at once why no request is sent, and repeats it at most once a minute', () => {
    let now = 0;
    const { io, err } = testIo({ cwd: '/', now: () => now });
    const show = showProgress(io, runStart(), { quiet: false });
    const pause = (route: 'submit' | 'poll' | 'text', kind: object = {}): void =>
      show.listener({
        type: 'route:pause',
        route,
        ...kind,
        untilMs: now + 1000,
        reason: 'connection refused.',
      });
    pause('submit');
    now = 59_000;
    pause('submit');
    pause('poll');
    pause('text', { kind: 'a-model' });
    pause('text', { kind: 'another' });
    pause('text', { kind: 'a-model' });
    now = 61_000;
    pause('submit');
    show.end();
    expect(err().trimEnd().split('\n')).toEqual([
      'Submissions are refused, asked again in 1 s: connection refused.',
      'Polls of tasks are refused, asked again in 1 s: connection refused.',
      'Text calls of a-model are refused, asked again in 1 s: connection refused.',
      'Text calls of another are refused, asked again in 1 s: connection refused.',
      'Submissions are refused, asked again in 1 s: connection refused.',
    ]);
  });

  it('prints the limits found for the service', () => {
    const { io, err } = testIo({ cwd: '/', now: () => 0 });
    const show = showProgress(io, runStart(), { quiet: false });
    show.listener({ type: 'route:pace', route: 'text', kind: 'text-pro', atOnce: 2 });
    show.listener({ type: 'route:pace', route: 'submit' });
    show.end();
    expect(err()).toBe('2 at a time fit at text-pro.\nThere is no known limit of submissions any more.\n');
  });
});

describe('the lines of a run without a terminal', () => {
  const started = new Date(2026, 10, 22, 21, 54, 3).getTime();

  /** Lets a run last, and ticks every ten seconds. @returns seconds after the start and line of each that was said */
  function lines(seconds: number): readonly (readonly [number, string])[] {
    let now = started;
    const { io, err, tick } = testIo({ cwd: '/', now: () => now });
    const show = showProgress(io, runStart([stepStart('grid', { total: 8 })]), { quiet: false });
    const said: (readonly [number, string])[] = [];
    let length = 0;
    for (let second = 10; second <= seconds; second += 10) {
      now = started + second * 1000;
      tick();
      if (err().length > length) said.push([second, err().slice(length)]);
      length = err().length;
    }
    show.end();
    return said;
  }

  it('come at growing intervals, and never less often than every five minutes', () => {
    expect(lines(1300).map(([second]) => second)).toEqual([10, 30, 70, 150, 310, 610, 910, 1210]);
  });

  it('begin with the clock time, and with the date once the day is over', () => {
    const said = lines(100).map(([, line]) => line.split(' foxes: ')[0]);
    expect(said[0]).toBe('21:54:13');
    expect(lines(8000).at(-1)?.[1]).toMatch(/^2026-11-23 00:0\d:\d\d foxes: /);
  });

  it('are left out when no progress is wanted', () => {
    let now = started;
    const { io, err, tick } = testIo({ cwd: '/', now: () => now });
    const show = showProgress(io, runStart(), { quiet: true });
    now += 3_600_000;
    tick();
    show.end();
    expect(err()).toBe('');
  });
});

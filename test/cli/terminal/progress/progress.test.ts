import { describe, expect, it } from 'vitest';
import { showProgress } from '../../../../src/cli/terminal/progress/progress.ts';
import { testIo } from '../../test-io.ts';

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
    const show = showProgress(io, { name: 'foxes', steps: [] }, { quiet: false });
    show.listener({ type: 'route:pause', route: 'submit', untilMs: 1000, reason });
    show.end();
    expect(err()).toBe(`No submissions for a while: ${said} promptpress tries again.\n`);
  });
});

describe('showProgress without a terminal', () => {
  it('says at once why no request leaves, and repeats it once a minute at the most', () => {
    let now = 0;
    const { io, err } = testIo({ cwd: '/', now: () => now });
    const show = showProgress(io, { name: 'foxes', steps: [] }, { quiet: false });
    const pause = (route: 'submit' | 'poll'): void =>
      show.listener({ type: 'route:pause', route, untilMs: now + 1000, reason: 'connection refused.' });
    pause('submit');
    now = 59_000;
    pause('submit');
    pause('poll');
    now = 61_000;
    pause('submit');
    show.end();
    expect(err().trimEnd().split('\n')).toEqual([
      'No submissions for a while: connection refused. promptpress tries again.',
      'No polls of tasks for a while: connection refused. promptpress tries again.',
      'No submissions for a while: connection refused. promptpress tries again.',
    ]);
  });
});

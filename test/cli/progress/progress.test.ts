import { describe, expect, it } from 'vitest';
import { showProgress } from '../../../src/cli/progress/progress.ts';
import { testIo } from '../test-io.ts';

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
      'No submissions for a while: connection refused. They are tried again by themselves.',
      'No looks at tasks for a while: connection refused. They are tried again by themselves.',
      'No submissions for a while: connection refused. They are tried again by themselves.',
    ]);
  });
});

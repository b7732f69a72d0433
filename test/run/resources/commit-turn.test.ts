import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { CommitTurn, longestPauseMs } from '../../../src/run/resources/commit-turn.ts';

/** A clock that stands still but for `pass`, and commits that take `tookMs` of it. */
function turn(tookMs: number, underWay: number) {
  const waits: { at: number; call: () => void }[] = [];
  const commits: number[] = [];
  let now = 1000;
  const clock = {
    now: () => now,
    at: (at: number, call: () => void) => {
      const wait = { at, call };
      waits.push(wait);
      return () => {
        const place = waits.indexOf(wait);
        if (place >= 0) waits.splice(place, 1);
      };
    },
  };
  const made: CommitTurn = new CommitTurn(
    clock,
    () => {
      commits.push(now);
      made.measure(() => {
        now += tookMs;
      });
    },
    () => underWay,
  );
  const endTurn = (): void => {
    vi.runAllTimers();
  };
  const pass = (ms: number): void => {
    now += ms;
    for (const { call } of waits.filter(({ at }) => at <= now)) call();
    endTurn();
  };
  return { made, commits, waits, pass, endTurn };
}

/** Commits until the mean of what they take is known. */
function settle({ made, commits, pass }: ReturnType<typeof turn>): void {
  for (let n = 0; n < 50; n += 1) {
    pass(100);
    made.onInput();
    pass(0);
  }
  commits.length = 0;
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setImmediate'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('one commit is made for all inputs of a turn, and one more for decisions of the commit itself', () => {
  const { made, commits, endTurn } = turn(0, 100);
  for (let n = 0; n < 3; n += 1) made.onInput();
  expect(commits).toHaveLength(0);
  endTurn();
  expect(commits).toHaveLength(1);
  made.soon();
  endTurn();
  expect(commits).toHaveLength(2);
});

test('while much is in flight, a decision waits for three times the duration of a commit', () => {
  const rig = turn(2, 100);
  settle(rig);
  const { made, commits, pass } = rig;
  pass(100);
  made.onInput();
  pass(0);
  // The disk was at rest: it did not wait.
  expect(commits).toHaveLength(1);
  made.onInput();
  pass(4);
  made.onInput();
  pass(0);
  expect(commits).toHaveLength(1);
  pass(2);
  expect(commits).toHaveLength(2);
});

test('a decision waits no longer than for a quarter of the requests in flight', () => {
  const rig = turn(2, 12);
  settle(rig);
  const { made, commits, waits, pass, endTurn } = rig;
  pass(100);
  made.onInput();
  endTurn();
  made.onInput();
  made.onInput();
  endTurn();
  expect(commits).toHaveLength(1);
  made.onInput();
  endTurn();
  expect(commits).toHaveLength(2);
  expect(waits).toHaveLength(0);
});

test('a decision waits no longer than the longest pause on a slow disk', () => {
  const rig = turn(50, 100);
  settle(rig);
  const { made, commits, pass, endTurn } = rig;
  pass(100);
  made.onInput();
  endTurn();
  made.onInput();
  pass(longestPauseMs - 1);
  expect(commits).toHaveLength(1);
  pass(1);
  expect(commits).toHaveLength(2);
});

test('a run that has ended waits for nothing', () => {
  const rig = turn(2, 100);
  settle(rig);
  const { made, commits, waits, pass, endTurn } = rig;
  pass(100);
  made.onInput();
  endTurn();
  made.onInput();
  expect(waits).toHaveLength(1);
  made.end();
  expect(waits).toHaveLength(0);
  pass(100);
  expect(commits).toHaveLength(1);
});

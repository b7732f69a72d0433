import { getEventListeners } from 'node:events';
import { expect, it, vi } from 'vitest';
import { RequestCancel, whenAborted } from '../../../src/service/http/cancel.ts';

it('calls each remaining listener once, in the order in which they were added', () => {
  const cancel = new RequestCancel();
  const called: string[] = [];
  const second = (): void => void called.push('second');
  cancel.addEventListener('abort', () => called.push(`first, for ${String(cancel.reason)}`));
  cancel.addEventListener('abort', second);
  cancel.addEventListener('abort', () => called.push(`third, ${cancel.aborted ? 'aborted' : 'not yet'}`));
  cancel.removeEventListener('abort', second);
  expect(cancel.aborted).toBe(false);
  cancel.abort('time');
  cancel.abort('something else');
  cancel.addEventListener('abort', () => called.push('too late'));
  expect(called).toEqual(['first, for time', 'third, aborted']);
  expect(cancel.reason).toBe('time');
});

it('gives a signal for callers that accept nothing else, before and after it is aborted', () => {
  const cancel = new RequestCancel();
  const signal = cancel.toSignal();
  expect(signal.aborted).toBe(false);
  const reason = new Error('time');
  cancel.abort(reason);
  expect([signal.reason, cancel.toSignal().reason]).toEqual([reason, reason]);
});

it('tells all remaining followers of a signal, by one listener', () => {
  const controller = new AbortController();
  const added = vi.spyOn(controller.signal, 'addEventListener');
  const called: number[] = [];
  const leaves = [1, 2, 3].map((number) => whenAborted(controller.signal, () => called.push(number)));
  expect(added).toHaveBeenCalledTimes(1);
  leaves[1]?.();
  controller.abort();
  expect(called).toEqual([1, 3]);
});

it('leaves no listener at a signal without followers, which can be followed again', () => {
  const controller = new AbortController();
  const called: number[] = [];
  const follow = (number: number) => whenAborted(controller.signal, () => called.push(number));
  const [first, second] = [follow(1), follow(2)];
  first();
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
  second();
  second();
  expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  follow(3);
  // Has left before: this is none of its followers.
  first();
  controller.abort();
  expect(called).toEqual([3]);
});

it('tells the other listeners when one of them throws, and reports the error', () => {
  const later = vi.spyOn(globalThis, 'queueMicrotask').mockImplementation(() => undefined);
  try {
    const cancel = new RequestCancel();
    const called: number[] = [];
    cancel.addEventListener('abort', () => {
      throw new Error('broken');
    });
    cancel.addEventListener('abort', () => called.push(2));
    cancel.abort('time');
    expect(called).toEqual([2]);
    expect(() => later.mock.calls[0]?.[0]()).toThrow('broken');
  } finally {
    later.mockRestore();
  }
});

it('does not tell a listener that leaves while the others are told', () => {
  const controller = new AbortController();
  const called: number[] = [];
  const leaves: (() => void)[] = [];
  leaves.push(whenAborted(controller.signal, () => leaves[1]?.()));
  leaves.push(whenAborted(controller.signal, () => called.push(2)));
  controller.abort();
  expect(called).toEqual([]);
});

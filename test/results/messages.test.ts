import { describe, expect, it } from 'vitest';
import { Messages, messageText } from '../../src/results/messages.ts';

const common = (...messages: string[]) => {
  const counted = new Messages();
  for (const message of messages) counted.add(message);
  return counted.common();
};

describe('messages of one code', () => {
  it('are represented by the most frequent one, in any order', () => {
    expect(common('a', 'b', 'b', 'c')).toEqual({ message: 'b', otherMessages: 2 });
    expect(common('c', 'b', 'a', 'b')).toEqual({ message: 'b', otherMessages: 2 });
    expect(common('b', 'a')).toEqual({ message: 'a', otherMessages: 1 });
    expect(common('a', 'b')).toEqual({ message: 'a', otherMessages: 1 });
    for (const messages of [
      ['a', 'Z', 'ä'],
      ['ä', 'Z', 'a'],
      ['Z', 'a', 'ä'],
    ])
      expect(common(...messages)).toEqual({ message: 'Z', otherMessages: 2 });
    expect(common('b', 'c', 'b', 'a', 'c', 'd')).toEqual({ message: 'b', otherMessages: 3 });
    expect(common('a', 'a')).toEqual({ message: 'a' });
    expect(common()).toEqual({ message: '' });
  });

  it('give the number of other messages', () => {
    expect(messageText(common('a'))).toBe('a');
    expect(messageText(common('a', 'a', 'b'))).toBe('a (and 1 other message)');
    expect(messageText(common('a', 'a', 'b', 'c'))).toBe('a (and 2 other messages)');
  });

  it('are counted up to a limit', () => {
    const many = Array.from({ length: 3000 }, (_, n) => `message ${n}`);
    expect(common('x', 'x', ...many)).toEqual({ message: 'x', otherMessages: 999 });
    // Those that are counted separately are counted on.
    expect(common('x', 'x', ...many, 'message 998', 'message 998')).toEqual({
      message: 'message 998',
      otherMessages: 999,
    });
  });
});

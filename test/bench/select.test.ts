import { expect, test } from 'vitest';
import { readArguments, selectNames } from './select.ts';

const all = ['state', 'images', 'outside-json-1', 'outside-json-2', 'outsider'];

test.each([
  [[], all],
  [['images'], ['images']],
  [
    ['outside', 'state'],
    ['state', 'outside-json-1', 'outside-json-2'],
  ],
  [['outside-json-2'], ['outside-json-2']],
])('%j selects %j', (names, selected) => {
  expect(selectNames(all, names)).toStrictEqual(selected);
});

test('a name that stands for no bench is refused with those that there are', () => {
  expect(() => selectNames(all, ['images', 'outs'])).toThrow(
    'There is no bench "outs": state, images, outside-json-1, outside-json-2, outsider.',
  );
});

test('the flags are read', () => {
  expect(
    readArguments(['texts', '--rounds', '3', 'images', '--json', '--peer', 'p', '--million']),
  ).toStrictEqual({
    names: ['texts', 'images'],
    form: 'json',
    list: false,
    million: true,
    rounds: 3,
    peer: 'p',
  });
  expect(readArguments(['--markdown'])).toStrictEqual({
    names: [],
    form: 'markdown',
    list: false,
    million: false,
  });
});

test.each([
  [['--rounds', '0'], '--rounds takes a number from 1'],
  [['--rounds', '1.5'], '--rounds takes a number from 1'],
  [['--json', '--markdown'], 'two forms of one table'],
  [['--nonsense'], '--nonsense'],
])('%j is refused', (args, message) => {
  expect(() => readArguments(args)).toThrow(message);
});

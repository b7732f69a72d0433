import { expect, test } from 'vitest';
import { readArguments, selectNames, usage } from './select.ts';

const all = ['state', 'images', 'images-12', 'outside-json-1', 'outside-json-2', 'outsider'];

test.each([
  [[], all],
  [['images'], ['images']],
  [
    ['outside-', 'state'],
    ['state', 'outside-json-1', 'outside-json-2'],
  ],
  [['outside-json-2'], ['outside-json-2']],
  [['outside-*'], ['outside-json-1', 'outside-json-2']],
  [['outs*'], ['outside-json-1', 'outside-json-2', 'outsider']],
  [
    ['images*', 'outsider'],
    ['images', 'images-12', 'outsider'],
  ],
  [['images-'], ['images-12']],
  [['*'], all],
])('%j selects %j', (names, selected) => {
  expect(selectNames(all, names)).toStrictEqual(selected);
});

test('a name that stands for no bench is refused with those that there are', () => {
  expect(() => selectNames(all, ['images', 'outs'])).toThrow(
    /^There is no bench "outs": state, images, images-12, outside-json-1, outside-json-2, outsider\.$/,
  );
  expect(() => selectNames(all, ['outside'])).toThrow('All that begin so are "outside-".');
  expect(() => selectNames(all, ['state-'])).toThrow('There is no bench "state-"');
});

test('the flags are read', () => {
  expect(
    readArguments(['texts', '--rounds', '3', 'images', '--json', '--peer', 'p', '--million']),
  ).toStrictEqual({
    names: ['texts', 'images'],
    form: 'json',
    list: false,
    help: false,
    million: true,
    rounds: 3,
    peer: 'p',
  });
  expect(readArguments(['--markdown'])).toStrictEqual({
    names: [],
    form: 'markdown',
    list: false,
    help: false,
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

test('the usage names every flag, and --help asks for it', () => {
  expect(['--help', '-h'].map((flag) => readArguments([flag]).help)).toEqual([true, true]);
  for (const flag of ['rounds', 'peer', 'million', 'json', 'markdown', 'list', 'help'])
    expect(usage).toContain(`  --${flag} `);
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CliError } from '../../../src/app/errors/cli-error.ts';
import { adding, giving, revaluing, without } from '../../../src/app/errors/correction.ts';
import { readArguments, repeated, toggle, valued } from '../../../src/cli/args/flags.ts';
import { axisValue, duration, oneOf, shard, splitParts, wholeNumber } from '../../../src/cli/args/values.ts';

const table = {
  out: valued('DIR', 'where', (text) => text),
  limit: valued('N', 'how many', wholeNumber(1)),
  filter: repeated('AXIS=VALUE', 'which', axisValue),
  'retry-failed': toggle('once more'),
  help: toggle('help', 'h'),
} as const;

const refusal = (work: () => unknown): CliError => {
  try {
    work();
  } catch (error) {
    if (error instanceof CliError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
};

describe('readArguments', () => {
  it('gives every flag its value, absent ones their default, and the operands in order', () => {
    const { flags, positionals } = readArguments(table, [
      'a.yaml',
      '--limit',
      '3',
      '--retry-failed',
      'b.yaml',
    ]);
    expect(flags).toEqual({ out: undefined, limit: 3, filter: [], 'retry-failed': true, help: false });
    expect(positionals).toEqual(['a.yaml', 'b.yaml']);
  });

  it('accepts --name=value, collects repeated flags, and uses the last value of others', () => {
    const { flags } = readArguments(table, [
      '--out=x',
      '--out',
      'y',
      '--filter',
      'a=1',
      '--filter=b=2=3',
      '-h',
    ]);
    expect(flags.out).toBe('y');
    expect(flags.help).toBe(true);
    expect(flags.filter).toEqual([
      { axis: 'a', value: '1' },
      { axis: 'b', value: '2=3' },
    ]);
  });

  it('takes a value that begins with a hyphen only behind an equals sign, and a negative number anywhere', () => {
    const outOf = (...args: readonly string[]): unknown => readArguments(table, args).flags.out;
    expect([outOf('--out=-x'), outOf('--out', '-5'), outOf('--out', '-.5')]).toEqual(['-x', '-5', '-.5']);
    for (const next of ['-x', '--limit', '-'])
      expect(refusal(() => outOf('--out', next)).message).toContain(`The flag ${next} follows it.`);
  });

  it('keeps the correction of a value that its reader makes', () => {
    const words = ['--filter', 'beast:lynx'];
    const { correction } = refusal(() => readArguments(table, words));
    expect(correction?.words(['run', ...words])).toEqual(['run', '--filter', 'beast=lynx']);
  });

  it('reads an axis that has a name, whatever its value is', () => {
    expect(axisValue('a=', '--set')).toEqual({ axis: 'a', value: '' });
    expect(refusal(() => axisValue('=fox', '--set')).message).toBe('--set takes AXIS=VALUE, not "=fox".');
  });

  it('reads words after -- as operands', () => {
    expect(readArguments(table, ['--', '--limit', '3']).positionals).toEqual(['--limit', '3']);
  });

  it.each([
    [['--limt', '3'], '--limt', 'Did you mean --limit?'],
    [['--retry'], '--retry', 'Did you mean --retry-failed?'],
    [['--constructor'], '--constructor', 'promptpress help'],
    [['-x'], '-x', 'promptpress help'],
  ])('refuses %j with a suggestion', (args, named, hint) => {
    const error = refusal(() => readArguments(table, args));
    expect(error.exitCode).toBe(2);
    expect(error.message).toContain(named);
    expect(error.hint).toContain(hint);
  });

  it.each([
    [['--limit']],
    [['--limit', '--retry-failed']],
    [['--limit', '0']],
    [['--limit', 'x']],
    [['--limit', '1e3']],
    [['--retry-failed=yes']],
    [['--filter', 'animal']],
  ])('refuses %j, naming the flag', (args) => {
    expect(refusal(() => readArguments(table, args)).message).toContain(args[0]?.split('=')[0]);
  });

  it('reads a negative number as a value, and says what is wrong with it', () => {
    expect(refusal(() => readArguments(table, ['--limit', '-1'])).message).toContain('-1');
    expect(readArguments(table, ['--out', '-.5']).flags.out).toBe('-.5');
    expect(refusal(() => readArguments(table, ['--out', '-h'])).message).toContain('needs a value');
  });
});

describe('a corrected command line', () => {
  const words = fc
    .record({
      out: fc.option(fc.constantFrom('x', 'y'), { nil: undefined }),
      limit: fc.option(fc.constantFrom('3', '4'), { nil: undefined }),
      isInline: fc.boolean(),
      again: fc.boolean(),
      operand: fc.boolean(),
      behind: fc.boolean(),
    })
    .map(({ out, limit, isInline, again, operand, behind }) => {
      const flag = (name: string, value: string | undefined): readonly string[] =>
        value === undefined ? [] : isInline ? [`--${name}=${value}`] : [`--${name}`, value];
      return [
        'run',
        ...flag('limit', limit),
        ...(operand ? ['a.yaml'] : []),
        ...flag('out', out),
        ...(again ? ['--retry-failed'] : []),
        ...(behind ? ['--', 'b.yaml'] : []),
      ];
    });
  const read = (line: readonly string[] | undefined) => readArguments(table, line?.slice(1) ?? []);

  it('differs in what was wrong, in whatever form that stands, and in nothing else', () => {
    fc.assert(
      fc.property(words, (line) => {
        const before = read(line);
        const changed = (limit: number | undefined, more: object = {}) => ({
          ...before,
          flags: { ...before.flags, limit, ...more },
        });
        expect(read(giving('--limit', '7').words(line))).toEqual(changed(7));
        expect(read(without('--limit', true).words(line))).toEqual(changed(undefined));
        const { limit } = before.flags;
        expect(read(without('--retry-failed').words(line))).toEqual(
          changed(limit, { 'retry-failed': false }),
        );
        expect(read(adding('--filter', 'a=1').words(line))).toEqual(
          changed(limit, { filter: [{ axis: 'a', value: '1' }] }),
        );
        const revalued = revaluing('--limit', String(limit), ['8']).words(line);
        expect(revalued === undefined ? undefined : read(revalued)).toEqual(
          limit === undefined ? undefined : changed(8),
        );
      }),
    );
  });
});

describe('values of flags', () => {
  it.each([
    ['250ms', 250],
    ['30s', 30_000],
    ['30m', 1_800_000],
    ['1.5h', 5_400_000],
  ])('the duration %s is %i ms', (text, ms) => {
    expect(duration(text, '--max-duration')).toBe(ms);
  });

  it.each(['30', '30 m', '-1s', 'm', '0s', '1d', ''])('%j is not a duration', (text) => {
    expect(refusal(() => duration(text, '--max-duration')).message).toContain('30s');
  });

  it('a shard is i/n with i from 1 to n', () => {
    for (const [text, index, of] of [
      ['1/1', 1, 1],
      ['2/8', 2, 8],
      ['8/8', 8, 8],
    ] as const)
      expect(shard(text, '--shard')).toEqual({ index, of });
    for (const text of ['0/8', '9/8', '1/0', '2', '2/', 'a/b']) refusal(() => shard(text, '--shard'));
  });

  it('the shares of parts add up to 1, but for rounding', () => {
    const parts = splitParts('train=0.7,val=0.2,test=0.1', '--split');
    expect(parts.map(({ share }) => share)).toEqual([0.7, 0.2, 0.1]);
    for (const text of ['a=0.9,b=0.2', 'a=0.9', 'a=0,b=1', 'a=0.5,A=0.5', 'a'])
      refusal(() => splitParts(text, '--split'));
  });

  it('a choice names its words', () => {
    expect(refusal(() => oneOf('hold', 'retry')('x', '--in-doubt')).message).toContain('hold, retry');
  });
});

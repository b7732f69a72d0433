import { type Draft, piece } from '../input.ts';
import type { Random } from '../random.ts';
import { mutate, odd } from './oddity.ts';

/** Commands that only read. Of those that act, the checks see to it that nothing can begin. */
const commands = [
  'validate',
  'plan',
  'status',
  'manifest',
  'help',
  'init',
  'run',
  'sandbox',
  'retry',
  '--version',
  '--help',
  '',
  '--',
];

const flags = [
  '--limit',
  '--filter',
  '--shard',
  '--only',
  '--out',
  '--sandbox',
  '--base-url',
  '--speed',
  '--files-root',
  '--json',
  '--cells',
  '--retry-failed',
  '--code',
  '--redo',
  '--in-doubt',
  '--frozen',
  '--fail-fast',
  '--max-submits',
  '--max-duration',
  '--port',
  '--all',
  '--help',
  '-h',
  '-V',
  '--no-limit',
  '--',
  '-',
];

const values = [
  '1',
  '0',
  '-1',
  '1e9',
  '99999999999999999999',
  'NaN',
  '2/8',
  '0/0',
  '9/2',
  '1/9007199254740993',
  'animal=fox',
  '=fox',
  'animal=',
  'x=y=z',
  '__proto__=x',
  'constructor=x',
  'grid',
  'toString',
  '10m',
  '1e9h',
  '0ms',
  'http://[::1',
  'http://user:secret@127.0.0.1:1/v1',
  'file:///etc/passwd',
  'javascript:x',
  'ftp://x',
  'good.yaml',
  'missing.yaml',
  'bad.yaml',
  '.',
  '..',
  '/',
  '',
  '\u0000',
  'nul',
];

function argument(random: Random): string {
  const chosen = random.next();
  if (chosen < 0.35) return random.pick(flags);
  if (chosen < 0.6) return random.pick(values);
  if (chosen < 0.75) return `${random.pick(flags)}=${random.pick([...values, odd(random)])}`;
  if (chosen < 0.9) return mutate(random.pick([...flags, ...commands, ...values]), random);
  return odd(random);
}

/** A command line, the command first. */
export function hostileArguments(random: Random): Draft {
  const form = random.pick(commands);
  const list = random.some(0, 10, () => piece(argument(random))).map(({ text }) => piece(text));
  const file = random.happens(0.7) ? [piece('good.yaml')] : [];
  if (random.happens(0.02)) list.push(piece(random.pick(['a', '-', '=', '\n']), random.size(1_000_000)));
  if (random.happens(0.01))
    list.push(...Array.from({ length: random.size(20_000) }, () => piece(random.pick(flags))));
  return { form, pieces: [...file, ...list] };
}

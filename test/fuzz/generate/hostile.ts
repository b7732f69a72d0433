import type { Random } from '../random.ts';
import { odd } from './oddity.ts';

/** What a stranger writes into a state, on an engine or in a run directory. */

/** Where a state may say that something is to be read, written or sent; `@…@` is filled in by the checks. */
export const places = [
  '@OUTSIDE@',
  '@OUTSIDE@/private.png',
  '@OUTSIDE@/table.csv',
  '@OUTSIDE@/folder',
  '@OUTSIDE@/new',
  '../../../outside/private.png',
  '../../outside/table.csv',
  'images/../../../../outside/private.png',
  'images/00/../../../../../outside/file',
  '/',
  '..',
  '.',
  '',
  '/etc/passwd',
  '/dev/zero',
  '/dev/stdin',
  '/proc/self/environ',
  '/pipeline.yaml',
  '*.csv',
  'file:///etc/passwd',
  'http://@EVIL@/x',
  'http://user:secret@@EVIL@/',
  's3://evil/set',
  's3://evil',
  'redis://@EVIL@',
  'postgres://u@@EVIL@/db#x',
  'images/00/0000-1.png',
  'state.db',
  'a'.repeat(300),
] as const;

/** A value in JSON, of any type. */
export function json(random: Random): string {
  return random.pick([
    () => JSON.stringify(random.pick(places)),
    () => JSON.stringify(odd(random)),
    () =>
      random.pick([
        'null',
        'true',
        '{}',
        '[]',
        '""',
        '-1',
        '0',
        '1e308',
        '9007199254740993',
        '0.5',
        '[null]',
      ]),
    () => random.pick(['{"a":{"a":{"a":1}}}', '[[[[1]]]]', '{"__proto__":{"x":1}}', '{"length":5}', '[{}]']),
    () => JSON.stringify(random.pick(['x', 'é', '\u202e', '\u001b[2J']).repeat(random.size(200_000))),
  ])();
}

/** Names one of many things that are only known where they are: as a share of them. */
export const share = (random: Random): string => random.next().toFixed(4);

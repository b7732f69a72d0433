import { type Draft, draft, piece } from '../input.ts';
import type { Random } from '../random.ts';
import { mutate, odd } from './oddity.ts';

const names = [
  '../../x',
  '..',
  '.',
  '...',
  '/etc',
  'C:\\x',
  'a/b',
  'a\\b',
  'CON',
  'con',
  'nul',
  'NUL.txt',
  'aux.yaml',
  'COM1',
  'com9.x',
  'LPT1',
  'LPT¹',
  'PRN',
  'CONIN$',
  'a.',
  'a ',
  ' a',
  '.git',
  '.hidden',
  '-rf',
  '--sandbox',
  'a\nb',
  'a\0b',
  'a:b',
  'a*',
  'a?',
  'a|b',
  '~',
  '$HOME',
  '%TEMP%',
  'foxes',
  'foxes.sandbox',
  'é',
  'e\u0301',
  '名前',
  'x'.repeat(100),
  'x'.repeat(101),
  'a..b',
  'node_modules',
  '__proto__',
  'constructor',
  'desktop.ini',
  'a.b.c',
  '_',
  '0',
  'null',
  'true',
  '1e3',
];

const places = ['pipeline', 'step', 'axis', 'label'];

/** Names that become folders, files, columns and variables. */
export function hostileName(random: Random): Draft {
  const form = random.pick(places);
  const chosen = random.next();
  if (chosen < 0.5) return draft(form, random.pick(names));
  if (chosen < 0.8) return draft(form, mutate(random.pick(names), random));
  if (chosen < 0.9) return draft(form, ...random.some(1, 4, () => odd(random)));
  return draft(
    form,
    piece(random.pick(['a', '.', '/', '../', '\n', 'é', ' ', '👩‍👩‍👧‍👦']), random.pick([255, 256, 10_000])),
  );
}

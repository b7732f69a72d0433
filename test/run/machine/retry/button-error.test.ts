import { describe, expect, it } from 'vitest';
import { findButton } from '../../../../src/plan/button-match.ts';
import type { Press } from '../../../../src/plan/job-request.ts';
import { buttonError } from '../../../../src/run/machine/retry/button-error.ts';

const text = (label: string): Press => ({ kind: 'text', text: label });
const pattern = (source: string): Press => ({ kind: 'pattern', source });
const labelled = (label: string, emoji = '') => ({ customId: `IMG::${label}`, label, emoji });

const grid = ['U1', 'U2', 'U3', 'U4', '', 'V1', 'V2', 'V3', 'V4'].map((label, n) => ({
  customId: label === '' ? 'IMG::JOB::reroll::0::x::SOLO' : `IMG::JOB::${label}::${n}`,
  label,
  emoji: '',
}));
const single = [
  'Upscale (Subtle)',
  'Upscale (Creative)',
  'Vary (Subtle)',
  'Vary (Strong)',
  'Vary (Region)',
  'Zoom Out 2x',
  'Zoom Out 1.5x',
].map((label) => labelled(label, label.startsWith('Vary') ? '🪄' : ''));

/** The last sentence of what is said, after the buttons. */
function hint(press: readonly Press[], buttons: typeof grid): readonly [string, string] {
  const found = findButton(press, buttons);
  if (found.kind === 'one') throw new Error(`Internal error: ${found.button.label} was found.`);
  const { code, message } = buttonError(press, found, { buttons });
  return [code, / (?:offers|buttons): .*?\.(?: (?=[A-Z])|$)(.*)$/.exec(message)?.[1] ?? message];
}

describe('a button that is not there', () => {
  const late = 'This is a grid: upscale one of its images first (U1), and press it there.';

  it.each([
    ['a mistyped label', [text('Vary Strong')], single, 'Did you mean "Vary (Strong)"?'],
    ['another case', [text('upscale (subtle)')], single, 'Did you mean "Upscale (Subtle)"?'],
    ['the second of two', [text('Blur'), text('Vary (Regoin)')], single, 'Did you mean "Vary (Region)"?'],
    ['a number is no slip', [text('U5')], grid, ''],
    ['nor is another factor', [text('Zoom Out 3x')], single, ''],
    ['a region of a grid (gateway 5.3)', [text('Vary (Region)')], grid, late],
    ['its emoji', [text('🖌️')], grid, late],
    ['its pattern', [pattern('Inpaint')], grid, late],
    ['a pan of a grid', [{ kind: 'word', word: 'pan left' }], grid, late],
    ['a region where there is no grid', [text('Custom Zoom')], single, ''],
    ['nothing like it', [text('Blur')], grid, ''],
    ['no buttons at all', [text('U1')], [], ''],
  ] as [string, Press[], typeof grid, string][])('%s', (_what, press, buttons, said) => {
    expect(hint(press, buttons)).toEqual(['button.missing', said]);
  });
});

describe('a button that is there several times', () => {
  it.each([
    [
      'a pattern of zooms',
      [pattern('Zoom')],
      single,
      'A pattern presses one button: narrow it, or fan out by label with a wildcard (Zoom Out*).',
    ],
    [
      'a pattern with a star of its own',
      [pattern('JOB::U[12]*')],
      grid.slice(0, 4),
      'A pattern presses one button: narrow it, or fan out by label with a wildcard (U*).',
    ],
    [
      'a pattern of what has no name in common',
      [pattern('JOB')],
      grid,
      'A pattern presses one button: narrow it.',
    ],
    ['an emoji', [text('🪄')], single, 'Name one by its label, or fan out with a wildcard.'],
    [
      'a label twice',
      [text('U1')],
      [labelled('U1'), labelled('U1')],
      'Only patterns of their ids distinguish them (/…/).',
    ],
  ] as [string, Press[], typeof grid, string][])('%s', (_what, press, buttons, said) => {
    expect(hint(press, buttons)).toEqual(['button.ambiguous', said]);
  });
});

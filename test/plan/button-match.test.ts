import { describe, expect, test } from 'vitest';
import type { ButtonWord } from '../../src/pipeline/pipeline.ts';
import {
  needsUpscale,
  plainLabel,
  type Stage,
  stageAfter,
} from '../../src/pipeline/selectors/button-stage.ts';
import { findButton, offered, wildcardBranch, wildcardMatches } from '../../src/plan/button-match.ts';
import type { Button } from '../../src/plan/job.ts';
import type { Press } from '../../src/plan/job-request.ts';

const uuid = '0b51b0a3-4f0e-4b8e-9c1d-8f3f0c1a2b3c';

const button = (label: string, emoji: string, customId: string): Button => ({ label, emoji, customId });

/** The buttons of a grid (gateway 5.2): after imagine, variation, reroll, blend, zoom and pan. */
const grid = (prefix = 'MJ::JOB'): readonly Button[] => [
  ...[1, 2, 3, 4].map((n) => button(`U${n}`, '', `${prefix}::upsample::${n}::${uuid}`)),
  button('', '🔄', `${prefix}::reroll::0::${uuid}::SOLO`),
  ...[1, 2, 3, 4].map((n) => button(`V${n}`, '', `${prefix}::variation::${n}::${uuid}`)),
];

/** The buttons of a single image (gateway 5.3): after an upscale, version 6.1 (`Subtle`, `Creative`) or 5.2 (`2x`, `4x`). */
const single = (version: '6.1' | '5.2'): readonly Button[] => [
  version === '6.1'
    ? button('Upscale (Subtle)', 'upscale_1', `MJ::JOB::upsample_v6r1_2x_subtle::1::${uuid}::SOLO`)
    : button('Upscale (2x)', 'upscale_1', `MJ::JOB::upsample_v5_2x::1::${uuid}::SOLO`),
  version === '6.1'
    ? button('Upscale (Creative)', 'upscale_1', `MJ::JOB::upsample_v6r1_2x_creative::1::${uuid}::SOLO`)
    : button('Upscale (4x)', 'upscale_1', `MJ::JOB::upsample_v5_4x::1::${uuid}::SOLO`),
  button('Vary (Subtle)', '🪄', `MJ::JOB::low_variation::1::${uuid}::SOLO`),
  button('Vary (Strong)', '🪄', `MJ::JOB::high_variation::1::${uuid}::SOLO`),
  button('Vary (Region)', '🖌️', `MJ::Inpaint::1::${uuid}::SOLO`),
  button('Zoom Out 2x', '🔍', `MJ::Outpaint::50::1::${uuid}::SOLO`),
  button('Zoom Out 1.5x', '🔍', `MJ::Outpaint::75::1::${uuid}::SOLO`),
  button('Custom Zoom', '🔍', `MJ::CustomZoom::${uuid}`),
  button('', '⬅️', `MJ::JOB::pan_left::1::${uuid}::SOLO`),
  button('', '➡️', `MJ::JOB::pan_right::1::${uuid}::SOLO`),
  button('', '⬆️', `MJ::JOB::pan_up::1::${uuid}::SOLO`),
  button('', '⬇️', `MJ::JOB::pan_down::1::${uuid}::SOLO`),
  button('Animate (High motion)', '🎞️', `MJ::JOB::animate_high::1::${uuid}::SOLO`),
  button('Animate (Low motion)', '🎞️', `MJ::JOB::animate_low::1::${uuid}::SOLO`),
  button('', '🔄', `MJ::JOB::reroll::0::${uuid}::SOLO`),
  button('', '❤️', `MJ::BOOKMARK::${uuid}`),
];

const describeTask: readonly Button[] = [
  ...['1️⃣', '2️⃣', '3️⃣', '4️⃣'].map((emoji, n) => button('', emoji, `MJ::Job::PicReader::${n + 1}`)),
  button('', '🔄', 'MJ::Picread::Retry'),
  button('Imagine all', '🎉', 'MJ::Job::PicReader::all'),
];

const text = (label: string): Press => ({ kind: 'text', text: label });
const pattern = (source: string): Press => ({ kind: 'pattern', source });

/** The customId found, or what else came of it. */
const found = (press: readonly Press[], buttons: readonly Button[]): unknown => {
  const result = findButton(press, buttons);
  if (result.kind === 'one') return result.button.customId.split(`::${uuid}`)[0];
  return result.kind === 'none' ? 'none' : result.buttons.length;
};

describe('findButton', () => {
  test('finds an exact label', () => {
    expect(found([text('U2')], grid())).toBe('MJ::JOB::upsample::2');
    expect(found([text(' U2 ')], grid())).toBe('MJ::JOB::upsample::2');
    expect(found([text('Vary (Strong)')], single('6.1'))).toBe('MJ::JOB::high_variation::1');
    expect(found([text('Zoom Out 1.5x')], single('6.1'))).toBe('MJ::Outpaint::75::1');
    for (const other of ['u2', 'U', 'U22', 'Vary', 'vary (strong)', '', ' ']) {
      expect(found([text(other)], [...grid(), ...single('6.1')])).toBe('none');
    }
  });

  test.each(['', '\uFE0E', '\uFE0F'])(
    'finds a label and an emoji with any variation selector: %j',
    (offeredAs) => {
      for (const asked of ['', '\uFE0E', '\uFE0F']) {
        const press = [text(`⬅${asked}`)];
        expect(found(press, [button(`⬅${offeredAs}`, '', 'label')])).toBe('label');
        expect(found(press, [button('', `⬅${offeredAs}`, 'emoji')])).toBe('emoji');
        expect(found([text(`Go ⬅${asked} on`)], [button(`Go ⬅${offeredAs} on`, '', 'within')])).toBe(
          'within',
        );
      }
      expect(found([{ kind: 'word', word: 'pan left' }], [button('', `⬅${offeredAs}`, 'word')])).toBe('word');
      expect(plainLabel(`⬅${offeredAs}`)).toBe('⬅');
      expect(needsUpscale({ kind: 'text', text: `🖌${offeredAs}` })).toBe(true);
    },
  );

  test('needs an upscale where only a single image has the button, as far as its name says', () => {
    const needs = (source: string): boolean => needsUpscale({ kind: 'pattern', source });
    expect(['pan_left', 'Outpaint::', 'high_variation'].map(needs)).toEqual([true, true, true]);
    // One that offers a choice may mean a button of a grid too.
    expect(['pan_left|upsample', 'variation', 'upsample'].map(needs)).toEqual([false, false, false]);
    const after = (word: ButtonWord, on: Stage): Stage => stageAfter({ kind: 'word', word }, on);
    const stages = ['grid', 'single', 'unknown'] as const;
    expect(stages.map((on) => after('reroll', on))).toEqual(['grid', 'unknown', 'unknown']);
    expect(stages.map((on) => after('pan left', on))).toEqual(['grid', 'grid', 'grid']);
  });

  test('finds an emoji if no label matches, with or without its variation selector', () => {
    expect(found([text('🖌️')], single('6.1'))).toBe('MJ::Inpaint::1');
    expect(found([text('🖌')], single('6.1'))).toBe('MJ::Inpaint::1');
    expect(found([text('2️⃣')], describeTask)).toBe('MJ::Job::PicReader::2');
    expect(found([text('upscale_1')], single('6.1'))).toBe(2);
    expect(found([text('x')], [button('y', 'x', 'emoji'), button('x', '', 'label')])).toBe('label');
  });

  test('finds a label for any notation of its accents', () => {
    for (const [said, offered] of [
      ['Varier (léger)'.normalize('NFC'), 'Varier (léger)'.normalize('NFD')],
      ['Varier (léger)'.normalize('NFD'), 'Varier (léger)'.normalize('NFC')],
    ] as const)
      expect(found([text(said)], [button(offered, '', 'light')])).toBe('light');
    expect(found([text('Varier (leger)')], [button('Varier (léger)', '', 'light')])).toBe('none');
  });

  test('finds a pattern in the customId', () => {
    expect(found([pattern('upsample::2::')], grid())).toBe('MJ::JOB::upsample::2');
    expect(found([pattern('_2x_subtle::')], single('6.1'))).toBe('MJ::JOB::upsample_v6r1_2x_subtle::1');
    expect(found([pattern('upsample::')], grid())).toBe(4);
    expect(found([pattern('x')], [button('', '', 'x'.repeat(257))])).toBe('none');
  });

  test('finds the words, whatever the prefix and case of the customId', () => {
    const word = (name: ButtonWord): Press => ({
      kind: 'word',
      word: name,
    });
    expect(found([word('reroll')], grid())).toBe('MJ::JOB::reroll::0');
    expect(found([word('reroll')], grid('IMG::Job'))).toBe('IMG::Job::reroll::0');
    expect(found([word('reroll')], single('6.1'))).toBe('MJ::JOB::reroll::0');
    expect(found([word('reroll')], describeTask)).toBe('MJ::Picread::Retry');
    expect(found([word('reroll')], [button('Reroll', '', 'opaque')])).toBe('opaque');
    for (const number of ['1', '2', '3', '4'] as const) {
      const bare = describeTask.map((one) => ({ ...one, customId: `opaque-${one.emoji}` }));
      const unmarked = describeTask.map((one) => ({ ...one, emoji: '' }));
      expect(found([word(`prompt ${number}`)], describeTask)).toBe(`MJ::Job::PicReader::${number}`);
      expect(found([word(`prompt ${number}`)], bare)).toBe(`opaque-${number}️⃣`);
      expect(found([word(`prompt ${number}`)], unmarked)).toBe(`MJ::Job::PicReader::${number}`);
      expect(found([word(`prompt ${number}`)], grid())).toBe('none');
    }
    for (const side of ['left', 'right', 'up', 'down'] as const) {
      expect(found([word(`pan ${side}`)], single('6.1'))).toBe(`MJ::JOB::pan_${side}::1`);
      const opaque = single('6.1').map((one) => ({ ...one, customId: `opaque-${one.emoji}` }));
      expect(found([word(`pan ${side}`)], opaque)).toMatch(/^opaque-[⬅➡⬆⬇]/u);
    }
    expect(found([word('pan left')], grid())).toBe('none');
  });

  test('takes the first alternative that the task offers', () => {
    const upscale = [text('Upscale (Subtle)'), text('Upscale (2x)')];
    expect(found(upscale, single('6.1'))).toBe('MJ::JOB::upsample_v6r1_2x_subtle::1');
    expect(found(upscale, single('5.2'))).toBe('MJ::JOB::upsample_v5_2x::1');
    expect(found(upscale, grid())).toBe('none');
    expect(found([text('🪄'), text('Vary (Region)')], single('6.1'))).toBe(2);
    expect(found([], grid())).toBe('none');
  });
});

describe('wildcardMatches', () => {
  const labels = (glob: string, buttons: readonly Button[]) =>
    wildcardMatches(glob, buttons).map(({ label }) => label);

  test('gives the matching labels, in the order of the task', () => {
    expect(labels('U*', grid())).toEqual(['U1', 'U2', 'U3', 'U4']);
    expect(labels('*', grid())).toEqual(['U1', 'U2', 'U3', 'U4', 'V1', 'V2', 'V3', 'V4']);
    expect(labels('Vary (*)', single('6.1'))).toEqual(['Vary (Subtle)', 'Vary (Strong)', 'Vary (Region)']);
    expect(labels('Pan*', single('6.1'))).toEqual([]);
  });

  test('gives each branch once, and only branches that an address can name', () => {
    const twins = [
      button('U1', '', 'a'),
      button('U1 ', '', 'b'),
      button('*', '', 'c'),
      button(' U  2', '', 'd'),
    ];
    expect(wildcardMatches('*', twins).map(({ customId }) => customId)).toEqual(['a', 'd']);
    expect(wildcardMatches('*', twins).map(wildcardBranch)).toEqual(['U1', 'U 2']);
    expect(found([text('U1')], twins)).toBe(2);
  });
});

describe('offered', () => {
  test('lists the available buttons', () => {
    expect(offered(grid())).toBe('U1, U2, U3, U4, reroll, V1, V2, V3, V4');
    expect(offered(single('6.1').slice(7, 13))).toBe(
      'Custom Zoom, pan left, pan right, pan up, pan down, Animate (High motion)',
    );
    expect(offered(describeTask)).toBe('prompt 1, prompt 2, prompt 3, prompt 4, reroll, Imagine all');
    expect(offered([button('', '', 'secret')])).toBe('one without a label');
    expect(offered([])).toBe('no buttons');
  });

  test('is limited in length, and free of control characters', () => {
    expect(offered([button('a\u001B[31m\nb', '', '')])).toBe('a [31m b');
    const many = Array.from({ length: 1000 }, (_, n) => button(`${n}${'x'.repeat(1000)}`, '', ''));
    expect(offered(many).length).toBeLessThan(4000);
    expect(offered(many)).toMatch(/and 960 more$/);
  });
});

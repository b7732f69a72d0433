import type { WireButton } from '../../service/wire.ts';
import type { PanDirection } from '../draw/lineage.ts';
import { uuidOf } from '../seeded.ts';
import type { SandboxSettings } from '../settings.ts';
import type { PressAction, StoredTask } from './task.ts';

/** A button of a finished task and its effect. */
export interface SandboxButton {
  readonly wire: WireButton;
  /** A bookmark makes no task. */
  readonly press: PressAction | { readonly kind: 'bookmark' };
}

/** The settings that decide which buttons a gateway shows, and how long they work. */
export type ButtonSettings = Pick<SandboxSettings, 'buttonLife' | 'quirks'>;

/** The model generations that differ in their buttons after an upscale (gateway 5.3). */
type Generation = 'early' | 'fifth' | 'sixth' | 'eighth';

function generationOf(version: string): Generation {
  const number = Number(version.replace('niji ', ''));
  if (number >= 8) return 'eighth';
  if (number >= 6) return 'sixth';
  return number >= 5 ? 'fifth' : 'early';
}

/** The middle parts of the customIds of the two upscales. */
function upscaleWords(version: string): readonly [string, string] {
  const number = version.replace('niji ', '');
  if (number.startsWith('5')) return ['v5_2x', 'v5_4x'];
  const word = number === '6.1' ? 'v6r1' : `v${number}`;
  return [`${word}_2x_subtle`, `${word}_2x_creative`];
}

/**
 * Returns the buttons of a finished task, in the service's order (gateway 5). Their customIds hold a job id that no other task has; with
 * `buttonLife` it changes as the task ages, so that old customIds stop working.
 */
export function taskButtons(
  task: StoredTask,
  prefix: string,
  now: number,
  { buttonLife, quirks }: ButtonSettings,
): readonly SandboxButton[] {
  const age = buttonLife > 0 ? Math.max(0, Math.floor((now - task.endAt) / buttonLife)) : 0;
  const job = uuidOf(`job ${task.id} ${age}`);
  const button = (
    label: string,
    emoji: string,
    id: string,
    press: SandboxButton['press'],
  ): SandboxButton => ({ wire: { customId: `${prefix}::${id}`, emoji, label, type: 2, style: 2 }, press });
  const solo = (label: string, emoji: string, id: string, press: PressAction): SandboxButton =>
    button(label, emoji, `${id}::${job}::SOLO`, press);

  if (task.buttonSet === 'none') return [];
  if (task.buttonSet === 'described') {
    // Their customIds hold no job id (gateway 5.4).
    return [
      ...['1️⃣', '2️⃣', '3️⃣', '4️⃣'].map((emoji, index) =>
        button('', emoji, `Job::PicReader::${index + 1}`, { kind: 'imagine-prompt', index }),
      ),
      button('', '🔄', 'Picread::Retry', { kind: 'describe-again' }),
      button('Imagine all', '🎉', 'Job::PicReader::all', { kind: 'imagine-all' }),
    ];
  }
  if (task.buttonSet === 'shortened') {
    return (task.prompts ?? []).map((_, index) =>
      button('', `${index + 1}\u{FE0F}\u{20E3}`, `Job::PromptAnalyzer::${index + 1}`, {
        kind: 'imagine-prompt',
        index,
      }),
    );
  }

  const reroll = solo('', '🔄', 'JOB::reroll::0', { kind: 'reroll' });
  if (task.buttonSet === 'films') {
    const films = (task.films ?? []).map((_, index) =>
      button(`U${index + 1}`, '', `JOB::video_virtual_upscale::${index + 1}::${job}`, {
        kind: 'choose-film',
        index,
      }),
    );
    return [...films, reroll];
  }
  if (task.buttonSet === 'film') {
    const extend = (label: string, motion: 'low' | 'high'): SandboxButton =>
      button(label, '🎞️', `JOB::animate_${motion}_extend::1::${job}`, { kind: 'extend', motion });
    return [extend('Extend (High motion)', 'high'), extend('Extend (Low motion)', 'low')];
  }
  if (task.buttonSet === 'grid' || task.buttonSet === 'edited') {
    const frames = [0, 1, 2, 3];
    return [
      ...frames.map((index) =>
        button(`U${index + 1}`, '', `JOB::upsample::${index + 1}::${job}`, { kind: 'upscale', index }),
      ),
      reroll,
      ...frames.map((index) =>
        button(`V${index + 1}`, '', `JOB::variation::${index + 1}::${job}`, { kind: 'variation', index }),
      ),
    ];
  }

  const generation = generationOf(task.version);
  if (generation === 'early') {
    // By trueai's conditions, the two upscales of later versions are missing here; upsample_max is reported from the time of version 4,
    // without the version that was used (gateway 5.3). So all four have it.
    const enlarged = task.buttonSet === 'enlarged';
    const max = solo('Upscale to max', 'upscale_1', 'JOB::upsample_max::1', {
      kind: 'enlarge',
      creative: false,
      times: 2,
    });
    return [
      ...(enlarged ? [] : [max]),
      solo('Make Variations', '🪄', 'JOB::variation::1', { kind: 'variation', index: 0 }),
      reroll,
    ];
  }

  const [first, second] = upscaleWords(task.version);
  const labels =
    generation === 'fifth'
      ? (['Upscale (2x)', 'Upscale (4x)'] as const)
      : (['Upscale (Subtle)', 'Upscale (Creative)'] as const);
  const upscales = [
    solo(labels[0], 'upscale_1', `JOB::upsample_${first}::1`, { kind: 'enlarge', creative: false, times: 2 }),
    solo(labels[1], 'upscale_1', `JOB::upsample_${second}::1`, {
      kind: 'enlarge',
      creative: generation !== 'fifth',
      times: generation === 'fifth' ? 4 : 2,
    }),
  ];
  const varies = [
    solo('Vary (Subtle)', '🪄', 'JOB::low_variation::1', { kind: 'vary', strong: false }),
    solo('Vary (Strong)', '🪄', 'JOB::high_variation::1', { kind: 'vary', strong: true }),
    solo('Vary (Region)', '🖌️', 'Inpaint::1', { kind: 'inpaint' }),
  ];
  const zooms = [
    solo('Zoom Out 2x', '🔍', 'Outpaint::50::1', { kind: 'zoom', factor: 2 }),
    solo('Zoom Out 1.5x', '🔍', 'Outpaint::75::1', { kind: 'zoom', factor: 1.5 }),
    button('Custom Zoom', '🔍', `CustomZoom::${quirks.has('numbered-zoom') ? '1::' : ''}${job}`, {
      kind: 'custom-zoom',
    }),
  ];
  const pan = (emoji: string, direction: PanDirection): SandboxButton =>
    solo('', emoji, `JOB::pan_${direction}::1`, { kind: 'pan', direction });
  const pans = [pan('⬅️', 'left'), pan('➡️', 'right'), pan('⬆️', 'up'), pan('⬇️', 'down')];
  const manual = (label: string, motion: 'low' | 'high'): SandboxButton =>
    button(label, '', `JOB::video::${motion}::${job}::vid_1.1_i2v_480::manual`, {
      kind: 'animate',
      motion,
      manual: true,
    });
  const animates = [
    solo('Animate (High motion)', '🎞️', 'JOB::animate_high::1', { kind: 'animate', motion: 'high' }),
    solo('Animate (Low motion)', '🎞️', 'JOB::animate_low::1', { kind: 'animate', motion: 'low' }),
    ...(quirks.has('manual-animate')
      ? [manual('Manual High Motion', 'high'), manual('Manual Low Motion', 'low')]
      : []),
  ];
  if (task.buttonSet === 'enlarged') return [...varies, ...zooms, ...animates, reroll];
  const bookmark = quirks.has('bookmarks') ? [button('', '❤️', `BOOKMARK::${job}`, { kind: 'bookmark' })] : [];
  if (generation === 'eighth') return [...varies, ...animates, reroll, ...bookmark];
  return [...upscales, ...varies, ...zooms, ...pans, ...animates, reroll, ...bookmark];
}

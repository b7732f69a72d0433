/** The tasks of the fake service: what a click makes of them, and the buttons they end with. */

/** A button (gateway 5.1); `type` and `style` are Discord's. */
export interface FakeButton {
  customId: string;
  label: string;
  emoji: string;
  type: 2;
  style: 2;
}

/** How a task is to go; what is not said is the service's default. */
export interface TaskScript {
  /** Polls that see the task unfinished before one sees its end. `Infinity`: never ends (until `finish`). */
  polls?: number;
  /** The end; default SUCCESS. */
  status?: string;
  failReason?: string;
  buttons?: readonly FakeButton[];
  /** Instead of the service's own image link. */
  imageUrl?: string;
  /** Instead of the generated PNG. */
  image?: Buffer;
  /** Another seed of the generated films than its number. */
  film?: number;
  /** Members that replace or join those of the fetch answer, at each poll; `n` counts polls from 1. */
  answer?: (n: number) => Record<string, unknown>;
}

export interface FakeTask {
  readonly id: string;
  /** Counts from 1, in order of creation. */
  readonly number: number;
  /** `action` also of what a modal began. */
  readonly kind: 'imagine' | 'action' | 'blend' | 'describe' | 'video' | 'edits';
  readonly speed: 'relax' | 'fast' | 'turbo';
  /** An action has its parent's, or what its modal was answered with. */
  prompt: string;
  /** What its first ancestor was asked for: the prompt of an imagine, else the body in a word. */
  readonly subject: string;
  /** The caller's tag (`state`, gateway 2.2). */
  readonly tag: string;
  /** Films that it ends with. */
  readonly films: number;
  /** Its button has opened a modal; `result` works on the answer: another task, or this one. */
  readonly modal?: { result?: FakeTask };
  /** Of an action: the task whose button was pressed, and that button. */
  readonly parent?: FakeTask;
  readonly pressed?: FakeButton;
  /** Button labels (or emoji) from the imagine to this task, joined by `/`: `U1/Vary (Strong)`. */
  readonly path: string;
  script: TaskScript;
  buttons: readonly FakeButton[];
  /** How often its customIds were renewed. */
  generation: number;
  polls: number;
  /** Its end has been told to a poll. */
  ended: boolean;
  /** That end was SUCCESS: its buttons can be pressed. */
  succeeded: boolean;
  /** Told to end at the next poll, whatever the script says. */
  released: boolean;
  /** Version of the image link, and how often this version was fetched. */
  link: number;
  downloads: number;
}

const button = (customId: string, label: string, emoji = ''): FakeButton => ({
  customId,
  label,
  emoji,
  type: 2,
  style: 2,
});

/** A UUID-like job id, unique per task and generation, always the same for the same numbers. */
const jobId = (task: number, generation: number): string =>
  `${generation.toString(16).padStart(8, '0')}-0000-4000-8000-${task.toString(16).padStart(12, '0')}`;

/** The nine buttons of a grid (gateway 5.2). */
export function gridButtons(task: number, prefix = 'IMG', generation = 0): FakeButton[] {
  const id = jobId(task, generation);
  const numbers = [1, 2, 3, 4];
  return [
    ...numbers.map((n) => button(`${prefix}::JOB::upsample::${n}::${id}`, `U${n}`)),
    button(`${prefix}::JOB::reroll::0::${id}::SOLO`, '', '🔄'),
    ...numbers.map((n) => button(`${prefix}::JOB::variation::${n}::${id}`, `V${n}`)),
  ];
}

/** The buttons after an upscale, version 6.1 (gateway 5.3). */
export function upscaledButtons(task: number, prefix = 'IMG', generation = 0): FakeButton[] {
  const id = jobId(task, generation);
  const job = (name: string): string => `${prefix}::JOB::${name}::1::${id}::SOLO`;
  return [
    button(job('upsample_v6r1_2x_subtle'), 'Upscale (Subtle)', 'upscale_1'),
    button(job('upsample_v6r1_2x_creative'), 'Upscale (Creative)', 'upscale_1'),
    button(job('low_variation'), 'Vary (Subtle)', '🪄'),
    button(job('high_variation'), 'Vary (Strong)', '🪄'),
    button(`${prefix}::Inpaint::1::${id}::SOLO`, 'Vary (Region)', '🖌️'),
    button(`${prefix}::Outpaint::50::1::${id}::SOLO`, 'Zoom Out 2x', '🔍'),
    button(`${prefix}::Outpaint::75::1::${id}::SOLO`, 'Zoom Out 1.5x', '🔍'),
    button(`${prefix}::CustomZoom::${id}`, 'Custom Zoom', '🔍'),
    button(job('pan_left'), '', '⬅️'),
    button(job('pan_right'), '', '➡️'),
    button(job('pan_up'), '', '⬆️'),
    button(job('pan_down'), '', '⬇️'),
    button(job('animate_high'), 'Animate (High motion)', '🎞️'),
    button(job('animate_low'), 'Animate (Low motion)', '🎞️'),
    button(`${prefix}::JOB::reroll::0::${id}::SOLO`, '', '🔄'),
  ];
}

/** One button for each film, or those of a single one (gateway 5.4). */
function filmButtons(films: number, task: number, prefix: string, generation: number): FakeButton[] {
  const id = jobId(task, generation);
  if (films === 1)
    return ['high', 'low'].map((motion) =>
      button(
        `${prefix}::JOB::animate_${motion}_extend::1::${id}`,
        `Extend (${motion === 'high' ? 'High' : 'Low'} motion)`,
        '🎞️',
      ),
    );
  return Array.from({ length: films }, (_, n) =>
    button(`${prefix}::JOB::video_virtual_upscale::${n + 1}::${id}`, `U${n + 1}`),
  );
}

/** The buttons of a describe: they name no job (gateway 5.4). */
const describeButtons = (prefix: string): FakeButton[] => [
  ...['1️⃣', '2️⃣', '3️⃣', '4️⃣'].map((emoji, n) => button(`${prefix}::Job::PicReader::${n + 1}`, '', emoji)),
  button(`${prefix}::Job::PicReader::all`, 'Imagine all', '🎉'),
];

/** How many films a button makes. */
export const filmsOf = ({ customId }: FakeButton): number =>
  /::video_virtual_upscale::/.test(customId) ? 1 : /::(?:animate_|video::)/.test(customId) ? 4 : 0;

/** What a task offers: one image after an upscale (without a second upscale after a second), films, prompts, else a grid. */
export function buttonsAfter(
  pressed: FakeButton | undefined,
  task: number,
  prefix: string,
  generation = 0,
  { films = 0, describes = false, manual = false } = {},
): FakeButton[] {
  const id = pressed?.customId ?? '';
  if (describes) return describeButtons(prefix);
  if (films > 0) return filmButtons(films, task, prefix, generation);
  if (id.includes('::upsample::')) {
    const byHand = button(`${prefix}::JOB::video::1::${jobId(task, generation)}::manual`, 'By hand', '🎞️');
    return [...upscaledButtons(task, prefix, generation), ...(manual ? [byHand] : [])];
  }
  if (id.includes('::upsample_')) {
    return upscaledButtons(task, prefix, generation).filter((b) => !/upsample_|pan_/.test(b.customId));
  }
  return gridButtons(task, prefix, generation);
}

/** Clicks that wait for a modal (gateway 5.5). @param remix the click, or the account, asks for Remix */
export const wantsModal = ({ customId }: Pick<FakeButton, 'customId'>, remix = false): boolean =>
  /::(Inpaint|CustomZoom|PicReader::\d|manual)(::|$)/.test(customId) ||
  (remix && /::(variation|low_variation|high_variation|reroll|pan_[a-z]+|animate_[a-z_]+)::/.test(customId));

import type { Drawing } from '../../draw/canvas/drawing.ts';
import type { Film } from '../../draw/film.ts';
import {
  customZoomDrawing,
  enlargeDrawing,
  extendedFilms,
  filmsOf,
  imagineDrawing,
  panDrawing,
  posterOf,
  repaintDrawing,
  rerollDrawing,
  rewordedDrawing,
  strongDrawing,
  subtleDrawing,
  upscaleDrawing,
  zoomDrawing,
} from '../../draw/lineage.ts';
import { parsePrompt } from '../../prompt/flags.ts';
import type { OperationClass } from '../../settings.ts';
import type { ButtonSet, ModalConfirm, PressAction, StoredTask, TaskAction } from '../task.ts';
import { describedPrompts } from './describing.ts';

/** The work of a button on its task. */
export interface Pressed {
  readonly action: TaskAction;
  readonly operation: OperationClass;
  readonly buttonSet: ButtonSet;
  readonly drawing: Drawing;
  readonly films?: readonly Film[];
  readonly prompts?: readonly string[];
  /** The prompt, if it differs from the parent's. */
  readonly prompt?: string;
  /** Whether the button opens a modal: always, only with enableRemix, or never (gateway 5.5). */
  readonly modal: 'always' | 'remix' | 'never';
}

type Made = Pick<Pressed, 'drawing' | 'films' | 'prompts' | 'prompt'>;

const pressed = (
  action: TaskAction,
  operation: OperationClass,
  buttonSet: ButtonSet,
  modal: Pressed['modal'],
  made: Made,
): Pressed => ({ action, operation, buttonSet, modal, ...made });

const filmed = (films: readonly Film[]): Made => ({ drawing: posterOf(films), films });

/** Returns the work of a button. `confirm`: the answer to its modal. */
export function pressOn(parent: StoredTask, press: PressAction, confirm?: ModalConfirm): Pressed {
  const words = confirm === undefined ? undefined : parsePrompt(confirm.prompt).text;
  const drawing = words === undefined ? parent.drawing : rewordedDrawing(parent.drawing, words);
  const prompt = confirm === undefined ? {} : { prompt: confirm.prompt };
  const [frame] = parent.drawing.frames;
  switch (press.kind) {
    case 'upscale': {
      const buttons = parent.buttonSet === 'edited' ? 'none' : 'single';
      return pressed('UPSCALE', 'upscale', buttons, 'never', {
        drawing: upscaleDrawing(drawing, press.index),
      });
    }
    case 'enlarge': {
      const larger = enlargeDrawing(drawing, press.creative, press.times);
      return pressed('UPSCALE_HD', 'enlarge', 'enlarged', 'never', { drawing: larger });
    }
    case 'variation': {
      const varied = strongDrawing(drawing, press.index, 'variation');
      return pressed('VARIATION', 'variation', gridOf(parent), 'remix', { drawing: varied, ...prompt });
    }
    case 'vary': {
      const action = press.strong ? 'HIGH_VARIATION' : 'LOW_VARIATION';
      const varied = press.strong ? strongDrawing(drawing, 0, 'strong') : subtleDrawing(drawing);
      return pressed(action, 'variation', 'grid', 'remix', { drawing: varied, ...prompt });
    }
    case 'reroll':
      return { ...rerolled(parent, confirm), ...prompt };
    case 'zoom':
      return pressed('ZOOM', 'outpaint', 'grid', 'never', { drawing: zoomDrawing(drawing, press.factor) });
    case 'pan': {
      // The visible part stays the same; other words make other surroundings.
      const panned = panDrawing(parent.drawing, press.direction, words);
      return pressed('PAN', 'outpaint', 'grid', 'remix', { drawing: panned, ...prompt });
    }
    case 'inpaint': {
      const { mask } = confirm ?? {};
      const painted = mask === undefined ? parent.drawing : repaintDrawing(parent.drawing, words ?? '', mask);
      return pressed('INPAINT', 'variation', 'grid', 'always', { drawing: painted, ...prompt });
    }
    case 'custom-zoom': {
      const zoomed = confirm === undefined ? parent.drawing : customZoomed(parent.drawing, confirm.prompt);
      return pressed('CUSTOM_ZOOM', 'outpaint', 'grid', 'always', { drawing: zoomed, ...prompt });
    }
    case 'animate': {
      if (frame === undefined) throw new Error('Internal error: a drawing without frames');
      const { motion } = press;
      const films = filmsOf(frame, { motion, loop: false, lines: 480, count: 4, words: words ?? '' });
      const modal = press.manual === true ? 'always' : 'remix';
      return pressed('VIDEO', 'video', 'films', modal, { ...filmed(films), ...prompt });
    }
    case 'choose-film': {
      const films = (parent.films ?? []).slice(press.index, press.index + 1);
      return pressed('UPSCALE', 'upscale', 'film', 'never', filmed(films));
    }
    case 'extend': {
      const films = extendedFilms(parent.films?.[0], { motion: press.motion, count: 4, words: words ?? '' });
      return pressed('VIDEO_EXTEND', 'video', 'films', 'remix', { ...filmed(films), ...prompt });
    }
    case 'imagine-prompt':
    case 'imagine-all': {
      const isAll = press.kind === 'imagine-all';
      const wanted = confirm?.prompt ?? parent.prompts?.[isAll ? 0 : press.index] ?? '';
      const made = { drawing: imagineDrawing(parsePrompt(wanted)), prompt: wanted };
      return pressed('IMAGINE', 'imagine', 'grid', isAll ? 'never' : 'always', made);
    }
    case 'describe-again': {
      const before = parent.prompts?.join() ?? '';
      const prompts = describedPrompts(frame?.text ?? '', frame?.aspect ?? 1, before);
      const made = { drawing: parent.drawing, prompts, prompt: '' };
      return pressed('DESCRIBE', 'describe', 'described', 'never', made);
    }
  }
}

const gridOf = ({ buttonSet }: StoredTask): ButtonSet => (buttonSet === 'edited' ? 'edited' : 'grid');

/** Returns the prompt that a modal proposes, which also replaces an empty answer. */
export function proposedPrompt(parent: StoredTask, press: PressAction): string {
  if (press.kind === 'imagine-prompt') return parent.prompts?.[press.index] ?? '';
  // A blend has no prompt, and these flags alone would mean nothing.
  return press.kind === 'animate' && press.manual === true && parent.prompt !== ''
    ? `${parent.prompt} --motion ${press.motion} --video 1`
    : parent.prompt;
}

/** Returns the factor of a Custom Zoom's prompt, or undefined without a valid one (gateway 2.5). */
export function zoomFactor(prompt: string): number | undefined {
  const [, number] = [...prompt.matchAll(/(?:^|\s)(?:--|—|–)zoom\s+(\d+(?:\.\d+)?)(?=\s|$)/gi)].at(-1) ?? [];
  const factor = Number(number);
  return number !== undefined && factor >= 1 && factor <= 2 ? factor : undefined;
}

function customZoomed(drawing: Drawing, prompt: string): Drawing {
  const { text, flags } = parsePrompt(prompt);
  const named = /(?:^|\s)(?:--|—|–)(ar|aspect)\s/i.test(prompt);
  const aspect = named ? flags.aspect[0] / flags.aspect[1] : undefined;
  return customZoomDrawing(drawing, zoomFactor(prompt) ?? 1, text, aspect);
}

function rerolled(parent: StoredTask, confirm: ModalConfirm | undefined): Pressed {
  const { drawing, films } = parent;
  const [film] = films ?? [];
  if (films !== undefined && film !== undefined) {
    const again = films.map(({ shots }) => shots.map(({ seed }) => seed).join()).join();
    const shooting = {
      motion: film.shots.at(-1)?.motion ?? 'low',
      count: films.length,
      words: `${confirm?.prompt ?? ''} again ${again}`,
    };
    const fresh =
      film.shots.length > 1
        ? extendedFilms({ ...film, shots: film.shots.slice(0, -1) }, shooting)
        : filmsOf(film.frame, { ...shooting, loop: film.loop, lines: film.lines, end: film.end });
    return pressed('REROLL', 'video', 'films', 'remix', filmed(fresh));
  }
  const [frame] = drawing.frames;
  if (frame !== undefined && (frame.plate !== undefined || (frame.patches ?? []).length > 0)) {
    return pressed('REROLL', 'variation', gridOf(parent), 'remix', { drawing: rerollDrawing(drawing) });
  }
  const again = drawing.frames.map(({ seed }) => seed).join();
  const images = frame?.tint === undefined ? undefined : { digests: [], tint: frame.tint };
  const fresh = imagineDrawing(parsePrompt(confirm?.prompt ?? parent.prompt), images, again);
  return pressed('REROLL', 'imagine', 'grid', 'remix', { drawing: fresh });
}

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

/** What a press makes of the task it is pressed on. */
export interface Pressed {
  readonly action: TaskAction;
  readonly operation: OperationClass;
  readonly buttonSet: ButtonSet;
  readonly drawing: Drawing;
  readonly films?: readonly Film[];
  readonly prompts?: readonly string[];
  /** Where it is another than the parent's. */
  readonly prompt?: string;
  /** `always` for the buttons of gateway 5.5, `remix` for those that open one only with enableRemix (gateway 5.5). */
  readonly modal: 'always' | 'remix' | 'never';
}

/** The operation behind a button, `answer` being what its modal was answered with. */
export function pressOn(parent: StoredTask, press: PressAction, confirm?: ModalConfirm): Pressed {
  const words = confirm === undefined ? undefined : parsePrompt(confirm.prompt).text;
  const drawing = words === undefined ? parent.drawing : rewordedDrawing(parent.drawing, words);
  const prompt = confirm === undefined ? {} : { prompt: confirm.prompt };
  const grid = parent.buttonSet === 'edited' ? 'edited' : 'grid';
  switch (press.kind) {
    case 'upscale':
      return {
        action: 'UPSCALE',
        operation: 'upscale',
        buttonSet: parent.buttonSet === 'edited' ? 'none' : 'single',
        drawing: upscaleDrawing(drawing, press.index),
        modal: 'never',
      };
    case 'enlarge':
      return {
        action: 'UPSCALE_HD',
        operation: 'enlarge',
        buttonSet: 'enlarged',
        drawing: enlargeDrawing(drawing, press.creative, press.times),
        modal: 'never',
      };
    case 'variation':
      return {
        action: 'VARIATION',
        operation: 'variation',
        buttonSet: grid,
        drawing: strongDrawing(drawing, press.index, 'variation'),
        modal: 'remix',
        ...prompt,
      };
    case 'vary':
      return {
        action: press.strong ? 'HIGH_VARIATION' : 'LOW_VARIATION',
        operation: 'variation',
        buttonSet: 'grid',
        drawing: press.strong ? strongDrawing(drawing, 0, 'strong') : subtleDrawing(drawing),
        modal: 'remix',
        ...prompt,
      };
    case 'reroll':
      return { ...rerolled(parent, confirm), modal: 'remix', ...prompt };
    case 'zoom':
      return {
        action: 'ZOOM',
        operation: 'outpaint',
        buttonSet: 'grid',
        drawing: zoomDrawing(drawing, press.factor),
        modal: 'never',
      };
    case 'pan':
      return {
        action: 'PAN',
        operation: 'outpaint',
        buttonSet: 'grid',
        // What stays in view stays as it is; other words make other surroundings.
        drawing: panDrawing(parent.drawing, press.direction, words),
        modal: 'remix',
        ...prompt,
      };
    case 'inpaint':
      return {
        action: 'INPAINT',
        operation: 'variation',
        buttonSet: 'grid',
        drawing:
          confirm?.mask === undefined
            ? parent.drawing
            : repaintDrawing(parent.drawing, words ?? '', confirm.mask),
        modal: 'always',
        ...prompt,
      };
    case 'custom-zoom':
      return {
        action: 'CUSTOM_ZOOM',
        operation: 'outpaint',
        buttonSet: 'grid',
        drawing: confirm === undefined ? parent.drawing : customZoomed(parent.drawing, confirm.prompt),
        modal: 'always',
        ...prompt,
      };
    case 'animate': {
      const [frame] = parent.drawing.frames;
      if (frame === undefined) throw new Error('Internal error: a drawing without frames');
      const films = filmsOf(frame, {
        motion: press.motion,
        loop: false,
        lines: 480,
        count: 4,
        words: words ?? '',
      });
      return {
        action: 'VIDEO',
        operation: 'video',
        buttonSet: 'films',
        drawing: posterOf(films),
        films,
        modal: press.manual === true ? 'always' : 'remix',
        ...prompt,
      };
    }
    case 'choose-film': {
      const films = (parent.films ?? []).slice(press.index, press.index + 1);
      return {
        action: 'UPSCALE',
        operation: 'upscale',
        buttonSet: 'film',
        drawing: posterOf(films),
        films,
        modal: 'never',
      };
    }
    case 'extend': {
      const films = extendedFilms(parent.films?.[0], { motion: press.motion, count: 4, words: words ?? '' });
      return {
        action: 'VIDEO_EXTEND',
        operation: 'video',
        buttonSet: 'films',
        drawing: posterOf(films),
        films,
        modal: 'remix',
        ...prompt,
      };
    }
    case 'imagine-prompt':
    case 'imagine-all': {
      const index = press.kind === 'imagine-all' ? 0 : press.index;
      const wanted = confirm?.prompt ?? parent.prompts?.[index] ?? '';
      return {
        action: 'IMAGINE',
        operation: 'imagine',
        buttonSet: 'grid',
        drawing: imagineDrawing(parsePrompt(wanted)),
        prompt: wanted,
        modal: press.kind === 'imagine-all' ? 'never' : 'always',
      };
    }
    case 'describe-again': {
      const frame = parent.drawing.frames[0];
      return {
        action: 'DESCRIBE',
        operation: 'describe',
        buttonSet: 'described',
        drawing: parent.drawing,
        prompts: describedPrompts(frame?.text ?? '', frame?.aspect ?? 1, parent.prompts?.join() ?? ''),
        prompt: '',
        modal: 'never',
      };
    }
  }
}

/** The prompt that a modal proposes, and works with where it is answered with none. */
export function proposedPrompt(parent: StoredTask, press: PressAction): string {
  if (press.kind === 'imagine-prompt') return parent.prompts?.[press.index] ?? '';
  // A blend has no prompt that these could follow, and flags alone say nothing.
  return press.kind === 'animate' && press.manual === true && parent.prompt !== ''
    ? `${parent.prompt} --motion ${press.motion} --video 1`
    : parent.prompt;
}

/** The factor of a Custom Zoom's prompt; undefined where it names none that can be (gateway 2.5). */
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

/** The parent's own work once more. */
function rerolled(
  parent: StoredTask,
  confirm: ModalConfirm | undefined,
): Pick<Pressed, 'action' | 'operation' | 'buttonSet' | 'drawing' | 'films'> {
  const { drawing, films } = parent;
  const [film] = films ?? [];
  if (films !== undefined && film !== undefined) {
    const [shot] = film.shots.slice(-1);
    const again = films.map(({ shots }) => shots.map(({ seed }) => seed).join()).join();
    const shooting = {
      motion: shot?.motion ?? 'low',
      count: films.length,
      words: `${confirm?.prompt ?? ''} again ${again}`,
    };
    const fresh =
      film.shots.length > 1
        ? extendedFilms({ ...film, shots: film.shots.slice(0, -1) }, shooting)
        : filmsOf(film.frame, { ...shooting, loop: film.loop, lines: film.lines, end: film.end });
    return {
      action: 'REROLL',
      operation: 'video',
      buttonSet: 'films',
      drawing: posterOf(fresh),
      films: fresh,
    };
  }
  const [frame] = drawing.frames;
  if (frame !== undefined && (frame.plate !== undefined || (frame.patches ?? []).length > 0)) {
    const buttonSet = parent.buttonSet === 'edited' ? 'edited' : 'grid';
    return { action: 'REROLL', operation: 'variation', buttonSet, drawing: rerollDrawing(drawing) };
  }
  const again = drawing.frames.map(({ seed }) => seed).join();
  const images = frame?.tint === undefined ? undefined : { digests: [], tint: frame.tint };
  return {
    action: 'REROLL',
    operation: 'imagine',
    buttonSet: 'grid',
    drawing: imagineDrawing(parsePrompt(confirm?.prompt ?? parent.prompt), images, again),
  };
}

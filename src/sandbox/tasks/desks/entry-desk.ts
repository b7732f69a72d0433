import type { Plate } from '../../draw/canvas/drawing.ts';
import {
  blendDrawing,
  extendedFilms,
  filmsOf,
  imagineDrawing,
  plateFrame,
  posterOf,
  repaintDrawing,
} from '../../draw/lineage.ts';
import type { SentImage } from '../../images/read.ts';
import { parsePrompt } from '../../prompt/flags.ts';
import { digestOf } from '../../seeded.ts';
import type { TaskSpeed } from '../../settings.ts';
import type { NewTask } from '../admission.ts';
import {
  type BlendOrder,
  type DescribeOrder,
  type EditOrder,
  missingTask,
  notReady,
  rejected,
  type ShortenOrder,
  type SubmitResponse,
  type VideoOrder,
} from '../submission.ts';
import { momentOf, type TaskOutcome } from '../task.ts';
import { describedPrompts, shortened } from './describing.ts';
import type { DeskParts } from './desk.ts';

/** Takes the submissions that begin from images, and shorten (gateway 2.6). */
export class EntryDesk {
  readonly #parts: DeskParts;

  constructor(parts: DeskParts) {
    this.#parts = parts;
  }

  /** POST …/submit/blend. */
  blend(
    { images, aspect, botType, state }: BlendOrder,
    speed: TaskSpeed,
    outcome?: TaskOutcome,
  ): SubmitResponse {
    const plate: Plate = { photos: images.map(({ photo }) => photo), aspect };
    const words = [...new Set(images.map((image) => image.words))].join(' and ');
    return this.#admit({
      action: 'BLEND',
      operation: 'blend',
      speed,
      botType,
      prompt: '',
      description: `/blend ${images.map(({ photo }) => photo.sha256.slice(0, 12)).join(' ')}`,
      state,
      buttonSet: 'grid',
      drawing: blendDrawing(plate, words),
      request: digestOf(JSON.stringify(['blend', plate])),
      outcome,
    });
  }

  /** POST …/submit/describe. */
  describe(
    { image, botType, state }: DescribeOrder,
    speed: TaskSpeed,
    outcome?: TaskOutcome,
  ): SubmitResponse {
    const { photo, words } = image;
    const frame = stillOf(image);
    return this.#admit({
      action: 'DESCRIBE',
      operation: 'describe',
      speed,
      botType,
      prompt: '',
      description: `/describe ${photo.sha256.slice(0, 12)}`,
      state,
      buttonSet: 'described',
      drawing: { size: 'whole', frames: [frame] },
      prompts: describedPrompts(words, frame.aspect),
      request: digestOf(JSON.stringify(['describe', photo])),
      outcome,
    });
  }

  /** POST …/submit/shorten (gateway 2.6). */
  shorten({ prompt, botType, state }: ShortenOrder, speed: TaskSpeed, outcome?: TaskOutcome): SubmitResponse {
    const rejection = this.#parts.admission.rejectedPrompt(prompt);
    if (rejection !== undefined) return rejection;
    return this.#admit({
      action: 'SHORTEN',
      operation: 'describe',
      speed,
      botType,
      prompt,
      description: `/shorten ${prompt}`,
      state,
      buttonSet: 'shortened',
      // Never shown: a shorten has no image.
      drawing: imagineDrawing(parsePrompt(prompt)),
      prompts: shortened(prompt).prompts,
      request: digestOf(JSON.stringify(['shorten', prompt])),
      outcome,
    });
  }

  /** POST …/submit/edits. */
  edit(
    { image, mask, prompt, botType, state }: EditOrder,
    speed: TaskSpeed,
    outcome?: TaskOutcome,
  ): SubmitResponse {
    const rejection = this.#parts.admission.rejectedPrompt(prompt);
    if (rejection !== undefined) return rejection;
    const still = { size: 'whole' as const, frames: [stillOf(image)] };
    return this.#admit({
      action: 'EDITS',
      operation: 'edit',
      speed,
      botType,
      prompt,
      description: `/edit ${prompt}`,
      state,
      buttonSet: 'edited',
      drawing: repaintDrawing(still, parsePrompt(prompt).text, mask),
      request: digestOf(JSON.stringify(['edits', image.photo, mask, prompt])),
      outcome,
    });
  }

  /** POST …/submit/video. */
  video(order: VideoOrder, speed: TaskSpeed, outcome?: TaskOutcome): SubmitResponse {
    const { prompt, motion, batchSize, from, botType, state } = order;
    const rejection = this.#parts.admission.rejectedPrompt(prompt);
    if (rejection !== undefined) return rejection;
    const shooting = { motion, count: batchSize, words: prompt };
    const common = {
      operation: 'video' as const,
      speed,
      botType,
      prompt,
      state,
      buttonSet: 'films' as const,
      outcome,
    };
    if (from.kind === 'image') {
      const end = from.end === undefined ? undefined : stillOf(from.end);
      const films = filmsOf(stillOf(from.image), { ...shooting, loop: from.loop, lines: from.lines, end });
      const asked = [
        'video',
        from.image.photo,
        from.end?.photo ?? null,
        from.loop,
        from.lines,
        motion,
        prompt,
        batchSize,
      ];
      return this.#admit({
        ...common,
        action: 'VIDEO',
        description: `/video ${prompt}`,
        drawing: posterOf(films),
        films,
        request: digestOf(JSON.stringify(asked)),
      });
    }
    const { book, now } = this.#parts;
    const parent = book.get(from.taskId);
    if (parent === undefined) return missingTask;
    const { status } = momentOf(parent, now());
    if (status !== 'SUCCESS') return notReady;
    const film = parent.films?.[from.index];
    if (film === undefined) {
      const count = parent.films?.length ?? 0;
      return rejected(
        4,
        count === 0
          ? 'taskId: this task has made no video'
          : `index: expected a number from 0 to ${count - 1}, got ${from.index}`,
      );
    }
    const films = extendedFilms(film, shooting);
    return this.#admit({
      ...common,
      parentId: parent.id,
      action: 'VIDEO_EXTEND',
      description: `/video extend ${parent.id} ${from.index}`,
      drawing: posterOf(films),
      films,
      request: digestOf(JSON.stringify(['extend', parent.id, from.index, motion, prompt, batchSize])),
    });
  }

  #admit({
    outcome,
    ...task
  }: Omit<NewTask, 'version' | 'occupies' | 'outcome'> & {
    readonly outcome: TaskOutcome | undefined;
  }): SubmitResponse {
    const { admission, settings } = this.#parts;
    const { version } = parsePrompt(task.prompt).flags;
    return admission.admit({
      ...task,
      version: version ?? settings.defaultVersion,
      occupies: true,
      outcome: outcome ?? admission.outcomeOf(task.prompt, task.request),
    });
  }
}

/** A frame that shows an image as it is. */
function stillOf({ photo, words }: SentImage) {
  const plate: Plate = { photos: [photo], aspect: photo.width / photo.height };
  return plateFrame(plate, words, digestOf(`still ${photo.sha256}`));
}

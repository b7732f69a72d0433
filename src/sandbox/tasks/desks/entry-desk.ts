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
import { momentOf } from '../task.ts';
import { describedPrompts, shortened } from './describing.ts';
import type { DeskParts, Work } from './desk.ts';

/** POST …/submit/blend. */
export function blend(
  parts: DeskParts,
  { images, aspect, botType, state }: BlendOrder,
  work: Work,
): SubmitResponse {
  const plate: Plate = { photos: images.map(({ photo }) => photo), aspect };
  const words = [...new Set(images.map((image) => image.words))].join(' and ');
  return admit(parts, work, {
    action: 'BLEND',
    operation: 'blend',
    botType,
    prompt: '',
    description: `/blend ${images.map(({ photo }) => photo.sha256.slice(0, 12)).join(' ')}`,
    state,
    buttonSet: 'grid',
    drawing: blendDrawing(plate, words),
    request: digestOf(JSON.stringify(['blend', plate])),
  });
}

/** POST …/submit/describe. */
export function describe(
  parts: DeskParts,
  { image, botType, state }: DescribeOrder,
  work: Work,
): SubmitResponse {
  const { photo, words } = image;
  const frame = stillOf(image);
  return admit(parts, work, {
    action: 'DESCRIBE',
    operation: 'describe',
    botType,
    prompt: '',
    description: `/describe ${photo.sha256.slice(0, 12)}`,
    state,
    buttonSet: 'described',
    drawing: { size: 'whole', frames: [frame] },
    prompts: describedPrompts(words, frame.aspect),
    request: digestOf(JSON.stringify(['describe', photo])),
  });
}

/** POST …/submit/shorten (gateway 2.6). */
export function shorten(
  parts: DeskParts,
  { prompt, botType, state }: ShortenOrder,
  work: Work,
): SubmitResponse {
  const rejection = parts.admission.rejectedPrompt(prompt);
  if (rejection !== undefined) return rejection;
  return admit(parts, work, {
    action: 'SHORTEN',
    operation: 'describe',
    botType,
    prompt,
    description: `/shorten ${prompt}`,
    state,
    buttonSet: 'shortened',
    // Never shown: a shorten has no image.
    drawing: imagineDrawing(parsePrompt(prompt)),
    prompts: shortened(prompt).prompts,
    request: digestOf(JSON.stringify(['shorten', prompt])),
  });
}

/** POST …/submit/edits. */
export function edit(
  parts: DeskParts,
  { image, mask, prompt, botType, state }: EditOrder,
  work: Work,
): SubmitResponse {
  const rejection = parts.admission.rejectedPrompt(prompt);
  if (rejection !== undefined) return rejection;
  const still = { size: 'whole' as const, frames: [stillOf(image)] };
  return admit(parts, work, {
    action: 'EDITS',
    operation: 'edit',
    botType,
    prompt,
    description: `/edit ${prompt}`,
    state,
    buttonSet: 'edited',
    drawing: repaintDrawing(still, parsePrompt(prompt).text, mask),
    request: digestOf(JSON.stringify(['edits', image.photo, mask, prompt])),
  });
}

/** POST …/submit/video. */
export function video(parts: DeskParts, order: VideoOrder, work: Work): SubmitResponse {
  const { prompt, motion, batchSize, from, botType, state } = order;
  const rejection = parts.admission.rejectedPrompt(prompt);
  if (rejection !== undefined) return rejection;
  const shooting = { motion, count: batchSize, words: prompt };
  const common = {
    operation: 'video' as const,
    botType,
    prompt,
    state,
    buttonSet: 'films' as const,
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
    return admit(parts, work, {
      ...common,
      action: 'VIDEO',
      description: `/video ${prompt}`,
      drawing: posterOf(films),
      films,
      request: digestOf(JSON.stringify(asked)),
    });
  }
  const { book, now } = parts;
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
  return admit(parts, work, {
    ...common,
    parentId: parent.id,
    action: 'VIDEO_EXTEND',
    description: `/video extend ${parent.id} ${from.index}`,
    drawing: posterOf(films),
    films,
    request: digestOf(JSON.stringify(['extend', parent.id, from.index, motion, prompt, batchSize])),
  });
}

function admit(
  { admission, settings }: DeskParts,
  { speed, outcome }: Work,
  task: Omit<NewTask, 'speed' | 'version' | 'occupies' | 'outcome'>,
): SubmitResponse {
  const { version } = parsePrompt(task.prompt).flags;
  return admission.admit({
    ...task,
    speed,
    version: version ?? settings.defaultVersion,
    occupies: true,
    outcome: outcome ?? admission.outcomeOf(task.prompt, task.request),
  });
}

/** A frame that shows an image unchanged. */
function stillOf({ photo, words }: SentImage) {
  const plate: Plate = { photos: [photo], aspect: photo.width / photo.height };
  return plateFrame(plate, words, digestOf(`still ${photo.sha256}`));
}

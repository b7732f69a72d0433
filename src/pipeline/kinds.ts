import type { StepKind } from './pipeline.ts';

/** The kinds of steps, in the order in which messages list them. */
export const stepKinds = [
  'imagine',
  'click',
  'blend',
  'describe',
  'video',
  'edit',
  'generate',
  'chat',
] as const satisfies readonly StepKind[];

/** True for a word that is a step kind. */
export const isStepKind = (word: string): word is StepKind => (stepKinds as readonly string[]).includes(word);

const imageFields = ['prompt', 'button', 'task_id', 'image_url'];
const textFields = ['text', 'json', 'parts', 'usage'];

/** What a template may ask of `steps.<name>`, by the kind of that step. */
export const stepFields: Readonly<Record<StepKind, readonly string[]>> = {
  imagine: imageFields,
  // A button of a video makes a video.
  click: [...imageFields, 'video_url'],
  blend: imageFields,
  describe: ['prompts', 'text', 'task_id'],
  video: [...imageFields, 'video_url'],
  edit: imageFields,
  generate: textFields,
  chat: textFields,
};

/** What `steps.<name>.usage` counts, in tokens (service.md 2.8). */
export const usageMembers = ['prompt', 'cached', 'candidates', 'thoughts', 'tool', 'total'] as const;

/** Fields of {@link stepFields} that are more than one text: templates may go on into them. */
export const structuredFields: ReadonlySet<string> = new Set(['json', 'parts', 'usage', 'prompts']);

/**
 * What the language has and this version cannot run yet. Each part is refused by its name with `step.unbuilt`,
 * after all its other checks. Building a part means removing it here.
 */
export const unbuilt = {
  kinds: new Set<StepKind>(['blend', 'describe', 'video', 'edit']),
  /** Keys of a step, whatever its kind. */
  keys: new Set<string>(['prompt', 'mask', 'remix']),
  /** Keys of a step of one kind: what an imagine gathers would be its image prompts. */
  keysOfKind: new Set<string>(['imagine.gather']),
  /** Keys of a path segment that is a mapping. */
  segmentKeys: new Set<string>(['prompt', 'mask', 'remix']),
  /** Fields of an operation: `imagine.images`. */
  fields: new Set<string>(['imagine.images']),
} as const;

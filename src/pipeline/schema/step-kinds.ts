import type { StepKind } from '../pipeline.ts';

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

/** Members of `steps.<name>` that a template may read, by the kind of that step. */
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

/** What `steps.<name>.usage` counts, in tokens (gateway 6.5): every count that there is, in the order in which they are shown. */
export const tokenCounts = ['prompt', 'cached', 'candidates', 'thoughts', 'tool', 'other', 'total'] as const;

export type TokenCount = (typeof tokenCounts)[number];

/** Fields of {@link stepFields} that are more than one text: a template may read a member of them. */
export const structuredFields: ReadonlySet<string> = new Set(['json', 'parts', 'usage', 'prompts']);

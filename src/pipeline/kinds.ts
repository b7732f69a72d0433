/** What the rooms know of a step kind beside how its request is written. */
interface KindFacts {
  /** What a job of it asks the service for: a task of its own, a button of a task that is there, or an answer of a text model. */
  readonly asks: 'task' | 'button' | 'model';
  /**
   * What later steps find there: a grid of four images, images, whatever the button makes, videos, prompts (whose buttons make images), a
   * text, or a text with images where the model is asked for them.
   */
  readonly makes: 'grid' | 'images' | 'pressed' | 'videos' | 'prompts' | 'text' | 'text and images';
  /** Members of `steps.<name>` that a template may read. */
  readonly fields: readonly string[];
}

const imageFields = ['prompt', 'button', 'task_id', 'image_url'];
const textFields = ['text', 'json', 'parts', 'usage'];

/** The kinds of steps that the language knows, in the order in which messages list them. `click` is also what each selector of a path presses. */
export const kinds = {
  imagine: { asks: 'task', makes: 'grid', fields: imageFields },
  // A button of a video makes a video.
  click: { asks: 'button', makes: 'pressed', fields: [...imageFields, 'video_url'] },
  blend: { asks: 'task', makes: 'grid', fields: imageFields },
  describe: { asks: 'task', makes: 'prompts', fields: ['prompts', 'text', 'task_id'] },
  video: { asks: 'task', makes: 'videos', fields: [...imageFields, 'video_url'] },
  edit: { asks: 'task', makes: 'images', fields: imageFields },
  generate: { asks: 'model', makes: 'text and images', fields: textFields },
  chat: { asks: 'model', makes: 'text', fields: textFields },
} as const satisfies Readonly<Record<string, KindFacts>>;

export type StepKind = keyof typeof kinds;

type Asking<A extends KindFacts['asks']> = {
  [K in StepKind]: (typeof kinds)[K]['asks'] extends A ? K : never;
}[StepKind];

export const stepKinds = Object.keys(kinds) as readonly StepKind[];

/** True for a word that is a step kind. */
export const isStepKind = (word: string): word is StepKind => Object.hasOwn(kinds, word);

/** True for the kinds whose jobs press a button. */
export const isPress = (kind: StepKind | undefined): kind is Asking<'button'> =>
  kind !== undefined && kinds[kind].asks === 'button';

/** True for the kinds whose jobs ask a text model: they have no task, and their prices may be by tokens. */
export const isTextKind = (kind: StepKind | undefined): kind is Asking<'model'> =>
  kind !== undefined && kinds[kind].asks === 'model';

/** True for the kinds that make words, which no button of an image can be pressed under. */
export const makesWords = (kind: StepKind): boolean => kinds[kind].makes === 'prompts' || isTextKind(kind);

/** What `steps.<name>.usage` counts, in tokens (gateway 6.5): every count that there is, in the order in which they are shown. */
export const tokenCounts = ['prompt', 'cached', 'candidates', 'thoughts', 'tool', 'other', 'total'] as const;

export type TokenCount = (typeof tokenCounts)[number];

/** Fields of {@link kinds} that are more than one text: a template may read a member of them. */
export const structuredFields: ReadonlySet<string> = new Set(['json', 'parts', 'usage', 'prompts']);

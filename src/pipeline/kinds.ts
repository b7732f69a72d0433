/** Facts about a step kind, apart from how its request is written. */
interface KindFacts {
  /** What its jobs ask the service for: a new task, a button of an existing task, or an answer of a text model. */
  readonly asks: 'task' | 'button' | 'model';
  /** Images that its tasks begin with: any number, all that the file names, or a range. Absent: none, or see `asks`. */
  readonly images?: 'any' | 'named' | { readonly least: number; readonly most: number };
  /**
   * Result that later steps can read: a grid of four images, images, whatever the button makes, videos, prompts (whose buttons make
   * images), a text, or a text with images if the model is asked for them.
   */
  readonly makes: 'grid' | 'images' | 'pressed' | 'videos' | 'prompts' | 'text' | 'text and images';
  /** Suggested form for a bare value in the file, which replaces `$`. Absent: a bare value is correct. */
  readonly written?: string;
}

interface TextFacts extends KindFacts {
  /** Protocol of the text call: native (with turns, rounds and thinking) or chat completions. */
  readonly speaks: 'native' | 'completions';
  /** Where a request gives the type of its reply, and which types are JSON. */
  readonly replyType: { readonly path: readonly string[]; readonly json: RegExp };
  /** Where a request may give the schema of its reply; the first one present is used. */
  readonly schemas: readonly (readonly string[])[];
  /** How to ask for JSON, as a hint. */
  readonly jsonHint: string;
}

/** The step kinds of the language, in the order in which messages list them. Each selector of a path is a `click` too. */
const table = {
  imagine: { asks: 'task', images: 'any', makes: 'grid' },
  click: { asks: 'button', makes: 'pressed' },
  // Gateway 2.6.
  blend: { asks: 'task', images: { least: 2, most: 5 }, makes: 'grid', written: '{ images: $ }' },
  describe: { asks: 'task', images: 'named', makes: 'prompts', written: '{ image: $ }' },
  shorten: { asks: 'task', makes: 'prompts' },
  video: { asks: 'task', images: 'named', makes: 'videos', written: '{ image: $, prompt: … }' },
  edit: { asks: 'task', images: 'named', makes: 'images', written: '{ image: $, prompt: … }' },
  generate: {
    asks: 'model',
    makes: 'text and images',
    written: '{ model: text-pro, prompt: $ }',
    speaks: 'native',
    replyType: { path: ['generationConfig', 'responseMimeType'], json: /^application\/json\b/i },
    schemas: [
      ['responseSchema'],
      ['generationConfig', 'responseSchema'],
      ['generationConfig', 'responseJsonSchema'],
    ],
    jsonHint: 'Give it a responseSchema, or generationConfig: { responseMimeType: application/json }',
  },
  chat: {
    asks: 'model',
    makes: 'text',
    written: '{ model: chat-mini, prompt: $ }',
    speaks: 'completions',
    replyType: { path: ['response_format', 'type'], json: /^json/ },
    schemas: [['response_format', 'json_schema', 'schema']],
    jsonHint: 'Give it response_format: { type: json_object }',
  },
} as const satisfies Readonly<Record<string, KindFacts | TextFacts>>;

export type StepKind = keyof typeof table;

type Asking<A extends KindFacts['asks']> = {
  [K in StepKind]: (typeof table)[K]['asks'] extends A ? K : never;
}[StepKind];

/** Kinds whose jobs begin a new task. */
export type EntryKind = Asking<'task'>;

/** Kinds whose jobs press a button. */
export type PressKind = Asking<'button'>;

/** Kinds whose jobs call a text model. */
export type TextKind = Asking<'model'>;

/** Facts about each kind. */
export const kinds: Readonly<Record<EntryKind | PressKind, KindFacts> & Record<TextKind, TextFacts>> = table;

export const stepKinds = Object.keys(kinds) as readonly StepKind[];

/** The key that says what a step does: its kind, or that it picks from the jobs of others and has none of its own. */
export type StepKey = StepKind | 'best';

export const stepKeys: readonly StepKey[] = [...stepKinds, 'best'];

/** Whether a word is a {@link StepKey}. */
export const isStepKey = (word: string): word is StepKey => word === 'best' || isStepKind(word);

/** Returns the kinds whose jobs ask the service for the same thing. */
export const kindsAsking = <A extends KindFacts['asks']>(what: A): readonly Asking<A>[] =>
  stepKinds.filter((kind): kind is Asking<A> => kinds[kind].asks === what);

/** Whether a word is a step kind. */
export const isStepKind = (word: string): word is StepKind => Object.hasOwn(kinds, word);

/** Whether jobs of a kind press a button. */
export const isPress = (kind: StepKind | undefined): kind is PressKind =>
  kind !== undefined && kinds[kind].asks === 'button';

/** Whether jobs of a kind call a text model: they have no task, and their prices may be by tokens. */
export const isTextKind = (kind: StepKind | undefined): kind is TextKind =>
  kind !== undefined && kinds[kind].asks === 'model';

/** Whether a kind makes texts or prompts, so that no buttons of an image can be pressed below it. */
export const makesWords = (kind: StepKind): boolean => kinds[kind].makes === 'prompts' || isTextKind(kind);

const imageFields = ['prompt', 'button', 'task_id', 'image_url'];
const textFields = ['text', 'json', 'parts', 'usage'];
const fieldsBy: Readonly<Record<KindFacts['makes'], readonly string[]>> = {
  grid: imageFields,
  images: imageFields,
  // A button of a video makes a video.
  pressed: [...imageFields, 'video_url'],
  videos: [...imageFields, 'video_url'],
  prompts: ['prompts', 'text', 'task_id'],
  text: textFields,
  'text and images': textFields,
};

/** Returns the members of `steps.<name>` that a template may read. */
export const fieldsOf = (kind: StepKind): readonly string[] => fieldsBy[kinds[kind].makes];

/** The token counts of `steps.<name>.usage` (gateway 6.5), in the order in which they are shown. */
export const tokenCounts = ['prompt', 'cached', 'candidates', 'thoughts', 'tool', 'other', 'total'] as const;

export type TokenCount = (typeof tokenCounts)[number];

/** Fields of {@link fieldsOf} with members that a template may read. */
export const structuredFields: ReadonlySet<string> = new Set(['json', 'parts', 'usage', 'prompts']);

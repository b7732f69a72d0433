/** What the rooms know of a step kind beside how its request is written. */
interface KindFacts {
  /** What a job of it asks the service for: a task of its own, a button of a task that is there, or an answer of a text model. */
  readonly asks: 'task' | 'button' | 'model';
  /** The images that a task of its own begins from: any number, each that the file names, or as many as this. Absent: none, or see `asks`. */
  readonly images?: 'any' | 'named' | { readonly least: number; readonly most: number };
  /**
   * What later steps find there: a grid of four images, images, whatever the button makes, videos, prompts (whose buttons make images), a
   * text, or a text with images where the model is asked for them.
   */
  readonly makes: 'grid' | 'images' | 'pressed' | 'videos' | 'prompts' | 'text' | 'text and images';
  /** What a message suggests where the file has a bare value, which goes to `$`. Absent: a bare value is right. */
  readonly written?: string;
}

interface TextFacts extends KindFacts {
  /** The protocol in which the model is asked: the native one, which knows turns, rounds and thinking, or that of chat completions. */
  readonly speaks: 'native' | 'completions';
  /** Where a request says of what type its reply is, and which types are JSON. */
  readonly replyType: { readonly path: readonly string[]; readonly json: RegExp };
  /** Where a request may say the schema of its reply; the first that is there holds. */
  readonly schemas: readonly (readonly string[])[];
  /** How JSON is asked for. */
  readonly jsonHint: string;
}

/** The kinds of steps that the language knows, in the order in which messages list them. `click` is also what each selector of a path presses. */
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

/** Kinds whose jobs begin a task of their own. */
export type EntryKind = Asking<'task'>;

/** Kinds whose jobs press a button. */
export type PressKind = Asking<'button'>;

/** Kinds whose jobs ask a text model. */
export type TextKind = Asking<'model'>;

/** What is known of each kind. */
export const kinds: Readonly<Record<EntryKind | PressKind, KindFacts> & Record<TextKind, TextFacts>> = table;

export const stepKinds = Object.keys(kinds) as readonly StepKind[];

/** The kinds whose jobs ask the service for the same. */
export const kindsAsking = <A extends KindFacts['asks']>(what: A): readonly Asking<A>[] =>
  stepKinds.filter((kind): kind is Asking<A> => kinds[kind].asks === what);

/** True for a word that is a step kind. */
export const isStepKind = (word: string): word is StepKind => Object.hasOwn(kinds, word);

/** True for the kinds whose jobs press a button. */
export const isPress = (kind: StepKind | undefined): kind is PressKind =>
  kind !== undefined && kinds[kind].asks === 'button';

/** True for the kinds whose jobs ask a text model: they have no task, and their prices may be by tokens. */
export const isTextKind = (kind: StepKind | undefined): kind is TextKind =>
  kind !== undefined && kinds[kind].asks === 'model';

/** True for the kinds that make words, which no button of an image can be pressed under. */
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

/** Members of `steps.<name>` that a template may read. */
export const fieldsOf = (kind: StepKind): readonly string[] => fieldsBy[kinds[kind].makes];

/** What `steps.<name>.usage` counts, in tokens (gateway 6.5): every count that there is, in the order in which they are shown. */
export const tokenCounts = ['prompt', 'cached', 'candidates', 'thoughts', 'tool', 'other', 'total'] as const;

export type TokenCount = (typeof tokenCounts)[number];

/** Fields ({@link fieldsOf}) that are more than one text: a template may read a member of them. */
export const structuredFields: ReadonlySet<string> = new Set(['json', 'parts', 'usage', 'prompts']);

// A token of the sandbox: up to six letters or three digits of one word, or one sign, with the space before it.
const piece = /\s*(?:\p{L}{1,6}|\p{N}{1,3}|[^\s\p{L}\p{N}])|\s+$/gu;

/** Counts the tokens of a text. */
export function countTokens(text: string): number {
  let count = 0;
  for (const _ of text.matchAll(piece)) count += 1;
  return count;
}

/** Splits a text into its tokens, which add up to the text. */
export const splitTokens = (text: string): readonly string[] => text.match(piece) ?? [];

/** Returns the first tokens of a text. */
export function firstTokens(text: string, count: number): string {
  let end = 0;
  let left = count;
  for (const match of text.matchAll(piece)) {
    if (left <= 0) break;
    left -= 1;
    end = match.index + match[0].length;
  }
  return text.slice(0, end);
}

/** The kinds of content that tokens are counted by (gateway 6.5, `*TokensDetails`). */
type Modality = 'TEXT' | 'IMAGE' | 'AUDIO' | 'VIDEO' | 'DOCUMENT';

export type ModalTokens = Readonly<Partial<Record<Modality, number>>>;

/** The token usage of a reply, the same for both endpoints. `total` = prompt + candidates + thoughts + tool; `prompt` includes `cached`. */
export interface Usage {
  readonly prompt: ModalTokens;
  readonly cached: ModalTokens;
  readonly candidates: ModalTokens;
  readonly thoughts: number;
  readonly tool: ModalTokens;
}

export const modalSum = (tokens: ModalTokens): number =>
  Object.values(tokens).reduce((sum, count) => sum + count, 0);

/** Adds two counts. */
export function addTokens(one: ModalTokens, other: ModalTokens): ModalTokens {
  const sum: Partial<Record<Modality, number>> = { ...one };
  for (const [modality, count] of Object.entries(other) as [Modality, number][]) {
    sum[modality] = (sum[modality] ?? 0) + count;
  }
  return sum;
}

/** The total of a reply. */
export const totalOf = ({ prompt, candidates, thoughts, tool }: Usage): number =>
  modalSum(prompt) + modalSum(candidates) + thoughts + modalSum(tool);

/** Counts the tokens of an image in a prompt: one tile up to 384 pixels a side, else one for each 768 (gateway 6.5). */
export function imageTokens(width: number, height: number): number {
  const tile = 258;
  if (width <= 384 && height <= 384) return tile;
  return tile * Math.ceil(width / 768) * Math.ceil(height / 768);
}

/** The thinking parameter of a model (gateway 6.3). */
type ThinkingMode =
  /** The newer generation has `thinkingLevel`. */
  | { readonly kind: 'level'; readonly usual: NativeThinkingLevel }
  /** The earlier generation has `thinkingBudget` in tokens; -1: the model decides, 0: no thinking. */
  | {
      readonly kind: 'budget';
      readonly least: number;
      readonly most: number;
      readonly canBeOff: boolean;
      readonly usual: number;
    }
  | { readonly kind: 'none' };

export type NativeThinkingLevel = 'MINIMAL' | 'LOW' | 'MEDIUM' | 'HIGH';

/** A model of the text endpoints. */
export interface TextModel {
  readonly id: string;
  /** The model's name in replies (`modelVersion`). */
  readonly version: string;
  readonly thinking: ThinkingMode;
  /** Whether the model signs its function calls and needs the signatures back (gateway 6.4). */
  readonly newer: boolean;
  /** Whether the model can draw images. */
  readonly images: boolean;
  /** Endpoints by their names in the models list: `gemini` is the native one, `openai` is chat. */
  readonly endpoints: readonly ('gemini' | 'openai')[];
  /** Largest `maxOutputTokens`. */
  readonly longest: number;
  /** Unix seconds. */
  readonly created: number;
}

const both = ['gemini', 'openai'] as const;
const level = (usual: NativeThinkingLevel): ThinkingMode => ({ kind: 'level', usual });
const newer = { newer: true, images: false, endpoints: both, longest: 65_536, created: 1_763_424_000 };
const earlier = { newer: false, images: false, endpoints: both, longest: 65_536, created: 1_750_118_400 };
const chat = {
  newer: false,
  images: false,
  endpoints: ['openai'],
  longest: 16_384,
  created: 1_740_000_000,
  thinking: { kind: 'none' },
} as const;

/** The sandbox's models: a newer and an earlier generation, image models of both, and models for chat only. */
const textModels: readonly TextModel[] = [
  { id: 'text-pro', version: 'text-pro-002', thinking: level('HIGH'), ...newer },
  { id: 'text-flash', version: 'text-flash-002', thinking: level('HIGH'), ...newer },
  { id: 'text-lite', version: 'text-lite-002', thinking: level('MINIMAL'), ...newer },
  { id: 'text-image', version: 'text-image-002', thinking: level('LOW'), ...newer, images: true },
  {
    id: 'text-pro-1',
    version: 'text-pro-1-001',
    thinking: { kind: 'budget', least: 128, most: 32_768, canBeOff: false, usual: -1 },
    ...earlier,
  },
  {
    id: 'text-flash-1',
    version: 'text-flash-1-001',
    thinking: { kind: 'budget', least: 1, most: 24_576, canBeOff: true, usual: -1 },
    ...earlier,
  },
  {
    id: 'text-lite-1',
    version: 'text-lite-1-001',
    thinking: { kind: 'budget', least: 512, most: 24_576, canBeOff: true, usual: 0 },
    ...earlier,
  },
  { id: 'text-image-1', version: 'text-image-1-001', thinking: { kind: 'none' }, ...earlier, images: true },
  { id: 'chat-large', version: 'chat-large-2026-03-01', ...chat },
  { id: 'chat-mini', version: 'chat-mini-2026-03-01', ...chat },
];

/**
 * Finds the model of an id. With `any`, the words of an unlisted id decide its abilities, so that a pipeline for a real gateway can be
 * rehearsed: a version before 3 is the earlier generation.
 */
export function findModel(id: string, any: boolean): TextModel | undefined {
  const listed = textModels.find((model) => model.id === id);
  if (listed !== undefined || !any) return listed;
  const images = /image|banana/i.test(id);
  if (/chat|gpt|claude|^o\d/i.test(id)) return { ...chat, id, version: id, images: false };
  const old = /(^|[^\d.])[12](\.\d+)?($|[^\d.])/.test(id);
  if (!old) return { ...newer, id, version: id, thinking: level(images ? 'LOW' : 'HIGH'), images };
  const pro = /pro/i.test(id);
  const budget = { kind: 'budget', usual: -1, canBeOff: !pro } as const;
  return {
    ...earlier,
    id,
    version: id,
    images,
    thinking: images ? { kind: 'none' } : { ...budget, least: pro ? 128 : 1, most: pro ? 32_768 : 24_576 },
  };
}

/** Returns the body of GET /v1/models (gateway 7.2). */
export const modelList = () => ({
  object: 'list',
  success: true,
  data: textModels.map(({ id, created, endpoints }) => ({
    id,
    object: 'model',
    created,
    owned_by: 'sandbox',
    supported_endpoint_types: endpoints,
  })),
});

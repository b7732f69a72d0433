import { listing } from '../../diagnostics/did-you-mean.ts';
import type { Thinking } from '../../pipeline.ts';
import { isMapping, type Value, WrittenNumber } from '../../values/value.ts';

/** Where a thinking parameter stands: the short form, which is either, or a native field. */
export type ThinkingField = 'short' | 'level' | 'budget';

/** What a step asks of its model's thinking. */
export type ThinkingWish = { readonly level: string } | { readonly budget: number };

/** Why a model does not take a wish. */
export interface ThinkingError {
  readonly code: 'thinking.generation' | 'thinking.range';
  readonly message: string;
  readonly hint: string;
}

const levels: readonly string[] = ['minimal', 'low', 'medium', 'high'];

/** The wish in a value: digits in a text are a number. Undefined for any other value. */
export function readWish(as: ThinkingField, value: Value | undefined): ThinkingWish | undefined {
  const plain = value instanceof WrittenNumber ? value.value : value;
  if (typeof plain === 'number') return as === 'level' ? undefined : { budget: plain };
  if (typeof plain !== 'string') return undefined;
  const word = plain.trim().toLowerCase();
  if (as !== 'level' && /^-?\d{1,15}$/.test(word)) return { budget: Number(word) };
  return as !== 'budget' && levels.includes(word) ? { level: word } : undefined;
}

/** The wish of a generate step's rendered fields: native fields go before the short form, as in what is sent. */
export function wishOf(fields: Readonly<Record<string, Value>>): ThinkingWish | undefined {
  const config = fields['generationConfig'];
  const native = isMapping(config) ? config['thinkingConfig'] : undefined;
  const { thinkingLevel, thinkingBudget } = isMapping(native) ? native : {};
  if (thinkingLevel === undefined && thinkingBudget === undefined)
    return readWish('short', fields['thinking']);
  return readWish('level', thinkingLevel) ?? readWish('budget', thinkingBudget);
}

/**
 * Why a model does not accept a wish (gateway 6.3); undefined where it does, and for an unknown model.
 *
 * @param declared the pipeline's `models`
 */
export function thinkingError(
  model: string,
  wish: ThinkingWish,
  declared: Readonly<Record<string, Thinking>>,
): ThinkingError | undefined {
  const known = modelThinking(model, declared);
  if (known === undefined) return undefined;
  const way = 'level' in wish ? 'level' : 'budget';
  if (known.thinking !== way) return otherGeneration(known, model, way);
  if ('budget' in wish) return wrongBudget(known, model, wish.budget);
  if (known.levels === undefined || (known.levels as readonly string[]).includes(wish.level))
    return undefined;
  return {
    code: 'thinking.range',
    message: `The model "${model}" has no thinking level "${wish.level}".`,
    hint: `Its levels are ${listing(known.levels)}.`,
  };
}

/** What says how a model takes its thinking. */
export const modelsEntry = (model: string, thinking: Thinking): string =>
  `models: { ${/^[A-Za-z0-9._-]+$/.test(model) ? model : JSON.stringify(model)}: { thinking: ${thinking} } }`;

function otherGeneration(
  { thinking, budget }: ModelThinking,
  model: string,
  way: 'level' | 'budget',
): ThinkingError {
  const takes =
    thinking === 'none'
      ? 'takes no thinking parameter'
      : `takes its thinking as a ${thinking}, not as a ${way}`;
  const fix =
    thinking === 'none'
      ? 'Leave it out'
      : thinking === 'level'
        ? 'Write thinking: low, or another level'
        : `Write thinking: ${budget === undefined ? 1024 : Math.max(1024, budget.from)}, or another number of tokens`;
  return {
    code: 'thinking.generation',
    message: `The model "${model}" ${takes}.`,
    hint: `${fix}. If the service sees it otherwise, say ${modelsEntry(model, way)}.`,
  };
}

function wrongBudget(
  { budget, off }: ModelThinking,
  model: string,
  wanted: number,
): ThinkingError | undefined {
  if (budget === undefined || wanted === -1 || (wanted === 0 && off === true)) return undefined;
  if (wanted >= budget.from && wanted <= budget.to) return undefined;
  const none = off === true ? '0 (off), ' : '';
  return {
    code: 'thinking.range',
    message:
      wanted === 0
        ? `The model "${model}" cannot do without thinking.`
        : `The model "${model}" takes no thinking budget of ${wanted}.`,
    hint: `It takes ${none}-1 (as it likes), and from ${budget.from} to ${budget.to} tokens.`,
  };
}

/** The words of `thinkingLevel` (gateway 6.3). */
export type ThinkingLevel = 'minimal' | 'low' | 'medium' | 'high';

/** How a text model takes its thinking parameter, where that is known. */
export interface ModelThinking {
  readonly thinking: Thinking;
  /** The levels it takes; all where absent. */
  readonly levels?: readonly ThinkingLevel[];
  /** Tokens that a budget may have, both ends included; any where absent. -1 (as the model likes) is always possible. */
  readonly budget?: { readonly from: number; readonly to: number };
  /** 0 turns thinking off. */
  readonly off?: boolean;
}

/** What follows a family's name: a version, a date, a preview; never another kind of model (`-image`, `-tts`, `-live`). */
const rest = String.raw`(?:-(?!image|tts|live|audio|native|computer)[a-z0-9.]+)*`;

const family = (name: string, thinking: ModelThinking): readonly [RegExp, ModelThinking] => [
  new RegExp(`^(?:models/)?${name}${rest}$`),
  thinking,
];

/** Families by their names, the closer name first (gateway 6.3). */
const families: readonly (readonly [RegExp, ModelThinking])[] = [
  family('gemini-2\\.5-flash-lite', { thinking: 'budget', budget: { from: 512, to: 24_576 }, off: true }),
  family('gemini-2\\.5-flash', { thinking: 'budget', budget: { from: 1, to: 24_576 }, off: true }),
  family('gemini-2\\.5-pro', { thinking: 'budget', budget: { from: 128, to: 32_768 }, off: false }),
  family('gemini-3-pro', { thinking: 'level', levels: ['low', 'high'] }),
  family('gemini-[3-9](?:\\.\\d+)?-(?:pro|flash)', { thinking: 'level' }),
];

/**
 * How a model takes thinking: as the pipeline's `models` says, else by its name; undefined where neither knows.
 */
export function modelThinking(
  model: string,
  declared: Readonly<Record<string, Thinking>>,
): ModelThinking | undefined {
  const own = Object.hasOwn(declared, model) ? declared[model] : undefined;
  const known = families.find(([name]) => name.test(model.toLowerCase()))?.[1];
  if (own === undefined) return known;
  return known?.thinking === own ? known : { thinking: own };
}

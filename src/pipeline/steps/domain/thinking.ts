import { listing } from '../../diagnostics/did-you-mean.ts';
import type { Thinking } from '../../pipeline.ts';
import { isMapping, type Value, WrittenNumber } from '../../values/value.ts';

/** Form of a thinking parameter: the short form for a level or a budget, or a native field. */
export type ThinkingField = 'short' | 'level' | 'budget';

/** The thinking that a step asks for: a level or a budget. */
export type ThinkingWish = { readonly level: string } | { readonly budget: number };

/** The reason why a model does not accept a thinking parameter. */
export interface ThinkingError {
  readonly code: 'thinking.generation' | 'thinking.range';
  readonly message: string;
  readonly hint: string;
}

const levels: readonly string[] = ['minimal', 'low', 'medium', 'high'];

/** Reads the thinking in a value: a text of digits is a number. Undefined for any other value. */
export function readWish(as: ThinkingField, value: Value | undefined): ThinkingWish | undefined {
  const plain = value instanceof WrittenNumber ? value.value : value;
  if (typeof plain === 'number') return as === 'level' ? undefined : { budget: plain };
  if (typeof plain !== 'string') return undefined;
  const word = plain.trim().toLowerCase();
  if (as !== 'level' && /^-?\d{1,15}$/.test(word)) return { budget: Number(word) };
  return as !== 'budget' && levels.includes(word) ? { level: word } : undefined;
}

/** Reads the thinking in a generate step's rendered fields: native fields override the short form, as in the sent request. */
export function wishOf(fields: Readonly<Record<string, Value>>): ThinkingWish | undefined {
  const config = fields['generationConfig'];
  const native = isMapping(config) ? config['thinkingConfig'] : undefined;
  const { thinkingLevel, thinkingBudget } = isMapping(native) ? native : {};
  if (thinkingLevel === undefined && thinkingBudget === undefined)
    return readWish('short', fields['thinking']);
  return readWish('level', thinkingLevel) ?? readWish('budget', thinkingBudget);
}

/**
 * Returns why a model does not accept the thinking (gateway 6.3); undefined if it does, or for an unknown model.
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

/** Formats the `models` entry that declares how a model takes its thinking. */
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
    hint: `${fix}. If the service accepts it, write ${modelsEntry(model, way)}.`,
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
        ? `The model "${model}" cannot turn thinking off.`
        : `The model "${model}" takes no thinking budget of ${wanted}.`,
    hint: `It takes ${none}-1 (the model decides), and from ${budget.from} to ${budget.to} tokens.`,
  };
}

/** A value of `thinkingLevel` (gateway 6.3). */
export type ThinkingLevel = 'minimal' | 'low' | 'medium' | 'high';

/** How a text model takes its thinking parameter, as far as known. */
export interface ModelThinking {
  readonly thinking: Thinking;
  /** Accepted levels; absent if all are accepted. */
  readonly levels?: readonly ThinkingLevel[];
  /** Accepted range of budgets in tokens, both ends included; absent if any is accepted. -1 (the model decides) is always accepted. */
  readonly budget?: { readonly from: number; readonly to: number };
  /** Whether 0 turns thinking off. */
  readonly off?: boolean;
}

/** Matches the rest of a model's name after its family, but no other kind of model (`-image`, `-tts`, `-live`). */
const rest = String.raw`(?:-(?!image|tts|live|audio|native|computer)[a-z0-9.]+)*`;

const family = (name: string, thinking: ModelThinking): readonly [RegExp, ModelThinking] => [
  new RegExp(`^(?:models/)?${name}${rest}$`),
  thinking,
];

/** Families of models by name, the more specific name first (gateway 6.3). */
const families: readonly (readonly [RegExp, ModelThinking])[] = [
  family('gemini-2\\.5-flash-lite', { thinking: 'budget', budget: { from: 512, to: 24_576 }, off: true }),
  family('gemini-2\\.5-flash', { thinking: 'budget', budget: { from: 1, to: 24_576 }, off: true }),
  family('gemini-2\\.5-pro', { thinking: 'budget', budget: { from: 128, to: 32_768 }, off: false }),
  family('gemini-3-pro', { thinking: 'level', levels: ['low', 'high'] }),
  family('gemini-[3-9](?:\\.\\d+)?-(?:pro|flash)', { thinking: 'level' }),
];

/** Returns how a model takes thinking: by the pipeline's `models`, else by its name; undefined if neither knows it. */
export function modelThinking(
  model: string,
  declared: Readonly<Record<string, Thinking>>,
): ModelThinking | undefined {
  const own = Object.hasOwn(declared, model) ? declared[model] : undefined;
  const known = families.find(([name]) => name.test(model.toLowerCase()))?.[1];
  if (own === undefined) return known;
  return known?.thinking === own ? known : { thinking: own };
}

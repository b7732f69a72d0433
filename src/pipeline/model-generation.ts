import type { Thinking } from './pipeline.ts';

/** The words of `thinkingLevel` (service.md 4.2, rule 1). */
export type ThinkingLevel = 'minimal' | 'low' | 'medium' | 'high';

/** How a text model takes its thinking parameter, as far as it is known. */
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

/** Families by their names, the closer name first (protocol.md 5.1). */
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

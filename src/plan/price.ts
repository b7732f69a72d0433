import type { Price, Selector, StepKind } from '../pipeline/pipeline.ts';
import { globMatches } from '../pipeline/selector-glob.ts';
import type { TokenUsage } from './job.ts';
import { isTextKind, type Press, type TextRequest } from './job-request.ts';

/**
 * What one submission costs, in the unit of the pipeline's `prices`; undefined where no price is given, which is
 * not 0, and where it depends on the tokens of the answer.
 *
 * A click's price stands under its button's name, exactly or with `*` (`"U*"`), else under `click`; a text call's under its
 * model, exactly, else under its kind; any other step's under its kind. Of several names the first one that has a price
 * counts, an exact entry before a pattern, patterns in the order of the file. For images an entry by tokens is no price.
 *
 * @param names what is known of the button: label and emoji once it is pressed, and what the request says; of a text
 * call: its model
 */
export function priceOf(
  prices: Readonly<Record<string, Price>>,
  kind: StepKind,
  names: readonly string[],
): number | undefined {
  if (isTextKind(kind)) {
    const price = textPrice(prices, kind, names[0]);
    return typeof price === 'number' ? price : undefined;
  }
  const entries = Object.entries(prices);
  const priceUnder = (matches: (entry: string) => boolean): number | undefined => {
    for (const [entry, price] of entries) if (typeof price === 'number' && matches(entry)) return price;
    return undefined;
  };
  if (kind === 'click')
    for (const name of names) {
      const price =
        priceUnder((entry) => entry === name) ??
        priceUnder((entry) => entry.includes('*') && globMatches(entry, name));
      if (price !== undefined) return price;
    }
  return priceUnder((entry) => entry === kind);
}

/**
 * What an answer to a text call cost: a price per call whatever it took, one by tokens by what the service counted.
 * Undefined where no price is given, or where a count is needed and there is none.
 */
export function answerPrice(
  prices: Readonly<Record<string, Price>>,
  { kind, fields: { model } }: Pick<TextRequest, 'kind' | 'fields'>,
  usage: TokenUsage | undefined,
): number | undefined {
  const price = textPrice(prices, kind, typeof model === 'string' ? model : undefined);
  if (price === undefined || typeof price === 'number') return price;
  return usage === undefined ? undefined : tokenPrice(price, usage);
}

/**
 * What tokens cost at a price per million. Undefined where no count is known that has a price; a count that the service
 * left out beside others means 0 (protocol.md 5.2).
 */
function tokenPrice(
  { input, output }: Exclude<Price, number>,
  { prompt, tool, candidates, thoughts }: TokenUsage,
): number | undefined {
  if (prompt === undefined && tool === undefined && candidates === undefined && thoughts === undefined)
    return undefined;
  const [sent, made] = [(prompt ?? 0) + (tool ?? 0), (candidates ?? 0) + (thoughts ?? 0)];
  return (sent * input + made * output) / 1_000_000;
}

function textPrice(
  prices: Readonly<Record<string, Price>>,
  kind: StepKind,
  model: string | undefined,
): Price | undefined {
  // A model may have the name of something that every object has.
  if (model !== undefined && Object.hasOwn(prices, model)) return prices[model];
  return prices[kind];
}

/** The names under which a request's button may have a price. */
export const pressNames = (press: readonly Press[]): readonly string[] =>
  press.map((way) => {
    switch (way.kind) {
      case 'text':
        return way.text;
      case 'pattern':
        return `/${way.source}/`;
      case 'word':
        return way.word;
    }
  });

/** The same of a selector that is not rendered: `U{{ n }}` has the price of `U*`. */
export const selectorNames = (selector: Selector): readonly string[] =>
  selector.alternatives.map((match) => {
    switch (match.kind) {
      case 'text':
        return match.text.source;
      case 'pattern':
      case 'wildcard':
        return match.source;
      case 'word':
        return match.word;
    }
  });

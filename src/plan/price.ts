import type { Price, Selector, StepKind } from '../pipeline/pipeline.ts';
import { globMatches } from '../pipeline/selector-glob.ts';
import type { Press } from './job.ts';

/**
 * What one submission costs, in the unit of the pipeline's `prices`; undefined where no price is given, which is
 * not 0.
 *
 * A click's price stands under its button's name, exactly or with `*` (`"U*"`), else under `click`; any other step's
 * stands under its kind. Of several names the first one that has a price counts, an exact entry before a pattern,
 * patterns in the order of the file. An entry for a text model is no price of a submission.
 *
 * @param pressNames what is known of the button: label and emoji once it is pressed, and what the request says
 */
export function priceOf(
  prices: Readonly<Record<string, Price>>,
  kind: StepKind,
  pressNames: readonly string[],
): number | undefined {
  const entries = Object.entries(prices);
  const priceUnder = (matches: (entry: string) => boolean): number | undefined => {
    for (const [entry, price] of entries) if (typeof price === 'number' && matches(entry)) return price;
    return undefined;
  };
  if (kind === 'click')
    for (const name of pressNames) {
      const price =
        priceUnder((entry) => entry === name) ??
        priceUnder((entry) => entry.includes('*') && globMatches(entry, name));
      if (price !== undefined) return price;
    }
  return priceUnder((entry) => entry === kind);
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

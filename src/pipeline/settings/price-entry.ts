import { isPress, isTextKind } from '../kinds.ts';
import type { Price, Selector, StepKind } from '../pipeline.ts';
import { globMatches } from '../selectors/glob.ts';

export type Prices = Readonly<Record<string, Price>>;

/**
 * Finds the entry of `prices` with the price of one submission; undefined if there is none.
 *
 * A click's price stands under its button's name, exact or with `*` (`"U*"`), else under `click`; a text call's under its exact model,
 * else under its kind; any other step's under its kind. The first name with a price counts; an exact entry goes before a pattern, a more
 * specific pattern before others. For images an entry by tokens does not count.
 *
 * @param names known names of the button, or the model of a text call
 */
export function priceEntry(prices: Prices, kind: StepKind, names: readonly string[]): string | undefined {
  if (isTextKind(kind)) {
    const [model] = names;
    // A model may have the name of a member that every object has.
    return [model, kind].find((entry) => entry !== undefined && Object.hasOwn(prices, entry));
  }
  const isPrice = (entry: string): boolean =>
    Object.hasOwn(prices, entry) && typeof prices[entry] === 'number';
  if (isPress(kind))
    for (const name of names) {
      if (isPrice(name)) return name;
      const patterns = Object.keys(prices).filter(
        (entry) => entry.includes('*') && isPrice(entry) && globMatches(entry, name),
      );
      const [closest] = patterns.sort(bySpecificity);
      if (closest !== undefined) return closest;
    }
  return isPrice(kind) ? kind : undefined;
}

/** Orders patterns: more characters other than `*` first, then fewer `*`s, else as in the file. */
function bySpecificity(one: string, other: string): number {
  const [said, saidByOther] = [one, other].map((pattern) => pattern.replaceAll('*', '').length) as [
    number,
    number,
  ];
  return saidByOther - said || one.length - other.length;
}

/** Returns names for the price of a button before it is pressed, one per alternative: `U{{ n }}` has the price of `U*`. */
export const selectorNames = ({ alternatives }: Selector): readonly string[] =>
  alternatives.map((match) => {
    switch (match.kind) {
      case 'text':
        return match.text.source;
      case 'pattern':
        return `/${match.source}/`;
      case 'wildcard':
        return match.source;
      case 'word':
        return match.word;
    }
  });

import { isPress, isTextKind } from '../kinds.ts';
import type { Price, Selector, StepKind } from '../pipeline.ts';
import { globMatches } from '../selectors/glob.ts';

export type Prices = Readonly<Record<string, Price>>;

/**
 * The entry of `prices` that says what one submission costs; undefined where none does.
 *
 * A click's price stands under its button's name, exactly or with `*` (`"U*"`), else under `click`; a text call's under its
 * model, exactly, else under its kind; any other step's under its kind. Of several names the first one that has a price
 * counts; an exact entry before a pattern, the pattern that says most before the others. For images an entry by tokens is no
 * price.
 *
 * @param names what is known of the button, or the model of a text call
 */
export function priceEntry(prices: Prices, kind: StepKind, names: readonly string[]): string | undefined {
  if (isTextKind(kind)) {
    const [model] = names;
    // A model may have the name of something that every object has.
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

/** What a pattern says besides its `*`s; of two that say as much, the one with fewer `*`s, else the first in the file. */
function bySpecificity(one: string, other: string): number {
  const [said, saidByOther] = [one, other].map((pattern) => pattern.replaceAll('*', '').length) as [
    number,
    number,
  ];
  return saidByOther - said || one.length - other.length;
}

/** The names under which a button may have a price before it is pressed, one for each alternative: `U{{ n }}` has that of `U*`. */
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

import type { Price, StepKind } from '../../pipeline/pipeline.ts';
import { type Prices, priceEntry } from '../../pipeline/settings/price-entry.ts';
import type { TokenUsage } from '../job.ts';
import type { Press, TextRequest } from '../job-request.ts';
import { tokenSides } from '../usage.ts';

/** An amount without the noise of binary fractions (0.1 + 0.2): nothing is priced in billionths. */
export const roundMoney = (amount: number): number => Number(amount.toFixed(9));

/**
 * What one submission costs, in the unit of the pipeline's `prices`; undefined where no price is given, which is not 0, and
 * where it depends on the tokens of the reply.
 *
 * @param names names of the button: label and emoji once it is pressed, and the text of the request; of a text call: its
 * model
 */
export function priceOf(prices: Prices, kind: StepKind, names: readonly string[]): number | undefined {
  const price = priceAt(prices, priceEntry(prices, kind, names));
  return typeof price === 'number' ? price : undefined;
}

const priceAt = (prices: Prices, entry: string | undefined): Price | undefined =>
  entry === undefined ? undefined : prices[entry];

/**
 * The cost of a reply to a text call: a price per call, or a price per counted tokens. Undefined where no price is given,
 * or where a needed count is missing.
 */
export function replyPrice(
  prices: Prices,
  { kind, fields: { model } }: Pick<TextRequest, 'kind' | 'fields'>,
  usage: TokenUsage | undefined,
): number | undefined {
  const price = priceAt(prices, priceEntry(prices, kind, typeof model === 'string' ? [model] : []));
  if (price === undefined || typeof price === 'number') return price;
  return usage === undefined ? undefined : tokenPrice(price, usage);
}

/**
 * What tokens cost at a price per million. Undefined where no count is known; a count that the service left out beside others
 * means 0 (gateway 6.5). What nobody knows the side of has the dearer price.
 */
function tokenPrice({ input, output }: Exclude<Price, number>, usage: TokenUsage): number | undefined {
  const sides = tokenSides(usage);
  if (sides === undefined) return undefined;
  const { sent, made, other } = sides;
  return (sent * input + made * output + other * Math.max(input, output)) / 1_000_000;
}

/** The names under which a request's button may have a price; none where it presses none. */
export const pressNames = (press: readonly Press[] = []): readonly string[] =>
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

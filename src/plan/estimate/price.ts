import type { Price, StepKind } from '../../pipeline/pipeline.ts';
import { type Prices, priceEntry } from '../../pipeline/settings/price-entry.ts';
import type { TokenUsage } from '../job.ts';
import type { Press, TextRequest } from '../job-request.ts';
import { tokenSides } from '../usage.ts';

/** Rounds an amount, to remove the noise of binary fractions (0.1 + 0.2). No price is in billionths. */
export const roundMoney = (amount: number): number => Number(amount.toFixed(9));

/**
 * Returns the price of one submission, in the unit of the pipeline's `prices`; undefined (not 0) without a price, or if the price depends
 * on the tokens of the reply.
 *
 * @param names names of the button: label and emoji once it is pressed, and the text of the request; of a text call: its model
 */
export function priceOf(prices: Prices, kind: StepKind, names: readonly string[]): number | undefined {
  const price = priceAt(prices, priceEntry(prices, kind, names));
  return typeof price === 'number' ? price : undefined;
}

const priceAt = (prices: Prices, entry: string | undefined): Price | undefined =>
  entry === undefined ? undefined : prices[entry];

/** Returns the cost of a reply to a text call, by a price per call or per tokens; undefined without a price, or without a needed count. */
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
 * Returns the cost of tokens at a price per million; undefined if no count is known. If the service left out some counts, they are 0
 * (gateway 6.5). Tokens that may be input or output have the higher price.
 */
function tokenPrice({ input, output }: Exclude<Price, number>, usage: TokenUsage): number | undefined {
  const sides = tokenSides(usage);
  if (sides === undefined) return undefined;
  const { sent, made, other } = sides;
  return (sent * input + made * output + other * Math.max(input, output)) / 1_000_000;
}

/** Returns the names under which a request's button may have a price; empty if it presses none. */
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

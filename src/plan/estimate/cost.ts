import type { Price, Selector, StepKind } from '../../pipeline/pipeline.ts';
import { selectorNames } from '../../pipeline/settings/price-entry.ts';
import type { Cell } from '../cell.ts';
import type { SlotTemplate } from '../graph/slot-template.ts';
import type { JobSpec } from '../job.ts';
import { isTextRequest, type TextRequest } from '../job-request.ts';
import { estimateTokens } from '../request/tokens.ts';
import type { Slot } from '../slot.ts';
import { pressNames, priceOf, replyPrice } from './price.ts';
import type { Cost } from './totals.ts';

/** What submitting a job costs, where that is known before the submission. */
export function costOf(
  prices: Readonly<Record<string, Price>>,
  { kind, request }: Pick<JobSpec, 'kind' | 'request'>,
): Cost {
  if (!isTextRequest(request)) return { price: priceOf(prices, kind, pressNames(request.press)) };
  return textCost(prices, request, request.images?.length ?? 0);
}

/** What a job's price would stand under: its button, its model, else its kind. */
export function priceName({ kind, request }: Pick<JobSpec, 'kind' | 'request'>): string {
  if (request.press !== undefined) return pressNames(request.press).join(' | ');
  const { model } = request.fields;
  return isTextRequest(request) && typeof model === 'string' ? model : kind;
}

/** The same of a slot whose request waits for results: a guess with stand-ins for them. */
export function placeholderCost(
  prices: Readonly<Record<string, Price>>,
  template: SlotTemplate,
  cell: Cell,
): Cost {
  const { kind, request, selector, gathers } = template;
  const { vars, repeat } = cell;
  const placeholder = request.placeholder?.({ vars, repeat, steps: {} }, gathers?.templates.size ?? 1);
  return placeholder === undefined
    ? clickCost(prices, kind, selector)
    : textCost(prices, placeholder.request, placeholder.images);
}

/** What submitting takes that is no text call, by what the file says. */
export const clickCost = (
  prices: Readonly<Record<string, Price>>,
  kind: StepKind,
  selector: Selector | undefined,
): Cost => ({ price: priceOf(prices, kind, selector === undefined ? [] : selectorNames(selector)) });

function textCost(
  prices: Readonly<Record<string, Price>>,
  request: Pick<TextRequest, 'kind' | 'fields'>,
  images: number,
): Cost {
  const tokens = estimateTokens(request, images);
  const usage = { prompt: tokens.input, candidates: tokens.output };
  return { tokens, price: replyPrice(prices, request, usage) };
}

interface Sum {
  count: number;
  priced: number;
  cost: number;
  input: number;
  output: number;
}

/** What the text calls of each place take on the average of some cells. */
export class MeanCosts {
  /** By place; as many as a cell has slots. */
  readonly #sums = new Map<number, Sum>();

  add({ place }: Slot, { price, tokens }: Cost): void {
    if (place === undefined || tokens === undefined) return;
    const sum = this.#sums.get(place) ?? { count: 0, priced: 0, cost: 0, input: 0, output: 0 };
    this.#sums.set(place, sum);
    sum.count += 1;
    sum.input += tokens.input;
    sum.output += tokens.output;
    if (price === undefined) return;
    sum.priced += 1;
    sum.cost += price;
  }

  /** Averages over this many calls of a slot template, those with a price apart from those without one. */
  spread(place: number, calls: number): readonly { readonly cost: Cost; readonly count: number }[] {
    const sum = this.#sums.get(place);
    if (sum === undefined) return [{ cost: {}, count: calls }];
    const tokens = { input: sum.input / sum.count, output: sum.output / sum.count };
    const priced = Math.round((calls * sum.priced) / sum.count);
    return [
      { cost: { tokens, price: sum.cost / Math.max(1, sum.priced) }, count: priced },
      { cost: { tokens }, count: calls - priced },
    ].filter(({ count }) => count > 0);
  }
}

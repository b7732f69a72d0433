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

/** Returns the cost of submitting a job, as far as it is known before the submission. */
export function costOf(
  prices: Readonly<Record<string, Price>>,
  { kind, request }: Pick<JobSpec, 'kind' | 'request'>,
): Cost {
  if (!isTextRequest(request)) return { price: priceOf(prices, kind, pressNames(request.press)) };
  return textCost(prices, request, request.images?.length ?? 0);
}

/** Returns the name under which a job's price would stand: its button or model, else its kind. */
export function priceName({ kind, request }: Pick<JobSpec, 'kind' | 'request'>): string {
  if (request.press !== undefined) return pressNames(request.press).join(' | ');
  const { model } = request.fields;
  return isTextRequest(request) && typeof model === 'string' ? model : kind;
}

/**
 * Estimates the cost of a slot whose request waits for results, with placeholders for them.
 *
 * @param groupSize number of cells that a step over axes gathers
 */
export function placeholderCost(
  prices: Readonly<Record<string, Price>>,
  template: SlotTemplate,
  cell: Pick<Cell, 'vars' | 'repeat'>,
  groupSize = 1,
): Cost {
  const { kind, request, selector, gathers } = template;
  const { vars, repeat } = cell;
  const jobs = [...(gathers?.templates ?? [])].reduce((sum, { bound }) => sum + bound, 0) || 1;
  const gathered = jobs * (gathers?.steps === undefined ? 1 : groupSize);
  const placeholder = request.placeholder?.({ vars, repeat, steps: {} }, gathered);
  return placeholder === undefined
    ? clickCost(prices, kind, selector)
    : textCost(prices, placeholder.request, placeholder.images);
}

/** Returns the cost of a submission other than a text call, as far as the file determines it. */
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

/** Average costs of the text calls of each place, over some cells. */
export class MeanCosts {
  /** Sums by place; at most one per slot of a cell. */
  readonly #sums = new Map<number, Sum>();

  has(place: number): boolean {
    return this.#sums.has(place);
  }

  add({ place }: Pick<Slot, 'place'>, { price, tokens }: Cost): void {
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

  /** Spreads averages over this many calls of a slot template, with calls without a price counted separately. */
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

import type { Price } from '../../pipeline/pipeline.ts';
import { replyPrice } from '../../plan/estimate/price.ts';
import type { JobRecord, TokenUsage } from '../../plan/job.ts';
import { isTextRequest, type TextRequest } from '../../plan/job-request.ts';
import type { TokenForecast } from './token-forecast.ts';

/** What requests cost and take: before they are made about, after their answer exactly. */
export interface CostModel {
  /** What its next submission, or text call, will about cost, where known. */
  readonly price: (record: JobRecord) => number | undefined;
  /** How many tokens its next text call will about take. */
  readonly tokens: (record: JobRecord) => number;
  /** The same, as a usage. */
  readonly usage: TokenForecast['usageOf'];
  /** What an answer to a text call cost, where known. */
  readonly answerPrice: (request: TextRequest, usage: TokenUsage | undefined) => number | undefined;
}

/** @param submissionPrice what one submission of an image job costs */
export const costModelOf = (
  prices: Readonly<Record<string, Price>>,
  submissionPrice: (record: JobRecord) => number | undefined,
  forecast: TokenForecast,
): CostModel => ({
  price: (record) =>
    isTextRequest(record.request)
      ? replyPrice(prices, record.request, forecast.usageOf(record))
      : submissionPrice(record),
  tokens: (record) => forecast.usageOf(record).total,
  usage: (record) => forecast.usageOf(record),
  answerPrice: (request, usage) => replyPrice(prices, request, usage),
});

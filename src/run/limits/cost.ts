import type { Price } from '../../pipeline/pipeline.ts';
import { replyPrice } from '../../plan/estimate/price.ts';
import type { JobRecord, TokenUsage } from '../../plan/job.ts';
import { isTextRequest, type TextRequest } from '../../plan/job-request.ts';
import type { TokenForecast } from './token-forecast.ts';

/** Prices and tokens of requests: estimated before a request, exact after its reply. */
export interface CostModel {
  /** Estimated cost of a job's next submission or text call, where known. */
  readonly price: (record: JobRecord) => number | undefined;
  /** Estimated tokens of a job's next text call. */
  readonly tokens: (record: JobRecord) => number;
  /** Estimated tokens of a job's next text call, as a token usage. */
  readonly usage: TokenForecast['usageOf'];
  /** Cost of a reply to a text call, where known. */
  readonly answerPrice: (request: TextRequest, usage: TokenUsage | undefined) => number | undefined;
}

/** Returns the cost model of a run. @param submissionPrice price of one submission of an image job */
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

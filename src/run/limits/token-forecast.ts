import { canonicalJson } from '../../pipeline/values/value.ts';
import type { JobRecord, TokenUsage } from '../../plan/job.ts';
import { isTextRequest } from '../../plan/job-request.ts';
import { estimateTokens, type TokenEstimate } from '../../plan/request/tokens.ts';
import { totalTokens } from '../../plan/usage.ts';

/** Weight of the newest answer in the mean, which follows a change of the prompts within a few answers. */
const weight = 0.2;
/** Largest factor that corrects an estimate. */
const widest = 50;
/** Largest number of models to learn. Model names may come from templates, so they are unlimited. */
const maxModels = 256;

/** Estimates the tokens of a text call from its request, corrected by the error of earlier estimates for the same model. */
export class TokenForecast {
  readonly #estimate: (record: JobRecord) => TokenEstimate;
  /** Ratio of actual to estimated tokens, a moving mean per model. */
  readonly #ratios = new Map<string, number>();
  /** Cache of estimates. A job is estimated many times, and its record changes with each step. */
  readonly #known = new WeakMap<JobRecord | JobRecord['request'], TokenEstimate>();

  constructor(estimate: (record: JobRecord) => TokenEstimate = estimateOf) {
    this.#estimate = estimate;
  }

  /** Returns the estimated tokens of a job's next call, as a usage that can be priced. */
  usageOf(record: JobRecord): TokenUsage & { readonly total: number } {
    const { input, output } = this.#estimateOf(record);
    const ratio = this.#ratios.get(modelOf(record)) ?? 1;
    const [prompt, candidates] = [Math.ceil(input * ratio), Math.ceil(output * ratio)];
    return { prompt, candidates, total: prompt + candidates };
  }

  /** Corrects the estimates by the actual tokens of a call made from this record. */
  learn(record: JobRecord, usage: TokenUsage): void {
    const { input, output } = this.#estimateOf(record);
    const seen = Math.min(widest, Math.max(1 / widest, totalTokens(usage) / Math.max(1, input + output)));
    const model = modelOf(record);
    const known = this.#ratios.get(model);
    if (known === undefined && this.#ratios.size >= maxModels) return;
    this.#ratios.set(model, known === undefined ? seen : known + weight * (seen - known));
  }

  #estimateOf(record: JobRecord): TokenEstimate {
    const of = record.turns === undefined ? record.request : record;
    const known = this.#known.get(of);
    if (known !== undefined) return known;
    const estimate = this.#estimate(record);
    this.#known.set(of, estimate);
    return estimate;
  }
}

const modelOf = ({ request }: JobRecord): string => {
  const { model } = request.fields;
  return typeof model === 'string' ? model : '';
};

/** Average bytes per token in the JSON of a round of function calls. */
const bytesPerToken = 4;

/** Estimates the tokens of a job's request and of its rounds of function calls. */
export function estimateOf({ request, turns = [] }: JobRecord): TokenEstimate {
  if (!isTextRequest(request)) return { input: 0, output: 0 };
  const { input, output } = estimateTokens(request, (request.images ?? []).length);
  const rounds = turns.reduce<number>((sum, turn) => sum + canonicalJson(turn).length, 0);
  return { input: input + Math.ceil(rounds / bytesPerToken), output };
}

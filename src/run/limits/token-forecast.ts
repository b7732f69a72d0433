import { canonicalJson } from '../../pipeline/values/value.ts';
import type { JobRecord, TokenUsage } from '../../plan/job.ts';
import { isTextRequest } from '../../plan/job-request.ts';
import { estimateTokens, type TokenEstimate } from '../../plan/request/tokens.ts';
import { totalTokens } from '../machine/text-call.ts';

/** Weight of the newest answer; the mean follows a change of the prompts within a few answers. */
const weight = 0.2;
/** However far off, an estimate is corrected by no more than this factor. */
const widest = 50;
/** Models that are learnt of; a model's name may be a template, so that there is no end of them. */
const mostModels = 256;

/**
 * What a text call will take, before it is made: an estimate from its request, corrected by how far the estimates of the
 * same model's calls were off until now.
 */
export class TokenForecast {
  readonly #estimate: (record: JobRecord) => TokenEstimate;
  /** True tokens to estimated ones, a moving mean by model. */
  readonly #ratios = new Map<string, number>();
  /** A job in line is looked at again and again. */
  readonly #known = new WeakMap<JobRecord, TokenEstimate>();

  constructor(estimate: (record: JobRecord) => TokenEstimate = estimateOf) {
    this.#estimate = estimate;
  }

  /** The tokens of its next call, as a usage that has a price. */
  usageOf(record: JobRecord): TokenUsage & { readonly total: number } {
    const { input, output } = this.#estimateOf(record);
    const ratio = this.#ratios.get(modelOf(record)) ?? 1;
    const [prompt, candidates] = [Math.ceil(input * ratio), Math.ceil(output * ratio)];
    return { prompt, candidates, total: prompt + candidates };
  }

  /** Notes what a call took that was made of this record. */
  learn(record: JobRecord, usage: TokenUsage): void {
    const { input, output } = this.#estimateOf(record);
    const seen = Math.min(widest, Math.max(1 / widest, totalTokens(usage) / Math.max(1, input + output)));
    const model = modelOf(record);
    const known = this.#ratios.get(model);
    if (known === undefined && this.#ratios.size >= mostModels) return;
    this.#ratios.set(model, known === undefined ? seen : known + weight * (seen - known));
  }

  #estimateOf(record: JobRecord): TokenEstimate {
    const known = this.#known.get(record) ?? this.#estimate(record);
    this.#known.set(record, known);
    return known;
  }
}

const modelOf = ({ request }: JobRecord): string => {
  const { model } = request.fields;
  return typeof model === 'string' ? model : '';
};

/** JSON of a round of function calls: about four bytes are a token. */
const bytesPerToken = 4;

/** What its request comes to, and the rounds of function calls that follow it. */
export function estimateOf({ request, turns = [] }: JobRecord): TokenEstimate {
  if (!isTextRequest(request)) return { input: 0, output: 0 };
  const { input, output } = estimateTokens(request, (request.images ?? []).length);
  const rounds = turns.reduce<number>((sum, turn) => sum + canonicalJson(turn).length, 0);
  return { input: input + Math.ceil(rounds / bytesPerToken), output };
}

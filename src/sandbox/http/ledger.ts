import { modalSum, totalOf, type Usage } from '../text/models.ts';

/** A request in the log, without its headers and body. */
export interface LoggedRequest {
  /** Position of the request, from 1. */
  readonly number: number;
  /** Unix ms, by the sandbox's clock. */
  readonly at: number;
  readonly requestId: string;
  readonly method: string;
  /** The path without its query, at most 200 characters. */
  readonly path: string;
  /** Name of the route, or `unknown`. */
  readonly route: string;
  /** The HTTP status; 0 if the connection was cut. */
  readonly status: number;
  /** The task that the request made or named. */
  readonly taskId?: string;
  /** The model of a text request. */
  readonly model?: string;
  /** The faults that struck the request, as they were written. */
  readonly faults?: readonly string[];
}

/** Counts of the sandbox since its start. */
export interface SandboxCounters {
  /** Requests by route and status; status `0` is a connection that a fault cut. */
  readonly requests: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** New tasks, in all and by action. */
  readonly tasks: { readonly made: number; readonly byAction: Readonly<Record<string, number>> };
  /** Requests that made more than one task, a mistake of the client: the tasks beyond the first, and the requests. */
  readonly repeated: { readonly tasks: number; readonly requests: readonly RepeatedRequest[] };
  /** Answered modals, and second answers to the same modal, which were refused. */
  readonly modals: { readonly answered: number; readonly repeated: number };
  /** Text replies, in all and by model. The counts of a run must be equal. */
  readonly text: TextCount & {
    readonly byModel: Readonly<Record<string, TextCount>>;
    /** Replies that were not sent, or not to their end; `tokens` counts the part that was not sent. */
    readonly untold: TextCount;
  };
}

/** Text replies and the tokens whose counts the client received. */
export interface TextCount {
  readonly answers: number;
  readonly tokens: TokenCount;
}

/** `total` = prompt + candidates + thoughts + tool; `prompt` includes `cached`. */
export type TokenCount = Readonly<
  Record<'prompt' | 'cached' | 'candidates' | 'thoughts' | 'tool' | 'total', number>
>;

/** A submission that was repeated and made a task each time. */
export interface RepeatedRequest {
  /** The description of the first such task, for example `/imagine a fox`. */
  readonly description: string;
  readonly tasks: number;
}

const noTokens: TokenCount = { prompt: 0, cached: 0, candidates: 0, thoughts: 0, tool: 0, total: 0 };

const countOf = (usage: Usage): TokenCount => ({
  prompt: modalSum(usage.prompt),
  cached: modalSum(usage.cached),
  candidates: modalSum(usage.candidates),
  thoughts: usage.thoughts,
  tool: modalSum(usage.tool),
  total: totalOf(usage),
});

function combine(one: TokenCount, other: TokenCount, sign: 1 | -1): TokenCount {
  const kinds = Object.keys(noTokens) as (keyof TokenCount)[];
  return Object.fromEntries(kinds.map((kind) => [kind, one[kind] + sign * other[kind]])) as TokenCount;
}

const grown = (count: TextCount | undefined, tokens: TokenCount): TextCount => ({
  answers: (count?.answers ?? 0) + 1,
  tokens: combine(count?.tokens ?? noTokens, tokens, 1),
});

/** Number of remembered submissions, beyond which the oldest are forgotten. */
const submissionLimit = 100_000;

/** Counts every request and keeps the newest ones. */
export class Ledger {
  readonly #limit: number;
  readonly #requests = new Map<string, Map<string, number>>();
  readonly #log: LoggedRequest[] = [];
  readonly #byAction = new Map<string, number>();
  readonly #submissions = new Map<string, { readonly description: string; tasks: number }>();
  readonly #byModel = new Map<string, TextCount>();
  #text: TextCount = { answers: 0, tokens: noTokens };
  #untold: TextCount = { answers: 0, tokens: noTokens };
  readonly #modals = { answered: 0, repeated: 0 };
  #made = 0;
  #number = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  note(entry: Omit<LoggedRequest, 'number'>): void {
    this.#number += 1;
    const statuses = this.#requests.get(entry.route) ?? new Map<string, number>();
    this.#requests.set(entry.route, statuses);
    const status = String(entry.status);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (this.#limit === 0) return;
    this.#log.push({ number: this.#number, ...entry });
    if (this.#log.length >= 2 * this.#limit) this.#log.splice(0, this.#log.length - this.#limit);
  }

  noteTask(task: { readonly action: string; readonly request: string; readonly description: string }): void {
    this.#made += 1;
    this.#byAction.set(task.action, (this.#byAction.get(task.action) ?? 0) + 1);
    const known = this.#submissions.get(task.request);
    if (known !== undefined) {
      known.tasks += 1;
      return;
    }
    this.#submissions.set(task.request, { description: task.description.slice(0, 200), tasks: 1 });
    if (this.#submissions.size > submissionLimit) {
      const [oldest] = this.#submissions.keys();
      if (oldest !== undefined) this.#submissions.delete(oldest);
    }
  }

  noteModal(what: 'answered' | 'repeated'): void {
    this.#modals[what] += 1;
  }

  /**
   * Counts a response of `usage`, of which the client received `reported`: all, a part, or undefined when it received none
   * of the response.
   */
  noteText(model: string, usage: Usage, reported: Usage | undefined): void {
    const counted = reported === undefined ? noTokens : countOf(reported);
    if (reported !== undefined) {
      this.#text = grown(this.#text, counted);
      this.#byModel.set(model, grown(this.#byModel.get(model), counted));
    }
    if (reported !== usage) this.#untold = grown(this.#untold, combine(countOf(usage), counted, -1));
  }

  counters(): SandboxCounters {
    const repeated = [...this.#submissions.values()].filter(({ tasks }) => tasks > 1);
    return {
      requests: Object.fromEntries(
        [...this.#requests].map(([route, statuses]) => [route, Object.fromEntries(statuses)]),
      ),
      tasks: { made: this.#made, byAction: Object.fromEntries(this.#byAction) },
      repeated: {
        tasks: repeated.reduce((sum, { tasks }) => sum + tasks - 1, 0),
        requests: repeated.slice(0, 100).map((request) => ({ ...request })),
      },
      modals: { ...this.#modals },
      text: { ...this.#text, byModel: Object.fromEntries(this.#byModel), untold: this.#untold },
    };
  }

  /** The newest requests, oldest first. */
  requests(): readonly LoggedRequest[] {
    return this.#limit === 0 ? [] : this.#log.slice(-this.#limit);
  }
}

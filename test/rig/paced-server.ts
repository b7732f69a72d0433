import type { Rate } from '../../src/pipeline/pipeline.ts';
import type { JobRecord } from '../../src/plan/job.ts';
import { isTextRequest } from '../../src/plan/job-request.ts';
import type { Route } from '../../src/run/events.ts';
import type { CallResult } from '../../src/run/machine/job.ts';
import type { RunInput } from '../../src/run/scheduler/commit.ts';
import { connectionFailure } from '../../src/service/failures/classify.ts';
import type { Reply } from '../../src/service/http/reply.ts';
import { readTold, type ToldLimit } from '../../src/service/http/told.ts';
import { readSubmit } from '../../src/service/image/submit.ts';
import { readTask } from '../../src/service/image/task.ts';
import type { Task } from '../../src/service/image-service.ts';
import { texts } from '../../src/service/kinds.ts';
import type { ServiceFailure, ServiceResult, Telling } from '../../src/service/result.ts';
import { readReply } from '../../src/service/text/reply/read.ts';
import type { Delivered, Submitted } from './driven-service.ts';
import { Gateway } from './gateway/gateway.ts';
import { facts, replyOf } from './gateway/reply.ts';
import { plainTemper } from './gateway/temper.ts';
import { carryOutAsk } from './gateway/text-answers.ts';
import type { Limiter } from './limiters.ts';
import { seededRandom } from './virtual-run.ts';

/** What a server says in place of an answer: a status, or what becomes of the connection. */
export interface Refusal {
  readonly status: number | 'reset' | 'unreachable' | 'cut';
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** How long it takes, ms. Default 100. */
  readonly afterMs?: number;
}

const envelope = (status: number, message: string): Refusal => ({
  status,
  body: { error: { code: '', message, type: 'svc_api_error' } },
});
const coded = (code: number): Refusal => ({
  status: 200,
  body: { code, description: '队列已满，请稍后尝试', result: null },
});

/** The refusals of the tables, by their names there. */
export const refusals = {
  '429': envelope(429, 'too many requests'),
  '500': envelope(500, 'internal error'),
  '502': envelope(502, 'bad gateway'),
  '503': envelope(503, 'overloaded'),
  'code 23': coded(23),
  'code 9': coded(9),
  reset: { status: 'reset' },
  unreachable: { status: 'unreachable' },
} as const satisfies Record<string, Refusal>;
export type RefusalName = keyof typeof refusals;

/** A refusal that says when to ask again. */
export const after = (refusal: Refusal, seconds: number): Refusal => ({
  ...refusal,
  headers: { 'retry-after': String(seconds) },
});

/** A request as a server met it, and what came of it. Times are ms of the server's clock. */
export interface Asked {
  readonly route: Route;
  /** A text model, or what a submission asks for. */
  readonly kind: string;
  readonly key: string;
  readonly at: number;
  /** When its answer comes. */
  endsAt: number;
  /** Until when it uses a place: until its answer, or until its task is made. */
  workUntil: number;
  refusal?: Refusal;
}

/** One thing that a server does to requests; the first rule that refuses one decides. */
export type Rule = (asked: Asked, server: PacedServer) => Refusal | undefined;

export const byChance =
  (part: number, refusal: Refusal): Rule =>
  (_, { random }) =>
    random() < part ? refusal : undefined;

/** @param tells whether a refusal says when to ask again, in whole seconds */
export const limited =
  (limiter: Limiter, refusal: Refusal = refusals['429'], tells = false): Rule =>
  ({ at }) => {
    const waitMs = limiter(at);
    if (waitMs === undefined) return undefined;
    return tells ? after(refusal, Math.ceil(waitMs / 1000)) : refusal;
  };

/** So many at once. */
export const atOnce =
  (most: number, refusal: Refusal): Rule =>
  ({ at }, server) =>
    server.underWay(at).length >= most ? refusal : undefined;

/** One more than so many cuts the oldest of them off. */
export const cutting =
  (most: number): Rule =>
  ({ at }, server) => {
    if (server.underWay(at).length >= most) server.cutOldest(at);
    return undefined;
  };

/** Whatever is asked from one moment to another. */
export const during =
  (from: number, to: number, refusal: Refusal): Rule =>
  ({ at }) =>
    at >= from && at < to ? refusal : undefined;

/** What is under way at this moment fails then. */
export const allAt =
  (moment: number, refusal: Refusal): Rule =>
  ({ at, endsAt }) =>
    at < moment && endsAt >= moment ? { ...refusal, afterMs: moment - at } : undefined;

/** A rule for some requests. */
export const only =
  (which: (asked: Asked) => boolean, rule: Rule): Rule =>
  (asked, server) =>
    which(asked) ? rule(asked, server) : undefined;

/** What is left of the window that a served request counts in, as many services tell. */
export const tellsRate =
  ({ count, perMs }: Rate, of: ToldLimit['of']) =>
  (at: number, server: PacedServer): Readonly<Record<string, string>> => {
    const counted = server.log
      .slice(-2 * count)
      .filter((one) => one.refusal === undefined && one.at > at - perMs);
    // A limit of tokens is no multiple of what a call takes.
    const [each, rest] = of === 'tokens' ? [usage.prompt + usage.candidates, 250] : [1, 0];
    return {
      [`x-ratelimit-limit-${of}`]: String(each * count + rest),
      [`x-ratelimit-remaining-${of}`]: String(each * Math.max(0, count - counted.length) + rest),
      [`x-ratelimit-reset-${of}`]: `${Math.ceil(((counted[0]?.at ?? at) + perMs - at) / 1000)}s`,
    };
  };

/** What each call of the gateway in virtual time takes. */
const usage = { prompt: 100, candidates: 400, thoughts: 0 } as const;

export interface PacedOptions {
  readonly rules: readonly Rule[];
  readonly seed?: number;
  /** How long an answer takes, and a task, ms. Each one 0.8 to 1.2 times as long; whole, for a sum with a Unix time rounds the rest. */
  readonly lasts?: Partial<Readonly<Record<Route | 'task', number>>>;
  /** Headers of every answer. */
  readonly tells?: (at: number, server: PacedServer) => Readonly<Record<string, string>>;
}

const lastsMs = { submit: 200, poll: 100, text: 1000, download: 100, task: 5000 } as const;

/** A server that only says whether and when it answers, for whoever asks it: a run in virtual time, a loop, a socket. */
export class PacedServer {
  readonly log: Asked[] = [];
  readonly random: () => number;
  /** Those that were cut off, for who waits for their answers to take. */
  readonly cut: Asked[] = [];
  readonly #options: PacedOptions;
  #underWay: Asked[] = [];

  constructor(options: PacedOptions) {
    this.#options = options;
    this.random = seededRandom(options.seed ?? 1);
  }

  ask(route: Route, kind: string, key: string, at: number): Asked {
    const lasts = { ...lastsMs, ...this.#options.lasts };
    const spread = (ms: number): number => Math.round(ms * (0.8 + 0.4 * this.random()));
    const endsAt = at + spread(lasts[route]);
    const asked: Asked = { route, kind, key, at, endsAt, workUntil: endsAt };
    if (route === 'submit') asked.workUntil = at + spread(lasts.task);
    for (const rule of this.#options.rules) {
      const refusal = rule(asked, this);
      if (refusal === undefined) continue;
      asked.refusal = refusal;
      asked.endsAt = at + (refusal.afterMs ?? spread(100));
      asked.workUntil = asked.endsAt;
      break;
    }
    this.log.push(asked);
    if (asked.refusal === undefined && (route === 'text' || route === 'submit')) this.#underWay.push(asked);
    return asked;
  }

  /** Texts and tasks that it works on, the oldest first. */
  underWay(at: number): readonly Asked[] {
    this.#underWay = this.#underWay.filter(({ workUntil }) => workUntil > at);
    return this.#underWay;
  }

  cutOldest(at: number): void {
    const [oldest] = this.underWay(at);
    if (oldest === undefined) return;
    this.cut.push(Object.assign(oldest, { refusal: { status: 'cut' }, endsAt: at, workUntil: at }));
  }

  headers(at: number): Readonly<Record<string, string>> {
    return this.#options.tells?.(at, this) ?? {};
  }
}

function kindOf({ request }: JobRecord): string {
  const { model } = isTextRequest(request) ? request.fields : {};
  return typeof model === 'string' ? model : request.kind;
}

/** The gateway in virtual time, with a server before it that refuses: in bytes that the client's readers judge. */
export class PacedGateway extends Gateway {
  readonly #server: PacedServer;
  readonly #startAt: number;
  readonly #calls = new Map<string, JobRecord>();
  #last: Asked | undefined;

  /** @param startAt Unix ms of the server's moment 0 */
  constructor(server: PacedServer, startAt: number) {
    const temper = { ...plainTemper };
    super(temper);
    this.#server = server;
    this.#startAt = startAt;
    Object.assign(temper, {
      latencyMs: () => this.#afterMs,
      durationMs: () => (this.#last?.workUntil ?? 0) - (this.#last?.at ?? 0),
      usage: () => usage,
      headers: () => server.headers(this.#last?.at ?? 0),
    });
  }

  override submit(record: JobRecord, parentTaskId: string | undefined, now: number): Delivered<Submitted> {
    return (
      this.#refused(record, 'submit', now, (reply) => readSubmit(reply, facts(false))) ??
      this.#served(super.submit(record, parentTaskId, now))
    );
  }

  override fetch(id: string, now: number): Delivered<ServiceResult<Task>> {
    return (
      this.#refused(id, 'poll', now, (reply) => readTask(id, reply, facts(true))) ??
      this.#served(super.fetch(id, now))
    );
  }

  override ask(record: JobRecord, now: number): Delivered<CallResult> {
    const { kind } = record.request as { readonly kind: 'generate' | 'chat' };
    const { stream = false, accept = [] } = record.call ?? {};
    this.#calls.set(record.key, record);
    const refused = this.#refused(record, 'text', now, (reply) =>
      readReply({ kind: 'refusal', reply }, { read: texts[kind].read, stream, accept }, facts(true)),
    );
    if (refused === undefined) return this.#served(super.ask(record, now));
    const { result, ...rest } = refused;
    if (result.ok) throw new Error('A refusal was read as an answer.');
    return { ...rest, result: { kind: 'refused', error: result.error } };
  }

  /** The answers of those that were cut off. */
  readonly takeCut = (): readonly RunInput[] =>
    this.#server.cut.splice(0).map(({ key }) => {
      const record = this.#calls.get(key);
      if (record === undefined) throw new Error(`${key} was not asked.`);
      return { type: 'asked', key, result: carryOutAsk(record, plainTemper, 1, 'truncated') };
    });

  get #afterMs(): number {
    return (this.#last?.endsAt ?? 0) - (this.#last?.at ?? 0);
  }

  #refused<T>(
    of: JobRecord | string,
    route: Route,
    now: number,
    read: (reply: Reply) => ServiceResult<T>,
  ): Delivered<ServiceResult<T>> | undefined {
    const [kind, key] = typeof of === 'string' ? ['fetch', of] : [kindOf(of), of.key];
    const at = now - this.#startAt;
    const { refusal } = (this.#last = this.#server.ask(route, kind, key, at));
    if (refusal === undefined) return undefined;
    const { status, body = '', headers = {} } = refusal;
    const result: ServiceResult<T> =
      typeof status === 'number'
        ? read(replyOf(status, body, { ...this.#server.headers(at), ...headers }))
        : { ok: false, error: broken(status === 'reset', route) };
    return { result, afterMs: this.#afterMs, ...(typeof status === 'number' && this.#telling) };
  }

  #served<T>(delivered: Delivered<T>): Delivered<T> {
    return { ...delivered, ...this.#telling };
  }

  /** What the headers of the last answer tell. */
  get #telling(): Telling {
    const headers = this.#server.headers(this.#last?.at ?? 0);
    const keys = (): readonly string[] => Object.keys(headers);
    const told = readTold({ get: (name) => headers[name] ?? null, keys }, this.#startAt);
    return told.length === 0 ? {} : { told };
  }
}

const broken = (isSent: boolean, route: Route): ServiceFailure =>
  connectionFailure(
    isSent
      ? { code: 'connection.lost', what: 'the connection was reset' }
      : { code: 'connection.refused', what: 'connection refused' },
    isSent,
    facts(route === 'poll'),
  );

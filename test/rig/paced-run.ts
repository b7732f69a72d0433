import type { Rate } from '../../src/pipeline/pipeline.ts';
import { backoffMs } from '../../src/run/machine/retry/backoff.ts';
import type { RunSettings } from '../../src/run/ports.ts';
import { drive } from './drive.ts';
import { epoch } from './jobs.ts';
import { memoryStore } from './memory-store.ts';
import { type Asked, PacedGateway, type PacedOptions, PacedServer, type Rule } from './paced-server.ts';
import { planOf } from './plan.ts';
import { seededRandom, virtualSettings } from './virtual-run.ts';

/** What is asked of a server, and how: the same for a run and for a loop. */
export interface PaceSetting {
  /** Clicks: an imagine, and U1 of it. */
  readonly work: 'texts' | 'streams' | 'images' | 'clicks';
  /** Of texts, which take turns. Default one. */
  readonly models?: readonly string[];
  readonly jobs: number;
  /** The server's, anew for each who asks. */
  readonly rules: () => readonly Rule[];
  readonly server?: Omit<PacedOptions, 'rules'>;
  readonly limits?: Partial<RunSettings['limits']>;
  readonly retry?: Partial<RunSettings['retry']>;
  readonly poll?: RunSettings['poll'];
  /** When everything stops, ms. */
  readonly untilMs: number;
}

const pipelines = {
  texts: 'say: { generate: { model: "{{ m }}", prompt: "fox {{ n }}" }, keep: false }',
  streams: 'say: { generate: { model: "{{ m }}", prompt: "fox {{ n }}", stream: true }, keep: false }',
  images: 'grid: { imagine: "fox {{ n }}", keep: false }',
  clicks: 'grid: { imagine: "fox {{ n }}", path: U1, keep: false }',
} as const satisfies Record<PaceSetting['work'], string>;

/** The text of the pipeline that does the work. */
export function pipelineOf({ work, models = ['text-a'], jobs }: PaceSetting): string {
  const ofTexts = work === 'texts' || work === 'streams';
  const count = ofTexts ? Math.ceil(jobs / models.length) : jobs;
  const more = ofTexts ? `, m: [${models.join(', ')}]` : '';
  return `name: pace\nmatrix: { n: { from: 1, to: ${count} }${more} }\nsteps:\n  ${pipelines[work]}\n`;
}

const settingsOf = ({ limits, retry, poll }: PaceSetting): RunSettings => {
  const plain = virtualSettings();
  return {
    ...plain,
    limits: { ...plain.limits, ...limits },
    retry: { ...plain.retry, ...retry },
    poll: poll ?? { minMs: 1000, maxMs: 15_000 },
  };
};

const serverOf = ({ rules, server }: PaceSetting): PacedServer =>
  new PacedServer({ ...server, rules: rules() });

/** A run in virtual time. @returns what the server met */
export async function pacedRun(setting: PaceSetting): Promise<PacedServer> {
  const server = serverOf(setting);
  const { plan, cells } = await planOf(pipelineOf(setting));
  drive({
    cells,
    resolve: (cell, lookup) => plan.resolve(cell, lookup),
    settings: settingsOf(setting),
    store: memoryStore(),
    service: new PacedGateway(server, epoch),
    random: seededRandom(setting.server?.seed ?? 1),
    startAt: epoch,
    diesAt: epoch + setting.untilMs,
    maxTurns: Number.POSITIVE_INFINITY,
  });
  return server;
}

interface LoopJob {
  readonly steps: readonly { readonly route: 'text' | 'submit'; readonly kind: string }[];
  readonly key: string;
  step: number;
  tries: number;
  hasPlace: boolean;
  /** Its request's turn has come under the known limit. */
  isDue?: boolean;
  /** Of its task, which it polls. */
  endsAt?: number | undefined;
}

/** A job has an answer, or something to send. */
interface Turn {
  readonly at: number;
  readonly job: LoopJob;
  readonly asked?: Asked;
}

function* jobsOf({ work, models = ['text-a'], jobs }: PaceSetting): Generator<LoopJob> {
  for (let n = 0; n < jobs; n += 1) {
    const kind = models[n % models.length] ?? '';
    const submits = [
      { route: 'submit', kind: 'imagine' },
      { route: 'submit', kind: 'click' },
    ] as const;
    const steps =
      work === 'images'
        ? submits.slice(0, 1)
        : work === 'clicks'
          ? submits
          : [{ route: 'text', kind } as const];
    yield { steps, key: String(n), step: 0, tries: 0, hasPlace: false };
  }
}

/**
 * What a user would write instead: so many at once, and each request again after `retry.base`, doubled up to `retry.cap`, with full jitter,
 * until it is served. It keeps known limits, and reads nothing of what the service says.
 *
 * @param holds a job that waits keeps its place, as in most loops; else another one takes it meanwhile
 */
export function pacedLoop(setting: PaceSetting, holds = true): PacedServer {
  const server = serverOf(setting);
  const { limits, retry } = settingsOf(setting);
  const isText = setting.work === 'texts' || setting.work === 'streams';
  const rate: Rate | undefined = isText ? limits.text : limits.submit;
  const random = seededRandom(7);
  const fresh = jobsOf(setting);
  const ready: LoopJob[] = [];
  const turns: Turn[] = [];
  let places = isText ? limits.requests : limits.tasks;
  let nextMoment = 0;

  const push = (turn: Turn): void => {
    let [from, to] = [0, turns.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((turns[middle] as Turn).at <= turn.at) from = middle + 1;
      else to = middle;
    }
    turns.splice(from, 0, turn);
  };
  const leave = (job: LoopJob): void => {
    job.hasPlace = false;
    places += 1;
  };
  const answered = (job: LoopJob, asked: Asked, at: number): void => {
    if (asked.refusal !== undefined) {
      job.tries += 1;
      if (!holds && asked.route !== 'poll') leave(job);
      return push({ at: at + backoffMs(job.tries, retry, random), job });
    }
    job.tries = 0;
    if (asked.route === 'submit') job.endsAt = asked.workUntil;
    if (job.endsAt !== undefined && asked.at < job.endsAt) return push({ at: at + 1000, job });
    job.endsAt = undefined;
    job.step += 1;
    if (job.step < job.steps.length) push({ at, job });
    else leave(job);
  };
  const send = (job: LoopJob, at: number): void => {
    if (!job.hasPlace) return void ready.push(job);
    const { route, kind } = job.steps[job.step] as LoopJob['steps'][number];
    if (job.endsAt === undefined && rate !== undefined && !job.isDue) {
      const moment = Math.max(at, nextMoment);
      nextMoment = moment + rate.perMs / rate.count;
      job.isDue = true;
      return push({ at: moment, job });
    }
    job.isDue = false;
    const asked =
      job.endsAt === undefined
        ? server.ask(route, kind, job.key, at)
        : server.ask('poll', 'fetch', job.key, at);
    push({ at: asked.endsAt, job, asked });
    for (const cut of server.cut.splice(0)) {
      const place = turns.findIndex((turn) => turn.asked === cut);
      if (place >= 0) push({ ...(turns.splice(place, 1)[0] as Turn), at: cut.endsAt });
    }
  };

  let now = 0;
  while (now < setting.untilMs) {
    while (places > 0) {
      const job = ready.shift() ?? (fresh.next().value as LoopJob | undefined);
      if (job === undefined) break;
      job.hasPlace = true;
      places -= 1;
      push({ at: now, job });
    }
    const turn = turns.shift();
    if (turn === undefined) break;
    now = turn.at;
    if (now >= setting.untilMs) break;
    if (turn.asked === undefined) send(turn.job, now);
    else answered(turn.job, turn.asked, now);
  }
  return server;
}

/** Rows served within a time: texts answered, submissions taken. */
export const servedIn = ({ log }: PacedServer, from: number, to: number, kind?: string): number =>
  log.filter(
    (asked) =>
      isPaid(asked) &&
      asked.refusal === undefined &&
      asked.endsAt >= from &&
      asked.endsAt < to &&
      (kind === undefined || asked.kind === kind),
  ).length;

export const isPaid = ({ route }: Asked): boolean => route === 'text' || route === 'submit';

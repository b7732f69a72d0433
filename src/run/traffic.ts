import type { Route } from './event.ts';
import type { Job } from './job.ts';
import { Line } from './line.ts';
import type { RunSettings } from './ports.ts';
import { RouteTraffic } from './route.ts';

/** Finishing what is paid for goes before asking, and asking before paying. */
export const routeOrder = ['download', 'poll', 'text', 'submit'] as const satisfies readonly Route[];

interface Lane {
  readonly route: RouteTraffic;
  readonly line: Line;
  /** How many of its requests may be under way. */
  readonly width: number;
  underWay: number;
  /** Nothing more leaves until one of its requests is answered. */
  held: boolean;
}

/** The three routes with the jobs that stand in line for them, under one limit of requests in flight. */
export class Traffic {
  readonly lanes: Readonly<Record<Route, Lane>>;
  readonly #requests: number;
  #underWay = 0;

  constructor(settings: RunSettings, jobs: ReadonlyMap<string, Job>, random: () => number) {
    const { limits, retry } = settings;
    this.#requests = limits.requests;
    // Downloads are slow: a quarter of the requests stays free to hear of finished tasks.
    const downloads = Math.max(1, Math.floor(limits.requests * 0.75));
    const lane = (name: Route, fair: boolean, width: number): Lane => ({
      route: new RouteTraffic(name, limits[name], retry, random),
      line: new Line(jobs, fair),
      width,
      underWay: 0,
      held: false,
    });
    this.lanes = {
      submit: lane('submit', false, limits.requests),
      text: lane('text', false, downloads),
      poll: lane('poll', true, limits.requests),
      download: lane('download', true, downloads),
    };
  }

  /** Requests under way. */
  get underWay(): number {
    return this.#underWay;
  }

  /** True when a request of this route could leave now, but for its rate. */
  hasRoom(name: Route): boolean {
    const { route, width, underWay, held } = this.lanes[name];
    return !held && this.#underWay < this.#requests && underWay < (route.isProbing ? 1 : width);
  }

  isUnderWay(name: Route): boolean {
    return this.lanes[name].underWay > 0;
  }

  /** Lets nothing more of this route leave until one of its requests, of which there is one, is answered. */
  hold(name: Route): void {
    this.lanes[name].held = true;
  }

  sent(name: Route, now: number): void {
    this.#underWay += 1;
    this.lanes[name].underWay += 1;
    this.lanes[name].route.take(now);
  }

  answered(name: Route): void {
    this.#underWay -= 1;
    this.lanes[name].underWay -= 1;
    this.lanes[name].held = false;
  }

  /** The next moment at which a request that is in line may leave. */
  nextAt(): number | undefined {
    let next: number | undefined;
    for (const name of routeOrder) {
      const { route, line } = this.lanes[name];
      if (!this.hasRoom(name) || line.front() === undefined) continue;
      const at = route.nextAt();
      if (next === undefined || at < next) next = at;
    }
    return next;
  }
}

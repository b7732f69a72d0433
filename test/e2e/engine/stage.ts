import type { PostgresServer } from '../../rig/postgres/server.ts';
import type { Crowd } from './crowd.ts';
import type { Fault } from './fault-plan.ts';
import type { ServiceProcess } from './service-process.ts';

/** What of a queue on Redis a round may do. */
export interface RedisServer {
  readonly url: string;
  restart(forMs: number): Promise<void>;
  flush(): Promise<void>;
}

/** Whom faults can meet. */
export interface Stage {
  readonly crowd: Crowd;
  readonly server: PostgresServer;
  readonly service: ServiceProcess;
  readonly redis?: RedisServer;
  readonly leaseMs: number;
}

/** Which faults have met somebody. */
export interface Met {
  readonly kills: number;
  readonly stops: number;
  /** Stops that lasted longer than the lease. */
  readonly beyond: number;
  /** Of a server. */
  readonly restarts: number;
  /** Faults for which the run was over too soon, or that found nobody. */
  readonly missed: number;
  /** What happened when, in words. */
  readonly history: readonly string[];
}

/** For so long tasks are waited for before a fault, and somebody who is up, ms. */
const waitMs = 2500;

/** Does to a run in progress what was planned. */
export async function meet(plan: readonly Fault[], stage: Stage): Promise<Met> {
  const { crowd, service, leaseMs } = stage;
  const met = { kills: 0, stops: 0, beyond: 0, restarts: 0, missed: 0 };
  const history: string[] = [];
  const began = Date.now();
  const isOver = (): boolean => crowd.coordinator.ended.length > 0;
  for (const { tasks, ms, does } of plan) {
    if (!isOver()) await moreTasks(service, tasks);
    if (!isOver()) await pause(ms);
    const place = `${((Date.now() - began) / 1000).toFixed(1)} s, ${await service.made()} tasks:`;
    history.push(`${place} ${isOver() ? 'too late for ' : ''}${JSON.stringify(does)}`);
    if (isOver()) {
      met.missed += 1;
    } else if (does.kind === 'restart' || does.kind === 'redis') {
      await restart(does, stage);
      met.restarts += 1;
    } else {
      const isMet = await meetOne(crowd, does);
      if (!isMet) met.missed += 1;
      else if (does.kind === 'kill') met.kills += 1;
      else met.stops += 1;
      if (isMet && does.kind === 'stop' && does.forMs > leaseMs) met.beyond += 1;
    }
  }
  return { ...met, history };
}

type Of<Kind extends Fault['does']['kind']> = Extract<Fault['does'], { kind: Kind }>;

async function restart(does: Of<'restart'> | Of<'redis'>, { server, redis }: Stage): Promise<void> {
  if (does.kind === 'redis')
    return await (does.how === 'flush' ? redis?.flush() : redis?.restart(does.forMs));
  await (does.how === 'fast' ? server.stop() : server.crash());
  await pause(does.forMs);
  await server.start();
}

/** @returns whether there was anybody to do it to */
async function meetOne(crowd: Crowd, { kind, whom, forMs }: Of<'kill' | 'stop'>): Promise<boolean> {
  for (const until = Date.now() + waitMs; !crowd.isUp && Date.now() < until; ) await pause(25);
  return kind === 'kill' ? crowd.kill(whom, forMs) : crowd.stop(whom, forMs);
}

async function moreTasks(service: ServiceProcess, more: number): Promise<void> {
  const until = Date.now() + waitMs;
  const enough = (await service.made()) + more;
  while (Date.now() < until && (await service.made()) < enough) await pause(80);
}

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

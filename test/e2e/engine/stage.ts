import type { Cable } from '../../rig/cable.ts';
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
  /** Of each process to PostgreSQL, the coordinator first. */
  readonly cables: readonly Cable[];
  /** Of all processes to the gateway. */
  readonly gateway: Cable;
  /** Told how the data of PostgreSQL are put back that were just copied, while it is down. */
  readonly onBackup: (putBack: () => Promise<void>) => void;
}

/** Which faults have met somebody. */
export interface Met {
  readonly kills: number;
  readonly stops: number;
  /** Stops that lasted longer than the lease. */
  readonly beyond: number;
  /** Kills of the coordinator, which is led again before its lease is over. */
  readonly ledAgain: number;
  /** Of cables to PostgreSQL, and those for longer than the lease. */
  readonly cuts: number;
  readonly cutsBeyond: number;
  /** Of the cable to the gateway. */
  readonly gatewayCuts: number;
  /** Of a server. */
  readonly restarts: number;
  /** Of PostgreSQL, by SIGKILL. */
  readonly serverKills: number;
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
  const met = { kills: 0, ledAgain: 0, stops: 0, beyond: 0, missed: 0 };
  const servers = { restarts: 0, serverKills: 0 };
  const cables = { cuts: 0, cutsBeyond: 0, gatewayCuts: 0 };
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
    } else if (does.kind === 'restart' || does.kind === 'redis' || does.kind === 'backup') {
      await restart(does, stage);
      servers.restarts += 1;
      if (does.kind === 'restart' && does.how === 'kill') servers.serverKills += 1;
    } else if (does.kind === 'cut') {
      cutOne(does, stage);
      if (does.whom === 'gateway') cables.gatewayCuts += 1;
      else cables.cuts += 1;
      if (does.whom !== 'gateway' && does.forMs > leaseMs) cables.cutsBeyond += 1;
    } else {
      const isMet = await meetOne(crowd, does);
      if (!isMet) met.missed += 1;
      else if (does.kind === 'kill') met.kills += 1;
      else met.stops += 1;
      if (isMet && does.kind === 'kill' && does.whom === 0) met.ledAgain += 1;
      if (isMet && does.kind === 'stop' && does.forMs > leaseMs) met.beyond += 1;
    }
  }
  return { ...met, ...servers, ...cables, history };
}

/** What several stretches of a round met. */
export const metInAll = (met: readonly Met[]): Met => {
  const sum = (of: (one: Met) => number): number => met.reduce((all, one) => all + of(one), 0);
  return {
    kills: sum(({ kills }) => kills),
    ledAgain: sum(({ ledAgain }) => ledAgain),
    stops: sum(({ stops }) => stops),
    beyond: sum(({ beyond }) => beyond),
    cuts: sum(({ cuts }) => cuts),
    cutsBeyond: sum(({ cutsBeyond }) => cutsBeyond),
    gatewayCuts: sum(({ gatewayCuts }) => gatewayCuts),
    restarts: sum(({ restarts }) => restarts),
    serverKills: sum(({ serverKills }) => serverKills),
    missed: sum(({ missed }) => missed),
    history: met.flatMap(({ history }) => history),
  };
};

type Of<Kind extends Fault['does']['kind']> = Extract<Fault['does'], { kind: Kind }>;

async function restart(
  does: Of<'restart'> | Of<'redis'> | Of<'backup'>,
  { server, redis, onBackup }: Stage,
): Promise<void> {
  if (does.kind === 'redis')
    return await (does.how === 'flush' ? redis?.flush() : redis?.restart(does.forMs));
  if (does.kind === 'backup') {
    await server.crash();
    onBackup(await server.backup());
    return await server.start();
  }
  const { how, forMs } = does;
  await (how === 'fast' ? server.stop() : how === 'kill' ? server.kill() : server.crash());
  await pause(forMs);
  await server.start();
}

function cutOne({ whom, how, forMs }: Of<'cut'>, { crowd, cables, gateway }: Stage): void {
  const cable = whom === 'gateway' ? gateway : cables[whom];
  cable?.cut(how);
  crowd.later(forMs, () => {
    cable?.mend();
    return Promise.resolve();
  });
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

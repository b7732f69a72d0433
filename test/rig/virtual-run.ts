import type { Route } from '../../src/run/events.ts';
import type { RunSettings } from '../../src/run/ports.ts';
import { type Driven, type DriveOptions, drive } from './drive.ts';
import type { ScriptedGateway } from './gateway/scripted-gateway.ts';

export interface VirtualRunOptions extends Omit<DriveOptions, 'service' | 'startAt' | 'dies' | 'onTurn'> {
  readonly service: ScriptedGateway;
  readonly startAt?: number;
  /** ms a request takes. Default 100. */
  readonly latency?: (route: Route) => number;
  /** The process dies after this many turns: nothing of that turn is sent, and no result under way is received. */
  readonly dieAfterTurns?: number;
}

export interface VirtualRun extends Driven {
  /** The most at any moment. */
  readonly most: {
    readonly requests: number;
    readonly taskSlots: number;
    readonly jobs: number;
    readonly cells: number;
  };
}

/** Drives a run against a scripted gateway, and notes its high-water marks. */
export function runVirtually({
  service,
  startAt = 1_700_000_000_000,
  latency = () => 100,
  dieAfterTurns,
  ...options
}: VirtualRunOptions): VirtualRun {
  const most = { requests: 0, taskSlots: 0, jobs: 0, cells: 0 };
  service.latency = latency;
  const driven = drive({
    ...options,
    startAt,
    service,
    dies: (turn, place) => turn === dieAfterTurns && place === 'after-commit',
    onTurn: (held) => {
      for (const what of ['requests', 'taskSlots', 'jobs', 'cells'] as const)
        most[what] = Math.max(most[what], held[what]);
    },
  });
  return { ...driven, most };
}

/** Settings as a pipeline without any would give them, to be changed by a test. */
export function virtualSettings(changes: Partial<RunSettings> = {}): RunSettings {
  return {
    speed: 'fast',
    limits: { tasks: 12, requests: 32 },
    retry: {
      attempts: 6,
      baseMs: 1000,
      capMs: 60_000,
      resubmits: 2,
      ambiguous: 'retry',
      patienceMs: 3_600_000,
      invalid: 2,
      permanent: [],
      transient: [],
    },
    timeouts: { taskMs: 1_200_000 },
    poll: { minMs: 1000, maxMs: 15_000 },
    budget: {},
    prices: {},
    inDoubt: 'hold',
    failFast: false,
    ...changes,
  };
}

/** A small seeded generator (mulberry32): uniform in [0, 1). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

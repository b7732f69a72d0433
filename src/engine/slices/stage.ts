import { isRunEnd, type RunEnd } from '../../run/events.ts';
import { documentOf } from '../postgres/engine-error.ts';
import type { EnginePool } from '../postgres/pool.ts';
import { isAlive, isLed } from './lead-lease.ts';

/** The stage of a run on an engine, as every process can see it. */
export interface RunStage {
  /**
   * `registered`: its cells are there, and no worker has begun. `running`: workers are busy, or its coordinator is about to end it.
   * `waiting`: there is work, but no worker. `unled`: its coordinator ended before all cells were fed, and no worker is busy.
   * `complete`: everything is done. `stopped`: it ended before.
   */
  readonly state: 'registered' | 'running' | 'waiting' | 'unled' | 'complete' | 'stopped';
  /** Number of busy workers. */
  readonly workers: number;
  /** True where a process of `promptpress run` leads the run. */
  readonly led: boolean;
  /** Why the run ended before everything was done. */
  readonly end?: RunEnd;
}

interface StageRow {
  readonly state: 'open' | 'stopping' | 'ended';
  readonly isBegun: boolean;
  readonly fed: boolean;
  readonly led: boolean;
  readonly workers: number;
  readonly joined: boolean;
  readonly isDone: boolean;
  readonly ended: string | null;
}

/** Returns the stage of a run; undefined where there is no such run, or nothing of it has begun. @throws EngineError */
export async function runStage(pool: EnginePool, run: number): Promise<RunStage | undefined> {
  const { rows } = await pool.query<StageRow>(
    `SELECT r.state, r.spec IS NOT NULL AS "isBegun", r.fed, r.ended, ${isLed} AS led,
       (SELECT count(*)::int FROM promptpress.sessions s WHERE s.run = r.run AND ${isAlive}) AS workers,
       EXISTS (SELECT FROM promptpress.sessions s WHERE s.run = r.run AND s.started >= r.begun) AS joined,
       NOT EXISTS (SELECT FROM promptpress.slices s WHERE s.run = r.run AND NOT s.done) AS "isDone"
     FROM promptpress.runs r WHERE r.run = $1`,
    [run],
  );
  const [row] = rows;
  if (row?.isBegun !== true) return undefined;
  const { led, workers, ended } = row;
  return {
    state: stateOf(row),
    workers,
    led,
    ...(ended === null ? {} : { end: documentOf(ended, isRunEnd, pool.shown, 'the end of a run') }),
  };
}

function stateOf({ state, fed, led, workers, joined, isDone, ended }: StageRow): RunStage['state'] {
  if (workers > 0) return 'running';
  const isOver = fed && isDone;
  if (state !== 'open') {
    if (led) return 'running';
    return ended === null || isOver ? 'complete' : 'stopped';
  }
  if (isOver) return led ? 'running' : 'complete';
  if (led) return 'waiting';
  if (!fed) return 'unled';
  return joined ? 'waiting' : 'registered';
}

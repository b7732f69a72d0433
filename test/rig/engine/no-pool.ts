import { wallClock } from '../../../src/cli/adapters/clock.ts';
import type { EnginePool } from '../../../src/engine/postgres/pool.ts';
import { EngineTroubles } from '../../../src/engine/postgres/troubles.ts';

/** A pool without an engine: a test answers each question. */
export function noEnginePool(answer: (text: string) => readonly object[]): EnginePool {
  const query = ((text: string) => Promise.resolve({ rows: [...answer(text)] })) as EnginePool['query'];
  return {
    shown: 'postgres://nobody@nowhere/none',
    troubles: new EngineTroubles(wallClock),
    query,
    scan: query,
    transaction: (work) => work({ query }),
    close: () => Promise.resolve(),
  };
}

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PostgresServer } from '../../rig/postgres/server.ts';
import { hasOwnPostgres, ownServer } from '../../rig/postgres.ts';
import type { Fault } from './fault-plan.ts';
import { type CalmCrowd, calmCrowd, chaosRound } from './round.ts';
import { nothingWrong, wrongWith } from './wrong.ts';

/** Of 40 image jobs. */
const numbers = 4;
const leaseMs = 1500;

/** Each once so many further tasks were made: the run is far from its end when the last one comes. */
const faults: readonly Fault['does'][] = [
  { kind: 'kill', whom: 1, forMs: 0 },
  { kind: 'stop', whom: 2, forMs: 2 * leaseMs },
  { kind: 'kill', whom: 0, forMs: 0 },
  { kind: 'restart', how: 'immediate', forMs: 200 },
];
const plan = faults.map((does): Fault => ({ does, tasks: 3, ms: 20 }));

describe.runIf(hasOwnPostgres)(
  'three processes carry out a run, and are killed and stopped; so is PostgreSQL',
  () => {
    let server: PostgresServer;
    let calm: CalmCrowd;
    beforeAll(async () => {
      [server, calm] = await Promise.all([ownServer(), calmCrowd(numbers)]);
    }, 120_000);
    afterAll(async () => {
      await server[Symbol.asyncDispose]();
    });

    // The coordinator of an even seed works, too; that of an odd one only leads.
    it.each([
      ['lease', 2],
      ['bullmq', 1],
    ] as const)(
      'queue %s, seed %i: nothing is lost, nothing is paid twice, and each doubt is explained',
      async (queue, seed) => {
        const options = { seed, queue, numbers, leaseMs, faults: plan.length, plan, workers: 3 };
        const round = await chaosRound(server, calm, { ...options, patienceMs: 200_000 });
        const { found, why } = wrongWith(round);
        expect(found, `${queue}, seed ${seed}:\n${why}`).toEqual(nothingWrong);
        expect(round.submissions).toBe(calm.tags.size);
        expect([round.kills, round.beyond, round.restarts]).toEqual([2, 1, 1]);
      },
      420_000,
    );
  },
);

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CalmCrowd, calmCrowd, chaosRound } from '../e2e/engine/round.ts';
import type { RedisServer } from '../e2e/engine/stage.ts';
import { nothingWrong, wrongWith } from '../e2e/engine/wrong.ts';
import { temporaryFolder } from '../rig/cli.ts';
import { installedAt } from '../rig/postgres/installation.ts';
import { type PostgresServer, startServer } from '../rig/postgres/server.ts';
import { startRedis } from '../rig/redis.ts';

/** Debian's; the newest. */
const versions = '/usr/lib/postgresql';
const [programs = ''] = readdirSync(versions)
  .map((version) => join(versions, version, 'bin'))
  .filter((bin) => existsSync(join(bin, 'postgres')))
  .sort()
  .reverse();

const numbers = 6;

describe('the processes of a run are killed, stopped and restarted, with their servers', () => {
  const open: AsyncDisposable[] = [];
  let server: PostgresServer;
  let redis: RedisServer;
  let calm: CalmCrowd;
  beforeAll(async () => {
    const installation = await installedAt(programs);
    open.push(installation);
    server = await startServer(installation);
    const folder = await temporaryFolder();
    const running = await startRedis(folder.path);
    open.push(server, folder, running);
    redis = running;
    calm = await calmCrowd(numbers);
  }, 120_000);
  afterAll(async () => {
    for (const each of open.reverse()) await each[Symbol.asyncDispose]();
  });

  it.each([
    ['lease', 11],
    ['bullmq', 12],
    ['redis', 13],
  ] as const)(
    '%s, seed %i: nothing is lost, and nothing is paid twice',
    async (queue, seed) => {
      const options = { seed, queue, redis, numbers, leaseMs: 1500, faults: 8, workers: 3 };
      const round = await chaosRound(server, calm, { ...options, patienceMs: 200_000 });
      const { found, why } = wrongWith(round);
      expect(found, `${queue}, seed ${seed}:\n${why}`).toEqual({ ...nothingWrong, missed: round.missed });
    },
    420_000,
  );
});

/**
 * `npx tsx test/e2e/engine/chaos.ts --rounds 20 --seed 1 --queue lease`: runs on an engine whose processes are killed, stopped and
 * restarted, and what came of them. The commands are those of `dist`: build first.
 */
import { parseArgs } from 'node:util';
import { temporaryFolder } from '../../rig/cli.ts';
import { install, installedAt, packagedPostgres } from '../../rig/postgres/installation.ts';
import { startServer } from '../../rig/postgres/server.ts';
import { startRedis } from '../../rig/redis.ts';
import { calmCrowd, chaosRound, imageJobs, isWhole, type Round, type RoundOptions } from './round.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    seed: { type: 'string', default: '1' },
    queue: { type: 'string', default: 'lease' },
    workers: { type: 'string', default: '3' },
    faults: { type: 'string', default: '14' },
    numbers: { type: 'string', default: '20' },
    lease: { type: 'string', default: '1500' },
    /** A folder of PostgreSQL's programs; default: the npm package. */
    postgres: { type: 'string' },
  },
});
const queue = (['lease', 'bullmq', 'redis'] as const).find((name) => name === values.queue);
if (queue === undefined) throw new Error('--queue is lease, bullmq or redis.');
const numbers = Number(values.numbers);
const options: Omit<RoundOptions, 'seed' | 'redis'> = {
  faults: Number(values.faults),
  numbers,
  workers: Number(values.workers),
  leaseMs: Number(values.lease),
  queue,
};

await using installation = await (values.postgres === undefined
  ? install(packagedPostgres() ?? '')
  : installedAt(values.postgres));
await using server = await startServer(installation);
await using folder = await temporaryFolder();
await using redis = queue === 'redis' ? await startRedis(folder.path) : undefined;
const calm = await calmCrowd(numbers);
console.log(`one process: ${calm.tags.size} tasks for ${imageJobs(numbers)} image jobs`);

const until =
  values.minutes === undefined ? Number.POSITIVE_INFINITY : Date.now() + 60_000 * Number(values.minutes);
const rounds = values.minutes === undefined ? Number(values.rounds) : Number.POSITIVE_INFINITY;
const done: Round[] = [];
let broken = 0;
for (let at = 0; at < rounds && Date.now() < until; at += 1) {
  const seed = Number(values.seed) + at;
  try {
    const round = await chaosRound(server, calm, {
      ...options,
      seed,
      ...(redis === undefined ? {} : { redis }),
    });
    done.push(round);
    const { said, gaveUp, lost, duplicated, wrongFiles, ms, codes, ...counts } = round;
    const codesText = codes.join(', ');
    console.log(`seed ${seed} ${(ms / 1000).toFixed(1)} s, codes ${codesText}`, JSON.stringify(counts));
    if (isWhole(round)) continue;
    broken += 1;
    console.log({ seed, lost, duplicated, wrongFiles }, said);
    for (const { name, code, stderr } of gaveUp) console.log(`${name} ended with ${code}:\n${stderr}`);
  } catch (error) {
    broken += 1;
    console.log(`seed ${seed}:`, error);
  }
}
const sum = (of: (round: Round) => number): number => done.reduce((all, round) => all + of(round), 0);
console.log(
  `${done.length} rounds on ${queue} with ${values.workers} workers: ${sum((one) => one.kills)} kills, ${sum((one) => one.stops)} stops, ` +
    `${sum((one) => one.restarts)} restarts (${sum((one) => one.missed)} faults came too late), ` +
    `${sum((one) => one.submissions)} submissions for ${done.length * calm.tags.size} jobs, ` +
    `${sum((one) => one.lost.length)} lost, ${sum((one) => one.duplicated.length)} duplicated, ` +
    `${sum((one) => one.doubts)} in doubt (${sum((one) => one.found)} found, ${sum((one) => one.neverSent)} never sent), ` +
    `${sum((one) => one.lateFacts)} late facts, ${sum((one) => one.gaveUp.length)} gave up, ${broken} rounds broken`,
);
if (broken > 0) process.exitCode = 1;

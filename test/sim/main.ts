/**
 * `npm run sim -- --seeds 10000 [--from 1] [--met]`: plays that many histories, and shows the first broken promise; with `--met`
 * how often each kind of trouble came about. `--workers 3` plays several workers on one state (0: 2 to 4, by the seed), with `--mutant no-epoch`
 * and so on one that must be noticed, with `--hard` more trouble, dialogs, room that is shared, and a second invocation, with `--cuts` texts and cut cables too; with `--orders`
 * jobs that are to be made anew, over several runs, with `--restores` older copies of the state that come back, both with kills and cuts. `--cover` prints a few of these seeds instead, which together meet every kind that all meet.
 */
import { parseArgs } from 'node:util';
import { faultNames } from '../rig/gateway/faults.ts';
import { covering, search } from './search.ts';
import { drawCuts, drawHard, drawOrders, drawRestores, drawWorkers } from './workers/scenario.ts';
import { searchWorkers } from './workers/simulate.ts';

const mutants = [
  'no-epoch',
  'no-claim',
  'holds-first',
  'left-is-closed',
  'forgets-orders',
  'cancels-nothing',
  'trusts-copies',
] as const;

const draws = [
  ['restores', drawRestores],
  ['orders', drawOrders],
  ['cuts', drawCuts],
  ['hard', drawHard],
] as const;

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    met: { type: 'boolean', default: false },
    cover: { type: 'boolean', default: false },
    workers: { type: 'string' },
    mutant: { type: 'string' },
    hard: { type: 'boolean', default: false },
    cuts: { type: 'boolean', default: false },
    orders: { type: 'boolean', default: false },
    restores: { type: 'boolean', default: false },
  },
});
const from = Number(values.from);
const seeds = Number(values.seeds);
if (values.workers !== undefined) {
  const startedAt = performance.now();
  const workers = Number(values.workers);
  const mutant = mutants.find((name) => name === values.mutant);
  const { found, ...played } = await searchWorkers(from, seeds, {
    ...(workers > 0 && { workers }),
    ...(mutant && { mutant }),
    draw: draws.find(([flag]) => values[flag])?.[1] ?? drawWorkers,
  });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(
    `${played.seeds} histories from seed ${from}: ${played.submits} submissions, ${played.kills} kills, ${played.cuts} cuts (${played.longCuts} beyond the lease), ${played.restores} restores (${played.refused} refused), ${played.ordered} jobs ordered anew, ${played.twice} answered texts made again, ${played.inDoubt} jobs in doubt (${played.neverSent} never sent), ${found === undefined ? 0 : 1} violations, ${seconds} s`,
  );
  if (found !== undefined) {
    const { seed, first, duplicated, lost, nothing } = found;
    console.log(
      `seed ${seed}: ${first}\n${duplicated} duplicated, ${lost} lost, ${nothing} that cost nothing here`,
    );
    process.exitCode = 1;
  }
} else if (values.cover) {
  console.log((await covering(from, seeds)).join(', '));
} else {
  const startedAt = performance.now();
  const { found, ...played } = await search(from, seeds);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(
    `${played.seeds} histories from seed ${from}: ${played.submits} submissions, ${played.inDoubt} jobs in doubt, ${found === undefined ? 0 : 1} violations, ${seconds} s`,
  );
  if (values.met)
    for (const fault of faultNames) console.log(`${String(played.met.get(fault) ?? 0).padStart(8)} ${fault}`);
  if (found !== undefined) {
    console.log(
      `seed ${found.seed}: ${found.broken}\nthe simplest history that shows it:\n${JSON.stringify(found.simplest, undefined, 2)}`,
    );
    process.exitCode = 1;
  }
}

/** `npm run kills -- --kills 500`: real kills of the built command line, in rounds of ten, and what came of them. */
import { parseArgs } from 'node:util';
import { type KillOptions, killAgainAndAgain, undisturbed } from '../rig/kills.ts';
import { comparable } from '../rig/manifest.ts';
import { fortyCells } from './pipelines.ts';

const { values } = parseArgs({
  options: { kills: { type: 'string', default: '100' }, seed: { type: 'string', default: '1' } },
});
const perRound = 10;
const rounds = Math.ceil(Number(values.kills) / perRound);

/** Where the kills fall: anywhere; soon after the start, while an earlier run is taken up; between requests. */
const kinds: readonly Omit<KillOptions, 'pipeline' | 'kills' | 'seed'>[] = [
  { most: 150 },
  { most: 10 },
  { most: 80, delayMs: (random) => Math.floor(random() * 40) },
  { most: 400, delayMs: (random) => Math.floor(random() * 200) },
];

const { rows: expected, tasks: jobs } = await undisturbed(fortyCells);
let tasks = 0;
let doubtful = 0;
let problems = 0;
for (let round = 0; round < rounds; round++) {
  const seed = Number(values.seed) + round;
  const kind = kinds[round % kinds.length] ?? { most: 100 };
  const killed = await killAgainAndAgain({ pipeline: fortyCells, kills: perRound, seed, ...kind });
  tasks += killed.tasks;
  doubtful += killed.doubtful.length;
  const lost = JSON.stringify(comparable(killed.rows)) === JSON.stringify(expected) ? 0 : 1;
  const wrong = killed.duplicates.length + lost + killed.leftovers.length + (killed.codes[1] === 0 ? 0 : 1);
  problems += wrong;
  if (wrong > 0)
    console.log(
      `seed ${seed}:`,
      killed.duplicates,
      killed.codes,
      killed.leftovers,
      lost === 0 ? '' : 'the manifest differs',
      killed.stderr,
    );
}
const share = ((100 * doubtful) / (rounds * jobs)).toFixed(2);
console.log(
  `${rounds * perRound} kills over ${rounds} runs of ${jobs} jobs: ${tasks} tasks, ${doubtful} jobs in doubt (${share} %), ${problems} results lost or duplicated`,
);
if (problems > 0) process.exitCode = 1;

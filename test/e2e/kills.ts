/** `npm run kills -- --kills 500`: real kills of the built command line, in rounds of ten, and what came of them. */
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { type KillOptions, killAgainAndAgain } from '../rig/kills.ts';
import { type CalmRun, calmRun } from '../rig/run-place.ts';
import { fortyCells, tenOfEveryKind, twentyTexts } from './pipelines.ts';

const { values } = parseArgs({
  options: { kills: { type: 'string', default: '100' }, seed: { type: 'string', default: '1' } },
});
const perRound = 10;
const rounds = Math.ceil(Number(values.kills) / perRound);

/** Where the kills fall: anywhere; soon after the start, while an earlier run is taken up; between requests; at one call. */
const kinds: readonly Omit<KillOptions, 'pipeline' | 'kills' | 'seed'>[] = [
  { most: 150, aimed: 0.3 },
  { most: 10, aimed: 0.3 },
  { most: 80, delayMs: (random) => Math.floor(random() * 40), aimed: 0.3 },
  { most: 400, delayMs: (random) => Math.floor(random() * 200) },
  { most: 10, aimed: 1 },
];

/** Pictures alone, every kind of image work, and pictures with texts, in turn. */
const pipelines = [fortyCells, tenOfEveryKind, twentyTexts];
const calms: CalmRun[] = [];
for (const pipeline of pipelines) calms.push(await calmRun(pipeline));
/** How many were aimed at each call. */
const aimedAt: Record<string, number> = {};
let timed = 0;
let aimed = 0;
let missed = 0;
let tasks = 0;
let jobs = 0;
let modals = 0;
let calls = 0;
let repeats = 0;
let doubtful = 0;
let losses = 0;
for (let round = 0; round < rounds; round++) {
  const seed = Number(values.seed) + round;
  const kind = kinds[round % kinds.length] ?? { most: 100 };
  const pipeline = pipelines[round % pipelines.length] ?? fortyCells;
  const calm = calms[round % calms.length] as CalmRun;
  // Each second round of pictures alone makes anew what is done.
  const redo = pipeline === fortyCells && Math.floor(round / pipelines.length) % 2 === 1;
  const killed = await killAgainAndAgain({ pipeline, kills: perRound, seed, redo, ...kind });
  timed += killed.timed;
  aimed += killed.aimed.length;
  missed += killed.missed.length;
  for (const { moment, when } of killed.aimed) {
    const at = `${when} ${moment}`;
    aimedAt[at] = (aimedAt[at] ?? 0) + 1;
  }
  tasks += killed.tasks;
  doubtful += killed.doubtful.length;
  const lost = redo || isDeepStrictEqual(killed.rows, calm.rows) ? 0 : 1;
  const left = [...killed.files.keys()].filter((name) => !calm.files.has(name));
  const changed = redo || isDeepStrictEqual(killed.files, calm.files) ? 0 : 1;
  jobs += calm.tasks * (redo ? 2 : 1);
  modals += killed.modals;
  calls += killed.texts.calls;
  repeats += killed.texts.calls - killed.texts.different;
  const wrong =
    killed.duplicates.length +
    killed.secondModals.length +
    killed.askedAgain.length +
    killed.replies.lost.length +
    killed.replies.unclaimed.length +
    lost +
    changed +
    (killed.codes[1] === 0 ? 0 : 1);
  losses += wrong;
  if (wrong > 0)
    console.log(
      `seed ${seed}:`,
      killed.duplicates,
      killed.secondModals,
      killed.askedAgain,
      killed.replies,
      killed.codes,
      killed.aimed,
      lost === 0 ? '' : 'the manifest differs',
      changed === 0 ? '' : `the files differ ${left.join(', ')}`,
      killed.stderr,
    );
}
const share = ((100 * doubtful) / jobs).toFixed(2);
console.log(
  `${timed + aimed} kills (${timed} timed, ${aimed} aimed) over ${rounds} runs: ${tasks} tasks for ${jobs} jobs, ${modals} modals, ` +
    `${calls} text calls, of which ${repeats} were made again, ${doubtful} jobs in doubt (${share} %), ${losses} results lost or duplicated`,
);
console.log('aimed at:', aimedAt);
if (missed > 0)
  console.log(
    `${missed} aims were missed by runs with nothing to do, and met once these had a manifest to write`,
  );
if (losses > 0) process.exitCode = 1;

import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openStateForReading } from '../../src/state/state.ts';
import { all } from './all.ts';
import { cli, startCli } from './cli.ts';
import { DurableTexts } from './durable-texts.ts';
import type { FakeService } from './fake-service.ts';
import { fakeRoutes } from './faults.ts';
import { comparable, type ManifestRow } from './manifest.ts';
import { aimedKill, hasHappened, type Mishap, type Moment, mishapEnv } from './mishap.ts';
import { type FoundReplies, repliesOf } from './replies.ts';
import { contents, doubtful, openPlace, repeated } from './run-place.ts';
import { seededRandom } from './virtual-run.ts';

const routes = fakeRoutes.filter((route) => route !== 'models' && route !== 'site' && route !== 'unknown');

/** Resolves once the service has got `more` further requests. */
async function received(service: FakeService, more: number): Promise<void> {
  const count = (): number => routes.reduce((sum, route) => sum + service.count(route), 0);
  const until = count() + more;
  while (count() < until)
    await Promise.race(routes.map((route) => service.reached(route, service.count(route) + 1)));
}

export interface KilledRun {
  /** Starts that a signal of ours ended while they were at work. */
  readonly timed: number;
  /** Starts that killed themselves, each with the moment that it was aimed at. */
  readonly aimed: readonly Mishap[];
  /** Starts that had nothing to do, and so never came to the call that they were aimed at: they ended in peace, and count as no kill. */
  readonly missed: readonly Mishap[];
  /** Of the service, over all starts. */
  readonly tasks: number;
  /** Keys of the jobs that were in doubt when the last undisturbed start had ended. */
  readonly doubtful: readonly string[];
  /** Exit codes of that start, and of the one that then retried what was in doubt. */
  readonly codes: readonly [number, number];
  readonly stderr: string;
  /** What was asked for several times without a doubt to explain it: never anything. */
  readonly duplicates: readonly string[];
  /** Jobs whose modal was answered though it had been: never any. */
  readonly secondModals: readonly string[];
  /** Modals that were answered. */
  readonly modals: number;
  /** Text calls that were made again though their answer had been durable: never any. */
  readonly askedAgain: readonly string[];
  /** Text calls of all starts, different ones, and those of which a kill left a durable answer. */
  readonly texts: { readonly calls: number; readonly different: number; readonly durable: number };
  readonly rows: readonly ManifestRow[];
  /** Everything that lies in the run directory, and the hashes of the images. */
  readonly files: ReadonlyMap<string, string>;
  /** Whole replies that a job names and that are not as they were, and lines that no job names: never any. */
  readonly replies: Pick<FoundReplies, 'lost' | 'unclaimed'>;
}

export interface KillOptions {
  readonly pipeline: string;
  readonly kills: number;
  readonly seed: number;
  /** The most requests that are waited for before a timed kill. */
  readonly most: number;
  /** More to wait, in ms, after the last of them: what falls between requests. */
  readonly delayMs?: (random: () => number) => number;
  /** Share of the kills that are aimed at one call on the disk; the last of all is then aimed at the end of the run. */
  readonly aimed?: number;
  /** The pipeline has run in peace; what is killed makes all of it anew (`--redo-jobs`), given in the same words each time. */
  readonly redo?: boolean;
}

/** Reached while there is work left, with the most of them that are let pass. */
const atWork: readonly (readonly [Moment, number])[] = [
  ['state commit', 60],
  ['wal sync', 60],
  ['count write', 20],
  ['image open', 20],
  ['image write', 20],
  ['image sync', 20],
  ['image rename', 20],
  ['record rename', 1],
  ['owner rename', 1],
];

/** What is written besides images, and the steps that write it. */
const written: readonly (readonly [steps: RegExp, moments: typeof atWork])[] = [
  [/\b(?:generate|chat):/, (['open', 'write', 'sync'] as const).map((call) => [`reply ${call}`, 10])],
  [/\bvideo:/, (['open', 'write', 'sync', 'rename'] as const).map((call) => [`video ${call}`, 10])],
];

/** The calls that runs of this pipeline make while they are at work. */
function momentsOf(pipeline: string): typeof atWork {
  return [...atWork, ...written.flatMap(([steps, its]) => (steps.test(pipeline) ? its : []))];
}

/** Reached by every start that is let come to its end, but for one that has nothing to do and whose manifest is there. */
const atTheEnd: readonly (readonly [Moment, number])[] = [
  ['manifest open', 1],
  ['manifest write', 2],
  ['manifest sync', 1],
  ['manifest rename', 1],
  ['record write', 2],
  ['record rename', 2],
];

function drawKill(moments: readonly (readonly [Moment, number])[], random: () => number): Mishap {
  const [moment, most] = moments[Math.floor(random() * moments.length)] ?? ['state commit', 1];
  return aimedKill(moment, 1 + Math.floor(random() * most), random() < 0.5 ? 'before' : 'after');
}

/** Keys of the jobs in doubt, by the state: while a job is made anew, its rows show what it had. */
async function inDoubtOf(directory: string): Promise<readonly string[]> {
  const state = openStateForReading(directory);
  const found = state === undefined ? [] : await all(state.withStatus('in-doubt'));
  await state?.close();
  return found.map(({ key }) => key);
}

/** Runs a pipeline, kills it again and again with SIGKILL, then lets it finish. */
export async function killAgainAndAgain({
  pipeline,
  kills,
  seed,
  most,
  delayMs,
  aimed: share = 0,
  redo = false,
}: KillOptions): Promise<KilledRun> {
  await using place = await openPlace(pipeline);
  const { service, env } = place;
  const options = { cwd: place.folder, env };
  if (redo) await place.run();
  const keys = redo ? new Set((await place.rows()).map(({ job = '' }) => job)) : [];
  await writeFile(join(place.folder, 'jobs.txt'), [...keys].join('\n'));
  const run = ['run', 'killed.yaml', ...(redo ? ['--redo-jobs', 'jobs.txt'] : [])];
  const random = seededRandom(seed);
  const aimed: Mishap[] = [];
  const missed: Mishap[] = [];
  const moments = momentsOf(pipeline);
  const durable = new DurableTexts();
  let timed = 0;
  // Once a start was done before its kill, only the calls of a run that ends are left to aim at.
  let isOver = false;
  const die = async (kill: Mishap): Promise<boolean> => {
    const { signal, stderr } = await cli(run, { ...options, env: { ...env, ...mishapEnv(kill) } });
    const died = signal === 'SIGKILL' && hasHappened(stderr);
    if (died) aimed.push(kill);
    return died;
  };
  while (timed + aimed.length < kills) {
    if (isOver || (share > 0 && timed + aimed.length === kills - 1)) {
      const kill = drawKill(atTheEnd, random);
      if (!(await die(kill))) {
        missed.push(kill);
        // All is done: whoever takes the manifest away has it written again, by a run that goes through its plan.
        await rm(join(place.directory, 'manifest.csv'), { force: true });
        if (!(await die(kill))) throw new Error(`No run has died ${kill.when} ${kill.moment} ${kill.n}.`);
      }
    } else if (random() < share) {
      isOver = !(await die(drawKill(moments, random)));
    } else {
      const { child, done } = startCli(run, options);
      await Promise.race([received(service, 1 + Math.floor(random() * most)), done]);
      const ms = delayMs?.(random) ?? 0;
      if (ms > 0) await Promise.race([new Promise((resolve) => setTimeout(resolve, ms)), done]);
      child.kill('SIGKILL');
      isOver = (await done).signal !== 'SIGKILL';
      if (!isOver) timed += 1;
    }
    await durable.note(place.directory, service.texts);
  }
  const last = await place.run(...run.slice(2));
  const inDoubt = redo ? await inDoubtOf(place.directory) : doubtful(await place.rows());
  const settled = await place.run('--in-doubt', 'retry');
  return {
    timed,
    aimed,
    missed,
    tasks: service.submits.all.length,
    doubtful: inDoubt,
    codes: [last.code, settled.code],
    stderr: `${last.err}\n${settled.err}`,
    duplicates: repeated(service, inDoubt, redo ? 2 : 1),
    secondModals: service.submits.secondModals,
    modals: service.submits.modals.length,
    askedAgain: durable.askedAgain(service.texts),
    texts: {
      calls: [...service.texts.byName.values()].reduce((sum, count) => sum + count, 0),
      different: service.texts.byName.size,
      durable: durable.size,
    },
    rows: comparable(await place.rows()),
    files: await contents(place.directory),
    replies: await repliesOf(place.directory),
  };
}

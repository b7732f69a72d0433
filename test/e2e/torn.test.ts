import { cpSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readRunFacts } from '../../src/report/facts/run.ts';
import { openState } from '../../src/state/state.ts';
import { promptpress, type Said } from '../cli/test-io.ts';
import { readManifest } from '../rig/manifest.ts';
import { aimedKill } from '../rig/mishap.ts';
import { type CalmRun, calmRun, doubtful, openPlace, type RunPlace } from '../rig/run-place.ts';
import { twoCells } from './pipelines.ts';

const sixCells = twoCells.replace('[fox, owl]', '[fox, owl, lynx, hare, crow, newt]');
const seed = 20_261_121;

/** What a job asks the service for, by its key, in the words of `submits.byPath`. */
type Asking = ReadonlyMap<string, string>;

/** Between two starts the files of the state are cut, as by a disk that lied, or by someone who copied half of them. */
describe('a state that was torn after its run was killed', () => {
  let place: RunPlace;
  let calm: CalmRun;
  let asking: Asking;
  let paid: ReadonlySet<string>;
  let copies = 0;
  beforeAll(async () => {
    calm = await calmRun(sixCells);
    asking = new Map(
      calm.rows.map(({ job = '', prompt = '', branch = '' }) => [
        job,
        branch === '' ? prompt : `${prompt} > ${branch}`,
      ]),
    );
    place = await openPlace(sixCells);
    const killed = await place.meet(aimedKill('image rename', 10, 'after'));
    if (killed.signal !== 'SIGKILL') throw new Error(`The run was not killed:\n${killed.stderr}`);
    paid = new Set(place.service.submits.byPath.keys());
  });
  afterAll(() => place[Symbol.asyncDispose]());

  /** A copy of the run directory, as the kill left it, with its state folded into one file where that is wanted. */
  function copied(folded: boolean): string {
    const copy = join(place.folder, `copy-${++copies}`);
    cpSync(place.directory, copy, { recursive: true });
    rmSync(join(copy, 'state.db-shm'), { force: true });
    if (!folded) return copy;
    openState(copy).close();
    // A copy again: the driver for Node 20 closes a file only when its statements are gone.
    const whole = `${copy}-folded`;
    cpSync(copy, whole, { recursive: true });
    for (const name of ['state.db-wal', 'state.db-shm']) rmSync(join(whole, name), { force: true });
    return whole;
  }

  const cut = (file: string, share: number): void =>
    truncateSync(file, Math.floor(statSync(file).size * share));

  /** What the state in a directory knows to have been submitted; undefined where it does not know of all of it. */
  async function known(directory: string): Promise<ReadonlySet<string> | undefined> {
    const looking = `${directory}.look`;
    cpSync(directory, looking, { recursive: true });
    const state = openState(looking);
    try {
      const { known: submits, counted } = await state.reader.submissions();
      if ((await readRunFacts(state.reader)) === undefined || submits < counted) return undefined;
      return new Set(
        [...asking].flatMap(([key, words]) => {
          const status = state.get(key)?.status;
          return status === undefined || status === 'pending' ? [] : [words];
        }),
      );
    } finally {
      state.close();
      rmSync(looking, { recursive: true });
    }
  }

  /** Goes on in a directory. @returns what was said, and what was paid for that had been paid for before. */
  async function continues(directory: string): Promise<Said & { readonly again: readonly string[] }> {
    const before = new Map(place.service.submits.byPath);
    const said = await promptpress(['run', 'killed.yaml', '--out', directory], {
      cwd: place.folder,
      env: place.env,
    });
    const again = [...place.service.submits.byPath]
      .filter(([words, count]) => paid.has(words) && count > (before.get(words) ?? 0))
      .map(([words]) => words);
    return { ...said, again };
  }

  const shares = fc.double({ min: 0, max: 0.999, noNaN: true });

  it('continues when its log was cut behind the last submission, else it is refused: nothing is paid twice', async () => {
    const outcomes: string[] = [];
    await fc.assert(
      fc.asyncProperty(shares, async (share) => {
        const directory = copied(false);
        cut(join(directory, 'state.db-wal'), share);
        const remembered = await known(directory);
        const { code, err, again } = await continues(directory);
        const rows =
          remembered === undefined ? calm.rows : await readManifest(join(directory, 'manifest.csv'));
        const inDoubt = doubtful(rows);
        // What it does not know would be paid for again.
        expect(code, err).toBe(remembered === undefined ? 74 : inDoubt.length > 0 ? 5 : 0);
        expect(again).toEqual([]);
        expect(rows.map(({ job }) => job)).toEqual(calm.rows.map(({ job }) => job));
        outcomes.push(code === 74 ? 'refused' : 'went on');
      }),
      { numRuns: 8, seed, examples: [[0], [0.999]] },
    );
    expect(new Set(outcomes)).toEqual(new Set(['refused', 'went on']));
  });

  it('loses nothing to what a power cut leaves: the beginning of a turn that was never finished', async () => {
    const whole = copied(false);
    const log = join(whole, 'state.db-wal');
    const lost = await known(whole);
    // One more turn, torn before its last page.
    const state = openState(whole);
    const size = statSync(log).size;
    state.setFact('torn', 'x'.repeat(20_000));
    const torn = copied(false);
    cpSync(log, join(torn, 'state.db-wal'));
    state.close();
    truncateSync(join(torn, 'state.db-wal'), statSync(join(torn, 'state.db-wal')).size - 100);
    expect(statSync(join(torn, 'state.db-wal')).size).toBeGreaterThan(size);
    expect(await known(torn)).toEqual(lost);
    const { again, code, err } = await continues(torn);
    expect(again).toEqual([]);
    expect([0, 5], err).toContain(code);
  });

  const refusals: Readonly<Record<number, RegExp>> = {
    2: /state\.db is not a state file of promptpress/,
    74: /state\.db is damaged|knows nothing of/,
  };

  it('is refused when the file itself was cut, and nothing is asked of the service', async () => {
    await fc.assert(
      fc.asyncProperty(shares, async (share) => {
        const directory = copied(true);
        cut(join(directory, 'state.db'), share);
        const asked = place.service.submits.all.length;
        const { code, err } = await continues(directory);
        expect(err).toMatch(refusals[code] ?? `not exit code ${code}`);
        expect(place.service.submits.all).toHaveLength(asked);
      }),
      { numRuns: 10, seed, examples: [[0], [0.999]] },
    );
  });

  it('is refused when its log was left behind, or its file', async () => {
    for (const gone of [['state.db-wal'], ['state.db', 'state.db-wal']]) {
      const directory = copied(false);
      for (const name of gone) rmSync(join(directory, name));
      const asked = place.service.submits.all.length;
      const { code, err } = await continues(directory);
      expect(code, err).toBe(74);
      expect(err).toMatch(
        /knows nothing of (?:6|7|8|9|1\d) of the \d+ submissions.*, and nothing of the run that began at/,
      );
      expect(place.service.submits.all).toHaveLength(asked);
    }
  });
});

import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { CliError } from '../../../src/app/errors/cli-error.ts';
import { findJob, jobsInFile } from '../../../src/app/workspace/find-job.ts';
import { imagineRecord } from '../../rig/jobs.ts';
import { memoryStore } from '../../rig/memory-store.ts';

const keyOf = (number: number): string =>
  createHash('sha256').update(String(number)).digest('hex').slice(0, 32);

function stateOf(keys: readonly string[]) {
  const store = memoryStore();
  store.commit({ records: keys.map((key) => imagineRecord({ key })), attempts: [] });
  return store.reader;
}

it('a word names the job with exactly that key, else the only job whose key begins with it (four characters or more)', async () => {
  // Few letters, so that many keys begin alike.
  const key = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 3, maxLength: 9 });
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(key, { maxLength: 12 }), key, async (keys, word) => {
      const meant = keys.includes(word) ? [word] : keys.filter((one) => one.startsWith(word));
      const isNamed = keys.includes(word) || (word.length >= 4 && meant.length === 1);
      const found = await findJob(word, stateOf(keys)).catch((error: unknown) => error);
      const several = `${meant.toSorted().slice(0, 5).join(', ')}${meant.length > 5 ? ', …' : ''}`;
      const words =
        word.length < 4
          ? `"${word}" is too short to name a job`
          : meant.length === 0
            ? `No job has the key "${word}"`
            : `Several jobs have keys that begin with "${word}": ${several}`;
      const said = found instanceof CliError ? found.message.slice(0, words.length) : found;
      expect(said).toBe(isNamed ? meant[0] : words);
    }),
    { numRuns: 300 },
  );
});

it('names five of several jobs that a word can mean, in a file too, and says that there are more', async () => {
  const named = async (many: number): Promise<readonly string[]> => {
    const keys = Array.from({ length: many }, (_, at) => `aaaaaaaa${at}`);
    const folder = await mkdtemp(join(tmpdir(), 'promptpress-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, 'jobs.txt'), 'aaaaaaaa\n');
    const looks = [
      findJob('aaaaaaaa', stateOf(keys)),
      jobsInFile('jobs.txt', '--jobs', stateOf(keys), folder),
    ];
    return Promise.all(looks.map((look) => look.then(String, ({ message }: Error) => message)));
  };
  const words = 'Several jobs have keys that begin with "aaaaaaaa": ';
  const inFile = '--jobs jobs.txt, line 1: several jobs have keys that begin with "aaaaaaaa".';
  expect(await named(1)).toEqual(['aaaaaaaa0', 'aaaaaaaa0']);
  expect(await named(2)).toEqual([`${words}aaaaaaaa0, aaaaaaaa1`, inFile]);
  const five = [0, 1, 2, 3, 4].map((at) => `aaaaaaaa${at}`).join(', ');
  expect([await named(5), await named(6)]).toEqual([
    [`${words}${five}`, inFile],
    [`${words}${five}, …`, inFile],
  ]);
});

it.each([1, 999, 1000, 1001, 2500])('all jobs of a file are found, in its order: %i', async (many) => {
  const folder = await mkdtemp(join(tmpdir(), 'promptpress-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const keys = Array.from({ length: many }, (_, at) => keyOf(at));
  const state = stateOf(keys);
  // Every other one by the beginning of its key.
  const words = keys.map((key, at) => (at % 2 === 0 ? key : key.slice(0, 20)));
  await writeFile(join(folder, 'jobs.txt'), words.map((word) => `${word}\n`).join(''));
  expect(await jobsInFile('jobs.txt', '--redo-jobs', state, folder)).toEqual(keys);
  await writeFile(join(folder, 'jobs.txt'), [...words, 'f'.repeat(32), ''].join('\n'));
  await expect(jobsInFile('jobs.txt', '--redo-jobs', state, folder)).rejects.toThrow(
    `line ${many + 1}: no job`,
  );
});

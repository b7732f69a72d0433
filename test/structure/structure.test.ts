import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { orders, rooms } from './arrows.ts';
import { circlesOfFiles, circlesOfFolders } from './circles.ts';
import { foldersOfTheirOwn, foldersWithoutSource } from './mirror.ts';
import { refusedBetweenRooms, refusedBetweenSubFolders } from './refused-arrows.ts';
import {
  comparisonsOfKinds,
  fullFolders,
  longSources,
  longTests,
  overfullFolders,
  overlongFiles,
} from './sizes.ts';
import { readTree } from './source-tree.ts';

const src = readTree(fileURLToPath(new URL('../../src', import.meta.url)));
const tests = readTree(fileURLToPath(new URL('..', import.meta.url)));

test('reads every file of src, and resolves every relative import to one of them', () => {
  const files = new Set(src.map(({ file }) => file));
  expect(files).toContain('index.ts');
  expect(
    src.flatMap(({ file, imports }) =>
      imports.filter(({ to }) => !files.has(to)).map(({ line, to }) => `${file}:${line} imports ${to}`),
    ),
  ).toEqual([]);
});

test('no files of src import one another in a circle, not even types', () => {
  expect(circlesOfFiles(src)).toEqual([]);
});

test('no entries of a folder of src import one another in a circle, at any depth', () => {
  expect(circlesOfFolders(src)).toEqual([]);
});

test('every import between rooms is in the table of rooms', () => {
  expect(refusedBetweenRooms(src, rooms)).toEqual([]);
});

test('every import between sub-folders follows the order of their folder', () => {
  expect(refusedBetweenSubFolders(src, orders)).toEqual([]);
});

test('no folder of src has more than 20 entries', () => {
  expect(overfullFolders(src, 20, fullFolders)).toEqual([]);
});

test('no file of src has more than 400 lines', () => {
  expect(overlongFiles(src, 400, longSources)).toEqual([]);
});

test('no file of test has more than 600 lines', () => {
  expect(overlongFiles(tests, 600, longTests)).toEqual([]);
});

test('no code asks for a step kind by its name: what a kind is stands in the tables of kinds', () => {
  const read = (file: string): string => readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8');
  expect(comparisonsOfKinds(src, read)).toEqual([]);
});

test('no test replaces a module, as the files of one worker share their imports', () => {
  const replacing = tests.filter(({ file }) =>
    /\bvi\.(?:mock|doMock|resetModules)\(/.test(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')),
  );
  expect(replacing.map(({ file }) => file)).toEqual([]);
});

test('no rig hooks into tests when it is imported, as it is imported for the first file of a worker alone', () => {
  const hooking = tests.filter(
    ({ file }) =>
      !file.endsWith('.test.ts') &&
      /^(?:before|after)(?:Each|All)\(/m.test(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')),
  );
  expect(hooking.map(({ file }) => file)).toEqual([]);
});

test('every folder of tests below a room is a folder of that room', () => {
  expect(foldersWithoutSource(tests, src, foldersOfTheirOwn)).toEqual([]);
});

/** Where secrets are taken out of words by hand, and why the outputs of a command do not do so there. */
const ownOutputs = {
  'app/library.ts': 'errors are thrown to a program',
  'app/run/log.ts': 'the log is a file',
  'app/service/notify.ts': 'the notification is a request',
  'cli/program.ts': 'a refusal in JSON is words inside data',
};

test('no command takes secrets out of its words: its outputs do', () => {
  const calling = src.filter(({ file }) =>
    /\bredactor\.apply\b/.test(readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8')),
  );
  expect(calling.map(({ file }) => file)).toEqual(Object.keys(ownOutputs));
});

test('only the program and its failures are given outputs that write texts as they are', () => {
  const making = src.filter(({ file }) =>
    /\b(?:safeIo|processIo)\(/.test(readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8')),
  );
  expect(making.map(({ file }) => file)).toEqual([
    'app/library.ts',
    'app/output/safe-io.ts',
    'cli/adapters/process-io.ts',
    'cli/main.ts',
    'cli/program.ts',
  ]);
});

test('the package exports no more than 40 names', () => {
  const text = readFileSync(new URL('../../src/index.ts', import.meta.url), 'utf8');
  const lists = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list = '']) =>
    list.split(',').filter((name) => name.trim() !== ''),
  );
  const values = [...text.matchAll(/^export const /gm)];
  expect(values).toHaveLength(3);
  expect(lists.length + values.length).toBeGreaterThan(25);
  expect(lists.length + values.length).toBeLessThanOrEqual(40);
});

test('the app asks the process for no more than its version and the user that it runs for', () => {
  const asking = src.filter(
    ({ file }) =>
      file.startsWith('app/') &&
      /^(?!\s*\/?\*).*(?:(?<!\/)\bprocess\.[a-z]|'node:process'|Date\.now|console\.)/m.test(
        readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8'),
      ),
  );
  expect(asking.map(({ file }) => file)).toEqual(['app/service/trust-file.ts', 'app/version.ts']);
});

import { expect, test } from 'vitest';
import { circlesOfFiles, circlesOfFolders } from './circles.ts';
import { foldersWithoutSource } from './mirror.ts';
import { refusedBetweenRooms, refusedBetweenSubFolders } from './refused-arrows.ts';
import { comparisonsOfKinds, overfullFolders, overlongFiles } from './sizes.ts';
import { importsOf, treeOf } from './source-tree.ts';

test('reads imports, exports and import types, with their lines, and ignores comments and texts', () => {
  const code = `import fs from 'node:fs';
import {
  type A,
  b,
} from './b.ts';
import { type C, type D } from './c.ts';
import type { E } from './e.ts';
import './f.ts';
export * from './g.ts';
export type { H } from './h.ts';
// import { no } from './no.ts';
/** Like import('./no.ts'). */
export const text = "import { no } from './no.ts';";
export type I = import('./i.ts').I;
export const j = async (): Promise<unknown> => import('./j.ts');
`;
  expect(
    importsOf(code).map(({ line, specifier, types }) => `${line} ${specifier}${types ? ' types' : ''}`),
  ).toEqual([
    '1 node:fs',
    '2 ./b.ts',
    '6 ./c.ts types',
    '7 ./e.ts types',
    '8 ./f.ts',
    '9 ./g.ts',
    '10 ./h.ts types',
    '14 ./i.ts',
    '15 ./j.ts',
  ]);
});

test('sees a circle of files that only types close, and shows each import of it', () => {
  const tree = treeOf({
    'plan/a.ts': "import { b } from './b.ts';\n",
    'plan/b.ts': "import { c } from './deep/c.ts';\n",
    'plan/deep/c.ts': "\nimport type { A } from '../a.ts';\n",
    'plan/d.ts': "import { a } from './a.ts';\n",
  });
  expect(circlesOfFiles(tree)).toEqual([
    'files: plan/a.ts → plan/b.ts → plan/deep/c.ts → plan/a.ts (plan/a.ts:1 imports plan/b.ts; plan/b.ts:1 imports plan/deep/c.ts; plan/deep/c.ts:2 imports plan/a.ts)',
  ]);
});

test('shows the shortest of the circles that one import closes', () => {
  const tree = treeOf({
    'a.ts': "import { b } from './b.ts';\n",
    'b.ts': "import { c } from './c.ts';\nimport { d } from './d.ts';\n",
    'c.ts': "import { d } from './d.ts';\n",
    'd.ts': "import { a } from './a.ts';\nimport { b } from './b.ts';\n",
    'e.ts': "import { f } from './f.ts';\n",
    'f.ts': "import { e } from './e.ts';\n",
  });
  expect(circlesOfFiles(tree)).toEqual([
    'files: b.ts → d.ts → b.ts (b.ts:2 imports d.ts; d.ts:2 imports b.ts)',
    'files: e.ts → f.ts → e.ts (e.ts:1 imports f.ts; f.ts:1 imports e.ts)',
  ]);
});

test('sees an import of the file itself', () => {
  expect(circlesOfFiles(treeOf({ 'a.ts': "import { x } from './a.ts';\n" }))).toEqual([
    'files: a.ts → a.ts (a.ts:1 imports a.ts)',
  ]);
});

test('sees a circle between sub-folders, three folders deep, where no files make one', () => {
  const tree = treeOf({
    'run/machine/left/a.ts': "import { b } from '../right/b.ts';\n",
    'run/machine/right/b.ts': '',
    'run/machine/right/c.ts': "import type { D } from '../left/d.ts';\n",
    'run/machine/left/d.ts': '',
  });
  expect(circlesOfFiles(tree)).toEqual([]);
  expect(circlesOfFolders(tree)).toEqual([
    'in run/machine: left/ → right/ → left/ (run/machine/left/a.ts:1 imports run/machine/right/b.ts; run/machine/right/c.ts:1 imports run/machine/left/d.ts)',
  ]);
});

test('sees a circle between a file and the sub-folder beside it', () => {
  const tree = treeOf({
    'run/engine.ts': "import { a } from './effects/a.ts';\n",
    'run/effects/a.ts': '',
    'run/effects/b.ts': "import { engine } from '../engine.ts';\n",
  });
  expect(circlesOfFolders(tree)).toEqual([
    'in run: engine.ts → effects/ → engine.ts (run/engine.ts:1 imports run/effects/a.ts; run/effects/b.ts:1 imports run/engine.ts)',
  ]);
});

test('sees an import against the arrows between rooms, and names file, import and rule', () => {
  const tree = treeOf({
    'index.ts': "export { run } from './run/run.ts';\n",
    'pipeline/yaml/read.ts': "import type { Job } from '../../plan/job.ts';\n",
    'plan/job.ts': "import { text } from '../pipeline/yaml/read.ts';\n",
    'run/run.ts':
      "import type { Wire } from '../service/wire.ts';\nimport { wire } from '../service/wire.ts';\n",
    'run/deep/er/store.ts':
      "export { open } from '../../../state/open.ts';\nexport * from '../../index.ts';\n",
    'service/wire.ts': '',
    'state/open.ts': '',
    'pages/page.ts': '',
  });
  const table = {
    pipeline: { imports: [] },
    plan: { imports: ['pipeline'] },
    run: { imports: ['plan', 'state/store.ts'], types: ['service'] },
    service: { imports: [] },
    state: { imports: [] },
  };
  const rule = 'run may import plan, state/store.ts, types of service';
  expect(refusedBetweenRooms(tree, table)).toEqual([
    'pages/ is not in the table of rooms',
    'pipeline/yaml/read.ts:1 imports types of plan/job.ts: pipeline may import no other room',
    `run/run.ts:2 imports service/wire.ts: ${rule}`,
    `run/deep/er/store.ts:1 imports state/open.ts: ${rule}`,
  ]);
});

test('sees a comparison with the name of a step kind, and none with that of a medium or of anything else', () => {
  const texts = {
    'run/a.ts':
      "if (request.kind !== 'click') return kind === 'video' || media === 'video' || word === 'rest';",
    'plan/b.ts': "switch (kind) {\n  case 'describe':\n}",
    'sandbox/c.ts': "kind === 'click'",
  };
  expect(comparisonsOfKinds(treeOf(texts), (file) => texts[file as keyof typeof texts])).toEqual([
    "run/a.ts: !== 'click'",
    "run/a.ts: === 'video'",
    "plan/b.ts: case 'describe'",
  ]);
});

test('sees a room that imports the file beside the rooms', () => {
  const tree = treeOf({ 'index.ts': '', 'cli/main.ts': "import { run } from '../index.ts';\n" });
  expect(refusedBetweenRooms(tree, { cli: { imports: ['run'] } })).toEqual([
    'cli/main.ts:1 imports index.ts: cli may import run',
  ]);
});

test('sees an import against the order of sub-folders, and names file, import and rule', () => {
  const tree = treeOf({
    'run/machine/retry/backoff.ts': "import type { Queue } from '../../scheduler/queues.ts';\n",
    'run/limits/pace.ts': "import { backoff } from '../machine/retry/backoff.ts';\n",
    'run/scheduler/queues.ts': "import { pace } from '../limits/pace.ts';\n",
    'run/resources/memory.ts': '',
  });
  const table = {
    run: ['machine', 'limits', 'scheduler', 'effects'],
    'run/machine': ['retry'],
    'run/gone': [],
  };
  expect(refusedBetweenSubFolders(tree, table)).toEqual([
    'run/gone/ does not exist',
    'run/resources/ is not in the order of run',
    'run/effects/ does not exist',
    'run/machine/retry/backoff.ts:1 imports run/scheduler/queues.ts: of run/, machine may import no other sub-folder',
  ]);
});

test('sees a folder with too many entries, and an exception that nothing needs', () => {
  const tree = treeOf({ 'a/1.ts': '', 'a/2.ts': '', 'a/deep/3.ts': '', 'a/deep/4.ts': '', 'b/5.ts': '' });
  expect(overfullFolders(tree, 2, {})).toEqual(['a has 3 entries, at most 2']);
  expect(overfullFolders(tree, 2, { a: { most: 3, because: 'one a command' } })).toEqual([]);
  expect(overfullFolders(tree, 2, { b: { most: 3, because: 'one a command' } })).toEqual([
    'a has 3 entries, at most 2',
    'b needs no exception',
  ]);
});

test('sees a file with too many lines, within its exception or over it', () => {
  const tree = treeOf({ 'short.ts': '1;\n2;\n', 'long.ts': '1;\n2;\n3;\n', 'open.ts': '1;\n2;\n3;' });
  expect(overlongFiles(tree, 2, {})).toEqual([
    'long.ts has 3 lines, at most 2',
    'open.ts has 3 lines, at most 2',
  ]);
  const because = 'written by a program';
  expect(
    overlongFiles(tree, 1, { 'long.ts': { most: 2, because }, 'open.ts': { most: 3, because } }),
  ).toEqual(['short.ts has 2 lines, at most 1', 'long.ts has 3 lines, at most 2']);
});

test('sees a folder of tests that has no folder of sources', () => {
  const src = treeOf({ 'run/machine/job.ts': '', 'index.ts': '' });
  const tests = treeOf({
    'run/machine/job.test.ts': '',
    'run/old/gone.test.ts': '',
    'run/children/x.ts': '',
    'rig/drive.ts': '',
  });
  expect(
    foldersWithoutSource(tests, src, { 'run/children': 'processes', 'run/machine': 'mistaken' }),
  ).toEqual(['test/run/old/ has no folder src/run/old/', 'test/run/machine/ needs no exception']);
});

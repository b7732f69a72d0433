import { expect, test } from 'vitest';
import { treeOf } from '../structure/source-tree.ts';
import { selectTests } from './select-tests.ts';

const tests = treeOf({
  'run/limits/pace.test.ts': '',
  'run/limits/deeper/one.test.ts': '',
  'run/engine.test.ts': '',
  'run/scheduler/routes.test.ts': "import { world } from '../../rig/world.ts';\n",
  'state/state.test.ts': "import type { Pace } from '../../src/run/limits/pace.ts';\n",
  'manifest/write.test.ts': "import { pace } from '../../src/run/limits/pace.ts';\n",
  'plan/plan.test.ts': "import { plan } from '../../src/plan/plan.ts';\n",
  'e2e/kill.test.ts': "import { pace } from '../../src/run/limits/pace.ts';\n",
  'rig/world.ts': "import { drive } from './drive.ts';\n",
  'rig/drive.ts':
    "import { world } from './world.ts';\nimport { pace } from '../../src/run/limits/pace.ts';\n",
});

test('picks the tests in the folder, below it and above it, then those that import from it, through rigs too', () => {
  expect(selectTests(tests, ['run/limits'])).toEqual([
    'run/limits/pace.test.ts',
    'run/limits/deeper/one.test.ts',
    'run/engine.test.ts',
    'run/scheduler/routes.test.ts',
    'manifest/write.test.ts',
  ]);
});

test('picks for a file the tests of its folder, and first the test of its name', () => {
  const picked = selectTests(treeOf({ 'plan/a.test.ts': '', 'plan/key.test.ts': '' }), ['plan/key.ts']);
  expect(picked).toEqual(['plan/key.test.ts', 'plan/a.test.ts']);
});

test('picks nothing twice for several paths', () => {
  expect(selectTests(tests, ['run/limits/pace.ts', 'run/limits'])).toHaveLength(5);
});

import { execFileSync, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { compilerFlags } from '../../../src/cli/adapters/memory.ts';
import { program } from '../../../src/cli/program.ts';
import { temporaryFolder } from '../../rig/cli.ts';
import { testIo } from '../test-io.ts';

it('bounds the heap and the compiler during a run, but not in short commands', async () => {
  await using folder = await temporaryFolder();
  const steps = 'steps: { note: { generate: { model: text-pro, prompt: a fox } } }';
  await writeFile(join(folder.path, 'p.yaml'), `name: p\n${steps}\n`);
  const boundBy = async (...args: readonly string[]): Promise<readonly string[]> => {
    const test = testIo({ cwd: folder.path });
    expect(await program(args, test.io), test.err()).toBe(0);
    return test.bounded;
  };
  expect(await boundBy('validate', 'p.yaml')).toEqual([]);
  expect(await boundBy('run', 'p.yaml', '--sandbox', '--pace', '0')).toEqual(['compiler', 'heap']);
  expect(await boundBy('status', 'p.yaml', '--sandbox')).toEqual([]);
});

it('collects garbage before the heap is much larger than its live data', () => {
  const child = fileURLToPath(new URL('../../rig/children/heap-growth.ts', import.meta.url));
  const args = ['--expose-gc', '--import', import.meta.resolve('tsx'), child];
  const ratio = Number(execFileSync(process.execPath, args, { encoding: 'utf8' }));
  // What lives grows by a quarter; two halves of the young generation come on top.
  expect(ratio).toBeGreaterThan(1);
  expect(ratio).toBeLessThan(2.5);
}, 60_000);

it('delays optimisation in V8 of Node 20; other versions have no such flag', () => {
  const names = (version: string) => compilerFlags(version).map((flag) => flag.replace(/=.*/, ''));
  const inlining = '--max-inlined-bytecode-size-cumulative';
  expect(names('11.3.244.8-node.30')).toEqual([inlining, '--interrupt-budget']);
  expect(names('12.4.254.21-node.57')).toEqual([inlining]);
  expect(names('13.6.233.17-node.53')).toEqual([inlining]);
});

it('sets flags that this V8 has', () => {
  const memory = JSON.stringify(new URL('../../../src/cli/adapters/memory.ts', import.meta.url).href);
  const script = `const { boundHeapGrowth, boundCompiler } = await import(${memory}); boundHeapGrowth(); boundCompiler();`;
  const args = ['--import', import.meta.resolve('tsx'), '--input-type=module', '--eval', script];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  // What V8 does not know, it complains of there.
  expect({ status, stderr }).toStrictEqual({ status: 0, stderr: '' });
}, 60_000);

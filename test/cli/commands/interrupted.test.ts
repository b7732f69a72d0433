import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Lexer } from 'yaml';
import { processIo } from '../../../src/cli/adapters/process-io.ts';
import { program } from '../../../src/cli/program.ts';
import { useQuickSandbox } from '../../rig/quick-sandbox.ts';
import { copyDirectory } from '../../rig/run-place.ts';
import { promptpress, testIo } from '../test-io.ts';

useQuickSandbox();

const text = `name: set
matrix: { n: { from: 1, to: 8 } }
steps:
  words: { chat: { model: chat-mini, prompt: "fox {{ n }}" } }
`;

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'promptpress-'));
  await writeFile(join(cwd, 'pipeline.yaml'), text);
  const { code, err } = await promptpress(['run', '--sandbox', '--pace', '0', '--out', 'one'], { cwd });
  if (code !== 0) throw new Error(err);
  await rm(join(cwd, 'one', 'manifest.csv'));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(cwd, { recursive: true, force: true });
});

it.each([
  ['manifest', ['manifest', 'one']],
  ['report', ['report', 'one', '--thumbnails', 'none', '--to', 'made']],
  ['export', ['export', 'one', '--format', 'jsonl', '--no-files', '--to', 'made']],
  ['verify', ['verify', 'one']],
])(
  '%s ends by the first signal amid cells that each take long, and leaves nothing half made',
  async (_, args) => {
    let now = performance.now();
    vi.spyOn(performance, 'now').mockImplementation(() => (now += 100));
    const test = testIo({ cwd });
    test.interrupt('SIGTERM');
    expect(await program(args, test.io), test.err()).toBe(143);
    expect((await readdir(cwd)).toSorted()).toEqual(['one', 'pipeline.yaml']);
    expect((await readdir(join(cwd, 'one'))).filter((name) => name.includes('manifest'))).toEqual([]);
  },
);

it.each([
  ['verify', ['verify', 'one']],
  ['manifest', ['manifest', 'one']],
  ['merge', ['merge', 'one', 'two', '--out', 'made']],
])(
  '%s leaves signals their default action while it parses the pipeline, which it does once',
  async (_, args) => {
    await copyDirectory(join(cwd, 'one'), join(cwd, 'two'));
    const { io, err } = testIo({ cwd });
    const lex = vi.spyOn(Lexer.prototype, 'lex');
    const listen = vi.fn<() => void>();
    const interrupts: typeof io.interrupts = (late) => {
      if (late === undefined) listen();
      return { ...io.interrupts(late), listen };
    };
    // verify misses the manifest.
    expect(await program(args, { ...io, interrupts }), err()).toBe(args[0] === 'verify' ? 1 : 0);
    expect([lex.mock.calls.length, listen.mock.calls.length]).toEqual([1, 1]);
    expect(lex.mock.invocationCallOrder[0]).toBeLessThan(listen.mock.invocationCallOrder[0] ?? 0);
  },
);

it('lets any number of waits listen to the signals of a process without a warning', async () => {
  const warn = vi.fn<(warning: Error) => void>();
  process.on('warning', warn);
  const { drain, leave } = processIo().interrupts('late');
  for (let count = 0; count < 20; count += 1)
    for (const signal of [drain, leave]) signal.addEventListener('abort', () => undefined);
  await new Promise(setImmediate);
  process.off('warning', warn);
  expect(warn).not.toHaveBeenCalled();
});

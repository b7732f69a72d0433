import { describe, expect, it } from 'vitest';
import { exitCodes } from '../../src/app/errors/cli-error.ts';
import { allCommands } from '../../src/cli/program.ts';
import { parseFault } from '../../src/sandbox/faults/parse.ts';
import { readDocuments } from '../rig/documents.ts';

const documents = readDocuments();
const textOf = (path: string): string => documents.find((one) => one.path === path)?.text ?? '';

describe('what the documents name', () => {
  const inTable = (path: string, pattern: RegExp): readonly string[] =>
    [...textOf(path).matchAll(pattern)].map(([, name = '']) => name);

  it('is every command', async () => {
    const commands = (await allCommands()).map(({ name }) => name);
    // Commands that belong together share a row.
    const named = inTable('README.md', /^\| (`promptpress .*?) \| /gm).flatMap((cell) =>
      [...cell.matchAll(/`(?:promptpress )?(\w+)/g)].map(([, name]) => name),
    );
    expect(named).toEqual(commands);
  });

  it('is every exit code', () => {
    const codes = inTable('pipelines/unattended.md', /^\| (\d[\d, ]*) \|/gm).flatMap((text) =>
      text.split(', ').map(Number),
    );
    expect(codes).toEqual(Object.values(exitCodes));
  });

  it('is every flag of the sandbox, and no flag that no command has', async () => {
    const commands = await allCommands();
    const known = new Set(commands.flatMap(({ flags }) => Object.keys(flags)));
    // Parameters of prompts, and flags of other programs.
    const others = ['v', 'ar', 'repeat', 'seed', 'stylize', 'zoom', 'user', 'no-x', 'now', 'global'];
    const ours = documents.filter(({ path }) => !/^C[A-Z]+\.md$|^src\/service/.test(path));
    const named = ours.flatMap(({ text }) =>
      [...text.matchAll(/(?<![\w-])--([a-z][a-z-]*)/g)].map(([, flag = '']) => flag),
    );
    expect(named.filter((flag) => !known.has(flag) && !others.includes(flag))).toEqual([]);

    const sandbox = commands.find(({ name }) => name === 'sandbox');
    const flags = Object.keys(sandbox?.flags ?? {}).filter((flag) => flag !== 'help');
    const inTables = [...textOf('src/sandbox/README.md').matchAll(/^\| (`--.*?) \|/gm)].flatMap(
      ([, cell = '']) => [...cell.matchAll(/--([a-z-]+)/g)].map(([, flag]) => flag),
    );
    expect(new Set(inTables)).toEqual(new Set(flags));
  });

  it('are faults that the sandbox understands', () => {
    const faults = inTable('src/sandbox/README.md', /`([a-z-]+:[a-z0-9][^`]*)`/g);
    expect(faults.length).toBeGreaterThan(10);
    expect(
      faults.filter((fault) => fault !== 'route:fault[=detail][:when]' && !parseFault(fault).ok),
    ).toEqual([]);
  });
});

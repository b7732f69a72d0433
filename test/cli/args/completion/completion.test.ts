import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allCommands } from '../../../../src/cli/program.ts';
import { promptpress } from '../../test-io.ts';

const commands = await allCommands();
const names = commands.map(({ name }) => name);

let cwd: string;
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'promptpress-'));
  for (const name of ['a.yaml', 'two words.yml', 'note.txt', 'pp.bash']) await writeFile(join(cwd, name), '');
  await mkdir(join(cwd, 'sets'));
  await writeFile(join(cwd, 'pp.bash'), (await promptpress(['completion', 'bash'], { cwd })).out);
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

/** What bash offers for lines whose last word is being typed; `=` is a word of its own, as bash splits it. */
async function offered(lines: readonly (readonly string[])[]): Promise<readonly (readonly string[])[]> {
  const calls = lines.map((words) => {
    const given = words.map((word) => `'${word}'`).join(' ');
    return `COMP_WORDS=(promptpress ${given}); COMP_CWORD=${words.length}; COMPREPLY=(); _promptpress; printf '%s\\n' "\${COMPREPLY[@]}" --end--`;
  });
  const { stdout } = await promisify(execFile)(
    'bash',
    ['--norc', '--noprofile', '-c', ['source ./pp.bash', ...calls].join('\n')],
    { cwd, maxBuffer: 10_000_000 },
  );
  return stdout
    .split('--end--\n')
    .slice(0, -1)
    .map((part) => part.split('\n').filter((line) => line !== ''));
}

describe('promptpress completion bash', () => {
  it('completes every command, and its flags as its table has them', async () => {
    const [first = [], ...others] = await offered([[''], ...names.map((name) => [name, '--'])]);
    expect(first).toEqual([...names, 'help']);
    for (const [at, command] of commands.entries())
      expect(others[at], command.name).toEqual(Object.keys(command.flags).map((flag) => `--${flag}`));
  });

  it('completes every word that a flag takes, after a blank and after =', async () => {
    const flags = commands.flatMap(({ name, flags: table }) =>
      Object.entries(table).flatMap(([flag, { words }]) =>
        words === undefined ? [] : [{ name, flag, words }],
      ),
    );
    expect(flags.map(({ name, flag }) => `${name} --${flag}`)).toEqual(
      expect.arrayContaining(['run --speed', 'run --in-doubt', 'sandbox --quirk', 'init --template']),
    );
    const blank = await offered(flags.map(({ name, flag }) => [name, `--${flag}`, '']));
    const equals = await offered(flags.map(({ name, flag }) => [name, `--${flag}`, '=']));
    for (const [at, { words }] of flags.entries()) {
      expect(blank[at]).toEqual(words);
      expect(equals[at]).toEqual(words);
    }
  });

  it('completes files and folders where they are accepted, and nothing for unknown values', async () => {
    const pipelines = ['sets', 'a.yaml', 'two words.yml'];
    const lines: readonly (readonly [readonly string[], readonly string[]])[] = [
      [['run', ''], pipelines],
      [['run', 'two'], ['two words.yml']],
      [['run', '--limit', '3', '--sandbox', ''], pipelines],
      [['run', '--limit', '=', '3', ''], pipelines],
      [['run', 'a.yaml', ''], []],
      [['validate', 'a.yaml', ''], pipelines],
      [['run', '--out', ''], ['sets']],
      [['run', '--limit', ''], []],
      [['run', '--speed', '=', 't'], ['turbo']],
      [['init', ''], ['sets']],
      [['show', ''], []],
      [['show', '3f9c', ''], pipelines],
      [
        ['completion', ''],
        ['bash', 'zsh', 'fish'],
      ],
      [['help', 'res'], ['resolve']],
      [['-'], ['--help', '--version']],
      [['nonsense', ''], []],
    ];
    const found = await offered(lines.map(([line]) => line));
    for (const [at, [line, wanted]] of lines.entries())
      expect([...(found[at] ?? [])].sort(), line.join(' ')).toEqual([...wanted].sort());
  });
});

describe('promptpress completion', () => {
  it.each(['zsh', 'fish'])('%s knows every command, every flag and every word of it', async (shell) => {
    const { code, out } = await promptpress(['completion', shell], { cwd });
    expect(code).toBe(0);
    for (const { name, flags } of commands) {
      const part =
        shell === 'zsh'
          ? (new RegExp(`^ {4}${name}\\)$[^]*?^ {8};;$`, 'm').exec(out)?.[0] ?? '')
          : out
              .split('\n')
              .filter((line) => line.includes(`'__promptpress_command ${name}'`))
              .join('\n');
      for (const [flag, { words }] of Object.entries(flags)) {
        expect(part).toMatch(shell === 'zsh' ? new RegExp(`--${flag}[=[]`) : new RegExp(` -l ${flag} `));
        expect(part).toContain((words ?? []).join(' '));
      }
    }
  });

  it('refuses a shell that it has no script for', async () => {
    const { code, err } = await promptpress(['completion', 'tcsh'], { cwd });
    expect([code, err]).toEqual([
      2,
      'promptpress: promptpress completion takes one of bash, zsh, fish, not "tcsh".\n',
    ]);
  });
});

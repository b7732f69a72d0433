import { describe, expect, it } from 'vitest';
import { summaries } from '../../src/cli/args/summaries.ts';
import { allCommands } from '../../src/cli/program.ts';
import { promptpress } from './test-io.ts';

const here = { cwd: '/' };

const commands = await allCommands();

describe('promptpress', () => {
  it.each([['--help'], ['-h'], ['help']])('%s lists every command on standard output', async (flag) => {
    const { code, out, err } = await promptpress([flag], here);
    expect([code, err]).toEqual([0, '']);
    for (const { name, summary } of commands) {
      expect(out).toMatch(new RegExp(`^ {2}${name} +\\S`, 'm'));
      expect(out).toContain(summary);
    }
  });

  it('without a command shows the same on standard error and exits with 2', async () => {
    const { code, out, err } = await promptpress([], here);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain('Usage: promptpress COMMAND');
  });

  it.each(commands.map(({ name }) => name))('help %s names every flag and shows examples', async (name) => {
    const { code, out } = await promptpress(['help', name], here);
    expect(code).toBe(0);
    const command = commands.find((one) => one.name === name);
    for (const flag of Object.keys(command?.flags ?? {})) expect(out).toContain(`--${flag}`);
    expect(out.split('Examples:')[1]).toContain(`promptpress ${name}`);
    for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(110);
    expect((await promptpress([name, '--help', '--nonsense'], here)).out).toBe(out);
  });

  it.each(commands.map(({ name }) => name))(
    'every flag of %s takes the value that messages show',
    (chosen) => {
      for (const [name, flag] of Object.entries(commands.find((one) => one.name === chosen)?.flags ?? {})) {
        if (flag.placeholder === undefined) continue;
        expect(flag.example, name).toBeDefined();
        expect(() => flag.read(flag.example ?? '', `--${name}`, flag.absent), name).not.toThrow();
      }
    },
  );

  it.each(['--version', '-v', '-V'])('%s prints the version alone', async (flag) => {
    expect((await promptpress([flag], here)).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it.each([
    ['rn', 'Did you mean run?'],
    ['statsu', 'Did you mean status?'],
    ['rnu', 'Did you mean run?'],
    ['--verison', 'Did you mean --version?'],
    ['csv', `Commands: ${Object.keys(summaries).join(', ')}.`],
    ['--sandbox', 'A command comes before its flags'],
  ])('refuses the command %s with help', async (name, hint) => {
    const { code, err } = await promptpress([name], here);
    expect(code).toBe(2);
    expect(err).toContain(hint);
  });

  it.each([
    [['run'], 'promptpress: run needs FILE: there is no pipeline.yaml in this folder.'],
    [['run', 'a', 'b'], '"b" is one too many'],
    [['plan', 'nowhere.yaml'], 'There is no file nowhere.yaml'],
    [['run', '/'], 'is a folder'],
    [['run', 'x.yaml', '--speed', 'warp'], 'relax, fast, turbo'],
    [['status', 'nowhere.yaml'], 'There is no file nowhere.yaml'],
    [['sandbox', '--names', 'nobody'], 'neutral'],
    [['sandbox', '--fault', 'nonsense'], 'for example'],
    [['sandbox', '--pixels', '99999'], 'pixels'],
    [['sandbox', '--port', '99999'], '--port takes a number from 0 to 65535, not "99999"'],
    [['sandbox', '--duration', 'imagine'], '--duration takes WORK=TIME, for example imagine=5s'],
  ])('%j is refused once, with exit 2', async (args, message) => {
    const { code, err } = await promptpress(args, here);
    expect(code, err).toBe(2);
    expect(err).toContain(message);
    expect(err.match(/promptpress: /g)).toHaveLength(1);
  });
});

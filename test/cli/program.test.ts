import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { summaries } from '../../src/cli/args/summaries.ts';
import { allCommands, program } from '../../src/cli/program.ts';
import { temporaryFolder } from '../rig/cli.ts';
import { promptpress, testIo } from './test-io.ts';

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
    [
      ['sandbox', '--pixels', '99999'],
      '--pixels takes a whole number from 64 to 4096, in digits, not "99999"',
    ],
    [['sandbox', '--port', '99999'], '--port takes a whole number from 0 to 65535, in digits, not "99999"'],
    [['sandbox', '--port', '65536'], '--port takes a whole number from 0 to 65535, in digits, not "65536"'],
    [['run', 'x.yaml', '--engine', 'postgres://u@127.0.0.1:1/db', '--move-out'], '--move-out needs --out'],
    [['run', 'x.yaml', '--move-out'], '--move-out is for runs on an engine, but no engine is named'],
    [
      ['validate', 'x.yaml', '--base-url', 'https://x.test'],
      '--base-url chooses the service for validate --online',
    ],
    [['validate', 'nowhere.yaml', '--json', '--format', 'json'], 'There is no file nowhere.yaml'],
    [['validate', 'x.yaml', '--json', '--format', 'github'], '--json and --format github cannot be used'],
    [['run', 'x.yaml', '--notify', '--sandbox'], 'The flag --sandbox follows it.'],
    [['run', 'x.yaml', '--detach'], '--detach is for runs on an engine, but no engine is named'],
    [['sandbox', '--duration', 'imagine'], '--duration takes WORK=TIME, for example imagine=5s'],
  ])('%j is refused once, with exit 2', async (args, message) => {
    const { code, err } = await promptpress(args, here);
    expect(code, err).toBe(2);
    expect(err).toContain(message);
    expect(err.match(/promptpress: /g)).toHaveLength(1);
  });

  const withObject = commands
    .filter(({ name, flags }) => 'json' in flags && name !== 'validate' && name !== 'verify')
    .map(({ name }) => name);
  it.each(withObject)('%s --json prints one object when it is refused', async (name) => {
    const { code, out, err } = await promptpress([name, 'nowhere.yaml', '--json', '--nonsense'], here);
    expect(code).toBe(2);
    expect(err).toContain('There is no flag --nonsense here.');
    expect(out).toMatch(/^\{.*\}\n$/);
    expect(refused(out)).toMatchObject({
      error: { code: 'usage', message: 'There is no flag --nonsense here.', hint: expect.any(String) },
    });
  });

  it.each([['--nonsense'], ['--filter', 'b=1']])(
    'shows no address to notify where %s is refused',
    async (...flags) => {
      await using folder = await temporaryFolder();
      const text = 'name: foxes\nmatrix: { a: [1] }\nsteps: { grid: { imagine: "{{ a }}" } }\n';
      await writeFile(join(folder.path, 'foxes.yaml'), text);
      const address = 'https://hooks.example/T0/a-token-of-a-hook';
      const args = ['run', 'foxes.yaml', '--sandbox', '--json', '--notify', address, ...flags];
      const { code, out, err } = await promptpress(args, { cwd: folder.path });
      expect(code).toBe(2);
      expect(out + err).not.toContain('a-token-of-a-hook');
    },
  );

  it.each(['postgres', 'postgresql'])(
    'shows no password of an engine %s:// where it is refused',
    async (scheme) => {
      const engine = `${scheme}://press:a-password@db.example/press`;
      const { code, out, err } = await promptpress(
        ['run', 'x.yaml', '--jsn', '--engine', engine, '--json'],
        here,
      );
      expect(code).toBe(2);
      for (const text of [out, err]) {
        expect(text).not.toContain('a-password');
        expect(text).toContain(text === err ? `--engine ${scheme}://press@db.example/press` : '--json');
      }
    },
  );

  it('prints no second object, and throws nothing, where the first one could not be printed', async () => {
    const { io, err } = testIo(here);
    const texts: string[] = [];
    const out = (text: string): Promise<void> => {
      texts.push(text);
      return Promise.reject(Object.assign(new Error('EIO'), { code: 'EIO', syscall: 'write' }));
    };
    expect(await program(['ls', import.meta.dirname, '--json'], { ...io, out })).toBe(74);
    expect(texts.map((text) => Object.keys(JSON.parse(text) as object))).toEqual([['runs', 'truncated']]);
    expect(err()).toContain('promptpress: The disk failed');
  });

  it.each(['run', 'plan'])('%s --json has every mistake of a pipeline', async (name) => {
    await using folder = await temporaryFolder();
    const text = 'name: foxes\nsteps:\n  grid: { imagin: fox }\n  more: { imagine: 5 }\n';
    await writeFile(join(folder.path, 'foxes.yaml'), text);
    const { code, out } = await promptpress([name, 'foxes.yaml', '--json'], { cwd: folder.path });
    expect(code).toBe(2);
    const { error, diagnostics } = refused(out);
    expect(error).toEqual({ code: 'pipeline.invalid', message: 'The pipeline is not valid.' });
    expect(diagnostics).toMatchObject([
      { severity: 'error', file: 'foxes.yaml', line: 3, column: 11 },
      { severity: 'error', line: 4 },
    ]);
  });

  it.each([
    [['validate', 'nowhere.yaml', '--json']],
    [['verify', 'nowhere.yaml', '--json']],
    [['status', '--', 'nowhere', '--json']],
  ])('%j prints no object', async (args) => {
    const { code, out } = await promptpress(args, here);
    expect([code, out]).toEqual([2, '']);
  });
});

/** What a refused command has printed, which fits its schema. */
function refused(out: string): Readonly<Record<string, unknown>> {
  const read = (name: string): object =>
    JSON.parse(
      readFileSync(join(import.meta.dirname, `../../schemas/${name}.schema.json`), 'utf8'),
    ) as object;
  const ajv = new Ajv2020({ strict: false, validateFormats: false, schemas: [read('validate')] });
  const check = ajv.compile(read('refused'));
  const value = JSON.parse(out) as Readonly<Record<string, unknown>>;
  expect(check(value), JSON.stringify(check.errors)).toBe(true);
  return value;
}

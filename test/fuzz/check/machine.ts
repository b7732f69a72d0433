import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { defaultFilesRoot } from '../../../src/app/adapters/files.ts';
import { gitFacts } from '../../../src/app/adapters/git/git.ts';
import { exitCodes } from '../../../src/app/errors/cli-error.ts';
import { promptpress } from '../../cli/test-io.ts';
import { makePipe } from '../../rig/pipe.ts';
import { type Input, textOf } from '../input.ts';
import { Broken, lawfulText, type Run } from './law.ts';

/** The checks that go through the command line and a folder of this machine. */

const secret = 'SECRET-OUTSIDE';
const good = 'name: good\nmatrix: { animal: [fox, owl] }\nsteps: { grid: { imagine: "{{ animal }}" } }\n';

let places: string | undefined;

/** A folder for all inputs of this process; removed when it ends. */
export function temporary(): string {
  if (places !== undefined) return places;
  const made = mkdtempSync(path.join(tmpdir(), 'promptpress-fuzz-'));
  places = made;
  process.once('exit', () => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** What a text on standard error may be: readable, and not larger than what was given asks for. */
const longestText = 200_000;

async function said(args: readonly string[], cwd: string): Promise<{ code: number; err: string }> {
  const { code, out, err } = await promptpress(args, { cwd, env: {} });
  if (code === exitCodes.internal || err.includes('Internal error'))
    throw new Broken(`A bug: ${err.slice(0, 2000)}`);
  if (code === exitCodes.disk) throw new Broken(`Said to be the disk: ${err.slice(0, 500)}`);
  if (!(Object.values(exitCodes) as number[]).includes(code))
    throw new Broken(`The exit code ${code} is unknown.`);
  // A file that the user names is the user's to show; what it names is not.
  const shows = args[0] !== 'validate' || args[1] === 'p.yaml';
  if (shows && `${out}${err}`.includes(secret)) throw new Broken('What lies outside has been shown.');
  const given = args.reduce((sum, { length }) => sum + length, 0);
  if (err.length > longestText + 4 * given) throw new Broken(`${err.length} characters are said.`);
  lawfulText(err, 'Standard error');
  return { code, err };
}

const codesIn = (err: string): readonly string[] => [
  ...new Set(
    [...err.matchAll(/:\d+:\d+ (?:error|warning) ([a-z-]+\.[a-z-]+)/g)].map(([, code = '']) => code),
  ),
];

const isActing = (command: string): boolean => ['init', 'run', 'sandbox'].includes(command);

export function argumentsRun(input: Input): Run {
  const cwd = path.join(temporary(), 'arguments', 'a', 'b');
  if (!existsSync(cwd)) {
    mkdirSync(cwd, { recursive: true });
    writeFileSync(path.join(cwd, 'good.yaml'), good);
    writeFileSync(path.join(cwd, 'bad.yaml'), 'name: [\n');
  }
  // What a system hands over as an argument holds no NUL and no half of a character.
  const given = input.pieces.map(({ text, times }) => text.repeat(times).replaceAll('\0', '').toWellFormed());
  const refused = '--not-a-flag';
  const rest = isActing(input.form)
    ? given.includes('--')
      ? [refused, ...given]
      : [...given, refused]
    : given;
  return async () => {
    const { code } = await said([input.form, ...rest], cwd);
    return [`exit ${code}`];
  };
}

function trapFolder(): string {
  const work = path.join(temporary(), 'traps', 'work');
  if (existsSync(work)) return work;
  const outside = path.join(temporary(), 'traps', 'outside');
  mkdirSync(path.join(work, 'sub'), { recursive: true });
  mkdirSync(path.join(work, 'folder.csv'));
  mkdirSync(outside);
  writeFileSync(path.join(outside, 'secret.csv'), `${secret},b\n${secret},2\n`);
  writeFileSync(path.join(work, 'good.csv'), 'scene\ndusk\n');
  const link = (name: string, to: string): void => symlinkSync(to, path.join(work, name));
  link('link-inside.csv', 'good.csv');
  link('link-outside.csv', '../outside/secret.csv');
  link('link-link-outside.csv', 'link-outside.csv');
  link('link-absolute.csv', path.join(outside, 'secret.csv'));
  link('link-loop.csv', 'link-loop.csv');
  link('link-dangling.csv', 'nothing.csv');
  link('link-zero.csv', '/dev/zero');
  link('link-folder', '../outside');
  link('link-self', '.');
  makePipe(path.join(work, 'pipe.csv'));
  for (const [name, bytes] of [
    ['sparse.csv', 100],
    ['sparse.yaml', 100],
    ['huge.yaml', 4096],
  ] as const) {
    writeFileSync(path.join(work, name), '');
    truncateSync(path.join(work, name), bytes * 1024 * 1024);
  }
  writeFileSync(path.join(work, 'unreadable.csv'), 'scene\ndusk\n', { mode: 0 });
  return work;
}

export function pathRun(input: Input): Run {
  const cwd = trapFolder();
  const declared = textOf(input);
  const argument = declared.replaceAll('\0', '');
  const rows = input.form === 'rows' ? declared : 'good.csv';
  const image = input.form === 'image' ? `, images: [${JSON.stringify(declared)}]` : '';
  const text = `name: t\nmatrix: { rows: ${JSON.stringify(rows)} }\nsteps: { grid: { imagine: "{{ scene }}"${image} } }\n`;
  writeFileSync(path.join(cwd, 'p.yaml'), text);
  const lines: Readonly<Record<string, readonly string[]>> = {
    pipeline: ['validate', `./${argument}`],
    'files-root': ['validate', 'p.yaml', `--files-root=${argument}`],
    target: ['status', path.isAbsolute(argument) ? argument : `./${argument}`],
  };
  const { form } = input;
  // The root is the folder itself unless a flag says so: nothing above it has a `.git`.
  const line = lines[form] ?? ['plan', 'p.yaml', '--sandbox'];
  const shown = form === 'pipeline' && path.isAbsolute(argument) ? ['validate', argument] : line;
  return async () => {
    const { code, err } = await said(shown, cwd);
    if (code !== exitCodes.ok && code !== exitCodes.usage) throw new Broken(`The exit code is ${code}.`);
    return [`exit ${code}`, ...codesIn(err)];
  };
}

function template(): string {
  const base = path.join(temporary(), 'repository');
  if (existsSync(base)) return base;
  mkdirSync(base);
  writeFileSync(path.join(base, 'good.yaml'), good);
  const env = {
    PATH: process.env['PATH'],
    HOME: base,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_SYSTEM: '/dev/null',
  };
  const git = (...args: readonly string[]): void => {
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@a.example', ...args], {
      cwd: base,
      env,
      stdio: 'ignore',
    });
  };
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '-m', 'a');
  return base;
}

let repositories = 0;

export function gitRun(input: Input): Run {
  const cwd = path.join(temporary(), `git-${(repositories += 1)}`);
  const text = textOf(input);
  const none = ['file', 'folder', 'link-loop', 'link-dangling', 'pipe'];
  const whole = !none.includes(input.form);
  if (whole) cpSync(template(), cwd, { recursive: true });
  else mkdirSync(cwd);
  // Of the same size: git has to read it to see that it differs.
  writeFileSync(path.join(cwd, 'good.yaml'), good.replace('fox', 'cat'));
  const dot = path.join(cwd, '.git');
  const inside = (name: string): string => path.join(dot, name);
  switch (input.form) {
    case 'folder':
      mkdirSync(dot);
      writeFileSync(inside('HEAD'), text);
      break;
    case 'config':
    case 'attributes':
      writeFileSync(inside('config'), text, { flag: 'a' });
      writeFileSync(path.join(cwd, '.gitattributes'), '* filter=x\n');
      break;
    case 'work-tree-config':
      writeFileSync(inside('config'), '[extensions]\n\tworktreeConfig = true\n', { flag: 'a' });
      writeFileSync(inside('config.worktree'), text);
      writeFileSync(path.join(cwd, '.gitattributes'), '* filter=x\n');
      break;
    case 'included':
      writeFileSync(inside('config'), '[include]\n\tpath = ../more\n', { flag: 'a' });
      writeFileSync(path.join(cwd, 'more'), text);
      writeFileSync(path.join(cwd, '.gitattributes'), '* filter=x\n');
      break;
    case 'bare':
      cpSync(dot, cwd, { recursive: true });
      writeFileSync(path.join(cwd, 'config'), text, { flag: 'a' });
      writeFileSync(path.join(cwd, '.gitattributes'), '* filter=x\n');
      rmSync(dot, { recursive: true });
      break;
    case 'head':
      writeFileSync(inside('HEAD'), text);
      break;
    case 'index':
      writeFileSync(inside('index'), text);
      break;
    case 'head-pipe':
      rmSync(inside('HEAD'));
      makePipe(inside('HEAD'));
      break;
    case 'pipe':
      makePipe(dot);
      break;
    case 'link-loop':
      symlinkSync('.git', dot);
      break;
    case 'link-dangling':
      symlinkSync('nothing', dot);
      break;
    default:
      writeFileSync(dot, text);
  }
  return async () => {
    defaultFilesRoot(cwd);
    const facts = await gitFacts(cwd, { env: process.env });
    const { code } = await said(['validate', 'good.yaml'], cwd);
    const touched = existsSync(path.join(cwd, 'pwned')) || existsSync(inside('pwned'));
    rmSync(cwd, { recursive: true, force: true });
    if (touched) throw new Broken('A command that the repository names has been run.');
    if (facts === undefined) return [`exit ${code}`, 'no commit'];
    return [`exit ${code}`, facts.dirty === undefined ? 'not compared' : facts.dirty ? 'dirty' : 'clean'];
  };
}

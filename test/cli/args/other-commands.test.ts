import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { promptpress } from '../test-io.ts';

let cwd: string;
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'promptpress-'));
  await writeFile(join(cwd, 'foxes.yaml'), 'name: foxes\nsteps: { grid: { imagine: a fox } }\n');
  await writeFile(join(cwd, 'other.yaml'), 'name: other\nsteps: { grid: { imagine: an owl } }\n');
  await writeFile(join(cwd, 'notes.txt'), 'ideas: foxes\n');
  await writeFile(join(cwd, 'foxes.csv'), 'id,prompt\n1,a fox\n');
  await writeFile(join(cwd, 'rows.csv'), 'id,prompt\n1,a fox\n');
  await mkdir(join(cwd, 'tables'));
  await writeFile(
    join(cwd, 'tables', 'of-rows.yaml'),
    'name: of-rows\nmatrix: { rows: animals.csv }\nsteps: { grid: { imagine: "{{ prompt }}" } }\n',
  );
  await writeFile(join(cwd, 'tables', 'animals.csv'), 'id,prompt\n1,a fox\n');
  await writeFile(join(cwd, 'tables', 'another.yaml'), 'name: a\nsteps: { grid: { imagine: a fox } }\n');
  await mkdir(join(cwd, 'pictures'));
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

const refused = async (line: string): Promise<string> => {
  const { code, out, err } = await promptpress(line.split(' '), { cwd });
  expect([code, out]).toEqual([2, '']);
  return err;
};

describe('a command line without a command', () => {
  it.each([
    ['vaildate foxes.yaml', 'There is no command "vaildate".', 'promptpress validate foxes.yaml'],
    ['RUN foxes.yaml', 'Did you mean run?', 'promptpress run foxes.yaml'],
    ['foxes.yaml', '"foxes.yaml" is a file; the command before it is missing', 'promptpress run foxes.yaml'],
    ['foxes.yaml plan', 'is missing', 'promptpress plan foxes.yaml'],
    ['pictures', '"pictures" is a folder', 'promptpress ls pictures'],
    ['--sandbox foxes.yaml', '"--sandbox" is not a command.', 'promptpress run --sandbox foxes.yaml'],
    ['--sandbox run foxes.yaml', '"--sandbox" is not a command.', 'promptpress run --sandbox foxes.yaml'],
    ['--watch foxes.yaml', '--watch is a flag of status.', 'promptpress status --watch foxes.yaml'],
    ['help statsu', 'Did you mean status?', 'promptpress help status'],
    ['help --watch', '--watch is a flag of status.', 'promptpress help status'],
  ])('%s is refused with the one that was meant', async (line, message, write) => {
    const err = await refused(line);
    expect(err).toContain(message);
    expect(err).toContain(`\n  Write: ${write}\n`);
  });
});

describe('a flag that a command does not have', () => {
  it.each([
    ['run foxes.yaml --sanbox', 'Did you mean --sandbox?', 'Write: promptpress run foxes.yaml --sandbox'],
    ['run foxes.yaml -sandbox', 'begins with two hyphens', 'Write: promptpress run foxes.yaml --sandbox'],
    ['run foxes.yaml -out=x', 'begins with two hyphens', 'Write: promptpress run foxes.yaml --out x'],
    [
      'run foxes.yaml --max_submits 5',
      'Did you mean --max-submits?',
      'Write: promptpress run foxes.yaml --max-submits 5',
    ],
    [
      'plan foxes.yaml --max-submits 5',
      'promptpress plan has no flag --max-submits.\n  --max-submits is a flag of run.',
      'For example: promptpress run foxes.yaml --max-submits 5',
    ],
    [
      'validate foxes.yaml --pace 0',
      '--pace is a flag of run, sandbox.',
      'For example: promptpress run foxes.yaml --pace 0',
    ],
    [
      'validate foxes.yaml --sandbox',
      'To rehearse the pipeline: promptpress run foxes.yaml --sandbox\n',
      'Write: promptpress validate foxes.yaml\n',
    ],
    ['ls --nonsense', 'no flag --nonsense', 'promptpress help ls lists the flags of ls.'],
  ])('%s is refused with what to write', async (line, message, write) => {
    const err = await refused(line);
    expect(err).toContain(message);
    expect(err).toContain(`  ${write}`);
  });
});

describe('a value that a flag does not take', () => {
  it.each([
    ['run foxes.yaml --limit', '--limit needs a value', 'For example: promptpress run foxes.yaml --limit 3'],
    [
      'run foxes.yaml --out --sandbox',
      'The flag --sandbox follows it.',
      'For example: promptpress run foxes.yaml --out runs/second --sandbox',
    ],
    ['run foxes.yaml --sandbox=yes', 'takes no value', 'Write: promptpress run foxes.yaml --sandbox'],
    ['run foxes.yaml --sandbox=false', 'takes no value', 'Write: promptpress run foxes.yaml'],
    [
      'plan foxes.yaml --limit 0',
      'Without --limit all',
      'For example: promptpress plan foxes.yaml --limit 3',
    ],
    [
      'run foxes.yaml --max-duration=30',
      '30s (seconds)',
      'For example: promptpress run foxes.yaml --max-duration 30m',
    ],
    [
      'run foxes.yaml --speed turob',
      'Did you mean turbo?',
      'Write: promptpress run foxes.yaml --speed turbo',
    ],
    ['run foxes.yaml --pace 2x', 'a factor', 'Write: promptpress run foxes.yaml --pace 0.5'],
    ['run foxes.yaml --pace 2', 'not a rehearsal', 'Write: promptpress run foxes.yaml --pace 2 --sandbox'],
    ['plan foxes.yaml --shard 1of4', '--shard takes I/N', 'Write: promptpress plan foxes.yaml --shard 1/4'],
    ['plan foxes.yaml --shard 5/4', 'The parts of 4 are 1/4 to 4/4.', 'For example: promptpress plan'],
    ['plan foxes.yaml --set a:x', 'takes AXIS=VALUE', 'Write: promptpress plan foxes.yaml --set a=x'],
    ['run foxes.yaml --fault network', 'Faults: ', 'run foxes.yaml --fault fetch:latency=300ms'],
    ['run foxes.yaml --fault fech:html', 'no such route', 'run foxes.yaml --fault fetch:latency=300ms'],
    ['resolve abcd --drop --retry', '--drop and --retry contradict', 'promptpress resolve abcd --drop\n'],
    ['run foxes.yaml --dotenv .env', 'there is no file .env.', 'Write: promptpress run foxes.yaml\n'],
    [
      'run foxes.yaml --base-url gateway.example',
      'It comes from --base-url.',
      'Write: promptpress run foxes.yaml --base-url https://gateway.example',
    ],
    [
      'run foxes.yaml --sandbox --out notes.txt',
      'notes.txt cannot be the run directory: it is a file.',
      'For example: promptpress run foxes.yaml --sandbox --out runs/second',
    ],
  ])('%s is refused with one that it takes', async (line, message, write) => {
    const err = await refused(line);
    expect(err).toContain(message);
    expect(err).toContain(write);
  });
});

it('without a key, the refusal names the variable and the default that asks for it', async () => {
  const args = ['run', 'foxes.yaml', '--base-url', 'https://gateway.invalid'];
  const { code, err } = await promptpress(args, { cwd });
  expect(code).toBe(2);
  expect(err).toContain('The environment variable PROMPTPRESS_API_KEY is not set');
  expect(err).toContain('service.apiKey, which foxes.yaml leaves at its default of ${PROMPTPRESS_API_KEY},');
});

describe('a word that is not a pipeline file', () => {
  it.each([
    ['validate foxes.yml', 'There is no file foxes.yml.', 'Write: promptpress validate foxes.yaml'],
    ['validate foxs.yaml', 'Did you mean foxes.yaml?', 'Write: promptpress validate foxes.yaml'],
    ['run pictures', 'pictures is a folder', 'For example: promptpress run foxes.yaml'],
    ['validate notes.txt', 'notes.txt is not a pipeline', 'For example: promptpress validate foxes.yaml'],
    ['run foxes.csv', 'matrix: { rows: foxes.csv }', 'Write: promptpress run foxes.yaml'],
    ['run rows.csv', 'rows.csv is a table', 'For example: promptpress run foxes.yaml'],
    ['run tables/animals.csv', 'Did you mean tables/of-rows.yaml?', 'promptpress run tables/of-rows.yaml'],
    ['run --sandbox', 'Found: foxes.yaml, other.yaml.', 'Write: promptpress run foxes.yaml --sandbox'],
    [
      'run foxes.yaml other.yaml --sandbox',
      'a second command for other.yaml: promptpress run other.yaml --sandbox',
      'Write: promptpress run foxes.yaml --sandbox',
    ],
    ['status ..', `There is no run in ${tmpdir()}.`, 'promptpress ls'],
    ['status other.yaml', 'There is no run in runs/other.', 'started by: promptpress run other.yaml'],
  ])('%s is refused with the name of one', async (line, message, write) => {
    const err = await refused(line);
    expect(err).toContain(message);
    expect(err).toContain(write);
  });
});

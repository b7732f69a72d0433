import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { exitCodes } from '../../src/app/errors/cli-error.ts';
import { manifestColumns } from '../../src/manifest/columns.ts';
import { midjourneyProxyNames } from '../../src/sandbox/names.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { promptpress } from '../cli/test-io.ts';
import { cli, commandFile, startCli, temporaryFolder } from '../rig/cli.ts';
import { pipelineExamples, readDocuments, repository } from '../rig/documents.ts';
import { type FakeService, startFakeService } from '../rig/fake-service.ts';
import { byStatus, type ManifestRow, readManifest } from '../rig/manifest.ts';
import { useQuickSandbox } from '../rig/quick-sandbox.ts';
import { startFakeS3 } from '../rig/s3/fake-s3.ts';
import { DocumentBlocks, shell } from './document-blocks.ts';
import { oneStep, quick, write } from './pipelines.ts';

useQuickSandbox();

const documents = readDocuments();
const textOf = (path: string): string => documents.find((one) => one.path === path)?.text ?? '';
// test/e2e/unattended.test.ts takes those of the recipes, test/e2e/engine/machines.test.ts those of several machines.
const elsewhere = ['pipelines/unattended.md', 'pipelines/machines.md'];
const blocks = new DocumentBlocks(documents.filter(({ path }) => !elsewhere.includes(path)));
blocks.takeAll('yaml');
const examples = pipelineExamples(documents);
const example = (name: string): string => examples.get(name) ?? '';
const apiKey = 'test-key';

/** Runs `script` in a temporary folder against a gateway that answers at once. */
async function withGateway<T>(
  run: (
    folder: string,
    env: Record<string, string>,
    service: Awaited<ReturnType<typeof startFakeService>>,
  ) => Promise<T>,
): Promise<T> {
  const service = await startFakeService();
  await using folder = await temporaryFolder();
  try {
    return await run(
      folder.path,
      { PROMPTPRESS_BASE_URL: service.url, PROMPTPRESS_API_KEY: service.apiKey },
      service,
    );
  } finally {
    await service.close();
  }
}

describe('the pipelines in the documents', () => {
  const diagram = blocks.take('pipelines/README.md', 'text', 'best: U{{ steps.pick.json.best }}');
  let sandbox: Sandbox;
  let otherNames: Sandbox;
  /** For 36 pictures: of the same steps, in pipelines/foxes.yaml, the sandbox draws them (test/cli/commands/examples.test.ts). */
  let undrawn: FakeService;
  const rows = new Map<string, readonly ManifestRow[]>();
  beforeAll(async () => {
    const settings = { pace: 0, pixels: 64 };
    undrawn = await startFakeService({ apiKey });
    sandbox = await startSandbox({ apiKey, settings });
    const names = { ...midjourneyProxyNames, keyHeader: 'x-api-key' };
    otherNames = await startSandbox({ apiKey, settings, names });
  });
  afterAll(async () => {
    for (const service of [sandbox, otherNames, undrawn]) await service.close();
  });

  it.each([...examples.keys()])(
    '%s is valid, and every slot of it is done',
    async (name) => {
      await using folder = await temporaryFolder();
      const album = join(repository, 'pipelines/data/album');
      await cp(album, join(folder.path, 'data/album'), { recursive: true });
      await cp(album, join(folder.path, 'shots'), { recursive: true });
      const yaml = example(name);
      await write(folder.path, {
        'example.yaml': /^poll:/m.test(yaml) ? yaml : `${yaml}poll: { min: 5ms, max: 50ms }\n`,
        'data/prompts.csv': 'prompt\na fox\nan owl\n',
      });
      const valid = await promptpress(['validate', 'example.yaml'], { cwd: folder.path });
      expect(valid.code, valid.err).toBe(0);
      const { url: base } = name === 'hello' ? undrawn : name === 'other-names' ? otherNames : sandbox;
      const env = { PROMPTPRESS_BASE_URL: base, PROMPTPRESS_API_KEY: apiKey };
      const run = await promptpress(['run', 'example.yaml'], { cwd: folder.path, env });
      expect(run.code, run.err).toBe(0);
      rows.set(name, await readManifest(join(folder.path, `runs/${name}/manifest.csv`)));
      expect(Object.keys(byStatus(rows.get(name) ?? []))).toEqual(['done']);
    },
    120_000,
  );

  it('hello has the 36 jobs that the README counts', () => {
    expect(textOf('README.md')).toContain('4 grids, 16 upscales and 16 variations: 36 jobs');
    const jobs = new Set(rows.get('hello')?.map(({ job }) => job));
    const branches = rows
      .get('hello')
      ?.map(({ branch = '' }) => branch.split('/').length * Number(branch !== ''));
    expect(jobs.size).toBe(36);
    expect([0, 1, 2].map((depth) => branches?.filter((one) => one === depth).length)).toEqual([4, 16, 16]);
  });

  it('short and long ask for the same jobs', () => {
    const keys = (name: string) => rows.get(name)?.map(({ job }) => job);
    expect(keys('short')).toHaveLength(3);
    expect(keys('short')).toEqual(keys('long'));
  });

  it('judged presses the button that its model names', () => {
    const judged = rows.get('judged') ?? [];
    expect(judged.map(({ step }) => step)).toEqual(['grid', 'pick', 'best', 'why', 'title']);
    const [, pick, best, why, title] = judged;
    const { best: number } = JSON.parse(pick?.['text'] ?? '') as { best: number };
    expect(best?.['button']).toBe(`U${number}`);
    expect([why?.['text'], title?.['text']]).not.toContain('');
  });

  it('judged has the steps of its diagram', () => {
    const { steps } = parse(example('judged')) as { steps: Record<string, { click?: string }> };
    const named = [...diagram.matchAll(/(?:^|▶ )(\w+)/gm)].map(([, name]) => name);
    expect(new Set(named)).toEqual(new Set(Object.keys(steps)));
    expect(diagram).toContain(`best: ${steps['best']?.click}`);
  });

  it('album and shots begin from files, so that they can be rehearsed without a network', () => {
    expect(example('album') + example('shots')).not.toContain('://');
    expect(rows.get('shots')?.map((row) => row['var.name'])).toEqual(['balloon', 'fox', 'lighthouse']);
  });
});

describe.concurrent('the commands in the README', () => {
  const link = blocks.take('README.md', 'sh', 'npm link');
  const nightly = blocks.take('README.md', 'cron', 'promptpress run tonight.yaml');
  const rehearse = blocks.take('README.md', 'sh', 'promptpress init my-set');
  const real = blocks.take('README.md', 'sh', 'export PROMPTPRESS_BASE_URL');
  const commands = blocks.take('README.md', 'sh', 'npm ci && npm start').trim();
  it('install and start: CI begins with them, in a fresh clone', () => {
    const [first] = readFileSync(join(repository, '.ci/run'), 'utf8').matchAll(/^(?:npm .*)$/gm);
    expect(first?.[0]).toBe(commands);
  });

  it('link the command', async () => {
    await using folder = await temporaryFolder();
    const { name, version, type, bin } = JSON.parse(
      readFileSync(join(repository, 'package.json'), 'utf8'),
    ) as Record<string, unknown>;
    await write(folder.path, {
      'package.json': JSON.stringify({ name, version, type, bin }),
      'dist/cli/main.js': `#!/usr/bin/env node\nimport(${JSON.stringify(pathToFileURL(commandFile).href)});\n`,
    });
    const script = link.replaceAll('promptpress', './prefix/bin/promptpress');
    const env = { npm_config_prefix: join(folder.path, 'prefix'), npm_config_offline: 'true' };
    const { code, stdout, stderr } = await shell(script, folder.path, env);
    expect(code, stderr).toBe(0);
    expect(stdout).toContain('Usage: promptpress COMMAND');
  }, 60_000);

  it('make a first pipeline and rehearse it, then run it on a gateway', async () => {
    await withGateway(async (folder, env, service) => {
      const first = await shell(rehearse, folder);
      expect(first.code, first.stderr).toBe(0);
      const rehearsed = await readManifest(join(folder, 'my-set/runs/first.sandbox/manifest.csv'));
      expect(byStatus(rehearsed)).toEqual({ done: 12 });

      const script = real
        .replace('https://gateway.example', env['PROMPTPRESS_BASE_URL'] ?? '')
        .replace('your-key', env['PROMPTPRESS_API_KEY'] ?? '');
      const second = await shell(script, join(folder, 'my-set'));
      expect(second.code, second.stderr).toBe(exitCodes.budget);
      expect(service.submits.all).toHaveLength(10);
    });
  }, 180_000);

  const inDoubt = blocks.take('README.md', 'sh', 'promptpress resolve').trim().split('\n');
  it.each([
    { word: ' show ', says: 'picture number 1', exit: exitCodes.inDoubt, submits: 1 },
    { word: '--in-doubt find', says: '', exit: exitCodes.ok, submits: 1 },
    { word: '--task', says: '', exit: exitCodes.ok, submits: 1 },
    { word: '--retry', says: '', exit: exitCodes.ok, submits: 2 },
    { word: '--drop', says: '', exit: exitCodes.failed, submits: 1 },
    { word: '--in-doubt retry', says: '', exit: exitCodes.ok, submits: 2 },
  ])(
    'settle a job in doubt: $word, and the next run exits with $exit',
    async (one) => {
      expect(inDoubt).toHaveLength(6);
      const [line = '', ...others] = inDoubt.filter((command) => command.includes(one.word));
      expect(others).toEqual([]);
      await withGateway(async (folder, env, service) => {
        await write(folder, { 'set.yaml': oneStep(1) });
        service.fault('imagine', { reset: 'after' }, { times: 1 });
        const first = await promptpress(['run', 'set.yaml'], { cwd: folder, env });
        expect(first.code, first.err).toBe(exitCodes.inDoubt);
        const [{ job = '' } = {}] = await readManifest(join(folder, 'runs/one/manifest.csv'));
        const task = service.submits.all[0]?.task.id ?? '';
        const script = line.replace('3f9c21', job.slice(0, 8)).replace('17620001', task);
        const { code, stdout, stderr } = await shell(script, folder, env);
        expect(code, stderr).toBe(0);
        expect(stdout).toContain(one.says);
        const next = await promptpress(['run', 'set.yaml'], { cwd: folder, env });
        expect(next.code, next.err).toBe(one.exit);
        expect(service.submits.all).toHaveLength(one.submits);
      });
    },
    60_000,
  );

  it('run every night from cron, and send no mail when all is done', async () => {
    const [, command = ''] = /^(?:[\d*,/-]+ ){5} *(.+)\n$/.exec(nightly) ?? [];
    await withGateway(async (folder, env) => {
      await write(folder, { 'tonight.yaml': oneStep(3) });
      const { code, stdout, stderr } = await shell(command.replace('/srv/sets', folder), folder, env);
      expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: '' });
      expect(byStatus(await readManifest(join(folder, 'runs/one/manifest.csv')))).toEqual({ done: 3 });
    });
  }, 60_000);
});

describe.concurrent('the programs in the documents', () => {
  it.each([
    {
      document: 'README.md',
      program: blocks.take('README.md', 'ts', 'runPipeline'),
      prints: /^\{ animal: 'fox' \} done\n\{ animal: 'owl' \} done\ncomplete\n$/,
    },
    {
      document: 'src/sandbox/README.md',
      program: blocks.take('src/sandbox/README.md', 'ts', 'startSandbox'),
      prints: /^http:\/\/127\.0\.0\.1:\d+\n$/,
    },
  ])(
    '$document: the program prints its result',
    async ({ program, prints }) => {
      await using folder = await temporaryFolder();
      const library = new URL('../index.js', pathToFileURL(commandFile)).href;
      await write(folder.path, { 'program.mjs': program.replace("'promptpress'", JSON.stringify(library)) });
      const { code, stdout, stderr } = await shell(`'${process.execPath}' program.mjs`, folder.path);
      expect(code, stderr).toBe(0);
      expect(stdout).toMatch(prints);
      await writeFile(join(folder.path, 'program.mts'), program);
      expect(await typeErrors(folder.path, 'program.mts')).toBe('');
      await writeFile(
        join(folder.path, 'wrong.mts'),
        program.replace(/console\.log\((\w+)/, 'console.log($1.nobody, $1'),
      );
      expect(await typeErrors(folder.path, 'wrong.mts')).toContain("'nobody' does not exist");
    },
    60_000,
  );
});

/** What strict TypeScript says of a program that uses the package as it is installed, its declarations included. */
async function typeErrors(folder: string, file: string): Promise<string> {
  await mkdir(join(folder, 'node_modules/@types'), { recursive: true });
  const packages = [
    [join(dirname(commandFile), '../..'), 'promptpress'],
    [join(repository, 'node_modules/@types/node'), '@types/node'],
  ] as const;
  for (const [from, name] of packages)
    await symlink(from, join(folder, 'node_modules', name)).catch(() => {});
  const flags =
    '--noEmit --strict --exactOptionalPropertyTypes --module nodenext --target es2023 --types node';
  const tsc = join(repository, 'node_modules/.bin/tsc');
  return (await shell(`'${tsc}' ${flags} ${file} || true`, folder)).stdout;
}

describe.concurrent('the commands in the other documents', () => {
  const [rehearse = '', serve = ''] = blocks
    .take('src/sandbox/README.md', 'sh', '--sandbox')
    .trim()
    .split('\n');
  const checks = blocks.take('CONTRIBUTING.md', 'sh', 'npm cit');
  const background = blocks.take('schemas/README.md', 'sh', 'setsid');
  const printed = blocks.take('schemas/README.md', 'json', '"cell"');
  const replaced = blocks.take('pipelines/README.md', 'sh', '--set animal=lynx');
  it('pipelines/README.md: replace axes, each time in a directory of its own', async () => {
    await using folder = await temporaryFolder();
    await write(folder.path, {
      'foxes.yaml':
        'name: foxes\nmatrix: { animal: [fox, owl], seed: [1] }\nsteps: { grid: { imagine: "{{ animal }} --seed {{ seed }}" } }\n',
    });
    const { code, stderr } = await shell(replaced, folder.path);
    expect(code, stderr).toBe(0);
    const cells = async (name: string) =>
      (await readManifest(join(folder.path, 'runs', name, 'manifest.csv'))).map(
        (row) => `${row['var.animal']} ${row['var.seed']}`,
      );
    expect(await cells('lynx')).toEqual(['lynx 1']);
    expect(await cells('more')).toEqual(['lynx 7', 'hare 7']);
  }, 60_000);

  it('src/sandbox/README.md: rehearse a pipeline, and serve programs', async () => {
    await using folder = await temporaryFolder();
    await write(folder.path, { 'pipeline.yaml': oneStep(1) });
    const { code, stderr } = await shell(rehearse, folder.path);
    expect(code, stderr).toBe(0);
    const [, ...args] = serve.replace(/--port \d+/, '--port 0').split(' ');
    const running = startCli(args, { cwd: folder.path });
    const line = await new Promise<string>((resolve) => {
      running.child.stdout?.once('data', (text: string) => resolve(text));
      void running.done.then(({ stderr: said }) => resolve(said));
    });
    running.child.kill('SIGINT');
    await running.done;
    expect(line).toMatch(/^http:\/\/127\.0\.0\.1:\d+/);
  }, 60_000);

  it('schemas/README.md: start a run that no terminal can end', async () => {
    await withGateway(async (folder, env) => {
      await write(folder, { 'set.yaml': oneStep(1) });
      const stubs = { 'systemd-run': 'shift; exec "$@"', setsid: 'exec "$@"' };
      const { code, stderr } = await shell(`${background}wait $!\n`, folder, env, stubs);
      expect(code, stderr).toBe(0);
      expect(readFileSync(join(folder, 'run.txt'), 'utf8')).toContain('complete');
    });
  }, 60_000);

  it('schemas/README.md: print the cells of a plan', async () => {
    await using folder = await temporaryFolder();
    await write(folder.path, { 'hello.yaml': example('hello') });
    const { stdout } = await cli(['plan', 'hello.yaml', '--cells'], { cwd: folder.path });
    expect(JSON.parse(stdout.split('\n')[0] ?? '')).toEqual(JSON.parse(printed));
  });

  it('CONTRIBUTING.md: install, start, test and check', () => {
    const { scripts } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    expect(checks.match(/^npm (?:ci|cit|run check)\b/gm)).toHaveLength(3);
    const named = documents.flatMap(({ text }) => [...text.matchAll(/\bnpm run ([a-z]+)/g)]);
    for (const [, script = ''] of named) expect(Object.keys(scripts)).toContain(script);
  });
});

describe('the reading order in CONTRIBUTING.md', () => {
  const lines = blocks.take('CONTRIBUTING.md', 'text', 'parse → yaml/').trim().split('\n');
  it.each(lines)('names files and folders that exist: %s', (line) => {
    const [, room = '', rest = ''] = /^(\w+) +(.*)$/.exec(line) ?? [];
    const names = rest.split(/ → |, | {2,}(?:over|beside \w+) /).map((name) => name.trim());
    expect(names.length).toBeGreaterThan(1);
    const missing = names.filter(
      (name) => !existsSync(join(repository, 'src', room, name.endsWith('/') ? name : `${name}.ts`)),
    );
    expect(missing).toEqual([]);
  });
});

describe('the run directory in schemas/README.md', () => {
  const tree = blocks.take('schemas/README.md', 'text', 'manifest.csv');
  it('has the files of a rehearsal and its report, and no other', async () => {
    const listed = [...tree.matchAll(/^ {2}([\w.]+)/gm)].map(([, name = '']) => name);
    await using folder = await temporaryFolder();
    await write(folder.path, {
      'set.yaml': `name: set\n${quick}matrix: { rows: t.csv }\nsteps:\n  grid: { imagine: "{{ a }}" }\n  words: { chat: { model: chat-mini, prompt: Hello } }\n`,
      't.csv': 'a\na fox\n',
    });
    const run = await promptpress(['run', 'set.yaml', '--sandbox'], { cwd: folder.path });
    expect(run.code, run.err).toBe(0);
    const report = await promptpress(['report', 'set.yaml', '--sandbox'], { cwd: folder.path });
    expect(report.code, report.err).toBe(0);
    const made = await readdir(join(folder.path, 'runs/set.sandbox'));
    // The state's log of changes and its index are named beside it; a run without a video has no folder for one.
    const unexplained = made.filter(
      (name) => !listed.includes(name.replace(/^state\.db-(?:wal|shm)$/, 'state.db')),
    );
    expect(unexplained).toEqual([]);
    expect(new Set(listed.filter((name) => name !== 'video' && !made.includes(name)))).toEqual(new Set());
    for (const folderName of ['images', 'video', 'replies']) expect(listed).toContain(folderName);
  }, 60_000);

  it('has the columns of the manifest, in their order', () => {
    const [, table = ''] =
      /^\| column .*\n\|---\|---\|\n((?:\|.*\n)+)/m.exec(textOf('schemas/README.md')) ?? [];
    const named = table.split('\n').flatMap((row) => [...(row.split(' | ')[0] ?? '').matchAll(/`([^`]+)`/g)]);
    expect(named.map(([, column]) => column)).toEqual([...manifestColumns, 'var.<name>']);
  });
});

it('forwards with ssh the very port that serve listens on', async () => {
  const command = blocks.take('schemas/README.md', 'sh', 'ssh -L').trim();
  const [, here, host, there, served = ''] =
    /^ssh -L (\d+):([\d.]+):(\d+) host promptpress (.+)$/.exec(command) ?? [];
  expect([host, there]).toEqual(['127.0.0.1', here]);
  expect(served).toMatch(new RegExp(`^serve \\S+ --port ${there}$`));
  await using folder = await temporaryFolder();
  const { code, err } = await promptpress(served.split(' '), { cwd: folder.path });
  // The flags are those of the command; only the run is not there.
  expect([code, err]).toEqual([2, expect.stringContaining('runs/foxes')]);
});

it('schemas/README.md: put the files of a run into a bucket', async () => {
  const script = blocks.take('schemas/README.md', 'sh', 'AWS_ENDPOINT_URL_S3');
  await using fake = await startFakeS3({ bucket: 'bucket' });
  await withGateway(async (folder, env) => {
    await write(folder, { 'foxes.yaml': oneStep(1) });
    const values: Readonly<Record<string, string>> = fake.env;
    const filled = script.replaceAll(/(AWS_\w+)=\S+/g, (_, name: string) => `${name}='${values[name]}'`);
    const { code, stderr } = await shell(filled, folder, env);
    expect(code, stderr).toBe(0);
    expect([...fake.objects.keys()].sort()).toEqual([
      'sets/foxes/.promptpress.json',
      expect.stringMatching(/^sets\/foxes\/images\//),
      'sets/foxes/manifest.csv',
      'sets/foxes/run.json',
    ]);
  });
}, 60_000);

it('runs every code block of every document', () => {
  // test/e2e/engine/machines.test.ts carries these two out.
  blocks.take('README.md', 'sql', 'CREATE DATABASE');
  blocks.take('README.md', 'sh', 'promptpress worker');
  expect(blocks.left()).toEqual([]);
});

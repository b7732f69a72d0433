import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allCommands } from '../../src/cli/program.ts';
import { type CliResult, startCli, temporaryFolder } from '../rig/cli.ts';
import { startFakeService } from '../rig/fake-service.ts';
import { readManifest } from '../rig/manifest.ts';
import { makePng } from '../rig/png.ts';
import { write } from './pipelines.ts';

/** No native part of sharp can be loaded: each is refused with such an error. */
const refusing = (code: string, message: string): string =>
  `data:text/javascript,${encodeURIComponent(`
import Module from 'node:module';
const resolve = Module._resolveFilename;
Module._resolveFilename = function (request, ...rest) {
  if (/^@img.sharp-/.test(request)) throw Object.assign(new Error(${JSON.stringify(message)}), { code: ${JSON.stringify(code)} });
  return resolve.call(this, request, ...rest);
};`)}`;

/** As after `npm install --omit=optional`. */
const withoutNative = refusing('MODULE_NOT_FOUND', 'Cannot find module');

const files = {
  'words.yaml': 'name: words\nsteps: { say: { generate: { model: text-pro, prompt: hello } } }\n',
  'foxes.yaml':
    'name: foxes\nservice: { id: fake }\npoll: { min: 5ms, max: 10ms }\nsteps: { grid: { imagine: a fox } }\n',
  'frames.yaml':
    'name: frames\nservice: { id: fake }\npoll: { min: 5ms, max: 10ms }\nsteps: { grid: { imagine: a fox, grid: split } }\n',
  'masked.yaml':
    'name: masked\nservice: { id: fake }\nsteps: { grid: { edit: { image: a.png, prompt: a hat, mask: { shapes: [{ rectangle: [0, 0, 1, 1] }] } } } }\n',
  'looks.yaml':
    'name: looks\nsteps: { say: { generate: { model: text-pro, prompt: hello, images: [a.png] } } }\n',
};

const sentence =
  'Images can be neither drawn nor decoded here: the native part of the package sharp is not installed.';

describe('without the native part of sharp', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let service: Awaited<ReturnType<typeof startFakeService>>;
  beforeAll(async () => {
    folder = await temporaryFolder();
    service = await startFakeService();
    await write(folder.path, files);
    await writeFile(join(folder.path, 'a.png'), makePng(7));
  });
  afterAll(async () => {
    await service.close();
    await folder[Symbol.asyncDispose]();
  });

  const start = (args: readonly string[], preload = withoutNative) =>
    startCli(args, {
      cwd: folder.path,
      env: { PROMPTPRESS_BASE_URL: service.url, PROMPTPRESS_API_KEY: service.apiKey },
      nodeFlags: ['--import', preload],
    });
  const run = (...args: string[]): Promise<CliResult> => start(args).done;

  it('runs images that are only downloaded, and rehearses texts', async () => {
    const images = await run('run', 'foxes.yaml');
    expect([images.code, images.stderr]).toEqual([0, expect.not.stringContaining('sharp')]);
    const texts = await run('run', 'words.yaml', '--sandbox', '--pace', '0');
    expect([texts.code, texts.stderr]).toEqual([0, expect.not.stringContaining('sharp')]);
  });

  it('has every command say what it has to say', async () => {
    await run('run', 'foxes.yaml');
    const [row] = await readManifest(join(folder.path, 'runs/foxes/manifest.csv'));
    const key = row?.['job'] ?? '';
    const cases: Readonly<Record<string, readonly [args: readonly string[], code: number]>> = {
      init: [['made'], 0],
      validate: [['foxes.yaml'], 0],
      plan: [['foxes.yaml'], 0],
      run: [['foxes.yaml'], 0],
      worker: [['--engine', 'postgres://127.0.0.1:1/none'], 2],
      stop: [['runs/foxes'], 2],
      status: [['foxes.yaml'], 0],
      ls: [[], 0],
      show: [[key, 'runs/foxes'], 0],
      resolve: [[key, 'runs/foxes', '--drop'], 2],
      manifest: [['runs/foxes'], 0],
      report: [['foxes.yaml'], 0],
      verify: [['runs/foxes'], 0],
      clean: [['runs/foxes'], 0],
      merge: [['foxes.yaml'], 2],
      export: [['runs/foxes', '--format', 'imagefolder', '--to', 'set'], 0],
      trust: [['runs/foxes'], 2],
      models: [['--sandbox'], 0],
      completion: [['bash'], 0],
      rm: [['runs/foxes'], 2],
    };
    const names = (await allCommands()).map(({ name }) => name);
    expect(Object.keys(cases).toSorted()).toEqual(
      names.filter((name) => name !== 'serve' && name !== 'sandbox').toSorted(),
    );
    const ended: Record<string, unknown> = {};
    for (const [name, [args]] of Object.entries(cases)) {
      const { code, stderr } = await run(name, ...args);
      ended[name] = stderr.includes('Internal error') || code === undefined ? stderr : code;
    }
    expect(ended).toEqual(Object.fromEntries(Object.entries(cases).map(([name, [, code]]) => [name, code])));
  }, 180_000);

  it.each([['rnu'], ['help'], ['--help'], ['serve', '--help'], ['run', '--frobnicate']])(
    'knows the words of a command line: %j %s',
    async (...args) => {
      const { code, stderr } = await run(...args);
      expect(stderr).not.toContain('Internal error');
      expect(code).toBe(args.some((word) => word.includes('help')) ? 0 : 2);
    },
  );

  it('says of a report how many images have no thumbnail, and why', async () => {
    await run('run', 'foxes.yaml');
    const { code, stdout, stderr } = await run('report', 'foxes.yaml');
    expect([code, stdout + stderr]).toEqual([
      0,
      expect.stringContaining('Images without a thumbnail: 1 because sharp is not installed'),
    ]);
  });

  it.each([
    ['a grid that is cut', ['run', 'frames.yaml']],
    ['a mask that is drawn', ['run', 'masked.yaml']],
    ['a rehearsal that draws', ['run', 'foxes.yaml', '--sandbox']],
    ['a rehearsal that looks at images', ['run', 'looks.yaml', '--sandbox']],
  ])('refuses %s before anything is paid: exit 2', async (_what, args) => {
    const before = service.requests.length;
    const { code, stderr } = await run(...args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`promptpress: ${sentence}`)]);
    expect(stderr).toContain('npm install --include=optional sharp');
    expect(service.requests.length).toBe(before);
  });

  it('says why a native part that is there cannot be loaded', async () => {
    // nxzai/NextExplorer 241: an old processor.
    const why = 'Prebuilt binaries for Linux x64 require v2 microarchitecture';
    const { code, stderr } = await start(['run', 'frames.yaml'], refusing('Unsupported CPU', why)).done;
    expect([code, stderr]).toEqual([2, expect.stringContaining(`cannot be loaded (Unsupported CPU: ${why}`)]);
    expect(stderr).toContain('npm install @img/sharp-wasm32');
  });

  it('warns of a sandbox that it serves texts alone', async () => {
    const sandbox = start(['sandbox']);
    await sandbox.said(sentence);
    sandbox.child.kill('SIGTERM');
    expect((await sandbox.done).code).toBe(0);
  });
});

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { promptpress } from '../cli/test-io.ts';
import { readManifest } from '../rig/manifest.ts';
import { hasPostgres, testDatabase } from '../rig/postgres.ts';
import { quick, write } from './pipelines.ts';

const imageOf = (prompt: string): string => `grid: { imagine: "${prompt}", path: U1 }`;
const mask = 'mask: { shapes: [{ ellipse: [0.2, 0.2, 0.5, 0.5] }] }';

/** The steps of each pipeline, and what stands beside them. Every kind of step, and every way in which results depend on each other. */
const pipelines: Readonly<Record<string, readonly [steps: string, more?: string]>> = {
  imagine: [
    'grid: { imagine: { prompt: "{{ animal }} in {{ medium.name }} --v 6.1", accountFilter: { modes: [FAST] } }, path: "U1,U2" }',
    'matrix: { animal: [fox, owl], medium: [{ name: ink, cost: 1 }, { name: oil, cost: 2.50 }] }\nprices: { imagine: 0.1, click: 0.02 }',
  ],
  click: [
    `grid: { imagine: a heron --v 6.1, path: "U1 → Upscale (Subtle) | Upscale (2x)" }
  other: { from: grid, click: V2, remix: true, prompt: a heron in the rain }`,
  ],
  modal: [
    `${imageOf('a hare --v 6.1')}
  scarf: { from: grid/U1, click: Vary (Region), prompt: "a {{ color }} scarf", ${mask} }
  wide: { from: grid/U1, click: Custom Zoom, prompt: "a hare --zoom 1.5 --ar 1:1" }`,
    'matrix: { color: [red, blue] }',
  ],
  blend: [
    `grid: { imagine: "{{ animal }} on a hill", path: "U1,U2" }
  mix: { gather: "grid/*", blend: { dimensions: square } }`,
    'matrix: { animal: [ram, ewe] }',
  ],
  describe: [
    `${imageOf('a newt on a stone')}
  words: { from: grid/U1, describe: { image: parent } }
  drawn: { imagine: "{{ steps.words.prompts[1] }}" }`,
  ],
  shorten: [
    `less: { shorten: "an {{ medium }} drawing of a small red fox in the very deep snow --v 6.1", path: prompt 3 }
  drawn: { from: less, imagine: "{{ steps.less.prompts[1] }}" }`,
    'matrix: { medium: [ink, oil] }\nprices: { shorten: 0.01, imagine: 0.1, click: 0.02 }',
  ],
  video: [
    `${imageOf('a boat on a lake --v 7')}
  film: { from: grid/U1, video: { image: parent, motion: low, prompt: it drifts, batchSize: 1 } }`,
  ],
  edit: [
    `${imageOf('a seal on ice')}
  patched: { from: grid/U1, edit: { image: parent, prompt: a blue hat, ${mask} } }`,
  ],
  generate: [
    `fact: { generate: { model: text-pro, system: Be brief., prompt: "What does a {{ animal }} eat?", thinking: low, functions: { look: { description: Looks it up, answer: { eats: berries } } } } }
  more: { from: fact, generate: { model: text-pro, prompt: Where?, continue: fact, stream: true } }
  tags: { generate: { model: text-pro, prompt: "Tags of a {{ animal }}", responseSchema: { type: object, properties: { tags: { type: array, items: { type: string }, minItems: 2, maxItems: 2 } }, required: [tags] } } }`,
    'matrix: { animal: [bear, wren] }\nprices: { text-pro: { input: 1.25, output: 10 } }',
  ],
  chat: [
    `title: { chat: { model: chat-mini, temperature: 0.2, prompt: "A title for the {{ animal }}" } }
  german: { chat: { model: chat-mini, messages: [{ role: system, content: Translate. }, { role: user, content: "{{ steps.title.text }}" }] } }`,
    'matrix: { animal: [mole, crow] }\nprices: { chat-mini: { input: 0.15, output: 0.6 } }',
  ],
  judge: [
    `grid: { imagine: a lynx by a lake }
  judge: { from: grid, generate: { model: text-pro, prompt: Which is best?, images: [parent], responseSchema: { type: object, properties: { best: { type: integer, minimum: 1, maximum: 4 } }, required: [best] } } }
  best: { from: grid, click: "U{{ steps.judge.json.best }}" }`,
  ],
  frames: [
    `grid: { imagine: a toad in the grass, grid: split }
  say: { from: grid, generate: { model: text-pro, prompt: What is it?, images: [parent] } }`,
  ],
  redo: [imageOf('a moth by a lamp')],
  refused: [
    `grid: { imagine: "a [banned] word", path: U1 }
  say: { generate: { model: text-pro, prompt: "[blocked] words" } }`,
  ],
};

/** Of one run: ids and links that the gateway gives, times, and what an encoder of images makes of the same pixels on another platform. */
const volatileColumns = [
  'image_url',
  'task_id',
  'parent_task_id',
  'custom_id',
  'submitted_at',
  'finished_at',
  'request_id',
];
const columnsOfImages = ['bytes', 'sha256'];
const volatileFacts =
  /^(?:startedAt|finishedAt|changedAt|seconds|perMinute|median|from|to|origin|pid|host|limits|learned)$/;

describe('golden: keys, manifests, exit codes and JSON', () => {
  let cwd: string;
  let sandbox: Sandbox;
  let engine: Readonly<Record<string, string>> = {};
  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'promptpress-'));
    sandbox = await startSandbox({
      apiKey: 'sk-golden',
      settings: { pace: 0, pixels: 64, textLatency: 0, tokenLatency: 0 },
    });
  });
  afterAll(async () => {
    await sandbox.close();
    await rm(cwd, { recursive: true, force: true });
  });

  const pp = (...args: readonly string[]) =>
    promptpress(args, {
      cwd,
      env: { PROMPTPRESS_BASE_URL: sandbox.url, PROMPTPRESS_API_KEY: 'sk-golden', ...engine },
    });

  /** A command line, its exit code, and its JSON without what differs from run to run. */
  const said = async (...args: readonly string[]): Promise<string> => {
    const { code, out, err } = await pp(...args, '--json');
    const values = out.split('\n').filter((line) => line !== '');
    const shown = values.flatMap((line) =>
      Object.entries(JSON.parse(line, stable) as object).map(
        ([name, value]) => `${name}: ${JSON.stringify(value)}`,
      ),
    );
    return place(`$ ${args.join(' ')} --json: ${code}\n${shown.join('\n') || err}\n`);
  };
  const stable = (name: string, value: unknown): unknown => (volatileFacts.test(name) ? '…' : value);
  const place = (text: string): string =>
    text
      .replaceAll(cwd, '.')
      .replaceAll(sandbox.url, 'http://sandbox')
      .replaceAll(/postgres:\/\/[^\s"#]+/g, 'postgres://engine');

  const manifest = async (name: string): Promise<string> => {
    const file = join(cwd, 'runs', name, 'manifest.csv');
    const rows = (await readManifest(file)).map((row) => {
      const blank = [...volatileColumns, ...(row['mime']?.startsWith('text/') ? [] : columnsOfImages)];
      return {
        ...row,
        ...Object.fromEntries(blank.map((column) => [column, row[column] === '' ? '' : '…'])),
      };
    });
    const written = await readFile(file, 'utf8');
    return `${JSON.stringify([written.slice(0, 1), written.slice(-2)])}\n${stringify(rows, { header: true })}`;
  };

  const saved = async (name: string, steps: string, more: string): Promise<string> => {
    const file = `${name}.yaml`;
    await write(cwd, {
      [file]: `name: ${name}\nservice: { id: golden }\n${quick}${more}\nsteps:\n  ${steps}\n`,
    });
    return file;
  };

  it.each(Object.entries(pipelines))('%s', async (name, [steps, more = '']) => {
    const file = await saved(name, steps, more);
    const parts = [await said('plan', file), await said('run', file)];
    if (name === 'redo') {
      const [{ job = '' } = {}] = await readManifest(join(cwd, 'runs', name, 'manifest.csv'));
      parts.push(await said('run', file, '--redo', job));
    }
    for (const command of ['plan', 'status', 'verify']) parts.push(await said(command, file));
    parts.push(await said('ls', `runs/${name}`), await manifest(name));
    await expect(parts.join('\n')).toMatchFileSnapshot(`golden/${name}.txt`);
  });

  it.skipIf(!hasPostgres)('engine', async () => {
    await using database = await testDatabase();
    const file = await saved('engine', imageOf('a {{ animal }} at work'), 'matrix: { animal: [bee, ant] }');
    engine = { PROMPTPRESS_ENGINE: database.url };
    const parts = [
      await said('run', file, '--queue', 'lease'),
      await said('status', `${database.url}#engine`),
      await said('verify', file),
      await said('ls', database.url),
      await manifest('engine'),
    ];
    await expect(parts.join('\n')).toMatchFileSnapshot('golden/engine.txt');
  });
});

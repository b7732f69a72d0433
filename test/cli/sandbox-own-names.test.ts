import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { stringify } from 'yaml';
import { program } from '../../src/cli/program.ts';
import type { LoggedRequest } from '../../src/sandbox/http/ledger.ts';
import { nameKeys, namePresets } from '../../src/service/names.ts';
import { quick, write } from '../e2e/pipelines.ts';
import { temporaryFolder } from '../rig/cli.ts';
import { byStatus, type ManifestRow, readManifest } from '../rig/manifest.ts';
import { promptpress, type Said, testIo } from './test-io.ts';

const words = {
  path: 'v9/art',
  fastPrefix: 'art-quick',
  turboPrefix: 'art-rush',
  nativePath: 'art/v2',
  customId: 'ART',
  botType: 'ART_JOURNEY',
  searchTool: 'web_lookup',
  mapsTool: 'mapLookup',
  keyHeader: 'x-art-key',
  errorType: 'art_api_error',
};

const key = 'a-key-for-own-names';

let url = '';
let stop: () => Promise<number>;

beforeAll(async () => {
  const sandbox = testIo({ cwd: '/', env: { PROMPTPRESS_API_KEY: key } });
  const names = Object.entries(words).map(([name, word]) => `${name}=${word}`);
  const running = program(['sandbox', '--names', names.join(), '--pace', '0', '--pixels', '64'], sandbox.io);
  while (!sandbox.out().includes('\n')) await new Promise((resolve) => setImmediate(resolve));
  url = sandbox.out().trim();
  stop = () => {
    sandbox.interrupt();
    return running;
  };
});

afterAll(async () => {
  await stop();
});

/** Runs a pipeline against the sandbox; what it said, and its manifest. */
async function run(
  text: string,
  ...flags: readonly string[]
): Promise<Said & { readonly rows: readonly ManifestRow[] }> {
  await using folder = await temporaryFolder();
  await write(folder.path, { 'names.yaml': text });
  const said = await promptpress(['run', 'names.yaml', '--out', 'out', ...flags], {
    cwd: folder.path,
    env: { PROMPTPRESS_BASE_URL: url, PROMPTPRESS_API_KEY: key },
  });
  return { ...said, rows: await readManifest(`${folder.path}/out/manifest.csv`) };
}

const service = (names: Readonly<Record<string, string>>): string =>
  `${stringify({ service: { id: 'art', auth: 'header', names } })}${quick}`;

const everyStep = `name: names
${service(words)}
steps:
  grid: { imagine: { prompt: a fox, accountFilter: { modes: [FAST] } }, path: U1..U2 }
  area:
    from: grid/U1
    click: Vary (Region)
    prompt: a red scarf
    mask: { shapes: [{ ellipse: [0.2, 0.2, 0.5, 0.5] }] }
  wide: { from: grid/U2, click: Custom Zoom, prompt: a fox --zoom 1.5 }
  other: { from: grid, click: V2, remix: true, prompt: an owl }
  mix: { gather: grid/*, blend: {} }
  words: { from: grid/U1, describe: { image: parent } }
  film: { from: grid/U2, video: { image: parent, motion: low, prompt: it runs, batchSize: 1 }, path: U1 }
  patch: { from: grid/U1, edit: { image: parent, prompt: a hat, mask: { shapes: [{ rectangle: [0, 0, 0.5, 0.5] }] } } }
  search: { generate: { model: text-pro, prompt: Where do foxes live?, search: true } }
  maps: { generate: { model: text-pro, prompt: Where do foxes live?, maps: true, stream: true } }
  title: { chat: { model: chat-mini, prompt: A title for a fox. } }
`;

test('a sandbox with names of its own answers every kind of step', async () => {
  const { code, err, rows } = await run(everyStep, '--speed', 'fast');
  expect([code, byStatus(rows)], err).toEqual([0, { done: 14 }]);
  const clicks = rows.filter(({ kind }) => kind === 'click');
  expect(clicks.length).toBeGreaterThan(5);
  expect(clicks.every(({ custom_id = '' }) => custom_id.startsWith('ART::'))).toBe(true);

  const requests = (await (await fetch(`${url}/sandbox/requests`)).json()) as readonly LoggedRequest[];
  expect(new Set(requests.map(({ status }) => status))).toEqual(new Set([200]));
  const starts: Readonly<Record<string, string>> = {
    imagine: '/art-quick/v9/art/submit/',
    action: '/art-quick/v9/art/submit/',
    modal: '/art-quick/v9/art/submit/',
    blend: '/art-quick/v9/art/submit/',
    describe: '/art-quick/v9/art/submit/',
    video: '/art-quick/v9/art/submit/',
    edits: '/art-quick/v9/art/submit/',
    fetch: '/v9/art/task/',
    image: '/v9/art/image/',
    models: '/v1/models',
    generate: '/art/v2/models/',
    chat: '/v1/chat/completions',
  };
  expect(new Set(requests.map(({ route }) => route))).toEqual(new Set(Object.keys(starts)));
  expect(requests.filter(({ route, path }) => !path.startsWith(starts[route] ?? 'none'))).toEqual([]);
});

const short = (names: Readonly<Record<string, string>>): string => `name: names
${service(names)}
steps:
  grid: { imagine: a fox }
  search: { generate: { model: text-pro, prompt: Where do foxes live?, search: true } }
  maps: { generate: { model: text-pro, prompt: Where do foxes live?, maps: true } }
`;

describe('a sandbox with names of its own does not know others', () => {
  // The last two are empty in the neutral words: what goes without them is known everywhere.
  const notAsked: readonly string[] = ['customId', 'errorType', 'imageKeyHeader', 'relaxPrefix'];
  const asked = nameKeys.filter((name) => !notAsked.includes(name));

  it.each(asked)('%s', async (name) => {
    const other = { ...words, [name]: namePresets.neutral[name] };
    const speed = name === 'fastPrefix' ? 'fast' : name === 'turboPrefix' ? 'turbo' : 'relax';
    // A key that is taken for images and refused for texts would be asked again for half a minute.
    const only = name === 'keyHeader' ? ['--only', 'search'] : [];
    expect((await run(short(other), '--speed', speed, ...only)).code).not.toBe(0);
  });

  it.each(['relax', 'fast', 'turbo'])('and knows all of its names at speed %s', async (speed) => {
    const right = await run(short(words), '--speed', speed);
    expect(right.code, right.err).toBe(0);
  });

  it('errorType, in an error response', async () => {
    const response = await fetch(`${url}/v9/art/submit/imagine`, { method: 'POST', body: '{}' });
    expect([response.status, await response.json()]).toMatchObject([
      401,
      { error: { type: 'art_api_error' } },
    ]);
  });
});

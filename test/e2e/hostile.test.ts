import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { cli, temporaryFolder } from '../rig/cli.ts';
import {
  type FakeButton,
  type FakeRequest,
  type FaultAction,
  startFakeService,
  type TaskScript,
} from '../rig/fake-service.ts';
import { type ManifestRow, readManifest } from '../rig/manifest.ts';
import { makePng } from '../rig/png.ts';
import { bytesIn, filesBelow, loading, obeyed, serve } from './hostile-rig.ts';
import { write } from './pipelines.ts';

const settings = `
limits: { tasks: 64, requests: 16 }
retry: { attempts: 2, base: 5ms, cap: 20ms, resubmits: 0, patience: 1m }
poll: { min: 5ms, max: 100ms }
timeouts: { request: 5s, task: 12s }
`;

const megabyte = 'x'.repeat(1_000_000);
/** Built while the service starts: what unpacks to 200 MB. */
const bomb = gzipSync(Buffer.alloc(200_000_000, 0x20), { level: 1 });

/** Bytes: three times what an empty run needs, and much less than what is thrown at it. */
const maxMemory = 350_000_000;

function giantPng(): Buffer {
  const bytes = makePng(1);
  bytes.writeUInt32BE(0x7fff_ffff, 16);
  bytes.writeUInt32BE(0x7fff_ffff, 20);
  return bytes;
}

/** What lies below `/cdn` at the service, by path. */
const images: Readonly<Record<string, { readonly body: Buffer | string; readonly headers?: object }>> = {
  '/svg': { body: '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>' },
  '/html': { body: '<!doctype html><script>alert(1)</script>' },
  '/giant': { body: giantPng() },
  '/bomb': { body: bomb, headers: { 'content-encoding': 'gzip' } },
  '/flood': { body: makePng(2), headers: { 'x-flood': 'x'.repeat(100_000) } },
};

/** Answers a path below `/cdn`. @param trapPort where nothing may be asked */
function answerFile(file: string, response: ServerResponse, trapPort: number): boolean {
  if (!file.startsWith('/cdn/')) return false;
  const path = file.slice('/cdn'.length);
  response.on('error', () => response.destroy());
  const image = images[path];
  const [, scheme] = /^\/to-(\w+)/.exec(path) ?? [];
  if (path === '/ok') response.end(makePng(3));
  else if (path === '/short') {
    response.writeHead(200, { 'content-length': '9999' }).write(makePng(4), () => response.destroy());
  } else if (path === '/stuck') response.writeHead(200).write(makePng(4).subarray(0, 70));
  else if (path === '/endless') {
    const pour = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536, 0x20)));
    };
    response.on('drain', pour);
    pour();
  } else if (scheme !== undefined) {
    const location = {
      http: `http://127.0.0.1:${trapPort}/by-redirect`,
      file: 'file:///etc/passwd',
      data: 'data:image/png;base64,iVBORw0KGgo=',
    }[scheme];
    response.writeHead(302, { location }).end();
  } else response.writeHead(200, { ...image?.headers }).end(image?.body);
  return true;
}

/** Ways to write an address that no link may lead to; the service itself is called `localhost`. */
const addresses = (port: number): readonly string[] => [
  `http://127.0.0.1:${port}/`,
  `http://127.1:${port}/`,
  `http://2130706433:${port}/`,
  `http://0x7f000001:${port}/`,
  `http://0177.0.0.1:${port}/`,
  `http://[::1]:${port}/`,
  `http://[::ffff:127.0.0.1]:${port}/`,
  `http://[64:ff9b::7f00:1]:${port}/`,
  `http://0.0.0.0:${port}/`,
  `http://user:pass@localhost:${port}/`,
  `http://١٢٧.0.0.1:${port}/`,
  'http://10.0.0.1/',
  'http://172.16.0.1/',
  'http://192.168.0.1/',
  'http://169.254.169.254/latest/meta-data/',
  'http://[fe80::1]/',
  'http://[fd00::1]/',
  'file:///etc/passwd',
  'data:image/png;base64,iVBORw0KGgo=',
  'javascript:alert(1)',
  'ftp://localhost/x.png',
  '../../../etc/passwd',
  '//127.0.0.1/x.png',
];

/** Those of this machine: the same path is asked for at the service, which has a page there. */
const thisMachine = /^http:\/\/(?:127|2130706433|0x7f|0177|\[::1|\[::ffff|0\.0)/;

const accepted = (result: unknown): FaultAction => ({ code: 1, result });
const text = (body: string, more: object = {}): FaultAction => ({ status: 200, body, ...more });

/** What the submission is answered with, and what becomes of the job. */
const submissions: Readonly<Record<string, readonly [FaultAction, string]>> = {
  'endless JSON': [{ endless: true }, 'in-doubt response.too-large'],
  'a slow drip': [{ drip: 100 }, 'in-doubt connection.timeout'],
  'half of its Content-Length': [{ truncate: 10 }, 'in-doubt connection.lost'],
  'a gzip bomb': [
    { status: 200, body: bomb, headers: { 'content-encoding': 'gzip' } },
    'in-doubt response.too-large',
  ],
  'a flood of headers': [
    { status: 200, body: {}, headers: { 'x-flood': 'x'.repeat(100_000) } },
    'in-doubt response.too-large',
  ],
  'deep JSON': [
    text(`{"code":1,"result":${'['.repeat(100_000)}${']'.repeat(100_000)}}`),
    'in-doubt service.malformed',
  ],
  NaN: [text('{"code":NaN,"result":"1"}'), 'in-doubt service.malformed'],
  'an infinite code': [text('{"code":1e999,"result":"1"}'), 'in-doubt service.malformed'],
  'an infinite id': [text('{"code":1,"result":1e999}'), 'in-doubt service.malformed'],
  'a million digits': [text(`{"code":1,"result":${'1'.repeat(1_000_000)}}`), 'in-doubt service.malformed'],
  'an id of a megabyte': [accepted(megabyte), 'in-doubt service.malformed'],
  'an id with an escape': [accepted('\u001b[2J1'), 'in-doubt service.malformed'],
  'an id with a line break': [accepted('1\r\nx: y'), 'in-doubt service.malformed'],
  'an id that is ..': [accepted('..'), 'in-doubt service.malformed'],
  'an id that climbs': [accepted('../../x'), 'done '],
  'an id with a query': [accepted('1?a=b#c'), 'done '],
  'an id in percents': [accepted('%2e%2e%2f1'), 'done '],
  'a refusal of a megabyte': [
    { code: 4, description: `\u001b]0;owned\u0007${megabyte}` },
    'failed submit.refused',
  ],
};

/** What the task's fetch is answered with. */
const looks: Readonly<Record<string, readonly [FaultAction, string]>> = {
  'deep JSON at the fetch': [text(`{"status":${'['.repeat(100_000)}`), 'failed task.timeout'],
  'infinity at the fetch': [text('{"status":"SUCCESS","progress":Infinity}'), 'failed task.timeout'],
  'a slow drip at the fetch': [{ drip: 100 }, 'failed task.timeout'],
};

/** How the task ends: a script, or the link to its image. */
const ends = (cdn: string): Readonly<Record<string, readonly [TaskScript, string]>> => ({
  'an SVG': [{ imageUrl: `${cdn}/svg` }, 'failed download.not-image'],
  'a page': [{ imageUrl: `${cdn}/html` }, 'failed download.not-image'],
  'a giant': [{ imageUrl: `${cdn}/giant` }, 'failed download.too-large'],
  'a bomb of an image': [{ imageUrl: `${cdn}/bomb` }, 'failed download.not-image'],
  'an image with a flood of headers': [{ imageUrl: `${cdn}/flood` }, 'failed download.connection'],
  'a short image': [{ imageUrl: `${cdn}/short` }, 'failed download.truncated'],
  'an image that gets stuck': [{ imageUrl: `${cdn}/stuck` }, 'failed download.connection'],
  'an endless image': [{ imageUrl: `${cdn}/endless` }, 'failed download.not-image'],
  'a redirect to loopback': [{ imageUrl: `${cdn}/to-http` }, 'failed download.not-image'],
  'a redirect to a file': [{ imageUrl: `${cdn}/to-file` }, 'failed download.address'],
  'a redirect to data': [{ imageUrl: `${cdn}/to-data` }, 'failed download.address'],
  'a link of a megabyte': [{ imageUrl: `data:image/png;base64,${megabyte}` }, 'failed download.address'],
  'a reason of a megabyte': [
    { status: 'FAILURE', failReason: `[Invalid parameter] \u001b[2J${megabyte}` },
    'failed task.rejected',
  ],
  'an infinite progress': [{ imageUrl: `${cdn}/ok`, answer: () => ({ progress: '1e999%' }) }, 'done '],
});

const outcome = ({ status, error_code }: ManifestRow): string => `${status} ${error_code}`;

it('each hostile response costs its own job and nothing else', { timeout: 60_000 }, async () => {
  await using trap = await serve((_path, response) => response.end(makePng(9)));
  await using folder = await temporaryFolder();
  const cdn = '/cdn';
  const scripts = ends(cdn);
  const links = addresses(trap.port);

  const service = await startFakeService({
    log: false,
    files: (path, response) => answerFile(path, response, trap.port),
    script: ({ prompt }) =>
      scripts[prompt]?.[0] ?? { imageUrl: links[Number(/^link (\d+)$/.exec(prompt)?.[1])] ?? `${cdn}/ok` },
  });
  const promptOf = ({ path }: FakeRequest): string | undefined =>
    service.tasks.get(decodeURIComponent(path.split('/')[3] ?? ''))?.prompt;
  service.fault('imagine', ({ body }) => submissions[String(body?.['prompt'])]?.[0]);
  service.fault('fetch', (request) => {
    const prompt = promptOf(request);
    if (prompt !== undefined) return looks[prompt]?.[0];
    return { status: 200, body: { status: 'SUCCESS', imageUrl: `${cdn}/ok`, buttons: [] } };
  });

  const cases: Record<string, string> = {
    ...Object.fromEntries(
      links.map((link, n) => [
        `link ${n}`,
        `failed download.${thisMachine.test(link) ? 'not-image' : 'address'}`,
      ]),
    ),
    ...Object.fromEntries(
      Object.entries({ ...submissions, ...looks, ...scripts }).map(([name, [, end]]) => [name, end]),
    ),
  };
  // Twenty files in a row that nobody can have would end the run: a good one stands behind each.
  const prompts = Object.keys(cases).flatMap((name, n) => [name, `as it should be ${n}`]);
  for (const name of prompts) cases[name] ??= 'done ';
  await write(folder.path, {
    'hostile.yaml': `name: hostile
${settings}matrix:
  case: ${JSON.stringify(prompts)}
steps:
  grid:
    imagine: "{{ case }}"
`,
  });
  const { code, stderr } = await cli(['run', 'hostile.yaml', '--log-level', 'trace'], {
    cwd: folder.path,
    env: {
      PROMPTPRESS_BASE_URL: `http://localhost:${service.port}`,
      PROMPTPRESS_API_KEY: service.apiKey,
      PEAK_FILE: join(folder.path, 'peak'),
    },
    nodeFlags: loading('peak.mjs'),
  });
  await service.close();

  expect(code, stderr).toBe(1);
  const rows = await readManifest(join(folder.path, 'runs/hostile/manifest.csv'));
  expect(Object.fromEntries(rows.map((row) => [row['prompt'], outcome(row)]))).toEqual(cases);
  expect(trap.asked).toEqual([]);
  expect(stderr).not.toMatch(obeyed);
  for (const { error_message: message = '' } of rows) {
    expect(message.length).toBeLessThan(1500);
    expect(message).not.toMatch(obeyed);
  }
  // Names are those of keys, and nothing lies beside the run directory.
  const files = (await filesBelow(folder.path)).filter((file) => !/state\.db-(wal|shm)$/.test(file));
  const others = files.filter((file) => !/^runs\/hostile\/images\/(\w\w)\/\1\w+-1\.png$/.test(file));
  const known = ['lock', 'manifest.csv', 'run.json', 'run.log', 'state.db', 'state.lock', 'submissions'].map(
    (name) => `runs/hostile/${name}`,
  );
  expect(others).toEqual(['hostile.yaml', 'peak', ...known]);
  expect(files.length - others.length).toBe(rows.filter(({ file_name }) => file_name !== '').length);
  expect(await bytesIn(join(folder.path, 'peak'))).toBeLessThan(maxMemory);
});

it('labels are data: bounded, found or named as missing, and never obeyed', { timeout: 60_000 }, async () => {
  await using folder = await temporaryFolder();
  const button = (label: string, n = 1): FakeButton => ({
    customId: `IMG::JOB::upsample::${n}::${label.length}`,
    label,
    emoji: '',
    type: 2,
    style: 2,
  });
  const formula = '=HYPERLINK("http://x","U1")';
  const escape = 'U1\u001b[31m\u001b]0;owned\u0007';
  const offers: Readonly<Record<string, readonly FakeButton[]>> = {
    'ten thousand': Array.from({ length: 10_000 }, (_, n) => button(`X${n}`, n)),
    'a megabyte': [button(`U1${megabyte}`)],
    'an escape': [button(escape)],
    'twice the same': [button('U1', 1), button('U1', 2)],
    'a way out': [button('U1/../../../x'), button('U2')],
    'a formula': [button(formula, 7), button('U1')],
    lines: [button('V1\r\nforged,row\u2028V2')],
  };
  const service = await startFakeService({
    script: (task) => (task.kind === 'imagine' ? { buttons: offers[task.prompt] ?? [] } : {}),
  });
  await write(folder.path, {
    'labels.yaml': `name: labels
${settings}matrix:
  case: ${JSON.stringify(Object.keys(offers))}
steps:
  grid:
    imagine: "{{ case }}"
    path: U*
  one:
    from: grid
    click: U1
  formula:
    from: grid
    click: /upsample::7::/?
`,
  });
  const options = {
    cwd: folder.path,
    env: {
      PROMPTPRESS_BASE_URL: service.url,
      PROMPTPRESS_API_KEY: service.apiKey,
      PEAK_FILE: join(folder.path, 'peak'),
    },
  };
  const { code, stderr, stdout } = await cli(['run', 'labels.yaml', '--json', '--escape-formulas'], {
    ...options,
    nodeFlags: loading('peak.mjs'),
  });
  expect(code, stderr).toBe(1);
  const manifest = join(folder.path, 'runs/labels/manifest.csv');
  const escaped = await readFile(manifest, 'utf8');
  await cli(['manifest', 'runs/labels'], options);
  await service.close();

  const rows = await readManifest(manifest);
  const ends = rows
    .filter(({ step, branch, status }) => (step !== 'grid' || branch !== '') && status !== 'skipped')
    .map((row) => [row['prompt'], row['step'], row['button'], outcome(row)]);
  expect(ends).toEqual([
    ['ten thousand', 'grid', '', 'failed button.missing'],
    ['ten thousand', 'one', '', 'failed button.missing'],
    ['ten thousand', 'formula', 'X7', 'done '],
    // Cut, and found by its beginning.
    ['a megabyte', 'grid', `${`U1${megabyte}`.slice(0, 200)}…`, 'done '],
    ['a megabyte', 'one', '', 'failed button.missing'],
    // The manifest keeps what was said; only what is shown is made harmless.
    ['an escape', 'grid', escape, 'done '],
    ['an escape', 'one', '', 'failed button.missing'],
    ['twice the same', 'grid', '', 'failed button.ambiguous'],
    ['twice the same', 'one', '', 'failed button.ambiguous'],
    ['a way out', 'grid', 'U1/../../../x', 'done '],
    ['a way out', 'grid', 'U2', 'done '],
    ['a way out', 'one', '', 'failed button.missing'],
    ['a formula', 'grid', 'U1', 'done '],
    ['a formula', 'one', 'U1', 'done '],
    ['a formula', 'formula', formula, 'done '],
    ['lines', 'grid', '', 'failed button.missing'],
    ['lines', 'one', '', 'failed button.missing'],
  ]);
  const quoted = formula.replaceAll('"', '""');
  expect(escaped).toContain(`,"'${quoted}",`);
  expect(await readFile(manifest, 'utf8')).toContain(`,"${quoted}",`);

  expect(`${stderr}${stdout}`).not.toMatch(obeyed);
  expect(stderr.length).toBeLessThan(10_000);
  const [first, ...others] = (await filesBelow(folder.path)).filter((file) => !file.includes('/images/'));
  expect([first, ...others.map((file) => file.slice(0, 12))]).toEqual([
    'labels.yaml',
    'peak',
    ...others.slice(1).map(() => 'runs/labels/'),
  ]);
  expect(await bytesIn(join(folder.path, 'peak'))).toBeLessThan(maxMemory);
});

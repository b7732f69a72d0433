import { readFile, stat } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cli, temporaryFolder } from '../rig/cli.ts';
import {
  type FakeService,
  type FakeServiceOptions,
  type FaultAction,
  startFakeService,
  type TaskScript,
} from '../rig/fake-service.ts';
import { readManifest } from '../rig/manifest.ts';
import { makePng } from '../rig/png.ts';
import { filesBelow, loading } from './hostile-rig.ts';
import { write } from './pipelines.ts';

/** It has what JSON, addresses and CSV write in another way. */
const key = 'sk-T0p/Secret+"0815\\x=';
const variables = {
  MY_KEY: key,
  PROMPTPRESS_VAR_ID: 'id-value-4711',
  PROMPTPRESS_VAR_PATH: 'path-token-4712-to-the-gateway',
  PROMPTPRESS_VAR_BOT: 'BOT-VALUE-4713',
} as const;

const forms = (secret: string): readonly string[] => [
  secret,
  encodeURIComponent(secret),
  JSON.stringify(secret).slice(1, -1),
  secret.replaceAll('"', '""'),
  secret.toLowerCase(),
];

/** Whatever can be found of a secret, and where. */
function leaks(places: Readonly<Record<string, Buffer | string>>): readonly string[] {
  const secrets = Object.values(variables).flatMap(forms);
  return Object.entries(places).flatMap(([place, content]) =>
    secrets.filter((form) => content.includes(form)).map((form) => `${place}: ${form}`),
  );
}

const pipeline = (port: number, cases: readonly string[]): string => `name: secrets
service:
  baseUrl: http://localhost:${port}/\${PROMPTPRESS_VAR_PATH}
  apiKey: \${MY_KEY}
  id: \${PROMPTPRESS_VAR_ID}
  names: { botType: "\${PROMPTPRESS_VAR_BOT}" }
retry: { attempts: 2, base: 5ms, cap: 20ms, resubmits: 1, patience: 10s }
poll: { min: 5ms, max: 20ms }
matrix:
  case: ${JSON.stringify(cases)}
steps:
  grid:
    imagine: "{{ case }}"
    path: U*
`;

/** @param script of grids; upscales are as they should be, so that files can be had */
const start = (
  script?: (prompt: string) => TaskScript | undefined,
  more: FakeServiceOptions = {},
): Promise<FakeService> =>
  startFakeService({
    ...more,
    apiKey: key,
    basePath: `/${variables.PROMPTPRESS_VAR_PATH}`,
    ...(script === undefined
      ? {}
      : { script: (task) => (task.kind === 'imagine' ? script(task.prompt) : undefined) }),
  });

async function run(
  folder: string,
  service: FakeService,
  cases: readonly string[],
  options: { readonly nodeFlags?: readonly string[] } = {},
) {
  await write(folder, { 'secrets.yaml': pipeline(service.port, cases) });
  const result = await cli(['run', 'secrets.yaml', '--log-level', 'trace', '--json'], {
    cwd: folder,
    env: { ...variables, PROMPTPRESS_TRUSTED_ORIGINS: `http://localhost:${service.port}` },
    ...options,
  });
  const files = await filesBelow(folder);
  const contents = await Promise.all(
    files.map(async (file) => [file, await readFile(join(folder, file))] as const),
  );
  const { stdout, stderr } = result;
  return { ...result, files, found: leaks({ stdout, stderr, ...Object.fromEntries(contents) }) };
}

const everything = `Authorization: Bearer ${key} ${encodeURIComponent(key)} ${Object.values(variables).join(' ')}`;

describe('a service that repeats everything it receives', () => {
  it('leaves no secret in any file, in the log or on the screen', async () => {
    await using folder = await temporaryFolder();
    const files = (path: string, response: ServerResponse): boolean => {
      const shapes: Readonly<Record<string, () => void>> = {
        '/cdn/ok': () => response.end(makePng(1)),
        '/cdn/json': () => response.end(JSON.stringify({ error: { message: everything } })),
        '/cdn/text': () => response.end(`${'x'.repeat(190)} ${everything}`),
        '/cdn/redirect-path': () =>
          response.writeHead(302, { location: `/${'p'.repeat(120)}/${encodeURIComponent(key)}` }).end(),
        '/cdn/redirect-host': () =>
          response
            .writeHead(302, { location: `http://${variables.PROMPTPRESS_VAR_PATH.toUpperCase()}.example/` })
            .end(),
        '/cdn/coding': () =>
          response.writeHead(200, { 'content-encoding': variables.PROMPTPRESS_VAR_ID }).end('x'),
        '/cdn/status': () => response.writeHead(500).end(everything),
      };
      shapes[path]?.();
      return path in shapes;
    };
    const at = '/cdn';
    const button = (label: string, customId = `IMG::JOB::upsample::1::${label.length}`) => ({
      customId,
      label,
      emoji: '',
      type: 2 as const,
      style: 2 as const,
    });

    const submissions: Readonly<Record<string, readonly [FaultAction, string]>> = {
      'a refusal': [
        { status: 400, body: { error: { code: '', message: `${everything} (request id: ${key})` } } },
        'failed service.rejected',
      ],
      'a page': [{ status: 500, body: `<title>${everything}</title>` }, 'in-doubt service.unavailable'],
      'a text': [{ status: 403, body: everything }, 'failed service.forbidden'],
      'a header': [
        { status: 413, body: {}, headers: { 'x-request-id': variables.PROMPTPRESS_VAR_ID } },
        'failed service.too-large',
      ],
      'a code': [{ code: 4, description: everything }, 'failed submit.refused'],
      'a banned word': [
        { code: 24, description: 'no', properties: { bannedWord: key } },
        'failed task.moderated',
      ],
      'a task id': [{ code: 1, result: encodeURIComponent(key) }, 'in-doubt service.malformed'],
      'an id of the path': [
        { code: 1, result: variables.PROMPTPRESS_VAR_PATH },
        'in-doubt service.malformed',
      ],
    };
    const ends: Readonly<Record<string, readonly [TaskScript, string]>> = {
      'a reason': [
        { status: 'FAILURE', failReason: `[Invalid parameter] ${everything}` },
        'failed task.rejected',
      ],
      'a status': [
        { status: 'FAILURE', answer: () => ({ status: 'FAILURE', description: everything }) },
        'failed task.failed',
      ],
      'a link with the key': [
        { imageUrl: `${at}/ok?key=${encodeURIComponent(key)}` },
        'failed download.address',
      ],
      'a host with a value': [
        { imageUrl: `http://${variables.PROMPTPRESS_VAR_PATH}.example/x.png` },
        'failed download.address',
      ],
      'a JSON image': [{ imageUrl: `${at}/json` }, 'failed download.not-image'],
      'a text image': [{ imageUrl: `${at}/text` }, 'failed download.not-image'],
      'a redirect': [{ imageUrl: `${at}/redirect-path` }, 'failed download.address'],
      'a redirect to a host': [{ imageUrl: `${at}/redirect-host` }, 'failed download.address'],
      'a status of the image': [{ imageUrl: `${at}/status` }, 'failed download.status'],
      'a coding': [{ imageUrl: `${at}/coding` }, 'failed download.not-image'],
      'a label': [{ imageUrl: `${at}/ok`, buttons: [button(`U1 ${key}`)] }, 'done '],
      'a customId': [{ imageUrl: `${at}/ok`, buttons: [button('U1', `IMG::${key}`)] }, 'done '],
      'a label in an address': [
        { imageUrl: `${at}/ok`, buttons: [button(`U1 ${encodeURIComponent(key)}`)] },
        'done ',
      ],
    };
    const service = await start((prompt) => ends[prompt]?.[0], { files });
    service.fault('imagine', ({ body }) => submissions[String(body?.['prompt'])]?.[0]);

    const cases = Object.fromEntries(
      Object.entries({ ...submissions, ...ends }).map(([name, [, end]]) => [name, end]),
    );
    const { code, stderr, stdout, files: kept, found } = await run(folder.path, service, Object.keys(cases));
    await service.close();

    expect(code, stderr).toBe(1);
    const rows = await readManifest(join(folder.path, 'runs/secrets/manifest.csv'));
    const grids = rows.filter(({ branch }) => branch === '');
    expect(
      Object.fromEntries(grids.map(({ prompt, status, error_code }) => [prompt, `${status} ${error_code}`])),
    ).toEqual(cases);
    // The buttons that repeat the key are not offered, so they cannot be pressed.
    for (const name of ['a label', 'a customId', 'a label in an address']) {
      expect(rows.find(({ prompt, branch }) => prompt === name && branch !== '')).toMatchObject({
        status: 'failed',
        error_code: 'button.missing',
      });
    }
    expect(found).toEqual([]);
    // What was repeated did arrive, and was recognised.
    expect(grids.find(({ prompt }) => prompt === 'a refusal')?.['error_message']).toContain(
      'Bearer [secret]',
    );
    expect(stdout).toContain('[secret]');
    expect(kept).toContain('runs/secrets/state.db');
    expect((await readFile(join(folder.path, 'runs/secrets/run.log'), 'utf8')).length).toBeGreaterThan(1000);

    // Windows has no such modes: there every file says 666.
    const own = process.platform === 'win32' ? 0o666 : 0o600;
    for (const file of kept.filter((name) => /\/(state|lock|run\.log)/.test(name))) {
      expect([file, (await stat(join(folder.path, file))).mode & 0o777]).toEqual([file, own]);
    }
  });

  it.each<[string, FaultAction, RegExp]>([
    [
      'a refused key names the variable that held it',
      { status: 401, body: { error: { message: `invalid token ${everything}` } } },
      /MY_KEY.*service\.apiKey/,
    ],
    [
      'a redirect',
      { status: 301, headers: { location: `https://${variables.PROMPTPRESS_VAR_ID}.example/${key}` } },
      /base address/,
    ],
    ['a page', { status: 200, body: `<title>${everything}</title>` }, /base address/],
  ])('and stops the run: %s', async (_name, action, words) => {
    await using folder = await temporaryFolder();
    const service = await start();
    service.fault('imagine', action);
    const { code, stderr, found } = await run(folder.path, service, ['x']);
    await service.close();
    expect(code, stderr).toBe(3);
    expect(stderr).toMatch(words);
    expect(found).toEqual([]);
  });

  it('a bug that meets the key is reported without it', async () => {
    await using folder = await temporaryFolder();
    const service = await start();
    service.fault('imagine', { status: 503, body: {} });
    const { code, stderr, found } = await run(folder.path, service, ['x'], { nodeFlags: loading('bug.mjs') });
    await service.close();
    expect(code, stderr).toBe(70);
    expect(stderr).toContain('a bug that met [secret]');
    expect(found).toEqual([]);
  });
});

import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import type { Quirk } from '../../../src/sandbox/quirks.ts';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import { promptpress } from '../../cli/test-io.ts';
import { write } from '../../e2e/pipelines.ts';
import { temporaryFolder } from '../../rig/cli.ts';
import { readManifest } from '../../rig/manifest.ts';

const key = 'sk-sandbox-0123456789';

const chat = (more: string, prompt = 'a fox'): string =>
  `steps: { one: { chat: { model: chat-mini, prompt: "${prompt}", ${more} } } }`;
const native = (more: string, prompt = 'a fox'): string =>
  `steps: { one: { generate: { model: text-pro, prompt: "${prompt}", ${more} } } }`;
const schema = 'responseSchema: { type: OBJECT, properties: { best: { type: INTEGER } }, required: [best] }';

it.each<[Quirk, string, object, string?]>([
  ['no-finish-reason', chat('stream: true'), { status: 'done', attempts: '2', finish_reason: '' }],
  ['no-finish-reason', chat('stream: false'), { status: 'done', attempts: '1', finish_reason: '' }],
  ['loose-json', native(schema), { status: 'done', attempts: '1', mime: 'text/plain' }],
  ['loose-json', native(`${schema}, stream: true`), { status: 'done', attempts: '1' }],
  ['loose-json', native(`${schema}, reply: strict`), { status: 'failed', error_code: 'text.not-json' }],
  [
    'total-tokens',
    native('stream: true'),
    { status: 'done', prompt_tokens: '', other_tokens: expect.stringMatching(/^\d+$/) },
  ],
  [
    'total-tokens',
    chat('stream: false'),
    { status: 'done', prompt_tokens: '', other_tokens: expect.stringMatching(/^\d+$/) },
  ],
  [
    'no-candidates',
    native('stream: true', 'a fox [blocked]'),
    { status: 'failed', attempts: '2', error_code: 'text.blocked' },
  ],
  [
    'no-candidates',
    chat('stream: false', 'a fox [blocked]'),
    { status: 'failed', attempts: '2', error_code: 'text.blocked' },
  ],
  [
    'no-candidates',
    chat('stream: true', 'a fox [blocked]'),
    { status: 'failed', attempts: '2', error_code: 'text.blocked' },
  ],
  [
    'bare-errors',
    native('stream: true', 'a fox [stream-error]'),
    { status: 'done', attempts: '2' },
    'The model is overloaded',
  ],
  [
    'bare-errors',
    chat('stream: true', 'a fox [stream-error]'),
    { status: 'done', attempts: '2' },
    'The model is overloaded',
  ],
  [
    'snake-case',
    native('stream: true'),
    { status: 'done', finish_reason: 'STOP', prompt_tokens: expect.stringMatching(/^\d+$/) },
  ],
  ['snake-case', native('stream: false'), { status: 'done', finish_reason: 'STOP', model: 'text-pro-002' }],
])('a rehearsal with the quirk %s: %s', async (quirk, steps, row, logged) => {
  await using folder = await temporaryFolder();
  await using sandbox = {
    service: await startSandbox({ apiKey: key, settings: { pace: 0, quirks: new Set([quirk]) } }),
    [Symbol.asyncDispose]: () => sandbox.service.close(),
  };
  await write(folder.path, {
    'odd.yaml': `name: odd\nretry: { attempts: 3, base: 5ms, cap: 20ms }\n${steps}\n`,
  });
  const env = { PROMPTPRESS_BASE_URL: sandbox.service.url, PROMPTPRESS_API_KEY: key };
  const { err } = await promptpress(['run', 'odd.yaml', '--log-level', 'debug'], { cwd: folder.path, env });
  const [first] = await readManifest(`${folder.path}/runs/odd/manifest.csv`);
  expect(first, err).toMatchObject(row);
  expect(await readFile(`${folder.path}/runs/odd/run.log`, 'utf8')).toContain(logged ?? '');
});

it('a rehearsal answers an enum with one of its words', async () => {
  await using folder = await temporaryFolder();
  const config = '{ responseMimeType: text/x.enum, responseSchema: { type: STRING, enum: [a] } }';
  await write(folder.path, { 'odd.yaml': `name: odd\n${native(`generationConfig: ${config}`)}\n` });
  const { code, err } = await promptpress(['run', 'odd.yaml', '--sandbox', '--pace', '0'], {
    cwd: folder.path,
  });
  expect(code, err).toBe(0);
  expect(await readManifest(`${folder.path}/runs/odd.sandbox/manifest.csv`)).toMatchObject([
    { status: 'done', text: 'a', mime: 'text/plain' },
  ]);
});

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { write } from '../e2e/pipelines.ts';
import { cli, temporaryFolder } from '../rig/cli.ts';
import { repository } from '../rig/documents.ts';
import { byStatus, readManifest } from '../rig/manifest.ts';
import { answers, freePort } from '../rig/nginx.ts';

/** Installed by `.ci/run`: it is none of our packages. */
const server = join(repository, 'node_modules/.cache/aimock/node_modules/@copilotkit/aimock/dist/cli.js');

interface Journaled {
  readonly path: string;
  readonly response: { readonly status: number; readonly chaosAction?: string };
}

test('250 chat rows are asked of aimock through its faults: each is done once, and their usage is what was served', async () => {
  await using folder = await temporaryFolder();
  const { path: cwd } = folder;
  const usage = { prompt_tokens: 7, completion_tokens: 11, total_tokens: 18 };
  const response = { content: 'a fox', usage, finishReason: 'stop' };
  await write(cwd, {
    'fixtures.json': JSON.stringify({ fixtures: [{ match: { userMessage: 'Say' }, response }] }),
    'chat.yaml': `name: chat
service: { id: aimock }
matrix: { seed: { from: 1, to: 125 } }
retry: { attempts: 30, base: 20ms, cap: 200ms, patience: 1m }
steps:
  whole: { chat: { model: chat-mini, prompt: "Say {{ seed }}" } }
  streamed: { chat: { model: chat-mini, prompt: "Say {{ seed }} again", stream: true } }
`,
  });
  const port = await freePort();
  const faults = ['drop', 'malformed', 'disconnect', 'ratelimit'].flatMap((name) => [
    `--chaos-${name}`,
    '0.04',
  ]);
  const args = [
    server,
    '-p',
    String(port),
    '-f',
    join(cwd, 'fixtures.json'),
    '--journal-max',
    '0',
    ...faults,
  ];
  const child = spawn(process.execPath, args, { stdio: 'ignore' });
  try {
    await answers(port, () => child.exitCode ?? child.signalCode);
    const url = `http://127.0.0.1:${port}`;
    const { code, stderr } = await cli(['run', 'chat.yaml'], {
      cwd,
      env: { PROMPTPRESS_BASE_URL: url, PROMPTPRESS_API_KEY: 'a-key-that-nobody-reads' },
    });
    expect(code, stderr).toBe(0);
    const rows = await readManifest(join(cwd, 'runs/chat/manifest.csv'));
    expect(byStatus(rows)).toEqual({ done: 250 });
    expect(new Set(rows.map(({ text }) => text))).toEqual(new Set(['a fox']));
    const journal = (await (
      await fetch(`${url}/__aimock/journal?path=/v1/chat/completions`)
    ).json()) as readonly Journaled[];
    const served = journal.filter(
      ({ response: { status, chaosAction } }) => status === 200 && chaosAction === undefined,
    );
    expect(journal.length).toBeGreaterThan(served.length);
    expect(served.length).toBe(250);
    const sum = (column: string): number => rows.reduce((total, row) => total + Number(row[column]), 0);
    expect([sum('prompt_tokens'), sum('candidates_tokens'), sum('total_tokens')]).toEqual([
      250 * 7,
      250 * 11,
      250 * 18,
    ]);
  } finally {
    child.kill();
  }
}, 180_000);

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { promptpress } from '../cli/test-io.ts';
import { temporaryFolder } from '../rig/cli.ts';
import { startFakeService } from '../rig/fake-service.ts';
import { readManifest } from '../rig/manifest.ts';
import { filesBelow } from './hostile-rig.ts';
import { quick, write } from './pipelines.ts';

const key = 'sk-long-enough-to-be-found';

const pipeline = `name: words
service: { id: "\${PROMPTPRESS_VAR_ID}", names: { botType: "\${PROMPTPRESS_VAR_BOT}" } }
${quick}
steps:
  city: { generate: { model: text-pro, prompt: Which city? } }
  more: { chat: { model: text-pro, prompt: "Tell me of {{ steps.city.text }}" } }
`;

it('an ordinary word that a variable holds stays in files and in what is sent on; the key stays nowhere', async () => {
  await using folder = await temporaryFolder();
  const service = await startFakeService({
    apiKey: key,
    text: { says: ({ text }) => ({ text: `${text} The city of paris-by-night, HOTEL_BOT ${key}` }) },
  });
  await write(folder.path, { 'words.yaml': pipeline });
  const { code, out, err } = await promptpress(['run', 'words.yaml', '--json', '--log-level', 'trace'], {
    cwd: folder.path,
    env: {
      PROMPTPRESS_BASE_URL: service.url,
      PROMPTPRESS_API_KEY: key,
      PROMPTPRESS_VAR_ID: 'paris-by-night',
      PROMPTPRESS_VAR_BOT: 'HOTEL_BOT',
    },
  });
  await service.close();
  expect(code, err).toBe(0);

  const said = 'Which city? The city of paris-by-night, HOTEL_BOT [secret]';
  expect(service.texts.asks.map(({ text }) => text)).toEqual(['Which city?', `Tell me of ${said}`]);
  const rows = await readManifest(join(folder.path, 'runs/words/manifest.csv'));
  expect(rows[0]).toMatchObject({ text: said });
  expect(rows[1]).toMatchObject({
    prompt: `Tell me of ${said}`,
    text: `Tell me of ${said} The city of paris-by-night, HOTEL_BOT [secret]`,
  });
  const whole = await readFile(join(folder.path, 'runs/words/replies/00000.jsonl'), 'utf8');
  expect(whole.trimEnd().split('\n')).toHaveLength(2);
  expect(whole).toContain(said);

  const files = await filesBelow(folder.path);
  expect(files.some((name) => name.endsWith('state.db'))).toBe(true);
  for (const name of files) {
    const content = await readFile(join(folder.path, name), 'utf8');
    expect(content.includes(key), name).toBe(false);
  }
  // The log is no data: it may not show what a variable holds that is long enough to be a secret.
  expect(await readFile(join(folder.path, 'runs/words/run.log'), 'utf8')).not.toMatch(
    /paris-by-night|HOTEL_BOT/,
  );
  expect(out + err).not.toContain(key);
  expect(err).not.toContain('The API key has only');
});

it('a key as short as a word is warned of once', async () => {
  await using folder = await temporaryFolder();
  const service = await startFakeService({
    apiKey: 'swordfish',
    text: { says: () => ({ text: 'a swordfish' }) },
  });
  const [head = ''] = pipeline.split('  more:');
  await write(folder.path, { 'words.yaml': head });
  const { code, err } = await promptpress(['run', 'words.yaml'], {
    cwd: folder.path,
    env: {
      PROMPTPRESS_BASE_URL: service.url,
      PROMPTPRESS_API_KEY: 'swordfish',
      PROMPTPRESS_VAR_ID: 'paris-by-night',
      PROMPTPRESS_VAR_BOT: 'BOT',
    },
  });
  await service.close();
  expect(code, err).toBe(0);
  expect(
    err.split(
      'The API key has only 9 characters: in answers that repeat it, it is not masked; keys of 16 and more are',
    ),
  ).toHaveLength(2);
  expect(err).not.toContain('swordfish');
  const rows = await readManifest(join(folder.path, 'runs/words/manifest.csv'));
  expect(rows[0]).toMatchObject({ text: 'a swordfish' });
});

import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CliResult, cli } from '../rig/cli.ts';
import type { FakeAsk } from '../rig/fake-service.ts';
import { byStatus, type ManifestRow } from '../rig/manifest.ts';
import { makePng } from '../rig/png.ts';
import { repliesOf } from '../rig/replies.ts';
import { oneText, write } from './pipelines.ts';
import { openTextPlace, type TextPlace, tokenSums } from './text-rig.ts';

const schema =
  '{ type: object, properties: { best: { type: integer, minimum: 1, maximum: 4 } }, required: [best] }';

/** Pictures, a judge that chooses the button, a caption; and a conversation. */
const chain = oneText.slice(oneText.indexOf('matrix:')).replace('animal: [fox]', 'animal: [fox, owl]');

/** Texts without anything else. */
const says = (cells: number, more = ''): string => `
matrix: { n: { from: 1, to: ${cells} } }
steps: { say: { generate: { model: text-pro, prompt: "text {{ n }}"${more} } } }
`;

const built = (place: TextPlace, ...flags: string[]): Promise<CliResult> =>
  cli(['run', 'text.yaml', ...flags], {
    cwd: place.folder,
    env: { PROMPTPRESS_BASE_URL: place.service.url, PROMPTPRESS_API_KEY: place.service.apiKey },
  });

const askOf = ({ service }: TextPlace, name: string): FakeAsk => {
  const found = service.texts.asks.find((ask) => ask.name === name);
  if (found === undefined)
    throw new Error(`nobody asked ${name}: ${[...service.texts.byName.keys()].join('; ')}`);
  return found;
};

const ofStep = (rows: readonly ManifestRow[], step: string): readonly ManifestRow[] =>
  rows.filter((row) => row['step'] === step);

const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');

describe.concurrent('text steps', () => {
  it('of a built command line choose buttons, caption pictures, call functions, continue; and cost nothing again', async () => {
    await using place = await openTextPlace(chain);
    const { service, directory } = place;
    const first = await built(place);
    expect(first.code, first.stderr).toBe(0);
    const requests = service.requests.length;
    const manifest = await readFile(join(directory, 'manifest.csv'));
    const { rows, code } = await place.run();
    expect(code).toBe(0);
    expect(service.requests.slice(requests)).toEqual([]);
    expect(sha256(await readFile(join(directory, 'manifest.csv')))).toBe(sha256(manifest));

    expect(byStatus(rows)).toEqual({ done: 12 });
    expect(tokenSums(rows)).toEqual(service.texts.tokens.counted);
    expect(tokenSums(rows)).toEqual(service.texts.tokens.complete);
    for (const row of ofStep(rows, 'best')) {
      const [pick] = ofStep(rows, 'pick').filter(({ cell }) => cell === row['cell']);
      const { best } = JSON.parse(pick?.['text'] ?? '{}') as { best?: number };
      expect([1, 2, 3, 4]).toContain(best);
      expect(row['button']).toBe(`U${best}`);
    }
    const replies = await repliesOf(directory);
    for (const row of rows.filter(({ kind }) => kind === 'generate' || kind === 'chat')) {
      expect([row['file_name'], row['sha256']]).toEqual(['', sha256(row['text'] ?? '')]);
      expect(replies.byJob.get(row['job'] ?? '')?.at(-1)).toHaveProperty(
        row['kind'] === 'chat' ? 'choices' : 'candidates',
      );
    }
    expect([replies.lost, replies.unclaimed]).toEqual([[], []]);
    const [fact] = ofStep(rows, 'fact');
    expect(fact).toMatchObject({ attempts: '2', prompt: 'What does a fox 1 eat?' });
    expect(askOf(place, 'What does a fox 1 eat? +2').turns.at(-1)).toMatchObject({
      parts: [{ functionResponse: { name: 'look', response: { eats: 'berries' } } }],
    });
    // All that was said before, function calls and all.
    expect(askOf(place, 'And where does the fox 1 find it?').turns.map(({ role }) => role)).toEqual([
      'user',
      'model',
      'user',
      'model',
      'user',
    ]);
    expect(service.count('models')).toBe(1);
  });

  it('send the images that they show: of the parent, of a file, of a data URI, of an address', async () => {
    await using place = await openTextPlace(`
steps:
  grid: { imagine: fox }
  look:
    from: grid
    generate:
      model: text-pro
      prompt: Which?
      images: [parent, own.png, "data:image/png;base64,${makePng(8).toString('base64')}", "IMAGE"]
  talk:
    from: grid
    chat: { model: text-pro, prompt: And these?, images: [own.png, parent] }
`);
    const { service } = place;
    // A picture that the service gives at an address.
    const made = await fetch(`${service.url}/img/submit/imagine`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ prompt: 'elsewhere' }),
    });
    const { result } = (await made.json()) as { result: string };
    const text = await readFile(join(place.folder, 'text.yaml'), 'utf8');
    await write(place.folder, {
      'text.yaml': text.replace('IMAGE', `${service.url}/images/${result}.png?ex=1`),
    });
    await writeFile(join(place.folder, 'own.png'), makePng(7));
    const { code, err } = await place.run();
    expect(code, err).toBe(0);
    const png = (bytes: Buffer): unknown => ({ mimeType: 'image/png', bytes });
    // The grid is the second task, the one at the address the first.
    expect(askOf(place, 'Which?').images).toEqual([makePng(2), makePng(7), makePng(8), makePng(1)].map(png));
    expect(askOf(place, 'And these?').images).toEqual([makePng(7), makePng(2)].map(png));
    const parts = askOf(place, 'Which?').turns[0]?.['parts'] as readonly object[];
    expect(parts.map((part) => Object.keys(part)[0])).toEqual([...Array(4).fill('inlineData'), 'text']);
    expect(service.strayKeys).toBe(0);
  });

  it('ask again only for what was edited', async () => {
    await using place = await openTextPlace(says(20));
    expect((await place.run()).code).toBe(0);
    expect(place.calls()).toBe(20);
    const edited = says(20).replace(
      '"text {{ n }}"',
      '"{% if n == 7 %}another{% else %}text{% endif %} {{ n }}"',
    );
    await place.edit(edited);
    const { rows } = await place.run();
    expect([place.calls(), place.service.texts.byName.get('another 7'), rows.length]).toEqual([21, 1, 20]);
    // How the reply comes, and what is taken, is no part of what is asked.
    await place.edit(says(20, ', stream: true, accept: [MAX_TOKENS]'));
    await place.run();
    expect(place.calls()).toBe(21);
  });

  it('are retried by code when that is asked for, and only then', async () => {
    await using place = await openTextPlace(says(4));
    const { service } = place;
    service.fault('generate', { says: { blockReason: 'SAFETY' } }, { times: 1, match: isOf('text 2') });
    service.fault(
      'generate',
      { says: { text: 'half', finishReason: 'MAX_TOKENS' } },
      { times: 1, match: isOf('text 3') },
    );
    expect((await place.run()).code).toBe(1);
    expect((await place.run()).code).toBe(1);
    expect(place.calls()).toBe(4);
    const one = await place.run('--retry-failed', '--code', 'text.max-tokens');
    expect([one.code, place.calls()]).toEqual([1, 5]);
    expect(one.rows.map(({ status }) => status)).toEqual(['done', 'failed', 'done', 'done']);
    const all = await place.run('--retry-failed');
    expect([all.code, place.calls(), byStatus(all.rows)]).toEqual([0, 6, { done: 4 }]);
    // What the failed answers cost is counted too.
    expect(tokenSums(all.rows)).toEqual(service.texts.tokens.counted);
  });

  it('stop at --max-submits, and continue from there', async () => {
    await using place = await openTextPlace(says(30));
    const { code, rows } = await place.run('--max-submits', '10');
    expect([code, place.calls(), byStatus(rows)]).toEqual([4, 10, { done: 10, pending: 20 }]);
    expect((await place.run()).code).toBe(0);
    expect(place.calls()).toBe(30);
  });

  it('stop at budget.tokens, which counts the tokens of the service', async () => {
    const tokens = 500;
    const bounded = says(100, ', generationConfig: { maxOutputTokens: 60 }');
    await using place = await openTextPlace(`budget: { tokens: ${tokens} }${bounded}`);
    const { code, err, rows } = await place.run();
    expect(code, err).toBe(4);
    const { total } = place.service.texts.tokens.counted;
    expect(tokenSums(rows)['total']).toBe(total);
    expect(total).toBeGreaterThan(tokens / 2);
    // What a call will take is reserved before it is made.
    expect(total).toBeLessThanOrEqual(tokens);
    const calls = place.calls();
    expect((await place.run()).code).toBe(4);
    expect(place.calls() - calls).toBeLessThanOrEqual(1);
  });

  it('are chosen by --only', async () => {
    await using place = await openTextPlace(chain);
    const { code, err, rows } = await place.run('--only', 'fact');
    expect(code, err).toBe(0);
    expect([place.calls(), place.service.count('imagine')]).toEqual([4, 0]);
    expect(rows.map(({ step, status }) => `${step} ${status}`)).toEqual(['fact done', 'fact done']);
  });

  it('with a judge whose replies do not fit are blocked, and their cost is shown', async () => {
    await using place = await openTextPlace(chain);
    place.service.fault('generate', { says: { text: '{"best": 9}' } }, { match: isOf('Which fox') });
    const { code, rows } = await place.run();
    expect(code).toBe(1);
    const ofFox = rows
      .filter((row) => row['var.animal'] === 'fox')
      .map(({ step, status, error_code }) => [step, status, error_code]);
    expect(ofFox.slice(0, 4)).toEqual([
      ['grid', 'done', ''],
      ['pick', 'failed', 'text.schema'],
      ['best', 'blocked', 'ancestor.failed'],
      ['caption', 'blocked', 'ancestor.failed'],
    ]);
    expect(place.service.submits.byPath.get('fox --seed 1 > U9')).toBeUndefined();
    expect(tokenSums(rows)).toEqual(place.service.texts.tokens.counted);
  });

  it('with several candidates and images have a row for each, and one sum', async () => {
    await using place = await openTextPlace(
      says(2, ', generationConfig: { candidateCount: 2, responseModalities: [TEXT, IMAGE] }'),
    );
    const image = { mimeType: 'image/png', data: makePng(5).toString('base64') };
    place.service.fault('generate', {
      says: ({ text }) => ({ text, images: [image], others: [{ text: 'other' }] }),
    });
    const { code, err, rows } = await place.run();
    expect(code, err).toBe(0);
    expect(rows.map(({ output, mime, text }) => [output, mime, text])).toEqual([
      ['1', 'text/plain', 'text 1'],
      ['2', 'image/png', ''],
      ['3', 'text/plain', 'other'],
      ['1', 'text/plain', 'text 2'],
      ['2', 'image/png', ''],
      ['3', 'text/plain', 'other'],
    ]);
    expect(await readFile(join(place.directory, rows[1]?.['file_name'] ?? ''))).toEqual(makePng(5));
    expect(tokenSums(rows)).toEqual(place.service.texts.tokens.counted);
  });

  it('keep nothing on disk with keep: false, and the text all the same', async () => {
    await using place = await openTextPlace(`
steps:
  pick: { keep: false, generate: { model: text-pro, prompt: Which?, responseSchema: ${schema} } }
  then: { from: pick, generate: { model: text-pro, prompt: "Why {{ steps.pick.json.best }}?" } }
`);
    const { code, err, rows } = await place.run();
    expect(code, err).toBe(0);
    expect(rows[0]).toMatchObject({ file_name: '', status: 'done', text: expect.stringMatching(/"best"/) });
    const { best } = JSON.parse(rows[0]?.['text'] ?? '{}') as { best: number };
    expect(rows[1]?.['prompt']).toBe(`Why ${best}?`);
  });
});

function isOf(text: string): (request: { readonly body: unknown }) => boolean {
  return ({ body }) => JSON.stringify(body ?? '').includes(text);
}

it('keepReplies says which whole replies are kept, and changes no job', async () => {
  const says = (more: string): string => `${more}
matrix: { n: [1, 2] }
steps: { say: { generate: { model: text-pro, prompt: "text {{ n }}" } } }
`;
  const linesOf = async (directory: string): Promise<readonly string[]> =>
    [...(await repliesOf(directory)).byJob.keys()].toSorted();
  await using all = await openTextPlace(says('keepReplies: all'));
  await using failed = await openTextPlace(says('keepReplies: failed'));
  await using none = await openTextPlace(says('keepReplies: none'));
  const places = [all, failed, none];
  const jobs: (readonly string[])[] = [];
  for (const place of places) {
    place.service.fault('generate', { says: { finishReason: 'SAFETY' } }, { times: 1 });
    const { code, rows, out, err } = await place.run('--json');
    expect(code, err).toBe(1);
    jobs.push(rows.map(({ job = '' }) => job));
    const { replies } = JSON.parse(out) as { replies?: string };
    expect(replies).toBe(place === none ? undefined : 'runs/text/replies');
  }
  expect(jobs[1]).toEqual(jobs[0]);
  expect(jobs[2]).toEqual(jobs[0]);
  expect(await linesOf(all.directory)).toEqual(jobs[0]?.toSorted());
  expect(await linesOf(failed.directory)).toHaveLength(1);
  expect(await linesOf(none.directory)).toEqual([]);
  await all.edit(says('keepReplies: none'));
  const calls = all.calls();
  expect((await all.run()).code).toBe(1);
  expect(all.calls()).toBe(calls);
});

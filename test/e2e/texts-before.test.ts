import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import type { JobRecord } from '../../src/plan/job.ts';
import { describedText, textOutputs } from '../../src/plan/resolve/reply.ts';
import { openDatabase } from '../../src/state/sqlite/sqlite.ts';
import { openState } from '../../src/state/state.ts';
import { promptpress } from '../cli/test-io.ts';
import { readManifest } from '../rig/manifest.ts';
import { repliesOf } from '../rig/replies.ts';
import { openTextPlace } from './text-rig.ts';

const pipeline = (animals: string): string => `
matrix: { animal: [${animals}] }
steps:
  say: { generate: { model: text-pro, prompt: "Say {{ animal }}" } }
  more: { from: say, generate: { model: text-pro, prompt: "And then?", continue: say } }
  grid: { imagine: "{{ steps.more.text }}" }
  words: { from: grid, describe: { image: parent } }
`;

/** Turns a run directory into one of the release before: state version 5, a file for each text and each reply. */
async function takeBack(directory: string, interrupted: (record: JobRecord) => boolean): Promise<void> {
  const replies = await repliesOf(directory);
  const state = openState(directory);
  const records: JobRecord[] = [];
  for await (const record of state.reader.withStatus('done')) records.push(record);
  state.close();
  const database = openDatabase(join(directory, 'state.db'));
  database.exec(`
    DROP TABLE texts; DROP TABLE redos; DELETE FROM facts WHERE name = 'replies.end'; DROP INDEX jobs_child; DROP INDEX jobs_slot;
    CREATE INDEX jobs_slot ON jobs (slot); CREATE INDEX jobs_root ON jobs (key) WHERE root = 1; PRAGMA user_version = 5`);
  const put = database.prepare('UPDATE jobs SET doc = ?, status = ? WHERE key = ?');
  for (const record of records) {
    const { key, text, result } = record;
    const described = describedText(result);
    const texts =
      text !== undefined
        ? textOutputs(text)
        : described === undefined
          ? []
          : [{ output: 1, candidate: 1, text: described, mime: 'text/plain' }];
    if (texts.length === 0) continue;
    const artifacts = [];
    for (const { output, candidate, text: said, mime } of texts) {
      const file = `text/${key.slice(0, 2)}/${key}-${output}.txt`;
      await mkdir(join(directory, dirname(file)), { recursive: true });
      await writeFile(join(directory, file), said);
      const sha256 = createHash('sha256').update(said).digest('hex');
      artifacts.push({ output, file, bytes: Buffer.byteLength(said), sha256, mime, candidate });
    }
    const answerFile = `text/${key.slice(0, 2)}/${key}.answer.json`;
    if (text !== undefined)
      await writeFile(join(directory, answerFile), JSON.stringify(replies.byJob.get(key)?.at(-1)));
    const { reply: _, ...rest } = text ?? { candidates: [] };
    const saving = interrupted(record);
    const before = {
      ...record,
      ...(text === undefined ? {} : { text: { ...rest, answerFile } }),
      ...(saving ? { status: 'saving', artifacts: [] } : { artifacts }),
    };
    put.run(JSON.stringify(before), saving ? 'saving' : 'done', key);
  }
  database.exec(
    'UPDATE totals SET jobs = 0; INSERT INTO totals SELECT status, code, count(*), sum(attempts), sum(cost), sum(tokens), sum(possible), sum(assumed) FROM jobs WHERE 1 GROUP BY status, code ON CONFLICT DO UPDATE SET jobs = excluded.jobs, attempts = excluded.attempts, cost = excluded.cost, tokens = excluded.tokens, possible = excluded.possible, assumed = excluded.assumed',
  );
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
  await rm(join(directory, 'replies'), { recursive: true });
}

it('a directory of the release before is read and continued: nothing is asked again, its text files stay', async () => {
  await using place = await openTextPlace(pipeline('fox, owl'));
  const { directory, folder } = place;
  const first = await place.run();
  expect(first.code, first.err).toBe(0);
  const texts = first.rows.filter(({ step }) => step !== 'grid').map(({ text }) => text);
  expect(texts.every((text) => text !== '')).toBe(true);
  // One description was left before its file was written.
  await takeBack(directory, ({ kind, origin }) => kind === 'describe' && origin.cell === 2);
  const [calls, submits] = [place.calls(), place.service.submits.all.length];

  // As it lies, before any run has brought it up to date.
  const listed = await promptpress(['manifest', directory], { cwd: folder });
  expect(listed.code, listed.err).toBe(0);
  const before = await readManifest(join(directory, 'manifest.csv'));
  expect(before.filter(({ step }) => step !== 'grid').map(({ text }) => text)).toEqual(texts);
  const named = before.filter(({ file_name: file = '' }) => file.startsWith('text/'));
  expect(named.map(({ step, cell }) => `${step} ${cell}`)).toEqual([
    'say 1',
    'more 1',
    'words 1',
    'say 2',
    'more 2',
  ]);
  const shown = await promptpress(['show', named[0]?.['job'] ?? '', directory], { cwd: folder });
  expect(shown.out).toMatch(/whole answer +text\/..\/[0-9a-f]{32}\.answer\.json/);

  await place.edit(pipeline('fox, owl, lynx'));
  const next = await place.run();
  expect(next.code, next.err).toBe(0);
  expect([place.calls() - calls, place.service.submits.all.length - submits]).toEqual([2, 2]);
  const { rows } = next;
  expect(rows.filter(({ status }) => status !== 'done')).toEqual([]);
  expect(
    rows
      .slice(0, first.rows.length)
      .filter(({ step }) => step !== 'grid')
      .map(({ text }) => text),
  ).toEqual(texts);
  for (const { file_name: file = '', text, sha256 } of named) {
    expect(rows.some((row) => row['file_name'] === file && row['sha256'] === sha256)).toBe(true);
    expect(await readFile(join(directory, file), 'utf8')).toBe(text);
  }
  // The new cell, and the description that was left, have no file.
  expect(rows.filter(({ file_name: file, text }) => file === '' && text !== '')).toHaveLength(4);
  const replies = await repliesOf(directory);
  expect([replies.byJob.size, replies.lost, replies.unclaimed]).toEqual([2, [], []]);
}, 60_000);

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

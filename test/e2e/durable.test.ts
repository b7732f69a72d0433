import { realpath, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { segmentPath } from '../../src/state/files/segment-files.ts';
import { cli } from '../rig/cli.ts';
import { type DiskCall, readCalls, recordingEnv } from '../rig/disk-calls.ts';
import { openPlace } from '../rig/run-place.ts';
import { quick } from './pipelines.ts';

/** A grid and a caption for each row of a table: images, texts and replies, and a copy of the table. */
const captions = `name: killed
service: { id: fake }
${quick}
matrix:
  rows: animals.csv
steps:
  grid:
    imagine: "{{ animal }}"
  caption:
    from: grid
    chat: { model: text-pro, prompt: "Caption the {{ animal }}.", images: [parent] }
`;

type Call = DiskCall['call'];

/** What each file that got its final name by a rename went through, from its first write to what the name needs. */
function reportOf(calls: readonly DiskCall[], { path, to = '', began, ended }: DiskCall): readonly string[] {
  const own = calls.filter((one) => one.path === path && one.began < ended);
  const written = own.findLast(({ call }) => call === 'write');
  const synced = own.findLast((one) => one.call === 'sync' && one.began > (written?.ended ?? 0));
  const named = calls.find((one) => isSync(one, dirname(to)) && one.began > ended);
  const isWhole = written !== undefined && synced !== undefined && synced.ended < began;
  return [isWhole ? 'synced before' : 'not synced', named === undefined ? 'name not synced' : 'name synced'];
}

const isSync = ({ call, path }: DiskCall, file: string): boolean => call === 'sync' && path === file;

describe('what a run says is done', () => {
  let calls: readonly DiskCall[];
  let directory: string;
  let file: string;
  const of = (call: Call): readonly DiskCall[] => calls.filter((one) => one.call === call);
  const commits = (): readonly DiskCall[] => of('commit');
  const renameTo = (file: string): readonly DiskCall[] => of('rename').filter(({ to }) => to === file);

  beforeAll(async () => {
    await using place = await openPlace(captions);
    await writeFile(join(place.folder, 'animals.csv'), 'animal\nfox\nowl\n');
    file = join(place.folder, 'calls.jsonl');
    const run = ['run', 'killed.yaml'];
    const { code, stderr } = await cli(run, {
      cwd: place.folder,
      env: { ...place.env, ...recordingEnv(file) },
    });
    if (code !== 0) throw new Error(`The run ended with ${code}:\n${stderr}`);
    calls = await readCalls(file);
    directory = join(await realpath(place.folder), 'runs/killed');
  });

  it('is written, synced, named, and its name synced, before the state says so', () => {
    const done = commits().flatMap(({ began, jobs = [] }) =>
      jobs.filter(({ status }) => status === 'done').map(({ files }) => ({ began, files })),
    );
    const folders = done.flatMap(({ files }) => files.map((file) => String(file.split('/')[0]))).toSorted();
    expect(folders).toEqual(['images', 'images']);
    for (const { began, files } of done) {
      for (const file of files) {
        const target = join(directory, file);
        const [renamed] = renameTo(target);
        const before = calls.filter(({ ended }) => ended < began);
        expect(renamed && reportOf(before, renamed), file).toEqual(['synced before', 'name synced']);
      }
    }
  });

  it('has its whole reply written and synced before the state says where that lies', () => {
    const replies = commits().flatMap(({ began, jobs = [] }) =>
      jobs.flatMap(({ reply }) => (reply === undefined ? [] : [{ began, reply }])),
    );
    expect(replies).toHaveLength(2);
    for (const { began, reply } of replies) {
      const own = calls.filter(
        ({ path, ended }) => path === join(directory, segmentPath(reply.segment)) && ended < began,
      );
      const written = own.find(({ call, end = 0 }) => call === 'write' && end > reply.offset + reply.length);
      expect(own.some((one) => one.call === 'sync' && one.began > (written?.ended ?? Infinity))).toBe(true);
    }
    // The names of the folder and of the file too, and with one file for both.
    for (const folder of [directory, join(directory, 'replies')])
      expect(calls.some((call) => isSync(call, folder) && call.ended < (replies[0]?.began ?? 0))).toBe(true);
    expect(of('create').filter(({ path }) => path.endsWith('.jsonl') && path !== file)).toHaveLength(1);
  });

  it('lies in folders whose names are synced before the state says so', () => {
    const made = of('mkdir').map(({ path, ended }) => ({ path, ended }));
    for (const { began, jobs = [] } of commits()) {
      for (const file of jobs.flatMap(({ status, files }) => (status === 'done' ? files : []))) {
        const folder = dirname(join(directory, file));
        for (const one of made.filter(({ path }) => folder === path || folder.startsWith(`${path}/`))) {
          const synced = calls.find(
            (call) => isSync(call, dirname(one.path)) && call.began > one.ended && call.ended < began,
          );
          expect(synced, `${one.path} of ${file}`).toBeDefined();
        }
      }
    }
    expect(made.map(({ path }) => path)).toEqual(
      expect.arrayContaining([dirname(directory), directory, join(directory, 'images')]),
    );
  });

  it('is said by a state whose name is synced before its first commit', () => {
    const state = join(directory, 'state.db');
    const [made] = of('create').filter(({ path }) => path === state);
    const [first] = commits();
    const synced = calls.find(
      (call) => isSync(call, directory) && call.began > (made?.ended ?? Number.POSITIVE_INFINITY),
    );
    expect(synced?.ended).toBeLessThan(first?.began ?? 0);
  });

  it('is on the disk before the next commit, and before its submissions are counted', () => {
    const log = join(directory, 'state.db-wal');
    const syncs = calls.filter((one) => isSync(one, log));
    const counts = of('write').filter(({ path }) => path === join(directory, 'submissions'));
    const turns = commits().filter(({ jobs = [] }) => jobs.length > 0);
    expect([turns.length > 4, counts.length > 1]).toEqual([true, true]);
    for (const turn of turns) {
      const synced = syncs.find(({ began }) => began > turn.ended)?.ended;
      const next = [...commits(), ...counts].filter(({ began }) => began > turn.ended);
      expect(synced, `step ${turn.ended}`).toBeDefined();
      expect(next.filter(({ began }) => began < (synced ?? 0))).toEqual([]);
    }
    // What is no turn waits for the disk by itself (2: FULL).
    const others = commits().filter(({ jobs = [] }) => jobs.length === 0);
    expect(new Set(others.map(({ synchronous }) => synchronous))).toEqual(new Set([2]));
  });

  it('is listed in files that are written whole, and so are the copies of tables', () => {
    const whole = of('rename').filter(
      ({ to = '' }) => dirname(to) === directory || basename(dirname(to)) === 'inputs',
    );
    const kinds = whole.map(({ to = '' }) => (dirname(to) === directory ? basename(to) : 'inputs'));
    expect(new Set(kinds)).toEqual(new Set(['lock.json', 'inputs', 'run.json', 'manifest.csv']));
    for (const one of whole) {
      // Who holds the lock means nothing after a power cut.
      if (basename(one.to ?? '') === 'lock.json') continue;
      expect(reportOf(calls, one), one.to).toEqual(['synced before', 'name synced']);
    }
  });
});

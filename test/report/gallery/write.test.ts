import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { detailsPerFile, resultsPerFile } from '../../../src/report/gallery/data-folder.ts';
import type { StateReader } from '../../../src/state/reader.ts';
import { finish } from '../../manifest/finish.ts';
import { memoryStore } from '../../rig/memory-store.ts';
import { cellsOf, planOf } from '../../rig/pipeline-builder.ts';
import { makePng } from '../../rig/png.ts';
import { readReport } from '../../rig/report.ts';
import { resultsOf, textRecord } from '../results/rig.ts';
import { countedArtifacts, filesIn, imageRecord, makePlace, type Place, reportOf } from './rig.ts';

let place: Place;
beforeEach(() => {
  place = makePlace();
});
afterEach(() => rmSync(place.root, { recursive: true, force: true }));

/** Something to wait for until it is opened. */
function gate() {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open: () => open(), opened };
}

const foxes = '{ matrix: { n: { from: 1, to: 5 } }, steps: { grid: { imagine: "a fox, {{ n }}" } } }';
const many = (cells: number): string =>
  `{ matrix: { n: { from: 1, to: ${cells} } }, steps: { say: { generate: { model: text-pro, prompt: "{{ n }}" } } } }`;

async function finished(text: string) {
  const plan = await planOf(text);
  const store = memoryStore();
  await finish(plan, store, {
    record: (slot) =>
      slot.kind === 'generate'
        ? textRecord(slot, `said of ${slot.cell}`)
        : imageRecord(place, slot, makePng(slot.cell)),
  });
  return { plan, store };
}

describe('a report', () => {
  it('contains the page, its data and its thumbnails, and nothing else', async () => {
    const { plan, store } = await finished(foxes);
    const totals = await reportOf(place, plan, store, { artifacts: countedArtifacts(place) });
    expect(totals).toEqual({ results: 5, thumbnails: { made: 5, reused: 0, without: {} } });
    const { summary, results, details } = readReport(place.folder);
    const all = await resultsOf(plan, store);
    expect(results).toEqual(
      all.map(({ result, detail }) => ({
        ...result,
        thumbnail: `${detail.sha256?.slice(0, 2)}/${detail.sha256}.webp`,
      })),
    );
    expect(details).toEqual(all.map(({ detail }) => detail));
    expect(summary.files).toEqual({ resultsPerFile, detailsPerFile, runDirectory: '../' });
    expect(Object.keys(filesIn(place.folder))).toEqual(
      [
        'data/details-00000.js',
        'data/results-00000.js',
        'data/summary.js',
        'index.html',
        'page.css',
        'page.js',
        ...results.map(({ thumbnail }) => `thumbnails/${thumbnail}`),
      ].sort(),
    );
    expect(readFileSync(join(place.folder, 'index.html'), 'utf8')).toBe(
      '<body><script src="page.js"></script><script src="data/summary.js"></script></body>',
    );
  });

  it('has the same bytes when it is written twice, except the time of its facts', async () => {
    const { plan, store } = await finished(foxes);
    await reportOf(place, plan, store, { artifacts: countedArtifacts(place) });
    const first = filesIn(place.folder);
    await reportOf(place, plan, store, { artifacts: countedArtifacts(place) });
    expect(filesIn(place.folder)).toEqual(first);
    rmSync(place.folder, { recursive: true });
    await reportOf(place, plan, store, { artifacts: countedArtifacts(place), at: 2_000 });
    const { 'data/summary.js': before, ...others } = first;
    const { 'data/summary.js': after, ...same } = filesIn(place.folder);
    expect(same).toEqual(others);
    expect(after).toBe(before?.replace('"at":1000', '"at":2000'));
  });

  it('splits its data into files, and leaves no files of an earlier longer report', async () => {
    const { plan, store } = await finished(many(3));
    const longer = await planOf(many(2 * resultsPerFile + 1));
    await reportOf(place, longer, store);
    const { results, details } = readReport(place.folder);
    expect(results.map(({ at }) => at)).toEqual(results.map((_, index) => index));
    expect(results).toEqual((await resultsOf(longer, store)).map(({ result }) => result));
    expect(details).toHaveLength(2 * resultsPerFile + 1);
    expect(
      Object.keys(filesIn(join(place.folder, 'data'))).filter((name) => name.startsWith('results')),
    ).toEqual(['results-00000.js', 'results-00001.js', 'results-00002.js']);
    await reportOf(place, plan, store);
    expect(Object.keys(filesIn(join(place.folder, 'data')))).toEqual([
      'details-00000.js',
      'results-00000.js',
      'summary.js',
    ]);
  });

  it('links to the run from any place', async () => {
    const { plan, store } = await finished(foxes);
    const folder = join(place.root, 'elsewhere', 'my report');
    await reportOf(place, plan, store, { folder, directory: join(place.root, 'a #1 ä%') });
    expect(readReport(folder).summary.files?.runDirectory).toBe('../../a%20%231%20%C3%A4%25/');
  });

  it('holds only a few results in memory while it waits', async () => {
    const plan = await planOf(
      '{ matrix: { n: { from: 1, to: 1000 } }, steps: { grid: { imagine: "a fox, {{ n }}" } } }',
    );
    const store = memoryStore();
    const slots = (await cellsOf(plan)).flatMap((cell) => plan.resolve(cell, () => undefined));
    const png = makePng(1);
    store.commit({ records: slots.map((slot) => imageRecord(place, slot, png)), attempts: [] });
    const seen = new Set<string>();
    const reader: StateReader = {
      ...store.reader,
      many: (keys) => {
        for (const key of keys) seen.add(key);
        return store.reader.many(keys);
      },
    };
    const held = gate();
    const artifacts = countedArtifacts(place);
    const writing = reportOf(place, plan, store, {
      reader,
      artifacts: { get: async (...asked) => await held.opened.then(() => artifacts.get(...asked)) },
    });
    // As many turns as the whole report would take without thumbnails, many times over.
    for (let turn = 0; turn < 500; turn += 1) await new Promise(setImmediate);
    expect(seen.size).toBeLessThan(400);
    held.open();
    expect((await writing).results).toBe(1000);
    expect(seen.size).toBe(1000);
  });
});

describe('a report that is not finished', () => {
  it('keeps the old report complete, and leaves no other files', async () => {
    const { plan, store } = await finished(foxes);
    await reportOf(place, plan, store);
    const before = filesIn(place.folder);
    const stop = new AbortController();
    const stopped = reportOf(place, await planOf(many(50)), store, {
      signal: stop.signal,
      onProgress: ({ results }) => {
        if (results >= 20) stop.abort(new Error('stopped here'));
      },
    });
    await expect(stopped).rejects.toThrow('stopped here');
    expect(filesIn(place.folder)).toEqual(before);
  });

  it('is removed by the next writer after a kill', async () => {
    const { plan, store } = await finished(foxes);
    await reportOf(place, plan, store);
    const before = filesIn(place.folder);
    mkdirSync(join(place.folder, 'data.0123abcd.part'));
    writeFileSync(join(place.folder, 'data.0123abcd.part', 'results-00000.js'), 'promptp');
    writeFileSync(join(place.folder, 'index.html.0123abcd.part'), '<bo');
    await reportOf(place, plan, store);
    expect(filesIn(place.folder)).toEqual(before);
  });

  it('yields to a report that begins later, and says so', async () => {
    const { plan, store } = await finished(foxes);
    const [first, begun] = [gate(), gate()];
    const held = {
      get: async () => {
        begun.open();
        await first.opened;
        return { ok: false, why: 'missing' } as const;
      },
    };
    const writing = reportOf(place, plan, store, { artifacts: held });
    await begun.opened;
    await reportOf(place, plan, store);
    const later = filesIn(place.folder);
    first.open();
    await expect(writing).rejects.toMatchObject({ code: 'state.locked' });
    expect(filesIn(place.folder)).toEqual(later);
  });

  it('reports an error of the disk', async () => {
    const { plan, store } = await finished(foxes);
    const full = Object.assign(new Error('ENOSPC: no space left on device, read'), {
      code: 'ENOSPC',
      syscall: 'read',
    });
    await expect(
      reportOf(place, plan, store, { artifacts: { get: () => Promise.reject(full) } }),
    ).rejects.toMatchObject({ code: 'ENOSPC' });
    expect(filesIn(place.folder)).toEqual({});
  });
});

describe('the folder of a report', () => {
  const refused = async (): Promise<unknown> => {
    const { plan, store } = await finished(foxes);
    return await reportOf(place, plan, store, { artifacts: countedArtifacts(place) }).catch(
      (error: unknown) => error,
    );
  };

  it.each([
    ['data', (folder: string, to: string) => symlinkSync(to, join(folder, 'data'))],
    ['thumbnails', (folder: string, to: string) => symlinkSync(to, join(folder, 'thumbnails'))],
    ['page.js', (folder: string, to: string) => symlinkSync(join(to, 'file'), join(folder, 'page.js'))],
  ])('is refused if %s is a link, and nothing behind the link is changed', async (_name, link) => {
    const other = join(place.root, 'other');
    mkdirSync(other);
    mkdirSync(place.folder);
    writeFileSync(join(other, 'file'), 'mine');
    link(place.folder, other);
    expect(await refused()).toMatchObject({ code: 'directory.link' });
    expect(filesIn(other)).toEqual({ file: 'mine' });
  });

  it('is refused if a folder of thumbnails is a link', async () => {
    const { plan, store } = await finished(foxes);
    const other = join(place.root, 'other');
    mkdirSync(other);
    mkdirSync(join(place.folder, 'thumbnails'), { recursive: true });
    for (const { detail } of await resultsOf(plan, store))
      symlinkSync(other, join(place.folder, 'thumbnails', detail.sha256?.slice(0, 2) ?? ''));
    await expect(reportOf(place, plan, store, { artifacts: countedArtifacts(place) })).rejects.toMatchObject({
      code: 'directory.link',
    });
    expect(filesIn(other)).toEqual({});
  });

  it.each([
    ['a page of somebody', { 'index.html': 'my home page' }],
    ['files', { 'notes.txt': 'mine' }],
    ['data that are not ours', { 'data/summary.js': 'let x = 1;' }],
    [
      'files among our data',
      { 'data/summary.js': "promptpress.summary(JSON.parse('{}'));", 'data/mine.js': '' },
    ],
  ])('is refused if it contains %s, and nothing is changed', async (_what, files) => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(place.folder, name, '..'), { recursive: true });
      writeFileSync(join(place.folder, name), text);
    }
    expect(await refused()).toMatchObject({ code: 'directory.foreign' });
    expect(filesIn(place.folder)).toEqual(files);
  });
});

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openPlace, type RunPlace } from '../../rig/run-place.ts';
import { nextTurn, Served } from '../../rig/served.ts';

const pipeline = (animals: string): string => `name: killed
poll: { min: 1ms, max: 1ms }
matrix: { animal: [${animals}] }
steps:
  grid: { imagine: "{{ animal }}", path: U1 }
  say: { generate: { model: text-pro, prompt: "{{ animal }}?" } }
`;

let place: RunPlace;
let served: Served;
afterEach(async () => {
  await served.end();
  await place[Symbol.asyncDispose]();
});

describe('promptpress serve during a run', () => {
  it('sends viewers changes, at most once a tick, and the end of the run', async () => {
    place = await openPlace(pipeline('fox, owl, hare'));
    const polls = place.service.fault('fetch', { hang: 'before' });
    const run = place.run();
    await place.service.reached('fetch', 1);
    served = await Served.open(place.folder, 'killed.yaml');
    const during = await served.until(({ statuses }) => (statuses.running ?? 0) === 3);
    expect([during.live, during.results, during.statuses.pending]).toEqual([true, 9, 3]);
    expect(during.planned?.total).toBe(9);
    const viewers = await Promise.all(Array.from({ length: 20 }, () => served.watch()));
    while (viewers.some(({ summaries }) => summaries.length === 0)) await nextTurn();

    polls.release();
    let ticks = 0;
    const over = new AbortController();
    void run.finally(() => over.abort());
    while (!over.signal.aborted) {
      served.test.tick();
      ticks += 1;
      // The run has this thread too, and goes on while the server answers.
      await served.summary();
    }
    expect((await run).code).toBe(0);
    const after = await served.until(({ live, statuses }) => !live && statuses.done === 9);
    const planned = { total: 9, settled: 9, percent: 100 };
    expect(after).toMatchObject({ results: 9, indexed: 9, totals: { submissions: 9 }, planned });
    served.test.tick();
    ticks += 1;
    while (viewers.some(({ summaries }) => summaries.at(-1)?.live !== false)) {
      served.test.tick();
      ticks += 1;
      await nextTurn();
    }
    for (const { summaries } of viewers) {
      expect(summaries.at(-1)).toMatchObject({ live: false, statuses: { done: 9 } });
      // The first is told when a viewer comes.
      expect(summaries.length).toBeLessThanOrEqual(ticks + 1);
    }
    const { results } = await served.results({ statuses: ['done'], search: 'owl' });
    expect(results.map(({ step, branch }) => `${step} ${branch}`)).toEqual(['grid ', 'grid U1', 'say ']);
    expect((await place.rows()).map(({ file_name: name }) => name)).toEqual(
      (await served.results()).results.map(({ file = '' }) => file),
    );
  });

  it('sends only heartbeats while nothing changes', async () => {
    place = await openPlace(pipeline('fox'));
    await place.run();
    served = await Served.open(place.folder, 'killed.yaml');
    await served.filled();
    // What takes long to count is counted again after a rest.
    await served.until(({ variables }) => variables[0]?.values[0]?.[1] === 3);
    for (let tick = 0; tick < 5; tick += 1) {
      served.test.tick();
      await served.summary();
    }
    const viewer = await served.watch();
    for (let tick = 0; tick < 40; tick += 1) {
      served.test.tick();
      await served.summary();
    }
    expect(viewer.summaries.length).toBe(1);
  });

  it('shows the results of an edited pipeline once that has run', async () => {
    place = await openPlace(pipeline('fox'));
    await place.run();
    served = await Served.open(place.folder, 'killed.yaml');
    expect((await served.filled()).results).toBe(3);
    await writeFile(join(place.folder, 'killed.yaml'), pipeline('lynx, fox'));
    expect((await place.run()).code).toBe(0);
    const after = await served.until(
      ({ indexed, live, variables }) =>
        indexed === 6 && !live && variables[0]?.values.filter(([, of]) => of === 3).length === 2,
    );
    expect(after.variables).toEqual([
      {
        name: 'animal',
        distinct: 2,
        values: [
          ['lynx', 3],
          ['fox', 3],
        ],
      },
    ]);
  });

  it('shows the part of the plan that the last run chose', async () => {
    place = await openPlace(pipeline('fox, lynx'));
    expect((await place.run('--limit', '1')).code).toBe(0);
    served = await Served.open(place.folder, 'killed.yaml');
    expect((await served.filled()).results).toBe(3);
    expect((await place.run('--max-submits', '0')).code).toBe(4);
    await served.until(({ indexed, results }) => indexed === 6 && results === 6);
  });

  it('accepts 64 viewers, and another one after one has left', async () => {
    place = await openPlace(pipeline('fox'));
    await place.run();
    served = await Served.open(place.folder, 'killed.yaml');
    const viewers = await Promise.all(Array.from({ length: 64 }, () => served.watch()));
    expect(new Set(viewers.map(({ status }) => status))).toEqual(new Set([200]));
    const refused = await served.watch();
    expect(refused.status).toBe(503);
    viewers[0]?.leave();
    for (;;) {
      const next = await served.watch();
      if (next.status === 200) break;
    }
  });
});

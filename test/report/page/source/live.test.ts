import { expect, test } from 'vitest';
import { type LiveEvents, LiveSource } from '../../../../src/report/page/source/live.ts';
import type { PageFound, PageResult, PageSummary } from '../../../../src/report/results/wire.ts';
import { summaryOf } from '../../../browser/report.ts';
import { rowsOfCell } from '../../../browser/rows.ts';

const summary: PageSummary = { ...summaryOf('foxes', 40, () => false), live: true };
const [result] = rowsOfCell(0, () => false).map((row) => row.result) as [PageResult];

/** What a server says of a run of one result. */
const found = (status: PageResult['status'], more: Partial<PageFound> = {}): PageFound => ({
  total: 1,
  results: [{ ...result, status }],
  ...more,
});

/** A live source; the test answers its questions, speaks for the server, and lets time pass. */
async function opened() {
  const asked: { readonly answer: (found: PageFound) => void; readonly refuse: () => void }[] = [];
  const later: { readonly milliseconds: number; readonly call: () => void }[] = [];
  let events: LiveEvents | undefined;
  const source = new LiveSource({
    json: (address) =>
      address === 'api/summary'
        ? Promise.resolve(summary)
        : new Promise<PageFound>((resolve, reject) => {
            asked.push({ answer: resolve, refuse: () => reject(new Error('gone')) });
          }),
    events: (_address, on) => {
      events = on;
    },
    later: (milliseconds, call) => later.push({ milliseconds, call }),
  });
  await source.open();
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return {
    asked,
    later,
    shown: () => source.found?.result(0)?.status,
    change: () => events?.changed(summary),
    answer: async (at: number, answer: PageFound): Promise<void> => {
      asked[at]?.answer(answer);
      await settled();
    },
    refuse: async (at: number): Promise<void> => {
      asked[at]?.refuse();
      await settled();
    },
  };
}

test('loads a page again after a change, and shows the old one until then', async () => {
  const { asked, answer, change, shown } = await opened();
  await answer(0, found('running'));
  change();
  expect([asked.length, shown()]).toEqual([2, 'running']);
  await answer(1, found('done'));
  expect([asked.length, shown()]).toEqual([2, 'done']);
});

test('loads again what changed while a response was on its way', async () => {
  const { asked, answer, change, shown } = await opened();
  change();
  expect(asked.length).toBe(1);
  await answer(0, found('running'));
  expect([asked.length, shown()]).toEqual([2, 'running']);
  change();
  change();
  await answer(1, found('running'));
  expect(asked.length).toBe(3);
  await answer(2, found('done'));
  expect([asked.length, shown()]).toEqual([3, 'done']);
});

test('repeats a request with an outdated response when a newer one is available', async () => {
  const { asked, answer, later, shown } = await opened();
  await answer(0, found('running', { again: 3000 }));
  expect([asked.length, later.map(({ milliseconds }) => milliseconds)]).toEqual([1, [3000]]);
  later[0]?.call();
  await answer(1, found('running', { again: 0 }));
  expect([asked.length, later.map(({ milliseconds }) => milliseconds)]).toEqual([2, [3000, 500]]);
  later[1]?.call();
  await answer(2, found('done'));
  expect([asked.length, later.length, shown()]).toEqual([3, 2, 'done']);
});

test('repeats a request whose response was lost after a change', async () => {
  const { asked, answer, change, later, refuse, shown } = await opened();
  await answer(0, found('running'));
  change();
  await refuse(1);
  expect([asked.length, later.length]).toEqual([2, 1]);
  later[0]?.call();
  await answer(2, found('done'));
  expect([asked.length, shown()]).toEqual([3, 'done']);
});

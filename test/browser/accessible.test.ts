import axe from 'axe-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OpenReport, openReport } from './opened.ts';

let report: OpenReport;
beforeAll(async () => {
  report = await openReport({ cells: 60 });
});
afterAll(async () => {
  await report[Symbol.asyncDispose]();
});

const views = [
  '',
  '#open=27',
  '#open=5',
  '#open=80',
  '#compare=0,9,4',
  '#tab=charts',
  '#tab=failures',
  '#search=zeppelin',
  '#search=winter&status=done',
];
const looks = [
  ['light', { colorScheme: 'light' }],
  ['dark', { colorScheme: 'dark' }],
  ['360 pixels wide', { viewport: { width: 360, height: 740 } }],
] as const;

test.each(looks.flatMap(([look, options]) => views.map((view) => [view, look, options] as const)))(
  'axe finds nothing wrong with “%s”, %s',
  async (view, _look, options) => {
    const { page } = await report.open(view, options);
    if (view.includes('open=')) await page.getByRole('navigation', { name: 'Lineage' }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.context().close();
  },
);

test('axe finds nothing wrong with the drawer of filters and with marks', async () => {
  const { page } = await report.open('', { viewport: { width: 360, height: 740 } });
  await page.getByRole('button', { name: 'grid, cell 1, done', exact: true }).focus();
  for (const key of ['k', 's', 'ArrowRight', 'x', 's']) await page.keyboard.press(key);
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Filters' }).click();
  await page.getByRole('dialog', { name: 'Filters' }).waitFor();
  expect(await violations(page)).toEqual([]);
});

/** What axe finds, each with the first place where it does. */
async function violations(page: Awaited<ReturnType<OpenReport['open']>>['page']): Promise<unknown> {
  await page.evaluate(axe.source);
  return await page.evaluate(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes[0].html.slice(0, 200) + ' ' + nodes[0].failureSummary))`);
}

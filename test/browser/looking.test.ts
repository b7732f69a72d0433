import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OpenReport, openReport, totalOf } from './opened.ts';

let report: OpenReport;
beforeAll(async () => {
  report = await openReport({ cells: 60 });
});
afterAll(async () => {
  await report[Symbol.asyncDispose]();
});

test('a result opens as a dialog of its name, with its way there as links', async () => {
  const { page } = await report.open();
  await page.getByRole('button', { name: 'grid U2/Vary (Strong), cell 1, done', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'grid U2/Vary (Strong), cell 1, done', exact: true });
  const lineage = dialog.getByRole('navigation', { name: 'Lineage' });
  await lineage.waitFor();
  expect(await lineage.getByRole('link').allTextContents()).toEqual(['grid', 'U2', 'Vary (Strong)']);
  await lineage.getByRole('link', { name: 'U2', exact: true }).click();
  await page.getByRole('dialog', { name: 'grid U2, cell 1, done', exact: true }).waitFor();
  await expect.poll(() => page.getByRole('link', { name: 'Vary (Strong)' }).count()).toBe(1);
  await page.goBack();
  await dialog.waitFor();
});

test('a dialog says prompt, variables, cost, tokens, times and, of a failure, what to do', async () => {
  const { page } = await report.open('#open=28');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('heading', { name: 'Tokens' }).waitFor();
  for (const name of ['Prompt', 'Variables', 'Cost and time'])
    expect(await dialog.getByRole('heading', { name, exact: true }).count()).toBe(1);
  expect(await dialog.getByRole('row', { name: 'total 374' }).count()).toBe(1);
  const { page: failed } = await report.open('#open=80');
  const problem = failed.getByRole('dialog').getByRole('region', { name: 'Error' });
  await problem.waitFor();
  expect(await problem.textContent()).toContain('task-failed');
  expect(await problem.textContent()).toContain('promptpress run foxes.yaml --retry-failed');
});

test('JSON is shown in lines, with its numbers as they are', async () => {
  const { page } = await report.open('#open=5');
  await expect
    .poll(() => page.getByRole('dialog').locator('.code-text').textContent())
    .toContain('\n  "id": 12345678901234567890,\n');
});

test('three results are compared, zoomed and moved together', async () => {
  const { page } = await report.open();
  for (const name of ['grid, cell 1, done', 'grid U1, cell 1, done', 'grid U2, cell 1, done'])
    await page.getByRole('checkbox', { name: `Select ${name}`, exact: true }).check({ force: true });
  await page.getByRole('button', { name: 'Compare', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Compare 3 results' });
  await dialog.getByRole('button', { name: 'Zoom in' }).click();
  await page.keyboard.press('ArrowRight');
  const images = await dialog.locator('.pane-picture img').all();
  expect(await Promise.all(images.map((image) => image.getAttribute('style')))).toEqual(
    Array.from({ length: 3 }, () => 'transform: translate(-10%, 0%) scale(1.5);'),
  );
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
});

test('neither the box nor the mark of a card lies on its text', async () => {
  const { page } = await report.open('#search=lighthouse', { viewport: { width: 360, height: 740 } });
  const card = page.locator('.card:has(.prose)').first();
  await card.getByRole('button').focus();
  await page.keyboard.press('k');
  const text = await card.locator('.prose').evaluate((words) => {
    const { document } = globalThis as unknown as {
      document: {
        createRange: () => {
          selectNodeContents: (of: unknown) => void;
          getClientRects: () => { top: number }[];
        };
      };
    };
    const range = document.createRange();
    range.selectNodeContents(words);
    return range.getClientRects()[0]?.top;
  });
  for (const part of ['.select', '.mark-sign']) {
    const { y = Number.NaN, height = Number.NaN } = (await card.locator(part).boundingBox()) ?? {};
    expect(y + height).toBeLessThanOrEqual(text ?? 0);
  }
});

test('at most four results are selected; two are needed', async () => {
  const { page } = await report.open();
  const boxes = page.getByRole('checkbox', { name: /^Select / });
  await boxes.nth(0).check({ force: true });
  expect(await page.getByRole('button', { name: 'Compare', exact: true }).isDisabled()).toBe(true);
  for (const n of [1, 2, 3]) await boxes.nth(n).check({ force: true });
  await boxes.nth(4).check({ force: true });
  expect(await page.getByText('4 selected').count()).toBe(1);
  expect(await boxes.nth(0).isChecked()).toBe(false);
});

test('everything is done by the keyboard alone', async () => {
  const { page } = await report.open();
  await page.keyboard.press('/');
  await page.keyboard.type('winter');
  await expect.poll(() => page.url()).toContain('search=winter');
  const focused = () => page.evaluate('document.activeElement.getAttribute("aria-label")');
  for (let n = 0; n < 20 && (await focused()) !== 'grid, cell 1, done'; n += 1)
    await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowRight');
  await expect.poll(focused).toBe('grid U1, cell 1, done');
  await page.keyboard.press('k');
  await page.keyboard.press('s');
  await page.keyboard.press('End');
  await expect.poll(focused).toMatch(/^late, cell 60,/);
  await page.keyboard.press('Home');
  await expect.poll(focused).toBe('grid, cell 1, done');
  await page.keyboard.press('x');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'grid, cell 1, done', exact: true }).waitFor();
  await page.keyboard.press('ArrowRight');
  await page.getByRole('dialog', { name: 'grid U1, cell 1, done', exact: true }).waitFor();
  await page.keyboard.press('Escape');
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
  await expect.poll(focused).toBe('grid U1, cell 1, done');
  expect(await page.getByText('1 kept').count()).toBe(1);
  expect(await page.getByText('1 rejected').count()).toBe(1);
});

test.each([
  ['before the card there is drawn', 'End', undefined],
  ['once the card there has the focus', 'End', 'late, cell 60,'],
  ['once the card there has the focus', 'Home', 'grid, cell 1,'],
])('a search that is typed %s (%s) keeps the focus, and gets every letter', async (_when, key, there) => {
  const { page } = await report.open();
  const focused = () => page.evaluate('document.activeElement.getAttribute("aria-label")');
  await page.getByRole('grid', { name: 'Results' }).getByRole('button').first().focus();
  if (there !== undefined) {
    await page.keyboard.press(key);
    await page.locator(`[aria-label^="${there}"]:focus`).waitFor();
    await page.keyboard.press('/');
  } else {
    // Both at once: no row is drawn between them.
    await page.evaluate(`for (const key of ['${key}', '/'])
      document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))`);
    await page.locator('[aria-label^="late, cell 60,"]').waitFor();
  }
  await page.keyboard.type('winter');
  await expect.poll(() => page.url()).toContain('search=winter');
  await expect.poll(() => totalOf(page).textContent()).not.toBe('480 of 480 results');
  expect([
    await focused(),
    await page.getByRole('searchbox', { name: 'Search', exact: true }).inputValue(),
  ]).toEqual(['Search', 'winter']);
});

test('marks last, are filtered by, and are handed on as a table of job keys', async () => {
  const { page } = await report.open();
  await page.getByRole('button', { name: 'grid U1, cell 1, done', exact: true }).focus();
  await page.keyboard.press('k');
  await page.reload();
  await page.getByRole('group', { name: 'Marked' }).getByRole('checkbox', { name: 'kept' }).check();
  await expect.poll(() => totalOf(page).textContent()).toBe('1 of 480 results');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download selection' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe('foxes-selection.csv');
  expect(readFileSync(await download.path(), 'utf8')).toMatch(/^job,mark,note\r\n[0-9a-f]{32},keep,\r\n$/);
});

test('each chart can be read as a table', async () => {
  const { page } = await report.open();
  await page.getByRole('tab', { name: 'Charts', exact: true }).click();
  const charts = page.getByRole('tabpanel').getByRole('region');
  const names = await Promise.all((await charts.all()).map((chart) => chart.getAttribute('aria-label')));
  expect(names).toEqual([
    'Throughput',
    'In flight',
    'Cost',
    'Durations by step',
    'Tokens by model',
    'Retries and refusals by step',
    'Failures by reason',
  ]);
  for (const name of names as string[]) {
    await page.getByRole('button', { name: `Show ${name} as a table` }).click();
    expect(await page.getByRole('table', { name }).getByRole('row').count()).toBeGreaterThan(1);
  }
});

test('a reason for failures leads to its results', async () => {
  const { page } = await report.open();
  await page.getByRole('tab', { name: 'Failures', exact: true }).click();
  const reason = page.getByRole('region', { name: 'task-failed' });
  expect(await reason.getByRole('link').first().textContent()).toBe('grid, cell 11, failed');
  await reason.getByRole('button', { name: 'Show these results' }).click();
  await expect.poll(() => totalOf(page).textContent()).toMatch(/^2 of 480 results$/);
});

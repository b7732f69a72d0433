import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OpenReport, openReport, totalOf } from './opened.ts';

let report: OpenReport;
beforeAll(async () => {
  report = await openReport({ cells: 408 });
});
afterAll(async () => {
  await report[Symbol.asyncDispose]();
});

test('a search finds words in prompts, case and accents aside, and marks them', async () => {
  const { page } = await report.open();
  await page.getByRole('searchbox', { name: 'Search', exact: true }).fill('ELAN fox');
  // 25 cells of foxes in that medium; of each, all but the caption's and the judge's prompts name both.
  await expect.poll(() => totalOf(page).textContent()).toMatch(/^\d+ of 3,264 results$/);
  await expect
    .poll(async () => Number.parseInt((await totalOf(page).textContent()) ?? '', 10))
    .toBeLessThan(200);
  const first = page.getByRole('grid', { name: 'Results' }).getByRole('gridcell').first();
  expect(await first.textContent()).toContain('élan pastel');
});

test('a search finds words behind the beginning of a long text', async () => {
  const { page } = await report.open();
  await page.getByRole('searchbox', { name: 'Search', exact: true }).fill('lighthouse 11');
  await expect.poll(() => totalOf(page).textContent()).toMatch(/^[1-9]\d* of 3,264 results$/);
  await expect
    .poll(() =>
      page.getByRole('grid').getByRole('button', { name: 'caption, cell 12, done', exact: true }).count(),
    )
    .toBe(1);
});

test('a search finds words of an error', async () => {
  const { page } = await report.open();
  await page.getByRole('searchbox', { name: 'Search', exact: true }).fill('gave up internal');
  await expect
    .poll(() => page.getByRole('grid').getByRole('button').first().getAttribute('aria-label'))
    .toContain('failed');
});

test('filters of a variable, a step and a status hold together, stand as chips and are cleared', async () => {
  const { page } = await report.open();
  await page
    .getByRole('group', { name: 'animal' })
    .getByRole('checkbox', { name: 'owl', exact: true })
    .check();
  await page
    .getByRole('group', { name: 'Step' })
    .getByRole('checkbox', { name: 'grid', exact: true })
    .check();
  await page
    .getByRole('group', { name: 'Status' })
    .getByRole('checkbox', { name: 'failed', exact: true })
    .check();
  await expect.poll(() => totalOf(page).textContent()).toMatch(/^9 of 3,264 results$/);
  expect(await page.getByRole('list', { name: 'Filters' }).getByRole('button').allTextContents()).toEqual([
    'step: grid',
    'status: failed',
    'animal: owl',
    'Clear all',
  ]);
  await page.getByRole('button', { name: 'Clear all' }).click();
  await expect.poll(() => totalOf(page).textContent()).toBe('3,264 of 3,264 results');
});

test('a variable of many values has a box to find one', async () => {
  const { page } = await report.open();
  const group = page.getByRole('group', { name: 'place' });
  await group.getByRole('searchbox', { name: 'Find place' }).fill('valley 17');
  await group.getByRole('checkbox', { name: 'valley 17', exact: true }).check();
  await expect.poll(() => totalOf(page).textContent()).toBe('128 of 3,264 results');
});

test('sorts by what was chosen', async () => {
  const { page } = await report.open();
  const first = page.getByRole('grid').getByRole('button').first();
  await page.getByRole('combobox', { name: 'Sort by' }).selectOption('newest');
  await expect.poll(() => first.getAttribute('aria-label')).toBe('film, cell 408, done');
  await page.getByRole('combobox', { name: 'Sort by' }).selectOption('plan');
  await expect.poll(() => first.getAttribute('aria-label')).toBe('grid, cell 1, done');
});

test('an address keeps search, filters, order and the open result', async () => {
  const { page } = await report.open();
  await page.getByRole('searchbox', { name: 'Search', exact: true }).fill('winter');
  await page.getByRole('group', { name: 'medium' }).getByRole('checkbox', { name: 'woodcut' }).check();
  await page.getByRole('combobox', { name: 'Sort by' }).selectOption('cost');
  await page.getByRole('grid').getByRole('button').first().click();
  const name = await page.getByRole('dialog').getAttribute('aria-label');
  const address = new URL(page.url()).hash;
  const { page: other } = await report.open(address);
  expect(await other.getByRole('dialog').getAttribute('aria-label')).toBe(name);
  await other.keyboard.press('Escape');
  expect(await totalOf(other).textContent()).toBe(await totalOf(page).textContent());
  expect(await other.getByRole('combobox', { name: 'Sort by' }).inputValue()).toBe('cost');
});

test('says what to do where nothing matches', async () => {
  const { page } = await report.open('#search=zeppelin');
  await expect.poll(() => totalOf(page).textContent()).toBe('0 of 3,264 results');
  await page.getByRole('button', { name: 'Clear all filters' }).click();
  await expect.poll(() => totalOf(page).textContent()).toBe('3,264 of 3,264 results');
});

test('draws only the results that are seen, however many there are', async () => {
  const { page } = await report.open();
  const grid = page.getByRole('grid', { name: 'Results' });
  expect(await grid.getAttribute('aria-rowcount')).toBe('816');
  await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
  await expect.poll(() => grid.getByRole('button', { name: /cell 408,/ }).count()).toBeGreaterThan(0);
  expect(await grid.getByRole('button').count()).toBeLessThan(80);
});

test('each cell begins a row where that is chosen', async () => {
  const { page } = await report.open('', { viewport: { width: 1100, height: 2000 } });
  await page.getByRole('button', { name: 'Rows by cell' }).click();
  const rows = page.getByRole('grid', { name: 'Results' }).getByRole('row');
  const first = rows.filter({ has: page.getByRole('button', { name: 'grid, cell 2, done', exact: true }) });
  await expect
    .poll(() => first.getByRole('button').first().getAttribute('aria-label'))
    .toBe('grid, cell 2, done');
  await page.getByRole('combobox', { name: 'Sort by' }).selectOption('cost');
  expect(await page.getByRole('button', { name: 'Rows by cell' }).count()).toBe(0);
});

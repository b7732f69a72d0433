import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPlace } from '../rig/run-place.ts';
import { Served } from '../rig/served.ts';
import { startChromium } from './chromium.ts';
import { openPage } from './opened.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await startChromium();
});
afterAll(() => browser.close());

const pipeline = `name: killed
poll: { min: 1ms, max: 1ms }
matrix: { animal: [fox, owl, hare] }
steps:
  grid: { imagine: "{{ animal }}", path: U1 }
  say: { generate: { model: text-pro, prompt: "{{ animal }}?" } }
`;

test('the live page follows a run, and asks nobody but its server', async () => {
  await using place = await openPlace(pipeline);
  const polls = place.service.fault('fetch', { hang: 'before' });
  const run = place.run();
  await place.service.reached('fetch', 1);
  const served = await Served.open(place.folder, 'killed.yaml');
  await served.until(({ statuses }) => statuses.running === 3);
  const { page, requests, errors } = await openPage(browser, served.address.href);
  await page.getByRole('button', { name: 'grid, cell 1, running', exact: true }).waitFor();
  // The token is in no address that is kept, and the one before opens nothing.
  expect(page.url()).toBe(`http://${served.host}:${served.port}${served.base}/`);
  const spent = await openPage(browser, `${page.url()}?token=${served.token}`);
  expect(await spent.page.textContent('body')).toContain('lets one browser in');
  await spent.page.context().close();
  expect(await page.evaluate('document.cookie')).toBe('');

  polls.release();
  expect((await run).code).toBe(0);
  const looking = setInterval(() => served.test.tick(), 20);
  try {
    await page.getByRole('button', { name: 'grid U1, cell 3, done', exact: true }).waitFor();
    await page.getByRole('status').filter({ hasText: '9 results' }).first().waitFor();
    await page.locator('img[src*="thumbnails/"]').first().waitFor();
    const width = () => page.evaluate('document.querySelector(\'img[src*="thumbnails/"]\').naturalWidth');
    await expect.poll(width).toBeGreaterThan(0);
    await page.getByRole('searchbox', { name: 'Search' }).fill('owl');
    await page.getByRole('status').filter({ hasText: '3 of 9 results' }).first().waitFor();
    await page.getByRole('button', { name: 'grid U1, cell 2, done', exact: true }).click();
    await page.getByRole('navigation', { name: 'Lineage' }).waitFor();
  } finally {
    clearInterval(looking);
  }
  const origins = new Set(requests.map((url) => new URL(url).origin));
  expect([...origins]).toEqual([`http://${served.host}:${served.port}`]);
  expect(errors).toEqual([]);
  await page.context().close();
  expect(await served.end()).toBe(0);
});

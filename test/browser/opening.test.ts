import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OpenReport, openReport, totalOf } from './opened.ts';
import { long, script } from './rows.ts';

let report: OpenReport;
beforeAll(async () => {
  report = await openReport({ cells: 408 });
});
afterAll(async () => {
  await report[Symbol.asyncDispose]();
});

test('opens from a path with blanks, #, % and ä; asks for nothing else; the policy refuses nothing', async () => {
  const { page, requests, errors } = await report.open();
  expect(await totalOf(page).textContent()).toBe('3,264 of 3,264 results');
  const width = () => page.evaluate('document.querySelector(".face img").naturalWidth');
  await expect.poll(width).toBeGreaterThan(0);
  expect(requests.length).toBeGreaterThan(5);
  expect(requests.filter((address) => !address.startsWith('file:///') || !address.includes('%237'))).toEqual(
    [],
  );
  expect(errors).toEqual([]);
});

test('has a policy that a request to elsewhere is refused by', async () => {
  const { page } = await report.open();
  const refused = await page.evaluate(`new Promise((resolve) => {
    addEventListener('securitypolicyviolation', ({ effectiveDirective }) => resolve(effectiveDirective));
    new Image().src = 'http://127.0.0.1:9/pixel.png';
  })`);
  expect(refused).toBe('img-src');
});

test('shows a prompt of markup as text', async () => {
  const { page } = await report.open('#open=8');
  await expect.poll(() => page.getByRole('dialog').locator('.prompt').textContent()).toBe(script);
  expect(await page.evaluate('globalThis.broken')).toBeUndefined();
});

test('shows a prompt of 10,000 characters in part, and whole when asked', async () => {
  const { page } = await report.open('#open=16');
  const dialog = page.getByRole('dialog');
  await expect.poll(async () => (await dialog.locator('.prompt').textContent())?.length).toBeLessThan(2000);
  await dialog.getByRole('button', { name: 'Show all of the prompt' }).click();
  expect(await dialog.locator('.prompt').textContent()).toBe(long);
});

test('lays a text out from right to left where it is written so', async () => {
  const { page } = await report.open('#open=28');
  await page.locator('.prose-text').waitFor();
  const direction = 'getComputedStyle(document.querySelector(".prose-text")).direction';
  expect(await page.evaluate(direction)).toBe('rtl');
});

test('plays a video only when asked, in its dialog', async () => {
  const { page } = await report.open('#open=6');
  const video = page.getByRole('dialog').locator('video');
  await video.waitFor();
  expect(await video.getAttribute('controls')).not.toBeNull();
  expect(await video.getAttribute('autoplay')).toBeNull();
});

test.each([320, 360, 768])('nothing is wider than a window of %i pixels', async (width) => {
  for (const hash of ['', '#open=27', '#open=16', '#compare=0,9,10', '#tab=charts', '#tab=failures']) {
    const { page } = await report
      .open(hash === '' ? '' : hash, { viewport: { width, height: 640 } })
      .catch(async () => {
        throw new Error(`${hash} does not open at ${width}`);
      });
    expect([hash, await page.evaluate('document.documentElement.scrollWidth <= innerWidth')]).toEqual([
      hash,
      true,
    ]);
    await page.context().close();
  }
});

test('says what to do where data are missing', async () => {
  const { page } = await report.open();
  await page.route('**/results-00001.js', (route) => route.abort());
  await page.reload();
  await expect.poll(() => page.getByRole('alert').textContent()).toContain('promptpress report');
});

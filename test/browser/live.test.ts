import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startChromium } from './chromium.ts';
import { type LiveServer, startLiveServer } from './live-server.ts';
import { openPage, totalOf } from './opened.ts';

let browser: Browser;
let server: LiveServer;
beforeAll(async () => {
  browser = await startChromium();
});
beforeEach(async () => {
  server = await startLiveServer(50);
  return () => server[Symbol.asyncDispose]();
});
afterAll(() => browser.close());

test('shows results as they come, asks nobody else, and keeps what is open', async () => {
  const { page, requests } = await openPage(browser, server.address);
  await expect.poll(() => totalOf(page).textContent()).toBe('400 of 400 results');
  await page.getByRole('button', { name: 'caption, cell 1, done', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'caption, cell 1, done' });
  await dialog.getByRole('heading', { name: 'Tokens' }).waitFor();
  server.grow(60);
  await expect.poll(() => totalOf(page).textContent()).toBe('480 of 480 results');
  expect(await dialog.getByRole('heading', { name: 'Tokens' }).count()).toBe(1);
  expect(requests.filter((address) => !address.startsWith(server.address))).toEqual([]);
});

test('asks for what is looked at, and no more', async () => {
  const { page } = await openPage(browser, server.address);
  await expect.poll(() => totalOf(page).textContent()).toBe('400 of 400 results');
  await page
    .getByRole('group', { name: 'Step' })
    .getByRole('checkbox', { name: 'judge', exact: true })
    .check();
  await expect.poll(() => totalOf(page).textContent()).toBe('50 of 400 results');
  expect(server.asked.every((address) => /offset=(?:0|120)&limit=120$/.test(address))).toBe(true);
});

test('says that the connection is lost, and goes on when it is back', async () => {
  const { page } = await openPage(browser, server.address);
  await expect.poll(() => totalOf(page).textContent()).toBe('400 of 400 results');
  server.fail(true);
  await expect.poll(() => page.getByRole('alert').textContent()).toContain('The connection is lost');
  server.fail(false);
  await expect.poll(() => page.getByRole('alert').count()).toBe(0);
  server.grow(60);
  await expect.poll(() => totalOf(page).textContent()).toBe('480 of 480 results');
});

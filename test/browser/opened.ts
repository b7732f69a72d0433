import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { temporaryFolder } from '../rig/cli.ts';
import { startChromium } from './chromium.ts';
import { type MadeUp, writeReport } from './report.ts';

/** A browser, and a report that it opens from the disk. */
export interface OpenReport extends AsyncDisposable {
  readonly browser: Browser;
  /** Opens the report with what stands behind `#`, and waits until all results were read. */
  readonly open: (hash?: string, options?: BrowserContextOptions) => Promise<Opened>;
}

export interface Opened {
  readonly page: Page;
  /** Addresses that the page has asked for. */
  readonly requests: readonly string[];
  /** Errors, and what the content-security policy has refused. */
  readonly errors: readonly string[];
}

/** Writes a report into a folder whose path has all that addresses escape, and starts a browser. */
export async function openReport(madeUp: MadeUp): Promise<OpenReport> {
  const folder = await temporaryFolder();
  const place = join(folder.path, 'a run #7 of 100% ä');
  mkdirSync(place);
  const index = pathToFileURL(await writeReport(place, madeUp)).href;
  const browser = await startChromium();
  return {
    browser,
    open: async (hash = '', options = {}) => {
      const opened = await openPage(browser, `${index}${hash}`, options);
      await opened.page.getByRole('tabpanel', { includeHidden: true }).waitFor();
      if (!hash.includes('tab=')) {
        await opened.page.locator('.total', { hasText: 'results' }).waitFor();
        await opened.page.locator('progress').waitFor({ state: 'detached' });
      }
      return opened;
    },
    [Symbol.asyncDispose]: async () => {
      await browser.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** Opens an address in a context of its own, and listens to what the page does. */
export async function openPage(
  browser: Browser,
  address: string,
  options: BrowserContextOptions = {},
): Promise<Opened> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const [requests, errors]: [string[], string[]] = [[], []];
  page.on('request', (request) => requests.push(request.url()));
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  await page.goto(address);
  return { page, requests, errors };
}

/** What the live region says of the results. */
export const totalOf = (page: Page) => page.getByRole('status').filter({ hasText: /results$/ });

import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { installedChromium, startChromium } from '../browser/chromium.ts';
import { writeReport } from '../browser/report.ts';
import { temporaryFolder } from '../rig/cli.ts';
import type { Bench, Measured } from './comparison.ts';

/** 100,000 results. */
const cells = 12_500;

/** A page that has read all of its results. */
interface OpenPage extends AsyncDisposable {
  readonly page: Page;
  readonly browser: Browser;
  /** Milliseconds from the beginning of the navigation to the first results on the screen. */
  readonly first: number;
}

/** A bench of the page over 100,000 results, opened from the disk in an installed Chromium. */
const over100000 = (
  asks: string,
  figureAtMost: number,
  measure: (open: OpenPage) => Promise<number>,
): Bench => ({
  asks,
  allowed: { figureAtMost },
  rounds: 5,
  prepare: async () => {
    if (installedChromium() === undefined) return { notMeasured: 'no Chromium is installed' };
    const folder = await temporaryFolder();
    const address = pathToFileURL(await writeReport(folder.path, { cells })).href;
    const measured = async (): Promise<Measured> => {
      await using open = await openPage(address);
      return { value: await measure(open) };
    };
    return {
      unit: 'ms',
      left: { name: 'page, 100,000 results', measure: measured },
      end: async () => {
        await folder[Symbol.asyncDispose]();
      },
    };
  },
});

async function openPage(address: string): Promise<OpenPage> {
  const browser = await startChromium();
  const page = await (await browser.newContext({ viewport: { width: 1360, height: 860 } })).newPage();
  await page.addInitScript(`new MutationObserver((_, observer) => {
    if (!document.querySelector('.card .open')) return;
    observer.disconnect();
    requestAnimationFrame(() => { globalThis.first = performance.now(); });
  }).observe(document, { subtree: true, childList: true });`);
  await page.goto(address);
  await page.waitForFunction('globalThis.first > 0');
  const first = Number(await page.evaluate('globalThis.first'));
  await page.locator('progress').waitFor({ state: 'detached', timeout: 120_000 });
  await page.waitForTimeout(500);
  return { page, browser, first, [Symbol.asyncDispose]: () => browser.close() };
}

/** Milliseconds from a change of the filters to the screen that shows another total. */
async function untilTotal(page: Page, act: string): Promise<number> {
  return Number(
    await page.evaluate(`new Promise((resolve) => {
      const total = document.querySelector('.total');
      const from = performance.now();
      new MutationObserver((_, observer) => {
        observer.disconnect();
        requestAnimationFrame(() => resolve(performance.now() - from));
      }).observe(total, { subtree: true, characterData: true, childList: true });
      ${act}
    })`),
  );
}

const typed = (text: string): string =>
  `const box = document.querySelector('.search input');
   box.value = ${JSON.stringify(text)};
   box.dispatchEvent(new InputEvent('input', { bubbles: true }));`;

/** CPU time of the longest task of the page, in ms: the wall time of a task is longer where others use the machine. */
async function longestTask({ page, browser }: OpenPage, act: () => Promise<void>): Promise<number> {
  await browser.startTracing(page, { categories: ['toplevel'] });
  await act();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as {
    traceEvents: readonly {
      name: string;
      tid: number;
      pid: number;
      tdur?: number;
      args: { name?: string };
    }[];
  };
  const main = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const tasks = traceEvents.filter(
    ({ name, pid, tid }) => name.endsWith('RunTask') && main.has(`${pid} ${tid}`),
  );
  return Math.max(0, ...tasks.map(({ tdur = 0 }) => tdur / 1000));
}

const scrolled = async (page: Page): Promise<void> => {
  await page.mouse.move(700, 500);
  for (let n = 0; n < 40; n += 1) await page.mouse.wheel(0, 900);
  for (let n = 1; n < 10; n += 1) {
    await page.evaluate(`scrollTo(0, ${n * 700_000})`);
    await page.waitForTimeout(50);
  }
};

export const page: Readonly<Record<string, Bench>> = {
  'page-first': over100000(
    'the first results on the screen, of a report that was opened from the disk',
    1500,
    ({ first }) => Promise.resolve(first),
  ),
  'page-filter': over100000('a filter by a variable, until the screen shows its results', 100, ({ page }) =>
    untilTotal(page, `document.querySelector('[aria-label=owl]').click();`),
  ),
  'page-search': over100000('a search of four words over prompts and errors', 100, ({ page }) =>
    untilTotal(page, typed('winter valley 17 owl')),
  ),
  'page-texts': over100000('the first hits of a search in texts', 100, ({ page }) =>
    untilTotal(page, typed('snow on its back')),
  ),
  'page-task': over100000(
    'CPU of the longest task while lists scroll, filters change and searches are typed',
    50,
    (open) =>
      longestTask(open, async () => {
        await scrolled(open.page);
        await untilTotal(open.page, typed('winter'));
        await untilTotal(open.page, typed('winter owl'));
        await open.page.getByRole('combobox', { name: 'Sort by' }).selectOption('newest');
        await open.page.waitForTimeout(300);
      }),
  ),
};

import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** Where systems keep Chromium, and browsers made of it. */
const places = [
  process.env['CHROMIUM'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/snap/bin/chromium',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** The program of an installed Chromium. */
export function installedChromium(): string | undefined {
  return places.find((place) => place !== undefined && existsSync(place));
}

/** Says before all tests what is missing, once. */
export default function setup(): void {
  if (installedChromium() === undefined)
    throw new Error(
      'These tests drive a Chromium that is installed, and there is none here. Install it (Debian: apt-get install chromium), ' +
        'or name its program: CHROMIUM=/path/to/chromium npm run test:browser',
    );
}

/** Starts the browser. Root may not use its sandbox; its pages are our own. */
export async function startChromium(): Promise<Browser> {
  const executablePath = installedChromium();
  if (executablePath === undefined) throw new Error('No Chromium is installed.');
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return await chromium.launch({ executablePath, args: [...args, '--disable-dev-shm-usage'] });
}

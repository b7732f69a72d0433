/**
 * Makes the pictures of README: `npm run pictures`. A screenshot of the gallery of pipelines/foxes.yaml, and a recording of a terminal in which a
 * run is planned, begun, killed and continued. Needs an installed Chromium and the `script` command of util-linux.
 */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import sharp from 'sharp';
import { startChromium } from '../browser/chromium.ts';
import { commandFile, temporaryFolder } from '../rig/cli.ts';
import { animatedSvg } from './svg.ts';
import { Recording } from './terminal.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const pictures = join(root, '.github/pictures');

/** A killed run can leave a submission in doubt, which is another story: the recording is then made again. */
const maxTries = 6;

let made = await record();
for (let tries = 1; made.isInDoubt && tries < maxTries; tries += 1) {
  await made.folder[Symbol.asyncDispose]();
  made = await record();
}
await using folder = made.folder;
writeFileSync(
  join(pictures, 'run.svg'),
  animatedSvg(
    made.frames,
    'A terminal: a run is planned, begun, killed, continued, and its gallery written.',
  ),
);

async function record() {
  const place = await temporaryFolder();
  const cwd = place.path;
  copyFileSync(join(root, 'pipelines/foxes.yaml'), join(cwd, 'foxes.yaml'));
  const program = `node ${commandFile}`;
  const owner = join(cwd, 'runs/foxes.sandbox/lock.json');
  const recording = new Recording();
  await recording.type('promptpress plan foxes.yaml --sandbox');
  await recording.run(`${program} plan foxes.yaml --sandbox`, cwd);
  recording.pause(4000);
  await recording.clear();
  await recording.type('promptpress run foxes.yaml --sandbox');
  let isKilled = false;
  await recording.run(`${program} run foxes.yaml --sandbox --pace 0.4`, cwd, (said) => {
    const [done = 0] = [...said.matchAll(/(\d+)\/36/g)].map(([, digits]) => Number(digits)).slice(-1);
    if (isKilled || done < 6) return;
    isKilled = true;
    const { pid } = JSON.parse(readFileSync(owner, 'utf8')) as { readonly pid: number };
    process.kill(pid, 'SIGKILL');
  });
  await recording.say('\nKilled\n');
  recording.pause(1800);
  await recording.type('promptpress run foxes.yaml --sandbox');
  let ending = '';
  await recording.run(`${program} run foxes.yaml --sandbox --pace 0.4`, cwd, (said) => {
    ending = said;
  });
  recording.pause(2500);
  await recording.type('promptpress report foxes.yaml --sandbox');
  await recording.run(`${program} report foxes.yaml --sandbox`, cwd);
  return { folder: place, frames: recording.frames, isInDoubt: ending.includes('in doubt') };
}

const browser = await startChromium();
const page = await (await browser.newContext({ viewport: { width: 1360, height: 850 } })).newPage();
await page.goto(pathToFileURL(join(folder.path, 'runs/foxes.sandbox/report/index.html')).href);
await page.getByRole('status').filter({ hasText: 'results' }).waitFor();
await page.waitForFunction('[...document.images].every((image) => image.complete)');
await page.getByRole('slider').fill('160');
await page.evaluate('document.activeElement.blur()');
await page.waitForTimeout(500);
const screen = await page.screenshot();
await browser.close();
writeFileSync(
  join(pictures, 'gallery.jpg'),
  await sharp(screen).jpeg({ quality: 82, mozjpeg: true }).toBuffer(),
);

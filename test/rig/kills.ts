import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cli, startCli, temporaryFolder } from './cli.ts';
import { type FakeService, type FakeTask, startFakeService } from './fake-service.ts';
import { comparable, type ManifestRow, readManifest } from './manifest.ts';
import { makePng } from './png.ts';
import { seededRandom } from './virtual-run.ts';

const routes = ['imagine', 'action', 'fetch', 'image'] as const;

/** The same picture for the same request, so that manifests of two runs can be compared. */
const script = (task: FakeTask): { readonly image: Buffer } => {
  let hash = 7;
  for (const character of `${task.prompt}>${task.path}`)
    hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return { image: makePng(hash) };
};

/** Resolves once the service has got `more` further requests. */
async function heard(service: FakeService, more: number): Promise<void> {
  const count = (): number => routes.reduce((sum, route) => sum + service.count(route), 0);
  const until = count() + more;
  while (count() < until)
    await Promise.race(routes.map((route) => service.reached(route, service.count(route) + 1)));
}

export interface KilledRun {
  /** Of the service, over all starts. */
  readonly tasks: number;
  /** Jobs that were in doubt when the last undisturbed start had ended. */
  readonly doubtful: readonly ManifestRow[];
  /** Exit codes of that start, and of the one that then retried what was in doubt. */
  readonly codes: readonly [number | undefined, number | undefined];
  readonly stderr: string;
  /** Tasks by what was asked, where there were several without a doubt to explain it. */
  readonly duplicates: readonly (readonly [string, number])[];
  readonly rows: readonly ManifestRow[];
  /** Unfinished files that were left lying about. */
  readonly leftovers: readonly string[];
}

export interface KillOptions {
  readonly pipeline: string;
  readonly kills: number;
  readonly seed: number;
  /** The most requests that are waited for before a kill. */
  readonly most: number;
  /** More to wait, in ms, after the last of them: what falls between requests. */
  readonly delayMs?: (random: () => number) => number;
}

async function writePipeline(folder: string, text: string): Promise<string> {
  await writeFile(join(folder, 'killed.yaml'), text);
  return 'killed.yaml';
}

/** Runs a pipeline, kills it again and again with SIGKILL, then lets it finish. */
export async function killAgainAndAgain({
  pipeline,
  kills,
  seed,
  most,
  delayMs,
}: KillOptions): Promise<KilledRun> {
  const service = await startFakeService({ script, log: false });
  try {
    await using folder = await temporaryFolder();
    const file = await writePipeline(folder.path, pipeline);
    const options = {
      cwd: folder.path,
      env: { PROMPTPRESS_BASE_URL: service.url, PROMPTPRESS_API_KEY: service.apiKey },
    };
    const random = seededRandom(seed);
    for (let kill = 0; kill < kills; kill++) {
      const run = startCli(['run', file], options);
      await Promise.race([heard(service, 1 + Math.floor(random() * most)), run.done]);
      const ms = delayMs?.(random) ?? 0;
      if (ms > 0) await Promise.race([new Promise((resolve) => setTimeout(resolve, ms)), run.done]);
      run.child.kill('SIGKILL');
      await run.done;
    }
    const last = await cli(['run', file], options);
    const directory = join(folder.path, 'runs/killed');
    const doubtful = (await readManifest(join(directory, 'manifest.csv'))).filter(
      ({ status }) => status === 'in-doubt',
    );
    const settled = await cli(['run', file, '--in-doubt', 'retry'], options);
    const explained = new Set(
      doubtful.map(({ prompt, branch }) => (branch === '' ? prompt : `${prompt} > ${branch}`)),
    );
    const files = await readdir(directory, { recursive: true });
    return {
      tasks: service.submits.all.length,
      doubtful,
      codes: [last.code, settled.code],
      stderr: `${last.stderr}\n${settled.stderr}`,
      duplicates: [...service.submits.byPath].filter(([path, count]) => count > 1 && !explained.has(path)),
      rows: await readManifest(join(directory, 'manifest.csv')),
      leftovers: files.filter((name) => /\.(tmp|part)$|\.incoming\//.test(name)),
    };
  } finally {
    await service.close();
  }
}

/** The rows of an undisturbed run, without what differs between two runs. */
export async function undisturbed(
  pipeline: string,
): Promise<{ readonly rows: readonly ManifestRow[]; readonly tasks: number }> {
  const service = await startFakeService({ script, log: false });
  try {
    await using folder = await temporaryFolder();
    const file = await writePipeline(folder.path, pipeline);
    const { code, stderr } = await cli(['run', file], {
      cwd: folder.path,
      env: { PROMPTPRESS_BASE_URL: service.url, PROMPTPRESS_API_KEY: service.apiKey },
    });
    if (code !== 0) throw new Error(`The undisturbed run ended with ${code}:\n${stderr}`);
    return {
      rows: comparable(await readManifest(join(folder.path, 'runs/killed/manifest.csv'))),
      tasks: service.submits.all.length,
    };
  } finally {
    await service.close();
  }
}

import { createHash } from 'node:crypto';
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promptpress, type Said } from '../cli/test-io.ts';
import { type CliResult, cli, temporaryFolder } from './cli.ts';
import {
  type FakeService,
  type FakeServiceOptions,
  type FakeTask,
  startFakeService,
} from './fake-service.ts';
import { comparable, type ManifestRow, readManifest } from './manifest.ts';
import { type Mishap, mishapEnv } from './mishap.ts';
import { makePng } from './png.ts';

/** The same picture for the same request, so that manifests of two runs can be compared. */
export const samePictures = ({
  subject,
  prompt,
  path,
}: FakeTask): { readonly image: Buffer; readonly film: number } => {
  let hash = 7;
  for (const character of `${subject}>${prompt}>${path}`)
    hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return { image: makePng(hash), film: hash };
};

/** A service, a pipeline, and the folder it runs in. */
export interface RunPlace extends AsyncDisposable {
  readonly service: FakeService;
  /** Where the pipeline lies, as `killed.yaml`. */
  readonly folder: string;
  /** The run directory. */
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
  /** Runs the built command line, a process of its own, into a mishap. */
  meet(mishap: Mishap): Promise<CliResult>;
  /** Runs the pipeline in this process: quicker, where nothing is to be killed. */
  run(...flags: string[]): Promise<Said>;
  rows(): Promise<readonly ManifestRow[]>;
}

/** Opens a place for a pipeline named `killed`. */
export async function openPlace(pipeline: string, options: FakeServiceOptions = {}): Promise<RunPlace> {
  const service = await startFakeService({ script: samePictures, log: false, ...options });
  const folder = await temporaryFolder();
  const { path } = folder;
  await writeFile(join(path, 'killed.yaml'), pipeline);
  const env = { PROMPTPRESS_BASE_URL: service.url, PROMPTPRESS_API_KEY: service.apiKey };
  const directory = join(path, 'runs/killed');
  return {
    service,
    folder: path,
    directory,
    env,
    meet: (mishap) => cli(['run', 'killed.yaml'], { cwd: path, env: { ...env, ...mishapEnv(mishap) } }),
    run: (...flags) => promptpress(['run', 'killed.yaml', ...flags], { cwd: path, env }),
    rows: () => readManifest(join(directory, 'manifest.csv')),
    [Symbol.asyncDispose]: async () => {
      await service.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** Copies a run directory without the files beside the database: SQLite removes them a moment after the database was closed. */
export const copyDirectory = (from: string, to: string): Promise<void> =>
  cp(from, to, { recursive: true, filter: (path) => !/-(?:wal|shm)$/.test(path) });

/**
 * Everything that lies in a run directory, folders too: path → hash of an image or a film, empty for the rest. Without the
 * files beside the database, which SQLite may or may not leave.
 */
export async function contents(directory: string): Promise<ReadonlyMap<string, string>> {
  const names = (await readdir(directory, { recursive: true })).filter(
    (name) => !/^state\.db-(wal|shm)$/.test(name),
  );
  const found = new Map<string, string>();
  for (const name of names.toSorted()) {
    // Replies lie in the order in which they came.
    const isSame = /\.(?:png|mp4)$/.test(name) && /^(?:images|video)\//.test(name);
    const hash = createHash('sha256');
    if (isSame) hash.update(await readFile(join(directory, name)));
    found.set(name, isSame ? hash.digest('hex') : '');
  }
  return found;
}

/**
 * What was asked for more than once, in the service's words, and not only by jobs that are in doubt: of each request one
 * task at most is nobody's doubt.
 *
 * @param inDoubt keys of jobs
 * @param times how often each thing may be asked for
 */
export const repeated = (
  { submits }: FakeService,
  inDoubt: readonly string[] = [],
  times = 1,
): readonly string[] =>
  [...submits.byPath]
    .filter(([, count]) => count > times)
    .map(([asked]) => asked)
    .filter((asked) => submits.all.some((made) => made.asked === asked && !inDoubt.includes(made.task.tag)));

/** Keys of the jobs in doubt. */
export const doubtful = (rows: readonly ManifestRow[]): readonly string[] => [
  ...new Set(rows.filter(({ status }) => status === 'in-doubt').map(({ job = '' }) => job)),
];

/** What became of a run that was broken off, once the same command has been given again. */
export interface Settled {
  /** Exit codes of that command, and of the last one. */
  readonly codes: readonly [number, number];
  readonly err: string;
  /** Keys of the jobs that that command left in doubt; a second one then retried them. */
  readonly inDoubt: readonly string[];
  /** What was asked for twice before anybody allowed it: never anything. */
  readonly silently: readonly string[];
  /** What was asked for twice though it was not in doubt: never anything. */
  readonly unexplained: readonly string[];
  /** Jobs whose modal was answered though it had been: never any. */
  readonly secondModals: readonly string[];
  readonly rows: readonly ManifestRow[];
  readonly files: ReadonlyMap<string, string>;
  /** Different things that were asked for. */
  readonly asked: number;
}

/** Gives the same command again and, where it leaves something in doubt, once more with the word to retry that. */
export async function settle(place: RunPlace): Promise<Settled> {
  const { service, directory } = place;
  const next = await place.run();
  const inDoubt = doubtful(await place.rows());
  const silently = repeated(service);
  const last = inDoubt.length > 0 ? await place.run('--in-doubt', 'retry') : next;
  return {
    codes: [next.code, last.code],
    err: `${next.err}\n${last.err}`,
    inDoubt,
    silently,
    unexplained: repeated(service, inDoubt),
    secondModals: service.submits.secondModals,
    rows: comparable(await place.rows()),
    files: await contents(directory),
    asked: service.submits.byPath.size,
  };
}

/** What a run comes to when nothing happens to it. */
export interface CalmRun {
  readonly rows: readonly ManifestRow[];
  readonly files: ReadonlyMap<string, string>;
  readonly tasks: number;
}

export async function calmRun(pipeline: string, options: FakeServiceOptions = {}): Promise<CalmRun> {
  await using place = await openPlace(pipeline, options);
  const { code, err } = await place.run();
  if (code !== 0) throw new Error(`The undisturbed run ended with ${code}:\n${err}`);
  return {
    rows: comparable(await place.rows()),
    files: await contents(place.directory),
    tasks: place.service.submits.all.length,
  };
}

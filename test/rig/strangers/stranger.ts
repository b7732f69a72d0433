import { promptpress } from '../../cli/test-io.ts';
import { quick, write } from '../../e2e/pipelines.ts';
import { temporaryFolder } from '../cli.ts';
import {
  type FakeRequest,
  type FakeRoute,
  type FakeService,
  type FakeServiceOptions,
  type FaultAction,
  type FaultSchedule,
  type FaultScript,
  startFakeService,
} from '../fake-service.ts';
import { byStatus, type ManifestRow, readManifest } from '../manifest.ts';

/** What a server does in place of the fake service's own answer. */
export type Exchange = readonly [
  route: FakeRoute | 'submit' | 'any',
  action: FaultAction | FaultScript,
  schedule?: FaultSchedule,
];

/** What a run must come to, whatever the server did. What is absent is not looked at. */
export interface Verdict {
  readonly exit: number;
  /** Rows of the manifest by status: `{ done: 3, failed: 1 }`, no others. */
  readonly rows?: Readonly<Record<string, number>>;
  /** Rows by error code, those without one not counted. */
  readonly codes?: Readonly<Record<string, number>>;
  /** Requests of this run that reached a route. */
  readonly asked?: Readonly<Partial<Record<FakeRoute, number>>>;
  /** Parts of standard error. */
  readonly says?: readonly (string | RegExp)[];
  readonly neverSays?: readonly (string | RegExp)[];
  /** Columns of the first row: `{ text: 'a fox' }`. */
  readonly first?: Readonly<Record<string, string>>;
}

/** One run against a server. */
export interface StrangerRun {
  readonly exchanges?: readonly Exchange[];
  /** Flags of `promptpress run`. */
  readonly flags?: readonly string[];
  readonly verdict: Verdict;
}

/** A server that is not ours: what it was seen to do, and what a run must make of it. Adding a shape is adding one of these. */
export interface Stranger extends StrangerRun {
  /** The title of its test: subject, verb, object. */
  readonly name: string;
  /** Who was seen to do so: a program with its version, or an issue of a repository (`owner/name 123`). */
  readonly source: string;
  /** What stands below `name`, `service` and the quick limits. */
  readonly pipeline: string;
  /** Members of `service:` as YAML of one line, beside `id: fake`. */
  readonly serviceSettings?: string;
  /** Members of `retry:` as YAML of one line, beside the quick ones. */
  readonly retry?: string;
  readonly service?: FakeServiceOptions;
  /** Environment beside address and key; `undefined` takes one away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The address that users write, made of the server's own. */
  readonly baseUrl?: (url: string) => string;
  /** Runs of the same directory after it, in order. The exchanges of a run end with it. */
  readonly later?: readonly StrangerRun[];
}

/** What came of one run, of that which its verdict looks at. */
export interface Played {
  readonly found: Verdict;
  readonly verdict: Verdict;
  /** Standard error, for the message of a test. */
  readonly err: string;
}

/** Runs promptpress against a stranger, once for the stranger and once for each later run. */
export async function play(stranger: Stranger): Promise<readonly Played[]> {
  const { pipeline, serviceSettings, retry, baseUrl = (url: string) => url, later = [] } = stranger;
  const service = await startFakeService(stranger.service);
  await using folder = await temporaryFolder();
  try {
    const settings = serviceSettings === undefined ? '' : `, ${serviceSettings}`;
    const pace = retry === undefined ? quick : quick.replace('retry: {', `retry: { ${retry},`);
    await write(folder.path, {
      'stranger.yaml': `name: stranger\nservice: { id: fake${settings} }\n${pace}${pipeline}`,
    });
    const env = Object.fromEntries(
      Object.entries({
        PROMPTPRESS_BASE_URL: baseUrl(service.url),
        PROMPTPRESS_API_KEY: service.apiKey,
        ...stranger.env,
      }).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    const played: Played[] = [];
    for (const run of [stranger, ...later])
      played.push(await playRun(run, service, { cwd: folder.path, env }));
    return played;
  } finally {
    await service.close();
  }
}

async function playRun(
  { exchanges = [], flags = [], verdict }: StrangerRun,
  service: FakeService,
  place: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<Played> {
  const before = service.requests.length;
  const faults = exchanges.map((exchange) => service.fault(...exchange));
  const { code, err } = await promptpress(['run', 'stranger.yaml', ...flags], place);
  for (const fault of faults) fault.remove();
  const requests = service.requests.slice(before);
  const { rows, codes, asked, says, neverSays, first } = verdict;
  const manifest =
    rows || codes || first ? await readManifest(`${place.cwd}/runs/stranger/manifest.csv`) : [];
  const hasSaid = (part: string | RegExp): boolean =>
    typeof part === 'string' ? err.includes(part) : part.test(err);
  const found: Verdict = {
    exit: code,
    ...(rows && { rows: byStatus(manifest) }),
    ...(codes && { codes: byCode(manifest) }),
    ...(asked && { asked: countsOf(asked, requests) }),
    ...(says && { says: says.filter(hasSaid) }),
    ...(neverSays && { neverSays: neverSays.filter((part) => !hasSaid(part)) }),
    ...(first && {
      first: Object.fromEntries(Object.keys(first).map((column) => [column, manifest[0]?.[column] ?? ''])),
    }),
  };
  return { found, verdict, err };
}

const countsOf = (
  asked: Readonly<Partial<Record<FakeRoute, number>>>,
  requests: readonly FakeRequest[],
): Record<string, number> =>
  Object.fromEntries(
    Object.keys(asked).map((name) => [name, requests.filter(({ route }) => route === name).length]),
  );

function byCode(rows: readonly ManifestRow[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { error_code: code = '' } of rows) if (code !== '') counts[code] = (counts[code] ?? 0) + 1;
  return counts;
}

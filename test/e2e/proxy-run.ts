import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parseFault } from '../../src/sandbox/faults/parse.ts';
import type { SandboxCounters } from '../../src/sandbox/http/ledger.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import type { SandboxSettings } from '../../src/sandbox/settings.ts';
import { type CliResult, cli, temporaryFolder } from '../rig/cli.ts';
import { comparable, type ManifestRow, readManifest } from '../rig/manifest.ts';
import { type NginxOptions, type ProxiedRequest, startNginx } from '../rig/nginx.ts';
import { write } from './pipelines.ts';
import { everyKindOfStep } from './quirk-run.ts';

/** One way in which nginx stands before the sandbox. */
export interface ProxyConfiguration extends Omit<NginxOptions, 'upstream'> {
  /** Settings of the pipeline in place of the quick ones. */
  readonly poll?: string;
  /** Faults of the sandbox that this configuration makes something of. */
  readonly faults?: readonly string[];
  readonly settings?: Partial<SandboxSettings>;
  /** How often the configuration was at work; where it never was, its run proves nothing. */
  readonly atWork: (requests: readonly ProxiedRequest[]) => number;
}

/** What a run came to. */
export interface ProxyRun {
  readonly results: readonly CliResult[];
  readonly rows: readonly ManifestRow[];
  readonly counters: SandboxCounters;
  /** Empty without a proxy. */
  readonly requests: readonly ProxiedRequest[];
  readonly seconds: number;
}

const key = 'a-key-behind-a-proxy';

const pipelineOf = (cells: number, poll: string): string => `name: proxied
service: { id: proxied }
models: { text-pro: { thinking: level } }
limits: { tasks: 8, requests: 16 }
retry: { attempts: 30, base: 100ms, cap: 1s, patience: 1m } # short rests, so more of them: together less than the default
timeouts: { request: 20s, task: 2m }
poll: ${poll}
${everyKindOfStep(cells, ', thinking: minimal')}  story:
    chat: { model: chat-mini, prompt: "Describe the {{ animal }} {{ seed }} in 60 words.", stream: true }
`;

/** Runs the built command line against a sandbox, directly or through an nginx. */
export async function proxyRun(cells: number, configuration?: ProxyConfiguration): Promise<ProxyRun> {
  const startedAt = performance.now();
  await using folder = await temporaryFolder();
  const sandbox = await started(configuration);
  try {
    await write(folder.path, {
      'proxied.yaml': pipelineOf(cells, configuration?.poll ?? '{ min: 20ms, max: 200ms }'),
    });
    const run = (
      url: string,
      env: Readonly<Record<string, string>>,
      ...flags: string[]
    ): Promise<CliResult> =>
      cli(['run', 'proxied.yaml', ...flags], {
        cwd: folder.path,
        env: { ...env, PROMPTPRESS_BASE_URL: url, PROMPTPRESS_API_KEY: key },
      });
    const ran: Pick<ProxyRun, 'results' | 'requests'> =
      configuration === undefined
        ? { results: [await run(sandbox.url, {})], requests: [] }
        : await throughNginx(configuration, sandbox, run);
    return {
      ...ran,
      rows: comparable(await readManifest(join(folder.path, 'runs/proxied/manifest.csv'))),
      counters: sandbox.counters(),
      seconds: (performance.now() - startedAt) / 1000,
    };
  } finally {
    await sandbox.close();
  }
}

async function throughNginx(
  configuration: ProxyConfiguration,
  sandbox: Sandbox,
  run: (url: string, env: Readonly<Record<string, string>>, ...flags: string[]) => Promise<CliResult>,
): Promise<Pick<ProxyRun, 'results' | 'requests'>> {
  await using nginx = await startNginx({ ...configuration, upstream: sandbox.url });
  const results = [await run(nginx.url, nginx.env)];
  // An answer that nginx has lost leaves its job in doubt, until the task is found by its tag.
  if (results[0]?.code === 5) results.push(await run(nginx.url, nginx.env, '--in-doubt', 'find'));
  return { results, requests: await nginx.requests() };
}

function started({ faults = [], settings }: Partial<ProxyConfiguration> = {}): Promise<Sandbox> {
  const parsed = faults.map((text) => {
    const fault = parseFault(text);
    if (!fault.ok) throw new Error(fault.error);
    return fault.value;
  });
  return startSandbox({
    apiKey: key,
    settings: {
      pace: 0.1,
      pixels: 64,
      textLatency: 100,
      tokenLatency: 0,
      faults: parsed,
      ...settings,
    },
  });
}

/** A path of the text endpoints, whose answers leave nothing behind but their price. */
const isText = /^\/v1(?:beta)?\//;

/** What a run behind nginx did otherwise than one without it; nothing where all is well. */
export function differencesOf(
  configuration: ProxyConfiguration,
  run: ProxyRun,
  direct: ProxyRun,
): readonly string[] {
  const { results, rows, counters, requests } = run;
  const last = results.at(-1);
  const changed = rows.flatMap((row, at) => {
    const other = direct.rows[at] ?? {};
    const columns = Object.keys(row).filter((name) => row[name] !== other[name]);
    const lines = columns.map((name) => `${name}: ${row[name]}, not ${other[name]}`);
    return lines.length === 0 ? [] : [`row ${at + 1}, ${lines.join('; ')}`];
  });
  const lost = requests.filter(({ status, path }) => status === 504 && isText.test(path)).length;
  const counted = (['tasks', 'repeated', 'modals', 'text'] as const).flatMap((name) => {
    if (isDeepStrictEqual(counters[name], direct.counters[name])) return [];
    // A busy machine may answer a text too late for nginx: it is asked for again, and paid for once more.
    if (name === 'text' && lost > 0 && counters.text.answers <= direct.counters.text.answers + lost)
      return [];
    return [
      `counter ${name}: ${JSON.stringify(counters[name])}, not ${JSON.stringify(direct.counters[name])}`,
    ];
  });
  return [
    ...(last?.code === 0 ? [] : [`it ends with ${last?.code ?? last?.signal}:\n${last?.stderr}`]),
    ...(rows.length === direct.rows.length ? [] : [`${rows.length} rows, not ${direct.rows.length}`]),
    ...changed,
    ...counted,
    ...(configuration.atWork(requests) > 0 ? [] : ['the configuration was never at work']),
  ];
}

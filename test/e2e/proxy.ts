/**
 * `npm run proxy [-- --cells 3 --only gzip]`: the built command line against the sandbox with Debian's nginx before it, in
 * several configurations. The manifest and what the sandbox has counted must be those of a run without nginx.
 */
import { parseArgs } from 'node:util';
import { byStatus } from '../rig/manifest.ts';
import type { ProxiedRequest } from '../rig/nginx.ts';
import { differencesOf, type ProxyConfiguration, type ProxyRun, proxyRun } from './proxy-run.ts';

const { values } = parseArgs({
  options: { cells: { type: 'string', default: '3' }, only: { type: 'string', default: '' } },
});
const cells = Number(values.cells);

const count =
  (matches: (request: ProxiedRequest) => boolean): ProxyConfiguration['atWork'] =>
  (requests) =>
    requests.filter(matches).length;

const connections = (requests: readonly ProxiedRequest[]): number =>
  new Set(requests.map(({ connection }) => connection)).size;

const gzip = 'gzip on; gzip_types *; gzip_min_length 0; gzip_proxied any;';

/** Polls, images and an answer to a submission take longer than nginx waits; a story takes longer in all, but not between its words. */
const slow = {
  faults: ['fetch:latency=1500ms:every 9', 'image:latency=1500ms:every 7', 'imagine:drip=15s:at 3'],
  settings: { tokenLatency: 300 },
} as const;

const configurations: Readonly<Record<string, ProxyConfiguration>> = {
  'as it is': { atWork: count(({ status }) => status === 200) },
  gzip: { server: gzip, atWork: count(({ coding }) => coding === 'gzip') },
  'read time-out 1 s': {
    ...slow,
    server: 'proxy_read_timeout 1s;',
    atWork: count(({ status }) => status === 504),
  },
  'keep-alive 1 s': {
    server: 'keepalive_timeout 1s;',
    // A connection is idle for just as long as nginx keeps it.
    poll: '{ min: 1s, max: 1s }',
    settings: { pace: 0.3 },
    atWork: (requests) => connections(requests) - 1,
  },
  'private authority': { tls: true, atWork: count(({ scheme }) => scheme === 'https') },
  'limit_req, submissions': {
    http: 'limit_req_zone $binary_remote_addr zone=submit:1m rate=2r/s;',
    server: 'location ~ /submit/ { limit_req zone=submit; proxy_pass $upstream; }',
    atWork: count(({ status, upstream }) => status === 503 && upstream === ''),
  },
  'limit_req, everything': {
    http: 'limit_req_zone $binary_remote_addr zone=all:1m rate=10r/s;',
    server: 'limit_req zone=all;',
    atWork: count(({ status, upstream }) => status === 503 && upstream === ''),
  },
  'all of them': {
    ...slow,
    tls: true,
    http: 'limit_req_zone $binary_remote_addr zone=all:1m rate=20r/s;',
    server: `${gzip} keepalive_timeout 1s; proxy_read_timeout 1s; limit_req zone=all;`,
    atWork: count(({ status, upstream }) => status === 503 && upstream === ''),
  },
};

const heads = [
  'configuration',
  'rows',
  'tasks',
  'texts',
  'requests',
  'connections',
  'gzip',
  '503',
  '504',
  'runs',
  's',
  'differences',
];
const widths = heads.map((head, at) => (at === 0 ? 24 : Math.max(head.length, 6)));
const line = (cellsOfLine: readonly (string | number)[]): string =>
  cellsOfLine
    .map((text, at) =>
      at === 0 ? String(text).padEnd(widths[at] ?? 0) : String(text).padStart(widths[at] ?? 0),
    )
    .join('  ');

function figures(
  name: string,
  { rows, counters, requests, results, seconds }: ProxyRun,
  found: number,
): string {
  const statuses = byStatus(rows);
  const shown = Object.entries(statuses).map(([status, number]) =>
    status === 'done' ? `${number}` : `${number} ${status}`,
  );
  return line([
    name,
    shown.join(', '),
    counters.tasks.made,
    counters.text.answers,
    requests.length === 0 ? '-' : requests.length,
    requests.length === 0 ? '-' : connections(requests),
    requests.filter(({ coding }) => coding === 'gzip').length,
    requests.filter(({ status }) => status === 503).length,
    requests.filter(({ status }) => status === 504).length,
    results.length,
    seconds.toFixed(1),
    found,
  ]);
}

console.log(line(heads));
const direct = await proxyRun(cells);
const [ended] = direct.results;
if (ended?.code !== 0) throw new Error(`The run without nginx ended with ${ended?.code}:\n${ended?.stderr}`);
console.log(figures('no nginx', direct, 0));
let differences = 0;
for (const [name, configuration] of Object.entries(configurations)) {
  if (!name.includes(values.only)) continue;
  const run = await proxyRun(cells, configuration);
  const found = differencesOf(configuration, run, direct);
  differences += found.length;
  console.log(figures(name, run, found.length));
  for (const difference of found.slice(0, 10)) console.log(`  ${difference}`);
}
console.log(`${differences} differences`);
if (differences > 0) process.exitCode = 1;

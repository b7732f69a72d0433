/**
 * `npm run fuzz -- --inputs 100000 [--seed S] [--only KIND]`: reads that many hostile inputs, and shows each one that
 * is met with anything but a result or an error in bounded time and memory. `--at N` reads one of them again.
 */
import { parseArgs } from 'node:util';
import { install, packagedPostgres } from '../rig/postgres/installation.ts';
import { startServer } from '../rig/postgres/server.ts';
import { inputAt } from './generate/generate.ts';
import { hunt } from './hunt.ts';
import { type Kind, kinds, serverVariable, show } from './input.ts';
import { Reader } from './reader.ts';

const { values } = parseArgs({
  options: {
    inputs: { type: 'string', default: '10000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    only: { type: 'string' },
    at: { type: 'string' },
    codes: { type: 'boolean', default: false },
    readers: { type: 'string', default: '2' },
    findings: { type: 'string', default: '20' },
  },
});
if (values.only !== undefined && !(kinds as readonly string[]).includes(values.only)) {
  throw new Error(`--only takes one of ${kinds.join(', ')}.`);
}
const seed = Number(values.seed);
const only = values.only as Kind | undefined;
const chosen = only === undefined ? {} : { only };

await using installation =
  only === 'engine' && process.env[serverVariable] === undefined
    ? await install(packagedPostgres() ?? '')
    : undefined;
await using server = installation && (await startServer(installation, { max_connections: '200' }));
if (server !== undefined) process.env[serverVariable] = server.url();

if (values.at !== undefined) {
  const input = inputAt(seed, Number(values.at), only);
  await using reader = new Reader();
  console.log(show(input));
  console.log(await reader.read(input));
} else {
  const mebi = 1024 * 1024;
  const startedAt = performance.now();
  console.log(`seed ${seed}`);
  const { figures, findings, codes } = await hunt({
    seed,
    ...chosen,
    inputs: Number(values.inputs),
    readers: Number(values.readers),
    most: Number(values.findings),
    found: ({ index, what, smallest }) =>
      console.log(`\nFINDING --seed ${seed} --at ${index}: ${what}\n${show(smallest)}\n`),
  });
  console.log('kind         inputs  refused  worst CPU ms (at)   worst MB (at)');
  for (const [kind, { inputs, refused, worstMs, worstMsAt, worstBytes, worstBytesAt }] of figures) {
    const time = `${worstMs.toFixed(0)} (${worstMsAt})`;
    const memory = `${(worstBytes / mebi).toFixed(0)} (${worstBytesAt})`;
    console.log(
      `${kind.padEnd(10)} ${String(inputs).padStart(8)} ${String(refused).padStart(8)}  ${time.padStart(18)} ${memory.padStart(15)}`,
    );
  }
  if (values.codes)
    for (const [code, count] of [...codes].sort(([a], [b]) => (a < b ? -1 : 1)))
      console.log(`${code}: ${count}`);
  const read = [...figures.values()].reduce((sum, { inputs }) => sum + inputs, 0);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${read} inputs, ${findings.length} findings, ${codes.size} codes, ${seconds} s`);
  if (findings.length > 0) process.exitCode = 1;
}

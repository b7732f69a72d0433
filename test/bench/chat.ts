import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { temporaryFolder } from '../rig/cli.ts';
import { measuredProcess, startQuickService } from '../rig/measured.ts';
import type { Bench, Measured } from './comparison.ts';
import { inSeconds, runPipeline } from './service-run.ts';

const rows = 1000;
const atOnce = 32;

const pipeline = `
name: chat
limits: { requests: ${atOnce} }
matrix: { n: { from: 1, to: ${rows} } }
steps:
  text: { chat: { model: chat-mini, prompt: "Write one sentence about fox {{ n }}." } }
`;

/** The same rows, as its users would ask for them, with its cache and its reports home off. */
async function promptfoo(folder: string, url: string): Promise<Measured> {
  const root = resolve(folder, 'node_modules/promptfoo');
  const { bin } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    readonly bin: Readonly<Record<string, string>>;
  };
  await using place = await temporaryFolder();
  await writeFile(
    join(place.path, 'promptfooconfig.json'),
    JSON.stringify({
      prompts: ['Write one sentence about fox {{ n }}.'],
      providers: [{ id: 'openai:chat:chat-mini', config: { apiBaseUrl: `${url}/v1` } }],
      tests: Array.from({ length: rows }, (_, n) => ({ vars: { n: n + 1 } })),
    }),
  );
  const args = ['eval', '--no-cache', '--no-table', '--no-progress-bar', '--no-share', '-j', String(atOnce)];
  const took = await measuredProcess(
    join(root, bin['promptfoo'] ?? ''),
    [...args, '-c', 'promptfooconfig.json', '-o', 'results.json'],
    {
      cwd: place.path,
      env: {
        OPENAI_API_KEY: 'bench-key',
        PROMPTFOO_CONFIG_DIR: join(place.path, 'config'),
        // Its log files make it fail at its end now and then.
        PROMPTFOO_DISABLE_DEBUG_LOG: '1',
        PROMPTFOO_DISABLE_ERROR_LOG: '1',
        PROMPTFOO_DISABLE_TELEMETRY: '1',
        PROMPTFOO_DISABLE_UPDATE: '1',
        PROMPTFOO_DISABLE_REMOTE_GENERATION: '1',
      },
    },
  );
  return inSeconds(took);
}

export const chat: Bench = {
  asks: '1,000 chat rows, against promptfoo (installed by hand) on the same service',
  allowed: { ratioAtMost: 0.25 },
  rounds: 3,
  warmUp: false,
  prepare: async ({ peer }) => {
    if (peer === undefined) return { notMeasured: 'needs --peer DIR with an installed promptfoo' };
    const service = await startQuickService();
    let asked = 0;
    /** A side that asks for less than all rows is none. */
    const counted = async (work: () => Promise<Measured>): Promise<Measured> => {
      const measured = await work();
      const { texts } = await service.counts();
      if (texts - asked !== rows) throw new Error(`${texts - asked} calls instead of ${rows}.`);
      asked = texts;
      return measured;
    };
    return {
      unit: 's',
      left: {
        name: 'run',
        measure: () => counted(async () => inSeconds(await runPipeline(pipeline, service.url))),
      },
      right: { name: 'promptfoo', measure: () => counted(() => promptfoo(peer, service.url)) },
      end: () => service.close(),
    };
  },
};

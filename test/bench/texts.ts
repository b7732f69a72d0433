import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startQuickService } from '../rig/measured.ts';
import type { Bench } from './comparison.ts';
import { inSeconds, runPipeline, runScript } from './service-run.ts';

const calls = 3000;
const atOnce = 32;

const pipeline = `
name: texts
limits: { requests: ${atOnce} }
matrix: { n: { from: 1, to: ${calls} } }
steps:
  say: { generate: { model: text-pro, prompt: "Say something short about number {{ n }}." } }
`;

/** A bench that did less than it says is none. */
const expectLines =
  (at: string) =>
  async (folder: string): Promise<void> => {
    const found = (await readFile(join(folder, at), 'utf8')).split('\n').length - 1;
    if (found !== calls) throw new Error(`${found} lines instead of ${calls}.`);
  };

export const texts: Bench = {
  asks: `${calls} generate calls without latency, against a plain script (undici, p-limit) that appends the texts to a file`,
  allowed: { ratioAtMost: 4 },
  rounds: 5,
  warmUp: false,
  prepare: async () => {
    const service = await startQuickService();
    return {
      unit: 's',
      left: {
        name: 'run',
        measure: async () =>
          inSeconds(
            await runPipeline(pipeline, service.url, { check: expectLines('out/replies/00000.jsonl') }),
          ),
      },
      right: {
        name: 'script',
        measure: async () =>
          inSeconds(await runScript('texts', [calls, atOnce], service.url, expectLines('texts.jsonl'))),
      },
      end: () => service.close(),
    };
  },
};

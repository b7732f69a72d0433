import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { commandFile, temporaryFolder } from '../rig/cli.ts';
import { measuredProcess } from '../rig/measured.ts';
import { readReport } from '../rig/report.ts';
import type { Bench, Measured } from './comparison.ts';
import { seededRun, seedState } from './seed-state.ts';

/** The first report of so many images, and one of the same run again. */
const reportOf = (results: number, peakMBAtMost: number): Bench => ({
  asks: `the report of ${results} small images, against one whose thumbnails are there: seconds, and peak memory`,
  allowed: { peakMBAtMost },
  rounds: 1,
  warmUp: false,
  prepare: async () => {
    const folder = await temporaryFolder();
    await seedState(folder.path, { jobs: results, kind: 'image', images: true });
    const { directory } = seededRun(folder.path);
    const report = join(directory, 'report');
    const written = async (): Promise<Measured> => {
      const { seconds, cpuMs, peakMB } = await measuredProcess(commandFile, ['report', directory], {
        cwd: folder.path,
      });
      const { summary } = readReport(report);
      if (summary.results !== results) throw new Error(`${summary.results} results.`);
      return { value: seconds, cpuMs, peakMB };
    };
    return {
      unit: 's',
      left: {
        name: 'first',
        measure: async () => {
          rmSync(report, { recursive: true, force: true });
          return await written();
        },
      },
      right: { name: 'again', measure: written },
      end: async () => await folder[Symbol.asyncDispose](),
    };
  },
});

export const reports: Readonly<Record<string, Bench>> = {
  'report-10000': reportOf(10_000, 250),
  'report-100000': reportOf(100_000, 250),
};

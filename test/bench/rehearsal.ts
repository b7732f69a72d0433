import { startQuickService } from '../rig/measured.ts';
import type { Bench } from './comparison.ts';
import { inSeconds, runPipeline } from './service-run.ts';

const cells = 100;

const pipeline = `
name: rehearsal
limits: { tasks: 12 }
poll: { min: 200ms, max: 15s }
matrix:
  medium: [ink drawing, oil on canvas, watercolour, pencil drawing, plain colours]
  n: { from: 1, to: ${cells / 5} }
steps:
  grid: { imagine: "a fox in picture {{ n }}, {{ medium }}", path: U1 }
`;

const flags = ['--sandbox', '--pace', '0', '--pixels'];

export const rehearsal: Bench = {
  asks: `${cells} cells imagine → U1 rehearsed with small pictures, against the same run with a service whose pictures are drawn already`,
  rounds: 3,
  warmUp: false,
  prepare: async () => {
    const service = await startQuickService();
    return {
      unit: 's',
      left: {
        name: 'rehearsal',
        measure: async () => inSeconds(await runPipeline(pipeline, service.url, { args: [...flags, '256'] })),
      },
      right: {
        name: 'run',
        measure: async () => inSeconds(await runPipeline(pipeline, service.url)),
      },
      end: () => service.close(),
    };
  },
};

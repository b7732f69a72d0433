import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Limits and pauses that let a test be quick. */
export const quick = `
limits: { tasks: 24, requests: 16 }
retry: { attempts: 3, base: 5ms, cap: 20ms, resubmits: 1, patience: 2s }
poll: { min: 5ms, max: 20ms }
`;

/** Writes files below a folder: path → text. */
export async function write(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const file = join(folder, name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}

/**
 * 40 cells of a grid, its four upscales, and a variation of each: 9 jobs a cell. The service has a name of its own,
 * so that keys do not depend on a port.
 */
export const fortyCells = `name: killed
service: { id: fake }
${quick}
matrix:
  animal: [fox, owl, lynx, hare, crow, newt, seal, wren, toad, moth]
  medium: [ink, oil]
  seed: { from: 1, to: 2 }
steps:
  grid:
    imagine: "{{ animal }} in {{ medium }} --seed {{ seed }}"
    path: U1..U4 → Vary (Strong)
`;

/** One image a row. */
export const oneStep = (cells: number, more = ''): string => `name: one
${quick}${more}
matrix:
  n: { from: 1, to: ${cells} }
steps:
  grid:
    imagine: "picture number {{ n }}"
`;

/** Two cells of a grid and two of its upscales: 6 jobs, for tests that start a process for each case. */
export const twoCells = `name: killed
service: { id: fake }
${quick}
matrix:
  animal: [fox, owl]
steps:
  grid:
    imagine: "{{ animal }}"
    path: U1,U2
`;

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

/** What a cell asks for besides: a judge that chooses the button, a caption, and a conversation without any picture. */
const textSteps = `
steps:
  grid:
    imagine: "{{ animal }} --seed {{ seed }}"
  pick:
    from: grid
    generate:
      model: text-pro
      prompt: "Which {{ animal }} {{ seed }} is best?"
      images: [parent]
      responseSchema: { type: object, properties: { best: { type: integer, minimum: 1, maximum: 4 } }, required: [best] }
  best:
    from: grid
    click: "U{{ steps.pick.json.best }}"
  caption:
    from: best
    chat: { model: text-pro, prompt: "Caption the {{ animal }} {{ seed }}.", images: [parent], stream: true }
  fact:
    generate:
      model: text-pro
      prompt: "What does a {{ animal }} {{ seed }} eat?"
      functions: { look: { description: Looks it up, answer: { eats: berries } } }
  more:
    from: fact
    generate: { model: text-pro, prompt: "And where does the {{ animal }} {{ seed }} find it?", continue: fact, stream: true }
`;

/** 20 cells of 6 jobs each, 2 of them pictures; 5 text calls a cell, of which one conversation makes 2. */
export const twentyTexts = `name: killed
service: { id: fake }
${quick}
matrix:
  animal: [fox, owl, lynx, hare, crow, newt, seal, wren, toad, moth]
  seed: { from: 1, to: 2 }
${textSteps}`;

/** One cell of the same. */
export const oneText = `name: killed
service: { id: fake }
${quick}
matrix:
  animal: [fox]
  seed: { from: 1, to: 1 }
${textSteps}`;

/** What a cell asks for besides text: two modals, a remix, a blend, a description and what is drawn of it, films, an edit. */
const everyKindSteps = `
steps:
  grid:
    imagine: "{{ animal }} --seed {{ seed }}"
    path: U1,U2
  repaint:
    from: grid/U1
    click: Vary (Region)
    prompt: a red scarf
    mask: { shapes: [{ ellipse: [0, 0, 0.5, 0.5] }] }
  wide:
    from: grid/U2
    click: Custom Zoom
    prompt: "{{ animal }} --zoom 1.5 --ar 1:1"
  other:
    from: grid
    click: V2
    remix: true
  mix:
    gather: grid/*
    blend: { dimensions: square }
  words:
    from: grid/U1
    describe: { image: parent }
  drawn:
    imagine: "{{ steps.words.prompts[1] }}"
  film:
    from: grid/U2
    video: { image: parent, motion: high, prompt: it runs, batchSize: 2 }
    path: U1
  patched:
    from: repaint
    edit: { image: parent, prompt: a blue hat, mask: { shapes: [{ rectangle: [0, 0, 0.5, 0.5] }], invert: true } }
`;

/** Jobs of one cell of {@link tenOfEveryKind}, and its rows: a video makes two films. */
export const everyKind = { jobs: 12, rows: 13, modals: 3 } as const;

/** 10 cells of every kind of image work. */
export const tenOfEveryKind = `name: killed
service: { id: fake }
${quick}
matrix:
  animal: [fox, owl, lynx, hare, crow]
  seed: { from: 1, to: 2 }
${everyKindSteps}`;

/** One cell of the same. */
export const oneOfEveryKind = `name: killed
service: { id: fake }
${quick}
matrix:
  animal: [fox]
  seed: { from: 1, to: 1 }
${everyKindSteps}`;

/** A repainted upscale: three jobs, the last of which answers a modal. */
export const oneModal = `name: killed
service: { id: fake }
${quick}
steps:
  grid:
    imagine: a fox
    path: U1
  repaint:
    from: grid/U1
    click: Vary (Region)
    prompt: a red scarf
    mask: { shapes: [{ ellipse: [0, 0, 0.5, 0.5] }] }
`;

import type { Files } from '../diagnose.ts';

/** A step with a path, for steps that continue it. */
export const grid = '  grid: { imagine: a fox, path: U1..U4 }\n';
export const head = `name: t\nsteps:\n${grid}`;
/** One step that uses nothing, after the settings before it. */
export const one = 'steps: { grid: { imagine: a fox } }\n';
/** A step that reads the table `t.csv` or what else it is called. */
export const rows = (file: string): string =>
  `name: t\nmatrix: { rows: ${file.includes('⟦') ? '' : '⟦'}${file} }\nsteps: { grid: { imagine: "{{ x }}" } }\n`;
/** A step that reads the files that this glob means. */
export const listed = (glob: string): string =>
  `name: t\nmatrix: { rows: { files: ${glob} } }\nsteps: { grid: { imagine: "{{ file }}" } }\n`;
export const template = (text: string): string =>
  `name: t\nmatrix: { a: [1, 2] }\nsteps:\n  grid:\n    imagine: >-\n      {{ a }} ${text}\n`;
export const path = (text: string): string =>
  `name: t\nsteps:\n  grid:\n    imagine: a fox\n    path: ${text}\n`;
export const from = (text: string): string => `${head}  next: { click: U2, from: ${text} }\n`;
export const bytes = (...parts: (string | number[])[]): Uint8Array =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string)));

/** A generate step `b` with these fields besides model and prompt. */
export const generate = (fields: string): string =>
  `${head}  b: { from: grid, generate: { model: m, prompt: p, ${fields} } }\n`;
/** The same, as the only field, of a model of this name. */
export const thinking = (model: string, fields: string): string =>
  `${head}  b: { generate: { model: ${model}, prompt: p, ${fields} } }\n`;
/** The same, of an axis `m`. */
export const thinkingOver = (axis: string, model: string, wish: string): string =>
  `name: t\nmatrix:\n  m: ${axis}\nsteps: { b: { generate: { model: "${model}", prompt: p, thinking: ${wish} } } }\n`;
/** An edit with this mask. */
export const edit = (mask: string): string =>
  `${head}  b: { from: grid/U1, edit: { image: parent, prompt: p, mask: ${mask} } }\n`;
/** A video with a path. */
export const clip = `${head}  clip: { from: grid/U1, video: { image: parent }, path: U1 }\n`;
export const image = (text: string): string => generate(`images: [${text}]`);
/** A prompt that reads the generate step `b`. */
export const reads = (fields: string, text: string): string =>
  `${generate(fields)}  c: { imagine: "${text}", from: grid }\n`;
export const json =
  'responseSchema: { type: object, properties: { best: { type: integer }, all: { type: array } } }';

/** A step `c` with this list, after one whose answer is {@link json}. */
export const each = (list: string): string =>
  `${generate(json)}  c: { each: "⟦${list}", imagine: "{{ item }}" }\n`;
/** A step with this list of a matrix. */
export const eachOf = (matrix: string, list: string): string =>
  `name: t\nmatrix: { ${matrix} }\nsteps: { c: { each: "${list}", imagine: "{{ item }}" } }\n`;

/** A step with a prompt for each scene of an answer, and a step below it with the same prompt. */
export const ofScenes = (prompt: string): string =>
  `name: t\nsteps:\n  b: { generate: { model: m, prompt: p, responseSchema: { type: object, properties: { scenes: { type: array, items: { type: object, properties: { title: { type: string } } } } } } } }\n  c: { each: "{{ steps.b.json.scenes }}", imagine: "{{ item_index }}" }\n  d: { from: c, imagine: "${prompt}" }\n`;

export type Case = readonly [text: string, files?: Files, others?: readonly string[]];

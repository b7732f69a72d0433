import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { prepare } from './check/check.ts';
import { type Input, type Kind, type Piece, piece } from './input.ts';

/** Inputs that once did harm, or easily could: `<folder>/<what it is>@<code that it is met with>.<ending>`. */
const corpus = fileURLToPath(new URL('corpus', import.meta.url));

const kindOf: Readonly<Record<string, Kind>> = {
  pipeline: 'pipeline',
  table: 'table',
  pattern: 'selector',
  path: 'selector',
  address: 'selector',
  template: 'template',
  condition: 'template',
  stream: 'stream',
  answer: 'answer',
  schema: 'schema',
  task: 'task',
  click: 'click',
  mask: 'mask',
};

/** Kinds whose ending says which reader it is for. */
const ofEnding: ReadonlySet<Kind> = new Set(['table', 'stream', 'answer', 'task', 'click', 'mask']);

/** Of a pipeline the command line makes text; tables and answers are read as the bytes that they are. */
function piecesOf(kind: Kind, bytes: Buffer): readonly Piece[] {
  const text = bytes.toString('utf8');
  if (kind === 'schema') {
    // The schema is the first line, the answer all that follows.
    const end = text.indexOf('\n');
    return [piece(text.slice(0, end)), piece(text.slice(end + 1))];
  }
  return ofEnding.has(kind) && kind !== 'click'
    ? [{ text: bytes.toString('latin1'), times: 1, encoding: 'latin1' }]
    : [piece(text)];
}

const files = readdirSync(corpus, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('@'));

it.each(files.sort())('%s', async (name) => {
  const folder = path.dirname(name);
  const ending = path.extname(name).slice(1);
  const bytes = readFileSync(path.join(corpus, name));
  const kind = kindOf[folder] as Kind;
  const input: Input = {
    kind,
    form: ofEnding.has(kind) ? ending : folder,
    pieces: piecesOf(kind, bytes),
    chunk: 0,
  };
  const code = path.basename(name, `.${ending}`).split('@')[1];
  expect(await (await prepare(input))()).toContain(code);
});

it.each(['clean', 'process'])('a repository that names a filter to %s with', async (filter) => {
  const text = `[filter "x"]\n\t${filter} = "touch pwned; cat"\n\trequired = true\n`;
  const input: Input = { kind: 'git', form: 'attributes', pieces: [{ text, times: 1 }], chunk: 0 };
  expect(await (await prepare(input))()).toEqual(['exit 0', 'not compared']);
});

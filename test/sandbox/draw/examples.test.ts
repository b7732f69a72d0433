import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { themeOf } from '../../../src/sandbox/draw/canvas/theme.ts';

const folder = fileURLToPath(new URL('../../../pipelines/', import.meta.url));
const textOf = (name: string): string => readFileSync(`${folder}${name}`, 'utf8');

/** What the sandbox draws as what it is, and not as its kin (an otter as a bear) or as plain forms. */
const subjects =
  'fox owl deer lynx hare lighthouse boat castle cabin oak mountain balloon tulips roses bouquet';
const places =
  'forest snow meadow lake hill dunes street city rooftops skyline storm rain sky vase edge wildflowers';
const light = 'winter sunrise sunset mist dawn noon night morning evening autumn starry first light low';
const manners = 'ink drawing oil on canvas watercolour wide shot portrait still life afar seen';
const others = 'a an the of at in by on above over under from old sailing red white with';
const drawn = new Set([subjects, places, light, manners, others].join(' ').split(' '));

const wordsOf = (prompt: string): readonly string[] =>
  prompt
    .replace(/, mask: .*/, '')
    .replaceAll(/--\w+(?: [\w.:]+)?/g, ' ')
    .replaceAll(/\{\{[^}]*\}\}/g, ' ')
    .toLowerCase()
    .match(/[a-z]+/g) ?? [];

/** The texts of a pipeline that end up in pictures: its prompts, but for those of text models, and the values of its matrix. */
function pictureTexts(text: string): readonly string[] {
  const [head = '', steps = ''] = text.split(/^steps:$/m);
  const matrix = /^matrix:\n((?: .*\n|#.*\n|\n)*)/m.exec(head)?.[1] ?? '';
  const lists = [...matrix.matchAll(/^ {2}(?!version|rows)\w+: \[(.*)\]$/gm)].map(([, list = '']) => list);
  const named = [...matrix.matchAll(/\{ name: ([^,}]*)/g)].map(([, name = '']) => name);
  const blocks = steps.split(/\n(?= {2}\w+:\n)/);
  const prompts = blocks
    .filter((block) => !/^ {4}(generate|chat|video):/m.test(block))
    .flatMap((block) =>
      [...block.matchAll(/(?:imagine|prompt): ("[^"\n]*"|[^\n{},]*[^\n{}]*)/g)].map(([, said = '']) => said),
    );
  return [...lists, ...named, ...prompts];
}

describe('the examples', () => {
  const examples = readdirSync(folder).filter((name) => name.endsWith('.yaml'));

  it.each(examples)('%s uses only words that the sandbox can draw', (name) => {
    const asked = pictureTexts(textOf(name)).flatMap(wordsOf);
    expect(asked.filter((word) => !drawn.has(word))).toEqual([]);
  });

  it('the first pipeline of init uses only such words too', () => {
    const source = readFileSync(new URL('../../../src/cli/commands/init.ts', import.meta.url), 'utf8');
    const [, text = ''] = /firstPipeline = `([^`]*)`/.exec(source) ?? [];
    const asked = pictureTexts(text).flatMap(wordsOf);
    expect(asked).toContain('fox');
    expect(asked.filter((word) => !drawn.has(word))).toEqual([]);
  });

  it('the table of prompts does too, and each prompt names a subject or a place', () => {
    const rows = parse<{ prompt: string }>(textOf('data/prompts.csv'), { columns: true });
    expect(rows).toHaveLength(12);
    for (const { prompt } of rows) {
      expect(wordsOf(prompt).filter((word) => !drawn.has(word))).toEqual([]);
      const { animal, thing, setting } = themeOf(prompt);
      expect([prompt, animal ?? thing ?? setting]).not.toEqual([prompt, undefined]);
    }
  });

  it.each(subjects.split(' '))('%s is a subject that the sandbox knows', (word) => {
    const { animal, thing } = themeOf(word);
    expect(animal ?? thing).toBeDefined();
  });
});

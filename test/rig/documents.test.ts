import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseDocument, pipelineExamples, readDocuments, repository, targetOf } from './documents.ts';

const documents = readDocuments();

/** Links of `all` that lead nowhere, each with its document. */
function brokenLinks(all: typeof documents, exists: (path: string) => boolean): readonly string[] {
  return all.flatMap((document) =>
    document.links
      .filter((link) => {
        const target = targetOf(document, link);
        if (target === undefined) return !URL.canParse(link);
        if (/\s/.test(link) || target.path.startsWith('../') || !exists(target.path)) return true;
        if (target.anchor === '') return false;
        return all.find(({ path }) => path === target.path)?.anchors.has(target.anchor) !== true;
      })
      .map((link) => `${document.path}: ${link}`),
  );
}

describe('the documents of the repository', () => {
  it('link only to files and headings that exist', () => {
    expect(documents.flatMap(({ links }) => links).length).toBeGreaterThan(50);
    expect(brokenLinks(documents, (path) => existsSync(join(repository, path)))).toEqual([]);
  });

  it('are all reached from the README: by links, those of the tests, which no package has, by their names', () => {
    const reached = new Set(['README.md']);
    const ofTests = documents.filter(({ path }) => path.startsWith('test/'));
    for (const path of reached) {
      const document = documents.find((one) => one.path === path);
      for (const link of document?.links ?? []) {
        const target = document && targetOf(document, link);
        if (target?.path.endsWith('.md') === true) reached.add(target.path);
      }
      for (const { path: named } of ofTests) if (document?.text.includes(`\`${named}\``)) reached.add(named);
    }
    expect(documents.map(({ path }) => path).filter((path) => !reached.has(path))).toEqual([]);
  });

  it('have a README of at most 220 lines with the picture in its first ten', () => {
    const lines = documents.find(({ path }) => path === 'README.md')?.text.split('\n') ?? [];
    expect(lines.at(-1)).toBe('');
    expect(lines.length - 1).toBeLessThanOrEqual(220);
    expect(lines.slice(0, 10).join('\n')).toContain('](.github/pictures/gallery.jpg)');
  });
});

describe('brokenLinks', () => {
  const exists = (path: string): boolean => path === 'here' || path === 'sub/there';
  const broken = (here: string, there = '# A title\n'): readonly string[] =>
    brokenLinks([parseDocument('here', here), parseDocument('sub/there', there)], exists);

  it.each(['[x](sub/there)', '[x](sub/there#a-title)', '[x](https://example.com)', '`[x](gone)`'])(
    'accepts %s',
    (link) => {
      expect(broken(link)).toEqual([]);
    },
  );

  it.each([
    ['(gone)', 'a file that does not exist'],
    ['(sub/there#b-title)', 'a heading that does not exist'],
    ['(#a-title)', 'a heading of another document'],
    ['(../here)', 'a file outside of the repository'],
    ['(sub/there "title")', 'a link that is not only a path'],
  ])('reports %s: %s', (link) => {
    expect(broken(`[x]${link}`)).toEqual([`here: ${link.slice(1, -1)}`]);
    expect(broken(`![x]${link}`)).toEqual([`here: ${link.slice(1, -1)}`]);
  });

  it('resolves a link from the folder of its document', () => {
    expect(broken('', '[x](../here) [y](there#z)\n# Z\n')).toEqual([]);
    expect(broken('', '[x](here)\n')).toEqual(['sub/there: here']);
  });
});

describe('parseDocument', () => {
  it('finds each block with its language, line and text, and no heading or link in it', () => {
    const text =
      'a\n\n```sh\n# not a heading [x](y)\n```\n\n~~~yaml x\n```\nname: b\n~~~\n## A b.c\n## A b.c\n';
    const { blocks, anchors, links } = parseDocument('document', text);
    expect(blocks).toEqual([
      { document: 'document', line: 3, language: 'sh', text: '# not a heading [x](y)\n' },
      { document: 'document', line: 7, language: 'yaml', text: '```\nname: b\n' },
    ]);
    expect([...anchors]).toEqual(['a-bc', 'a-bc-1']);
    expect(links).toEqual([]);
  });

  it.each([
    ['```sh\nnpm ci\n', 'document:1: the code block is not closed'],
    ['- a\n\n  ```sh\n  npm ci\n  ```\n', 'document:3: the fence of a code block is indented'],
    ['a\n\n    npm ci\n', 'document:3: code without fences'],
  ])('refuses code that no test would find: %j', (text, message) => {
    expect(() => parseDocument('document', text)).toThrow(message);
  });
});

it.each([
  ['```yaml\nsteps: {}\n```\n', 'document:1: the pipeline has no name'],
  ['```yaml\nname: a\n```\n```yaml\nname: a\n```\n', 'document:4: another pipeline is called a'],
])('pipelineExamples refuses %j', (text, message) => {
  expect(() => pipelineExamples([parseDocument('document', text)])).toThrow(message);
});

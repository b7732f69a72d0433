import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** This file names what is not there, to show that it is found. */
const self = 'test/structure/documents.test.ts';

/** What a reader comes across: sources, tests, schemas, pipelines, and the documents beside them. */
const folders = ['src', 'test', 'schemas', 'pipelines'];
const isRead = (path: string): boolean =>
  /\.(?:ts|json|ya?ml|md)$/.test(path) && !path.split('/').includes('runs');

const files = [
  ...readdirSync(root).filter((name) => name.endsWith('.md') || name === 'package.json'),
  ...folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((path) => join(folder, path))
      .filter((path) => isRead(path) && path !== self),
  ),
];

const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');

/** A comment as one line, so that a reference may be broken over two. */
const joined = (text: string): string => text.replaceAll(/\s*\n\s*(?:\*|\/\/)?\s*/g, ' ');

/** Documents of other repositories, and files that a test writes itself. */
const foreign: Readonly<Record<string, readonly string[]>> = {
  'src/service/README.md': ['docs/api.md'],
  'test/app/workspace/checks/owned.test.ts': ['out/README.md'],
};

/** Documents that a text names, from the repository's root or from the folder of the text; addresses are left out. */
function missingDocuments(path: string, text: string): readonly string[] {
  const names = text.replaceAll(/\bhttps?:\S+/g, '').matchAll(/(?<![\w./-])[\w./-]+\.md\b/g);
  return [...new Set([...names].map(([name]) => name))].filter(
    (name) =>
      foreign[path]?.includes(name) !== true &&
      !existsSync(join(root, name)) &&
      !existsSync(join(root, dirname(path), name)),
  );
}

/** The sections of the gateway's page: `1` of `## 1. …`, `1.2` of `### 1.2 …`. */
const gatewayPage = 'src/service/README.md';
const sections = [...textOf(gatewayPage).matchAll(/^##(?: (\d+)\.|# (\d+\.\d+)) /gm)].map(
  ([, chapter, section]) => chapter ?? section ?? '',
);

const number = String.raw`\d+(?:\.\d+)*`;
/** `gateway 4.2`, and lists of the same: `gateway 4.2, 5.1 and 6`. */
const reference = new RegExp(String.raw`\bgateway (${number}(?:(?:,| and|, and) ${number})*)`, 'g');
/** Within the page itself: `(4.2)`, `(4.2, 5.1)`, `| 4.2 |`. */
const inner = /[(|] ?(\d\.\d+(?:, \d\.\d+)*)(?=[);:]| \|)/g;

function missingSections(text: string, pattern = reference): readonly string[] {
  const named = [...joined(text).matchAll(pattern)].flatMap(([, list = '']) => list.split(/[^\d.]+/));
  return named.filter((section) => !sections.includes(section));
}

const findings = (missing: (path: string, text: string) => readonly string[]): readonly string[] =>
  files.flatMap((path) => missing(path, textOf(path)).map((name) => `${path}: ${name}`));

describe('references in comments, tests, schemas and documents', () => {
  it('name documents that the repository has', () => {
    expect(files.length).toBeGreaterThan(500);
    expect(findings(missingDocuments)).toEqual([]);
  });

  it("name sections that the gateway's page has", () => {
    expect(findings((_, text) => missingSections(text))).toEqual([]);
    expect(missingSections(textOf(gatewayPage), inner)).toEqual([]);
  });

  it("are counted: a change of the page's name or of the form of a reference would otherwise find none", () => {
    const count = files.flatMap((path) => joined(textOf(path)).match(reference) ?? []).length;
    expect(count).toBeGreaterThan(300);
  });

  it('find a document and a section that are not there', () => {
    expect(missingDocuments('src/index.ts', '/** As plan.md 4.1 says, and ../README.md. */')).toEqual([
      'plan.md',
    ]);
    const broken = ['/** A task (gateway 4.2,', ' * 9.99 and 12) ends. */'].join('\n');
    expect(missingSections(broken)).toEqual(['9.99', '12']);
    expect(missingSections('As gateway 8.2 says.')).toEqual([]);
    expect(missingSections('As (8.2) and (8.99) say.', inner)).toEqual(['8.99']);
  });

  it("the page's sections stand in order, each number once", () => {
    const rank = (section: string): number => {
      const [chapter = 0, part = 0] = section.split('.').map(Number);
      return chapter * 1_000 + part;
    };
    expect(sections.map(rank)).toEqual([...new Set(sections.map(rank))].toSorted((a, b) => a - b));
  });
});

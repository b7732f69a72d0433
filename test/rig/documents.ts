import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository. */
export const repository = fileURLToPath(new URL('../../', import.meta.url));

/** A fenced code block of a document. */
export interface Block {
  /** Path of the document from the repository, with `/`. */
  readonly document: string;
  /** Line of the opening fence, from 1. */
  readonly line: number;
  /** The first word behind the opening fence; empty: none. */
  readonly language: string;
  /** What stands between the fences, each line with its end. */
  readonly text: string;
}

/** A Markdown document of the repository. */
export interface Document {
  /** From the repository, with `/`. */
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly Block[];
  /** The anchors of its headings, as GitHub makes them. */
  readonly anchors: ReadonlySet<string>;
  /** Where its links and pictures lead, as written. */
  readonly links: readonly string[];
}

/** Folders whose documents are ours, besides the repository's own. */
const folders = ['.', 'pipelines', 'schemas', 'src', 'test'];

/** Every document of the repository. */
export function readDocuments(): readonly Document[] {
  return folders
    .flatMap((folder) =>
      readdirSync(join(repository, folder), { recursive: folder !== '.', encoding: 'utf8' }).map((name) =>
        posix.normalize(posix.join(folder, name.replaceAll('\\', '/'))),
      ),
    )
    .filter((path) => path.endsWith('.md'))
    .sort()
    .map((path) => parseDocument(path, readFileSync(join(repository, path), 'utf8')));
}

/**
 * Finds the code blocks, headings and links of a document.
 *
 * @throws Error for code that no test would find: a fence that is not closed or is indented, and code without fences
 */
export function parseDocument(path: string, text: string): Document {
  const blocks: Block[] = [];
  const prose: string[] = [];
  const anchors = new Set<string>();
  let open:
    | { readonly fence: string; readonly line: number; readonly language: string; text: string }
    | undefined;
  let before = '';
  for (const [index, line] of text.split('\n').entries()) {
    const where = `${path}:${index + 1}`;
    const [, indent = '', fence, info = ''] = /^(\s*)(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (open !== undefined) {
      if (fence?.startsWith(open.fence) === true && info.trim() === '') {
        blocks.push({ document: path, line: open.line, language: open.language, text: open.text });
        open = undefined;
      } else {
        open.text += `${line}\n`;
      }
      continue;
    }
    if (fence !== undefined) {
      if (indent !== '') throw new Error(`${where}: the fence of a code block is indented`);
      open = { fence, line: index + 1, language: info.trim().split(/\s/)[0] ?? '', text: '' };
      continue;
    }
    if (/^(?: {4}|\t)/.test(line) && before.trim() === '') {
      throw new Error(`${where}: code without fences`);
    }
    const [, title] = /^#{1,6} (.*)$/.exec(line) ?? [];
    if (title !== undefined) anchors.add(unusedAnchor(title, anchors));
    prose.push(line);
    before = line;
  }
  if (open !== undefined) throw new Error(`${path}:${open.line}: the code block is not closed`);
  return { path, text, blocks, anchors, links: linksOf(prose.join('\n')) };
}

function unusedAnchor(title: string, used: ReadonlySet<string>): string {
  const anchor = title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-');
  for (let count = 0; ; count++) {
    const numbered = count === 0 ? anchor : `${anchor}-${count}`;
    if (!used.has(numbered)) return numbered;
  }
}

/** Of text without code: `[…](target)`, `![…](target)` and `[…]: target`. */
function linksOf(prose: string): readonly string[] {
  const text = prose.replace(/`[^`\n]*`/g, '');
  const inline = [...text.matchAll(/\]\(([^)]*)\)/g)];
  const defined = [...text.matchAll(/^\[[^\]]+\]: +(\S+)/gm)];
  return [...inline, ...defined].map(([, target = '']) => target);
}

/** A link within the repository. */
export interface Target {
  /** Path from the repository. */
  readonly path: string;
  /** Without `#`; empty: none. */
  readonly anchor: string;
}

/** Where a link of a document leads; undefined for other hosts. */
export function targetOf(document: Pick<Document, 'path'>, link: string): Target | undefined {
  if (/^[a-z]+:/.test(link)) return undefined;
  const [path = '', anchor = ''] = link.split('#');
  return {
    path: path === '' ? document.path : posix.join(posix.normalize(dirname(document.path)), path),
    anchor,
  };
}

/** The blocks of one language that are whole pipelines, by their names. */
export function pipelineExamples(documents: readonly Document[]): ReadonlyMap<string, string> {
  const examples = new Map<string, string>();
  for (const { document, line, language, text } of documents.flatMap(({ blocks }) => blocks)) {
    if (language !== 'yaml') continue;
    const [, name] = /^name: (.*)$/m.exec(text) ?? [];
    if (name === undefined) throw new Error(`${document}:${line}: the pipeline has no name`);
    if (examples.has(name)) throw new Error(`${document}:${line}: another pipeline is called ${name}`);
    examples.set(name, text);
  }
  return examples;
}

import type { SourceEntry, SourceNode } from '../yaml/node.ts';

/** Where a violation lies: the value, and the key it stands under. */
export interface SchemaPlace {
  readonly node: SourceNode;
  /** The mapping entry of the value, unless it is the whole or an item of a list. */
  readonly entry?: SourceEntry;
  /** The keys that lead to it from the top of the file, those of lists left out. */
  readonly way: readonly string[];
  /** What the value is called in a message: `timeouts.task`, `item 2 of matrix.exclude`. */
  readonly name: string;
}

/** The place that an instance path names. @param rootEntry the step whose mapping was validated, when it is not the whole file */
export function placeOf(
  instancePath: string,
  root: SourceNode,
  rootEntry: SourceEntry | undefined,
): SchemaPlace {
  let node = root;
  let entry = rootEntry;
  let item: number | undefined;
  const way = rootEntry === undefined ? [] : ['steps', rootEntry.key];
  const segments = instancePath.split('/').slice(1);
  for (const raw of segments) {
    const segment = raw.replaceAll('~1', '/').replaceAll('~0', '~');
    if (node.kind === 'mapping') {
      entry = node.entries.get(segment) as SourceEntry;
      node = entry.value;
      item = undefined;
      way.push(segment);
    } else if (node.kind === 'list') {
      item = Number(segment);
      node = node.items[item] as SourceNode;
    }
  }
  const keys = way.length === 0 ? 'the pipeline' : way.join('.');
  const name = item === undefined ? keys : `item ${item + 1} of ${keys}`;
  return { node, way, name, ...(entry === undefined || item !== undefined ? {} : { entry }) };
}

/** The name at the beginning of a sentence: keys stay as they stand in the file. */
export const subject = ({ name }: SchemaPlace): string =>
  /^(?:the pipeline|item )/.test(name) ? name.charAt(0).toUpperCase() + name.slice(1) : name;

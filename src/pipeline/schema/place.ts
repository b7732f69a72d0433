import type { SourceEntry, SourceNode } from '../yaml/node.ts';

/** The place of a schema error: the value and its key. */
export interface SchemaPlace {
  readonly node: SourceNode;
  /** Mapping entry of the value; absent for the whole file and for list items. */
  readonly entry?: SourceEntry;
  /** Keys from the top of the file to the value, without list indexes. */
  readonly way: readonly string[];
  /** Name of the value in messages: `timeouts.task`, `item 2 of matrix.exclude`. */
  readonly name: string;
}

/** Finds the place of an instance path. @param rootEntry the step whose mapping was validated, unless it was the whole file */
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

/** Returns a place's name for the beginning of a sentence; keys stay as in the file. */
export const subject = ({ name }: SchemaPlace): string =>
  /^(?:the pipeline|item )/.test(name) ? name.charAt(0).toUpperCase() + name.slice(1) : name;

import { isScalar, type Node } from 'yaml';
import type { SourceEntry, SourceNode } from './node.ts';

/** Whether a key is `<<` without quotes: the mappings of its value are merged into the surrounding one (YAML 1.1's merge key). */
export const isMergeKey = (key: Node | null): boolean =>
  isScalar(key) && key.value === '<<' && key.type === 'PLAIN';

/** Returns the mappings of a merge key, in order of precedence; undefined if another value is among them. */
export function mergedMappings(value: SourceNode): readonly ReadonlyMap<string, SourceEntry>[] | undefined {
  const sources = value.kind === 'list' ? value.items : [value];
  const mappings = sources.flatMap((source) => (source.kind === 'mapping' ? [source.entries] : []));
  return mappings.length === sources.length ? mappings : undefined;
}

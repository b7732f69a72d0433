import { isScalar, type Node } from 'yaml';
import type { SourceEntry, SourceNode } from './node.ts';

/** True for `<<` without quotes: the mapping behind it, or each of a list, is merged into the one around it (YAML 1.1's merge key). */
export const isMergeKey = (key: Node | null): boolean =>
  isScalar(key) && key.value === '<<' && key.type === 'PLAIN';

/** The mappings that a merge key names, the first winning; undefined when something else is among them. */
export function mergedMappings(value: SourceNode): readonly ReadonlyMap<string, SourceEntry>[] | undefined {
  const sources = value.kind === 'list' ? value.items : [value];
  const mappings = sources.flatMap((source) => (source.kind === 'mapping' ? [source.entries] : []));
  return mappings.length === sources.length ? mappings : undefined;
}

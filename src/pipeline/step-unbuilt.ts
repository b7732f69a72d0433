import { unbuilt } from './kinds.ts';
import { entriesOf, member, type SourceEntry } from './node.ts';
import type { Reports } from './reports.ts';
import { keysOfStep } from './schema.ts';
import type { StepNode } from './schema-check.ts';

/** Refuses by name what the language has and this version cannot run yet. */
export function refuseUnbuilt({ kind, node }: StepNode, reports: Reports): void {
  if (kind === undefined) return;
  const refuse = ({ keySpan }: SourceEntry, what: string): void => {
    const message = `${what} is part of the language, but this version cannot run it yet.`;
    reports.error('step.unbuilt', keySpan, message, 'Leave it out for now.');
  };
  for (const entry of entriesOf(node)) {
    const { key } = entry;
    // A key that this kind does not have is the schema's mistake.
    if (!keysOfStep(kind).includes(key)) continue;
    if (key === kind && unbuilt.kinds.has(kind)) refuse(entry, `The step kind ${key}`);
    else if (unbuilt.keys.has(key)) refuse(entry, `"${key}"`);
    else if (unbuilt.keysOfKind.has(`${kind}.${key}`)) refuse(entry, `"${key}" with ${kind}`);
  }
  for (const entry of entriesOf(member(node, kind))) {
    if (unbuilt.fields.has(`${kind}.${entry.key}`)) refuse(entry, `"${kind}.${entry.key}"`);
  }
  const path = member(node, 'path');
  for (const segment of path?.kind === 'list' ? path.items : []) {
    for (const entry of entriesOf(segment)) {
      if (unbuilt.segmentKeys.has(entry.key)) refuse(entry, `"${entry.key}" in a path`);
    }
  }
}

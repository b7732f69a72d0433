import type { DiagnosticCollector } from '../../diagnostics/collector.ts';
import { kinds } from '../../kinds.ts';
import { renderValue } from '../../values/value.ts';
import { member, type SourceNode } from '../../yaml/node.ts';
import type { StepDraft } from '../draft.ts';

/** Reports a video step that extends what is no video. */
export function checkVideo(
  step: StepDraft,
  steps: ReadonlyMap<string, StepDraft>,
  collector: DiagnosticCollector,
): void {
  const operation = videoOf(step);
  const extend = operation?.kind === 'mapping' ? operation.entries.get('extend') : undefined;
  if (extend === undefined) return;
  const { from } = step;
  if (from === undefined) {
    // An address with errors has been reported.
    if (step.node.entries.has('from')) return;
    const message = 'There is no video to extend.';
    collector.error('video.extend', extend.keySpan, message, 'Say from: and name a video step.');
    return;
  }
  const target = steps.get(from.step);
  if (target?.kind === undefined) return;
  const extended = videoOf(target);
  if (extended === undefined) {
    const message = `Step "${target.name}" is of kind ${target.kind}; only what a video step makes can be extended.`;
    const hint =
      'A video of an image says image: parent. Of a video that a button made, press Extend (Low motion) or Extend (High motion) on its U1 to U4.';
    collector.error('video.extend', from.position, message, hint);
  } else if (from.segments.length > 0) {
    const message = `"${from.source}" is one of its buttons, and it is the step's own result that is extended.`;
    const hint = `Write from: ${target.name}; or press Extend (Low motion) or Extend (High motion).`;
    collector.error('video.extend', from.position, message, hint);
  } else {
    const made = literalNumber(member(extended, 'batchSize'));
    const wanted = literalNumber(extend.value);
    if (made === undefined || wanted === undefined || wanted <= made) return;
    const message = `Step "${target.name}" makes ${made} (batchSize), so there is no video ${wanted} to extend.`;
    collector.error('video.extend', extend.value.span, message, 'Videos count from 1.');
  }
}

const videoOf = ({ kind, node }: StepDraft): SourceNode | undefined =>
  kind !== undefined && kinds[kind].makes === 'videos' ? member(node, kind) : undefined;

/** A number that stands in the file, also as a text; undefined for a template. */
function literalNumber(node: SourceNode | undefined): number | undefined {
  const value = node?.kind === 'scalar' ? Number(renderValue(node.value)) : Number.NaN;
  return Number.isNaN(value) ? undefined : value;
}

import type { DiagnosticCollector } from '../../diagnostics/collector.ts';
import { isTextKind, kinds } from '../../kinds.ts';
import { checkNativeKeys } from '../../schema/native-keys.ts';
import { hasTags } from '../../templates/compile.ts';
import { isText, member, nodeAt, type SourceMapping, type SourceNode, toValue } from '../../yaml/node.ts';
import type { CheckContext, StepDraft } from '../draft.ts';
import { replyChecker } from '../reply-schema/check.ts';
import { checkThinking } from './thinking.ts';

/** Reports errors in a generate or chat step that the schema cannot find. */
export function checkTextStep(step: StepDraft, context: CheckContext): void {
  const { kind, node } = step;
  const { collector } = context;
  if (!isTextKind(kind)) return;
  const operation = member(node, kind);
  if (operation?.kind !== 'mapping') return;
  const { schemas, speaks } = kinds[kind];
  checkSchemas(operation, schemas, collector);
  if (speaks !== 'native') return;
  checkNativeKeys(operation, collector);
  checkContinue(operation, context);
  checkRounds(operation, collector);
  checkThinking(step, operation, context);
}

function checkSchemas(
  operation: SourceMapping,
  paths: readonly (readonly string[])[],
  collector: DiagnosticCollector,
): void {
  const declared = paths.flatMap((path) => {
    const node = nodeAt(operation, path);
    return node?.kind === 'mapping' ? [{ path, node }] : [];
  });
  const [, second] = declared;
  if (second !== undefined) {
    const message = `The schema of the answer is given twice, as ${declared.map(({ path }) => path.join('.')).join(' and as ')}.`;
    collector.error('schema.twice', second.node.span, message, 'Keep one.');
  }
  for (const { node } of declared) {
    for (const { severity, path, message, hint } of replyChecker(toValue(node)).mistakes) {
      const place = placeOf(node, path);
      // The result of a template is not known yet.
      if (isText(place) && hasTags(place.value)) continue;
      collector[severity]('schema.answer', keySpanOf(node, path) ?? place.span, message, hint);
    }
  }
}

/** Returns the node at a path, or the last existing node on the way. */
function placeOf(node: SourceNode, path: readonly string[]): SourceNode {
  for (let length = path.length; length > 0; length -= 1) {
    const found = nodeAt(node, path.slice(0, length));
    if (found !== undefined) return found;
  }
  return node;
}

/** Returns the span of the key of a mapping or list, which is itself too large to mark. */
function keySpanOf(node: SourceNode, path: readonly string[]): SourceNode['span'] | undefined {
  const place = placeOf(node, path);
  const parent = nodeAt(node, path.slice(0, -1));
  if (place.kind === 'scalar' || parent?.kind !== 'mapping') return undefined;
  return parent.entries.get(path.at(-1) ?? '')?.keySpan;
}

function checkContinue(operation: SourceMapping, { steps, collector }: CheckContext): void {
  const entry = operation.entries.get('continue');
  if (entry === undefined || !isText(entry.value)) return;
  const target = steps.get(entry.value.value);
  if (target?.kind !== undefined && !(isTextKind(target.kind) && kinds[target.kind].speaks === 'native')) {
    const message = `Step "${target.name}" is of kind ${target.kind}; only the turns of a generate step can be continued.`;
    const hint = 'To read its result, use a template; to show its images, use images.';
    collector.error('step.continue', entry.value.span, message, hint);
  } else if (operation.entries.has('contents')) {
    const message = 'A step with its own contents gives all turns, so it cannot continue another step.';
    collector.error('step.continue', entry.keySpan, message, 'Write prompt instead of contents.');
  }
}

function checkRounds(operation: SourceMapping, collector: DiagnosticCollector): void {
  const rounds = operation.entries.get('rounds');
  if (rounds === undefined || operation.entries.has('functions')) return;
  const message = 'Rounds need functions, and there are none.';
  const hint = 'Leave rounds out, or add functions: native functionDeclarations have no answer.';
  collector.warning('step.rounds', rounds.keySpan, message, hint);
}

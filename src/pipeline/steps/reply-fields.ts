import type { DiagnosticCollector } from '../diagnostics/collector.ts';
import { suggestion } from '../diagnostics/did-you-mean.ts';
import { isTextKind, kinds, type TextKind, tokenCounts } from '../kinds.ts';
import type { StepUse } from '../templates/template.ts';
import { isMapping } from '../values/value.ts';
import { member, toValue } from '../yaml/node.ts';
import type { StepDraft } from './draft.ts';
import { replyFormat } from './reply-schema/format.ts';
import { type MemberShape, schemaMember } from './reply-schema/member.ts';

/** Reports uses of a text step's JSON, parts or usage that cannot work. */
export function checkResult(use: StepUse, target: StepDraft, collector: DiagnosticCollector): void {
  const [field, ...rest] = use.path;
  if (!isTextKind(target.kind)) {
    if (field === 'prompts' && rest.length === 0) checkText(use, 'array', collector);
  } else if (field === 'json') {
    checkJson(use, rest, target, target.kind, collector);
  } else if (field === 'usage') {
    checkUsage(use, rest, collector);
  } else if (field === 'parts') {
    checkParts(use, rest, collector);
  }
}

function checkJson(
  use: StepUse,
  path: readonly string[],
  target: StepDraft,
  kind: TextKind,
  collector: DiagnosticCollector,
): void {
  const operation = member(target.node, kind);
  const fields = operation === undefined ? undefined : toValue(operation);
  if (!isMapping(fields)) return;
  const { json, schema } = replyFormat(kind, fields);
  if (json === false) {
    const message = `Step "${target.name}" does not ask for JSON, so it has no "json".`;
    const hint = `${kinds[kind].jsonHint}; the text of its answer is steps.${target.name}.text.`;
    return collector.error('step.no-json', use.position, message, hint);
  }
  if (schema === undefined) return;
  const found = schemaMember(schema, path);
  if (found.kind === 'found') checkText(use, found.shape, collector);
  if (found.kind !== 'missing') return;
  const wrong = path[found.depth] as string;
  const way = ['steps', target.name, 'json', ...path.slice(0, found.depth)].join('.');
  const what =
    found.shape === 'array' ? 'a list' : found.shape === 'scalar' ? 'a scalar' : 'described in the schema';
  if (found.names.length > 0) {
    const message = `By its schema, "${way}" has no "${wrong}".`;
    collector.error('step.json-member', use.position, message, () =>
      suggestion(wrong, found.names, 'members'),
    );
  } else {
    const hint = found.shape === 'array' ? `Write ${way}[0] or ${way}.first.` : `Write ${way}.`;
    collector.error('step.json-member', use.position, `"${way}" is ${what}, so it has no "${wrong}".`, hint);
  }
}

function checkUsage(use: StepUse, path: readonly string[], collector: DiagnosticCollector): void {
  const [name, more] = path;
  const way = `steps.${use.step}.usage`;
  if (name === undefined) {
    checkText(use, 'object', collector);
  } else if (!(tokenCounts as readonly string[]).includes(name)) {
    const message = `"${way}" has no "${name}".`;
    collector.error('step.field', use.position, message, () => suggestion(name, tokenCounts, 'counts'));
  } else if (more !== undefined) {
    const message = `"${way}.${name}" is a number, so it has no "${more}".`;
    collector.error('step.field', use.position, message, `Write ${way}.${name}.`);
  }
}

function checkParts(use: StepUse, path: readonly string[], collector: DiagnosticCollector): void {
  const [name, ...more] = path;
  const way = `steps.${use.step}.parts`;
  if (name === undefined) {
    checkText(use, 'array', collector);
  } else if (!/^(?:-?\d+|first|last|size)$/.test(name)) {
    const message = `"${way}" is a list, so it has no "${name}".`;
    collector.error('step.field', use.position, message, `Write ${way}[0].${name}.`);
  } else if (more.length === 0 && name !== 'size') {
    checkText(use, 'object', collector);
  }
}

/** Reports an object or list that would be rendered as text. */
function checkText(
  { step, path, position, output }: StepUse,
  shape: MemberShape,
  collector: DiagnosticCollector,
): void {
  if (output !== 'within' || (shape !== 'object' && shape !== 'array')) return;
  const what = shape === 'object' ? 'an object' : 'a list';
  const way = ['steps', step, ...path].join('.');
  const hint = `Name one of its members, or write {{ ${way} | json }}.`;
  collector.error('step.no-text', position, `"${way}" is ${what}, which has no text of its own.`, hint);
}

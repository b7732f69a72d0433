import type { DiagnosticCollector } from '../diagnostics/collector.ts';
import { suggestion } from '../diagnostics/did-you-mean.ts';
import { isTextKind, kinds, type TextKind, tokenCounts } from '../kinds.ts';
import type { StepUse } from '../templates/template.ts';
import { isMapping } from '../values/value.ts';
import { member, toValue } from '../yaml/node.ts';
import type { StepDraft } from './draft.ts';
import { type ReplyFormat, replyFormat } from './reply-schema/format.ts';
import { type MemberShape, type SchemaMember, schemaMember } from './reply-schema/member.ts';

/** The name by which a template reads a part of a result, in place of its first names. */
interface Alias {
  readonly name: string;
  /** Number of names of the path that it stands for. */
  readonly stands: number;
}

/**
 * Reports uses of a text step's JSON, parts or usage that cannot work.
 *
 * @param alias if the template does not write the path itself
 */
export function checkResult(
  use: StepUse,
  target: StepDraft,
  collector: DiagnosticCollector,
  alias?: Alias,
): void {
  const [field, ...rest] = use.path;
  if (!isTextKind(target.kind)) {
    if (field === 'prompts' && rest.length === 0) checkText(use, 'array', collector, alias);
  } else if (field === 'json') {
    checkJson(use, rest, target, target.kind, collector, alias);
  } else if (field === 'usage') {
    checkUsage(use, rest, collector);
  } else if (field === 'parts') {
    checkParts(use, rest, collector);
  }
}

/** Returns the format of a text step's reply; undefined if its request is not readable. */
function formatOf({ node }: StepDraft, kind: TextKind): ReplyFormat | undefined {
  const operation = member(node, kind);
  const fields = operation === undefined ? undefined : toValue(operation);
  return isMapping(fields) ? replyFormat(kind, fields) : undefined;
}

/** Returns what the schema of a step's reply says about a member of its JSON; undefined if there is no such schema. */
export function replyMember(
  { path: [field, ...path] }: StepUse,
  target: StepDraft,
): SchemaMember | undefined {
  if (field !== 'json' || !isTextKind(target.kind)) return undefined;
  const schema = formatOf(target, target.kind)?.schema;
  return schema === undefined ? undefined : schemaMember(schema, path);
}

const wayOf = ({ step, path }: StepUse, alias: Alias | undefined, length = path.length): string =>
  alias === undefined
    ? ['steps', step, ...path.slice(0, length)].join('.')
    : [alias.name, ...path.slice(alias.stands, length)].join('.');

function checkJson(
  use: StepUse,
  path: readonly string[],
  target: StepDraft,
  kind: TextKind,
  collector: DiagnosticCollector,
  alias: Alias | undefined,
): void {
  const format = formatOf(target, kind);
  if (format === undefined) return;
  const { json, schema } = format;
  if (json === false) {
    const message = `Step "${target.name}" does not ask for JSON, so it has no "json".`;
    const hint = `${kinds[kind].jsonHint}; the text of its answer is steps.${target.name}.text.`;
    return collector.error('step.no-json', use.position, message, hint);
  }
  if (schema === undefined) return;
  const found = schemaMember(schema, path);
  if (found.kind === 'found') checkText(use, found.shape, collector, alias);
  // Another check reports the list itself.
  if (found.kind !== 'missing' || found.depth + 1 < (alias?.stands ?? 0)) return;
  const wrong = path[found.depth] as string;
  const way = wayOf(use, alias, found.depth + 1);
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
function checkText(use: StepUse, shape: MemberShape, collector: DiagnosticCollector, alias?: Alias): void {
  const { position, output } = use;
  if (output !== 'within' || (shape !== 'object' && shape !== 'array')) return;
  const what = shape === 'object' ? 'an object' : 'a list';
  const way = wayOf(use, alias);
  const hint = `Name one of its members, or write {{ ${way} | json }}.`;
  collector.error('step.no-text', position, `"${way}" is ${what}, which has no text of its own.`, hint);
}

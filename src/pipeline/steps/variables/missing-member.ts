import type { Position } from '../../diagnostics/diagnostic.ts';
import type { MatrixDraft } from '../../matrix/draft.ts';
import type { Template, TemplateError, TemplateScope, VariableUse } from '../../templates/template.ts';
import { memberAt } from '../../values/path.ts';
import { isMapping, renderValue, type Value } from '../../values/value.ts';

/** A value of an axis that lacks a member, and what to do about it. */
interface MissingMember {
  /** Of the value. */
  readonly position: Position;
  readonly message: string;
  readonly hint: string;
}

/**
 * The value of an axis because of which a template cannot be rendered in this scope, as the error says; undefined where no other value has the member
 * either, which another check reports.
 */
export function missingMember(
  { variables }: Template,
  scope: TemplateScope,
  matrix: MatrixDraft,
  error: TemplateError,
): MissingMember | undefined {
  for (const use of variables) {
    const missing = missingAt(use, scope, matrix, error);
    if (missing !== undefined) return missing;
  }
  return undefined;
}

function missingAt(
  use: VariableUse,
  { vars }: TemplateScope,
  matrix: MatrixDraft,
  error: TemplateError,
): MissingMember | undefined {
  const [root = ''] = use.path;
  const known = matrix.variables.get(root);
  const value = vars[root];
  const at = value === undefined ? -1 : (known?.values?.indexOf(value) ?? -1);
  const position = known?.positions?.[at];
  if (position === undefined) return undefined;
  const length = use.path.findIndex(
    (_name, index) => memberAt(vars, use.path.slice(0, index + 1)) === undefined,
  );
  if (length < 1) return undefined;
  const way = use.path.slice(0, length + 1);
  const owner = memberAt(vars, way.slice(0, -1));
  if (!isMapping(owner)) return undefined;
  const example = (known?.values ?? [])
    .map((other) => memberAt({ [root]: other }, way))
    .find((one) => one !== undefined);
  if (example === undefined) return undefined;
  const name = way.join('.');
  // Another name may be what cannot be read, and this one have a default.
  if (!error.message.startsWith(`"${name}" `)) return undefined;
  const member = way.at(-1) ?? '';
  return {
    position,
    message: `This value of "${root}" has no "${way.slice(1).join('.')}", which {{ ${name} }} on line ${use.position.line} reads: its cells fail in the run.`,
    hint: `Give it one, as other values have it (${member}: ${shown(example)}); or write {{ ${name} | default: ${quoted(example)} }}.`,
  };
}

/** A longer value is not repeated in a hint. */
const longestShown = 40;

function shown(value: Value): string {
  if (typeof value === 'object' && value !== null && (isMapping(value) || Array.isArray(value))) return '…';
  const text = renderValue(value);
  return text.length > longestShown ? '…' : text;
}

const quoted = (value: Value): string =>
  typeof value === 'string' ? `'${shown(value).replaceAll("'", '')}'` : shown(value);

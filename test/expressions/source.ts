import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync, Visitor } from 'oxc-parser';
import { acceptsText } from '../../schemas/accepts-text.ts';

/** A regular expression of the sources. */
export interface Expression {
  /** `service/image/task.ts`, below `src`. */
  readonly file: string;
  readonly line: number;
  /** As it is written: `/a+/g`, or the whole `new RegExp(…)`. */
  readonly text: string;
  /** Absent for what is made at run time. */
  readonly literal?: { readonly source: string; readonly flags: string };
}

interface MadeExpression {
  readonly callee: object;
  readonly arguments: readonly object[];
  readonly start: number;
  readonly end: number;
}

/** The text of an argument that is one in quotes: an expression made of such texts is as good as a literal. */
const textOf = (argument: object): string | undefined =>
  'value' in argument && typeof argument.value === 'string' ? argument.value : undefined;

/** Every regular expression of one source file, in its order. */
export function expressionsIn(file: string, code: string): readonly Expression[] {
  const { program, errors } = parseSync(file, code);
  if (errors.length > 0) throw new Error(`${file} cannot be read: ${errors[0]?.message}`);
  const found: { readonly start: number; readonly expression: Expression }[] = [];
  const add = (start: number, end: number, literal?: Expression['literal']): void => {
    const text = code.slice(start, end).replaceAll(/\s+/g, ' ');
    const line = code.slice(0, start).split('\n').length;
    found.push({ start, expression: { file, line, text, ...(literal !== undefined && { literal }) } });
  };
  const made = ({ callee, arguments: args, start, end }: MadeExpression): void => {
    if (!('name' in callee) || callee.name !== 'RegExp') return;
    const [source, flags = '', ...others] = args.map(textOf);
    const isConstant = source !== undefined && !args.map(textOf).includes(undefined) && others.length === 0;
    add(start, end, isConstant ? { source, flags } : undefined);
  };
  new Visitor({
    Literal(node) {
      if (!('regex' in node)) return;
      const { pattern: source, flags } = node.regex;
      add(node.start, node.end, { source, flags });
    },
    NewExpression: made,
    CallExpression: made,
  }).visit(program);
  return found.sort((a, b) => a.start - b.start).map(({ expression }) => expression);
}

/** Every regular expression of the sources, file by file, those of the schema of pipelines among them. */
export function sourceExpressions(): readonly Expression[] {
  const folder = fileURLToPath(new URL('../../src', import.meta.url));
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  return [
    ...files.toSorted().flatMap((file) => expressionsIn(file, readFileSync(join(folder, file), 'utf8'))),
    ...expressionsIn('../schemas/pipeline.schema.json.js', acceptsText()),
  ];
}

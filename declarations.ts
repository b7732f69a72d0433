import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseSync } from 'oxc-parser';

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

interface Named extends Node {
  readonly name: string;
}

/** A name as another module has it; of a package where `file` is none of ours. */
interface Elsewhere {
  readonly from: string;
  readonly name: string;
}

interface Module {
  readonly file: string;
  readonly text: string;
  /** Statements by the name that they declare: the overloads of a function share one. */
  readonly declared: ReadonlyMap<string, readonly Node[]>;
  readonly imported: ReadonlyMap<string, Elsewhere>;
  /** By the name that it has outside: a name of this module, or of another one. */
  readonly exported: ReadonlyMap<string, string | Elsewhere>;
  /** Where the text in front of a statement begins: it is its comment. */
  readonly before: ReadonlyMap<Node, number>;
}

const nodesOf = (value: unknown): readonly Node[] => (Array.isArray(value) ? (value as Node[]) : []);
const nameOf = (value: unknown): string => {
  const { name, value: text } = value as { readonly name?: string; readonly value?: string };
  return name ?? text ?? '';
};

const isOurs = (from: string): boolean => from.startsWith('.');

/** The file of declarations that a module means by `./other.js` or `./other.ts`. */
const fileOf = (from: string, file: string): string =>
  resolve(dirname(file), from).replace(/\.(?:d\.)?[jt]s$/, '.d.ts');

function readModule(file: string): Module {
  const text = readFileSync(file, 'utf8');
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  const declared = new Map<string, Node[]>();
  const imported = new Map<string, Elsewhere>();
  const exported = new Map<string, string | Elsewhere>();
  const before = new Map<Node, number>();
  let end = 0;
  for (const statement of program.body as unknown as readonly Node[]) {
    const source = statement['source'] as { readonly value: string } | null | undefined;
    if (statement.type === 'ExportAllDeclaration') throw new Error(`${file}: export * is not joined.`);
    if (statement.type === 'ImportDeclaration') {
      for (const specifier of nodesOf(statement['specifiers'])) {
        if (specifier.type === 'ImportNamespaceSpecifier')
          throw new Error(`${file}: import * is not joined.`);
        const name = specifier.type === 'ImportDefaultSpecifier' ? 'default' : nameOf(specifier['imported']);
        imported.set(nameOf(specifier['local']), { from: source?.value ?? '', name });
      }
    } else {
      for (const specifier of nodesOf(statement['specifiers'])) {
        const name = nameOf(specifier['local']);
        exported.set(nameOf(specifier['exported']), source ? { from: source.value, name } : name);
      }
      const isExported = statement.type === 'ExportNamedDeclaration';
      const declaration = isExported ? (statement['declaration'] as Node | null) : statement;
      if (declaration !== null) {
        const ids = declaration['id']
          ? [declaration['id']]
          : nodesOf(declaration['declarations']).map(({ id }) => id);
        for (const name of ids.map(nameOf)) {
          declared.set(name, [...(declared.get(name) ?? []), declaration]);
          if (isExported) exported.set(name, name);
        }
        before.set(declaration, end);
      }
    }
    end = statement.end;
  }
  return { file, text, declared, imported, exported, before };
}

/** Members of nodes whose names mean nothing outside: of members, parameters, labels. */
const ownNames: Readonly<Record<string, readonly string[]>> = {
  TSTypeParameter: ['name'],
  TSTypePredicate: ['parameterName'],
  TSQualifiedName: ['right'],
  TSNamedTupleMember: ['label'],
  TSMappedType: ['key'],
  TSEnumMember: ['id'],
};
const keyed = new Set([
  'TSPropertySignature',
  'TSMethodSignature',
  'PropertyDefinition',
  'MethodDefinition',
  'TSAbstractPropertyDefinition',
  'TSAbstractMethodDefinition',
  'AccessorProperty',
  'Property',
]);
const withParameters = new Set([
  'TSFunctionType',
  'TSConstructorType',
  'TSMethodSignature',
  'TSDeclareFunction',
  'TSEmptyBodyFunctionExpression',
  'TSCallSignatureDeclaration',
  'TSConstructSignatureDeclaration',
  'TSIndexSignature',
]);

/** Identifiers below a node that may name something of its module, and types written as `import("…").Name`. */
function* referencesIn(node: Node): Generator<Node> {
  if (node.type === 'Identifier' || node.type === 'TSImportType') yield node;
  const skipped = new Set(ownNames[node.type]);
  if (keyed.has(node.type) && node['computed'] !== true) skipped.add('key');
  if (node.type === 'MemberExpression' && node['computed'] !== true) skipped.add('property');
  for (const [key, value] of Object.entries(node)) {
    if (skipped.has(key) || typeof value !== 'object' || value === null) continue;
    const isParameters = withParameters.has(node.type) && (key === 'params' || key === 'parameters');
    for (const child of Array.isArray(value) ? (value as (Node | null)[]) : [value as Node]) {
      if (typeof child?.type !== 'string') continue;
      const inner = isParameters && child.type === 'RestElement' ? (child['argument'] as Node) : child;
      if (isParameters && inner.type === 'Identifier') {
        for (const of of new Set([child, inner])) {
          const type = of['typeAnnotation'] as Node | null;
          if (type) yield* referencesIn(type);
        }
      } else yield* referencesIn(child);
    }
  }
}

/**
 * Joins the declarations that a file of declarations exports, and all that they name, into one text: what `tsc` writes of many sources as
 * one file. Names that several files have are told apart by a number.
 *
 * @param entry path of the file; what is imported from packages stays so
 * @throws Error for a form that it does not know
 */
export function joinedDeclarations(entry: string): string {
  const modules = new Map<string, Module>();
  const moduleAt = (file: string): Module => {
    const known = modules.get(file) ?? readModule(file);
    modules.set(file, known);
    return known;
  };
  /** Names by what is declared: `file#name`, or `package#name`. */
  const names = new Map<string, string>();
  const taken = new Set<string>();
  const packages = new Map<string, string[]>();
  const parts: string[] = [];

  const resolved = (module: Module, name: string): Elsewhere | undefined => {
    if (module.declared.has(name)) return { from: module.file, name };
    const elsewhere = module.imported.get(name);
    return elsewhere && found(elsewhere, module);
  };
  const found = ({ from, name }: Elsewhere, { file }: Pick<Module, 'file'>): Elsewhere => {
    if (!isOurs(from)) return { from, name };
    const module = moduleAt(fileOf(from, file));
    const exported = module.exported.get(name);
    const at =
      typeof exported === 'string' ? resolved(module, exported) : exported && found(exported, module);
    if (at === undefined) throw new Error(`${module.file} exports no ${name}.`);
    return at;
  };
  /** The name in the joined text; what is met for the first time is written. */
  const nameIn = ({ from, name }: Elsewhere): string => {
    const key = `${from}#${name}`;
    const known = names.get(key);
    if (known !== undefined) return known;
    let own = name;
    for (let number = 2; taken.has(own); number += 1) own = `${name}${number}`;
    taken.add(own);
    names.set(key, own);
    if (modules.has(from)) write(moduleAt(from), name);
    else packages.set(from, [...(packages.get(from) ?? []), own === name ? name : `${name} as ${own}`]);
    return own;
  };
  const write = (module: Module, name: string): void => {
    for (const node of module.declared.get(name) ?? []) {
      const edits: { readonly start: number; readonly end: number; readonly text: string }[] = [];
      for (const reference of referencesIn(node)) {
        const isImport = reference.type === 'TSImportType';
        const at = isImport
          ? found({ from: nameOf(reference['source']), name: nameOf(reference['qualifier']) }, module)
          : resolved(module, (reference as Named).name);
        if (at === undefined) continue;
        const { start } = reference;
        const end = isImport
          ? (reference['qualifier'] as Node).end
          : start + (reference as Named).name.length;
        edits.push({ start, end, text: nameIn(at) });
      }
      const start = node.start;
      let text = '';
      let last = start;
      for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
        text += module.text.slice(last, edit.start) + edit.text;
        last = edit.end;
      }
      text += module.text.slice(last, node.end);
      const comment = module.text
        .slice(module.before.get(node), start)
        .replace(/\bexport\s+$/, '')
        .trim();
      parts.push(`${comment === '' ? '' : `${comment}\n`}${text}`);
    }
  };

  const root = moduleAt(entry);
  const exported = [...root.exported].map(([name, of]) => {
    const at = typeof of === 'string' ? resolved(root, of) : found(of, root);
    if (at === undefined) throw new Error(`${entry} exports no ${name}.`);
    const own = nameIn(at);
    return own === name ? name : `${own} as ${name}`;
  });
  const imports = [...packages].map(([from, list]) => `import type { ${list.join(', ')} } from '${from}';`);
  return [...imports, ...parts, `export { ${exported.join(', ')} };`, ''].join('\n');
}

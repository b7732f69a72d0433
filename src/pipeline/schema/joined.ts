import type { DiagnosticCode } from '../diagnostics/codes.ts';
import { listing } from '../diagnostics/did-you-mean.ts';
import type { Span } from '../diagnostics/source.ts';
import { isStepKind } from '../kinds.ts';
import { entryAt, isText, type SourceEntry, type SourceNode } from '../yaml/node.ts';
import { axisHint, boxHint } from './hints/examples.ts';
import { meantInside } from './misplaced.ts';
import { placeOf, subject } from './place.ts';
import { keysOfOperation, type SchemaError } from './schema.ts';

/** The message and hint for an error of the schema. */
export interface Message {
  readonly code: DiagnosticCode;
  readonly span: Span;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** Joins errors of the schema that are caused by one mistake, for the file or for one step. */
export class JoinedErrors {
  readonly #errors: readonly SchemaError[];
  readonly #root: SourceNode;
  readonly #entry: SourceEntry | undefined;
  /** Instance paths of reported errors. */
  readonly #reported = new Set<string>();

  /** @param entry the step whose mapping was validated, unless it was the whole file */
  constructor(errors: readonly SchemaError[], root: SourceNode, entry: SourceEntry | undefined) {
    this.#errors = errors;
    this.#root = root;
    this.#entry = entry;
  }

  /** Returns the message for the first error of a group, `reported` for the others, undefined for an error that is not part of a group. */
  message(error: SchemaError): Message | 'reported' | undefined {
    return this.#box(error) ?? this.#axis(error) ?? this.#emptyOperation(error);
  }

  /** Recognises a mask box in pixels or percent by any of its four values. */
  #box({ instancePath, keyword }: SchemaError): Message | 'reported' | undefined {
    const path = /^(.*\/(?:rectangle|ellipse))\/\d+$/.exec(instancePath)?.[1];
    if (path === undefined || (keyword !== 'maximum' && keyword !== 'pattern')) return undefined;
    if (this.#reported.has(path)) return 'reported';
    const place = placeOf(path, this.#root, this.#entry);
    const found = boxHint(place.node);
    if (found === undefined) return undefined;
    this.#reported.add(path);
    const message = `${subject(place)} must be in fractions of the image, from 0 to 1, not in ${found.what}.`;
    const { span } = placeOf(instancePath, this.#root, this.#entry).node;
    return { code: 'schema.range', span, message, hint: found.hint };
  }

  /** Recognises an axis that is a mapping without the keys of a range: names its keys and the missing ones. */
  #axis({ instancePath, keyword }: SchemaError): Message | 'reported' | undefined {
    if (this.#entry !== undefined || !/^\/matrix\/[^/]+$/.test(instancePath)) return undefined;
    if (keyword !== 'additionalProperties' && keyword !== 'required') return undefined;
    const place = placeOf(instancePath, this.#root, this.#entry);
    const [, name = ''] = place.way;
    if (place.node.kind !== 'mapping' || ['rows', 'sample'].includes(name)) return undefined;
    const { entries } = place.node;
    if (entries.has('from') && entries.has('to')) return undefined;
    const odd = [...entries.values()].find(({ key }) => !['from', 'to', 'step'].includes(key));
    if (odd === undefined) return undefined;
    if (this.#reported.has(instancePath)) return 'reported';
    this.#reported.add(instancePath);
    const message = `"${odd.key}" is not a key of ${place.name}.`;
    return { code: 'schema.unknown-key', span: odd.keySpan, message, hint: axisHint(name, place.node) };
  }

  #emptyOperation({ instancePath, keyword, params }: SchemaError): Message | 'reported' | undefined {
    if (this.#entry === undefined || this.#root.kind !== 'mapping') return undefined;
    const kind = [...this.#root.entries.values()].find(
      ({ key, value }) => isStepKind(key) && value.kind === 'scalar' && value.value === null,
    )?.key;
    if (kind === undefined || !isStepKind(kind)) return undefined;
    const own = keysOfOperation(kind);
    const beside = this.#errors.flatMap((error) => {
      const key = String(error.params['additionalProperty']);
      const isHere = error.instancePath === '' && error.keyword === 'additionalProperties';
      return isHere && own.includes(key) ? [key] : [];
    });
    const [first] = beside;
    if (first === undefined) return undefined;
    const isOne = instancePath === '' && beside.includes(String(params['additionalProperty']));
    if (!isOne && !(instancePath === `/${kind}` && keyword === 'type')) return undefined;
    if (this.#reported.has('')) return 'reported';
    this.#reported.add('');
    const keys = listing(beside);
    return {
      code: 'schema.unknown-key',
      span: (this.#root.entries.get(first) as SourceEntry).keySpan,
      message: `${keys} ${beside.length === 1 ? 'stands' : 'stand'} beside "${kind}", which is empty.`,
      hint: meantInside(keys, beside.length, kind),
    };
  }
}

/** Explains a step that gives a prompt but no operation; undefined for any other step. */
export function loosePrompt(name: string, node: SourceNode): Message | undefined {
  const entry = entryAt(node, 'prompt');
  if (entry === undefined || !isText(entry.value)) return undefined;
  const prompt = entry.value.value;
  const text = /^[\p{L}\p{N} .'-]{1,60}$/u.test(prompt) ? prompt : '…';
  return {
    code: 'step.kind',
    span: entry.keySpan,
    message: `Step "${name}" has a prompt, but no operation.`,
    hint: `For an image write imagine: ${text} (in place of prompt); for a text generate: { model: text-pro, prompt: ${text} }.`,
  };
}

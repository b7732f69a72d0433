import type { DiagnosticCode } from '../diagnostics/codes.ts';
import { listing } from '../diagnostics/did-you-mean.ts';
import type { Span } from '../diagnostics/source.ts';
import { isStepKind } from '../kinds.ts';
import { entryAt, isText, type SourceEntry, type SourceNode } from '../yaml/node.ts';
import { axisHint, boxHint } from './hints/examples.ts';
import { meantInside } from './misplaced.ts';
import { placeOf, subject } from './place.ts';
import { keysOfOperation, type SchemaError } from './schema.ts';

/** What is said of an error of the schema. */
export interface Message {
  readonly code: DiagnosticCode;
  readonly span: Span;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** Finds errors of the schema that are one mistake together, for the file or for one step. */
export class JoinedErrors {
  readonly #errors: readonly SchemaError[];
  readonly #root: SourceNode;
  readonly #entry: SourceEntry | undefined;
  /** What has been reported: instance paths. */
  readonly #reported = new Set<string>();

  /** @param entry the step whose mapping was validated, when it is not the whole file */
  constructor(errors: readonly SchemaError[], root: SourceNode, entry: SourceEntry | undefined) {
    this.#errors = errors;
    this.#root = root;
    this.#entry = entry;
  }

  /** The message for all of them at the first of them, `reported` at the others; undefined for an error that stands alone. */
  message(error: SchemaError): Message | 'reported' | undefined {
    return this.#box(error) ?? this.#axis(error) ?? this.#emptyOperation(error);
  }

  /** A box of a mask in pixels or percent, whatever number of its four values shows it. */
  #box({ instancePath, keyword }: SchemaError): Message | 'reported' | undefined {
    const path = /^(.*\/(?:rectangle|ellipse))\/\d+$/.exec(instancePath)?.[1];
    if (path === undefined || (keyword !== 'maximum' && keyword !== 'pattern')) return undefined;
    if (this.#reported.has(path)) return 'reported';
    const place = placeOf(path, this.#root, this.#entry);
    const found = boxHint(place.node);
    if (found === undefined) return undefined;
    this.#reported.add(path);
    const message = `${subject(place)} is in fractions of the image, from 0 to 1, not in ${found.what}.`;
    const { span } = placeOf(instancePath, this.#root, this.#entry).node;
    return { code: 'schema.range', span, message, hint: found.hint };
  }

  /** An axis that is a mapping of other keys than a range has: the keys that it has, and those that it lacks. */
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

/** A step that gives a prompt and does not say what to do with it; undefined for any other step. */
export function loosePrompt(name: string, node: SourceNode): Message | undefined {
  const entry = entryAt(node, 'prompt');
  if (entry === undefined || !isText(entry.value)) return undefined;
  const prompt = entry.value.value;
  const text = /^[\p{L}\p{N} .'-]{1,60}$/u.test(prompt) ? prompt : '…';
  return {
    code: 'step.kind',
    span: entry.keySpan,
    message: `Step "${name}" does not say what it does: it has a prompt, and no operation.`,
    hint: `For an image write imagine: ${text} (in place of prompt); for a text generate: { model: text-pro, prompt: ${text} }.`,
  };
}

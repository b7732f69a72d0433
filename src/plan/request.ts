import type { ButtonMatch, PathSegment, Selector, Step } from '../pipeline/pipeline.ts';
import { type Template, TemplateError, type TemplateScope, type TemplateTree } from '../pipeline/template.ts';
import { isTemplate, renderTree, treeSteps, treeVariables } from '../pipeline/tree.ts';
import { renderValue, type Value, WrittenNumber } from '../pipeline/value.ts';
import type { JobRequest, Press } from './job.ts';
import { requestText } from './key.ts';

/**
 * The longest prompt that is sent, in UTF-16 units: several times what any model reads. More is a template that has
 * run away (a whole file in a variable), and would be kept in the state and the manifest for every job.
 */
const promptLimit = 32_768;

/** A request for one cell, with the canonical JSON that its key is made from. */
interface RenderedRequest {
  readonly request: JobRequest;
  readonly text: string;
}

/** What one operation of the pipeline asks for, before its templates are rendered. */
export interface RequestTemplate {
  readonly kind: JobRequest['kind'];
  /** Steps whose results it reads: until they are done, it is not known. */
  readonly steps: readonly string[];
  /** It declares a prompt of its own. */
  readonly hasPrompt: boolean;
  /**
   * @param found what a wildcard found: it is pressed in place of the selector
   * @throws TemplateError `template.empty` and `template.limit` too
   */
  render(scope: TemplateScope, found?: Press): RenderedRequest;
}

type Fields = Readonly<Record<string, TemplateTree>>;

/** The request of a step's own operation. */
export function stepRequest(step: Step): RequestTemplate {
  if (step.kind === 'imagine') return new CompiledRequest('imagine', step.request, step.extra, undefined);
  if (step.kind === 'click' && step.selector !== undefined)
    return new CompiledRequest('click', step.request, step.extra, step.selector);
  throw new Error(`Internal error: step "${step.name}" of kind ${step.kind} cannot be planned.`);
}

/** The request of one selector of a path: a click, whose fields answer a modal. */
export function pressRequest(segment: PathSegment, selector: Selector): RequestTemplate {
  const fields = {
    ...(segment.prompt === undefined ? {} : { prompt: segment.prompt }),
    ...(segment.mask === undefined ? {} : { mask: segment.mask }),
    ...(segment.remix === undefined ? {} : { remix: segment.remix }),
  };
  return new CompiledRequest('click', fields, undefined, selector);
}

/** True where only the finished task says what, and how much, a selector presses. */
export const isWild = (selector: Selector): boolean =>
  selector.alternatives.some(({ kind }) => kind === 'wildcard');

class CompiledRequest implements RequestTemplate {
  readonly kind: JobRequest['kind'];
  readonly steps: readonly string[];
  readonly hasPrompt: boolean;
  readonly #fields: Fields;
  readonly #extra: Fields | undefined;
  readonly #selector: Selector | undefined;
  /** Nothing in it varies, so it is rendered once for all cells. */
  readonly #constant: boolean;
  #known: RenderedRequest | undefined;

  constructor(
    kind: JobRequest['kind'],
    fields: Fields,
    extra: Fields | undefined,
    selector: Selector | undefined,
  ) {
    this.kind = kind;
    this.#fields = fields;
    // An empty mapping merges nothing: it must not make another key.
    this.#extra = extra !== undefined && Object.keys(extra).length > 0 ? extra : undefined;
    this.#selector = selector;
    const trees = [fields, this.#extra ?? {}, ...(selector === undefined ? [] : selectorTemplates(selector))];
    this.steps = [...new Set(trees.flatMap((tree) => treeSteps(tree)).map(({ step }) => step))];
    this.hasPrompt = fields.prompt !== undefined;
    this.#constant = this.steps.length === 0 && trees.every((tree) => treeVariables(tree).length === 0);
  }

  render(scope: TemplateScope, found?: Press): RenderedRequest {
    if (found !== undefined) return withText(this.#request(scope, [found]));
    if (this.#known !== undefined) return this.#known;
    const press = this.#selector?.alternatives.map((match) => renderMatch(match, scope));
    const rendered = withText(this.#request(scope, press ?? []));
    if (this.#constant) this.#known = rendered;
    return rendered;
  }

  #request(scope: TemplateScope, press: readonly Press[]): JobRequest {
    const fields = renderFields(this.#fields, scope);
    const extra = this.#extra === undefined ? {} : { extra: renderFields(this.#extra, scope, plain) };
    return this.kind === 'imagine'
      ? { kind: 'imagine', fields, ...extra }
      : { kind: 'click', press, fields, ...extra };
  }
}

const withText = (request: JobRequest): RenderedRequest => ({ request, text: requestText(request) });

function selectorTemplates(selector: Selector): readonly Template[] {
  return selector.alternatives.flatMap((match) => (match.kind === 'text' ? [match.text] : []));
}

function renderMatch(match: ButtonMatch, scope: TemplateScope): Press {
  switch (match.kind) {
    case 'text':
      return textPress(notEmpty(match.text.render(scope), 'the button to press', match.text.source));
    case 'pattern':
      return { kind: 'pattern', source: match.source };
    case 'word':
      return { kind: 'word', word: match.word };
    case 'wildcard':
      throw new Error(`Internal error: wildcard ${match.source} rendered before its buttons are known.`);
  }
}

/** A label as it is compared and hashed: composed (é is one code point), without blanks around it. */
export const textPress = (text: string): Extract<Press, { kind: 'text' }> => ({
  kind: 'text',
  text: text.normalize('NFC').trim(),
});

function renderFields(
  fields: Fields,
  scope: TemplateScope,
  render: (tree: TemplateTree, scope: TemplateScope, name: string) => Value = renderField,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(fields).map(([name, tree]) => [name, render(tree, scope, name)]));
}

function renderField(tree: TemplateTree, scope: TemplateScope, name: string): Value {
  return name === 'prompt' ? renderPrompt(tree, scope) : plain(tree, scope);
}

/** A prompt is always text, sent exactly as rendered: `{{ year }}` alone must not become a number. */
function renderPrompt(tree: TemplateTree, scope: TemplateScope): string {
  const text = isTemplate(tree) ? tree.render(scope) : renderValue(renderTree(tree, scope));
  if (text.length > promptLimit)
    throw new TemplateError(
      'template.limit',
      `The prompt has ${text.length} characters; at most ${promptLimit} are sent.`,
    );
  return notEmpty(text, 'the prompt', isTemplate(tree) ? tree.source : text);
}

function notEmpty(text: string, what: string, source: string): string {
  if (text.trim() !== '') return text;
  throw new TemplateError(
    'template.empty',
    `For this cell ${what} is empty: ${shown(source)} renders to nothing.`,
  );
}

const shown = (source: string): string =>
  JSON.stringify(source.length > 80 ? `${source.slice(0, 79)}…` : source);

const plain = (tree: TemplateTree, scope: TemplateScope): Value => plainNumbers(renderTree(tree, scope));

/** In a request body 6.0 and 6 are the same number, so they are one request. */
function plainNumbers(value: Value): Value {
  if (value instanceof WrittenNumber) return value.value;
  if (Array.isArray(value)) return value.map((item: Value) => plainNumbers(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plainNumbers(item)]));
}

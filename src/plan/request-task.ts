import type { ButtonMatch, PathSegment, Selector } from '../pipeline/pipeline.ts';
import type { Template, TemplateScope, TemplateTree } from '../pipeline/template.ts';
import { treeSteps, treeVariables } from '../pipeline/tree.ts';
import type { Value } from '../pipeline/value.ts';
import type { JobRequest, Press } from './job.ts';
import { requestText } from './key.ts';
import type { RenderedRequest, RequestContext, RequestTemplate } from './request.ts';
import { type Fields, notEmpty, renderFields, renderPlain, renderText } from './request-render.ts';

/** The longest prompt of an image that is sent, in UTF-16 units: several times what any model reads. */
const promptLimit = 32_768;

/** The request of one selector of a path: a click, whose fields answer a modal. */
export function pressRequest(segment: PathSegment, selector: Selector): RequestTemplate {
  const fields = {
    ...(segment.prompt === undefined ? {} : { prompt: segment.prompt }),
    ...(segment.mask === undefined ? {} : { mask: segment.mask }),
    ...(segment.remix === undefined ? {} : { remix: segment.remix }),
  };
  return new TaskRequest('click', fields, undefined, selector);
}

/** True where only the finished task says what, and how much, a selector presses. */
export const isWild = (selector: Selector): boolean =>
  selector.alternatives.some(({ kind }) => kind === 'wildcard');

/** What an operation asks for that the service answers with a task. */
export class TaskRequest implements RequestTemplate {
  readonly kind: 'imagine' | 'click';
  readonly steps: readonly string[];
  readonly names = [];
  readonly shows = { parent: false, steps: [] };
  readonly hasPrompt: boolean;
  readonly #fields: Fields;
  readonly #extra: Fields | undefined;
  readonly #selector: Selector | undefined;
  /** Nothing in it varies, so it is rendered once for all cells. */
  readonly #constant: boolean;
  #known: RenderedRequest | undefined;

  constructor(
    kind: 'imagine' | 'click',
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

  render(scope: TemplateScope, { found }: RequestContext): RenderedRequest {
    if (found !== undefined) return rendered(this.#request(scope, [found]));
    if (this.#known !== undefined) return this.#known;
    const press = this.#selector?.alternatives.map((match) => renderMatch(match, scope));
    const known = rendered(this.#request(scope, press ?? []));
    if (this.#constant) this.#known = known;
    return known;
  }

  #request(scope: TemplateScope, press: readonly Press[]): JobRequest {
    const fields = renderFields(this.#fields, scope, renderField);
    const extra = this.#extra === undefined ? {} : { extra: renderFields(this.#extra, scope, renderPlain) };
    return this.kind === 'imagine'
      ? { kind: 'imagine', fields, ...extra }
      : { kind: 'click', press, fields, ...extra };
  }
}

function rendered(request: JobRequest): RenderedRequest {
  const { prompt } = request.fields;
  return {
    ...(typeof prompt === 'string' ? { prompt } : {}),
    known: { request, text: requestText(request) },
  };
}

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

const renderField = (tree: TemplateTree, scope: TemplateScope, name: string): Value =>
  name === 'prompt' ? renderText(tree, scope, 'the prompt', promptLimit) : renderPlain(tree, scope);

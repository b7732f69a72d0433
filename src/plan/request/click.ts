import type { ButtonMatch, PathSegment, Selector, Step } from '../../pipeline/pipeline.ts';
import type { Template, TemplateScope } from '../../pipeline/templates/template.ts';
import { treeSteps, treeVariables } from '../../pipeline/templates/tree.ts';
import { findButton, suggestedBy } from '../button-match.ts';
import type { TaskResult } from '../job.ts';
import type { ClickRequest, Press } from '../job-request.ts';
import { requestText } from '../key.ts';
import { MaskTemplate } from './mask.ts';
import {
  type Fields,
  filesMember,
  needWords,
  notEmpty,
  renderFields,
  renderPlain,
  renderTaskField,
} from './render.ts';
import type { RenderedRequest, RequestContext, RequestTemplate } from './request.ts';

/** Makes the request of one selector of a path: a click, whose fields answer a modal. */
export function pressRequest({ prompt, mask, remix }: PathSegment, selector: Selector): RequestTemplate {
  const fields = {
    ...(prompt === undefined ? {} : { prompt }),
    ...(mask === undefined ? {} : { mask }),
    ...(remix === undefined ? {} : { remix }),
  };
  return new ClickTemplate(fields, undefined, selector);
}

/** Whether only the finished task determines which and how many buttons a selector presses. */
export const isWild = (selector: Selector): boolean =>
  selector.alternatives.some(({ kind }) => kind === 'wildcard');

/** Makes the request of a step that presses a button. */
export function clickRequest({ name, request, extra, selector }: Step): RequestTemplate {
  if (selector === undefined)
    throw new Error(`Internal error: step "${name}" presses nothing, and passed the checks.`);
  return new ClickTemplate(request, extra, selector);
}

/** The template of a click: a button, and the answer to the modal that it may open. */
class ClickTemplate implements RequestTemplate {
  readonly kind = 'click';
  readonly steps: readonly string[];
  readonly names = [];
  /** Jobs whose images are needed: a mask has the size of the image above the button, so that image is read. */
  readonly shows: RequestTemplate['shows'];
  readonly fromCell = false;
  readonly hasPrompt: boolean;
  readonly #fields: Fields;
  readonly #mask: MaskTemplate | undefined;
  readonly #extra: Fields | undefined;
  readonly #selector: Selector;
  /** Whether it answers a modal without declaring a prompt: a modal requires one (gateway 2.5), so the nearest is sent. */
  readonly #asksAgain: boolean;
  /** Whether nothing in it varies, so that it is rendered once for all cells. */
  readonly #constant: boolean;
  #known: RenderedRequest | undefined;

  constructor({ mask, ...fields }: Fields, extra: Fields | undefined, selector: Selector) {
    this.#fields = fields;
    this.#mask = mask === undefined ? undefined : new MaskTemplate(mask);
    // An empty mapping merges nothing: it must not change the key.
    this.#extra = extra !== undefined && Object.keys(extra).length > 0 ? extra : undefined;
    this.#selector = selector;
    this.shows = { parent: mask !== undefined, steps: [] };
    const trees = [fields, mask ?? {}, this.#extra ?? {}, ...selectorTemplates(selector)];
    this.steps = [...new Set(trees.flatMap((tree) => treeSteps(tree)).map(({ step }) => step))];
    this.hasPrompt = fields.prompt !== undefined;
    this.#asksAgain = !this.hasPrompt && (fields.remix === true || mask !== undefined);
    this.#constant =
      mask === undefined &&
      !this.#asksAgain &&
      this.steps.length === 0 &&
      trees.every((tree) => treeVariables(tree).length === 0);
  }

  render(scope: TemplateScope, context: RequestContext): RenderedRequest {
    const rendered = this.#render(scope, context);
    const suggested = rendered.prompt === undefined ? suggestion(rendered, context.made) : undefined;
    return suggested === undefined ? rendered : { ...rendered, suggested };
  }

  #render(scope: TemplateScope, context: RequestContext): RenderedRequest {
    if (context.found !== undefined) return this.#rendered(scope, context, [context.found]);
    if (this.#known !== undefined) return this.#known;
    const press = this.#selector.alternatives.map((match) => renderMatch(match, scope));
    const known = this.#rendered(scope, context, press);
    if (this.#constant) this.#known = known;
    return known;
  }

  #rendered(scope: TemplateScope, context: RequestContext, press: readonly Press[]): RenderedRequest {
    const declared = renderFields(this.#fields, scope, renderTaskField);
    // A Custom Zoom may have nothing but its zoom factor.
    const own = declared.prompt;
    if (typeof own === 'string' && !/(?:--|—)zoom/.test(own)) needWords(own);
    const nearest = this.#asksAgain ? context.prompt : undefined;
    const fields = nearest === undefined ? declared : { ...declared, prompt: nearest };
    const prompt = typeof fields.prompt === 'string' ? { prompt: fields.prompt } : {};
    const mask = this.#mask?.render(scope, context.images);
    if (mask === 'unread') return prompt;
    if (mask !== undefined && 'error' in mask) return { ...prompt, failure: mask.error };
    const request: ClickRequest = {
      kind: 'click',
      press,
      fields,
      ...(mask === undefined ? {} : { mask: mask.mask }),
      ...(this.#extra === undefined ? {} : { extra: renderFields(this.#extra, scope, renderPlain) }),
    };
    return { ...prompt, known: { request, text: requestText(request), ...filesMember(mask?.files) } };
  }
}

/** Returns the prompt of a describe's suggestions that the button draws. */
function suggestion({ known }: RenderedRequest, made: TaskResult | undefined): string | undefined {
  const press = known?.request.press;
  if (made?.prompts === undefined || press === undefined) return undefined;
  const found = findButton(press, made.buttons);
  const number = found.kind === 'one' ? suggestedBy(found.button) : undefined;
  return number === undefined ? undefined : made.prompts[number - 1];
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

/** Normalises a label for comparing and hashing: composed (é is one code point), without surrounding blanks. */
export const textPress = (text: string): Extract<Press, { kind: 'text' }> => ({
  kind: 'text',
  text: text.normalize('NFC').trim(),
});

import type { Pipeline, Step, Thinking } from '../../pipeline/pipeline.ts';
import { thinkingError, wishOf } from '../../pipeline/steps/domain/thinking.ts';
import {
  isLocal,
  TemplateError,
  type TemplateScope,
  type TemplateTree,
  type VariableUse,
} from '../../pipeline/templates/template.ts';
import { isTemplate, readsLocals, treeSteps, treeVariables } from '../../pipeline/templates/tree.ts';
import type { Value } from '../../pipeline/values/value.ts';
import { isMapping } from '../../pipeline/values/value.ts';
import type { TextCall, TextRequest } from '../job-request.ts';
import { requestText } from '../key.ts';
import { isConversation, renderTurns } from './conversation.ts';
import { ImageList } from './images.ts';
import { type Fields, filesMember, renderField, renderFields, renderPlain } from './render.ts';
import type { RenderedRequest, RequestContext, RequestEstimate, RequestTemplate } from './request.ts';
import { usualResult } from './tokens.ts';

/** Length of the longest prompt and the longest system instruction of a text step, in UTF-16 units: some 60,000 tokens. */
const textLimit = 262_144;

/** Fields that are always text, whatever their template yields, with their names in messages. */
const texts: Readonly<Record<string, string>> = {
  prompt: 'the prompt',
  system: 'the system instruction',
  model: 'the model',
};

/** Makes the request of a text step's operation. @param models what the pipeline says about text models */
export function textRequest(
  { request, extra, gather, over }: Step,
  kind: TextRequest['kind'],
  models: Pipeline['models'],
): RequestTemplate {
  const { images, continue: continued, stream, accept, reply, ...fields } = request;
  return new CompiledText(
    kind,
    fields,
    extra,
    ImageList.of(images, gather !== undefined && over?.showsImages !== false),
    sourceOf(continued),
    {
      stream: stream === true,
      accept: listOf(accept).flatMap((reason) => sourceOf(reason) ?? []),
      ...(sourceOf(reply) === 'strict' && { isStrict: true as const }),
    },
    Object.fromEntries(Object.entries(models).map(([name, { thinking }]) => [name, thinking])),
  );
}

class CompiledText implements RequestTemplate {
  readonly kind: TextRequest['kind'];
  readonly steps: readonly string[];
  readonly names: readonly string[];
  readonly shows: RequestTemplate['shows'];
  readonly continues?: string;
  readonly fromCell: boolean;
  readonly hasPrompt: boolean;
  readonly call: TextCall;
  readonly #fields: Fields;
  readonly #extra: Fields | undefined;
  readonly #images: ImageList;
  readonly #continued: string | undefined;
  readonly #models: Readonly<Record<string, Thinking>>;
  /** Whether its fields are the same in every cell. */
  readonly #constant: boolean;
  #known: Pick<TextRequest, 'fields' | 'extra'> | undefined;

  constructor(
    kind: TextRequest['kind'],
    fields: Fields,
    extra: Fields | undefined,
    images: ImageList,
    continued: string | undefined,
    call: TextCall,
    models: Readonly<Record<string, Thinking>>,
  ) {
    this.kind = kind;
    this.#fields = fields;
    // An empty mapping merges nothing: it must not change the key.
    this.#extra = extra !== undefined && Object.keys(extra).length > 0 ? extra : undefined;
    this.#images = images;
    this.#continued = continued;
    if (continued !== undefined) this.continues = continued;
    this.call = call;
    this.#models = models;
    this.shows = { parent: images.showsParent, steps: images.steps };
    this.names = [...new Set([...images.steps, ...(continued === undefined ? [] : [continued])])];
    const trees = [fields, this.#extra ?? {}];
    this.steps = [
      ...new Set([...trees, ...images.templates].flatMap((tree) => treeSteps(tree)).map(({ step }) => step)),
    ];
    this.fromCell =
      images.isEmpty && continued === undefined && this.steps.length === 0 && !trees.some(readsLocals);
    this.hasPrompt = ['prompt', 'contents', 'messages'].some((name) => fields[name] !== undefined);
    this.#constant = trees.every((tree) => treeSteps(tree).length + treeVariables(tree).length === 0);
  }

  render(scope: TemplateScope, context: RequestContext): RenderedRequest {
    const { fields, extra } = this.#declared(scope);
    const own = promptOf(fields);
    const prompt = own === undefined ? {} : { prompt: own };
    const shown = this.#images.render(scope, context);
    if (shown.kind === 'failure') return { ...prompt, failure: shown.error };
    const continues = this.#continued === undefined ? undefined : context.keyOf(this.#continued);
    if (shown.kind === 'waiting' || (this.#continued !== undefined && continues === undefined)) return prompt;
    const request: TextRequest = {
      kind: this.kind,
      fields,
      // An empty list shows nothing: it must not change the key.
      ...(shown.images.length === 0 ? {} : { images: shown.images }),
      ...(continues === undefined ? {} : { continues }),
      ...(extra === undefined ? {} : { extra }),
    };
    return { ...prompt, known: { request, text: requestText(request), ...filesMember(shown.files) } };
  }

  placeholder(scope: TemplateScope, gathered: number): RequestEstimate {
    return {
      request: { kind: this.kind, fields: placeholderOf(this.#fields, scope, gathered) },
      images: this.#images.count(gathered),
    };
  }

  asks(scope: TemplateScope): Pick<TextRequest, 'kind' | 'fields'> | undefined {
    const { model } = this.#fields;
    const fields = model === undefined ? {} : { model };
    const isKnown = ({ path: [root = ''] }: VariableUse): boolean => Object.hasOwn(scope.vars, root);
    if (treeSteps(fields).length > 0 || !treeVariables(fields).filter(isLocal).every(isKnown))
      return undefined;
    return { kind: this.kind, fields: placeholderOf(fields, scope) };
  }

  #declared(scope: TemplateScope): Pick<TextRequest, 'fields' | 'extra'> {
    if (this.#known !== undefined) return this.#known;
    const declared = {
      fields: renderFields(this.#fields, scope, renderTextField),
      ...(this.#extra === undefined ? {} : { extra: renderFields(this.#extra, scope, renderPlain) }),
    };
    this.#checkThinking(declared.fields);
    if (this.#constant) this.#known = declared;
    return declared;
  }

  /** Refuses thinking that the service would refuse (gateway 6.3). @throws TemplateError `thinking.generation`, `thinking.range` */
  #checkThinking(fields: TextRequest['fields']): void {
    const { model } = fields;
    const wish = wishOf(fields);
    if (typeof model !== 'string' || wish === undefined) return;
    const error = thinkingError(model, wish, this.#models);
    if (error !== undefined) throw new TemplateError(error.code, `${error.message} ${error.hint}`);
  }
}

function renderTextField(tree: TemplateTree, scope: TemplateScope, name: string): Value {
  if (isConversation(name)) return renderTurns(tree, scope);
  const what = texts[name];
  return what === undefined ? renderPlain(tree, scope) : renderField(tree, scope, what, textLimit);
}

/** Returns the text of a template that is the same in every cell. */
const sourceOf = (tree: TemplateTree | undefined): string | undefined =>
  isTemplate(tree) ? tree.source : undefined;

const listOf = (tree: TemplateTree | undefined): readonly TemplateTree[] => (Array.isArray(tree) ? tree : []);

/** Returns the current prompt: the prompt itself, or for a conversation in native form the texts of its last turn. */
export function promptOf({ prompt, contents, messages }: TextRequest['fields']): string | undefined {
  if (typeof prompt === 'string') return prompt;
  const turns = contents ?? messages;
  const last: unknown = Array.isArray(turns) ? turns.at(-1) : undefined;
  if (!isMapping(last)) return undefined;
  const said = last.parts ?? last.content;
  if (typeof said === 'string') return said;
  const found = (Array.isArray(said) ? said : []).flatMap((part: Value) =>
    isMapping(part) && typeof part.text === 'string' ? [part.text] : [],
  );
  return found.length === 0 ? undefined : found.join('\n');
}

/**
 * Estimates the fields of a request that reads missing results, with placeholders of about their length. A field that cannot be rendered
 * with placeholders (a loop over a list, a comparison of a number) is left out.
 */
function placeholderOf(fields: Fields, scope: TemplateScope, gathered = 0): Readonly<Record<string, Value>> {
  const locals = treeVariables(fields).filter(isLocal);
  const one = { ...scope.vars, repeat: scope.repeat, text: 'x'.repeat(usualResult(['text'])) };
  const list = gathered === 0 ? {} : { gathered: Array.from({ length: gathered }, () => one) };
  const standing = {
    ...scope,
    vars: { ...standIns(locals.map(({ path }) => path)), ...scope.vars, ...list },
    steps: standIns(treeSteps(fields).map(({ step, path }) => [step, ...path])) as TemplateScope['steps'],
  };
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, tree]) => {
      try {
        return [[name, renderPlain(tree, standing)] as const];
      } catch (error) {
        if (error instanceof TemplateError) return [];
        throw error;
      }
    }),
  );
}

/** Makes placeholders with every member that is read. */
function standIns(paths: readonly (readonly string[])[]): Members {
  const root: Members = {};
  for (const path of paths) {
    let at = root;
    for (const name of path.slice(0, -1)) at = membersOf(at, name);
    const last = path.at(-1);
    if (last !== undefined && !Object.hasOwn(at, last)) at[last] = 'x'.repeat(usualResult(path.slice(1)));
  }
  return root;
}

interface Members {
  [name: string]: Members | string;
}

/** Returns the mapping with a name; replaces a text of that name by a mapping. */
function membersOf(parent: Members, name: string): Members {
  const found = Object.hasOwn(parent, name) ? parent[name] : undefined;
  if (typeof found === 'object') return found;
  const made: Members = {};
  parent[name] = made;
  return made;
}

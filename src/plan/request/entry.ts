import { type EntryKind, kinds } from '../../pipeline/kinds.ts';
import type { Step } from '../../pipeline/pipeline.ts';
import type { TemplateScope, TemplateTree } from '../../pipeline/templates/template.ts';
import { readsLocals, treeSteps, treeVariables } from '../../pipeline/templates/tree.ts';
import type { EntryRequest } from '../job-request.ts';
import { requestText } from '../key.ts';
import { countError } from './image-files.ts';
import { ImageList } from './images.ts';
import { MaskTemplate } from './mask.ts';
import { type Fields, filesMember, needWords, renderFields, renderPlain, renderTaskField } from './render.ts';
import type { RenderedRequest, RequestContext, RequestTemplate } from './request.ts';

/** Whether the prompt of an operation must have words: always, only without images, or never (then it may have no prompt). */
type WantsWords = 'always' | 'without images' | 'never';

/** Makes the request of a step that begins a new task. */
export function entryRequest(
  { request, extra, gather, over }: Step,
  kind: EntryKind,
  wantsWords: WantsWords,
): RequestTemplate {
  const { images, image, endImage, mask, ...fields } = request;
  const single = [image, endImage].filter((tree) => tree !== undefined);
  const list = ImageList.of(
    single.length > 0 ? single : images,
    gather !== undefined && over?.showsImages !== false,
  );
  return new EntryTemplate(kind, wantsWords, fields, extra, list, mask);
}

class EntryTemplate implements RequestTemplate {
  readonly kind: EntryKind;
  readonly #wantsWords: WantsWords;
  readonly steps: readonly string[];
  readonly names: readonly string[];
  readonly shows: RequestTemplate['shows'];
  readonly fromCell: boolean;
  readonly hasPrompt: boolean;
  readonly #fields: Fields;
  readonly #extra: Fields | undefined;
  readonly #images: ImageList;
  readonly #mask: MaskTemplate | undefined;
  /** Whether its fields are the same in every cell. */
  readonly #constant: boolean;
  /** Whether it names no image and no file, so that constant fields make the whole request constant. */
  readonly #plain: boolean;
  #declared: Pick<EntryRequest, 'fields' | 'extra'> | undefined;
  #known: RenderedRequest | undefined;

  constructor(
    kind: EntryKind,
    wantsWords: WantsWords,
    fields: Fields,
    extra: Fields | undefined,
    images: ImageList,
    mask: TemplateTree | undefined,
  ) {
    this.kind = kind;
    this.#wantsWords = wantsWords;
    this.#fields = fields;
    // An empty mapping merges nothing: it must not change the key.
    this.#extra = extra !== undefined && Object.keys(extra).length > 0 ? extra : undefined;
    this.#images = images;
    this.#mask = mask === undefined ? undefined : new MaskTemplate(mask);
    this.shows = { parent: images.showsParent, steps: images.steps };
    this.names = images.steps;
    const trees = [fields, this.#extra ?? {}];
    this.steps = [
      ...new Set(
        [...trees, mask ?? {}, ...images.templates]
          .flatMap((tree) => treeSteps(tree))
          .map(({ step }) => step),
      ),
    ];
    this.hasPrompt = fields.prompt !== undefined;
    this.#constant = trees.every((tree) => treeSteps(tree).length + treeVariables(tree).length === 0);
    this.#plain = images.isEmpty && mask === undefined;
    this.fromCell = this.#plain && this.steps.length === 0 && !trees.some(readsLocals);
  }

  render(scope: TemplateScope, context: RequestContext): RenderedRequest {
    if (this.#known !== undefined) return this.#known;
    const rendered = this.#render(scope, context);
    if (this.#constant && this.#plain) this.#known = rendered;
    return rendered;
  }

  #render(scope: TemplateScope, context: RequestContext): RenderedRequest {
    const declared = this.#declare(scope);
    const prompt = typeof declared.fields.prompt === 'string' ? { prompt: declared.fields.prompt } : {};
    const mask = this.#mask?.render(scope, context.images);
    const shown = this.#images.render(scope, context);
    if (mask !== undefined && mask !== 'unread' && 'error' in mask) return { ...prompt, failure: mask.error };
    if (shown.kind === 'failure') return { ...prompt, failure: shown.error };
    if (shown.kind === 'waiting' || mask === 'unread') return prompt;
    const { kind } = this;
    const { images } = shown;
    // An image is enough without words, even one in `extra` (gateway 2.3).
    const isShown = images.length > 0 || Object.hasOwn(declared.extra ?? {}, 'base64Array');
    if (this.#wantsWords === 'always' || (this.#wantsWords === 'without images' && !isShown))
      needWords(prompt.prompt);
    const imageCountError = countError(kind, images, context.imageCount);
    if (imageCountError !== undefined && 'failure' in imageCountError)
      return { ...prompt, ...imageCountError };
    const request: EntryRequest = {
      kind,
      ...declared,
      // An empty list shows nothing: it must not change the key if a request may have no images.
      ...(images.length === 0 && kinds[kind].images !== 'named' ? {} : { images }),
      ...(mask === undefined ? {} : { mask: mask.mask }),
    };
    const files = filesMember({ ...mask?.files, ...shown.files });
    return { ...prompt, ...imageCountError, known: { request, text: requestText(request), ...files } };
  }

  #declare(scope: TemplateScope): Pick<EntryRequest, 'fields' | 'extra'> {
    if (this.#declared !== undefined) return this.#declared;
    const declared = {
      fields: renderFields(this.#fields, scope, renderTaskField),
      ...(this.#extra === undefined ? {} : { extra: renderFields(this.#extra, scope, renderPlain) }),
    };
    if (this.#constant) this.#declared = declared;
    return declared;
  }
}

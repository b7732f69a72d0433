import { stepOfImage } from '../../pipeline/steps/domain/image-reference.ts';
import type { Template, TemplateScope, TemplateTree } from '../../pipeline/templates/template.ts';
import { isTemplate } from '../../pipeline/templates/tree.ts';
import type { JobError } from '../job.ts';
import type { ImageSource } from '../job-request.ts';
import { notEmpty } from './render.ts';
import type { RequestContext } from './request.ts';

/** An entry of a step's `images`. */
type ImageTemplate =
  /** The job that the step continues, or all jobs that it gathers. */
  | { readonly kind: 'parent' }
  | { readonly kind: 'step'; readonly step: string }
  /** A file, an address or a data URI. */
  | { readonly kind: 'named'; readonly template: Template };

/** The images of a request that are known, in order. */
export type ShownImages =
  | {
      readonly kind: 'known';
      readonly images: readonly ImageSource[];
      /** See `JobSpec.files`. */
      readonly files: Readonly<Record<string, string>>;
    }
  /** A job has no key yet, or a file has not been read. */
  | { readonly kind: 'waiting' }
  /** A file that cannot be shown. */
  | { readonly kind: 'failure'; readonly error: JobError };

/** Reads an entry of `images`. The result of a template is always a file name or address: only literal text means a job. */
function imageTemplate(tree: TemplateTree): ImageTemplate {
  if (!isTemplate(tree)) throw new Error('Internal error: an image that is no text passed the checks.');
  if (tree.source === 'parent') return { kind: 'parent' };
  const step = stepOfImage(tree.source);
  return step === undefined ? { kind: 'named', template: tree } : { kind: 'step', step };
}

/** The images that a step's operation shows. */
export class ImageList {
  readonly #entries: readonly ImageTemplate[];

  private constructor(entries: readonly ImageTemplate[]) {
    this.#entries = entries;
  }

  /** @param declared the step's `images`; without it, a step that gathers shows all gathered jobs */
  static of(declared: TemplateTree | undefined, gathers: boolean): ImageList {
    if (declared === undefined) return new ImageList(gathers ? [{ kind: 'parent' }] : []);
    if (!Array.isArray(declared))
      throw new Error('Internal error: images that are no list passed the checks.');
    return new ImageList(declared.map(imageTemplate));
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  get showsParent(): boolean {
    return this.#entries.some(({ kind }) => kind === 'parent');
  }

  /** Steps whose images are shown. */
  get steps(): readonly string[] {
    return [...new Set(this.#entries.flatMap((entry) => (entry.kind === 'step' ? [entry.step] : [])))];
  }

  get templates(): readonly Template[] {
    return this.#entries.flatMap((entry) => (entry.kind === 'named' ? [entry.template] : []));
  }

  /** Estimates the number of images. @param gathered number of jobs that `parent` stands for */
  count(gathered: number): number {
    return this.#entries.reduce((sum, { kind }) => sum + (kind === 'parent' ? gathered : 1), 0);
  }

  /** @throws TemplateError */
  render(scope: TemplateScope, { inputs, keyOf, images: port }: RequestContext): ShownImages {
    const images: ImageSource[] = [];
    const files: Record<string, string> = {};
    let isWaiting = false;
    const show = (jobs: RequestContext['inputs']): void => {
      if (jobs === undefined) isWaiting = true;
      for (const job of jobs ?? []) {
        if (job === undefined) isWaiting = true;
        else images.push(job);
      }
    };
    for (const entry of this.#entries) {
      if (entry.kind === 'parent') show(inputs);
      else if (entry.kind === 'step') {
        const job = keyOf(entry.step);
        show([job === undefined ? job : { job }]);
      } else {
        const name = notEmpty(
          entry.template.render(scope),
          'the image to show',
          entry.template.source,
        ).trim();
        if (isAddress(name)) images.push({ url: name });
        else {
          const file = port.facts(name);
          if (file === 'unread') {
            isWaiting = true;
            continue;
          }
          if ('error' in file) return { kind: 'failure', error: file.error };
          images.push({ sha256: file.sha256 });
          files[file.sha256] ??= name;
        }
      }
    }
    return isWaiting ? { kind: 'waiting' } : { kind: 'known', images, files };
  }
}

/** Whether a name is an http(s) address or a data URI. */
export const isAddress = (name: string): boolean => /^(?:https?:\/\/|data:)/i.test(name);

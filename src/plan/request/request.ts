import type { TemplateScope } from '../../pipeline/templates/template.ts';
import type { JobError, TaskResult } from '../job.ts';
import type { JobRequest, Press, TextCall, TextRequest } from '../job-request.ts';
import type { ImageCount, ImageFiles } from './image-files.ts';

/** The sources of a request beside the cell: facts of other jobs, and of files. */
export interface RequestContext {
  /** What a wildcard found: it is pressed in place of the selector. */
  readonly found?: Press;
  /** Keys of the jobs that it continues or gathers, in order; absent while they are not known. */
  readonly inputs?: readonly string[];
  /** Key of the job that a step has for it; undefined while it is not known. */
  readonly keyOf: (step: string) => string | undefined;
  readonly images: ImageFiles;
  /** How many images a job makes that is shown. */
  readonly imageCount: (job: string) => ImageCount;
  /** The nearest prompt above it that the pipeline says; absent where there is none. */
  readonly prompt?: string;
  /** What the job made that it continues; absent while that is not done. It may change nothing in the request. */
  readonly made?: TaskResult;
}

/** The known part of a request for one cell. */
export interface RenderedRequest {
  /** The text as it is sent. */
  readonly prompt?: string;
  /** The prompt that its button has of its own, which is drawn where nothing else is said. No part of its key, nor of any other. */
  readonly suggested?: string;
  /** Absent while the key of a job that it names is not known, and where `failure` says why there is none. */
  readonly known?: KnownRequest;
  /** Why it can never be made: a file that cannot be shown, too many images. */
  readonly failure?: JobError;
  /** Why it cannot be asked for, by what the jobs made that it shows. */
  readonly shortage?: JobError;
}

/** A text call with stand-ins for what it waits for. */
export interface RequestEstimate {
  readonly request: Pick<TextRequest, 'kind' | 'fields'>;
  /** About how many images it shows. */
  readonly images: number;
}

/** A request, with the canonical JSON that its key is made from. */
export interface KnownRequest {
  readonly request: JobRequest;
  readonly text: string;
  /** See `JobSpec.files`. */
  readonly files?: Readonly<Record<string, string>>;
}

/** What one operation of the pipeline asks for, before its templates are rendered. */
export interface RequestTemplate {
  readonly kind: JobRequest['kind'];
  /** Steps whose results it reads: until they are done, it is not known. */
  readonly steps: readonly string[];
  /** Steps whose jobs it names by their keys, which are known before they are done: what it shows, what it continues. */
  readonly names: readonly string[];
  /** Jobs whose images it shows, or masks. */
  readonly shows: {
    /** The job that it continues, or all that it gathers. */
    readonly parent: boolean;
    readonly steps: readonly string[];
  };
  /** The step whose turns come before its own. */
  readonly continues?: string;
  /** What it asks for follows from the cell alone: it names no job, no image and no file. */
  readonly fromCell: boolean;
  /** It declares a prompt of its own. */
  readonly hasPrompt: boolean;
  /** See `JobSpec.call`. */
  readonly call?: TextCall;
  /**
   * What a text call may turn out to be while results that it waits for are not there; absent of any other.
   *
   * @param gathered jobs that it starts from, or gathers
   */
  placeholder?(scope: TemplateScope, gathered: number): RequestEstimate;
  /** See `Slot.asks`. */
  asks?(scope: TemplateScope): Pick<TextRequest, 'kind' | 'fields'> | undefined;
  /** @throws TemplateError `template.empty`, `template.limit` and `prompt.empty` too */
  render(scope: TemplateScope, context: RequestContext): RenderedRequest;
}

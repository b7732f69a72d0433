import type { TemplateScope } from '../../pipeline/templates/template.ts';
import type { JobError, TaskResult } from '../job.ts';
import type { JobRequest, Press, ShownJob, TextCall, TextRequest } from '../job-request.ts';
import type { ImageCount, ImageFiles } from './image-files.ts';

/** The inputs of a request besides the cell: facts about other jobs, and about files. */
export interface RequestContext {
  /** The button that a wildcard found, pressed in place of the selector. */
  readonly found?: Press;
  /** The jobs that the request continues or gathers, or their outputs, in order; absent while they are unknown. */
  readonly inputs?: readonly (ShownJob | undefined)[];
  /** Returns the key of a step's job; undefined while it is unknown. */
  readonly keyOf: (step: string) => string | undefined;
  readonly images: ImageFiles;
  /** Returns the number of images of a job. */
  readonly imageCount: (job: string) => ImageCount;
  /** The nearest prompt above in the pipeline; absent if there is none. */
  readonly prompt?: string;
  /** The result of the job that the request continues; absent until that is done. It may not change the request. */
  readonly made?: TaskResult;
}

/** The known part of a request for one cell. */
export interface RenderedRequest {
  /** Prompt text as sent. */
  readonly prompt?: string;
  /** The prompt that its button proposes, which is drawn if no other is given. Not part of any key. */
  readonly suggested?: string;
  /** Absent while the key of a job that it names is unknown, and if there is a `failure`. */
  readonly known?: KnownRequest;
  /** Why the request can never be made: a file that cannot be shown, too many images. */
  readonly failure?: JobError;
  /** Why the request cannot be sent, because of the images that the shown jobs made. */
  readonly shortage?: JobError;
}

/** A text call with placeholders for missing results. */
export interface RequestEstimate {
  readonly request: Pick<TextRequest, 'kind' | 'fields'>;
  /** Estimated number of images. */
  readonly images: number;
}

/** A request, with the canonical JSON from which its key is made. */
export interface KnownRequest {
  readonly request: JobRequest;
  readonly text: string;
  /** See `JobSpec.files`. */
  readonly files?: Readonly<Record<string, string>>;
}

/** The request of one operation of the pipeline, before its templates are rendered. */
export interface RequestTemplate {
  readonly kind: JobRequest['kind'];
  /** Steps whose results the request reads: until they are done, it is unknown. */
  readonly steps: readonly string[];
  /** Steps whose jobs the request names by key, which is known before they are done: shown or continued jobs. */
  readonly names: readonly string[];
  /** Jobs whose images or masks the request shows. */
  readonly shows: {
    /** Whether the job that the request continues, or all jobs that it gathers, are shown. */
    readonly parent: boolean;
    readonly steps: readonly string[];
  };
  /** The step whose turns come before its own. */
  readonly continues?: string;
  /** Whether the request follows from the cell alone: it names no job, no image and no file, and reads no local name. */
  readonly fromCell: boolean;
  /** Whether it declares a prompt of its own. */
  readonly hasPrompt: boolean;
  /** See `JobSpec.call`. */
  readonly call?: TextCall;
  /**
   * Estimates a text call while results that it waits for are missing; absent for other requests.
   *
   * @param gathered number of jobs that it starts from or gathers
   */
  placeholder?(scope: TemplateScope, gathered: number): RequestEstimate;
  /** See `Slot.asks`. */
  asks?(scope: TemplateScope): Pick<TextRequest, 'kind' | 'fields'> | undefined;
  /** Renders the request. @throws TemplateError `template.empty`, `template.limit` and `prompt.empty` too */
  render(scope: TemplateScope, context: RequestContext): RenderedRequest;
}

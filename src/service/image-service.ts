import type { About, OnLeave, ServiceResult, TellsLeaving } from './result.ts';
import type { InlineImage } from './text-service.ts';

/** The result of a submission, by the meaning of its submit code (gateway 3.2). */
export type SubmitResult =
  /** Codes 1 and 22; 21 of old gateways, where it means that the very same task exists already. */
  | {
      readonly kind: 'accepted';
      readonly taskId: string;
      readonly code: number;
      /** Number of tasks ahead of it, if the service reports it (`numberOfQueues`). */
      readonly waiting?: number;
    }
  /** Code 21: the task exists and waits for its modal. */
  | {
      readonly kind: 'modal';
      readonly taskId: string;
      readonly code: number;
      readonly waiting?: number;
    }
  /** Codes 23 and 9, and 3 for lack of an account: retried later and slower, not counted as an attempt. */
  | { readonly kind: 'queue-full'; readonly code: number; readonly message: string; readonly about?: About }
  /** Codes 4 and 24, and other 3s: the job fails. */
  | {
      readonly kind: 'refused';
      readonly code: number;
      readonly message: string;
      readonly requestId?: string;
      readonly about?: About;
      /** Tasks were made all the same, and may be charged. */
      readonly made?: true;
    };

/** A button as the client reads it: absent texts are empty. */
export interface TaskButton {
  readonly customId: string;
  readonly label: string;
  readonly emoji: string;
}

/** A task as the client reads it. Its state depends on `status` alone (gateway 4.3). */
export interface Task {
  readonly id: string;
  readonly state: 'unfinished' | 'modal' | 'success' | 'failure';
  /** The status in the service's own word. */
  readonly status: string;
  /** Stage of a task that has not begun; `submitted` means queued or begun. Absent: begun, or the status word is unknown. */
  readonly stage?: 'queued' | 'submitted';
  /** The task as it would be if its unknown status word meant its end, where its other fields suggest that. */
  readonly seems?: Task;
  /** Progress from 0 to 100, if the service reports it. */
  readonly progress?: number;
  /** Link to the image of a finished task; absent before, when it may be a preview. */
  readonly imageUrl?: string;
  /** Images of a finished task that made several separate ones: one link each, in order. */
  readonly imageUrls?: readonly string[];
  /** Frames of a finished grid, if the service has its four frames too: one link each, in order. */
  readonly frameUrls?: readonly string[];
  /** Buttons of the task; empty until it is finished. */
  readonly buttons: readonly TaskButton[];
  /**
   * Kind of a finished task of a gateway that shows no buttons at all (gateway 2.4). A grid has the buttons that `submit/change`
   * presses, other tasks have none.
   */
  readonly buttonless?: 'grid' | 'other';
  readonly failReason?: string;
  /** Videos of a finished video task: one link each, in order. */
  readonly videoUrls?: readonly string[];
  /** Second link to one of the videos in `videoUrls`. */
  readonly spareVideoUrl?: string;
  /** Prompts that a finished task found: `properties.finalPrompt`, split (gateway 4.5). */
  readonly prompts?: readonly string[];
  /** When the service accepted the submission, in Unix ms of its clock, if it reports it. */
  readonly submittedAt?: number;
  /** The caller's own tag as echoed (gateway 2.2): the job's key. */
  readonly tag?: string;
  /** The submitted prompt as the service shows it, for a task without an echoed tag. */
  readonly prompt?: string;
  /** Whether the record has another id than the requested one; absent: the same, or none. */
  readonly isOther?: true;
}

/** Fields that every submission has. */
export interface Submission {
  /** Undefined: the gateway's default. */
  readonly speed: 'relax' | 'fast' | 'turbo' | undefined;
  /** Tag that is sent as `state` and echoed by the task (gateway 2.2). */
  readonly tag?: string;
  /** Members merged into the body one by one; they override all others. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** Kinds of tasks that are not clicks on a button, by their pipeline names. */
export type EntryKind = 'imagine' | 'blend' | 'describe' | 'shorten' | 'video' | 'edit';

/** The input of a new task. */
export interface EntryFields {
  readonly kind: EntryKind;
  /** Declared fields by their pipeline names. A video's `extend` counts from 1; its `motion` is low unless declared. */
  readonly fields: Readonly<Record<string, unknown>>;
  /**
   * Images in order: imagine's image prompts; blend's images; the image of describe and edit; video's first frame, unless it extends
   * another video, then its last.
   */
  readonly images?: readonly InlineImage[];
  /** Mask of an edit: PNG, transparent where the image is edited, as the wire requires. */
  readonly mask?: InlineImage;
  /** Task whose video is continued, for a video with `extend`. */
  readonly taskId?: string;
}

/**
 * The image workflow of gateway 2.1 as a run uses it. `fields` are the declared fields by their pipeline names; the client adds
 * defaults such as botType and the names of the wire. Images are sent as data URIs.
 */
export interface ImageService extends TellsLeaving {
  /** Begins a task (gateway 2.3, 2.6). */
  begin(
    request: Submission & EntryFields,
    signal: AbortSignal,
    onLeave?: OnLeave,
  ): Promise<ServiceResult<SubmitResult>>;
  action(
    request: Submission & {
      readonly taskId: string;
      readonly customId: string;
      readonly enableRemix?: boolean;
    },
    signal: AbortSignal,
    onLeave?: OnLeave,
  ): Promise<ServiceResult<SubmitResult>>;
  /**
   * Answers the modal of a task (gateway 2.5). White areas of the mask are repainted. The new task may have the same id (gateway 4.6):
   * follow the id that is returned.
   */
  modal(
    request: Submission & {
      readonly taskId: string;
      readonly prompt?: string;
      /** PNG. */
      readonly mask?: InlineImage;
    },
    signal: AbortSignal,
    onLeave?: OnLeave,
  ): Promise<ServiceResult<SubmitResult>>;
  fetchTask(id: string, signal: AbortSignal, onLeave?: OnLeave): Promise<ServiceResult<Task>>;
  /**
   * Fetches several tasks in one request, if the gateway offers it (gateway 4.1), in the requested order; unknown tasks are missing.
   * Fails with `service.no-listing` if the gateway offers no such list.
   */
  fetchTasks(
    ids: readonly string[],
    signal: AbortSignal,
    onLeave?: OnLeave,
  ): Promise<ServiceResult<readonly Task[]>>;
  /**
   * Lists all tasks that the service still shows, to find one by its tag (`task/list`, gateway 4.1). Image proxies offer such a list;
   * API gateways do not, and fail with `service.no-listing`.
   */
  listTasks?(signal: AbortSignal, onLeave?: OnLeave): Promise<ServiceResult<readonly Task[]>>;
  /**
   * Reads the seed of a finished grid (`image-seed`, gateway 4.1). Fails with `service.not-offered` if the gateway tells none of any task, and
   * with class `permanent` if it does not tell that of this one.
   */
  readSeed?(id: string, signal: AbortSignal, onLeave?: OnLeave): Promise<ServiceResult<string>>;
  close(): Promise<void>;
}

import type { About, OnLeave, ServiceResult, TellsLeaving } from './result.ts';
import type { InlineImage } from './text-service.ts';

/** The submit codes of gateway 3.2, by what they mean. */
export type SubmitResult =
  /** 1, 22; 21 of old gateways, which says that the very same task exists already. */
  | {
      readonly kind: 'accepted';
      readonly taskId: string;
      readonly code: number;
      /** How many tasks go before it, where the service says so (`numberOfQueues`). */
      readonly waiting?: number;
    }
  /** 21: the task exists and wants its modal. */
  | {
      readonly kind: 'modal';
      readonly taskId: string;
      readonly code: number;
      readonly waiting?: number;
    }
  /** 23, 9, and 3 for want of an account: later and slower, not an attempt. */
  | { readonly kind: 'queue-full'; readonly code: number; readonly message: string; readonly about?: About }
  /** 4, 24 and other 3: fails the job. */
  | {
      readonly kind: 'refused';
      readonly code: number;
      readonly message: string;
      readonly requestId?: string;
      readonly about?: About;
      /** Tasks were made all the same, and may be paid for. */
      readonly made?: true;
    };

/** A button as the client reads it: absent texts are empty. */
export interface TaskButton {
  readonly customId: string;
  readonly label: string;
  readonly emoji: string;
}

/** A task as the client reads it. Decided on `status` alone (gateway 4.3). */
export interface Task {
  readonly id: string;
  readonly state: 'unfinished' | 'modal' | 'success' | 'failure';
  /** As the service wrote it. */
  readonly status: string;
  /** Not begun, by the word for its state: `submitted` says either. Absent: begun, or the word is not known. */
  readonly stage?: 'queued' | 'submitted';
  /** What it would be if its state, a word that is not known, were an end: all else that it shows speaks for that. */
  readonly seems?: Task;
  /** 0 to 100 where the service says so. */
  readonly progress?: number;
  /** Only of a finished task; during progress it may be a preview. */
  readonly imageUrl?: string;
  /** Only of a finished task that made several images of their own: one link each, in order. */
  readonly imageUrls?: readonly string[];
  /** Only of a finished grid whose four frames the service has too: one link each, in order. */
  readonly frameUrls?: readonly string[];
  /** Empty until the task is finished. */
  readonly buttons: readonly TaskButton[];
  /**
   * Of a finished task of a gateway that shows no buttons at all (gateway 2.4). A grid has those that `submit/change` presses, other
   * tasks none.
   */
  readonly buttonless?: 'grid' | 'other';
  readonly failReason?: string;
  /** Only of a finished video task: one link each, in order. */
  readonly videoUrls?: readonly string[];
  /** Another link to one of the films in `videoUrls`. */
  readonly spareVideoUrl?: string;
  /** Only of a finished task that finds prompts: `properties.finalPrompt`, split (gateway 4.5). */
  readonly prompts?: readonly string[];
  /** When the service took its submission on, Unix ms by its clock, where it says so. */
  readonly submittedAt?: number;
  /** The caller's own tag, echoed (gateway 2.2): the job's key. */
  readonly tag?: string;
  /** As the service shows it, where the caller gave no tag that it shows: what the task was submitted with. */
  readonly prompt?: string;
  /** The record has another id than the one that was asked for; absent: the same, or none. */
  readonly isOther?: true;
}

/** What every submission has. */
export interface Submission {
  /** Undefined: the gateway's own. */
  readonly speed: 'relax' | 'fast' | 'turbo' | undefined;
  /** Sent as `state`, and echoed by the task (gateway 2.2). */
  readonly tag?: string;
  /** Merged into the body, member by member, with the last word. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** The kinds of tasks that are begun by themselves, by their pipeline names. */
export type EntryKind = 'imagine' | 'blend' | 'describe' | 'shorten' | 'video' | 'edit';

/** What a task is begun with. */
export interface EntryFields {
  readonly kind: EntryKind;
  /** Declared fields by their pipeline names. A video's `extend` counts from 1, its `motion` is low unless declared. */
  readonly fields: Readonly<Record<string, unknown>>;
  /**
   * In order: imagine's image prompts; blend's images; describe's and edit's image; video's first frame, unless it extends another video,
   * then its last.
   */
  readonly images?: readonly InlineImage[];
  /** Of edit: PNG, transparent where it is edited, as its wire wants it. */
  readonly mask?: InlineImage;
  /** Of a video with `extend`: the task whose video is continued. */
  readonly taskId?: string;
}

/**
 * The image workflow of gateway 2.1 as a run uses it. `fields` are the pipeline's declared fields by their pipeline names;
 * defaults such as botType, and the wire's names, are added here. Images go as data URIs.
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
   * Answers the modal of a task (gateway 2.5). White of the mask is repainted. The new task's id may be the same
   * (gateway 4.6): follow what is answered.
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
   * Several tasks in one request, where the gateway offers it (gateway 4.1), in the requested order; unknown tasks are
   * missing. `service.no-listing`: the gateway offers no such list.
   */
  fetchTasks(
    ids: readonly string[],
    signal: AbortSignal,
    onLeave?: OnLeave,
  ): Promise<ServiceResult<readonly Task[]>>;
  /**
   * All tasks that the service still shows, where it shows them: image proxies do, API gateways do not (`task/list`,
   * gateway 4.1). For finding one by its tag; where there is no such list, `service.no-listing`.
   */
  listTasks?(signal: AbortSignal, onLeave?: OnLeave): Promise<ServiceResult<readonly Task[]>>;
  close(): Promise<void>;
}

import type { WireSubmitResponse } from '../../service/wire.ts';
import type { ImagePrompts, Region } from '../draw/lineage.ts';
import type { SentImage } from '../images/read.ts';
import type { PressAction, StoredTask } from './task.ts';

/** The response to a submission, and the tasks that it made. */
export interface SubmitResponse {
  readonly status: 200 | 404;
  readonly body: WireSubmitResponse;
  /** The task that the response names. */
  readonly taskId?: string;
  /** The new tasks, for the counters. */
  readonly made?: readonly StoredTask[];
  /** The task whose image link goes into the properties of the response. */
  readonly shows?: StoredTask;
  /** Whether a modal was answered, or answered a second time and refused. */
  readonly modal?: 'answered' | 'repeated';
}

/** Returns the refusal of a valid submission: HTTP 200 with a code, and no task (gateway 3.2). */
export function rejected(code: number, description: string, properties: object = {}): SubmitResponse {
  return { status: 200, body: { code, description, result: null, properties: { ...properties } } };
}

/** The response to a submission that names an unknown task (gateway 3.3, 5.6). */
export const missingTask: SubmitResponse = {
  status: 404,
  body: { code: 3, description: 'The related task does not exist or has expired', result: null },
};

/** The response to a submission that names a task in the wrong state (gateway 5.6). */
export const notReady: SubmitResponse = rejected(4, '关联任务状态错误');

/** Descriptions of the codes of gateway 3.2 that make no task. */
export const rejectionTexts: Readonly<Record<number, string>> = {
  3: 'No usable account instance',
  4: 'Parameter error',
  9: 'Submit failed, system error',
  23: 'The queue is full, please try again later',
  24: 'The prompt may contain sensitive words',
  30: '当前分组负载已饱和，请稍后再试，或升级账户以提升服务质量。',
};

/** Members of every submission whose body was checked and whose images were read. */
export interface CommonOrder {
  /** The caller's own tag. */
  readonly state: string;
}

/** Members of every submission that begins a chain of tasks. */
interface EntryOrder extends CommonOrder {
  readonly botType: string;
}

export interface ImagineOrder extends EntryOrder {
  readonly prompt: string;
  readonly images?: ImagePrompts;
}

export interface ActionOrder extends CommonOrder {
  readonly taskId: string;
  readonly customId: string;
  readonly enableRemix: boolean;
}

/** The old form of a click: the work to do with a grid, instead of one of its buttons (gateway 2.4). */
export interface ChangeOrder extends CommonOrder {
  readonly taskId: string;
  readonly press: Extract<PressAction, { readonly kind: 'upscale' | 'variation' | 'reroll' }>;
}

export interface ModalOrder extends CommonOrder {
  readonly taskId: string;
  readonly prompt: string;
  /** Unchecked: the task decides whether a mask is needed. */
  readonly maskBase64: string;
}

export interface BlendOrder extends EntryOrder {
  readonly images: readonly SentImage[];
  /** Width over height. */
  readonly aspect: number;
}

export interface DescribeOrder extends EntryOrder {
  readonly image: SentImage;
}

export interface ShortenOrder extends EntryOrder {
  readonly prompt: string;
}

export interface VideoOrder extends EntryOrder {
  readonly prompt: string;
  readonly motion: 'low' | 'high';
  readonly batchSize: 1 | 2 | 4;
  readonly from:
    | {
        readonly kind: 'image';
        readonly image: SentImage;
        readonly end?: SentImage;
        readonly loop: boolean;
        readonly lines: 480 | 720;
      }
    /** `index` counts from 0 (gateway 2.6). */
    | { readonly kind: 'extend'; readonly taskId: string; readonly index: number };
}

export interface EditOrder extends EntryOrder {
  readonly prompt: string;
  readonly image: SentImage;
  readonly mask: Region;
}

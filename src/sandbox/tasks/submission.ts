import type { WireSubmitResponse } from '../../service/wire.ts';
import type { ImagePrompts, Region } from '../draw/lineage.ts';
import type { SentImage } from '../images/read.ts';
import type { PressAction, StoredTask } from './task.ts';

/** The response to a submission: its HTTP status, its body, and what it did. */
export interface SubmitResponse {
  readonly status: 200 | 404;
  readonly body: WireSubmitResponse;
  /** The task that it named. */
  readonly taskId?: string;
  /** The tasks that it made, for the counters. */
  readonly made?: readonly StoredTask[];
  /** The response wants the link of this task's image in its properties. */
  readonly shows?: StoredTask;
  /** What became of a modal's answer: `repeated` is a second one for the same task. */
  readonly modal?: 'answered' | 'repeated';
}

/** A submission that was understood and refused: HTTP 200 with its code, and no task (gateway 3.2). */
export function rejected(code: number, description: string, properties: object = {}): SubmitResponse {
  return { status: 200, body: { code, description, result: null, properties: { ...properties } } };
}

/** The response where the task does not exist that a submission names (gateway 3.3, 5.6). */
export const missingTask: SubmitResponse = {
  status: 404,
  body: { code: 3, description: 'The related task does not exist or has expired', result: null },
};

/** The response where the task that a submission names is in a state that it cannot be used in (gateway 5.6). */
export const notReady: SubmitResponse = rejected(4, '关联任务状态错误');

/** Words for the codes of gateway 3.2 that make no task. */
export const rejectionTexts: Readonly<Record<number, string>> = {
  3: 'No usable account instance',
  4: 'Parameter error',
  9: 'Submit failed, system error',
  23: 'The queue is full, please try again later',
  24: 'The prompt may contain sensitive words',
  30: '当前分组负载已饱和，请稍后再试，或升级账户以提升服务质量。',
};

/** What every submission has whose body has been checked and whose images have been read. */
export interface CommonOrder {
  /** The caller's own tag. */
  readonly state: string;
}

export interface ImagineOrder extends CommonOrder {
  readonly prompt: string;
  readonly botType: string;
  /** What its image prompts bring. */
  readonly images?: ImagePrompts;
}

export interface ActionOrder extends CommonOrder {
  readonly taskId: string;
  readonly customId: string;
  readonly enableRemix: boolean;
}

/** The old form of a click: what to do with a grid, in place of a button of it (gateway 2.4). */
export interface ChangeOrder extends CommonOrder {
  readonly taskId: string;
  readonly press: Extract<PressAction, { readonly kind: 'upscale' | 'variation' | 'reroll' }>;
}

export interface ModalOrder extends CommonOrder {
  readonly taskId: string;
  readonly prompt: string;
  /** As it was sent; what it must be depends on the task. */
  readonly maskBase64: string;
}

export interface BlendOrder extends CommonOrder {
  readonly botType: string;
  readonly images: readonly SentImage[];
  /** Width over height. */
  readonly aspect: number;
}

export interface DescribeOrder extends CommonOrder {
  readonly botType: string;
  readonly image: SentImage;
}

export interface ShortenOrder extends CommonOrder {
  readonly botType: string;
  readonly prompt: string;
}

export interface VideoOrder extends CommonOrder {
  readonly botType: string;
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

export interface EditOrder extends CommonOrder {
  readonly botType: string;
  readonly prompt: string;
  readonly image: SentImage;
  readonly mask: Region;
}

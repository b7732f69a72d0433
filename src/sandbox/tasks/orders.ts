import type { ImagePrompts, Region } from '../draw/lineage.ts';
import type { SentImage } from '../images/read.ts';
import type { PressAction } from './operation.ts';

/** Submissions whose bodies have been checked and whose images have been read. */

/** What every submission has. */
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

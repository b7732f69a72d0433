import type { PanDirection, Region } from '../draw/lineage.ts';

/** What pressing a button asks for. Indices count from 0. */
export type PressAction =
  | { readonly kind: 'upscale'; readonly index: number }
  | { readonly kind: 'variation'; readonly index: number }
  | { readonly kind: 'reroll' }
  | { readonly kind: 'enlarge'; readonly creative: boolean; readonly times: 2 | 4 }
  | { readonly kind: 'vary'; readonly strong: boolean }
  | { readonly kind: 'inpaint' }
  | { readonly kind: 'zoom'; readonly factor: number }
  | { readonly kind: 'custom-zoom' }
  | { readonly kind: 'pan'; readonly direction: PanDirection }
  /** A manual one asks for its prompt first. */
  | { readonly kind: 'animate'; readonly motion: 'low' | 'high'; readonly manual?: true }
  /** One of several videos. */
  | { readonly kind: 'choose-film'; readonly index: number }
  | { readonly kind: 'extend'; readonly motion: 'low' | 'high' }
  /** Imagines one of the prompts that a describe has found. */
  | { readonly kind: 'imagine-prompt'; readonly index: number }
  | { readonly kind: 'imagine-all' }
  | { readonly kind: 'describe-again' };

/** What a modal was answered with. */
export interface ModalConfirm {
  /** As it will be shown; never empty. */
  readonly prompt: string;
  /** Kept, white where it is painted again. */
  readonly mask?: Region;
}
